//! Objects that `kubectl apply` made: whose change a difference is, and what the first apply leaves of its owner.

use serde_json::json;

use crate::control_plane::{Replaced, Workspace, definition};
use crate::manifests::WEB;

const SETTINGS: &str =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, annotations: {team: shop}}, data: {a: '1', b: '2'}}";

fn applied_by_kubectl() -> Workspace {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    ws.write("web.yaml", WEB);
    ws.kubectl(["apply", "-f", "."]).exits_with(0);
    ws
}

#[test]
fn an_edited_manifest_blames_nobody() {
    let ws = applied_by_kubectl();
    ws.write("settings.yaml", &SETTINGS.replaced("a: '1'", "a: '9'").replaced("team: shop", "team: pay"));
    ws.write("web.yaml", &WEB.replaced("  replicas: 2", "  replicas: 3"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "settings"), ["pending data.a", "pending metadata.annotations.team"]);
    assert_eq!(diff.changes("Deployment", "web"), ["pending spec.replicas"]);
    assert_eq!(diff.change("ConfigMap", "settings", "data.a").get("managers"), None);
    ws.reconcile(["diff", "-f", ".", "--fail-on", "manual"]).exits_with(0);
    ws.reconcile(["diff", "-f", ".", "--fail-on", "pending"]).exits_with(1);
}

/// Once its entries are ours, an apply without them leaves null, which the type of a custom resource does not allow. No dry run before the
/// first apply shows it.
#[test]
fn a_map_of_a_custom_resource_that_cannot_be_emptied_is_told_before_anything_is_written() {
    let ws = Workspace::new();
    let schema = "properties: {size: {type: integer}, map: {type: object, additionalProperties: {type: string}}}";
    ws.write("definition/it.yaml", &definition("Sack", schema));
    ws.reconcile(["apply", "-f", "definition"]).exits_with(0);
    let sack = "{apiVersion: $NS.example.com/v1, kind: Sack, metadata: {name: it}, spec: {size: 1, map: {a: b}}}";
    ws.write("it.yaml", sack);
    ws.kubectl(["apply", "-f", "it.yaml"]).exits_with(0);
    ws.write("it.yaml", &sack.replaced("size: 1, map: {a: b}", "size: 2, map: {}"));
    let before = ws.get(&ws.fill_in("Sack.$NS.example.com"), "it");
    for command in [&["diff"][..], &["diff", "--evidence=server"], &["diff", "--evidence=read-only"], &["apply"]] {
        let run = ws.reconcile([command, &["-f", "it.yaml"]].concat()).exits_with(4);
        let error = &run.object("Sack", "it")["error"];
        let message = "`spec.map` would be null, which its type does not allow: the apply removes all that was in it";
        assert_eq!(error["message"], message, "{run}");
    }
    assert_eq!(ws.get(&ws.fill_in("Sack.$NS.example.com"), "it"), before);
    // Without the map, the apply takes it out.
    ws.write("it.yaml", &sack.replaced("size: 1, map: {a: b}", "size: 2"));
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    ws.reconcile(["diff", "-f", "it.yaml"]).exits_with(0);
}

#[test]
fn an_edited_object_blames_its_editor() {
    let ws = applied_by_kubectl();
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"a": "7"}}));
    ws.kubectl(["scale", "deployment/web", "--replicas=5"]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "settings"), ["changedByOther data.a"]);
    assert_eq!(diff.changes("Deployment", "web"), ["changedByOther spec.replicas"]);
    // Both moved: the live value is not what was last applied.
    ws.write("settings.yaml", &SETTINGS.replaced("a: '1'", "a: '9'"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "settings"), ["changedByOther data.a"]);
    ws.reconcile(["diff", "-f", ".", "--fail-on", "manual"]).exits_with(1);
}

#[test]
fn a_field_that_was_applied_and_is_gone_is_absent() {
    let ws = applied_by_kubectl();
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"a": null}}));
    ws.write("settings.yaml", &SETTINGS.replaced("b: '2'", "b: '2', c: '3'"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "settings"), ["absent data.a", "pending data.c"]);
}

/// The annotation is anybody's text: it changes the class of a difference, and nothing else.
#[test]
fn a_false_copy_hides_no_difference() {
    let ws = applied_by_kubectl();
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"a": "7"}}));
    let lie = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "7", "b": "2"}}).to_string();
    let copy = json!({"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": lie}}});
    ws.patch_as("kubectl-edit", "configmap/settings", &copy);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "settings"), ["pending data.a"]);
    assert_eq!(diff.change("ConfigMap", "settings", "data.a")["live"], "7");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "settings")["data"], json!({"a": "1", "b": "2"}));
}

#[test]
fn no_entry_of_client_side_apply_stays_after_the_first_apply() {
    let ws = applied_by_kubectl();
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let settings = ws.get("ConfigMap", "settings");
    let entries = settings["metadata"]["managedFields"].as_array().expect("owners");
    let managers: Vec<&str> = entries.iter().filter_map(|entry| entry["manager"].as_str()).collect();
    assert_eq!(managers, ["kubectl-reconcile"], "{settings:#}");
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.writes(), 0, "{apply}");
}
