//! Who else yields to us: managers that are adopted, and manual managers that the configuration names.

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Workspace};

const SETTINGS: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '1', b: '2'}}";

/// What other managers own in the data of `settings`: `helm Apply: f:a f:b`.
fn claims(ws: &Workspace) -> Vec<String> {
    let object = ws.get("ConfigMap", "settings");
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let others = entries.iter().filter(|entry| entry["manager"] != "kubectl-reconcile");
    let fields = |entry: &Value| {
        entry["fieldsV1"]["f:data"]
            .as_object()
            .map(|data| data.keys().filter(|key| *key != ".").cloned().collect::<Vec<_>>().join(" "))
    };
    others
        .map(|entry| {
            format!(
                "{} {}: {}",
                entry["manager"].as_str().unwrap(),
                entry["operation"].as_str().unwrap(),
                fields(entry).unwrap_or_default()
            )
        })
        .collect()
}

#[track_caller]
fn is_settled(ws: &Workspace, flags: &[&str]) {
    ws.reconcile([&["diff", "-f", ".", "--strict-ownership"], flags].concat()).exits_with(0);
    assert_eq!(ws.reconcile([&["apply", "-f", "."], flags].concat()).exits_with(0).writes(), 0);
}

#[test]
fn what_an_adopted_applier_owns_is_no_conflict_and_becomes_ours() {
    for force in ["--force-conflicts=manual", "--force-conflicts=none", "--force-conflicts=all"] {
        let ws = Workspace::new();
        ws.write("settings.yaml", SETTINGS);
        ws.apply_as(
            "helm",
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: old, b: '2', c: '3'}}",
        );
        if force != "--force-conflicts=all" {
            let diff = ws.reconcile(["diff", "-f", ".", force]).exits_with(1);
            assert_eq!(diff.changes("ConfigMap", "settings"), ["conflict data.a"]);
        }
        let flags = ["--adopt", "flux,helm", force];
        let diff = ws.reconcile([&["diff", "-f", "."], &flags[..]].concat()).exits_with(1);
        assert_eq!(diff.changes("ConfigMap", "settings"), ["changedByOther data.a"]);
        assert_eq!(diff.object("ConfigMap", "settings")["conflicts"], json!([]));
        ws.reconcile([&["apply", "-f", "."], &flags[..]].concat()).exits_with(0);
        assert_eq!(ws.get("ConfigMap", "settings")["data"], json!({"a": "1", "b": "2", "c": "3"}));
        assert_eq!(claims(&ws), ["helm Apply: f:c"], "what our manifest does not have stays theirs");
        is_settled(&ws, &flags);
    }
}

#[test]
fn a_claim_beside_ours_is_adopted_by_one_write_although_nothing_differs() {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.apply_as("helm", SETTINGS);
    ws.reconcile(["diff", "-f", ".", "--strict-ownership"]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", ".", "--adopt=helm"]).exits_with(0);
    assert_eq!(diff.changes("ConfigMap", "settings"), ["adopted"]);
    let local = ws.reconcile(["diff", "-f", ".", "--adopt=helm", "--evidence=read-only"]).exits_with(0);
    assert_eq!(local.changes("ConfigMap", "settings"), ["adopted"]);
    ws.reconcile(["diff", "-f", ".", "--adopt=helm", "--strict-ownership"]).exits_with(1);
    let apply = ws.reconcile(["apply", "-f", ".", "--adopt=helm"]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap settings: adopted"]);
    assert_eq!(claims(&ws), [] as [&str; 0]);
    is_settled(&ws, &["--adopt=helm"]);
    // Nobody else keeps what the manifest drops now.
    ws.write("settings.yaml", &SETTINGS.replaced(", b: '2'", ""));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "settings")["data"], json!({"a": "1"}));
}

#[test]
fn a_controller_can_be_adopted_too() {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as("some-controller", "configmap/settings", &json!({"data": {"a": "other"}}));
    ws.reconcile(["apply", "-f", "."]).exits_with(4);
    ws.reconcile(["apply", "-f", ".", "--adopt=some-controller"]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "settings")["data"]["a"], "1");
    is_settled(&ws, &[]);
}

#[test]
fn a_manager_without_a_name_can_not_be_adopted() {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    let run = ws.reconcile(["diff", "-f", ".", "--adopt=helm,"]).exits_with(2);
    assert!(run.stderr.contains("--adopt"), "{run}");
}

/// What every configuration begins with.
const CONFIG: &str = "apiVersion: kubectl-reconcile/v1\nkind: Config\n";

#[test]
fn the_configuration_names_more_manual_managers() {
    let ws = Workspace::new();
    ws.write("deploy/settings.yaml", SETTINGS);
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
    ws.patch_as("k9s", "configmap/settings", &json!({"data": {"a": "other"}}));
    let diff = ws.reconcile(["diff", "-f", "deploy"]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "settings"), ["conflict data.a"]);
    let manual = &format!("{CONFIG}manualManagers: [lens, k9s]\n");
    let is_taken = |flags: &[&str]| {
        let diff = ws.reconcile([&["diff"], flags].concat()).exits_with(1);
        assert_eq!(diff.changes("ConfigMap", "settings"), ["changedByOther data.a"], "{flags:?}");
    };
    let elsewhere = ws.write("elsewhere/manual.yaml", manual);
    is_taken(&["-f", "deploy", "--config", elsewhere.to_str().unwrap()]);
    ws.write(".kubectl-reconcile.yaml", manual);
    is_taken(&["-f", "deploy"]);
    // The one beside the manifests comes before the one in the working directory.
    ws.write("deploy/.kubectl-reconcile.yaml", CONFIG);
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(4);
    ws.write(".kubectl-reconcile.yaml", CONFIG);
    ws.write("deploy/.kubectl-reconcile.yaml", manual);
    is_taken(&["-f", "deploy/settings.yaml"]);
    is_taken(&["-f", "deploy/*.yaml"]);
    ws.reconcile(["apply", "-f", "deploy"]).exits_with(0);
    assert_eq!(claims(&ws), [] as [&str; 0]);
    is_settled_in(&ws, "deploy");
}

fn is_settled_in(ws: &Workspace, folder: &str) {
    assert_eq!(ws.reconcile(["apply", "-f", folder]).exits_with(0).writes(), 0);
}

#[test]
fn a_configured_manual_manager_is_known_by_name_and_operation() {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    ws.write(".kubectl-reconcile.yaml", &format!("{CONFIG}manualManagers: [k9s]\n"));
    ws.apply_as("k9s", &SETTINGS.replaced("'1'", "other"));
    let diff = ws.reconcile(["diff", "-f", "settings.yaml"]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "settings"), ["conflict data.a"], "an applier is not a manual manager");
}

#[test]
fn a_configuration_with_mistakes_stops_the_run_with_their_places() {
    let ws = Workspace::new();
    ws.write("a/settings.yaml", SETTINGS);
    ws.write("b/settings.yaml", &SETTINGS.replaced("settings", "others"));
    ws.write("a/.kubectl-reconcile.yaml", &format!("{CONFIG}hand: [k9s]\nmanualManagers: {{}}\n"));
    let run = ws.reconcile(["apply", "-f", "a"]).exits_with(2);
    assert!(
        run.stderr.contains("a/.kubectl-reconcile.yaml:3:1") && run.stderr.contains("a/.kubectl-reconcile.yaml:4:"),
        "{run}"
    );
    assert!(ws.find("ConfigMap", "settings").is_none());
    ws.write("a/.kubectl-reconcile.yaml", CONFIG);
    ws.write("b/.kubectl-reconcile.yaml", CONFIG);
    let run = ws.reconcile(["diff", "-f", "a", "-f", "b"]).exits_with(2);
    assert!(run.stderr.contains("--config"), "{run}");
    ws.reconcile(["diff", "-f", "a", "-f", "b", "--config", "b/.kubectl-reconcile.yaml"]).exits_with(1);
    ws.reconcile(["diff", "-f", "a", "--config", "missing.yaml"]).exits_with(2);
}

const SCALER_V1: &str = "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: web, labels: {a: b}},
  spec: {minReplicas: 2, maxReplicas: 3, targetCPUUtilizationPercentage: 50, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}";
const SCALER_V2: &str = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, labels: {a: b}},
  spec: {minReplicas: 2, maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}],
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}";

#[test]
fn our_own_fields_survive_a_new_version_of_the_api() {
    let ws = Workspace::new();
    ws.write("web.yaml", SCALER_V1);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("web.yaml", SCALER_V2);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    is_settled(&ws, &[]);
    ws.write("web.yaml", &SCALER_V2.replaced("minReplicas: 2, ", "").replaced(", labels: {a: b}", ""));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let live = ws.get("HorizontalPodAutoscaler", "web");
    assert_eq!((&live["spec"]["minReplicas"], live["metadata"].get("labels")), (&json!(1), None));
    is_settled(&ws, &[]);
}

/// In `autoscaling/v1` the first metric is the field `targetCPUUtilizationPercentage`.
#[test]
fn what_another_applier_has_under_another_name_in_an_older_version_is_a_conflict() {
    let ws = Workspace::new();
    let theirs = SCALER_V1.replaced("targetCPUUtilizationPercentage: 50", "targetCPUUtilizationPercentage: 80");
    ws.stdin(&theirs).kubectl(["apply", "--server-side", "--field-manager=tower", "-f", "-"]).exits_with(0);
    ws.write("web.yaml", SCALER_V2);
    let apply = ["apply", "--server-side", "--dry-run=server", "--field-manager=kubectl-reconcile", "-f", "web.yaml"];
    let refused = ws.kubectl(apply);
    assert!(refused.code == 1 && refused.stderr.contains("conflict with \"tower\""), "{refused}");

    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(
        diff.changes("HorizontalPodAutoscaler", "web"),
        ["conflict spec.metrics[0].resource.target.averageUtilization"],
        "{diff}"
    );
    let object = diff.object("HorizontalPodAutoscaler", "web");
    assert_eq!(object["conflicts"][0]["manager"], "tower", "{object:#}");
    let before = ws.resource_version("HorizontalPodAutoscaler", "web");
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.object("HorizontalPodAutoscaler", "web")["outcome"], "conflict", "{apply}");
    assert_eq!(ws.resource_version("HorizontalPodAutoscaler", "web"), before);
    ws.reconcile(["apply", "-f", ".", "--force-conflicts"]).exits_with(0);
    is_settled(&ws, &[]);
}

/// Servers before 1.32 serve `v1beta3` as well, which later ones know no more: those have nothing to compare here.
#[test]
fn what_another_applier_has_in_a_version_that_this_server_still_serves_is_a_conflict() {
    let ws = Workspace::new();
    let name = format!("{}-schema", ws.namespace());
    let schema = |version: &str, precedence: u32| {
        format!(
            "{{apiVersion: flowcontrol.apiserver.k8s.io/{version}, kind: FlowSchema, metadata: {{name: {name}}},
  spec: {{matchingPrecedence: {precedence}, priorityLevelConfiguration: {{name: catch-all}}}}}}"
        )
    };
    let served = ws.kubectl(["api-versions"]).exits_with(0);
    if !served.stdout.lines().any(|version| version == "flowcontrol.apiserver.k8s.io/v1beta3") {
        return;
    }
    let apply = ["apply", "--server-side", "--field-manager=tower", "-f", "-"];
    ws.stdin(&schema("v1beta3", 8000)).kubectl(apply).exits_with(0);
    ws.write("schema.yaml", &schema("v1", 9000));
    let apply =
        ["apply", "--server-side", "--dry-run=server", "--field-manager=kubectl-reconcile", "-f", "schema.yaml"];
    let refused = ws.kubectl(apply);
    assert!(refused.code == 1 && refused.stderr.contains("conflict with \"tower\""), "{refused}");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("FlowSchema", &name), ["conflict spec.matchingPrecedence"], "{diff}");
    ws.kubectl(["delete", "flowschema", &name]).exits_with(0);
}

#[test]
fn what_client_side_apply_left_in_an_older_version_of_the_api_passes_to_us() {
    let ws = Workspace::new();
    ws.stdin(SCALER_V1).kubectl(["apply", "-f", "-"]).exits_with(0);
    ws.write("web.yaml", SCALER_V2);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    is_settled(&ws, &[]);
    ws.write("web.yaml", &SCALER_V2.replaced("minReplicas: 2, ", "").replaced(", labels: {a: b}", ""));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let live = ws.get("HorizontalPodAutoscaler", "web");
    assert_eq!((&live["spec"]["minReplicas"], live["metadata"].get("labels")), (&json!(1), None));
    is_settled(&ws, &[]);
}
