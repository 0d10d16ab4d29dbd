//! Changes from outside: each is shown with path, values and who made it, and one apply heals it.

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};
use crate::manifests::WEB;

/// A workspace where the Deployment `web` is in sync.
fn with_web() -> Workspace {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    ws
}

#[track_caller]
fn heals(ws: &Workspace) -> Run {
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    apply
}

/// Path, values and the one owner of a change.
#[track_caller]
fn assert_change(run: &Run, path: &str, live: &Value, desired: &Value, owner: (&str, &str)) {
    let change = run.change("Deployment", "web", path);
    assert_eq!((&change["live"], &change["desired"]), (live, desired), "{change:#}");
    let managers = change["managers"].as_array().unwrap();
    assert_eq!(managers.len(), 1, "{change:#}");
    assert_eq!((&managers[0]["manager"], &managers[0]["subresource"]), (&json!(owner.0), &json!(owner.1)));
    assert_eq!(managers[0]["operation"], "Update");
}

#[test]
fn a_scale_is_shown_with_the_subresource_and_healed() {
    let ws = with_web();
    ws.scale("deployment/web", 5);
    let diff = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["changedByOther spec.replicas"]);
    assert_change(&diff, "spec.replicas", &json!(5), &json!(2), ("kubectl", "scale"));
    assert!(diff.stdout.contains("5 → 2"), "{diff}");
    assert!(diff.stdout.contains("by kubectl (scale)"), "{diff}");

    let apply = heals(&ws);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "updated");
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 2);
}

#[test]
fn an_image_and_a_variable_set_by_hand_are_found_by_key() {
    let ws = with_web();
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:hotfix"]).exits_with(0);
    ws.kubectl(["set", "env", "deployment/web", "-c", "web", "LANG=de"]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
    let container = "spec.template.spec.containers[name=web]";
    let image = format!("{container}.image");
    let variable = format!("{container}.env[name=LANG].value");
    assert_eq!(
        diff.changes("Deployment", "web"),
        [format!("changedByOther {variable}"), format!("changedByOther {image}")]
    );
    assert_change(&diff, &image, &json!("shop/web:hotfix"), &json!("shop/web:1.2"), ("kubectl-set", ""));
    assert_change(&diff, &variable, &json!("de"), &json!("en"), ("kubectl-set", ""));
    let recorded = ws.get("Deployment", "web");
    let entries = recorded["metadata"]["managedFields"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["manager"] == "kubectl-set").unwrap();
    assert!(entry["time"].is_string());
    assert_eq!(diff.change("Deployment", "web", &image)["managers"][0]["time"], entry["time"]);
    heals(&ws);
}

#[test]
fn an_edit_of_many_fields_is_shown_field_by_field() {
    let ws = with_web();
    let edit = "sed -i -e s/info/debug/ -e s/8080/9090/ -e s/100m/200m/ -e s/--verbose/--quiet/";
    ws.env("KUBE_EDITOR", edit).kubectl(["edit", "deployment/web"]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
    let container = "spec.template.spec.containers[name=web]";
    let changes = diff.changes("Deployment", "web");
    for path in ["args[1]", "args[2]", "env[name=LOG].value", "resources.requests.cpu"] {
        assert!(changes.contains(&format!("changedByOther {container}.{path}")), "{changes:#?}");
    }
    // The port is its item's key: another port is another item.
    assert!(changes.iter().any(|change| change.contains("ports[containerPort=8080,protocol=TCP]")), "{changes:#?}");
    assert_change(&diff, &format!("{container}.args[2]"), &json!("--quiet"), &json!("--verbose"), ("kubectl-edit", ""));
    heals(&ws);
    let spec = &ws.get("Deployment", "web")["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(spec["args"], json!(["--port", "8080", "--verbose"]));
}

#[test]
fn what_was_removed_from_outside_comes_back() {
    let ws = with_web();
    let patch = json!([
        {"op": "remove", "path": "/spec/template/spec/containers/0/env/1"},
        {"op": "remove", "path": "/spec/template/spec/containers/1"},
        {"op": "remove", "path": "/metadata/labels/tier"},
    ]);
    ws.kubectl(["patch", "deployment/web", "--type=json", "-p", &patch.to_string()]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
    let containers = "spec.template.spec.containers";
    assert_eq!(
        diff.changes("Deployment", "web"),
        [
            "absent metadata.labels.tier".to_owned(),
            format!("absent {containers}[name=proxy]"),
            format!("absent {containers}[name=web].env[name=LANG]"),
        ]
    );
    let change = diff.change("Deployment", "web", "metadata.labels.tier");
    assert_eq!((&change["op"], &change["desired"]), (&json!("add"), &json!("front")));
    // The API keeps no record of who removes a field.
    assert_eq!((change.get("managers"), change.get("live")), (None, None));
    heals(&ws);
    assert_eq!(ws.get("Deployment", "web")["metadata"]["labels"]["tier"], "front");
}

#[test]
fn a_deleted_object_is_created_again() {
    let ws = with_web();
    ws.delete("deployment/web");
    let diff = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
    let object = diff.object("Deployment", "web");
    assert_eq!(object["action"], "create");
    let change = &object["changes"][0];
    assert_eq!(
        (&change["path"], &change["op"], &change["class"], change.get("live")),
        (&json!(""), &json!("add"), &json!("missing"), None)
    );
    assert_eq!(change["desired"]["spec"]["replicas"], 2);
    assert_eq!(change["desired"].pointer("/spec/strategy"), None, "as the manifest has it, without defaults");
    let apply = heals(&ws);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "created");
}

#[test]
fn fields_that_others_added_are_shown_only_on_demand() {
    let ws = with_web();
    ws.kubectl(["label", "deployment/web", "owner=somebody"]).exits_with(0);
    ws.patch_as("agent", "deployment/web", &json!({"spec": {"template": {"metadata": {"annotations": {"a/b": "1"}}}}}));
    let diff = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(0);
    assert_eq!(diff.changes("Deployment", "web"), [""; 0]);
    let diff = ws.reconcile(["diff", "-f", "web.yaml", "--show-unmanaged"]).exits_with(0);
    assert_eq!(
        diff.changes("Deployment", "web"),
        ["unmanaged metadata.labels.owner", "unmanaged spec.template.metadata.annotations"]
    );
    assert_change(&diff, "metadata.labels.owner", &json!("somebody"), &Value::Null, ("kubectl-label", ""));
    let apply = ws.reconcile(["apply", "-f", "web.yaml", "--show-unmanaged"]).exits_with(0);
    assert_eq!(apply.writes(), 0);
    assert_eq!(ws.get("Deployment", "web")["metadata"]["labels"]["owner"], "somebody");
}

#[test]
fn a_changed_manifest_is_pending() {
    let ws = with_web();
    ws.write("web.yaml", &WEB.replaced("shop/web:1.2", "shop/web:1.3").replaced("replicas: 2", "replicas: 4"));
    let diff = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
    assert_eq!(
        diff.changes("Deployment", "web"),
        ["pending spec.replicas", "pending spec.template.spec.containers[name=web].image"]
    );
    heals(&ws);
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 4);
}

#[test]
fn a_changed_line_in_a_file_of_a_config_map_is_shown_as_that_line() {
    let ws = Workspace::new();
    let manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: files}, data: {a.conf: \"one\\ntwo\\nthree\\nfour\\nfive\\nsix\\n\", b: x}}";
    ws.write("files.yaml", manifest);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let edited = json!({"data": {"a.conf": "one\ntwo\nthree\nfour\nFIVE\nsix\n"}});
    ws.patch_as("kubectl-edit", "configmap/files", &edited);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "files"), [r#"changedByOther data["a.conf"]"#]);
    assert_eq!(diff.change("ConfigMap", "files", r#"data["a.conf"]"#)["live"], edited["data"]["a.conf"]);
    for line in ["- FIVE", "+ five", "  four", "  six"] {
        assert!(diff.stdout.lines().any(|shown| shown.trim_start().trim_end() == line.trim()), "`{line}` in {diff}");
    }
    assert!(!diff.stdout.contains("one"), "far from the change: {diff}");
    heals(&ws);
}

#[test]
fn what_the_server_owns_never_shows() {
    let ws = with_web();
    let status = json!({"status": {"replicas": 2, "readyReplicas": 1, "observedGeneration": 1}}).to_string();
    ws.kubectl(["patch", "deployment/web", "--subresource=status", "--type=merge", "-p", &status]).exits_with(0);
    ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(0);
    let shown = ws.reconcile(["diff", "-f", "web.yaml", "--show-unmanaged"]).exits_with(0);
    assert_eq!(shown.changes("Deployment", "web"), [""; 0]);
    ws.scale("deployment/web", 7);
    let diff = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["changedByOther spec.replicas"]);
    for word in ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"] {
        assert!(!diff.change("Deployment", "web", "spec.replicas").to_string().contains(word), "{diff}");
        assert!(!diff.stdout.contains(word), "{diff}");
    }
}
