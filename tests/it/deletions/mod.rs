//! No command deletes more than somebody meant: deletions that have to be allowed, deletions that wait until everything is ready, and
//! the mistakes after which members seem to be gone from the manifests.

mod consent;
mod mistakes;
mod overlays;
mod readiness;
mod runs;

use serde_json::Value;

use crate::control_plane::{Run, Workspace};

const SET: [&str; 3] = ["--prune", "--applyset", "shop"];

/// A command on the folder `deploy`, with the set `shop` and more flags.
#[track_caller]
fn run(ws: &Workspace, command: &str, flags: &[&str]) -> Run {
    ws.reconcile([&[command, "-f", "deploy"], &SET[..], flags].concat())
}

fn config_map(ws: &Workspace, name: &str, namespace: &str) {
    let object = format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, namespace: {namespace}}}, data: {{a: b}}}}"
    );
    ws.write(format!("deploy/{name}.yaml"), &object);
}

/// A Namespace in a file of its own, in a folder that is applied before.
fn namespace(ws: &Workspace, name: &str) -> String {
    let name = ws.fill_in(name);
    ws.kubectl(["create", "namespace", &name]).exits_with(0);
    name
}

fn remove(ws: &Workspace, name: &str) {
    std::fs::remove_file(ws.folder().join(format!("deploy/{name}.yaml"))).unwrap();
}

#[track_caller]
fn exists(ws: &Workspace, namespace: &str, object: &str) -> bool {
    let get = [
        "get",
        "-n",
        namespace,
        object,
        "--ignore-not-found",
        "-o",
        "jsonpath={.metadata.name} {.metadata.deletionTimestamp}",
    ];
    let found = ws.kubectl(get).exits_with(0).stdout;
    // An object that is being deleted is as good as gone.
    !found.is_empty() && found.ends_with(' ')
}

/// What the deletion of an object needs, in a report.
#[track_caller]
fn needs<'r>(run: &'r Run, kind: &str, name: &str) -> &'r Value {
    &run.object(kind, name)["deletion"]["needs"]
}
