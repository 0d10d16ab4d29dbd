//! Runs without `--applyset` over the members of a set, and runs with another one: no object leaves its set by accident.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{PART_OF, applied, config_map, label, remove, run};
use crate::control_plane::{Fault, Proxy, Replaced as _, Run, Workspace};

/// `diff` or `apply` of the whole folder, without a set.
#[track_caller]
fn without_set(ws: &Workspace, command: &str, flags: &[&str]) -> Run {
    ws.reconcile([&[command, "-f", "."], flags].concat())
}

fn warnings(run: &Run) -> Vec<&str> {
    run.report()["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn an_apply_that_forgets_the_set_orphans_nothing() {
    let ws = applied();
    let before = ws.all_resource_versions();
    for command in ["diff", "apply"] {
        let forgotten = without_set(&ws, command, &[]).exits_with(0);
        let warning = "2 objects belong to apply set `set` (Secret $NS/set): pass `--prune --applyset set`, or `--leave-applyset` to take them out";
        assert_eq!(warnings(&forgotten), [ws.fill_in(warning)], "{forgotten}");
        assert_eq!(forgotten.stderr.matches("--leave-applyset").count(), 1, "{forgotten}");
        assert_eq!(forgotten.writes(), 0, "{forgotten}");
    }
    assert_eq!(ws.all_resource_versions(), before);
    remove(&ws, "b");
    without_set(&ws, "apply", &[]).exits_with(0);
    let apply = run(&ws, "apply").exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: unchanged", "ConfigMap b: deleted"]);
    assert_eq!(ws.find("ConfigMap", "b"), None);
}

#[test]
fn an_update_without_the_set_changes_the_values_and_keeps_the_label() {
    let ws = applied();
    let id = label(&ws.get("ConfigMap", "a")).clone();
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: c}}");
    for evidence in ["--evidence=auto", "--evidence=server", "--evidence=read-only"] {
        let diff = without_set(&ws, "diff", &[evidence]).exits_with(1);
        assert_eq!(diff.changes("ConfigMap", "a"), ["pending data.a"], "{evidence}");
        assert!(!diff.stdout.contains("ignored"), "{diff}");
    }
    let apply = without_set(&ws, "apply", &[]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: updated", "ConfigMap b: unchanged"]);
    let live = ws.get("ConfigMap", "a");
    assert_eq!((label(&live), &live["data"]), (&id, &json!({"a": "c"})));
    // The label is still ours, so that the set trusts it.
    remove(&ws, "a");
    assert_eq!(run(&ws, "diff").exits_with(1).object("ConfigMap", "a")["action"], "delete");
}

#[test]
fn an_object_that_changes_during_the_write_stays_in_its_set() {
    let ws = Arc::new(applied());
    let id = label(&ws.get("ConfigMap", "a")).clone();
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: c}}");
    let proxy = Proxy::new(&ws);
    let other = Arc::clone(&ws);
    let event = move || other.patch_as("somebody", "configmap/a", &json!({"data": {"other": "value"}}));
    proxy.inject(1, "PATCH", "configmaps/a !dryRun", Fault::After(Arc::new(event)));
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "a.yaml"]).exits_with(0);
    assert_eq!(apply.object("ConfigMap", "a")["outcome"], "updated", "{apply}");
    let live = ws.get("ConfigMap", "a");
    assert_eq!((label(&live), &live["data"]), (&id, &json!({"a": "c", "other": "value"})));
}

#[test]
fn a_replaced_object_stays_in_its_set() {
    let ws = Workspace::new();
    let fixed = |value: &str| {
        let text = format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, immutable: true, data: {{a: {value}}}}}"
        );
        ws.write("a.yaml", &text);
    };
    fixed("b");
    run(&ws, "apply").exits_with(0);
    let before = ws.get("ConfigMap", "a");
    fixed("c");
    let apply = without_set(&ws, "apply", &["--replace=immutable"]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: replaced"], "{apply}");
    let after = ws.get("ConfigMap", "a");
    assert_ne!(before["metadata"]["uid"], after["metadata"]["uid"]);
    assert_eq!(label(&after), label(&before));
    assert_eq!(without_set(&ws, "apply", &[]).exits_with(0).writes(), 0);
    assert_eq!(run(&ws, "diff").exits_with(0).each("action"), ["ConfigMap a: none"]);
    remove(&ws, "a");
    config_map(&ws, "b");
    assert_eq!(run(&ws, "diff").exits_with(1).object("ConfigMap", "a")["action"], "delete");
}

#[test]
fn objects_leave_their_set_when_that_is_intended() {
    let ws = applied();
    let leave = |command: &str| without_set(&ws, command, &["--leave-applyset"]);
    let diff = leave("diff").exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "a"), [r#"pruned metadata.labels["applyset.kubernetes.io/part-of"]"#]);
    leave("apply").exits_with(0);
    assert_eq!(label(&ws.get("ConfigMap", "a")), &Value::Null);
    assert_eq!(leave("apply").exits_with(0).writes(), 0);
    assert_eq!(warnings(&without_set(&ws, "diff", &[]).exits_with(0)), [""; 0]);
    remove(&ws, "b");
    ws.reconcile(["apply", "-f", ".", "--prune", "--applyset=set"]).exits_with(0);
    assert!(ws.find("ConfigMap", "b").is_some(), "it is no member any more");
    for flags in [&["--prune", "--applyset=set"][..], &["--applyset=set"], &["--prune"]] {
        let refused = ws.reconcile([&["diff", "-f", ".", "--leave-applyset"], flags].concat()).exits_with(2);
        assert!(refused.stderr.contains("'--leave-applyset' cannot be used with"), "{refused}");
    }
    ws.write(
        ".kubectl-reconcile.yaml",
        "{apiVersion: kubectl-reconcile/v1, kind: Config, defaults: {leave-applyset: true}}",
    );
    let refused = without_set(&ws, "diff", &[]).exits_with(2);
    assert!(refused.stderr.contains("`defaults` cannot set `--leave-applyset`"), "{refused}");
}

#[test]
fn members_of_another_set_are_refused_and_reported_once() {
    let ws = applied();
    config_map(&ws, "c");
    let other =
        |command: &str| ws.reconcile([command, "-f", ".", "--prune", "--applyset=other", "--force-conflicts=all"]);
    let before = ws.resource_version("ConfigMap", "a");
    let diff = other("diff").exits_with(4);
    assert_eq!(diff.each("action"), ["ConfigMap a: unknown", "ConfigMap b: unknown", "ConfigMap c: create"]);
    let error = &diff.object("ConfigMap", "a")["error"];
    assert_eq!(error["reason"], "Conflict");
    assert_eq!(error["message"], ws.fill_in("it belongs to another apply set `set` (Secret $NS/set)"));
    assert!(error["hint"].as_str().unwrap().contains("`--prune --applyset set`"), "{error}");
    assert_eq!(diff.stdout.matches("another apply set").count(), 1, "{diff}");
    assert!(diff.stdout.contains("! 2 objects: it belongs to another apply set"), "{diff}");
    assert!(!diff.stdout.contains("kubectl-reconcile"), "not a conflict with ourselves: {diff}");
    let apply = other("apply").exits_with(4);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: skipped", "ConfigMap b: skipped", "ConfigMap c: created"]);
    assert_eq!(ws.resource_version("ConfigMap", "a"), before);
    // Out of the first set, into the second.
    ws.reconcile(["apply", "-f", ".", "--leave-applyset"]).exits_with(0);
    other("apply").exits_with(0);
}

#[test]
fn a_set_that_nothing_joins_gets_no_parent() {
    let ws = applied();
    let other = |command: &str| ws.reconcile([command, "-f", ".", "--prune", "--applyset=other"]);
    for command in ["diff", "apply"] {
        let run = other(command).exits_with(4);
        assert!(!run.stdout.contains("parent of the apply set"), "{run}");
    }
    assert_eq!(ws.find("Secret", "other"), None);
}

#[test]
fn a_set_is_named_by_the_flags_that_continue_it() {
    // The parent is in another namespace than that of the run, and not a Secret.
    let ws = Workspace::new();
    let home = Workspace::new();
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: $NS}, data: {a: b}}");
    let kubeconfig = ws.plane().kubeconfig("admin", ws.plane().url(), home.namespace());
    let kubeconfig = ws.write("home.kubeconfig", &kubeconfig).display().to_string();
    let flags = ["--prune", "--applyset=configmap/set", "--kubeconfig", &kubeconfig];
    ws.write("home/b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}");
    ws.reconcile([&["apply", "-f", "a.yaml", "-f", "home"][..], &flags].concat()).exits_with(0);
    let diff = without_set(&ws, "diff", &[]).exits_with(0);
    let name = home.namespace();
    let warning = format!(
        "1 object belongs to apply set `set` (ConfigMap {name}/set): pass `--prune --applyset configmap/set` in a context whose namespace is `{name}`, or `--leave-applyset` to take it out"
    );
    assert_eq!(warnings(&diff), [warning]);
}

#[test]
fn without_permission_or_parent_the_set_is_named_by_its_id() {
    let ws = applied();
    let id = label(&ws.get("ConfigMap", "a")).as_str().unwrap().to_owned();
    let warning = format!(
        "2 objects belong to apply set `{id}`, whose parent could not be found: pass `--prune --applyset` and the name of its parent, or `--leave-applyset` to take them out"
    );
    ws.allow("limited", "get,list,patch,create", "configmaps");
    let limited = ws.as_user("limited").reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(warnings(&limited), [warning.as_str()]);
    // A label alone makes no parent.
    ws.kubectl(["delete", "secret", "set"]).exits_with(0);
    ws.kubectl(["create", "secret", "generic", "impostor"]).exits_with(0);
    ws.kubectl(["label", "secret", "impostor", &format!("applyset.kubernetes.io/id={id}")]).exits_with(0);
    assert_eq!(warnings(&without_set(&ws, "diff", &[]).exits_with(0)), [warning.as_str()]);
    ws.reconcile(["snapshot", "-f", ".", "--file", "live.snapshot"]).exits_with(0);
    let offline = ws.reconcile(["diff", "-f", "a.yaml", "-f", "b.yaml", "--live", "live.snapshot"]).exits_with(0);
    assert_eq!(warnings(&offline), [warning.replaced("could not be found", "is not in the snapshot")]);
    // Commands without flags for sets do not advise them.
    ws.patch_as("kubectl-edit", "configmap/a", &json!({"data": {"a": "changed"}}));
    let pull = ws.reconcile(["pull", "-f", "a.yaml", "--dry-run"]).exits_with(1);
    assert!(!pull.stderr.contains("apply set"), "{pull}");
}

#[test]
fn a_snapshot_that_has_the_parent_names_the_set() {
    let ws = applied();
    ws.write("set.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: set}}");
    ws.reconcile(["snapshot", "-f", ".", "--file", "live.snapshot"]).exits_with(0);
    let offline = ws.reconcile(["diff", "-f", "a.yaml", "-f", "b.yaml", "--live", "live.snapshot"]).exits_with(0);
    let warning = "2 objects belong to apply set `set` (Secret $NS/set): pass `--prune --applyset set`, or `--leave-applyset` to take them out";
    assert_eq!(warnings(&offline), [ws.fill_in(warning)]);
}

#[test]
fn objects_without_a_set_cost_no_request_for_parents() {
    let ws = Workspace::new();
    config_map(&ws, "a");
    without_set(&ws, "apply", &[]).exits_with(0);
    let (diff, requests) = ws.requests_during(|| without_set(&ws, "diff", &[]));
    assert_eq!(warnings(&diff.exits_with(0)), [""; 0]);
    assert!(!requests.iter().any(|request| request.uri.contains("labelSelector")), "{requests:#?}");
}

#[test]
fn members_of_a_set_of_kubectl_stay_in_it() {
    for server_side in ["--server-side=true", "--server-side=false"] {
        let ws = Workspace::new();
        config_map(&ws, "a");
        config_map(&ws, "b");
        let kubectl = ["apply", server_side, "-f", ".", "-n", "$NS", "--prune", "--applyset=set"];
        ws.env("KUBECTL_APPLYSET", "true").kubectl(kubectl).exits_with(0);
        let warning = "2 objects belong to apply set `set` (Secret $NS/set): pass `--prune --applyset set --adopt kubectl`, or `--leave-applyset` to take them out";
        ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: c}}");
        let force = ["--adopt=kubectl,kubectl-client-side-apply"];
        let apply = without_set(&ws, "apply", &force).exits_with(0);
        assert_eq!(warnings(&apply), [ws.fill_in(warning)], "{server_side}");
        assert_eq!(without_set(&ws, "apply", &force).exits_with(0).writes(), 0, "{server_side}");
        assert!(label(&ws.get("ConfigMap", "a")).is_string(), "{server_side}");
        remove(&ws, "b");
        let continued =
            ws.reconcile(["apply", "-f", ".", "--prune", "--applyset=set", "--adopt=kubectl"]).exits_with(0);
        assert_eq!(continued.object("ConfigMap", "b")["outcome"], "deleted", "{server_side}");
    }
}

#[test]
fn a_label_that_others_own_is_not_removed_but_reported() {
    let ws = Workspace::new();
    config_map(&ws, "a");
    without_set(&ws, "apply", &[]).exits_with(0);
    ws.apply_as(
        "gitops",
        &format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, namespace: $NS, labels: {{{PART_OF}: theirs}}}}}}"
        ),
    );
    let leave = without_set(&ws, "apply", &["--leave-applyset"]).exits_with(0);
    let warning = "1 object stays in apply set `theirs`, whose parent could not be found, because other managers own the label: remove it with `kubectl label KIND NAME applyset.kubernetes.io/part-of-`";
    assert_eq!(warnings(&leave), [warning]);
    assert_eq!(label(&ws.get("ConfigMap", "a")), "theirs");
}
