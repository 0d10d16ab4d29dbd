//! A change that the API refuses because a field cannot change is `replace`; a bad value in the same field is not.

use serde_json::json;

use crate::control_plane::{Replaced, Workspace, is_before};
use crate::manifests::WEB;

/// What in a manifest becomes what.
pub type Edit = (&'static str, &'static str);
/// The kind, the manifest (all are named `it`), an edit of a field that cannot change, that field, and an edit that is merely wrong.
pub type Case = (&'static str, &'static str, Edit, &'static str, Edit);

pub const CASES: [Case; 16] = [
    ("Deployment", WORKLOAD, ("app: old", "app: new"), "spec.selector", ("image: a", "image: ''")),
    ("DaemonSet", WORKLOAD, ("app: old", "app: new"), "spec.selector", ("image: a", "image: ''")),
    ("StatefulSet", WORKLOAD, ("selector", "serviceName: new, selector"), "spec", ("image: a", "image: ''")),
    (
        "Job",
        "{apiVersion: batch/v1, kind: Job, metadata: {name: it}, spec: {parallelism: 1, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}",
        ("image: a", "image: b"),
        "spec.template",
        ("parallelism: 1", "parallelism: -1"),
    ),
    // The labels that the server put into the template go with those that are dropped.
    (
        "Job",
        "{apiVersion: batch/v1, kind: Job, metadata: {name: it}, spec: {parallelism: 1, template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}",
        ("metadata: {labels: {a: b}}, ", ""),
        "spec.template",
        ("parallelism: 1", "parallelism: -1"),
    ),
    (
        "Service",
        "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {clusterIP: 10.0.0.5, ports: [{port: 80}]}}",
        ("clusterIP: 10.0.0.5", "clusterIP: 10.0.0.6"),
        "spec.clusterIP",
        ("port: 80", "port: 0"),
    ),
    (
        "ConfigMap",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, immutable: true, data: {a: b}}",
        ("a: b", "a: c"),
        "data",
        ("name: it", "name: it, finalizers: ['a b']"),
    ),
    (
        "Secret",
        "{apiVersion: v1, kind: Secret, metadata: {name: it}, type: example.com/one, data: {a: aGVsbG8=}}",
        ("example.com/one", "example.com/two"),
        "type",
        ("data: {a", "data: {'!'"),
    ),
    (
        "RoleBinding",
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: it}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a}, subjects: [{kind: ServiceAccount, name: a}]}",
        ("name: a}, subjects", "name: b}, subjects"),
        "roleRef",
        ("ServiceAccount", "Robot"),
    ),
    (
        "PersistentVolumeClaim",
        "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: it}, spec: {storageClassName: a, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
        ("ReadWriteOnce", "ReadWriteMany"),
        "spec",
        ("name: it", "name: it, finalizers: ['a b']"),
    ),
    (
        "StorageClass",
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: $NS-it}, provisioner: example.com/a}",
        ("example.com/a", "example.com/b"),
        "provisioner",
        ("name: $NS-it", "name: $NS-it, finalizers: ['a b']"),
    ),
    (
        "StorageClass",
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: $NS-it}, provisioner: example.com/a, reclaimPolicy: Delete}",
        ("Delete", "Retain"),
        "reclaimPolicy",
        ("Delete", "Burn"),
    ),
    (
        "PriorityClass",
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: $NS-it}, value: 10}",
        ("value: 10", "value: 11"),
        "value",
        ("name: $NS-it", "name: $NS-it, finalizers: ['a b']"),
    ),
    (
        "PersistentVolume",
        "{apiVersion: v1, kind: PersistentVolume, metadata: {name: $NS-it}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, nfs: {server: a, path: /a}}}",
        ("path: /a", "path: /b"),
        "spec.persistentvolumesource",
        ("storage: 1Gi", "storage: -1Gi"),
    ),
    (
        "Pod",
        "{apiVersion: v1, kind: Pod, metadata: {name: it}, spec: {containers: [{name: a, image: a}], hostname: one}}",
        ("hostname: one", "hostname: two"),
        "spec",
        ("image: a", "image: ''"),
    ),
    (
        "IngressClass",
        "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: $NS-it}, spec: {controller: example.com/a}}",
        ("example.com/a", "example.com/b"),
        "spec.controller",
        ("name: $NS-it", "name: $NS-it, finalizers: ['a b']"),
    ),
];

pub const WORKLOAD: &str = "{apiVersion: apps/v1, kind: $KIND, metadata: {name: it}, spec: {selector: {matchLabels: {app: old}}, template: {metadata: {labels: {app: old}}, spec: {containers: [{name: a, image: a}]}}}}";

#[test]
fn a_change_of_an_immutable_field_asks_for_a_replacement() {
    for (kind, manifest, (from, to), field, _) in CASES {
        let ws = Workspace::new();
        let manifest = manifest.replace("$KIND", kind);
        assert!(manifest.contains(from), "{kind}: {from}");
        ws.write("it.yaml", &manifest);
        ws.write("other.yaml", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: other}}");
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.write("it.yaml", &manifest.replaced(from, to));
        ws.write("other.yaml", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: other, labels: {a: b}}}");
        let name = if manifest.contains("$NS-it") { ws.fill_in("$NS-it") } else { "it".to_owned() };

        let diff = ws.reconcile(["diff", "-f", "."]);
        let object = diff.object(kind, &name);
        assert_eq!((diff.code, &object["action"]), (1, &json!("replace")), "{kind}: {object:#}");
        let reason = object["reason"].as_str().unwrap();
        assert!(reason.contains("immutable") && reason.contains(field), "{kind}: {reason}");
        assert!(!object["changes"].as_array().unwrap().is_empty(), "{kind}: {diff}");
        assert_eq!(diff.report()["summary"]["replace"], 1);

        let before = ws.resource_version(kind, &name);
        let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
        assert_eq!(apply.object(kind, &name)["outcome"], "failed", "{apply}");
        assert_eq!(apply.object("ServiceAccount", "other")["outcome"], "updated", "{apply}");
        assert_eq!(ws.resource_version(kind, &name), before, "{kind}");
    }
}

#[test]
fn a_bad_value_in_the_same_kinds_asks_for_none() {
    if is_before(36, "a StatefulSet may be updated to Pods without an image") {
        return;
    }
    for (kind, manifest, _, _, (from, to)) in CASES {
        let ws = Workspace::new();
        // An address of its own would be taken by the other test.
        let manifest = manifest.replace("$KIND", kind).replace("clusterIP: 10.0.0.5, ", "");
        assert!(manifest.contains(from), "{kind}: {from}");
        ws.write("it.yaml", &manifest);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.write("it.yaml", &manifest.replaced(from, to));
        let name = if manifest.contains("$NS-it") { ws.fill_in("$NS-it") } else { "it".to_owned() };
        let diff = ws.reconcile(["diff", "-f", "."]);
        let object = diff.object(kind, &name);
        assert_eq!((diff.code, &object["action"]), (4, &json!("unknown")), "{kind}: {object:#}");
        assert_eq!(object["error"]["reason"], "Invalid", "{kind}: {object:#}");
    }
}

#[test]
fn an_immutable_secret_is_not_shown_by_its_refusal() {
    let ws = Workspace::new();
    let before = ws.secret("unchangeable-morning");
    let after = ws.secret("unchangeable-evening");
    let manifest = |value: &str| {
        format!(
            "{{apiVersion: v1, kind: Secret, metadata: {{name: fixed}}, immutable: true, stringData: {{key: {value}}}}}"
        )
    };
    ws.write("secret.yaml", &manifest(&before));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("secret.yaml", &manifest(&after));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let object = diff.object("Secret", "fixed");
    assert_eq!(object["action"], "replace", "{object:#}");
    let change = diff.change("Secret", "fixed", "data.key");
    assert!(change["live"]["redacted"].is_string() && change["desired"]["redacted"].is_string(), "{change}");
    assert_ne!(change["live"]["redacted"], change["desired"]["redacted"]);
    ws.reconcile(["apply", "-f", "."]).exits_with(4);
}

#[test]
fn the_changes_of_a_replacement_are_those_of_the_manifest() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("web.yaml", &WEB.replaced("app: web", "app: shop"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let object = diff.object("Deployment", "web");
    assert_eq!((&object["action"], &object["evidence"]), (&json!("replace"), &json!("local")));
    assert_eq!(
        diff.changes("Deployment", "web"),
        [
            "pending metadata.labels.app",
            "pending spec.selector.matchLabels.app",
            "pending spec.template.metadata.labels.app"
        ]
    );
    assert!(diff.stdout.contains("spec.selector"), "{diff}");
    assert!(
        diff.stdout.lines().any(|line| line.starts_with("! Deployment") && line.contains("needs replacement")),
        "{diff}"
    );
    assert!(
        diff.stdout.contains("\nnot done: 1 needs --replace=immutable\n") && !diff.stdout.contains("to replace"),
        "{diff}"
    );
    assert_eq!((&object["replacement"], &diff.report()["summary"]["needsReplace"]), (&json!("needsFlag"), &json!(1)));
    let hint = diff.stdout.find("hint: pass `--replace=immutable`").unwrap();
    assert!(diff.stdout.find("spec.selector.matchLabels").unwrap() < hint, "a hint comes after the changes: {diff}");
    // There is nothing to agree to; next to something else, the question counts it apart.
    let confirm = |manifests: &[&str]| {
        let on_terminal = ws.as_user("admin").stdin("n\n").on_terminal();
        on_terminal.reconcile([&["apply", "--confirm"][..], manifests].concat())
    };
    let alone = confirm(&["-f", "web.yaml"]).exits_with(4);
    assert!(!alone.stderr.contains("[y/N]") && alone.stdout.contains("not done: 1 failed"), "{alone}");
    ws.write("new/map.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}");
    let question = confirm(&["-f", "web.yaml", "-f", "new"]).exits_with(1);
    assert!(question.stderr.contains("1 to create") && question.stderr.contains("[y/N]"), "{question}");
    assert!(question.stderr.contains("not done: 1 needs --replace=immutable"), "{question}");
    for format in ["markdown", "html"] {
        let report = ws.reconcile(["diff", "-f", ".", "-o", format]).exits_with(1);
        assert!(report.stdout.contains("needs replacement") && !report.stdout.contains("to replace"), "{report}");
    }
    // With the flag it is something to do.
    let allowed = ws.reconcile(["diff", "-f", ".", "--replace=immutable"]).exits_with(1);
    assert!(allowed.stdout.lines().any(|line| line.starts_with("-/+ Deployment")), "{allowed}");
    assert!(allowed.stdout.contains("1 to replace") && !allowed.stdout.contains("not done"), "{allowed}");
    assert_eq!(allowed.object("Deployment", "web")["replacement"], "allowed");
}

/// The oracle: what the server stores is what was shown.
#[test]
fn all_of_what_will_be_created_is_shown_on_request() {
    let ws = Workspace::new();
    let pin = ws.secret("rutabaga-662");
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {key: \"two\\nlines\"}}");
    ws.write("b.yaml", &format!("{{apiVersion: v1, kind: Secret, metadata: {{name: b}}, stringData: {{pin: {pin}}}}}"));
    let short = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert!(!short.stdout.contains("two"), "{short}");
    let full = ws.reconcile(["diff", "-f", ".", "--full"]).exits_with(1);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let stored = ws.get("ConfigMap", "a")["data"]["key"].clone();
    let lines: Vec<&str> = full.stdout.lines().filter_map(|line| line.strip_prefix("    + ")).collect();
    assert!(lines.contains(&"data:") && lines.contains(&"  key: |-") && stored == "two\nlines", "{full}");
    // The workspace searches every output for the secret.
    assert!(full.stdout.contains("pin: \"***\""), "{full}");
}

/// `data` of a `ControllerRevision` is kept as it was sent. An apply reads it and writes it again, which the server takes for a change.
#[test]
fn a_text_that_an_apply_writes_anew_cannot_be_kept() {
    for data in [r#"{"a":2.0}"#, r#"{"b":1,"a":2}"#] {
        let ws = Workspace::new();
        let sent =
            json!({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "it"}, "revision": 1});
        let sent = sent.to_string().replaced("\"kind\"", &format!("\"data\":{data},\"kind\""));
        let body = ws.write("../it.json", &sent);
        let path = "/apis/apps/v1/namespaces/$NS/controllerrevisions?fieldManager=controller";
        ws.kubectl(["create", "--raw", path, "-f", body.to_str().unwrap()]).exits_with(0);
        // A claim that would pass before the apply.
        let by_hand = r#"[{"op": "add", "path": "/metadata/labels", "value": {"by": "hand"}}]"#;
        ws.kubectl(["patch", "controllerrevision", "it", "--type=json", "-p", by_hand]).exits_with(0);
        let manifest =
            "{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: it, labels: {by: us}}, revision: 1}";
        ws.write("it.yaml", manifest);

        let refused = ws.kubectl(["apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "it.yaml"]);
        assert!(refused.code == 1 && refused.stderr.contains("data: Invalid value"), "{refused}");
        let before = ws.resource_version("ControllerRevision", "it");
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
        assert_eq!(diff.object("ControllerRevision", "it")["action"], "replace", "{diff}");
        ws.reconcile(["apply", "-f", "."]).exits_with(4);
        assert_eq!(ws.resource_version("ControllerRevision", "it"), before);
    }
}

#[test]
fn a_replacement_that_is_not_allowed_is_no_conflict() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.kubectl(["apply", "--server-side", "-f", "."]).exits_with(0);
    ws.write("web.yaml", &WEB.replace("app: web", "app: shop"));
    let needs_flag = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    let failed = "/web: spec.selector is immutable: it has to be deleted and recreated";
    assert!(needs_flag.stdout.contains(failed) && !needs_flag.stdout.contains("because of conflicts"), "{needs_flag}");
    assert_eq!(needs_flag.object("Deployment", "web")["outcome"], "failed");

    // Where it is allowed, only the conflict is in the way.
    let allowed = ws.reconcile(["apply", "-f", ".", "--replace=immutable"]).exits_with(4);
    assert_eq!(allowed.object("Deployment", "web")["outcome"], "conflict");
    assert!(allowed.stdout.contains("/web: other managers own metadata.labels.app, spec.selector"), "{allowed}");
    ws.reconcile(["apply", "-f", ".", "--replace=immutable", "--force-conflicts=all"]).exits_with(0);
}

/// No creation takes them, so that a replacement would fail.
#[test]
fn ephemeral_containers_are_no_reason_for_a_replacement() {
    let ws = Workspace::new();
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: it}, spec: {containers: [{name: a, image: b}]}}";
    ws.write("it.yaml", pod);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &pod.replaced("spec: {", "spec: {ephemeralContainers: [{name: debug, image: b}], "));
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-f", ".", "--replace=immutable"]).exits_with(4);
        let object = run.object("Pod", "it");
        assert_eq!(object["action"], "unknown", "{run}");
        assert!(run.stdout.contains("kubectl debug") && !run.stdout.contains("--replace"), "{run}");
    }
}
