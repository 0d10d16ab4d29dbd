//! A creation that meets an object which somebody else created a moment earlier.

use std::sync::Arc;

use serde_json::json;

use crate::control_plane::{Fault, Proxy, Replaced, Run, Workspace};
use crate::manifests::WEB;

/// `apply` of the folder, with `planted` created by `mallory` just before the object itself would be.
fn apply_over(ws: &Arc<Workspace>, planted: &str) -> Run {
    let proxy = Proxy::new(ws);
    let other = Arc::clone(ws);
    let planted = planted.to_owned();
    let event = move || {
        other.stdin(&planted).kubectl(["create", "--field-manager=mallory", "-f", "-"]).exits_with(0);
    };
    proxy.inject(1, "PATCH", "!dryRun", Fault::After(Arc::new(event)));
    ws.through(&proxy.url()).reconcile(["apply", "-f", "."])
}

#[test]
fn what_it_holds_beside_the_manifest_is_reported() {
    let ws = Arc::new(Workspace::new());
    ws.write("web.yaml", WEB);
    let sidecar = WEB.replaced("      containers:\n", "      containers:\n      - {name: evil, image: 'evil:1'}\n");
    assert!(sidecar.contains("evil"), "{sidecar}");
    let apply = apply_over(&ws, &sidecar).exits_with(0);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "updated", "{apply}");
    let warning = apply.object("Deployment", "web")["warnings"][0].as_str().unwrap().to_owned();
    assert!(
        warning.starts_with("somebody else created it in the meantime, with fields that are not in the manifest"),
        "{warning}"
    );
    assert!(warning.contains("set by `mallory`") && warning.contains("containers[name=evil]"), "{warning}");
    assert!(apply.stdout.contains(&format!("warning: {warning}")), "{apply}");
}

#[test]
fn what_is_as_the_manifest_has_it_needs_no_warning() {
    let ws = Arc::new(Workspace::new());
    let it = "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: b}}";
    ws.write("it.yaml", it);
    let apply = apply_over(&ws, it).exits_with(0);
    let object = apply.object("ConfigMap", "it");
    assert_eq!((&object["outcome"], &object["warnings"]), (&json!("updated"), &json!([])), "{apply}");
}

#[test]
fn values_of_a_planted_secret_are_not_shown() {
    let ws = Arc::new(Workspace::new());
    let value = ws.secret("planted-and-never-shown");
    ws.write("it.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: it}, stringData: {a: b}}");
    let planted = format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, stringData: {{other: {value}}}}}");
    let apply = apply_over(&ws, &planted).exits_with(0);
    let warning = apply.object("Secret", "it")["warnings"][0].as_str().unwrap();
    assert!(warning.contains("data.other"), "{warning}");
}
