//! The side that changed: a pull request is not drift.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};
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

/// The changes of an object by path: the class of each.
fn classes(run: &Run, kind: &str, name: &str) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let changes = run.object(kind, name)["changes"].as_array().expect("changes").clone();
    changes.iter().map(|change| (text(&change["path"]), text(&change["class"]))).collect()
}

/// A Deployment with a second container, which has a variable without a text.
fn with_empty_value() -> String {
    let log = "{name: log, image: 'shop/log:1', env: [{name: EMPTY, value: ''}, {name: A, value: '1'}]}";
    PROBED.replaced("{port: 80}}}]", &format!("{{port: 80}}}}}}, {log}]"))
}

/// The server does not store the empty value of a variable, and does not forget our claim on it either.
#[test]
fn what_is_gone_with_an_empty_value_is_no_change_of_the_manifests() {
    let log = "spec.template.spec.containers[name=log]";
    let containers = "/spec/template/spec/containers";
    for (removed, path) in
        [("/1", log), ("/1/env", &format!("{log}.env")), ("/1/env/0", &format!("{log}.env[name=EMPTY]"))]
    {
        let ws = Workspace::new();
        ws.write("web.yaml", &with_empty_value());
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        let patch = json!([{"op": "remove", "path": format!("{containers}{removed}")}]).to_string();
        ws.kubectl(["patch", "deployment/web", "--type=json", "-p", &patch]).exits_with(0);
        for evidence in ["--evidence=auto", "--evidence=read-only"] {
            let diff = ws.reconcile(["diff", "-f", ".", evidence, "--fail-on=cluster,either"]).exits_with(1);
            assert_eq!(
                classes(&diff, "Deployment", "web"),
                [(path.to_owned(), "absent".to_owned())].into(),
                "{evidence}"
            );
        }
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.reconcile(["diff", "-f", "."]).exits_with(0);
    }
}

/// The record of an apply keeps the keys of `stringData`, whatever becomes of them in `data`.
#[test]
fn what_is_gone_from_the_texts_of_a_secret_is_no_change_of_the_manifests() {
    let secret = |texts: &str| {
        format!(
            "{{apiVersion: v1, kind: Secret, metadata: {{name: login}}, data: {{a: YQ==}}, stringData: {{{texts}}}}}"
        )
    };
    for client_side in [false, true] {
        for (removed, gone) in [("/data/pass", &["data.pass"][..]), ("/data", &["data.a", "data.pass", "data.user"])] {
            let ws = Workspace::new();
            ws.write("login.yaml", &secret("user: admin, pass: of-nobody"));
            if client_side {
                ws.kubectl(["apply", "-f", "login.yaml"]).exits_with(0);
            } else {
                ws.reconcile(["apply", "-f", "."]).exits_with(0);
            }
            let patch = json!([{"op": "remove", "path": removed}]).to_string();
            ws.kubectl(["patch", "secret/login", "--type=json", "-p", &patch]).exits_with(0);
            for evidence in ["--evidence=auto", "--evidence=read-only"] {
                let diff = ws.reconcile(["diff", "-f", ".", evidence, "--fail-on=cluster,either"]).exits_with(1);
                let expected = gone.iter().map(|path| ((*path).to_owned(), "absent".to_owned())).collect();
                assert_eq!(classes(&diff, "Secret", "login"), expected, "{evidence}, {client_side}: {diff}");
            }
            ws.reconcile(["apply", "-f", ".", "--only", "manifest"]).exits_with(0);
            ws.reconcile(["diff", "-f", ".", "--fail-on=cluster,either"]).exits_with(1);
            ws.reconcile(["apply", "-f", ".", "--only", "cluster,either"]).exits_with(0);
            ws.reconcile(["diff", "-f", "."]).exits_with(0);
        }
    }
}

/// A claim on a value that is stored says that it was never there.
#[test]
fn a_value_in_the_place_of_an_empty_one_is_a_change_of_the_manifests() {
    let ws = Workspace::new();
    ws.write("web.yaml", &with_empty_value());
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("web.yaml", &with_empty_value().replaced("value: ''", "value: now"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let path = "spec.template.spec.containers[name=log].env[name=EMPTY].value";
    assert_eq!(classes(&diff, "Deployment", "web"), [(path.to_owned(), "pending".to_owned())].into());
    ws.reconcile(["diff", "-f", ".", "--fail-on=cluster,either"]).exits_with(0);
}

const PROBED: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: $NS}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'shop/web:1', livenessProbe: {tcpSocket: {port: 80}}}]}
";
const PROBE: &str = "spec.template.spec.containers[name=web].livenessProbe";

/// Nothing records who removed a field that only others applied before: it is no change of the manifests.
#[test]
fn a_removed_field_of_an_object_that_we_never_applied_is_of_an_unknown_side() {
    for write in [&["create"][..], &["apply", "--server-side", "--field-manager=kubectl"], &["apply"]] {
        let ws = Workspace::new();
        ws.write("web.yaml", PROBED);
        ws.kubectl([write, &["-f", "web.yaml"]].concat()).exits_with(0);
        let remove = json!([{"op": "remove", "path": "/spec/template/spec/containers/0/livenessProbe"}]).to_string();
        ws.kubectl(["patch", "deployment/web", "--type=json", "-p", &remove]).exits_with(0);
        let diff = ws.reconcile(["diff", "-f", ".", "--fail-on", "cluster,either"]).exits_with(1);
        assert_eq!(diff.object("Deployment", "web")["side"], "either", "{write:?}: {diff}");
        let expected = if write == ["apply"] { "absent" } else { "unrecorded" };
        assert_eq!(classes(&diff, "Deployment", "web")[PROBE], expected, "{write:?}");
        assert!(diff.stdout.contains("changed on an unknown side"), "{diff}");
        ws.reconcile(["diff", "-f", ".", "--fail-on", "manifest"]).exits_with(0);
        ws.reconcile(["diff", "-f", ".", "--fail-on", "unrecorded,absent"]).exits_with(1);
    }
}

#[test]
fn without_a_record_of_owners_no_side_is_claimed() {
    let ws = applied();
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:9"]).exits_with(0);
    let reset = json!({"metadata": {"managedFields": [{}]}}).to_string();
    ws.kubectl(["patch", "deployment/web", "--type=merge", "-p", &reset]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object("Deployment", "web")["side"], "either", "{diff}");
    // What `kubectl get -o yaml` prints has no record either.
    let live = ws.kubectl(["get", "deployment/web", "configmap/settings", "-o", "yaml"]).exits_with(0).stdout;
    ws.write("live/live.yaml", &live);
    ws.write("settings.yaml", &SETTINGS.replaced("a: '1'", "a: '9'"));
    let diff =
        ws.reconcile(["diff", "-f", "web.yaml", "-f", "settings.yaml", "--live", "live/live.yaml"]).exits_with(1);
    assert_eq!(
        diff.report()["summary"]["sides"],
        json!({"manifest": 0, "cluster": 0, "either": 2, "both": 0}),
        "{diff}"
    );
}

/// `kubectl patch` changes the type of a Service, and the server sets ports and policies because of it.
#[test]
fn what_the_server_changes_because_of_another_field_has_no_side() {
    let ws = Workspace::new();
    ws.write("s.yaml", "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {selector: {app: web}, type: ClusterIP, ports: [{port: 80}]}}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.kubectl(["patch", "service/s", "-p", r#"{"spec":{"type":"NodePort"}}"#]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let port = "spec.ports[port=80,protocol=TCP].nodePort";
    assert_eq!(classes(&diff, "Service", "s")[port], "consequence", "{diff}");
    assert_eq!(diff.object("Service", "s")["side"], "cluster", "{diff}");
    assert!(!diff.stdout.contains("no longer in the manifest"), "{diff}");
    ws.reconcile(["diff", "-f", ".", "--fail-on", "manifest"]).exits_with(0);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn a_duplicate_that_somebody_added_to_a_list_is_a_change_in_the_cluster() {
    let ws = Workspace::new();
    let env = "image: 'shop/web:1', env: [{name: A, value: '1'}, {name: B, value: '2'}]";
    ws.write("web.yaml", &PROBED.replaced("image: 'shop/web:1'", env));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let add =
        json!([{"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "A", "value": "3"}}]);
    ws.kubectl(["patch", "deployment/web", "--type=json", "-p", &add.to_string()]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", ".", "--fail-on", "manual"]).exits_with(1);
    let object = diff.object("Deployment", "web");
    assert_eq!(
        (&object["side"], &object["changes"][0]["class"]),
        (&json!("cluster"), &json!("changedByOther")),
        "{diff}"
    );
    assert_eq!(object["changes"][0]["managers"][0]["manager"], "kubectl-patch", "{diff}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

/// The manifest that client-side apply applied last is known as a whole.
#[test]
fn a_field_that_client_side_apply_never_had_is_new_in_the_manifest() {
    let ws = Workspace::new();
    ws.write("web.yaml", PROBED);
    ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
    ws.write(
        "web.yaml",
        &PROBED.replaced("spec:\n  selector", "spec:\n  replicas: 3\n  minReadySeconds: 4\n  selector"),
    );
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let found = classes(&diff, "Deployment", "web");
    assert_eq!((&*found["spec.replicas"], &*found["spec.minReadySeconds"]), ("pending", "pending"), "{diff}");
    assert_eq!(diff.object("Deployment", "web")["side"], "manifest", "{diff}");
}

/// The client that creates an object also owns what the server sets in it then.
#[test]
fn a_default_of_the_creation_that_goes_with_another_field_is_no_change_of_the_cluster() {
    let ws = Workspace::new();
    ws.stdin(PROBED).kubectl(["create", "-f", "-"]).exits_with(0);
    ws.write("base.yaml", PROBED);
    ws.write("web.yaml", &PROBED.replaced("spec:\n  selector", "spec:\n  strategy: {type: Recreate}\n  selector"));
    let diff = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
    let found = classes(&diff, "Deployment", "web");
    assert_eq!(found["spec.strategy.type"], "unrecorded", "{diff}");
    assert_ne!(found["spec.strategy.rollingUpdate"], "changedByOther", "{diff}");
    assert_eq!(diff.object("Deployment", "web")["side"], "either", "{diff}");
    ws.reconcile(["diff", "-f", "web.yaml", "--fail-on", "cluster"]).exits_with(0);
    let based = ws.reconcile(["diff", "-f", "web.yaml", "--base", "base.yaml"]).exits_with(1);
    assert_eq!(based.object("Deployment", "web")["side"], "manifest", "{based}");
    // Somebody who changes a part of it is another owner.
    ws.patch_as("kubectl-edit", "deployment/web", &json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 1}}}}));
    let diff = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
    assert_eq!(classes(&diff, "Deployment", "web")["spec.strategy.rollingUpdate"], "changedByOther", "{diff}");
}

/// A record of owners says who set a value, and not whether the manifest has moved since.
#[test]
fn an_owner_that_set_nothing_since_the_last_apply_is_no_change_of_the_cluster() {
    // `kubectl create` never writes an object again.
    let ws = Workspace::new();
    ws.write("settings.yaml", SETTINGS);
    ws.kubectl(["create", "-f", "settings.yaml"]).exits_with(0);
    let moved = SETTINGS.replaced("a: '1'", "a: '9'");
    ws.write("settings.yaml", &moved);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(classes(&diff, "ConfigMap", "settings")["data.a"], "unrecorded", "{diff}");
    assert_eq!(diff.object("ConfigMap", "settings")["side"], "either", "{diff}");
    ws.reconcile(["diff", "-f", ".", "--fail-on", "cluster,either"]).exits_with(1);
    ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"a": "7"}}));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", "settings")["side"], "cluster", "{diff}");

    // What client-side apply applied last is live, also if another manager has set it.
    ws.write("settings.yaml", &SETTINGS.replaced("a: '1'", "a: '7'"));
    ws.kubectl(["apply", "-f", "settings.yaml"]).exits_with(0);
    ws.write("settings.yaml", &moved);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(classes(&diff, "ConfigMap", "settings")["data.a"], "pending", "{diff}");
    assert_eq!(diff.object("ConfigMap", "settings")["side"], "manifest", "{diff}");

    // An applier with the value that we have applied takes part in it.
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.apply_as(
        "gitops",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: $NS}, data: {a: '9'}}",
    );
    ws.write("settings.yaml", SETTINGS);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(classes(&diff, "ConfigMap", "settings")["data.a"], "conflict", "{diff}");
    assert_eq!(diff.object("ConfigMap", "settings")["side"], "either", "{diff}");
    ws.apply_as(
        "gitops",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: $NS}, data: {a: '8'}}",
    );
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", "settings")["side"], "cluster", "{diff}");
}

/// An entry of a map that is replaced as a whole is no change of the cluster if the manifest drops it.
#[test]
fn what_only_the_manifest_of_client_side_apply_drops_is_pruned() {
    let ws = Workspace::new();
    let selecting = PROBED.replaced("spec: {containers", "spec: {nodeSelector: {disk: ssd, zone: a}, containers");
    ws.write("web.yaml", &selecting);
    ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
    ws.write("web.yaml", &selecting.replaced("disk: ssd, zone: a", "disk: ssd"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(classes(&diff, "Deployment", "web")["spec.template.spec.nodeSelector.zone"], "pruned", "{diff}");
    assert_eq!(diff.object("Deployment", "web")["side"], "manifest", "{diff}");
    // An item that the manifest drops, and of which somebody has changed a part.
    let env = "image: 'shop/web:1', env: [{name: A, value: '1'}, {name: B, value: '2'}]";
    ws.write("web.yaml", &PROBED.replaced("image: 'shop/web:1'", env));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.kubectl(["set", "env", "deployment/web", "B=9"]).exits_with(0);
    ws.write("web.yaml", &PROBED.replaced("image: 'shop/web:1'", "image: 'shop/web:1', env: [{name: A, value: '1'}]"));
    let diff = ws.reconcile(["diff", "-f", ".", "--fail-on", "cluster,either"]).exits_with(1);
    assert_eq!(diff.object("Deployment", "web")["side"], "either", "{diff}");
}

/// Resets the records of the Deployment `web`. The server begins them anew with the next apply: `before-first-apply` owns what is there.
pub fn begin_records_anew(ws: &Workspace) {
    let reset = r#"[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]"#;
    ws.kubectl(["patch", "deployment/web", "--type=json", "-p", reset]).exits_with(0);
    let label =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"a": "b"}}});
    let path = ws.fill_in("/apis/apps/v1/namespaces/$NS/deployments/web?fieldManager=other-applier");
    ws.plane().api().write(Method::PATCH, &path, "application/apply-patch+yaml", &label).unwrap();
}

/// The records are reset and begin anew: the copy of client-side apply still tells that somebody changed the value since.
#[test]
fn what_the_manifest_drops_after_somebody_changed_it_is_of_an_unknown_side() {
    let ws = Workspace::new();
    let with = |fields: &str| PROBED.replaced("spec:\n", &format!("spec:\n  {fields}\n"));
    ws.write("web.yaml", &with("minReadySeconds: 5"));
    ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
    ws.kubectl(["patch", "deployment/web", "-p", r#"{"spec": {"minReadySeconds": 9}}"#]).exits_with(0);
    begin_records_anew(&ws);
    ws.write("web.yaml", PROBED);
    let diff = ws.reconcile(["diff", "-f", "web.yaml", "--fail-on", "cluster,either"]).exits_with(1);
    let change = diff.change("Deployment", "web", "spec.minReadySeconds");
    assert_eq!([&change["class"], &change["side"]], ["pruned", "either"], "{diff}");
}

/// Client-side apply owns the defaults of the objects that it created. One that the server refuses beside the manifest goes with the change.
#[test]
fn a_default_of_client_side_apply_that_goes_with_another_field_is_a_consequence() {
    let ws = Workspace::new();
    ws.write("web.yaml", PROBED);
    ws.kubectl(["apply", "-f", "web.yaml"]).exits_with(0);
    ws.write("web.yaml", &PROBED.replaced("spec:\n  selector", "spec:\n  strategy: {type: Recreate}\n  selector"));
    let diff = ws.reconcile(["diff", "-f", ".", "--fail-on", "cluster,either"]).exits_with(0);
    let found = classes(&diff, "Deployment", "web");
    assert_eq!(found["spec.strategy.rollingUpdate"], "consequence", "{diff}");
    assert_eq!(found["spec.strategy.type"], "pending", "{diff}");
    assert_eq!(diff.object("Deployment", "web")["side"], "manifest", "{diff}");
    // What somebody set in it is a change of the cluster.
    ws.kubectl(["patch", "deployment/web", "-p", r#"{"spec":{"strategy":{"rollingUpdate":{"maxSurge":3}}}}"#])
        .exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(classes(&diff, "Deployment", "web")["spec.strategy.rollingUpdate"], "changedByOther", "{diff}");
}

/// The server sets the account again by its deprecated name, and keeps the address of a Service: no manager owns them any more.
#[test]
fn what_the_manifest_drops_and_the_server_keeps_is_named_once() {
    let service = "
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {clusterIP: None, sessionAffinity: None, selector: {app: web}, ports: [{port: 80, protocol: TCP}]}
";
    let dropped = "terminationGracePeriodSeconds: 30, serviceAccountName: mine, ";
    let ws = Workspace::new();
    ws.write("web.yaml", &PROBED.replaced("spec: {containers", &format!("spec: {{{dropped}containers")));
    ws.write("service.yaml", service);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("web.yaml", PROBED);
    let fewer = service.replaced("clusterIP: None, sessionAffinity: None, ", "").replaced(", protocol: TCP", "");
    ws.write("service.yaml", &fewer);
    let why = "is no longer in the manifest and stays: the server keeps it when an apply gives it up";
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-f", "."]).exits_with(0);
        for (kind, path) in [("Deployment", "spec.template.spec.serviceAccountName"), ("Service", "spec.clusterIP")] {
            let warnings = &run.object(kind, "web")["warnings"];
            assert_eq!(*warnings, json!([format!("`{path}` {why}")]), "{run}");
        }
    }
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert!(!diff.stdout.contains("no longer") && !diff.stderr.contains("no longer"), "{diff}");
}

/// The server sets `allocateLoadBalancerNodePorts` with the type that somebody chose, and takes it out with that type.
#[test]
fn a_default_of_a_hand_edit_goes_with_it() {
    let service = |kind: &str| {
        format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: web}}, spec: {{type: {kind}, selector: {{app: web}}, ports: [{{port: 80}}]}}}}"
        )
    };
    let ws = Workspace::new();
    ws.write("old/web.yaml", &service("NodePort"));
    ws.write("new/web.yaml", &service("ClusterIP"));
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    ws.kubectl(["patch", "service/web", "-p", r#"{"spec": {"type": "LoadBalancer"}}"#]).exits_with(0);
    let path = "spec.allocateLoadBalancerNodePorts";
    for flags in [&["-f", "old"][..], &["-f", "new", "--base", "old"]] {
        let diff = ws.reconcile([&["diff"], flags].concat()).exits_with(1);
        assert_eq!(classes(&diff, "Service", "web")[path], "consequence", "{diff}");
    }
    ws.reconcile(["pull", "-f", "old"]).exits_with(0);
    let manifest = std::fs::read_to_string(ws.folder().join("old/web.yaml")).expect("a manifest");
    assert!(manifest.contains("type: LoadBalancer") && !manifest.contains("allocate"), "{manifest}");
    ws.reconcile(["diff", "-f", "old", "--fail-on=drift,manual"]).exits_with(0);
    ws.reconcile(["apply", "-f", "new", "--base", "old"]).exits_with(0);
    ws.reconcile(["diff", "-f", "new"]).exits_with(0);
}
