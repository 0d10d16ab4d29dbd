//! etcd and kube-apiserver on their own ports.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tempfile::TempDir;

use super::api::Api;
use super::audit::{self, Audit};
use super::binaries::Binaries;
use super::component::{Component, wait_until};
use super::credentials::{ADMIN, Credentials};
use super::nodes;
use super::port::Port;
use super::target::scratch;

/// Index of the API server in the components.
const SERVER: usize = 1;

/// A running API server; a full one has controllers and a fake node.
pub struct ControlPlane {
    url: String,
    credentials: Credentials,
    binaries: &'static Binaries,
    api: Api,
    audit: Audit,
    /// The components in the order of their start, etcd and the API server first; they end in the reverse order.
    components: Mutex<Vec<Component>>,
    /// Ports of the API server and etcd, which stay reserved while the server is restarted.
    _ports: Vec<Port>,
}

/// Components of a control plane.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    /// etcd and the API server: only tests change objects.
    Server,
    /// Also the controllers, the scheduler and one fake node: Deployments become ready.
    Full,
}

impl ControlPlane {
    /// The API server that all scenarios share, each in its own namespace.
    #[track_caller]
    pub fn shared() -> Arc<ControlPlane> {
        static SHARED: OnceLock<Result<Arc<ControlPlane>, String>> = OnceLock::new();
        or_panic(SHARED.get_or_init(|| ControlPlane::start(Extent::Server).map(Arc::new)))
    }

    /// A control plane with controllers, a scheduler and a fake node, shared by all scenarios that need one.
    #[track_caller]
    pub fn full() -> Arc<ControlPlane> {
        static FULL: OnceLock<Result<Arc<ControlPlane>, String>> = OnceLock::new();
        or_panic(FULL.get_or_init(|| ControlPlane::start(Extent::Full).map(Arc::new)))
    }

    /// A separate API server, for scenarios that would affect others.
    #[track_caller]
    pub fn private() -> Arc<ControlPlane> {
        or_panic(&ControlPlane::start(Extent::Server).map(Arc::new))
    }

    /// A separate control plane with controllers, a scheduler and a fake node.
    #[track_caller]
    pub fn private_full() -> Arc<ControlPlane> {
        or_panic(&ControlPlane::start(Extent::Full).map(Arc::new))
    }

    /// `https://127.0.0.1:PORT`
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn api(&self) -> &Api {
        &self.api
    }

    /// The audit log of the server.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// The `kubectl` of the same version.
    pub fn kubectl(&self) -> PathBuf {
        self.binaries.program("kubectl")
    }

    /// The text of a kubeconfig; `server` is [`ControlPlane::url`], or the URL of a proxy in front of it.
    pub fn kubeconfig(&self, user: &str, server: &str, namespace: &str) -> String {
        self.credentials.kubeconfig(user, server, namespace)
    }

    /// The text of a kubeconfig without credentials.
    pub fn anonymous_kubeconfig(&self) -> String {
        self.credentials.anonymous_kubeconfig(&self.url)
    }

    /// The certificate and the key of the server, in PEM.
    pub fn server_identity(&self) -> (&str, &str) {
        self.credentials.server_identity()
    }

    /// The process ids of all components.
    pub fn pids(&self) -> Vec<u32> {
        self.components().iter().map(Component::pid).collect()
    }

    /// Ends the API server with a signal, such as `KILL`, and starts it again on the same port with the same etcd.
    /// Returns when it is ready.
    #[track_caller]
    pub fn restart_server(&self, signal: &str) {
        let mut components = self.components();
        let server = &mut components[SERVER];
        let done = server
            .restart(signal)
            .and_then(|()| wait_until("kube-apiserver is ready again", &mut [server], || self.api.is_ready()));
        done.unwrap_or_else(|error| panic!("{error}"));
    }

    fn components(&self) -> MutexGuard<'_, Vec<Component>> {
        self.components.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(extent: Extent) -> Result<ControlPlane, String> {
        let binaries = match extent {
            Extent::Server => Binaries::server()?,
            Extent::Full => Binaries::full()?,
        };
        // The supervisors remove it, as they still run when the test process is killed.
        let folder = TempDir::with_prefix_in("control-plane-", scratch()).map(TempDir::keep);
        let folder = &folder.map_err(|error| format!("failed to make a folder: {error}"))?;
        let ports = [Port::reserve()?, Port::reserve()?, Port::reserve()?];
        let [secure, clients, peers] = &ports;
        let url = format!("https://127.0.0.1:{}", secure.number());
        let (etcd, etcd_url) = start_etcd(binaries, folder, clients, peers)?;

        let server_folder = folder.join("kube-apiserver");
        fs::create_dir_all(&server_folder).map_err(|error| format!("failed to make a folder: {error}"))?;
        let credentials = Credentials::write(&server_folder)?;
        fs::write(server_folder.join("audit-policy.json"), audit::POLICY)
            .map_err(|error| format!("failed to write the audit policy: {error}"))?;
        let mut arguments = server_arguments(&server_folder, secure, &etcd_url);
        if extent == Extent::Server {
            // Without the controller that creates a service account in each namespace, no Pod would pass this check.
            arguments.push("--disable-admission-plugins=ServiceAccount".to_owned());
        }
        let program = binaries.program("kube-apiserver");
        let mut server = Component::start("kube-apiserver", server_folder.clone(), &program, arguments)?;
        let api = Api::new(&credentials.kubeconfig(ADMIN, &url, "default"))?;
        wait_until("kube-apiserver is ready", &mut [&mut server], || api.is_ready())?;

        let audit = Audit(server_folder.join("audit.log"));
        let components = Mutex::new(vec![etcd, server]);
        let plane = ControlPlane { url, credentials, binaries, api, audit, components, _ports: ports.into() };
        if extent == Extent::Full {
            let kubeconfig = server_folder.join("admin.kubeconfig");
            fs::write(&kubeconfig, plane.kubeconfig(ADMIN, &plane.url, "default"))
                .map_err(|error| format!("failed to write a kubeconfig: {error}"))?;
            plane.components().extend(nodes::start(binaries, folder, &server_folder, &kubeconfig, &plane.api)?);
        }
        Ok(plane)
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        let mut components = self.components();
        let folder = components[0].folder().parent().map(Path::to_owned);
        while let Some(component) = components.pop() {
            drop(component);
        }
        let _ = folder.map(fs::remove_dir);
    }
}

fn start_etcd(binaries: &Binaries, folder: &Path, clients: &Port, peers: &Port) -> Result<(Component, String), String> {
    let clients = format!("http://127.0.0.1:{}", clients.number());
    let peers = format!("http://127.0.0.1:{}", peers.number());
    let data = folder.join("etcd");
    let arguments = [
        format!("--data-dir={}", data.join("data").display()),
        format!("--listen-client-urls={clients}"),
        format!("--advertise-client-urls={clients}"),
        format!("--listen-peer-urls={peers}"),
        format!("--initial-advertise-peer-urls={peers}"),
        format!("--initial-cluster=default={peers}"),
        "--socket-reuse-port".to_owned(),
        "--unsafe-no-fsync".to_owned(),
        "--log-level=warn".to_owned(),
    ];
    // The API server waits for etcd by itself, but not usefully if etcd ends at once.
    let mut etcd = Component::start("etcd", data, &binaries.program("etcd"), arguments)?;
    let address = clients.trim_start_matches("http://").to_owned();
    wait_until("etcd listens", &mut [&mut etcd], || std::net::TcpStream::connect(&address).is_ok())?;
    Ok((etcd, clients))
}

fn server_arguments(folder: &Path, port: &Port, etcd: &str) -> Vec<String> {
    let file = |name: &str| folder.join(name).display().to_string();
    vec![
        format!("--etcd-servers={etcd}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        format!("--secure-port={}", port.number()),
        "--permit-port-sharing".to_owned(),
        format!("--tls-cert-file={}", file("server.crt")),
        format!("--tls-private-key-file={}", file("server.key")),
        format!("--client-ca-file={}", file("ca.crt")),
        format!("--token-auth-file={}", file("tokens.csv")),
        format!("--audit-policy-file={}", file("audit-policy.json")),
        format!("--audit-log-path={}", file("audit.log")),
        // In megabytes, so that the log stays one file.
        "--audit-log-maxsize=100000".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={}", file("service-accounts.pub")),
        format!("--service-account-signing-key-file={}", file("service-accounts.key")),
        "--service-cluster-ip-range=10.0.0.0/20".to_owned(),
        // The endpoints of the `kubernetes` Service must not be a loopback address; the tests do not need them.
        "--endpoint-reconciler-type=none".to_owned(),
        "--allow-privileged=true".to_owned(),
    ]
}

#[track_caller]
fn or_panic(plane: &Result<Arc<ControlPlane>, String>) -> Arc<ControlPlane> {
    match plane {
        Ok(plane) => Arc::clone(plane),
        Err(error) => panic!("{error}"),
    }
}
