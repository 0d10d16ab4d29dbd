//! A workspace for one scenario: its own namespace, folder of manifests and home folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::audit::Request;
use super::credentials::admin_of;
use super::secrets;
use super::server::ControlPlane;
use super::target::scratch;

/// Kinds whose objects change without a test.
const RESTLESS: [&str; 2] = ["Event", "Lease"];

/// A namespace of one scenario, with its folders.
pub struct Workspace {
    plane: Arc<ControlPlane>,
    namespace: String,
    folders: TempDir,
}

impl Workspace {
    /// Creates a workspace on the shared API server.
    #[track_caller]
    pub fn new() -> Workspace {
        Workspace::on(&ControlPlane::shared())
    }

    /// Creates a workspace on this control plane.
    pub fn on(plane: &Arc<ControlPlane>) -> Workspace {
        static MADE: AtomicUsize = AtomicUsize::new(1);
        // The length is constant, so that columns are equally wide in every run.
        let namespace = format!("ns-{:04}", MADE.fetch_add(1, Ordering::Relaxed));
        plane.api().create("/api/v1/namespaces", &json!({"metadata": {"name": namespace}}));
        let folders = TempDir::with_prefix_in("workspace-", scratch()).expect("a folder for the workspace");
        let workspace = Workspace { plane: Arc::clone(plane), namespace, folders };
        for folder in [workspace.folder(), workspace.home()] {
            fs::create_dir(folder).expect("the folders of the workspace");
        }
        workspace
    }

    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    pub fn plane(&self) -> &ControlPlane {
        &self.plane
    }

    /// The folder of manifests, and the working folder of every command.
    pub fn folder(&self) -> PathBuf {
        self.folders.path().join("manifests")
    }

    /// The home folder of every command, for caches and kubeconfigs.
    pub fn home(&self) -> PathBuf {
        self.folders.path().join("home")
    }

    /// Writes a file into the folder of manifests; `$NS` in the text is the namespace.
    pub fn write(&self, name: impl AsRef<Path>, text: &str) -> PathBuf {
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder for the file");
        fs::write(&path, self.fill_in(text)).expect("a file in the workspace");
        path
    }

    /// Replaces `$NS` in a text by the namespace.
    pub fn fill_in(&self, text: &str) -> String {
        text.replace("$NS", &self.namespace)
    }

    /// Registers a value that no output of the program may contain from now on, in any test.
    pub fn secret(&self, value: &str) -> String {
        secrets::register(value)
    }

    /// Waits until the server has published the types of the kinds that the workspace defined in `$NS.example.com/v1`: it
    /// serves new kinds a moment earlier.
    #[track_caller]
    pub fn wait_for_types(&self) {
        let group_version = self.fill_in("apis/$NS.example.com/v1");
        let deadline = Instant::now() + Duration::from_mins(1);
        let is_published = || {
            let index = self.plane.api().find("/openapi/v3").unwrap_or_default();
            // With its query, a document that changes meanwhile is a redirect.
            let url =
                index["paths"][&group_version]["serverRelativeURL"].as_str().and_then(|url| url.split('?').next());
            url.and_then(|url| self.plane.api().find(url)).is_some_and(|document| document["components"].is_object())
        };
        while !is_published() {
            assert!(Instant::now() < deadline, "{group_version} is not published");
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// The result of `action`, and the requests during it: all those of this workspace's administrator, and those of
    /// others in this namespace.
    pub fn requests_during<T>(&self, action: impl FnOnce() -> T) -> (T, Vec<Request>) {
        self.plane.audit().during(self.plane.api(), &admin_of(&self.namespace), &self.namespace, action)
    }

    /// The result of `action`, and all requests during it.
    pub fn all_requests_during<T>(&self, action: impl FnOnce() -> T) -> (T, Vec<Request>) {
        self.plane.audit().all_during(self.plane.api(), action)
    }

    /// The result of `action`, and the lines of the audit log about all requests during it.
    pub fn audit_log_during<T>(&self, action: impl FnOnce() -> T) -> (T, String) {
        self.plane.audit().log_during(self.plane.api(), action)
    }

    /// The lines of the audit log from a position on, and the position of the lines to come.
    pub fn audit_log_since(&self, position: u64) -> (String, u64) {
        self.plane.audit().since(self.plane.api(), position)
    }

    /// The user as which the workspace's programs run.
    pub fn admin(&self) -> String {
        admin_of(&self.namespace)
    }

    /// The live object with its managed fields, if it exists. `kind` is `Deployment`, `deployments` or
    /// `Deployment.apps`.
    #[track_caller]
    pub fn find(&self, kind: &str, name: &str) -> Option<Value> {
        let resources = self.plane.api().resources();
        let resource = resources.iter().find(|resource| resource.is_called(kind));
        let resource = resource.unwrap_or_else(|| panic!("the server knows no kind `{kind}`"));
        self.plane.api().find(&format!("{}/{}", resource.path(&self.namespace), self.fill_in(name)))
    }

    /// The live object with its managed fields; fails the test if it does not exist.
    #[track_caller]
    pub fn get(&self, kind: &str, name: &str) -> Value {
        self.find(kind, name).unwrap_or_else(|| panic!("{kind} {name} does not exist in {}", self.namespace))
    }

    #[track_caller]
    pub fn resource_version(&self, kind: &str, name: &str) -> String {
        resource_version(&self.get(kind, name))
    }

    /// The resource versions of all objects in the namespace, and of cluster-scoped objects whose names contain its
    /// name, by kind and name. If the maps before and after are equal, nothing was written.
    pub fn all_resource_versions(&self) -> BTreeMap<String, String> {
        let mut versions = BTreeMap::new();
        let settled = |kind: &str| !RESTLESS.contains(&kind);
        for resource in self.plane.api().resources().iter().filter(|r| r.listable && settled(&r.kind)) {
            let list = self.plane.api().find(&resource.path(&self.namespace)).unwrap_or_default();
            for object in list["items"].as_array().into_iter().flatten() {
                let name = object["metadata"]["name"].as_str().unwrap_or_default();
                if resource.namespaced || name.contains(&self.namespace) {
                    let kind = format!("{}.{}", resource.kind, resource.group);
                    versions.insert(format!("{} {name}", kind.trim_end_matches('.')), resource_version(object));
                }
            }
        }
        versions
    }
}

fn resource_version(object: &Value) -> String {
    object["metadata"]["resourceVersion"].as_str().expect("a live object has a resource version").to_owned()
}
