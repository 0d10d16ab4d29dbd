//! What was added by hand counts wherever it is, and as long as it is nowhere else: in a list whose order differs, beside what rules
//! ignore, and after the manifest has it as well.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Workspace};
use crate::manifests::WEB;

const SERVICE: &str = "
apiVersion: v1
kind: Service
metadata: {name: web, finalizers: [example.com/a, example.com/b]}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80}, {name: https, port: 443}]
";

fn patched(ws: &Workspace, object: &str, patch: &Value) {
    ws.kubectl(["patch", object, "--type=json", "-p", &patch.to_string()]).exits_with(0);
}

fn replaced_by(ws: &Workspace, object: &Value) {
    ws.stdin(&object.to_string()).kubectl(["replace", "-f", "-"]).exits_with(0);
}

/// The additions of a comparison in which all of them are shown, with the value of each and the items among them.
fn additions(ws: &Workspace, kind: &str, code: i32) -> (BTreeSet<String>, Value) {
    let run =
        ws.reconcile(["diff", "-f", "web.yaml", "--show-unmanaged", "--fail-on=manual", "-o", "json"]).exits_with(code);
    let object = run.object(kind, "web");
    let changes = object["changes"].as_array().into_iter().flatten();
    let added = changes.filter(|change| change["class"] == "unmanaged");
    (added.map(|change| format!("{} {}", change["path"], change["live"])).collect(), object["addedItems"].clone())
}

fn written(ws: &Workspace) -> String {
    fs::read_to_string(ws.folder().join("web.yaml")).unwrap()
}

#[track_caller]
fn adds_nothing(ws: &Workspace) {
    let run = ws.reconcile(["diff", "-f", "web.yaml", "--fail-on=manual,drift", "-o", "json"]).exits_with(0);
    assert_eq!(run.report()["summary"]["unmanagedManual"], 0, "{run}");
    let pull = ws.reconcile(["pull", "-f", "web.yaml", "--class", "unmanaged"]).exits_with(0);
    assert!(pull.stdout.contains("nothing to pull"), "{pull}");
}

#[test]
fn additions_to_lists_in_another_order_are_seen() {
    let of_pod = |ws: &Workspace| {
        let mut live = ws.get("Deployment", "web");
        let containers = live["spec"]["template"]["spec"]["containers"].as_array_mut().unwrap();
        containers.reverse();
        containers[1]["securityContext"] = json!({"privileged": true});
        let env = containers[1]["env"].as_array_mut().unwrap();
        env.reverse();
        env.push(json!({"name": "LD_PRELOAD", "value": "/tmp/x.so"}));
        containers.push(json!({"name": "evil", "image": "evil:1"}));
        live
    };
    let of_service = |ws: &Workspace| {
        let mut live = ws.get("Service", "web");
        live["metadata"]["finalizers"] = json!(["example.com/b", "example.com/a", "example.com/evil"]);
        let ports = live["spec"]["ports"].as_array_mut().unwrap();
        ports.reverse();
        ports.push(json!({"name": "evil", "port": 31337}));
        live
    };
    let cases: [(&str, &str, &[&str]); 2] = [
        ("Deployment", WEB, &["securityContext", "LD_PRELOAD", "evil"]),
        ("Service", SERVICE, &["example.com/evil", "31337"]),
    ];
    for (kind, manifest, named) in cases {
        let ws = Workspace::new();
        ws.write("web.yaml", manifest);
        ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
        let edited = if kind == "Deployment" { of_pod(&ws) } else { of_service(&ws) };
        replaced_by(&ws, &edited);
        ws.reconcile(["diff", "-f", "web.yaml", "--fail-on=unmanaged"]).exits_with(1);
        let text = ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1).stdout;
        assert!(text.contains("order only") && text.contains("added by hand"), "{text}");
        let before = additions(&ws, kind, 1);
        for name in named {
            assert!(before.0.iter().any(|added| added.contains(name)), "{name}: {before:?}");
        }
        let mut edited = ws.get(kind, "web");
        for field in ["resourceVersion", "managedFields"] {
            edited["metadata"].as_object_mut().unwrap().remove(field);
        }
        // An apply settles the order, and leaves the additions.
        ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
        assert_eq!(additions(&ws, kind, 1), before);
        if kind == "Deployment" {
            replaced_by(&ws, &edited);
            ws.reconcile(["pull", "-f", "web.yaml", "--class", "unmanaged"]).exits_with(0);
            ws.reconcile(["pull", "-f", "web.yaml", "--class", "reordered"]).exits_with(0);
            let containers = containers(&ws);
            let names: Vec<&Value> = containers.iter().map(|container| &container["name"]).collect();
            assert_eq!(names, ["proxy", "web", "evil"], "{containers:#?}");
            assert_eq!(containers[1]["securityContext"], json!({"privileged": true}), "{containers:#?}");
            let env: Vec<&Value> =
                containers[1]["env"].as_array().unwrap().iter().map(|variable| &variable["name"]).collect();
            assert_eq!(env, ["LANG", "LOG", "LD_PRELOAD"], "{containers:#?}");
            adds_nothing(&ws);
        }
    }
}

fn containers(ws: &Workspace) -> Vec<Value> {
    let read = kube_yaml::read(written(ws).as_bytes(), kube_yaml::Validation::Strict);
    read.documents[0].value["spec"]["template"]["spec"]["containers"].as_array().unwrap().clone()
}

#[test]
fn an_order_and_what_was_added_to_an_item_are_pulled_at_once() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    let mut live = ws.get("Deployment", "web");
    let pod = live["spec"]["template"]["spec"]["containers"].as_array_mut().unwrap();
    pod.reverse();
    pod[1]["securityContext"] = json!({"privileged": true});
    pod[1]["env"].as_array_mut().unwrap().reverse();
    replaced_by(&ws, &live);
    ws.reconcile(["pull", "-f", "web.yaml", "--class", "unmanaged,reordered"]).exits_with(0);
    let containers = containers(&ws);
    assert_eq!(containers[1]["securityContext"], json!({"privileged": true}), "{containers:#?}");
    assert_eq!(containers[1]["env"][0]["name"], "LANG", "{containers:#?}");
    assert!(containers[0].get("securityContext").is_none() && containers[0].get("env").is_none(), "{containers:#?}");
    adds_nothing(&ws);
}

/// A manifest without a parent of what is added by hand, how it is added, and a rule for it.
const IGNORED: [(&str, &str, &str); 4] = [
    ("metadata.labels.added", "label deployment/web added=1", "kubectl-label"),
    (
        "spec.template.metadata.annotations[\"kubectl.kubernetes.io/restartedAt\"]",
        "rollout restart deployment/web",
        "kubectl-rollout",
    ),
    ("spec.template.spec.containers[name=web].env[name=Q]", "set env deployment/web Q=1 -c web", "kubectl-set"),
    (
        "spec.template.spec.containers[name=web].resources.limits.cpu",
        "set resources deployment/web --limits=cpu=1 -c web",
        "kubectl-set",
    ),
];

#[test]
fn a_rule_for_a_part_of_an_added_parent_leaves_that_part_out() {
    let bare = WEB
        .replaced("  labels: {app: web, tier: front}\n", "")
        .replaced("        env: [{name: LOG, value: info}, {name: LANG, value: en}]\n", "")
        .replaced("        resources: {requests: {cpu: 100m, memory: 64Mi}}\n", "");
    for (field, command, manager) in IGNORED {
        let ws = Workspace::new();
        ws.write("web.yaml", &bare);
        ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
        ws.kubectl(command.split(' ')).exits_with(0);
        assert_eq!(additions(&ws, "Deployment", 1).0.len(), 1, "{field}");
        for rest in [String::new(), format!("  managers: [{manager}]\n")] {
            let rule = format!(
                "apiVersion: kubectl-reconcile/v1\nkind: Config\nignore:\n- target: {{}}\n  fields: ['{field}']\n{rest}"
            );
            ws.write(".kubectl-reconcile.yaml", &rule);
            adds_nothing(&ws);
        }
        // Rules for others cover nothing.
        let rule = format!(
            "apiVersion: kubectl-reconcile/v1\nkind: Config\nignore:\n- {{target: {{}}, fields: ['{field}'], managers: [x]}}\n"
        );
        ws.write(".kubectl-reconcile.yaml", &rule);
        assert_eq!(additions(&ws, "Deployment", 1).0.len(), 1, "{field}");
    }
}

#[test]
fn what_a_rule_does_not_cover_of_an_added_parent_is_an_addition() {
    let ws = Workspace::new();
    let bare = WEB
        .replaced("  labels: {app: web, tier: front}\n", "")
        .replaced("        env: [{name: LOG, value: info}, {name: LANG, value: en}]\n", "");
    ws.write("web.yaml", &bare);
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    ws.kubectl(["label", "deployment/web", "added=1"]).exits_with(0);
    ws.kubectl(["set", "env", "deployment/web", "-c", "web", "Q=1", "Z=2"]).exits_with(0);
    ws.patch_as("labeller", "deployment/web", &json!({"metadata": {"labels": {"injected": "1"}}}));
    let config = |managers: &str| {
        format!(
            "apiVersion: kubectl-reconcile/v1\nkind: Config\nignore:\n- target: {{}}\n  fields: [metadata.labels.added, 'spec.template.spec.containers[*].env[name=Q]']\n{managers}"
        )
    };
    for managers in ["", "  managers: [kubectl-*]\n"] {
        ws.write(".kubectl-reconcile.yaml", &config(managers));
        let run = ws
            .reconcile(["diff", "-f", "web.yaml", "--show-unmanaged", "--fail-on=manual", "-o", "json"])
            .exits_with(1);
        let labels = run.change("Deployment", "web", "metadata.labels");
        assert_eq!(labels["live"], json!({"injected": "1"}), "{run}");
        assert_eq!(labels["managers"][0]["manager"], "labeller", "{run}");
        let env = run.change("Deployment", "web", "spec.template.spec.containers[name=web].env");
        assert_eq!(env["live"], json!([{"name": "Z", "value": "2"}]), "{run}");
        assert_eq!(run.report()["summary"]["unmanagedManual"], 1, "{run}");
    }
    ws.reconcile(["pull", "-f", "web.yaml", "--class", "unmanaged"]).exits_with(0);
    let written = written(&ws);
    assert!(written.contains("name: Z") && !written.contains("name: Q") && !written.contains("added"), "{written}");
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    let live = ws.get("Deployment", "web");
    assert_eq!(live["metadata"]["labels"], json!({"added": "1", "injected": "1"}));
    let env = &live["spec"]["template"]["spec"]["containers"][0]["env"];
    assert_eq!(env, &json!([{"name": "Q", "value": "1"}, {"name": "Z", "value": "2"}]));
    adds_nothing(&ws);
}

const DAEMONS: &str = "
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec:
  updateStrategy: {}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: shop/web, resources: {}}]}
";

/// The server counts the versions of the template of a DaemonSet in an annotation, and fills in empty maps.
#[test]
fn what_only_the_server_writes_is_nobodys_addition() {
    let generation = "deprecated.daemonset.template.generation";
    for how in ["apply", "create"] {
        let ws = Workspace::new();
        ws.write("web.yaml", DAEMONS);
        ws.kubectl([how, "-f", "web.yaml"]).exits_with(0);
        assert_eq!(ws.get("DaemonSet", "web")["metadata"]["annotations"][generation], "1");
        let run = ws
            .reconcile(["diff", "-f", "web.yaml", "--show-unmanaged", "--fail-on=manual", "-o", "json"])
            .exits_with(0);
        assert!(!run.stdout.contains(generation), "{run}");
        ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
        ws.kubectl(["annotate", "daemonset/web", "note=mine"]).exits_with(0);
        let (added, _) = additions(&ws, "DaemonSet", 1);
        let of_metadata: Vec<&String> = added.iter().filter(|added| added.starts_with("\"metadata")).collect();
        assert!(of_metadata.len() == 1 && of_metadata[0].contains("mine"), "{added:?}");
        assert!(!of_metadata[0].contains(generation), "{added:?}");
        ws.reconcile(["pull", "-f", "web.yaml", "--class", "unmanaged"]).exits_with(0);
        let written = written(&ws);
        assert!(written.contains("note: mine") && !written.contains(generation), "{written}");
        ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
        adds_nothing(&ws);
    }
}

#[test]
fn what_the_manifest_took_over_is_no_longer_added_by_hand() {
    let container = "/spec/template/spec/containers/0";
    let probe = json!({"httpGet": {"path": "/", "port": 8080}});
    let log = json!({"name": "log", "image": "shop/log:2", "env": [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]});
    let manifest = WEB.replaced("[{containerPort: 8080}]", "[{containerPort: 8080}, {containerPort: 80}]").replaced(
        "      - {name: proxy,",
        &format!("        livenessProbe: {probe}\n      - {log}\n      - {{name: proxy,"),
    );
    let service = SERVICE.replaced("{name: https,", "{name: dns, port: 53}, {name: https,");
    let ws = Workspace::new();
    let both = |deployment: &str, service: &str| format!("{deployment}---{service}");
    ws.write("web.yaml", &both(WEB, SERVICE));
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    let add = |path: &str, value: &Value| json!({"op": "add", "path": path, "value": value});
    patched(
        &ws,
        "deployment/web",
        &json!([
            add(&format!("{container}/livenessProbe"), &probe),
            add(&format!("{container}/ports/-"), &json!({"containerPort": 80})),
            add("/spec/template/spec/containers/1", &log),
        ]),
    );
    patched(&ws, "service/web", &json!([add("/spec/ports/1", &json!({"name": "dns", "port": 53}))]));
    assert_eq!(additions(&ws, "Deployment", 1).0.len(), 3);
    assert_eq!(additions(&ws, "Service", 1).0.len(), 1);
    ws.write("web.yaml", &both(&manifest, &service));
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    adds_nothing(&ws);
    // Another value than the default is one that somebody chose.
    patched(&ws, "deployment/web", &json!([add(&format!("{container}/livenessProbe/failureThreshold"), &json!(9))]));
    let (added, _) = additions(&ws, "Deployment", 1);
    assert_eq!(added.len(), 1, "{added:?}");
    assert!(added.iter().all(|added| added.contains("failureThreshold")), "{added:?}");
}

/// The server sets each of the two names of an account by the other one, and records both as set by hand.
#[test]
fn an_account_that_somebody_sets_is_one_addition() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.kubectl(["set", "serviceaccount", "deployment/web", "mine"]).exits_with(0);
    ws.reconcile(["diff", "-f", ".", "--fail-on", "manual"]).exits_with(1);
    let (added, _) = additions(&ws, "Deployment", 1);
    assert_eq!(added, BTreeSet::from([r#""spec.template.spec.serviceAccountName" "mine""#.to_owned()]));
    ws.reconcile(["apply", "-f", ".", "--remove-added"]).exits_with(0);
    let pod = &ws.get("Deployment", "web")["spec"]["template"]["spec"];
    assert!(pod.get("serviceAccountName").is_none() && pod.get("serviceAccount").is_none(), "{pod}");
}
