//! Plays the kubelet for the containers of a Pod: its command, arguments and environment as they are in the Pod, the volumes as folders,
//! and the token of its service account where a container finds it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::control_plane::Workspace;

/// Mounts a folder where containers find their service account, for one command alone.
const IN_POD: &str = "mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io && cp -R \"$0\" \
                      /run/secrets/kubernetes.io/serviceaccount && exec \"$@\"";

/// The command that gives a program a view of the file system of its own, where the system allows that.
static UNSHARE: LazyLock<bool> = LazyLock::new(|| {
    let words = ["--user", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs none /run"];
    Command::new("unshare").args(words).output().is_ok_and(|output| output.status.success())
});

/// A node for containers: where their volumes are.
pub struct Node<'w> {
    ws: &'w Workspace,
    folder: PathBuf,
}

/// What a container came to.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code().unwrap_or(-1), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

impl<'w> Node<'w> {
    pub fn new(ws: &'w Workspace) -> Self {
        let folder = ws.home().join("node");
        fs::create_dir_all(&folder).unwrap();
        Self { ws, folder }
    }

    /// The folder that a persistent volume claim stands for.
    pub fn claim(&self, name: &str) -> PathBuf {
        let folder = self.folder.join(format!("claim-{name}"));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Runs the containers of a Pod, one after another, as its service account or as another one of its namespace. Returns the end of
    /// the last one, or of the first one that fails.
    #[track_caller]
    pub fn run(&self, pod: &Value, account: Option<&str>) -> Ended {
        for container in pod["spec"]["initContainers"].as_array().into_iter().flatten() {
            let ended = self.run_container(pod, container, account);
            if ended.code != 0 {
                return ended;
            }
        }
        self.run_container(pod, &pod["spec"]["containers"][0], account)
    }

    #[track_caller]
    fn run_container(&self, pod: &Value, container: &Value, account: Option<&str>) -> Ended {
        let name = text(pod, "/metadata/name");
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder).unwrap();
        let work = text(container, "/workingDir");
        let variables = Self::environment(pod, container, &folder);
        let words: Vec<String> = ["command", "args"]
            .iter()
            .flat_map(|part| container[*part].as_array().into_iter().flatten())
            .map(|word| expanded(word.as_str().unwrap(), &variables))
            .collect();
        let cwd = folder.join("root").join(work.trim_start_matches('/'));
        self.mount(pod, container, &folder.join("root"));
        fs::create_dir_all(&cwd).unwrap();
        let account = account.unwrap_or_else(|| text(pod, "/spec/serviceAccountName"));
        let identity = self.identity(text(pod, "/metadata/namespace"), account, &folder);
        let mut command = if *UNSHARE {
            let mut command = Command::new("unshare");
            command.args(["--user", "--map-root-user", "--mount", "sh", "-c", IN_POD]).arg(&identity).args(&words);
            command
        } else {
            // The same credentials, where no file system can be mounted.
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).env("KUBECONFIG", self.kubeconfig(&identity));
            command
        };
        command.current_dir(cwd).env_clear().envs(variables);
        let path = std::env::var("PATH").unwrap_or_default();
        let program = crate::control_plane::program("kubectl-reconcile");
        command.env("PATH", format!("{}:{path}", program.parent().unwrap().display()));
        if *UNSHARE {
            let (host, port) = self.ws.plane().url().trim_start_matches("https://").split_once(':').unwrap();
            command.env("KUBERNETES_SERVICE_HOST", host).env("KUBERNETES_SERVICE_PORT", port);
        }
        command.output().unwrap_or_else(|error| panic!("{words:?}: {error}")).into()
    }

    /// The variables of a container. Those that name a place in an empty directory name its folder.
    fn environment(pod: &Value, container: &Value, folder: &Path) -> Vec<(String, String)> {
        let of = |variable: &Value| {
            let value = variable["value"].as_str().map_or_else(
                || {
                    let field = text(variable, "/valueFrom/fieldRef/fieldPath");
                    downward(pod, field).unwrap_or_else(|| panic!("{field} of {}", text(pod, "/metadata/name")))
                },
                ToOwned::to_owned,
            );
            let is_mounted = mounts(container).any(|(_, path)| path == value);
            let value = if is_mounted { in_root(folder, &value).display().to_string() } else { value };
            (text(variable, "/name").to_owned(), value)
        };
        container["env"].as_array().into_iter().flatten().map(of).collect()
    }

    /// Makes the volumes of a container.
    fn mount(&self, pod: &Value, container: &Value, root: &Path) {
        let volumes = pod["spec"]["volumes"].as_array().into_iter().flatten();
        let volumes: Vec<&Value> = volumes.collect();
        for (name, path) in mounts(container) {
            let volume = volumes.iter().find(|volume| volume["name"] == name).unwrap();
            let path = root.join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if let Some(map) = volume.pointer("/configMap/name").and_then(Value::as_str) {
                self.config_map(text(pod, "/metadata/namespace"), map, &path);
            } else if let Some(claim) = volume.pointer("/persistentVolumeClaim/claimName").and_then(Value::as_str) {
                if !path.exists() {
                    std::os::unix::fs::symlink(self.claim(claim), &path).unwrap();
                }
            } else {
                fs::create_dir_all(&path).unwrap();
            }
        }
    }

    /// A volume as the kubelet makes it: files are links into a folder that is replaced as a whole.
    fn config_map(&self, namespace: &str, name: &str, path: &Path) {
        let map = self.ws.plane().api().find(&format!("/api/v1/namespaces/{namespace}/configmaps/{name}")).unwrap();
        if path.exists() {
            fs::remove_dir_all(path).unwrap();
        }
        let data = path.join("..2026_11_20_10_00_00.1");
        fs::create_dir_all(&data).unwrap();
        std::os::unix::fs::symlink("..2026_11_20_10_00_00.1", path.join("..data")).unwrap();
        for (file, content) in map["data"].as_object().unwrap() {
            fs::write(data.join(file), content.as_str().unwrap()).unwrap();
            std::os::unix::fs::symlink(format!("..data/{file}"), path.join(file)).unwrap();
        }
    }

    /// What a container knows of its service account, with a token that the API server makes.
    fn identity(&self, namespace: &str, account: &str, folder: &Path) -> PathBuf {
        let api = self.ws.plane().api();
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
        let answer = api.create(&format!("/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"), &request);
        let authority = api.find(&format!("/api/v1/namespaces/{namespace}/configmaps/kube-root-ca.crt")).unwrap();
        let identity = folder.join(format!("identity-{account}"));
        fs::create_dir_all(&identity).unwrap();
        let token = self.ws.secret(text(&answer, "/status/token"));
        for (file, content) in [
            ("token", token.as_str()),
            ("ca.crt", authority["data"]["ca.crt"].as_str().unwrap()),
            ("namespace", namespace),
        ] {
            fs::write(identity.join(file), content).unwrap();
        }
        identity
    }

    fn kubeconfig(&self, identity: &Path) -> PathBuf {
        let file = |name: &str| identity.join(name).display().to_string();
        let cluster = json!({"server": self.ws.plane().url(), "certificate-authority": file("ca.crt")});
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "pod",
            "clusters": [{"name": "pod", "cluster": cluster}],
            "users": [{"name": "pod", "user": {"tokenFile": file("token")}}],
            "contexts": [{"name": "pod", "context": {"cluster": "pod", "user": "pod"}}],
        });
        let path = identity.join("kubeconfig");
        fs::write(&path, config.to_string()).unwrap();
        path
    }
}

/// The volumes of a container and where they are, without the one of the service account.
fn mounts(container: &Value) -> impl Iterator<Item = (&str, &str)> {
    let mounts = container["volumeMounts"].as_array().into_iter().flatten();
    let named = mounts.map(|mount| (text(mount, "/name"), text(mount, "/mountPath")));
    named.filter(|(_, path)| !path.starts_with("/var/run/secrets"))
}

fn in_root(folder: &Path, path: &str) -> PathBuf {
    folder.join("root").join(path.trim_start_matches('/'))
}

/// A field of a Pod as the downward API gives it: `metadata.name`, `metadata.annotations['key']`.
fn downward(pod: &Value, field: &str) -> Option<String> {
    let rest = field.strip_prefix("metadata.")?;
    let value = match rest.split_once("['") {
        Some((part, key)) => &pod["metadata"][part][key.strip_suffix("']")?],
        None => &pod["metadata"][rest],
    };
    value.as_str().map(ToOwned::to_owned)
}

/// `$(NAME)` as the kubelet expands it: a variable that is not known stays as it is written.
fn expanded(word: &str, variables: &[(String, String)]) -> String {
    variables.iter().fold(word.to_owned(), |word, (name, value)| word.replace(&format!("$({name})"), value))
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
