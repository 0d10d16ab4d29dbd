//! `--prune --applyset`: members that no manifest names any more are deleted, and nothing else (KEP-3659).

mod at_once;
mod deletions;
mod identity;
mod kept;
mod kubectl;
mod membership;
mod parents;
mod pruning;
mod trouble;
mod trust;

use serde_json::{Value, json};

use crate::control_plane::{Fault, Proxy, Run, Workspace};

pub const PART_OF: &str = "applyset.kubernetes.io/part-of";
pub const SET: [&str; 2] = ["--prune", "--applyset=set"];
/// Allows every deletion.
pub const ALLOWED: &str = "--prune-allow=namespaces,definitions,other-namespaces,most";

pub const ROLE: &str = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: []}";

/// A ConfigMap in a file of its own.
pub fn config_map(ws: &Workspace, name: &str) {
    ws.write(
        format!("{name}.yaml"),
        &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{a: b}}}}"),
    );
}

pub fn remove(ws: &Workspace, name: &str) {
    std::fs::remove_file(ws.folder().join(format!("{name}.yaml"))).unwrap();
}

/// `diff` or `apply` of the whole folder with the set `set`.
#[track_caller]
pub fn run(ws: &Workspace, command: &str) -> Run {
    ws.reconcile(["diff", "apply"].iter().filter(|name| **name == command).chain(&["-f", "."]).chain(&SET))
}

/// The same, with every deletion allowed.
#[track_caller]
pub fn run_allowed(ws: &Workspace, command: &str) -> Run {
    ws.reconcile([&[command, "-f", "."][..], &SET, &[ALLOWED]].concat())
}

/// A workspace with the ConfigMaps `a` and `b` in the set `set`.
pub fn applied() -> Workspace {
    let ws = Workspace::new();
    config_map(&ws, "a");
    config_map(&ws, "b");
    run(&ws, "apply").exits_with(0);
    ws
}

pub fn label(object: &Value) -> &Value {
    &object["metadata"]["labels"][PART_OF]
}

/// What the Secret `set` records: kinds, namespaces and tooling.
#[track_caller]
pub fn record(ws: &Workspace) -> [Value; 3] {
    let annotations = ws.get("Secret", "set")["metadata"]["annotations"].clone();
    ["contains-group-kinds", "additional-namespaces", "tooling"]
        .map(|name| annotations[format!("applyset.kubernetes.io/{name}")].clone())
}

#[track_caller]
pub fn lists(ws: &Workspace, kinds: &str, namespaces: &str) {
    assert_eq!(record(ws)[..2], [json!(kinds), json!(namespaces)]);
}

/// The same as [`run_allowed`], through a proxy.
#[track_caller]
pub fn through(ws: &Workspace, proxy: &Proxy, command: &str) -> Run {
    ws.through(&proxy.url()).reconcile([&[command, "-f", "."][..], &SET, &[ALLOWED]].concat())
}

/// A refusal of the server.
pub fn refusal(code: u16, message: &str) -> Fault {
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message});
    Fault::Answer(code, vec![("Content-Type", "application/json".to_owned())], status.to_string())
}
