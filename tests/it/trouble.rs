//! One object's trouble is its own: it is named with its reason, and all others are compared and applied.

use serde_json::{Value, json};

use crate::control_plane::{ControlPlane, Fault, Proxy, Run, Workspace};
use crate::manifests::WEB;

/// Nineteen objects that nothing is wrong with.
fn write_nineteen(ws: &Workspace) {
    for number in 1..=19 {
        let manifest =
            format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: good-{number:02}}}, data: {{a: b}}}}");
        ws.write(format!("good-{number:02}.yaml"), &manifest);
    }
}

/// One bad object among twenty: `apply` skips one that could not be compared, and fails to write one that the server rejects.
/// Returns its error.
#[track_caller]
fn leaves_nineteen(ws: &Workspace, call: impl Fn(&str) -> Run, kind: &str, (reason, outcome): (&str, &str)) -> Value {
    let diff = call("diff").exits_with(4);
    let summary = &diff.report()["summary"];
    assert_eq!(
        (&summary["objects"], &summary["create"], &summary["unknown"]),
        (&json!(20), &json!(19), &json!(1)),
        "{diff}"
    );
    assert_eq!(diff.report()["verdict"], "incomplete");
    let bad = diff.object(kind, "bad");
    assert_eq!((&bad["action"], &bad["error"]["reason"]), (&json!("unknown"), &json!(reason)), "{bad:#}");
    assert_eq!(bad.get("evidence"), None);
    let message = bad["error"]["message"].as_str().unwrap();
    assert!(diff.stdout.contains(message), "{diff}");
    for dump in ["RequestError", "StatusError", "Some(", "Box<"] {
        assert!(!message.contains(dump), "{message}");
    }
    let apply = call("apply").exits_with(4);
    let created = apply.each("outcome").iter().filter(|outcome| outcome.ends_with(": created")).count();
    assert_eq!(created, 19, "{apply}");
    assert_eq!(apply.object(kind, "bad")["outcome"], outcome, "{apply}");
    assert_eq!(call("diff").exits_with(4).report()["summary"]["inSync"], 19);
    ws.get("ConfigMap", "good-19");
    bad["error"].clone()
}

#[test]
fn a_forbidden_kind_is_reported_and_the_rest_is_compared() {
    let ws = Workspace::new();
    write_nineteen(&ws);
    ws.write("bad.yaml", "{apiVersion: v1, kind: Secret, metadata: {name: bad}, type: Opaque}");
    ws.allow("editor", "get,list,create,patch", "configmaps");
    let editor = ws.as_user("editor");
    let error =
        leaves_nineteen(&ws, |command| editor.reconcile([command, "-f", "."]), "Secret", ("Forbidden", "skipped"));
    assert!(error["message"].as_str().unwrap().contains("cannot get resource \"secrets\""), "{error}");
}

#[test]
fn an_unknown_kind_is_reported_and_the_rest_is_compared() {
    let ws = Workspace::new();
    write_nineteen(&ws);
    ws.write("bad.yaml", "{apiVersion: example.com/v1, kind: Whatsit, metadata: {name: bad}}");
    leaves_nineteen(&ws, |command| ws.reconcile([command, "-f", "."]), "Whatsit", ("UnknownKind", "skipped"));
}

#[test]
fn an_unknown_version_of_a_known_kind_is_recognised() {
    let ws = Workspace::new();
    ws.write("bad.yaml", "{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: bad}}");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    let error = &diff.object("Deployment", "bad")["error"];
    assert_eq!(error["reason"], "UnknownKind");
    assert!(error["hint"].as_str().unwrap().contains("apps/v1"), "{error}");
}

#[test]
fn the_kind_that_was_meant_is_named() {
    let ws = Workspace::new();
    for (written, meant) in [
        ("{apiVersion: apps/v1, kind: Deploymnet, metadata: {name: bad}}", "`Deployment`"),
        ("{apiVersion: v1, kind: configmap, metadata: {name: bad}}", "`ConfigMap`"),
        ("{apiVersion: networking.k8s.io/v1, kind: Ingres, metadata: {name: bad}}", "`Ingress`"),
        ("{apiVersion: v1, kind: Whatsit, metadata: {name: bad}}", "check `apiVersion` and `kind`"),
        ("{apiVersion: example.com/v1, kind: Whatsit, metadata: {name: bad}}", "CustomResourceDefinition"),
    ] {
        ws.write("bad.yaml", written);
        let diff = ws.reconcile(["diff", "-f", "bad.yaml"]).exits_with(4);
        let error = &diff.report()["objects"][0]["error"];
        assert_eq!(error["reason"], "UnknownKind");
        assert!(error["hint"].as_str().unwrap().contains(meant), "{error}");
    }
    let long = format!("{{apiVersion: v1, kind: {}, metadata: {{name: bad}}}}", "Pod".repeat(10_000));
    ws.write("bad.yaml", &long);
    ws.reconcile(["diff", "-f", "bad.yaml"]);
}

#[test]
fn an_unknown_field_is_reported_and_the_rest_is_compared() {
    let ws = Workspace::new();
    write_nineteen(&ws);
    ws.write("bad.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, dta: {a: b}}");
    let error = leaves_nineteen(&ws, |command| ws.reconcile([command, "-f", "."]), "ConfigMap", ("Invalid", "failed"));
    assert!(error["message"].as_str().unwrap().contains("dta"), "{error}");
}

#[test]
fn a_value_of_the_wrong_type_is_reported_and_the_rest_is_compared() {
    let ws = Workspace::new();
    write_nineteen(&ws);
    ws.write("bad.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, data: {port: 8080}}");
    let error = leaves_nineteen(&ws, |command| ws.reconcile([command, "-f", "."]), "ConfigMap", ("Invalid", "failed"));
    assert!(error["message"].as_str().unwrap().contains("data.port"), "{error}");
}

#[test]
fn a_value_that_validation_refuses_is_reported_and_the_rest_is_compared() {
    let ws = Workspace::new();
    write_nineteen(&ws);
    ws.write("bad.yaml", "{apiVersion: v1, kind: Service, metadata: {name: bad}, spec: {ports: [{port: 99999}]}}");
    let error = leaves_nineteen(&ws, |command| ws.reconcile([command, "-f", "."]), "Service", ("Invalid", "failed"));
    assert!(error["message"].as_str().unwrap().contains("spec.ports[port=99999,protocol=TCP].port"), "{error}");
}

#[test]
fn a_user_who_may_only_read_gets_a_comparison_without_the_server() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.allow("reader", "get,list", "deployments.apps");
    let reader = ws.as_user("reader");
    reader.reconcile(["diff", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 5);
    let diff = reader.reconcile(["diff", "-f", "."]).exits_with(1);
    let web = diff.object("Deployment", "web");
    assert_eq!((&web["action"], &web["evidence"]), (&json!("update"), &json!("local")), "{web:#}");
    assert!(web["warnings"][0].as_str().unwrap().contains("cannot patch resource"), "{web:#}");
    assert_eq!(diff.changes("Deployment", "web"), ["changedByOther spec.replicas"]);
    let apply = reader.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "failed");
    assert_eq!(apply.object("Deployment", "web")["error"]["reason"], "Forbidden");
}

#[test]
fn a_user_who_may_nothing_is_incomplete_and_not_unreachable() {
    let ws = Workspace::new();
    write_nineteen(&ws);
    let run = ws.as_user("limited").reconcile(["diff", "-f", "."]).exits_with(4);
    assert_eq!(run.report()["summary"]["unknown"], 19, "{run}");
    let run = ws.as_user("limited").reconcile(["apply", "-f", "."]).exits_with(4);
    assert!(run.each("outcome").iter().all(|outcome| outcome.ends_with(": skipped")), "{run}");
}

#[test]
fn where_listing_is_forbidden_objects_are_read_by_name() {
    let ws = Workspace::new();
    write_nineteen(&ws);
    ws.allow("editor", "get,create,patch", "configmaps");
    let editor = ws.as_user("editor");
    editor.reconcile(["apply", "-f", "."]).exits_with(0);
    let diff = editor.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.report()["summary"]["inSync"], 19);
}

#[test]
fn an_object_under_deletion_is_unknown() {
    let ws = Workspace::new();
    write_nineteen(&ws);
    let bad = "{apiVersion: v1, kind: ConfigMap, metadata: {name: bad, finalizers: [example.com/hold]}, data: {a: b}}";
    ws.write("bad.yaml", bad);
    ws.kubectl(["create", "-f", "bad.yaml"]).exits_with(0);
    ws.delete("configmap/bad");
    let before = ws.resource_version("ConfigMap", "bad");
    let error =
        leaves_nineteen(&ws, |command| ws.reconcile([command, "-f", "."]), "ConfigMap", ("Terminating", "skipped"));
    assert!(error["hint"].as_str().unwrap().contains("run again"), "{error}");
    assert_eq!(ws.resource_version("ConfigMap", "bad"), before);
}

#[test]
fn a_webhook_that_cannot_be_called_is_named() {
    let ws = Workspace::new();
    write_nineteen(&ws);
    let webhook = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: $NS-guard}
webhooks:
- name: guard.$NS.example.com
  clientConfig: {url: 'https://127.0.0.1:1/'}
  rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
  objectSelector: {matchLabels: {guarded: 'yes'}}
  sideEffects: None
  admissionReviewVersions: [v1]
";
    ws.stdin(webhook).kubectl(["create", "-f", "-"]).exits_with(0);
    ws.write("bad.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: bad, labels: {guarded: 'yes'}}}");
    let error =
        leaves_nineteen(&ws, |command| ws.reconcile([command, "-f", "."]), "ConfigMap", ("InternalError", "failed"));
    assert!(error["message"].as_str().unwrap().contains(&ws.fill_in("guard.$NS.example.com")), "{error}");
    ws.kubectl(["delete", "validatingwebhookconfiguration", "$NS-guard"]).exits_with(0);
}

/// The answer for a webhook that takes no dry runs, in the words of `k8s.io/apiserver` `webhook/mutating/dispatcher.go`;
/// `admissionregistration.k8s.io/v1` has no way to configure one.
fn no_dry_run() -> Fault {
    let message = "admission webhook \"guard.example.com\" does not support dry run";
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "BadRequest", "code": 400, "message": message});
    let headers = vec![("Content-Type", "application/json".to_owned())];
    Fault::Answer(400, headers, status.to_string())
}

#[test]
fn a_webhook_that_refuses_dry_runs_leaves_a_comparison_without_the_server() {
    let ws = Workspace::new();
    ws.write("bad.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, data: {a: b}}");
    ws.kubectl(["create", "configmap", "bad", "--from-literal=a=c"]).exits_with(0);
    let proxy = Proxy::new(&ws);
    proxy.inject(9, "PATCH", "configmaps/bad dryRun", no_dry_run());
    let caller = ws.through(&proxy.url());
    let diff = caller.reconcile(["diff", "-f", "."]).exits_with(1);
    let bad = diff.object("ConfigMap", "bad");
    assert_eq!(bad["evidence"], "local");
    assert!(bad["warnings"][0].as_str().unwrap().contains("guard.example.com"), "{bad:#}");
    assert_eq!(diff.changes("ConfigMap", "bad"), ["unrecorded data.a"]);
    caller.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "bad")["data"], json!({"a": "b"}));
}

/// Admission comes after the types, so that a webhook's answer says that the server knows the field, even if its documents do not yet.
#[test]
fn what_a_webhook_was_asked_about_fits_its_type() {
    let ws = Workspace::new();
    ws.define("Cog", "properties: {size: {type: integer}}");
    ws.write("cog.yaml", "{apiVersion: $NS.example.com/v1, kind: Cog, metadata: {name: a}, spec: {size: 1}}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("cog.yaml", "{apiVersion: $NS.example.com/v1, kind: Cog, metadata: {name: a}, spec: {size: 1, teeth: 7}}");
    ws.write("new.yaml", "{apiVersion: $NS.example.com/v1, kind: Cog, metadata: {name: b}, spec: {teeth: 7}}");
    let proxy = Proxy::new(&ws);
    proxy.inject(9, "PATCH", "dryRun", no_dry_run());
    let diff = ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.each("action"), ["Cog a: update", "Cog b: create"], "{diff}");
}

#[test]
fn a_group_whose_api_service_is_down_is_unavailable_and_not_unknown() {
    let ws = Workspace::on(&ControlPlane::private());
    write_nineteen(&ws);
    let service = "
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.metrics.example.com}
spec:
  group: metrics.example.com
  version: v1
  service: {name: nobody, namespace: default}
  insecureSkipTLSVerify: true
  groupPriorityMinimum: 100
  versionPriority: 100
";
    ws.stdin(service).kubectl(["create", "-f", "-"]).exits_with(0);
    let flags = ["--for=condition=Available=false", "--timeout=20s"];
    ws.kubectl([&["wait", "apiservice/v1.metrics.example.com"][..], &flags].concat()).exits_with(0);
    ws.write("bad.yaml", "{apiVersion: metrics.example.com/v1, kind: Gauge, metadata: {name: bad}}");
    let call = |command: &str| ws.reconcile([command, "-f", "."]);
    let error = leaves_nineteen(&ws, call, "Gauge", ("ServiceUnavailable", "skipped"));
    assert!(error["message"].as_str().unwrap().contains("metrics.example.com/v1"), "{error}");
}

#[test]
fn a_quota_that_is_used_up_is_the_objects_own_trouble() {
    let ws = Workspace::new();
    let quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {count/services: 0}}}";
    ws.stdin(quota).kubectl(["create", "-f", "-"]).exits_with(0);
    // What the controller would do, which the tests' API server comes without.
    let status = json!({"status": {"hard": {"count/services": "0"}, "used": {"count/services": "0"}}}).to_string();
    let patch = ["patch", "resourcequota/none", "--subresource=status", "--type=merge", "-p", &status];
    ws.kubectl(patch).exits_with(0);
    write_nineteen(&ws);
    ws.write(
        "bad.yaml",
        "{apiVersion: v1, kind: Service, metadata: {name: bad}, spec: {clusterIP: None, ports: [{port: 80}]}}",
    );
    let error = leaves_nineteen(&ws, |command| ws.reconcile([command, "-f", "."]), "Service", ("Forbidden", "failed"));
    assert!(error["message"].as_str().unwrap().contains("quota"), "{error}");
}
