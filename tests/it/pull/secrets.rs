//! Nothing of a Secret is written into a manifest or shown, neither its values nor the lines around a change.

use serde_json::json;

use super::{pulled, text};
use crate::control_plane::{Replaced, Workspace};

const SECRET: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data:
  colour: green
---
apiVersion: v1
kind: Secret
metadata:
  name: credentials
  labels: {tier: front}
stringData:
  password: correct-horse-battery
";

#[test]
fn values_of_secrets_are_neither_pulled_nor_shown() {
    let ws = Workspace::new();
    ws.secret("correct-horse-battery");
    ws.secret("a-new-password-of-somebody");
    ws.write("manifests.yaml", SECRET);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"colour": "red"}}));
    let secret =
        json!({"stringData": {"password": "a-new-password-of-somebody"}, "metadata": {"labels": {"tier": "back"}}});
    ws.patch_as("kubectl-edit", "secret/credentials", &secret);

    let named = ws.reconcile(["pull", "-f", ".", "--object", "Secret/*", "--dry-run", "-o", "json"]).exits_with(4);
    let report = pulled(&named);
    let changes = report["objects"][0]["changes"].as_array().unwrap();
    let reasons: Vec<&str> = changes.iter().filter_map(|change| change["reason"].as_str()).collect();
    assert_eq!(reasons, ["secret values are not written into manifests"], "{report}");

    let run = ws.reconcile(["pull", "-f", "."]).exits_with(0);
    assert_eq!(text(&ws), SECRET.replaced("colour: green", "colour: red").replaced("tier: front", "tier: back"));
    assert!(
        run.stdout.contains("+  colour: red") && run.stdout.contains("(a line of a document with secret values)"),
        "{run}"
    );
    assert!(run.stdout.contains("1 secret value differs"), "{run}");
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
}
