//! Finds, reads and merges kubeconfig files (`client-go/tools/clientcmd/loader.go`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use kube_yaml::{Mark, Validation};
use serde_json::Value;

use super::LARGEST;
use super::model::KubeconfigFile;
use crate::bounded::read_at_most;
use crate::client::options::Environment;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::io_reason;

/// The merged kubeconfig, and the files that were tried, missing ones included.
#[derive(Debug, Default)]
pub struct Kubeconfig {
    pub document: KubeconfigFile,
    pub looked_at: Vec<PathBuf>,
}

/// The hint for files that are not valid YAML.
const YAML_HINT: &str = "`kubectl config view` shows how kubectl reads the file; its content is not shown here because it may hold \
                         credentials";

/// The reason why a file cannot be used.
#[derive(Debug)]
enum FileError {
    Unreadable(io::Error),
    Large,
    Yaml { at: Mark },
    Content(String),
}

impl FileError {
    fn message(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Unreadable(error) if error.kind() == io::ErrorKind::NotFound => {
                format!("the kubeconfig `{path}` does not exist")
            }
            Self::Large => format!("the kubeconfig `{path}` is larger than {} MiB", LARGEST >> 20),
            Self::Unreadable(error) => format!("cannot read the kubeconfig `{path}`: {}", io_reason(error)),
            Self::Yaml { at: Mark { line, column } } => {
                format!("{path}:{line}:{column}: the kubeconfig is not valid YAML")
            }
            Self::Content(error) => format!("the kubeconfig `{path}` is invalid: {error}"),
        }
    }
}

impl Kubeconfig {
    /// Reads `explicit` (`--kubeconfig`) alone, else the files of `KUBECONFIG`, else `~/.kube/config`.
    ///
    /// Only an explicit file must exist. Entries are not merged: each context, cluster and user comes from the first file that names it,
    /// and so does `current-context`. The error has the first mistake of each file that cannot be used.
    pub fn load(explicit: Option<&Path>, environment: &Environment) -> Result<Self, Diagnostic> {
        let explicit = explicit.filter(|path| !path.as_os_str().is_empty());
        let looked_at = match explicit {
            Some(path) => vec![path.to_owned()],
            None => default_files(environment),
        };
        let mut document = KubeconfigFile::default();
        let mut errors = Vec::new();
        let mut hint = None;
        for path in &looked_at {
            match read_file(path) {
                Ok(file) => merge(&mut document, file),
                Err(FileError::Unreadable(error)) if explicit.is_none() && error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    hint = hint.or(matches!(error, FileError::Yaml { .. }).then(|| YAML_HINT.to_owned()));
                    errors.push(error.message(path));
                }
            }
        }
        if errors.is_empty() {
            return Ok(Self { document, looked_at });
        }
        Err(Diagnostic { hint, ..Diagnostic::general(errors.join("; ")) })
    }
}

/// The files of `KUBECONFIG`, each once and without empty entries; without the variable the one in the home folder.
fn default_files(environment: &Environment) -> Vec<PathBuf> {
    let mut files = Vec::new();
    if let Some(list) = &environment.kubeconfig {
        for file in std::env::split_paths(list) {
            if !file.as_os_str().is_empty() && !files.contains(&file) {
                files.push(file);
            }
        }
    } else if let Some(home) = &environment.home {
        files.push(home.join(".kube").join("config"));
    }
    files
}

fn read_file(path: &Path) -> Result<KubeconfigFile, FileError> {
    let bytes = File::open(path).and_then(|file| read_at_most(file, LARGEST)).map_err(FileError::Unreadable)?;
    let bytes = bytes.ok_or(FileError::Large)?;
    let value = first_document(&bytes).map_err(|at| FileError::Yaml { at })?;
    let mut document = KubeconfigFile::read(&value).map_err(FileError::Content)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    resolve(&mut document, &std::path::absolute(folder).map_err(FileError::Unreadable)?);
    Ok(document)
}

/// Reads the first document of YAML or JSON, as kubectl reads only this one of a kubeconfig; null if there is none. The error is the
/// position of the first mistake.
pub fn first_document(bytes: &[u8]) -> Result<Value, Mark> {
    let stream = kube_yaml::read(bytes, Validation::Ignore);
    match (stream.documents.into_iter().next(), stream.diagnostics.first()) {
        (Some(document), _) if document.number == 1 => Ok(document.value),
        (_, Some(diagnostic)) => Err(diagnostic.mark),
        (_, None) => Ok(Value::Null),
    }
}

/// Makes the paths in a file absolute: they are relative to its folder. A plugin without a separator is searched for on `PATH`.
fn resolve(document: &mut KubeconfigFile, folder: &Path) {
    let resolve = |path: &mut Option<PathBuf>| {
        if let Some(path) = path {
            *path = absolute(folder, path);
        }
    };
    for cluster in document.clusters.values_mut() {
        resolve(&mut cluster.certificate_authority);
    }
    for user in document.users.values_mut() {
        resolve(&mut user.client_certificate);
        resolve(&mut user.client_key);
        resolve(&mut user.token_file);
        if let Some(exec) = &mut user.exec
            && exec.command.contains(std::path::is_separator)
        {
            exec.command = absolute(folder, Path::new(&exec.command)).to_string_lossy().into_owned();
        }
    }
}

/// Resolves `path` from `folder`, as Go's `filepath.Join` does.
fn absolute(folder: &Path, path: &Path) -> PathBuf {
    if path.is_absolute() { path.to_owned() } else { clean(&folder.join(path)) }
}

/// Removes `.` and `..` from an absolute path, as Go's `filepath.Clean` does: without the file system.
pub(super) fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

/// Adds the entries of `next` that `base` does not have.
fn merge(base: &mut KubeconfigFile, next: KubeconfigFile) {
    fn add<T>(base: &mut BTreeMap<String, T>, next: BTreeMap<String, T>) {
        for (name, entry) in next {
            base.entry(name).or_insert(entry);
        }
    }
    add(&mut base.contexts, next.contexts);
    add(&mut base.clusters, next.clusters);
    add(&mut base.users, next.users);
    base.current_context = base.current_context.take().or(next.current_context);
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use tempfile::TempDir;

    use super::*;

    fn write(folder: &TempDir, name: &str, text: &str) -> PathBuf {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn list(paths: &[&Path]) -> Environment {
        let list: OsString = std::env::join_paths(paths).unwrap();
        Environment { kubeconfig: Some(list), ..Environment::default() }
    }

    #[test]
    fn the_first_file_has_an_entry_whole_and_missing_files_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let one =
            write(&folder, "one", "clusters: [{name: c, cluster: {server: 'https://one'}}]\ncurrent-context: ''\n");
        let two = write(
            &folder,
            "two",
            "clusters:\n- {name: c, cluster: {server: 'https://two', tls-server-name: x}}\n- {name: d}\ncurrent-context: two\n",
        );
        let missing = folder.path().join("missing");

        let loaded = Kubeconfig::load(None, &list(&[&missing, Path::new(""), &one, &two, &one])).unwrap();
        let cluster = &loaded.document.clusters["c"];
        assert_eq!(cluster.server.as_deref(), Some("https://one"));
        assert_eq!(cluster.tls_server_name, None);
        assert!(loaded.document.clusters.contains_key("d"));
        assert_eq!(loaded.document.current_context.as_deref(), Some("two"));
        assert_eq!(loaded.looked_at, [missing, one, two]);
    }

    #[test]
    fn an_explicit_file_must_exist_and_is_read_alone() {
        let folder = tempfile::tempdir().unwrap();
        let other = write(&folder, "other", "current-context: other\n");
        let mine = write(&folder, "mine", "current-context: mine\n");
        let environment = list(&[&other]);

        let loaded = Kubeconfig::load(Some(&mine), &environment).unwrap();
        assert_eq!(loaded.document.current_context.as_deref(), Some("mine"));
        let missing = folder.path().join("missing");
        let error = Kubeconfig::load(Some(&missing), &environment).unwrap_err();
        assert_eq!(error.message, format!("the kubeconfig `{}` does not exist", missing.display()));
        let loaded = Kubeconfig::load(Some(Path::new("")), &environment).unwrap();
        assert_eq!(loaded.document.current_context.as_deref(), Some("other"), "an empty flag is no flag");
    }

    #[test]
    fn the_home_folder_is_the_default() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder, ".kube/config", "current-context: home\n");
        let environment = Environment { home: Some(folder.path().to_owned()), ..Environment::default() };
        let loaded = Kubeconfig::load(None, &environment).unwrap();
        assert_eq!(loaded.document.current_context.as_deref(), Some("home"));
    }

    #[test]
    fn paths_are_relative_to_the_file_that_holds_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = write(
            &folder,
            "sub/config",
            "clusters: [{name: c, cluster: {certificate-authority: ca.crt}}]\n\
             users:\n\
             - {name: a, user: {tokenFile: ../token, client-key: /abs/key, exec: {command: ./bin/login}}}\n\
             - {name: b, user: {exec: {command: login}}}\n",
        );
        let loaded = Kubeconfig::load(Some(&file), &Environment::default()).unwrap().document;
        let sub = folder.path().join("sub");
        assert_eq!(loaded.clusters["c"].certificate_authority, Some(sub.join("ca.crt")));
        assert_eq!(loaded.users["a"].token_file, Some(folder.path().join("token")));
        assert_eq!(loaded.users["a"].client_key, Some("/abs/key".into()));
        assert_eq!(loaded.users["a"].exec.as_ref().unwrap().command, sub.join("bin/login").to_string_lossy());
        assert_eq!(loaded.users["b"].exec.as_ref().unwrap().command, "login");
    }

    #[test]
    fn broken_files_are_all_named_with_their_place_and_without_their_content() {
        let folder = tempfile::tempdir().unwrap();
        let yaml = write(&folder, "yaml", "users:\n- name: u\n  user: {token: hunter2\n");
        let content = write(&folder, "content", "users: hunter2\n");
        let error = Kubeconfig::load(None, &list(&[&yaml, &content, folder.path()])).unwrap_err();

        let text = error.message;
        assert!(
            text.contains(&format!("{}:", yaml.display())) && text.contains("the kubeconfig is not valid YAML"),
            "{text}"
        );
        assert!(text.contains("`users` must be a list, and is a string"), "{text}");
        assert!(text.contains(&format!("cannot read the kubeconfig `{}`", folder.path().display())), "{text}");
        assert!(!text.contains("hunter2") && !error.hint.unwrap().contains("hunter2"), "{text}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_without_end_is_refused() {
        let error = Kubeconfig::load(Some(Path::new("/dev/zero")), &Environment::default()).unwrap_err();
        assert_eq!(error.message, "the kubeconfig `/dev/zero` is larger than 8 MiB");
    }

    #[test]
    fn an_empty_file_and_a_json_file_are_kubeconfigs() {
        let folder = tempfile::tempdir().unwrap();
        let empty = write(&folder, "empty", "");
        let json = write(&folder, "json", r#"{"kind": "Config", "apiVersion": "v1", "current-context": "j"}"#);
        let loaded = Kubeconfig::load(None, &list(&[&empty, &json])).unwrap();
        assert_eq!(loaded.document.current_context.as_deref(), Some("j"));
    }
}
