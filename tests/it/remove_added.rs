//! `--remove-added`: what hands added, and neither the manifests nor a rule have, is taken out. Everything else stays as it is.

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};
use crate::manifests::WEB;
use crate::ownership::owners_of;

const SETTINGS: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '1'}}";

fn applied(manifest: &str) -> Workspace {
    let ws = Workspace::new();
    ws.write("deploy/all.yaml", manifest);
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
    ws
}

fn run(ws: &Workspace, command: &str, flags: &[&str]) -> Run {
    ws.reconcile([&[command, "-f", "deploy"], flags].concat())
}

fn patched(ws: &Workspace, object: &str, patch: &Value) {
    ws.kubectl(["patch", object, "--type=strategic", "-p", &patch.to_string()]).exits_with(0);
}

/// The object without what every write changes.
fn bare(ws: &Workspace, kind: &str, name: &str) -> Value {
    let mut object = ws.get(kind, name);
    for field in ["managedFields", "resourceVersion", "generation"] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    object
}

/// Additions are no drift without the flag; with it they are these differences, they are removed, and then there is nothing more to do.
#[track_caller]
fn removes(ws: &Workspace, kind: &str, name: &str, changes: &[&str], before: &Value) -> Run {
    let plain = run(ws, "diff", &[]).exits_with(0);
    assert_eq!(plain.changes(kind, name), [""; 0], "{plain}");
    let versions = ws.all_resource_versions();
    let diff = run(ws, "diff", &["--remove-added"]).exits_with(1);
    assert_eq!(diff.changes(kind, name), changes, "{diff}");
    assert_eq!(diff.object(kind, name)["action"], "update", "{diff}");
    run(ws, "apply", &["--remove-added", "--dry-run"]).exits_with(1);
    assert_eq!(ws.all_resource_versions(), versions);
    let apply = run(ws, "apply", &["--remove-added"]).exits_with(0);
    assert_eq!(apply.object(kind, name)["outcome"], "updated", "{apply}");
    assert_eq!(bare(ws, kind, name), *before, "{apply}");
    let again = run(ws, "apply", &["--remove-added"]).exits_with(0);
    assert_eq!(again.writes(), 0, "{again}");
    run(ws, "diff", &["--remove-added"]).exits_with(0);
    run(ws, "diff", &[]).exits_with(0);
    diff
}

#[test]
fn what_hands_added_is_removed_and_what_controllers_added_stays() {
    let ws = applied(WEB);
    ws.patch_as(
        "tier-operator",
        "deployment/web",
        &json!({"metadata": {"annotations": {"tier": "gold", "shared": "x"}}}),
    );
    let before = bare(&ws, "deployment", "web");
    ws.kubectl(["label", "deployment/web", "owner=ops"]).exits_with(0);
    ws.kubectl(["annotate", "deployment/web", "note=tested", "shared=x", "--overwrite"]).exits_with(0);
    let container = |name: &str, more: Value| {
        let mut container = more;
        container["name"] = name.into();
        container
    };
    let containers = [
        container("web", json!({"env": [{"name": "DEBUG", "value": "1"}], "resources": {"limits": {"cpu": "1"}}})),
        container("shell", json!({"image": "busybox:1"})),
    ];
    let pod = json!({"containers": containers, "volumes": [{"name": "scratch", "emptyDir": {}}], "tolerations": [{"key": "spot", "operator": "Exists"}]});
    patched(&ws, "deployment/web", &json!({"spec": {"template": {"spec": pod}}}));
    let expected = [
        "unmanaged metadata.annotations.note",
        "unmanaged metadata.labels.owner",
        "unmanaged spec.template.spec.containers[name=shell]",
        "unmanaged spec.template.spec.containers[name=web].env[name=DEBUG]",
        "unmanaged spec.template.spec.containers[name=web].resources.limits.cpu",
        "unmanaged spec.template.spec.tolerations",
        "unmanaged spec.template.spec.volumes",
    ];
    let diff = removes(&ws, "Deployment", "web", &expected, &before);
    let label = diff.change("Deployment", "web", "metadata.labels.owner");
    assert_eq!((&label["op"], &label["live"], &label["side"]), (&json!("remove"), &json!("ops"), &json!("cluster")));
    assert_eq!((&label["managers"][0]["manager"], label.get("desired")), (&json!("kubectl-label"), None));
    assert_eq!(diff.report()["removeAdded"], json!([]), "{diff}");
    assert_eq!(diff.report()["summary"]["addedItems"], 0, "{diff}");
    assert!(
        diff.stdout.contains("- metadata.labels.owner: ops") && diff.stdout.contains("added by kubectl-label"),
        "{diff}"
    );
    assert_eq!(owners_of(&ws, "deployment", "web", "/f:metadata/f:annotations/f:tier"), ["tier-operator Update"]);
}

#[test]
fn a_map_that_only_hands_filled_goes_and_one_that_others_share_stays() {
    let ws = applied(SETTINGS);
    let before = bare(&ws, "configmap", "settings");
    patched(
        &ws,
        "configmap/settings",
        &json!({"data": {"b": "2"}, "metadata": {"labels": {"x": "y"}, "finalizers": ["example.com/held"]}}),
    );
    let expected = ["unmanaged data.b", "unmanaged metadata.finalizers", "unmanaged metadata.labels.x"];
    removes(&ws, "ConfigMap", "settings", &expected, &before);

    ws.kubectl(["label", "configmap/settings", "x=y", "z=y"]).exits_with(0);
    ws.patch_as("tier-operator", "configmap/settings", &json!({"metadata": {"labels": {"x": "operated"}}}));
    let before = bare(&ws, "configmap", "settings");
    let mut expected = before;
    expected["metadata"]["labels"].as_object_mut().unwrap().remove("z");
    removes(&ws, "ConfigMap", "settings", &["unmanaged metadata.labels.z"], &expected);
}

/// A field that another manager owns as well, or a part of it, stays; the keys of an item stay with it.
#[test]
fn an_item_of_which_a_controller_owns_a_part_stays() {
    let ws = applied(WEB);
    let sidecar = json!({"name": "sidecar", "image": "busybox:1", "env": [{"name": "A", "value": "1"}]});
    patched(&ws, "deployment/web", &json!({"spec": {"template": {"spec": {"containers": [sidecar]}}}}));
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "sidecar", "image": "busybox:2"}]}}}});
    let image = image.to_string();
    let words = ["patch", "deployment/web", "--type=strategic", "--field-manager=updater", "-p", &image];
    ws.kubectl(words).exits_with(0);
    let diff = run(&ws, "diff", &["--remove-added"]).exits_with(1);
    let item = "spec.template.spec.containers[name=sidecar]";
    assert_eq!(diff.changes("Deployment", "web"), [format!("unmanaged {item}.env")], "{diff}");
    run(&ws, "apply", &["--remove-added"]).exits_with(0);
    let live = ws.get("deployment", "web");
    let containers = live.pointer("/spec/template/spec/containers").unwrap().as_array().unwrap();
    let sidecar = containers.iter().find(|one| one["name"] == "sidecar").unwrap();
    assert_eq!((&sidecar["image"], sidecar.get("env")), (&json!("busybox:2"), None));
    assert_eq!(run(&ws, "apply", &["--remove-added"]).exits_with(0).writes(), 0);
}

#[test]
fn defaults_of_the_server_stay_and_come_back() {
    let ws = applied(WEB);
    let before = bare(&ws, "deployment", "web");
    let grace = |seconds: u32| json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": seconds}}}});
    let path = "spec.template.spec.terminationGracePeriodSeconds";
    patched(&ws, "deployment/web", &grace(60));
    let diff = removes(&ws, "Deployment", "web", &[&format!("unmanaged {path}")], &before);
    let change = diff.change("Deployment", "web", path);
    assert_eq!((&change["live"], &change["desired"]), (&json!(60), &json!(30)), "{diff}");
    // Now kubectl owns the default.
    patched(&ws, "deployment/web", &grace(60));
    patched(&ws, "deployment/web", &grace(30));
    let same = run(&ws, "diff", &["--remove-added"]).exits_with(0);
    assert_eq!(same.changes("Deployment", "web"), [""; 0], "{same}");
    let same = run(&ws, "diff", &["--remove-added", "--evidence=read-only"]).exits_with(0);
    assert_eq!(same.changes("Deployment", "web"), [""; 0], "{same}");
    assert_eq!(run(&ws, "apply", &["--remove-added"]).exits_with(0).writes(), 0);
}

/// What created an object owns the defaults that the server set in it.
#[test]
fn an_object_that_kubectl_created_loses_nothing() {
    for create in [&["create", "-f", "deploy/all.yaml"][..], &["apply", "-f", "deploy/all.yaml"]] {
        let ws = Workspace::new();
        ws.write("deploy/all.yaml", WEB);
        ws.kubectl(create.iter().copied()).exits_with(0);
        let before = ws.get("deployment", "web")["spec"].clone();
        run(&ws, "diff", &["--remove-added"]).exits_with(0);
        run(&ws, "apply", &["--remove-added"]).exits_with(0);
        assert_eq!(ws.get("deployment", "web")["spec"], before);
        ws.kubectl(["label", "deployment/web", "owner=ops"]).exits_with(0);
        let diff = run(&ws, "diff", &["--remove-added"]).exits_with(1);
        assert_eq!(diff.changes("Deployment", "web"), ["unmanaged metadata.labels.owner"], "{diff}");
        run(&ws, "apply", &["--remove-added"]).exits_with(0);
        assert_eq!(run(&ws, "apply", &["--remove-added"]).exits_with(0).writes(), 0);
    }
}

#[test]
fn an_addition_that_cannot_be_removed_is_told_and_nothing_of_the_object_is_written() {
    let ws = applied(SETTINGS);
    patched(&ws, "configmap/settings", &json!({"data": {"b": "2"}, "immutable": true}));
    let before = ws.get("configmap", "settings");
    for (command, evidence) in [("diff", "auto"), ("diff", "read-only"), ("apply", "auto")] {
        let refused =
            run(&ws, command, &["--remove-added", "--replace=immutable", "--evidence", evidence]).exits_with(4);
        let error = &refused.object("ConfigMap", "settings")["error"];
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("what was added in the cluster cannot be removed: "), "{refused}");
        assert!(
            message.contains("immutable") && error["hint"].as_str().unwrap().contains("--remove-added"),
            "{refused}"
        );
        assert_eq!(ws.get("configmap", "settings"), before, "{refused}");
    }
    run(&ws, "diff", &[]).exits_with(0);
}

#[test]
fn managers_are_named_by_globs() {
    let ws = applied(SETTINGS);
    ws.patch_as("old-controller", "configmap/settings", &json!({"data": {"b": "2"}}));
    ws.kubectl(["label", "configmap/settings", "x=y"]).exits_with(0);
    let changes = |glob: &str, code: i32| run(&ws, "diff", &[glob]).exits_with(code).changes("ConfigMap", "settings");
    assert_eq!(changes("--remove-added", 1), ["unmanaged metadata.labels.x"]);
    assert_eq!(changes("--remove-added=old-*", 1), ["unmanaged data.b"]);
    assert_eq!(changes("--remove-added=old-*,kubectl-label", 1), ["unmanaged data.b", "unmanaged metadata.labels.x"]);
    assert_eq!(changes("--remove-added=other", 0), [""; 0]);
    run(&ws, "diff", &["--remove-added="]).exits_with(2);
    let report = run(&ws, "apply", &["--remove-added=old-*"]).exits_with(0);
    assert_eq!(report.report()["removeAdded"], json!(["old-*"]));
    assert_eq!(ws.get("configmap", "settings")["data"], json!({"a": "1"}));
    assert_eq!(changes("--remove-added=old-*", 0), [""; 0]);
}

#[test]
fn rules_keep_additions_and_only_leaves_them() {
    let ws = applied(SETTINGS);
    patched(
        &ws,
        "configmap/settings",
        &json!({"data": {"a": "9", "b": "2", "c": "3"}, "metadata": {"labels": {"x": "y"}}}),
    );
    ws.write(
        ".kubectl-reconcile.yaml",
        "{apiVersion: kubectl-reconcile/v1, kind: Config, ignore: [{target: {kind: ConfigMap}, fields: ['metadata.labels.x', data.b], reason: kept}]}",
    );
    let all = ["changedByOther data.a", "unmanaged data.c"];
    let diff = run(&ws, "diff", &["--remove-added"]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "settings"), all, "{diff}");
    let diff = run(&ws, "diff", &["--remove-added", "--only", "changedByOther"]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "settings"), all[..1], "{diff}");
    assert_eq!(diff.object("ConfigMap", "settings")["left"][0]["path"], "data.c", "{diff}");
    run(&ws, "apply", &["--remove-added", "--only", "unmanaged"]).exits_with(0);
    assert_eq!(ws.get("configmap", "settings")["data"], json!({"a": "9", "b": "2"}));
    run(&ws, "apply", &["--remove-added", "--only", "changedByOther"]).exits_with(0);
    assert_eq!(ws.get("configmap", "settings")["data"], json!({"a": "1", "b": "2"}));
    assert_eq!(ws.get("configmap", "settings")["metadata"]["labels"], json!({"x": "y"}));
}

#[test]
fn gates_and_saved_plans_know_the_flag() {
    let ws = applied(SETTINGS);
    patched(&ws, "configmap/settings", &json!({"data": {"b": "2"}}));
    for (gate, code) in [("cluster", 1), ("manual", 1), ("unmanaged", 1), ("drift", 1), ("manifest", 0), ("either", 0)]
    {
        run(&ws, "diff", &["--remove-added", "--fail-on", gate]).exits_with(code);
    }
    run(&ws, "diff", &["--remove-added", "--save-plan", "plan.json"]).exits_with(1);
    for flags in [&[][..], &["--remove-added=kubectl-*"]] {
        let other = run(&ws, "apply", &[&["--plan", "plan.json"], flags].concat()).exits_with(2);
        assert!(other.stderr.contains("the plan was made with another `--remove-added`"), "{other}");
    }
    run(&ws, "apply", &["--plan", "plan.json", "--remove-added"]).exits_with(0);
    assert_eq!(ws.get("configmap", "settings")["data"], json!({"a": "1"}));
    patched(&ws, "configmap/settings", &json!({"data": {"b": "2"}}));
    run(&ws, "diff", &["--save-plan", "plan.json"]).exits_with(0);
    run(&ws, "apply", &["--plan", "plan.json", "--remove-added"]).exits_with(2);
    assert_eq!(ws.get("configmap", "settings")["data"], json!({"a": "1", "b": "2"}));
}

#[test]
fn additions_are_found_in_a_snapshot_and_in_shards() {
    let ws = applied(&format!("{SETTINGS}\n---\n{}", SETTINGS.replaced("settings", "other")));
    for name in ["settings", "other"] {
        patched(&ws, &format!("configmap/{name}"), &json!({"data": {"b": "2"}}));
    }
    let live = ws.kubectl(["get", "configmap", "-o", "yaml", "--show-managed-fields"]).exits_with(0);
    ws.write("live.yaml", &live.stdout);
    let offline = run(&ws, "diff", &["--remove-added", "--live", "live.yaml", "-n", ws.namespace()]).exits_with(1);
    assert_eq!(offline.changes("ConfigMap", "settings"), ["unmanaged data.b"], "{offline}");
    assert_eq!(offline.change("ConfigMap", "settings", "data.b")["op"], "remove", "{offline}");
    run(&ws, "diff", &["--live", "live.yaml", "-n", ws.namespace()]).exits_with(0);
    for shard in ["0/2", "1/2"] {
        let file = format!("json={}.json", &shard[..1]);
        run(&ws, "diff", &["--remove-added", "--shard", shard, "-o", &file]);
    }
    ws.reconcile(["report", "merge", "0.json", "1.json", "-o", "json=merged.json"]).exits_with(1);
    let merged: Value = serde_json::from_slice(&std::fs::read(ws.folder().join("merged.json")).unwrap()).unwrap();
    assert_eq!(merged["removeAdded"], json!([]), "{merged:#}");
    let removed: Vec<&Value> = merged["objects"].as_array().unwrap().iter().map(|one| &one["changes"]).collect();
    assert_eq!(removed.len(), 2, "{merged:#}");
    for changes in removed {
        assert_eq!((&changes[0]["class"], &changes[0]["path"]), (&json!("unmanaged"), &json!("data.b")), "{merged:#}");
    }
}

#[test]
fn values_of_secrets_stay_hidden() {
    let ws = Workspace::new();
    let own = ws.secret("own-value-of-the-shop");
    let added = ws.secret("added-by-somebody");
    ws.write(
        "deploy/all.yaml",
        &format!("{{apiVersion: v1, kind: Secret, metadata: {{name: keys}}, stringData: {{own: {own}}}}}"),
    );
    run(&ws, "apply", &[]).exits_with(0);
    patched(&ws, "secret/keys", &json!({"stringData": {"more": added}}));
    let diff = run(&ws, "diff", &["--remove-added", "-o", "markdown"]).exits_with(1);
    assert_eq!(diff.changes("Secret", "keys"), ["unmanaged data.more"], "{diff}");
    run(&ws, "apply", &["--remove-added"]).exits_with(0);
    let data = ws.get("secret", "keys")["data"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(data, ["own"]);
    assert_eq!(run(&ws, "apply", &["--remove-added"]).exits_with(0).writes(), 0);
}

#[test]
fn a_configuration_cannot_set_it() {
    let ws = applied(SETTINGS);
    ws.write(
        ".kubectl-reconcile.yaml",
        "{apiVersion: kubectl-reconcile/v1, kind: Config, defaults: {remove-added: []}}",
    );
    let refused = run(&ws, "diff", &[]).exits_with(2);
    assert!(refused.stderr.contains("remove-added"), "{refused}");
}
