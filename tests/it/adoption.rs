//! Objects that others made become ours: by one write when nothing differs, and with what their makers left behind.

use serde_json::json;
use structured_merge::managed_fields;

use crate::control_plane::{Replaced, Run, Workspace, definition, resource, wait_until};
use crate::manifests::WEB;

const SETTINGS: &str =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, labels: {app: web}}, data: {a: '1', b: '2'}}";

/// In sync by value, one write to record it as ours, none after that.
#[track_caller]
fn is_adopted_once(ws: &Workspace, kind: &str, name: &str) {
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.object(kind, name)["action"], "none");
    assert_eq!(diff.changes(kind, name), ["adopted"], "{diff}");
    assert_eq!((&diff.report()["summary"]["adopted"], &diff.report()["summary"]["inSync"]), (&json!(1), &json!(1)));
    let before = ws.get(kind, name);
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.object(kind, name)["outcome"], "adopted");
    let after = ws.get(kind, name);
    assert_eq!((&before["spec"], &before["data"]), (&after["spec"], &after["data"]));
    is_settled(ws);
}

#[track_caller]
fn is_settled(ws: &Workspace) -> Run {
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.report()["summary"]["adopted"], 0, "{diff}");
    let before = ws.all_resource_versions();
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.writes(), 0, "{apply}");
    assert_eq!(ws.all_resource_versions(), before);
    diff
}

#[test]
fn an_object_made_by_kubectl_create_is_adopted() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.kubectl(["create", "-f", "web.yaml"]).exits_with(0);
    is_adopted_once(&ws, "Deployment", "web");
}

#[test]
fn an_object_made_by_kubectl_apply_is_adopted() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
    // The copy that client-side apply keeps goes with its owner, and is no difference to speak of.
    let diff = ws.reconcile(["diff", "-f", "."]);
    assert!(!diff.stdout.contains("last-applied"), "{diff}");
    is_adopted_once(&ws, "Deployment", "web");
}

#[test]
fn what_a_limit_range_put_into_a_pod_that_kubectl_applied_stays() {
    let ws = Workspace::new();
    let range = "{apiVersion: v1, kind: LimitRange, metadata: {name: all}, spec: {limits: [{type: Container, defaultRequest: {cpu: 50m}}]}}";
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: test, labels: {a: b}},
        spec: {containers: [{name: wget, image: busybox, ports: [{containerPort: 80}]}]}}";
    ws.write("range/range.yaml", range);
    ws.kubectl(["apply", "-f", "range"]).exits_with(0);
    ws.write("pod.yaml", pod);
    ws.kubectl(["apply", "-f", "pod.yaml"]).exits_with(0);
    is_adopted_once(&ws, "Pod", "test");
    assert_eq!(ws.get("Pod", "test")["spec"]["containers"][0]["resources"]["requests"]["cpu"], "50m");
    assert_eq!(
        ws.get("Pod", "test")["metadata"].get("annotations"),
        Some(&json!({
            "kubernetes.io/limit-ranger": "LimitRanger plugin set: cpu request for container wget"
        }))
    );
}

#[test]
fn a_default_that_clashes_goes_and_an_item_goes_with_its_defaults() {
    let ws = Workspace::new();
    ws.write(
        "web.yaml",
        &WEB.replace(
            "      containers:\n",
            "      initContainers: [{name: init, image: busybox}]\n      containers:\n",
        ),
    );
    ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
    ws.write("web.yaml", &WEB.replace("  replicas: 2", "  replicas: 2\n  strategy: {type: Recreate}"));
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let now = ws.get("Deployment", "web");
    assert_eq!(now["spec"]["strategy"], json!({"type": "Recreate"}));
    assert_eq!(now["spec"]["template"]["spec"].get("initContainers"), None);
    is_settled(&ws);
}

#[test]
fn an_object_made_by_another_applier_is_adopted() {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    ws.apply_as("gitops", SETTINGS);
    is_adopted_once(&ws, "ConfigMap", "settings");
}

#[test]
fn an_object_older_than_field_management_is_adopted() {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    ws.kubectl(["create", "-f", "settings.yaml"]).exits_with(0);
    let reset = r#"[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]"#;
    ws.kubectl(["patch", "configmap/settings", "--type=json", "-p", reset]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "settings")["metadata"].get("managedFields"), None);
    is_adopted_once(&ws, "ConfigMap", "settings");
    // It is wholly ours: what the manifest drops goes.
    ws.write("settings.yaml", &SETTINGS.replaced(", b: '2'", ""));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "settings")["data"], json!({"a": "1"}));
}

#[test]
fn what_was_dropped_since_kubectl_apply_goes_with_our_first_apply() {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    ws.write("web.yaml", WEB);
    ws.kubectl(["apply", "-f", "."]).exits_with(0);
    ws.write("settings.yaml", &SETTINGS.replaced(", b: '2'", ""));
    ws.write("web.yaml", &WEB.replaced("  replicas: 2\n", "").replaced(", {name: LANG, value: en}", ""));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "settings"), ["pruned data.b"]);
    let item = "spec.template.spec.containers[name=web].env[name=LANG]";
    assert_eq!(diff.changes("Deployment", "web"), ["pruned spec.replicas".to_owned(), format!("pruned {item}")]);
    assert_eq!(diff.change("Deployment", "web", "spec.replicas")["desired"], 1);

    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "settings")["data"], json!({"a": "1"}));
    let web = ws.get("Deployment", "web");
    assert_eq!(web["spec"]["replicas"], 1);
    assert_eq!(web["spec"]["template"]["spec"]["containers"][0]["env"], json!([{"name": "LOG", "value": "info"}]));
    is_settled(&ws);
}

#[test]
fn what_somebody_added_beside_kubectl_apply_stays() {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    ws.kubectl(["apply", "-f", "settings.yaml"]).exits_with(0);
    ws.patch_as("agent", "configmap/settings", &json!({"data": {"theirs": "3"}}));
    ws.kubectl(["annotate", "configmap/settings", "note=mine"]).exits_with(0);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let settings = ws.get("ConfigMap", "settings");
    assert_eq!(settings["data"], json!({"a": "1", "b": "2", "theirs": "3"}));
    assert_eq!(settings["metadata"]["annotations"]["note"], "mine");
    is_settled(&ws);
}

#[test]
fn moving_to_another_version_of_a_kind_changes_only_the_record() {
    let ws = Workspace::new();
    let manifest = "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: web},
        spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 4}}";
    ws.write("hpa.yaml", manifest);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    is_settled(&ws);
    ws.write("hpa.yaml", &manifest.replaced("autoscaling/v1", "autoscaling/v2"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.changes("HorizontalPodAutoscaler", "web"), ["adopted"]);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    is_settled(&ws);
}

/// Any write brings the form of a record up to date when the type of its kind changes. A claim on a whole list does not become one on its
/// items by that, so they are claimed together with the change.
#[test]
fn only_what_a_changed_definition_leaves_without_an_owner_is_claimed() {
    const SCHEMA: &str = "
properties:
  labels: {type: object, x-kubernetes-map-type: granular, additionalProperties: {type: string}}
  tags: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}
";
    let ws = Workspace::new();
    ws.write("crd.yaml", &definition("Latch", SCHEMA));
    ws.write("it.yaml", &resource("Latch", "it", "labels: {a: x, b: z}, tags: [c, d]"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    is_settled(&ws);
    ws.write("crd.yaml", &definition("Latch", &SCHEMA.replaced("granular", "atomic")));
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.object("Latch", "it")["outcome"], "unchanged", "{apply}");
    ws.wait_for_types();
    is_settled(&ws);
    ws.write("crd.yaml", &definition("Latch", &SCHEMA.replaced("atomic", "set")));
    // It takes the server a moment until it merges by the new type.
    wait_until("the items are claimed", || {
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let it = ws.get(&ws.fill_in("latchs.$NS.example.com"), "it");
        managed_fields(&it).iter().any(|entry| entry.fields.to_fields_v1()["f:spec"]["f:tags"]["v:\"c\""].is_object())
    });
    is_settled(&ws);
}

/// What `kubectl apply` has in its manifest when the object is ours already is nothing that our manifest dropped.
#[test]
fn what_kubectl_apply_adds_to_an_object_of_ours_stays_whatever_is_the_evidence() {
    let ws = Workspace::new();
    let theirs = SETTINGS.replaced("app: web", "app: web, tier: front").replaced("b: '2'", "b: '2', c: '3'");
    ws.write("settings.yaml", SETTINGS);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.stdin(&theirs).kubectl(["apply", "-f", "-"]).exits_with(0);
    let stays = || {
        for evidence in ["auto", "server", "read-only"] {
            let evidence = format!("--evidence={evidence}");
            let diff = ws.reconcile(["diff", "-f", ".", &evidence]).exits_with(0);
            assert_eq!(diff.changes("ConfigMap", "settings"), [""; 0], "{diff}");
            assert!(diff.stdout.contains("2 fields added by hand"), "{diff}");
        }
        for evidence in ["auto", "server"] {
            let evidence = format!("--evidence={evidence}");
            assert_eq!(ws.reconcile(["apply", "-f", ".", &evidence]).exits_with(0).writes(), 0);
        }
        let live = ws.get("ConfigMap", "settings");
        assert_eq!((&live["metadata"]["labels"]["tier"], &live["data"]["c"]), (&json!("front"), &json!("3")));
    };
    stays();
    // Another difference changes nothing of that.
    ws.write("settings.yaml", &SETTINGS.replaced("a: '1'", "a: '5'"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "settings"), ["pending data.a"], "{diff}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    stays();
}

/// Of a manifest without a field of its own we keep no record, before or after.
#[test]
fn what_a_bare_namespace_drops_since_kubectl_apply_goes_whatever_is_the_evidence() {
    let ws = Workspace::new();
    let name = format!("{}-bare", ws.namespace());
    let bare = format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}}}}}");
    ws.write("bare.yaml", &bare);
    let changes = |evidence: &str, code: i32| {
        ws.reconcile(["diff", "-f", ".", &format!("--evidence={evidence}")])
            .exits_with(code)
            .changes("Namespace", &name)
    };
    ws.stdin(&bare.replaced("}}", ", labels: {team: shop}}}")).kubectl(["apply", "-f", "-"]).exits_with(0);
    for evidence in ["auto", "server", "read-only"] {
        assert_eq!(changes(evidence, 1), ["pruned metadata.labels.team"], "{evidence}");
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    for evidence in ["auto", "server", "read-only"] {
        assert_eq!(changes(evidence, 0), [""; 0], "{evidence}");
    }
    for evidence in ["auto", "server"] {
        assert_eq!(ws.reconcile(["apply", "-f", ".", &format!("--evidence={evidence}")]).exits_with(0).writes(), 0);
    }
    assert_eq!(ws.get("Namespace", &name)["metadata"]["labels"].get("team"), None);
    ws.kubectl(["delete", "namespace", &name, "--wait=false"]).exits_with(0);
}

#[test]
fn what_client_side_apply_wrote_changes_in_place_where_its_own_fields_would_clash() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
    let uid = ws.get("Deployment", "web")["metadata"]["uid"].clone();
    let elsewhere = "{name: LOG, valueFrom: {fieldRef: {fieldPath: metadata.name}}}";
    let changed = WEB
        .replaced("  replicas: 2", "  replicas: 2\n  strategy: {type: Recreate}")
        .replaced("{name: LOG, value: info}", elsewhere);
    ws.write("web.yaml", &WEB.replaced("  replicas: 2", "  replicas: 2\n  strategy: {rollingUpdate: {maxSurge: 1}}"));
    ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
    ws.write("web.yaml", &changed);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object("Deployment", "web")["action"], "update", "{diff}");
    ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(0);
    let now = ws.get("Deployment", "web");
    assert_eq!(now["metadata"]["uid"], uid);
    assert_eq!(now["spec"]["strategy"], serde_json::json!({"type": "Recreate"}));
    is_settled(&ws);
}
