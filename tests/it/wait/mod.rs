//! Readiness, on a control plane where workloads run: what `status` shows, and what `apply --wait` and `status --wait` wait for.

mod command_line;
mod conditions;
mod faults;
mod rules;
mod workloads;

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Run, Workspace, wait_until};

/// A Deployment of two replicas, for which there is a node.
const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'shop/web:1'}]}
";

/// A claim for which there is no volume.
const CLAIM: &str = "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: $NS, resources: {requests: {storage: 1Gi}}}
";

/// A workspace where workloads run.
fn running() -> Workspace {
    Workspace::on(&ControlPlane::full())
}

/// The state and the message of an object.
#[track_caller]
fn readiness<'r>(run: &'r Run, kind: &str, name: &str) -> (&'r str, &'r str) {
    let readiness = &run.object(kind, name)["readiness"];
    let field = |name: &str| readiness[name].as_str().unwrap_or_default();
    (field("state"), field("message"))
}

/// The states of all objects, as `Kind name: state`.
#[track_caller]
fn states(run: &Run) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |object: &Value| {
        format!("{} {}: {}", text(&object["kind"]), text(&object["name"]), text(&object["readiness"]["state"]))
    };
    run.objects().iter().map(line).collect()
}

/// Replaces what a status says, as its controller would.
#[track_caller]
fn set_status(ws: &Workspace, object: &str, status: &Value) {
    let patch = json!({"status": status}).to_string();
    ws.kubectl(["patch", object, "--subresource=status", "--type=merge", "-p", &patch]).exits_with(0);
}
