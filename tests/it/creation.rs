//! A creation that meets an object which somebody else created a moment earlier.

use std::sync::Arc;

use serde_json::json;

use crate::control_plane::{Fault, Proxy, Replaced, Run, Workspace, is_before, wait_until};
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

/// Two pipelines with different manifests: the one that comes second leaves what the first one created.
#[test]
fn what_another_run_created_is_left_as_it_is() {
    let map = |text: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: it}}, data: {text}}}");
    for (other, outcome, code) in [("{a: theirs, b: theirs}", "failed", 4), ("{a: ours}", "created", 0)] {
        let ws = Arc::new(Workspace::new());
        ws.write("it.yaml", &map("{a: ours}"));
        let proxy = Proxy::new(&ws);
        let (first, theirs) = (Arc::clone(&ws), map(other));
        let event = move || {
            first.stdin(&theirs).reconcile(["apply", "-f", "-"]).exits_with(0);
        };
        proxy.inject(1, "PATCH", "!dryRun", Fault::After(Arc::new(event)));
        let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "it.yaml"]).exits_with(code);
        let object = apply.object("ConfigMap", "it");
        assert_eq!(object["outcome"], outcome, "{apply}");
        if code == 4 {
            let message = object["error"]["message"].as_str().unwrap();
            assert!(message.starts_with("somebody else created it in the meantime: left unchanged"), "{message}");
            assert_eq!(ws.get("ConfigMap", "it")["data"], json!({"a": "theirs", "b": "theirs"}));
        }
    }
}

/// An API server with a storage of its own may refuse a version of what does not exist.
#[test]
fn a_server_that_takes_no_version_of_a_new_object_gets_none() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: b}}");
    let proxy = Proxy::new(&ws);
    let message = "resourceVersion should not be set on objects to be created";
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": 500});
    let headers = vec![("content-type", "application/json".to_owned())];
    proxy.inject(1, "PATCH", "!dryRun", Fault::Answer(500, headers, status.to_string()));
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    assert_eq!(apply.object("ConfigMap", "it")["outcome"], "created", "{apply}");
    assert_eq!(ws.get("ConfigMap", "it")["data"], json!({"a": "b"}));
}

/// A policy that acts on every write, and not on a dry run, as webhooks may.
const SETS_BACK: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: $NS-sets-back}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  matchConditions: [{name: here, expression: \"object.metadata.namespace == '$NS' && !request.dryRun\"}]
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: \"Object{data: {'a': 'theirs'}}\"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: $NS-sets-back}
spec: {policyName: $NS-sets-back}
";

#[test]
fn an_update_that_the_server_takes_back_is_none() {
    if is_before(36, "there is no MutatingAdmissionPolicy in `admissionregistration.k8s.io/v1`") {
        return;
    }
    let ws = Workspace::new();
    ws.stdin(&ws.fill_in(SETS_BACK)).kubectl(["apply", "--server-side", "-f", "-"]).exits_with(0);
    let number = std::cell::Cell::new(0);
    wait_until("the server knows the policy", || {
        number.set(number.get() + 1);
        let name = format!("probe-{}", number.get());
        ws.kubectl(["create", "configmap", &name, "--from-literal=a=b"]).exits_with(0);
        ws.get("ConfigMap", &name)["data"]["a"] == "theirs"
    });
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: ours}}");
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    let apply = ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    ws.kubectl(["delete", "mutatingadmissionpolicybinding,mutatingadmissionpolicy", "$NS-sets-back"]).exits_with(0);
    let object = apply.object("ConfigMap", "it");
    assert_eq!(object["outcome"], "unchanged", "{apply}");
    let said = "warning: the server accepted the update and left the object as it was";
    assert!(apply.stdout.contains("unchanged ConfigMap") && apply.stdout.contains(said), "{apply}");
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
