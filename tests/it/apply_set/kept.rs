//! Members that no manifest names, and that stay nevertheless: each with its reason.

use std::sync::Arc;

use serde_json::json;

use super::{PART_OF, applied, config_map, lists, remove, run};
use crate::control_plane::{ANY_FIELDS, ControlPlane, Fault, Proxy, Replaced, Run, Workspace, definition, wait_until};

#[track_caller]
pub fn is_kept(run: &Run, kind: &str, name: &str, reason: &str) {
    let object = run.object(kind, name);
    assert_eq!(object["action"], "none", "{object:#}");
    let said = object["reason"].as_str().unwrap_or_default();
    assert!(said.starts_with("kept because") && said.contains(reason), "{object:#}");
    assert!(run.stdout.contains(said), "{run}");
}

#[test]
fn an_annotation_keeps_a_member_and_the_set_goes_on_listing_it() {
    let ws = applied();
    ws.write("role.yaml", "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, annotations: {kubectl-reconcile/prune: keep}}, rules: []}");
    run(&ws, "apply").exits_with(0);
    remove(&ws, "role");
    remove(&ws, "b");
    let diff = run(&ws, "diff").exits_with(1);
    is_kept(&diff, "Role", "r", "kubectl-reconcile/prune: keep");
    let apply = run(&ws, "apply").exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: unchanged", "ConfigMap b: deleted", "Role r: unchanged"]);
    is_kept(&apply, "Role", "r", "kubectl-reconcile/prune: keep");
    assert!(apply.stdout.contains("1 deleted, 1 unchanged, 1 kept"), "{apply}");
    lists(&ws, "ConfigMap,Role.rbac.authorization.k8s.io", "");
    let diff = run(&ws, "diff").exits_with(0);
    let summary = &diff.report()["summary"];
    assert_eq!((&summary["kept"], &summary["inSync"], &summary["objects"]), (&json!(1), &json!(1), &json!(2)));
    assert_eq!(run(&ws, "apply").exits_with(0).writes(), 0);
}

#[test]
fn what_belongs_to_another_object_is_left_to_it() {
    let ws = applied();
    let a = ws.get("ConfigMap", "a");
    let owner = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": a["metadata"]["uid"]}]);
    ws.patch_as("test", "configmap/b", &json!({"metadata": {"ownerReferences": owner}}));
    remove(&ws, "b");
    is_kept(&run(&ws, "diff").exits_with(0), "ConfigMap", "b", "ConfigMap a owns it");
    is_kept(&run(&ws, "apply").exits_with(0), "ConfigMap", "b", "ConfigMap a owns it");
    assert!(ws.find("ConfigMap", "b").is_some());
}

#[test]
fn a_label_that_a_controller_copied_makes_no_member() {
    let ws = applied();
    ws.write("own.yaml", "{apiVersion: v1, kind: Endpoints, metadata: {name: own}}");
    run(&ws, "apply").exits_with(0);
    let id = &ws.get("ConfigMap", "a")["metadata"]["labels"][PART_OF];
    for (kind, manager) in [("Endpoints", "endpoint-controller"), ("ConfigMap", "velero-server")] {
        let labels = json!({"copy": "yes", PART_OF: id});
        let copy = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "copy", "labels": labels}});
        let create = ["create", "--field-manager", manager, "-f", "-"];
        ws.stdin(&copy.to_string()).kubectl(create).exits_with(0);
    }
    let diff = run(&ws, "diff").exits_with(0);
    is_kept(&diff, "Endpoints", "copy", "`endpoint-controller` copied the label");
    is_kept(&diff, "ConfigMap", "copy", "the label was set by `velero-server`");
    let apply = run(&ws, "apply").exits_with(0);
    is_kept(&apply, "ConfigMap", "copy", "the label was set by `velero-server`");
    assert!(ws.find("Endpoints", "copy").is_some() && ws.find("ConfigMap", "copy").is_some());
    // What a person labels is meant.
    let id = id.as_str().unwrap();
    ws.kubectl(["label", "configmap", "copy", &format!("{PART_OF}-")]).exits_with(0);
    ws.kubectl(["label", "configmap", "copy", &format!("{PART_OF}={id}")]).exits_with(0);
    let apply = run(&ws, "apply").exits_with(0);
    assert_eq!(apply.object("ConfigMap", "copy")["outcome"], "deleted");
}

/// The server takes a moment to serve a kind, or to stop.
#[track_caller]
fn until(holds: impl Fn() -> bool) {
    assert!((0..100).any(|_| holds()), "it never came to hold");
}

#[test]
fn a_kind_that_is_not_served_for_a_while_stays_in_the_set() {
    let ws = Workspace::new();
    let define = |served: &str| {
        let crd = ws.fill_in(&definition("Widget", ANY_FIELDS).replaced("served: true", &format!("served: {served}")));
        ws.stdin(&crd).kubectl(["apply", "-f", "-"]).exits_with(0);
    };
    define("true");
    ws.wait_for_types();
    ws.write("widget.yaml", "{apiVersion: $NS.example.com/v1, kind: Widget, metadata: {name: it}}");
    config_map(&ws, "a");
    until(|| run(&ws, "apply").code == 0);
    remove(&ws, "widget");
    let kinds = ws.fill_in("ConfigMap,Widget.$NS.example.com");
    define("false");
    until(|| run(&ws, "diff").stderr.contains("serves no version of it"));
    let apply = run(&ws, "apply").exits_with(4);
    assert_eq!(apply.object("ConfigMap", "a")["outcome"], "unchanged");
    lists(&ws, &kinds, "");
    define("true");
    until(|| run(&ws, "diff").report()["summary"]["delete"] == 1);
    run(&ws, "apply").exits_with(0);
    assert!(ws.find("Widget", "it").is_none());
    lists(&ws, "ConfigMap", "");
}

#[test]
fn a_namespace_with_wanted_objects_and_a_kind_with_wanted_objects_are_kept() {
    let ws = Workspace::new();
    ws.write("crd.yaml", &definition("Widget", ANY_FIELDS));
    ws.write("ns.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-b}}");
    ws.write("widget.yaml", "{apiVersion: $NS.example.com/v1, kind: Widget, metadata: {name: it, namespace: $NS-b}}");
    config_map(&ws, "a");
    run(&ws, "apply").exits_with(0);
    remove(&ws, "ns");
    remove(&ws, "crd");
    let diff = run(&ws, "diff").exits_with(0);
    is_kept(&diff, "Namespace", &ws.fill_in("$NS-b"), &ws.fill_in("Widget $NS-b/it is in it"));
    let definition = ws.fill_in("widgets.$NS.example.com");
    is_kept(&diff, "CustomResourceDefinition", &definition, "defines the kind of Widget");
    run(&ws, "apply").exits_with(0);
    assert!(ws.find("Namespace", "$NS-b").is_some());
    // Once nothing is left in them, they go.
    remove(&ws, "widget");
    let diff = run(&ws, "diff").exits_with(1);
    assert_eq!(diff.report()["summary"]["delete"], 3, "{diff}");
}

#[test]
fn the_parent_is_no_member_of_its_own_set() {
    let ws = Workspace::new();
    ws.write("set.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: set}, stringData: {owner: shop}}");
    config_map(&ws, "a");
    run(&ws, "apply").exits_with(0);
    assert_eq!(ws.get("Secret", "set")["metadata"]["labels"].get(PART_OF), None);
    lists(&ws, "ConfigMap", "");
    assert_eq!(run(&ws, "apply").exits_with(0).writes(), 0);
    // Not even when somebody else made it one, and its kind is among those of the members.
    ws.write("other.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: other}}");
    run(&ws, "apply").exits_with(0);
    let id = ws.get("Secret", "set")["metadata"]["labels"]["applyset.kubernetes.io/id"].clone();
    ws.kubectl(["label", "secret", "set", &format!("{PART_OF}={}", id.as_str().unwrap())]).exits_with(0);
    remove(&ws, "set");
    is_kept(&run(&ws, "apply").exits_with(0), "Secret", "set", "own parent");
    assert!(ws.find("Secret", "set").is_some());
}

#[test]
fn a_parent_may_be_a_member_of_another_set() {
    let ws = applied();
    ws.write("outer/set.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: set}}");
    ws.reconcile(["apply", "-f", "outer", "--prune", "--applyset=outer"]).exits_with(0);
    assert_eq!(run(&ws, "apply").exits_with(0).writes(), 0);
    ws.write("outer/set.yaml", "");
    ws.reconcile(["apply", "-f", "outer", "--prune", "--applyset=outer", "--allow-empty", super::ALLOWED])
        .exits_with(0);
    assert_eq!(ws.find("Secret", "set"), None);
    assert!(ws.find("ConfigMap", "a").is_some(), "the inner set's members are not the outer one's");
}

#[test]
fn a_member_that_leaves_the_set_or_is_to_be_kept_meanwhile_stays() {
    for (patch, reason) in [
        (json!({"metadata": {"labels": {PART_OF: null}}}), "no longer in the apply set"),
        (json!({"metadata": {"labels": {PART_OF: "applyset-other-v1"}}}), "no longer in the apply set"),
        (json!({"metadata": {"annotations": {"kubectl-reconcile/prune": "keep"}}}), "kubectl-reconcile/prune: keep"),
    ] {
        let ws = Arc::new(applied());
        remove(&ws, "b");
        let proxy = Proxy::new(&ws);
        let other = Arc::clone(&ws);
        let event = move || other.patch_as("gitops", "configmap/b", &patch);
        proxy.inject(1, "DELETE", "configmaps/b", Fault::After(Arc::new(event)));
        let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", ".", "--prune", "--applyset=set"]).exits_with(0);
        let b = apply.object("ConfigMap", "b");
        assert_eq!((&b["action"], &b["outcome"]), (&json!("none"), &json!("unchanged")), "{b:#}");
        assert!(b["reason"].as_str().unwrap().contains(reason), "{b:#}");
        assert!(ws.find("ConfigMap", "b").is_some());
    }
}

#[test]
fn endpoints_that_follow_a_service_of_the_set_are_left_to_their_controllers() {
    let ws = Workspace::on(&ControlPlane::full());
    ws.write(
        "service.yaml",
        "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}",
    );
    run(&ws, "apply").exits_with(0);
    let is_copied = || ws.find("Endpoints", "web").is_some_and(|copy| copy["metadata"]["labels"][PART_OF].is_string());
    wait_until("the controller copies the labels of a Service", is_copied);
    // Without its parent the set is searched for among all kinds.
    ws.kubectl(["delete", "secret", "set"]).exits_with(0);
    let diff = run(&ws, "diff").exits_with(0);
    is_kept(&diff, "Endpoints", "web", "copied the label");
    let before = ws.get("Endpoints", "web")["metadata"]["uid"].clone();
    let apply = run(&ws, "apply").exits_with(0);
    assert!(apply.each("action").iter().all(|action| action.ends_with(": none")), "{apply}");
    assert_eq!(ws.get("Endpoints", "web")["metadata"]["uid"], before);
    // What is no member is not listed either.
    lists(&ws, "Service", "");
    assert_eq!(run(&ws, "apply").exits_with(0).report()["summary"]["kept"], 0);
}
