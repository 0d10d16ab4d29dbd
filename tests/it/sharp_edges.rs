//! Where server-side apply does not do what one expects: the comparison says what will happen, and an apply does it.

use serde_json::json;

use crate::control_plane::{Replaced, Run, Workspace};

#[track_caller]
fn with(manifest: &str) -> Workspace {
    let ws = Workspace::new();
    ws.write("it.yaml", manifest);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws
}

/// Applies what the difference shows; afterwards there is none, and nothing to write.
#[track_caller]
fn heals(ws: &Workspace) -> Run {
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).report()["requests"]["write"], 0);
    apply
}

#[test]
fn a_key_that_leaves_string_data_stays_in_the_cluster_with_a_warning() {
    let secret =
        |keys: &str| format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, stringData: {{{keys}}}}}");
    let ws = with(&secret("a: one, b: two"));
    ws.write("it.yaml", &secret("a: one"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    let warnings = diff.object("Secret", "it")["warnings"].to_string();
    assert!(warnings.contains("`data.b` stays in the cluster"), "{diff}");
    heals(&ws);
    assert_eq!(ws.get("Secret", "it")["data"]["b"], "dHdv");
}

#[test]
fn moving_from_string_data_to_data_changes_only_the_record() {
    let ws = with("{apiVersion: v1, kind: Secret, metadata: {name: it}, stringData: {a: hello}}");
    ws.write("it.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: it}, data: {a: aGVsbG8=}}");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.object("Secret", "it")["action"], "none");
    heals(&ws);
    // From now on the key is ours in `data`, so that it goes with the manifest.
    ws.write("it.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: it}}");
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
    heals(&ws);
    assert_eq!(ws.get("Secret", "it")["data"], json!(null));
}

#[test]
fn another_applier_of_the_same_string_data_is_a_conflict_every_time() {
    let secret = "{apiVersion: v1, kind: Secret, metadata: {name: it}, stringData: {a: hello}}";
    let ws = with(secret);
    ws.apply_as("gitops", secret);
    // Nothing differs, but it can't be proven: the server names a conflict, as it compares `stringData` with nothing.
    let diff = ws.reconcile(["diff", "-f", "."]);
    assert!(diff.report()["requests"]["dryRun"].as_u64() > Some(0), "{diff}");
    assert_eq!(diff.exits_with(0).object("Secret", "it")["action"], "none");
}

#[test]
fn another_key_of_a_port_is_another_item() {
    let web = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: it}
spec:
  selector: {matchLabels: {app: it}}
  template:
    metadata: {labels: {app: it}}
    spec: {containers: [{name: web, image: 'shop/web:1', ports: [{name: http, containerPort: 80}]}]}
";
    let ws = with(web);
    ws.write("it.yaml", &web.replaced("containerPort: 80", "containerPort: 81"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let changes = diff.object("Deployment", "it")["changes"].clone();
    let paths: Vec<_> = changes.as_array().unwrap().iter().map(|change| (&change["op"], &change["path"])).collect();
    let ports = "spec.template.spec.containers[name=web].ports";
    let path = |port: u32| json!(format!("{ports}[containerPort={port},protocol=TCP]"));
    assert_eq!(paths, [(&json!("remove"), &path(80)), (&json!("add"), &path(81))]);
    heals(&ws);
}

#[test]
fn the_last_field_of_a_struct_takes_the_struct_along() {
    let pod = |context: &str| {
        format!(
            "
apiVersion: apps/v1
kind: Deployment
metadata: {{name: it}}
spec:
  selector: {{matchLabels: {{app: it}}}}
  template:
    metadata: {{labels: {{app: it}}}}
    spec: {{containers: [{{name: web, image: 'shop/web:1'{context}}}]}}
"
        )
    };
    let ws = with(&pod(", livenessProbe: {httpGet: {port: 80}}, securityContext: {runAsUser: 1}"));
    ws.write("it.yaml", &pod(""));
    let diff = ws.reconcile(["diff", "-f", ".", "--evidence=read-only"]).exits_with(1);
    let asked = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object("Deployment", "it")["changes"], asked.object("Deployment", "it")["changes"]);
    heals(&ws);
    let container = ws.get("Deployment", "it")["spec"]["template"]["spec"]["containers"][0].clone();
    assert_eq!((&container["livenessProbe"], &container["securityContext"]), (&json!(null), &json!(null)));
}

#[test]
fn an_object_without_any_record_of_owners_is_adopted_whole() {
    let manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: '1'}}";
    let ws = with(manifest);
    ws.kubectl([
        "patch",
        "configmap/it",
        "--type=json",
        "-p",
        r#"[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]"#,
    ])
    .exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/it", &json!({"data": {"b": "2"}}));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.object("ConfigMap", "it")["action"], "none");
    heals(&ws);
    assert_eq!(ws.get("ConfigMap", "it")["data"], json!({"a": "1", "b": "2"}));
}

/// Of a map or list that loses all that was applied the server makes nothing, and only of nothing what is empty: two applies for it,
/// one pass for us.
#[test]
fn what_becomes_empty_is_empty_after_one_pass() {
    let pod = |container: &str, rest: &str| {
        format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: it}}, spec: {{replicas: 0, selector: {{matchLabels: {{a: b}}}},
              template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: c, image: c, {container}}}], {rest}}}}}}}}}"
        )
    };
    let filled = "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: []}}";
    let ws = with(&pod("securityContext: {privileged: false}", filled));
    ws.write("it.yaml", &pod("securityContext: {}", "affinity: {}"));
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
    heals(&ws);

    let ws = Workspace::new();
    let phial = "
properties:
  set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  map: {type: object, nullable: true, properties: {a: {type: string}}}
  size: {type: integer, default: 1}";
    ws.define("Phial", phial);
    let phial =
        |spec: &str| format!("{{apiVersion: $NS.example.com/v1, kind: Phial, metadata: {{name: it}}, spec: {spec}}}");
    for (before, after) in [("{set: [a]}", "{set: []}"), ("{map: {a: x}}", "{map: {}}")] {
        ws.write("it.yaml", &phial(before));
        ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
        ws.write("it.yaml", &phial(after));
        ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
        let diff = ws.reconcile(["diff", "-f", "it.yaml"]).exits_with(0);
        assert_eq!(ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0).writes(), 0, "{after}: {diff}");
    }
}
