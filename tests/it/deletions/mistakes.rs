//! Mistakes after which members of a set seem to be gone from the manifests, and what each of them leaves.

use std::fs;

use serde_json::json;

use super::{SET, config_map, exists, namespace, remove, run};
use crate::control_plane::{Run, Workspace};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Three members in the namespace of the workspace.
fn applied() -> Workspace {
    let ws = Workspace::new();
    for name in NAMES {
        config_map(&ws, name, "$NS");
    }
    run(&ws, "apply", &[]).exits_with(0);
    ws
}

#[track_caller]
fn nothing_is_lost(ws: &Workspace) {
    for name in NAMES {
        assert!(exists(ws, ws.namespace(), &format!("configmap/{name}")), "{name}");
    }
}

#[track_caller]
fn apply_of(ws: &Workspace, path: &str, flags: &[&str]) -> Run {
    ws.reconcile([&["apply", "-f", path], &SET[..], flags].concat())
}

#[test]
fn an_empty_checkout() {
    let ws = applied();
    for name in NAMES {
        remove(&ws, name);
    }
    fs::create_dir_all(ws.folder().join("empty/inner")).unwrap();
    ws.write("comments/it.yaml", "# everything moved\n---\n");
    for path in ["deploy", "empty", "comments", "deploy/*.yaml", "missing", "/dev/null"] {
        for flags in [&[][..], &["-R"], &["--prune-allow=namespaces,definitions,other-namespaces,most"]] {
            apply_of(&ws, path, flags).exits_with(2);
        }
    }
    nothing_is_lost(&ws);
    // `--allow-empty` says that there may be no manifests, and not that everything may go.
    let apply = apply_of(&ws, "comments", &["--allow-empty"]).exits_with(4);
    assert_eq!(apply.object("ConfigMap", "a")["deletion"], json!({"needs": ["other-namespaces"]}), "{apply}");
    nothing_is_lost(&ws);
}

#[test]
fn an_empty_or_cut_stream() {
    let ws = applied();
    for text in ["", "\n", "---\n", "null\n", "# Error: template: parse error\n", "Error: execution error\n"] {
        let apply = ws.stdin(text).reconcile([&["apply", "-f", "-"], &SET[..]].concat());
        apply.exits_with(2);
    }
    nothing_is_lost(&ws);
}

#[test]
fn a_wrong_selector() {
    let ws = applied();
    for flags in [["-l", "app=web"], ["-l", "app!=web"], ["--selector", "a"]] {
        let refused = run(&ws, "apply", &flags).exits_with(2);
        assert!(refused.stderr.contains("`--prune` and `--selector` cannot be combined"), "{refused}");
    }
    // A configuration cannot set one either.
    ws.write(
        "deploy/.kubectl-reconcile.yaml",
        "apiVersion: kubectl-reconcile/v1\nkind: Config\ndefaults: {selector: app=web}\n",
    );
    run(&ws, "apply", &[]).exits_with(2);
    nothing_is_lost(&ws);
}

#[test]
fn a_kustomization_that_lost_its_resources() {
    let ws = applied();
    let path = ws.plane().kubectl().parent().unwrap().display().to_string();
    for kustomization in
        ["resources: []\n", "namespace: $NS\n", "resources: [missing.yaml]\n", "resources: [../missing]\n"]
    {
        ws.write("k/kustomization.yaml", kustomization);
        let flags = [&["apply", "-k", "k", "--prune-allow=namespaces,most"], &SET[..]].concat();
        ws.env("PATH", &path).reconcile(flags).exits_with(2);
    }
    nothing_is_lost(&ws);
    // With one resource of many left, most of the set would go.
    for number in 0..12 {
        config_map(&ws, &format!("m-{number}"), "$NS");
    }
    run(&ws, "apply", &[]).exits_with(0);
    ws.write("k/kustomization.yaml", "resources: [a.yaml]\n");
    fs::copy(ws.folder().join("deploy/a.yaml"), ws.folder().join("k/a.yaml")).unwrap();
    let apply = ws.env("PATH", &path).reconcile([&["apply", "-k", "k"], &SET[..]].concat()).exits_with(4);
    assert_eq!(apply.object("ConfigMap", "m-0")["deletion"], json!({"needs": ["most"]}));
    nothing_is_lost(&ws);
}

#[test]
fn a_renamed_namespace() {
    let ws = applied();
    let renamed = namespace(&ws, "$NS-renamed");
    for name in NAMES {
        config_map(&ws, name, &renamed);
    }
    // The set goes on, and its members in the former namespace stay.
    let apply = run(&ws, "apply", &[]).exits_with(4);
    assert!(apply.stderr.contains("in the namespace of the context"), "{apply}");
    nothing_is_lost(&ws);
    assert!(exists(&ws, &renamed, "configmap/a"));
    // With the flag, it is another set.
    let again = namespace(&ws, "$NS-again");
    for name in NAMES {
        config_map(&ws, name, &again);
    }
    run(&ws, "apply", &["-n", &again]).exits_with(0);
    nothing_is_lost(&ws);
    assert!(exists(&ws, &renamed, "configmap/a") && exists(&ws, &again, "configmap/a"));
}

#[test]
fn a_missing_shard() {
    let ws = applied();
    remove(&ws, "c");
    let new = ["d", "e", "f", "g"];
    for name in new {
        config_map(&ws, name, "$NS");
    }
    // Each shard alone, as if the others had never run: nothing goes before their objects are applied.
    let is_left = |name: &str| exists(&ws, ws.namespace(), &format!("configmap/{name}"));
    for index in 0..3 {
        let was_left = is_left("c");
        let apply = run(&ws, "apply", &["--shard", &format!("{index}/3"), "--wait", "--timeout=1s"]);
        if was_left && !is_left("c") {
            assert!(apply.report()["applySet"].get("prunedBy").is_none(), "{apply}");
            assert!(new.into_iter().all(is_left), "{apply}");
        }
    }
    for index in 0..3 {
        run(&ws, "apply", &["--shard", &format!("{index}/3")]).exits_with(0);
    }
    assert!(!exists(&ws, ws.namespace(), "configmap/c"));
}

#[test]
fn the_set_of_another_team() {
    let ws = applied();
    // The objects are in a set of their own: the wrong name is refused, and nothing is deleted.
    ws.write("theirs/it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, namespace: $NS}}");
    ws.reconcile(["apply", "-f", "theirs", "--prune", "--applyset", "theirs"]).exits_with(0);
    apply_of(&ws, "theirs", &[]).exits_with(4);
    nothing_is_lost(&ws);
    // A set that the configuration names cannot be confused.
    ws.write(
        "theirs/.kubectl-reconcile.yaml",
        "apiVersion: kubectl-reconcile/v1\nkind: Config\nexpect: {applyset: theirs}\n",
    );
    let refused = apply_of(&ws, "theirs", &[]).exits_with(2);
    assert!(refused.stderr.contains("these manifests belong to apply set `theirs`, not to `shop`"), "{refused}");
    nothing_is_lost(&ws);
    // New objects that name the set of others: before anything is written, the diff says whose set it is.
    ws.write("new/it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: new, namespace: $NS}}");
    let diff = ws.reconcile([&["diff", "-f", "new"], &SET[..]].concat()).exits_with(1);
    assert!(diff.stderr.contains("no manifest names a member of the apply set"), "{diff}");
}

#[test]
fn a_changed_context() {
    let ws = Workspace::new();
    for name in NAMES {
        ws.write(
            format!("deploy/{name}.yaml"),
            &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}"),
        );
    }
    run(&ws, "apply", &[]).exits_with(0);
    // The namespace of the context is another one: another set, with objects of its own.
    let other = namespace(&ws, "$NS-other");
    let kubeconfig = ws.plane().kubeconfig("admin", ws.plane().url(), &other);
    let path = ws.write("other.kubeconfig", &kubeconfig).display().to_string();
    run(&ws, "apply", &["--kubeconfig", &path]).exits_with(0);
    nothing_is_lost(&ws);
    // Fewer manifests there concern nothing here.
    remove(&ws, "c");
    run(&ws, "apply", &["--kubeconfig", &path]).exits_with(0);
    nothing_is_lost(&ws);
    assert!(!exists(&ws, &other, "configmap/c") && exists(&ws, &other, "configmap/a"));
}
