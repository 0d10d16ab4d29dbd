//! Which objects can be parents, and what stands against a parent.

use serde_json::{Value, json};

use super::{PART_OF, applied, config_map, label, lists, remove, run};
use crate::control_plane::{ANY_FIELDS, Replaced, Workspace, definition};

/// A workspace where custom resources can be parents.
fn with_parent_types() -> Workspace {
    let ws = Workspace::new();
    let parent = |kind| {
        let labels = "example.com, labels: {applyset.kubernetes.io/is-parent-type: 'true'}}";
        definition(kind, ANY_FIELDS).replaced("example.com}", labels)
    };
    ws.write("types/set.yaml", &parent("Set"));
    ws.write("types/cluster-set.yaml", &parent("ClusterSet").replaced("Namespaced", "Cluster"));
    ws.write("types/thing.yaml", &definition("Thing", ANY_FIELDS));
    ws.reconcile(["apply", "-f", "types"]).exits_with(0);
    config_map(&ws, "a");
    config_map(&ws, "b");
    ws
}

fn create(ws: &Workspace, kind: &str, name: &str) {
    let manifest = format!("{{apiVersion: $NS.example.com/v1, kind: {kind}, metadata: {{name: {name}}}}}");
    ws.stdin(&manifest).kubectl(["create", "-f", "-"]).exits_with(0);
}

/// Gives an object what the refusal asks for.
#[track_caller]
fn make_parent(ws: &Workspace, resource: &str, name: &str) {
    let set = format!("--applyset={resource}/{name}");
    let refused = ws.reconcile(["diff", "-f", "a.yaml", "--prune", &set]).exits_with(2);
    let error = &refused.report()["errors"][0];
    assert!(error["message"].as_str().unwrap().contains("is not the parent of an apply set"), "{refused}");
    let hint = error["hint"].as_str().unwrap();
    let wanted = |key: &str| {
        let (_, rest) = hint.split_once(&format!("`{key}: ")).unwrap_or_else(|| panic!("{hint}"));
        format!("{key}={}", rest.split_once('`').unwrap().0)
    };
    ws.kubectl(["label", resource, name, &wanted("applyset.kubernetes.io/id")]).exits_with(0);
    ws.kubectl(["annotate", resource, name, &wanted("applyset.kubernetes.io/tooling")]).exits_with(0);
}

#[test]
fn a_custom_resource_of_a_labelled_kind_is_a_parent_once_it_exists() {
    let ws = with_parent_types();
    for (kind, resource, name, namespaces) in
        [("Set", "sets.$NS.example.com", "it", ""), ("ClusterSet", "clustersets.$NS.example.com", "$NS-it", "$NS")]
    {
        let set = ws.fill_in(&format!("--applyset={resource}/{name}"));
        let apply = |code| ws.reconcile(["apply", "-f", "a.yaml", "-f", "b.yaml", "--prune", &set]).exits_with(code);
        let refused = apply(2);
        assert!(refused.stderr.contains("has to exist before"), "{refused}");
        create(&ws, kind, name);
        make_parent(&ws, &ws.fill_in(resource), &ws.fill_in(name));
        apply(0);
        let parent = ws.get(&format!("{kind}.{}.example.com", ws.namespace()), name);
        assert_eq!(parent["metadata"]["labels"]["applyset.kubernetes.io/id"], *label(&ws.get("ConfigMap", "a")));
        let additional = &parent["metadata"]["annotations"]["applyset.kubernetes.io/additional-namespaces"];
        assert_eq!(additional, &ws.fill_in(namespaces), "{parent:#}");
        assert_eq!(apply(0).writes(), 0);
        let only_a = ["-f", "a.yaml", "--prune", &set];
        let diff = ws.reconcile([&["diff"][..], &only_a].concat()).exits_with(1);
        assert_eq!(diff.each("action"), ["ConfigMap a: none", "ConfigMap b: delete"]);
        ws.reconcile([&["apply"][..], &only_a].concat()).exits_with(0);
        assert_eq!(ws.find("ConfigMap", "b"), None);
        ws.kubectl(["label", "configmap", "a", "applyset.kubernetes.io/part-of-"]).exits_with(0);
    }
}

#[test]
fn other_kinds_are_no_parents() {
    let ws = with_parent_types();
    create(&ws, "Thing", "it");
    for parent in ["things.$NS.example.com/it", "serviceaccounts/it", "customresourcedefinitions/it"] {
        let set = format!("--applyset={parent}");
        let refused = ws.reconcile(["apply", "-f", "a.yaml", "--prune", &set]).exits_with(2);
        assert!(refused.stderr.contains("cannot be the kind of an apply set's parent"), "{refused}");
    }
    assert_eq!(ws.find("ConfigMap", "a"), None);
}

#[test]
fn an_object_that_exists_becomes_a_parent_once_it_says_so_and_keeps_what_it_holds() {
    let ws = Workspace::new();
    let value = ws.secret("held-by-the-parent");
    ws.kubectl(["create", "secret", "generic", "set", &format!("--from-literal=key={value}")]).exits_with(0);
    config_map(&ws, "a");
    let before = ws.all_resource_versions();
    for command in ["diff", "apply"] {
        let refused = run(&ws, command).exits_with(2);
        assert!(refused.stderr.contains("exists, but is not the parent of an apply set"), "{refused}");
    }
    assert_eq!(ws.all_resource_versions(), before);
    make_parent(&ws, "secret", "set");
    run(&ws, "apply").exits_with(0);
    lists(&ws, "ConfigMap", "");
    assert!(ws.get("Secret", "set")["data"]["key"].is_string());
    assert_eq!(run(&ws, "apply").exits_with(0).writes(), 0);
}

#[test]
fn a_wrong_id_and_a_parent_that_is_being_deleted_are_refused() {
    let ws = applied();
    ws.kubectl(["label", "secret", "set", "applyset.kubernetes.io/id=applyset-forged-v1", "--overwrite"]).exits_with(0);
    remove(&ws, "b");
    for command in ["diff", "apply"] {
        let refused = run(&ws, command).exits_with(2);
        assert!(refused.stderr.contains("applyset-forged-v1"), "{refused}");
    }
    let ws = applied();
    ws.patch_as("test", "secret/set", &json!({"metadata": {"finalizers": ["example.com/wait"]}}));
    ws.delete("secret/set");
    remove(&ws, "b");
    let refused = run(&ws, "apply").exits_with(2);
    assert!(refused.stderr.contains("is being deleted"), "{refused}");
    assert!(ws.find("ConfigMap", "b").is_some());
    ws.patch_as("test", "secret/set", &json!({"metadata": {"finalizers": null}}));
    // Without it, nothing is deleted unasked.
    run(&ws, "apply").exits_with(0);
    assert!(ws.find("ConfigMap", "b").is_some());
    run(&ws, "apply").exits_with(0);
    assert_eq!(ws.find("ConfigMap", "b"), None);
}

#[test]
fn the_namespace_of_a_new_parent_may_come_with_the_set() {
    let ws = Workspace::new();
    ws.write(
        "it.yaml",
        "
{apiVersion: v1, kind: Namespace, metadata: {name: $NS-new}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
",
    );
    let flags = ["-f", ".", "-n", "$NS-new", "--prune", "--applyset=set"];
    let diff = ws.reconcile([&["diff"][..], &flags].concat()).exits_with(1);
    assert_eq!(diff.report()["summary"]["create"], 2);
    let apply = ws.reconcile([&["apply"][..], &flags].concat()).exits_with(0);
    assert!(apply.each("outcome").iter().all(|outcome| outcome.ends_with(": created")), "{apply}");
    assert_eq!(apply.stdout.matches("created ").count(), 2, "{apply}");
    assert_eq!(ws.reconcile([&["apply"][..], &flags].concat()).exits_with(0).writes(), 0);

    let flags = ["-f", "it.yaml", "-n", "$NS-none", "--prune", "--applyset=set"];
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}");
    let apply = ws.reconcile([&["apply"][..], &flags].concat()).exits_with(4);
    assert!(apply.stderr.contains("the parent of the apply set, cannot be written"), "{apply}");
}

/// A workspace with two namespaces beside its own.
fn with_two_namespaces() -> (Workspace, String, String) {
    let ws = Workspace::new();
    let names = ["$NS-one", "$NS-two"].map(|name| ws.fill_in(name));
    for name in &names {
        ws.kubectl(["create", "namespace", name]).exits_with(0);
    }
    let [one, two] = names;
    (ws, one, two)
}

fn config_map_in(ws: &Workspace, path: &str, name: &str, namespace: &str) {
    let metadata = format!("{{name: {name}, namespace: {namespace}}}");
    ws.write(path, &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {metadata}, data: {{a: b}}}}"));
}

/// The parent was made in the only namespace of the manifests, and they are in two by now.
#[test]
fn a_set_grows_into_a_second_namespace() {
    let (ws, one, two) = with_two_namespaces();
    config_map_in(&ws, "a.yaml", "a", &one);
    config_map_in(&ws, "b.yaml", "b", &one);
    run(&ws, "apply").exits_with(0);
    config_map_in(&ws, "c.yaml", "c", &two);
    remove(&ws, "b");
    for command in ["diff", "apply"] {
        let run = run(&ws, command);
        assert!(run.code < 2, "{run}");
        let remark =
            format!("the parent of the apply set is Secret {one}/set, and objects are in other namespaces, too");
        assert!(run.stderr.contains(&remark), "{run}");
    }
    assert_eq!(ws.find("Secret", "set"), None);
    let parent = ws.kubectl(["get", "secret", "set", "-n", &one, "-o", "json"]).exits_with(0);
    let parent: Value = serde_json::from_str(&parent.stdout).unwrap();
    let id = parent["metadata"]["labels"]["applyset.kubernetes.io/id"].as_str().unwrap();
    let members = ws.kubectl(["get", "configmaps", "-A", "-o", "name", "-l", &format!("{PART_OF}={id}")]);
    assert_eq!(members.stdout.lines().collect::<Vec<_>>(), ["configmap/a", "configmap/c"], "{members}");
    assert_eq!(run(&ws, "apply").exits_with(0).writes(), 0);
    let roles = ws.reconcile(["access", "-f", ".", "--prune", "--applyset=set", "--for", "apply"]);
    assert!(!roles.stdout.contains(&format!("in the namespace {}.", ws.namespace())), "{roles}");
}

/// Others have a set of the same name in one of the namespaces.
#[test]
fn a_set_of_others_in_one_of_the_namespaces_stays_theirs() {
    let (ws, one, two) = with_two_namespaces();
    let apply = |folder: &str| ws.reconcile(["apply", "-f", folder, "--prune", "--applyset=set"]).exits_with(0);
    config_map_in(&ws, "theirs/x.yaml", "x", &one);
    apply("theirs");
    config_map_in(&ws, "ours/a.yaml", "a", &one);
    config_map_in(&ws, "ours/c.yaml", "c", &two);
    // It could also be the same set, with other names of all objects.
    let warning = format!("another apply set with this name has its parent in namespace `{one}`, and its members stay");
    assert!(apply("ours").stderr.contains(&warning));
    assert!(!apply("ours").stderr.contains("another apply set"));
    assert!(ws.find("Secret", "set").is_some());
    ws.kubectl(["get", "configmap", "x", "-n", &one]).exits_with(0);
}

#[test]
fn a_kind_that_is_gone_holds_nothing_up() {
    let ws = with_parent_types();
    remove(&ws, "b");
    ws.write("thing.yaml", "{apiVersion: $NS.example.com/v1, kind: Thing, metadata: {name: it}}");
    let flags = ["-f", ".", "--prune", "--applyset=set"];
    ws.reconcile([&["apply"][..], &flags].concat()).exits_with(0);
    lists(&ws, &ws.fill_in("ConfigMap,Thing.$NS.example.com"), "");
    ws.kubectl(["delete", "crd", "things.$NS.example.com"]).exits_with(0);
    remove(&ws, "thing");
    let diff = ws.reconcile([&["diff"][..], &flags].concat()).exits_with(0);
    assert!(diff.stderr.contains("which the server no longer knows"), "{diff}");
    assert_eq!(diff.report()["applySet"]["parent"]["action"], "update");
    ws.reconcile([&["apply"][..], &flags].concat()).exits_with(0);
    lists(&ws, "ConfigMap", "");
    let diff = ws.reconcile([&["diff"][..], &flags].concat()).exits_with(0);
    assert_eq!(diff.stderr, "");
}

#[test]
fn a_set_without_members_gets_no_parent() {
    let ws = Workspace::new();
    ws.write("none.yaml", "");
    let apply = ["apply", "-f", "none.yaml", "--allow-empty", "--prune", "--applyset", "web"];
    let run = ws.reconcile(apply).exits_with(0);
    assert_eq!(run.writes(), 0, "{run}");
    assert!(run.stderr.contains("there is no such apply set") && run.stderr.contains("/web, its parent"), "{run}");
    assert!(ws.find("Secret", "web").is_none());
}
