//! `--create-namespace`: namespaces that do not exist are created, and nothing else is done to namespaces.

use serde_json::json;

use crate::control_plane::{Run, Workspace};

/// A workspace whose manifest is in a namespace that does not exist, and the name of that namespace.
fn missing() -> (Workspace, String) {
    let ws = Workspace::new();
    let name = format!("{}-new", ws.namespace());
    let manifest =
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, namespace: {name}}}, data: {{a: b}}}}");
    ws.write("a.yaml", &manifest);
    (ws, name)
}

fn run(ws: &Workspace, command: &str, flags: &[&str]) -> Run {
    ws.reconcile([&[command, "-f", "."], flags].concat())
}

#[test]
fn a_missing_namespace_is_shown_and_created_before_its_objects() {
    let (ws, name) = missing();
    let without = run(&ws, "apply", &[]).exits_with(4);
    assert!(without.stdout.contains("pass `--create-namespace`"), "{without}");
    for dry_run in [&["diff"][..], &["apply", "--dry-run"]] {
        let diff = ws.reconcile([dry_run, &["-f", ".", "--create-namespace"]].concat()).exits_with(1);
        assert_eq!(diff.each("action"), [format!("Namespace {name}: create"), "ConfigMap a: create".to_owned()]);
        assert_eq!(ws.find("Namespace", &name), None);
    }
    let apply = run(&ws, "apply", &["--create-namespace"]).exits_with(0);
    assert_eq!(apply.each("outcome"), [format!("Namespace {name}: created"), "ConfigMap a: created".to_owned()]);
    let again = run(&ws, "apply", &["--create-namespace"]).exits_with(0);
    assert_eq!((again.each("outcome"), again.writes()), (vec!["ConfigMap a: unchanged".to_owned()], 0));
}

/// The server reads a manifest before it looks for the Namespace; about one that fits the known types, it is not asked.
#[test]
fn a_mistake_in_a_manifest_is_found_before_its_namespace_exists() {
    let (ws, name) = missing();
    ws.write("namespace.yaml", &format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}}}}}"));
    let diff = run(&ws, "diff", &[]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", "a")["action"], "create", "{diff}");
    let manifest = std::fs::read_to_string(ws.folder().join("a.yaml")).unwrap();
    ws.write("a.yaml", &manifest.replace(", data:", ", dato:"));
    let diff = run(&ws, "diff", &[]).exits_with(4);
    let error = diff.object("ConfigMap", "a")["error"].to_string();
    assert!(error.contains("unknown field `dato`") && error.contains("did you mean `data`"), "{diff}");
}

#[test]
fn the_namespace_of_the_flag_is_created_even_for_objects_without_one() {
    let ws = Workspace::new();
    let name = format!("{}-flag", ws.namespace());
    ws.write(
        "role.yaml",
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: $NS-role}, rules: []}",
    );
    let apply = run(&ws, "apply", &["-n", &name, "--create-namespace"]).exits_with(0);
    assert_eq!(apply.object("Namespace", &name)["outcome"], "created", "{apply}");
    ws.kubectl(["delete", "clusterrole", "$NS-role"]).exits_with(0);
}

#[test]
fn a_namespace_of_the_manifests_is_applied_as_it_is_written_there() {
    let (ws, name) = missing();
    let written = format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}, labels: {{team: shop}}}}}}");
    ws.write("namespace.yaml", &written);
    let apply = run(&ws, "apply", &["--create-namespace"]).exits_with(0);
    assert_eq!(apply.report()["summary"]["objects"], 2, "{apply}");
    assert_eq!(ws.get("Namespace", &name)["metadata"]["labels"]["team"], "shop");
    // A run without that manifest leaves its labels alone.
    std::fs::remove_file(ws.folder().join("namespace.yaml")).unwrap();
    assert_eq!(run(&ws, "apply", &["--create-namespace"]).exits_with(0).writes(), 0);
    assert_eq!(ws.get("Namespace", &name)["metadata"]["labels"]["team"], "shop");
}

#[test]
fn a_created_namespace_belongs_to_no_apply_set_and_is_not_pruned() {
    let (ws, name) = missing();
    let set = ["-n", &name, "--prune", "--applyset=set", "--create-namespace"];
    let apply = run(&ws, "apply", &set).exits_with(0);
    assert_eq!(apply.object("Namespace", &name)["outcome"], "created", "{apply}");
    let again = run(&ws, "apply", &set).exits_with(0);
    assert_eq!((again.each("outcome"), again.writes()), (vec!["ConfigMap a: unchanged".to_owned()], 0), "{again}");
    assert!(ws.find("Namespace", &name).is_some());
}

#[test]
fn a_user_who_may_not_create_namespaces_gets_a_message() {
    let (ws, name) = missing();
    ws.allow("limited", "get,list,patch,create", "configmaps");
    let apply = ws.as_user("limited").reconcile(["apply", "-f", ".", "--create-namespace"]).exits_with(4);
    let error = &apply.object("Namespace", &name)["error"];
    assert_eq!(error["reason"], json!("Forbidden"), "{apply}");
    assert_eq!(ws.find("Namespace", &name), None);
}

#[test]
fn a_namespace_that_is_not_expected_is_not_created() {
    let (ws, _) = missing();
    ws.write(
        "deploy/role.yaml",
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: $NS-role}, rules: []}",
    );
    ws.write(
        "deploy/.kubectl-reconcile.yaml",
        "{apiVersion: kubectl-reconcile/v1, kind: Config, expect: {namespaces: [shop]}}",
    );
    let name = format!("{}-other", ws.namespace());
    let refused = ws.reconcile(["apply", "-f", "deploy", "-n", &name, "--create-namespace"]).exits_with(2);
    assert!(refused.stderr.contains(&format!("namespace `{name}` is not expected here, only `shop`")), "{refused}");
    assert_eq!(ws.find("Namespace", &name), None);
}
