//! Ignore rules from a diff: they hide exactly what it showed.

use serde_json::json;

use crate::control_plane::Workspace;

const MANIFESTS: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: $NS}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: 'shop/web:1.0', env: [{name: MODE, value: fast}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: $NS, labels: {example.com/tier: front}}
data: {a: '1', odd.txt: x}
";

/// Drift of several managers: a scaler, a person, and a controller.
fn drifted() -> Workspace {
    let ws = Workspace::new();
    ws.write("shop.yaml", MANIFESTS);
    ws.reconcile(["apply", "-f", "shop.yaml"]).exits_with(0);
    ws.scale("deployment/web", 5);
    ws.kubectl(["set", "env", "deployment/web", "MODE=slow"]).exits_with(0);
    ws.patch_as("labeller", "configmap/settings", &json!({"metadata": {"labels": {"example.com/tier": "back"}}}));
    ws
}

#[test]
fn the_suggested_rules_hide_exactly_the_drift() {
    let ws = drifted();
    let suggested = ws.reconcile(["diff", "-f", "shop.yaml", "--suggest-ignores"]).exits_with(1);
    ws.write("suggested.yaml", &suggested.stdout);
    let view = ws.reconcile(["config", "view", "--config", "suggested.yaml"]).exits_with(0);
    assert!(view.stdout.ends_with(&suggested.stdout), "{suggested}");
    for text in [
        "  - spec.replicas\n",
        "  - spec.template.spec.containers[name=web].env[name=MODE].value\n",
        "  - metadata.labels[\"example.com/tier\"]\n",
        "  reason: owned by labeller\n",
        "  managers:\n  - labeller\n",
        "    name: settings\n",
    ] {
        assert!(suggested.stdout.contains(text), "{text}: {suggested}");
    }

    let quiet = ws.reconcile(["diff", "-f", "shop.yaml", "--config", "suggested.yaml", "-o", "json"]).exits_with(0);
    assert_eq!(quiet.report()["summary"]["ignored"], 3);
    // Another field, and the same field by another manager, are found.
    ws.kubectl(["patch", "configmap", "settings", "-p", r#"{"data":{"a":"hand"}}"#]).exits_with(0);
    let again = ws.reconcile(["diff", "-f", "shop.yaml", "--config", "suggested.yaml"]).exits_with(1);
    assert_eq!(again.changes("ConfigMap", "settings"), ["changedByOther data.a"]);
    ws.kubectl(["patch", "configmap", "settings", "-p", r#"{"data":{"a":"1"}}"#]).exits_with(0);
    ws.reconcile(["diff", "-f", "shop.yaml", "--config", "suggested.yaml"]).exits_with(0);
    ws.patch_as("somebody", "configmap/settings", &json!({"metadata": {"labels": {"example.com/tier": "side"}}}));
    let again = ws.reconcile(["diff", "-f", "shop.yaml", "--config", "suggested.yaml"]).exits_with(1);
    assert_eq!(again.changes("ConfigMap", "settings"), ["conflict metadata.labels[\"example.com/tier\"]"]);
}

/// Anybody who may write the object chooses the name of the field manager.
#[test]
fn a_manager_that_would_match_everybody_gets_no_rule() {
    let ws = Workspace::new();
    ws.write("shop.yaml", MANIFESTS);
    ws.reconcile(["apply", "-f", "shop.yaml"]).exits_with(0);
    ws.patch_as("*", "configmap/settings", &json!({"data": {"a": "2"}}));
    let suggested = ws.reconcile(["diff", "-f", "shop.yaml", "--suggest-ignores"]).exits_with(1);
    let note = format!(
        "# Not covered: ConfigMap {}/settings: data.a: a rule cannot name the field manager `*`\n",
        ws.namespace()
    );
    assert!(suggested.stdout.starts_with(&note) && !suggested.stdout.contains("ignore:"), "{suggested}");
}

#[test]
fn what_is_in_force_stays_and_what_no_rule_can_hide_is_named() {
    let ws = drifted();
    ws.write("more.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: new, namespace: $NS}}\n");
    ws.write(
        ".kubectl-reconcile.yaml",
        "apiVersion: kubectl-reconcile/v1\nkind: Config\nmanualManagers: [k9s]\nignore:\n- {target: {kind: Secret}, fields: [data.x], reason: mine}\n",
    );
    let run = ws
        .reconcile(["diff", "-f", "shop.yaml", "-f", "more.yaml", "--suggest-ignores", "-o", "json=r.json"])
        .exits_with(1);
    let missing = format!("# Not covered: ConfigMap {}/new: it does not exist\n", ws.namespace());
    assert!(run.stdout.starts_with(&missing), "{run}");
    assert!(run.stdout.contains("manualManagers:\n- k9s\n") && run.stdout.contains("  reason: mine\n"), "{run}");
    assert!(ws.folder().join("r.json").exists());
    ws.reconcile(["diff", "-f", "shop.yaml", "--suggest-ignores", "-o", "json"]).exits_with(2);
}

#[test]
fn what_each_rule_hid_is_explained_and_a_rule_that_matches_nothing_is_named() {
    let ws = drifted();
    ws.write(
        ".kubectl-reconcile.yaml",
        "apiVersion: kubectl-reconcile/v1
kind: Config
ignore:
- {target: {kind: Deployment}, fields: [spec.replicas, 'spec.template.spec.containers[*].env[*].value'], reason: scaled}
- {target: {kind: ConfigMap}, fields: [data.a]}
- {target: {kind: Service}, fields: [spec.ports]}
- {target: {kind: ConfigMap}, fields: [data.missing]}
",
    );
    let run = ws.reconcile(["diff", "-f", "shop.yaml", "--explain-ignores"]).exits_with(1);
    let deployment = format!("Deployment {}/web", ws.namespace());
    let expected = format!(
        ".kubectl-reconcile.yaml:4:3 (scaled) hid:\n    {deployment} spec.replicas  by kubectl\n    \
         {deployment} spec.template.spec.containers[name=web].env[name=MODE].value  by kubectl-set\n\
         .kubectl-reconcile.yaml:5:3 hid nothing\n.kubectl-reconcile.yaml:6:3 hid nothing\n"
    );
    assert!(run.stdout.contains(&expected), "{run}");
    let warning = "2 ignore rules match no field of the manifests or their live objects: \
                   `.kubectl-reconcile.yaml:6:3`, `.kubectl-reconcile.yaml:7:3`";
    assert!(run.stderr.contains(warning), "{run}");
    let json = ws.reconcile(["diff", "-f", "shop.yaml", "-o", "json"]).exits_with(1);
    assert_eq!(json.report()["warnings"], json!([warning]));
    let part = ws.reconcile(["diff", "-f", "shop.yaml", "-l", "example.com/tier", "-o", "json"]).exits_with(1);
    assert_eq!(part.report()["warnings"], serde_json::Value::Null, "a part of the input");
}
