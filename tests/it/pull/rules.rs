//! What rules and autoscalers cover is not pulled; and runs that end early.

use serde_json::json;

use super::{TIDY, applied, is_settled, patched, text};
use crate::control_plane::{Fault, Proxy, Replaced, Running, Workspace, wait_until};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: x\n  b: x\n";
const HEAD: &str = "apiVersion: kubectl-reconcile/v1\nkind: Config\n";

/// A kind with a list that is replaced as a whole.
const ROUTE: &str = "
properties:
  rules:
    type: array
    items:
      type: object
      properties:
        path: {type: string}
        weight: {type: integer}
";

#[test]
fn fields_that_rules_ignore_are_not_pulled() {
    let ws = applied(MAP);
    ws.patch_as("kubectl-edit", "configmap/m", &json!({"data": {"a": "w", "b": "w", "c": "w", "d": "w"}}));
    let rules = "ignore:\n- {target: {kind: ConfigMap}, fields: [data.a, data.c], reason: theirs}\n";
    ws.write(".kubectl-reconcile.yaml", &format!("{HEAD}{rules}"));
    ws.reconcile(["pull", "-f", ".", "--class", "changedByOther,unmanaged", "--field", "data"]).exits_with(0);
    assert_eq!(text(&ws), MAP.replaced("b: x\n", "b: w\n  d: w\n"));
    let named = ws.reconcile(["pull", "-f", ".", "--field", "data.a"]).exits_with(0);
    assert!(named.stdout.contains("nothing to pull"), "{named}");
    ws.reconcile(["pull", "-f", ".", "--no-config"]).exits_with(0);
    assert_eq!(text(&ws), MAP.replaced("a: x", "a: w").replaced("b: x\n", "b: w\n  d: w\n"));
}

#[test]
fn fields_that_an_annotation_ignores_are_not_pulled() {
    let map = MAP.replaced("{name: m}", "{name: m, annotations: {kubectl-reconcile/ignore: data.a}}");
    let ws = applied(&map);
    ws.patch_as("kubectl-edit", "configmap/m", &json!({"data": {"a": "w", "b": "w"}}));
    ws.reconcile(["pull", "-f", "."]).exits_with(0);
    assert_eq!(text(&ws), map.replaced("b: x", "b: w"));
    ws.reconcile(["pull", "-f", ".", "--no-ignore-annotations"]).exits_with(0);
    assert_eq!(text(&ws), map.replaced("a: x", "a: w").replaced("b: x", "b: w"));
}

#[test]
fn replicas_of_an_autoscaler_are_not_pulled() {
    let ws = applied(TIDY);
    ws.kubectl(["autoscale", "deployment/web", "--min=1", "--max=9"]).exits_with(0);
    let scale = json!({"spec": {"replicas": 5}}).to_string();
    let as_controller = "--field-manager=kube-controller-manager";
    ws.kubectl(["patch", "deployment/web", "--subresource=scale", as_controller, "--type=merge", "-p", &scale])
        .exits_with(0);
    let left = ws.reconcile(["pull", "-f", "."]).exits_with(0);
    assert!(left.stdout.contains("nothing to pull"), "{left}");
    assert_eq!(text(&ws), TIDY);
    ws.reconcile(["pull", "-f", ".", "--autoscalers=ignore"]).exits_with(0);
    assert_eq!(text(&ws), TIDY.replaced("replicas: 2", "replicas: 5"));
}

/// The ignored part of a list that is replaced as a whole stays as the manifest has it.
#[test]
fn ignored_parts_of_a_list_keep_the_values_of_the_manifest() {
    let ws = Workspace::new();
    ws.define("Route", ROUTE);
    let route = ws.fill_in(
        "apiVersion: $NS.example.com/v1
kind: Route
metadata: {name: web, annotations: {kubectl-reconcile/ignore: 'spec.rules[*].weight'}}
spec:
  rules:
  - {path: /, weight: 1} # all of it
  - {path: /api, weight: 1}
",
    );
    ws.write("it/manifests.yaml", &route);
    ws.reconcile(["apply", "-f", "it"]).exits_with(0);
    let rules = json!([{"path": "/", "weight": 7}, {"path": "/v2", "weight": 3}]);
    ws.patch_as("kubectl-edit", "routes.$NS.example.com/web", &json!({"spec": {"rules": rules}}));
    ws.reconcile(["pull", "-f", "it"]).exits_with(0);
    let written = std::fs::read_to_string(ws.folder().join("it/manifests.yaml")).unwrap();
    assert_eq!(written, route.replaced("/api", "/v2"));
    ws.reconcile(["diff", "-f", "it"]).exits_with(0);
}

#[test]
fn a_cluster_that_cannot_be_reached_is_exit_code_3() {
    let ws = applied(MAP);
    let run = ws.through("https://127.0.0.1:1").reconcile(["pull", "-f", "."]).exits_with(3);
    assert!(run.stdout.is_empty(), "{run}");
    let json = ws.through("https://127.0.0.1:1").reconcile(["pull", "-f", ".", "-o", "json"]).exits_with(3);
    assert_eq!(super::pulled(&json)["exitCode"], 3, "{json}");
    assert_eq!(text(&ws), MAP);
}

#[test]
fn ctrl_c_writes_no_file() {
    let ws = applied(MAP);
    ws.patch_as("kubectl-edit", "configmap/m", &json!({"data": {"a": "w"}}));
    let proxy = Proxy::new(&ws);
    let asked = || proxy.requests().iter().any(|request| request.starts_with("PATCH"));
    // At a question, and while the server is asked.
    let terminal = ws.as_user("admin").stdin("").on_terminal();
    let running: Running =
        terminal.through(&proxy.url()).start_reconcile(["pull", "-f", ".", "-p", "--evidence=server"]);
    wait_until("the comparison", asked);
    running.interrupt();
    running.finish().exits_with(130);
    assert_eq!(text(&ws), MAP);
    let silent = Proxy::new(&ws);
    silent.inject(9, "PATCH", "configmaps", Fault::Silence);
    let running = ws.through(&silent.url()).start_reconcile(["pull", "-f", ".", "--evidence=server"]);
    wait_until("the comparison", || silent.requests().iter().any(|request| request.starts_with("PATCH")));
    running.interrupt();
    running.finish().exits_with(130);
    assert_eq!(text(&ws), MAP);
}

/// What is pulled by hand settles the rest as well.
#[test]
fn conflicts_are_pulled_and_settled() {
    let ws = applied(MAP);
    ws.patch_as("a-controller", "configmap/m", &json!({"data": {"a": "w"}}));
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
    ws.reconcile(["pull", "-f", "."]).exits_with(0);
    assert_eq!(text(&ws), MAP.replaced("a: x", "a: w"));
    is_settled(&ws, &[("ConfigMap", "m")]);
    patched(&ws, "configmap/m", &json!([{"op": "replace", "path": "/data/b", "value": "w"}]));
    ws.reconcile(["pull", "-f", "."]).exits_with(0);
    is_settled(&ws, &[("ConfigMap", "m")]);
}
