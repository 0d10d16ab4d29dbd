//! Folders that go from one tool to another: Flux, Argo CD, kapp, Helm 3, controllers that are gone, and what hands left.

use serde_json::json;

use super::{applied_as, is_settled, owners, values};
use crate::control_plane::{Replaced, Run, Workspace};
use crate::manifests::WEB;

/// A tool that has written a folder, the manager that gets its fields, and the managers that are released for it.
struct Story {
    former: &'static str,
    /// True if it applies on the server side.
    applies: bool,
    to: &'static str,
    release: &'static [&'static str],
}

const fn story(former: &'static str, applies: bool, to: &'static str, release: &'static [&'static str]) -> Story {
    Story { former, applies, to, release }
}

const STORIES: [Story; 12] = [
    story("kubectl-reconcile", true, "kustomize-controller", &["--release", "kubectl-reconcile"]),
    story("kubectl-reconcile", true, "argocd-controller", &["--release=kubectl-reconcile"]),
    story("argocd-controller", true, "kustomize-controller", &["--release", "argocd-*"]),
    story("kustomize-controller", true, "kubectl-reconcile", &["--release", "kustomize-controller"]),
    story("helm", true, "helm-controller", &["--release", "helm"]),
    story("helm", false, "kubectl-reconcile", &["--release", "helm"]),
    story("helm-controller", false, "kubectl-reconcile", &["--release", "helm-controller"]),
    story("argocd-controller", false, "argocd-controller", &[]),
    story("kapp", false, "kubectl-reconcile", &["--release", "ka*,other"]),
    story("old-controller", false, "helm", &["--release", "other", "--release", "old-controller"]),
    story("kubectl-edit", false, "kustomize-controller", &[]),
    story("kubectl", true, "kubectl-reconcile", &["--release", "kubectl"]),
];

#[test]
fn a_folder_goes_from_one_tool_to_another() {
    for Story { former, applies, to, release } in STORIES {
        let ws = Workspace::new();
        ws.write("web.yaml", WEB);
        if applies {
            applied_as(&ws, former, "web.yaml").exits_with(0);
        } else {
            ws.kubectl(["create", "--field-manager", former, "-f", "web.yaml"]).exits_with(0);
        }
        reported(&ws, former);
        goes_on(&ws, former, to, release);
    }
}

/// A controller reports the status, and somebody adds what no manifest has.
fn reported(ws: &Workspace, former: &str) {
    let status = json!({"status": {"observedGeneration": 1, "replicas": 0}}).to_string();
    let patch = ["patch", "deployment/web", "--subresource=status", "--field-manager", former, "-p", &status];
    ws.kubectl(patch).exits_with(0);
    ws.patch_as("somebody", "deployment/web", &json!({"metadata": {"labels": {"extra": "yes"}}}));
}

/// The fields of the manifest pass to another manager, which can change and drop each of them without force.
#[track_caller]
fn goes_on(ws: &Workspace, former: &str, to: &str, release: &[&str]) {
    let what = format!("{former} to {to}");
    let arguments = [&["-f", "web.yaml", "--field-manager", to], release].concat();
    let before = values(ws, "Deployment", "web");
    let shown = ws.reconcile([&["own", "--dry-run"], &arguments[..]].concat()).exits_with(1);
    let passes = [format!("→ {to}: "), format!("{to} (Update → Apply): ")];
    assert!(passes.iter().any(|words| shown.stdout.contains(words)), "{what}: {shown}");
    assert_eq!(values(ws, "Deployment", "web"), before, "{what}");
    ws.reconcile([&["own"], &arguments[..]].concat()).exits_with(0);
    assert_eq!(values(ws, "Deployment", "web"), before, "{what}");
    is_settled(ws, &arguments);
    let image = r#"/f:spec/f:template/f:spec/f:containers/k:{"name":"web"}/f:image"#;
    for path in ["/f:spec/f:replicas", "/f:metadata/f:labels/f:tier", image] {
        assert_eq!(owners(ws, "Deployment", "web", path), [format!("{to} Apply")], "{what}: {path}");
    }
    assert_eq!(owners(ws, "Deployment", "web", "/f:metadata/f:labels/f:extra"), ["somebody Update"], "{what}");
    applied_as(ws, to, "web.yaml").exits_with(0);
    // Nobody holds what the next manifest changes or drops.
    let next = WEB
        .replaced("shop/web:1.2", "shop/web:1.3")
        .replaced(", tier: front", "")
        .replaced("replicas: 2", "replicas: 4")
        .replaced(", memory: 64Mi", "");
    ws.write("web.yaml", &next);
    applied_as(ws, to, "web.yaml").exits_with(0);
    let web = ws.get("Deployment", "web");
    assert_eq!(web["metadata"]["labels"], json!({"app": "web", "extra": "yes"}), "{what}");
    assert_eq!((&web["spec"]["replicas"], &web["status"]["observedGeneration"]), (&json!(4), &json!(1)), "{what}");
    let container = &web["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["resources"]["requests"], json!({"cpu": "100m"}), "{what}");
}

/// An object that nobody recorded gets an owner that the server invents with the first apply of a part of it.
#[test]
fn what_was_there_before_the_first_apply_is_released() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.kubectl(["create", "-f", "web.yaml"]).exits_with(0);
    ws.patch_as("kubectl-patch", "deployment/web", &json!({"metadata": {"managedFields": [{}]}}));
    let part = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: $NS, labels: {tier: front}}}";
    ws.apply_as("first", &ws.fill_in(part));
    let all = owners(&ws, "Deployment", "web", "/f:spec/f:replicas");
    assert_eq!(all, ["before-first-apply Update"]);
    reported(&ws, "first");
    goes_on(&ws, "before-first-apply", "kubectl-reconcile", &["--release", "first"]);
}

/// Client-side apply, and `kubectl edit` of a real editor.
#[test]
fn what_kubectl_left_is_released() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
    for (from, to) in [("shop/web:1.2", "shop/web:1.9"), ("shop/web:1.9", "shop/web:1.2")] {
        let editor = format!("sed -i s#{from}#{to}#");
        ws.as_user("admin").env("KUBE_EDITOR", &editor).kubectl(["edit", "deployment/web"]).exits_with(0);
    }
    ws.scale("deployment/web", 3);
    ws.scale("deployment/web", 2);
    reported(&ws, "kubectl");
    let image = r#"/f:spec/f:template/f:spec/f:containers/k:{"name":"web"}/f:image"#;
    assert_eq!(owners(&ws, "Deployment", "web", image), ["kubectl-edit Update"]);
    goes_on(&ws, "kubectl", "kustomize-controller", &[]);
}

/// Client-side apply has them in its record alone, by which only the first apply removes them.
#[test]
fn what_the_manifests_dropped_goes_along_and_is_removed_by_the_next_apply() {
    let ws = Workspace::new();
    let template = |more: &str, seconds: &str| {
        format!(
            "{{apiVersion: v1, kind: PodTemplate, metadata: {{name: it}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{{seconds}containers: [{{name: a, image: b}}{more}]}}}}}}"
        )
    };
    ws.write("it.yaml", &template(", {name: sidecar, image: c}", "terminationGracePeriodSeconds: 60, "));
    ws.kubectl(["apply", "-f", "it.yaml"]).exits_with(0);
    ws.patch_as("kubectl-edit", "podtemplate/it", &json!({"metadata": {"labels": {"hand": "made"}}}));
    ws.write("it.yaml", &template("", ""));
    let drift = |run: &Run| run.changes("PodTemplate", "it");
    let before = drift(&ws.reconcile(["diff", "-f", "it.yaml"]).exits_with(1));
    assert_eq!(before.len(), 2, "{before:?}");
    ws.reconcile(["own", "-f", "it.yaml"]).exits_with(0);
    assert_eq!(drift(&ws.reconcile(["diff", "-f", "it.yaml"]).exits_with(1)), before);
    let again = ws.reconcile(["own", "-f", "it.yaml"]).exits_with(0);
    assert_eq!(again.writes(), 0, "{again}");
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    let live = ws.get("podtemplate", "it");
    let spec = &live["template"]["spec"];
    assert_eq!((spec["containers"].as_array().unwrap().len(), &spec["terminationGracePeriodSeconds"]), (1, &json!(30)));
    assert_eq!(live["metadata"]["labels"]["hand"], "made");
}

/// Claims on what the server does not store are given as well: an apply by the new owner would be refused for them.
#[test]
fn what_the_server_does_not_store_is_given() {
    let ws = Workspace::new();
    ws.write(
        "web.yaml",
        "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {}}
spec:
  paused: false
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, creationTimestamp: null}
    spec:
      hostNetwork: false
      nodeSelector: {}
      tolerations: []
      containers: [{name: web, image: 'shop/web:1', stdin: false, env: [{name: A, value: ''}]}]
",
    );
    for (manager, release) in [("old", None), ("helm", Some("old")), ("old", Some("helm"))] {
        if let Some(release) = release {
            let flags = ["own", "-f", "web.yaml", "--field-manager", manager, "--release", release];
            ws.reconcile(flags).exits_with(0);
            is_settled(&ws, &flags[1..]);
        }
        applied_as(&ws, manager, "web.yaml").exits_with(0);
    }
}
