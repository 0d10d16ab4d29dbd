//! Controllers, a scheduler, and kwok with a fake node, on which workloads appear to run.

use std::path::Path;

use serde_json::json;

use super::api::Api;
use super::binaries::Binaries;
use super::component::{Component, wait_until};

const NODE: &str = "fake-node";

/// Starts the controllers, the scheduler and kwok, and waits until the fake node is ready.
pub fn start(
    binaries: &Binaries,
    folder: &Path,
    server_folder: &Path,
    kubeconfig: &Path,
    api: &Api,
) -> Result<Vec<Component>, String> {
    let start = |name: &str, flags: Vec<String>| {
        let arguments = [format!("--kubeconfig={}", kubeconfig.display())].into_iter().chain(flags);
        Component::start(name, folder.join(name), &binaries.program(name), arguments)
    };
    let file = |name: &str| server_folder.join(name).display().to_string();
    // They need neither a port nor leader election.
    let alone = || vec!["--leader-elect=false".to_owned(), "--secure-port=0".to_owned()];
    let mut controllers = alone();
    controllers.extend([
        format!("--service-account-private-key-file={}", file("service-accounts.key")),
        format!("--root-ca-file={}", file("ca.crt")),
    ]);
    let mut kwok = vec!["--manage-all-nodes".to_owned()];
    kwok.extend(binaries.kwok_stages().iter().map(|stage| format!("--config={}", stage.display())));
    let mut components =
        vec![start("kube-controller-manager", controllers)?, start("kube-scheduler", alone())?, start("kwok", kwok)?];

    api.create("/api/v1/nodes", &json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": NODE, "labels": {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux", "type": "kwok"}},
    }));
    let mut watched: Vec<&mut Component> = components.iter_mut().collect();
    wait_until("the fake node is ready", &mut watched, || node_is_ready(api))?;
    Ok(components)
}

fn node_is_ready(api: &Api) -> bool {
    let node = api.find(&format!("/api/v1/nodes/{NODE}")).unwrap_or_default();
    let conditions = node["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}
