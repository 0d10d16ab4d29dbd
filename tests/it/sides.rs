//! The side that changed: a pull request is not drift.

use serde_json::json;

use crate::control_plane::{Replaced, Workspace};
use crate::manifests::WEB;

const SETTINGS: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '1', b: '2'}}";

fn applied() -> Workspace {
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws
}

#[test]
fn a_pull_request_is_called_changes() {
    let ws = applied();
    ws.write("settings.yaml", &SETTINGS.replaced("a: '1'", "a: '9'"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", "settings")["side"], "manifest");
    assert_eq!(diff.object("Deployment", "web").get("side"), None);
    assert_eq!(diff.report()["summary"]["sides"], json!({"manifest": 1, "cluster": 0, "either": 0, "both": 0}));
    assert_eq!(diff.report()["verdict"], "drift", "the verdict is the one of the exit code");
    let text = &diff;
    assert!(text.stdout.contains("1 to update: changed in the manifests; 1 in sync"), "{text}");
    let markdown = ws.reconcile(["diff", "-f", ".", "-o", "markdown"]);
    assert!(markdown.stdout.starts_with("### kubectl reconcile diff: changes\n"), "{markdown}");
    let html = ws.reconcile(["diff", "-f", ".", "-o", "html"]);
    assert!(html.stdout.contains("<h1>Changes</h1>"), "{html}");
    // A nightly gate does not fail on what a pull request changes.
    ws.reconcile(["diff", "-f", ".", "--fail-on", "cluster,either"]).exits_with(0);
    ws.reconcile(["diff", "-f", ".", "--fail-on", "manifest"]).exits_with(1);
}

#[test]
fn what_changed_in_the_cluster_is_called_drift() {
    let ws = applied();
    ws.kubectl(["scale", "deployment/web", "--replicas=5"]).exits_with(0);
    ws.write("settings.yaml", &SETTINGS.replaced("a: '1'", "a: '9'"));
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"b": "7"}}));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object("Deployment", "web")["side"], "cluster");
    assert_eq!(diff.object("ConfigMap", "settings")["side"], "both");
    let text = &diff;
    assert!(text.stdout.contains("2 to update: 1 changed in the cluster, 1 in both; 0 in sync"), "{text}");
    let markdown = ws.reconcile(["diff", "-f", ".", "-o", "markdown"]);
    assert!(markdown.stdout.starts_with("### kubectl reconcile diff: drift\n"), "{markdown}");
    ws.reconcile(["diff", "-f", ".", "--fail-on", "cluster"]).exits_with(1);
    ws.reconcile(["diff", "-f", ".", "--fail-on", "either"]).exits_with(0);
}

/// Nobody records who removed an object or a field.
#[test]
fn what_is_gone_is_of_no_known_side() {
    let ws = applied();
    ws.kubectl(["delete", "deployment", "web"]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object("Deployment", "web")["side"], "either");
    let text = &diff;
    assert!(text.stdout.contains("1 to create, 1 in sync") || text.stdout.contains("1 to create; 1 in sync"), "{text}");
    ws.reconcile(["diff", "-f", ".", "--fail-on", "either"]).exits_with(1);
    ws.reconcile(["diff", "-f", ".", "--fail-on", "manifest,cluster"]).exits_with(0);
}
