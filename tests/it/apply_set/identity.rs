//! Which set an object belongs to: one at most, and not by its manifest's say.

use serde_json::json;

use super::kept::is_kept;
use super::{PART_OF, applied, config_map, label, lists, remove, run};
use crate::control_plane::Workspace;

#[test]
fn ids_and_records_are_those_of_kubectl() {
    for (parent, resource) in [("set", "Secret"), ("secret/set", "Secret"), ("configmaps/set", "ConfigMap")] {
        let ours = Workspace::new();
        config_map(&ours, "a");
        let flag = format!("--applyset={parent}");
        ours.reconcile(["apply", "-f", ".", "--prune", &flag]).exits_with(0);
        let by_us = ours.get(resource, "set");
        ours.kubectl(["delete", resource, "set"]).exits_with(0);
        let flags = ["apply", "--server-side", "-f", ".", "--prune", "-n", "$NS", &flag];
        ours.env("KUBECTL_APPLYSET", "true").kubectl(flags).exits_with(0);
        let by_kubectl = ours.get(resource, "set");
        assert_eq!(by_us["metadata"]["labels"], by_kubectl["metadata"]["labels"]);
        assert_eq!(*label(&ours.get("ConfigMap", "a")), by_us["metadata"]["labels"]["applyset.kubernetes.io/id"]);
        for name in ["contains-group-kinds", "additional-namespaces"] {
            let name = format!("applyset.kubernetes.io/{name}");
            assert_eq!(by_us["metadata"]["annotations"][&name], by_kubectl["metadata"]["annotations"][&name]);
        }
        let tooling = format!("kubectl-reconcile/v{}", env!("CARGO_PKG_VERSION"));
        assert_eq!(by_us["metadata"]["annotations"]["applyset.kubernetes.io/tooling"], tooling);
    }
}

#[test]
fn a_manifest_does_not_say_which_set_it_belongs_to() {
    let ws = Workspace::new();
    ws.write(
        "a.yaml",
        &format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n    {PART_OF}: other\n"),
    );
    for command in ["diff", "apply"] {
        let refused = run(&ws, command).exits_with(2);
        let error = &refused.report()["errors"][0];
        assert_eq!((&error["line"], &error["column"]), (&json!(6), &json!(5)), "{refused}");
        assert!(error["message"].as_str().unwrap().contains(PART_OF), "{error}");
    }
    assert_eq!(ws.find("Secret", "set"), None);
    assert_eq!(ws.find("ConfigMap", "a"), None);
}

#[test]
fn another_set_in_the_same_namespace_keeps_its_members() {
    let ws = applied();
    remove(&ws, "a");
    remove(&ws, "b");
    config_map(&ws, "c");
    ws.reconcile(["apply", "-f", ".", "--prune", "--applyset=other"]).exits_with(0);
    assert!(ws.find("ConfigMap", "a").is_some());
    let diff = ws.reconcile(["diff", "-f", ".", "--prune", "--applyset=other"]).exits_with(0);
    assert_eq!(diff.each("action"), ["ConfigMap c: none"]);
}

#[test]
fn members_of_a_deleted_parent_are_found_by_their_label() {
    let ws = applied();
    ws.write("role.yaml", "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: []}");
    run(&ws, "apply").exits_with(0);
    ws.kubectl(["delete", "secret", "set"]).exits_with(0);
    remove(&ws, "role");
    remove(&ws, "b");
    let diff = run(&ws, "diff").exits_with(0);
    is_kept(&diff, "ConfigMap", "b", "no parent of the apply set lists it yet (`--applyset-recover` deletes it now)");
    is_kept(&diff, "Role", "r", "no parent of the apply set lists it (`--applyset-recover` deletes it)");
    assert!(diff.stdout.contains(&ws.fill_in("+ Secret $NS/set")), "the parent is to be written, too: {diff}");
    let recover = |command: &str| ws.reconcile([command, "-f", ".", "--prune", "--applyset=set", "--applyset-recover"]);
    let diff = recover("diff").exits_with(1);
    assert_eq!(diff.each("action"), ["ConfigMap a: none", "ConfigMap b: delete", "Role r: delete"]);
    let apply = run(&ws, "apply").exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: unchanged", "ConfigMap b: unchanged", "Role r: unchanged"]);
    lists(&ws, "ConfigMap", "");
    // Although there is a parent again.
    let apply = recover("apply").exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: unchanged", "ConfigMap b: deleted", "Role r: deleted"]);
    lists(&ws, "ConfigMap", "");
    run(&ws, "diff").exits_with(0);
    assert_eq!(recover("apply").exits_with(0).writes(), 0);
}

#[test]
fn flags_that_make_no_sense_together_are_refused() {
    let ws = Workspace::new();
    config_map(&ws, "a");
    for (flags, hint) in [
        (&["--prune"][..], "--applyset=NAME"),
        (&["--applyset=set"], "--prune --applyset=set"),
        (&["--prune", "--applyset=set", "-l", "app=web"], "that the selector leaves out"),
        (&["--applyset-recover"], "--applyset=NAME"),
        (&["--prune", "--applyset-recover"], "--applyset=NAME"),
        (&["--applyset=set", "--applyset-recover"], "--prune"),
        (&["--prune", "--applyset=a/b/c"], "RESOURCE[.GROUP]/NAME"),
        (&["--prune", "--applyset=things/a"], "a ConfigMap"),
        (&["--prune", "--applyset=deployments.apps/a"], "is-parent-type"),
        (&["--prune", "--applyset=namespaces/a"], "is-parent-type"),
    ] {
        for command in ["diff", "apply"] {
            let refused = ws.reconcile([&[command, "-f", "."], flags].concat()).exits_with(2);
            assert!(refused.stderr.contains(hint), "{refused}");
        }
    }
    ws.write("live.txt", "");
    let refused =
        ws.reconcile(["diff", "-f", "a.yaml", "--live", "live.txt", "--prune", "--applyset=set"]).exits_with(2);
    assert!(refused.stderr.contains("--live"), "{refused}");
    assert_eq!(ws.find("ConfigMap", "a"), None);
}

#[test]
fn an_object_whose_kind_moved_to_another_group_is_the_same_object() {
    let ws = Workspace::new();
    ws.write(
        "event.yaml",
        "{apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: {namespace: $NS}, reason: Tested}",
    );
    config_map(&ws, "a");
    run(&ws, "apply").exits_with(0);
    lists(&ws, "ConfigMap,Event", "");
    ws.write(
        "event.yaml",
        "{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: e}, regarding: {namespace: $NS}, reason: Tested}",
    );
    let diff = run(&ws, "diff");
    assert_eq!(diff.report()["summary"]["delete"], 0, "{diff}");
    run(&ws, "apply");
    assert!(ws.find("Event", "e").is_some());
}
