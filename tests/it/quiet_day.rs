//! One cluster, many writers: an autoscaler, an injector of certificate authorities, an operator that labels, and a person.

use serde_json::json;

use crate::control_plane::{Replaced, Workspace};
use crate::manifests::WEB;

const AUTOSCALER: &str = "
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 9
";

/// The operator writes a label that the manifest has as well: nothing but a rule can say whose it is.
const CONFIGURATION: &str = "
apiVersion: kubectl-reconcile/v1
kind: Config
ignore:
- target: {kind: Deployment, name: web}
  fields: [metadata.labels.tier]
  managers: [tier-operator]
  reason: the operator moves workloads between tiers
";

#[test]
fn a_team_with_controllers_has_quiet_days_and_learns_who_edited_what() {
    let ws = Workspace::new();
    let hook = format!("hook-{}", ws.namespace());
    ws.write(".kubectl-reconcile.yaml", CONFIGURATION);
    ws.write("web.yaml", WEB);
    ws.write("autoscaler.yaml", AUTOSCALER);
    ws.write(
        "hook.yaml",
        &"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: HOOK},
        webhooks: [{name: a.example.com, clientConfig: {url: 'https://localhost/', caBundle: Cg==}, failurePolicy: Ignore,
        sideEffects: None, admissionReviewVersions: [v1], rules: [], matchPolicy: Exact}]}"
            .replaced("HOOK", &hook),
    );
    ws.reconcile(["apply", "-f", "."]).exits_with(0);

    // A quiet day: everybody does their work.
    ws.scale("deployment/web", 7);
    ws.patch_as("tier-operator", "deployment/web", &json!({"metadata": {"labels": {"tier": "gold", "zone": "a"}}}));
    let bundle = json!({"webhooks": [{"name": "a.example.com", "clientConfig": {"caBundle": "Qg=="}}]}).to_string();
    let hook_object = format!("validatingwebhookconfiguration/{hook}");
    let inject = ["patch", &hook_object, "--type=strategic", "--field-manager=cert-manager-cainjector", "-p", &bundle];
    ws.kubectl(inject).exits_with(0);
    let quiet = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(quiet.report()["summary"]["ignored"], 3, "{quiet}");
    for said in [
        "1 difference ignored by a rule; caBundle of 1 ValidatingWebhookConfiguration (cert-manager-cainjector)",
        "replicas of 1 Deployment (HorizontalPodAutoscaler; --explain-ignores)",
        ".kubectl-reconcile.yaml",
    ] {
        assert!(quiet.stdout.contains(said), "{said}: {quiet}");
    }
    // The label that the operator shares with us passes to it once; after that nothing is written.
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);

    // Somebody edits: the image where nobody looks, and a label of ours.
    let image =
        json!([{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "shop/web:hotfix"}]);
    let image = image.to_string();
    ws.kubectl(["patch", "deployment/web", "--type=json", "--field-manager=kubectl-edit", "-p", &image]).exits_with(0);
    let drift = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let path = "spec.template.spec.containers[name=web].image";
    assert_eq!(drift.changes("Deployment", "web"), [format!("changedByOther {path}")], "{drift}");
    let change = drift.change("Deployment", "web", path);
    assert_eq!(change["managers"][0]["manager"], "kubectl-edit", "{drift}");
    assert_eq!(change["managers"][0]["manual"], true, "{drift}");

    // The apply heals the edit, and nothing else.
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let web = ws.get("Deployment", "web");
    assert_eq!(web["spec"]["template"]["spec"]["containers"][0]["image"], "shop/web:1.2");
    assert_eq!(web["spec"]["replicas"], 7);
    assert_eq!(web["metadata"]["labels"], json!({"app": "web", "tier": "gold", "zone": "a"}));
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    ws.delete(&hook_object);
}
