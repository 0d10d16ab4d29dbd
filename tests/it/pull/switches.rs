//! Switches: somebody set one member of a "one of" in place of another. Both halves are pulled, or none: no pull leaves a manifest that the
//! server refuses.

use serde_json::{Value, json};

use super::{applied, is_settled, patched, pulled, text};
use crate::control_plane::{Request, Run, Workspace};

const BUDGET: &str = "\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db}
spec:
  maxUnavailable: 1   # one at a time
  selector: {matchLabels: {app: db}}
";

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: shop/web:1
        env:
        - {name: A, value: \"1\"}
        - {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        livenessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 5}
        lifecycle: {preStop: {exec: {command: [sleep, \"5\"]}}}
        volumeMounts: [{name: v, mountPath: /v}]
      volumes:
      - {name: v, configMap: {name: settings}}
";

const INGRESS: &str = "\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  defaultBackend: {service: {name: web, port: {name: http}}}
";

fn switch_budget(ws: &Workspace) {
    let patch = json!([
        {"op": "remove", "path": "/spec/maxUnavailable"},
        {"op": "add", "path": "/spec/minAvailable", "value": "50%"},
    ]);
    patched(ws, "poddisruptionbudget/db", &patch);
}

/// The reason why a change was not pulled.
fn reason(run: &Run, path: &str) -> String {
    let report = pulled(run);
    let changes = report["objects"].as_array().unwrap().iter().flat_map(|object| object["changes"].as_array().unwrap());
    let change = changes.into_iter().find(|change| change["path"] == path).unwrap_or_else(|| panic!("{path}: {run}"));
    assert_eq!(change["accepted"], false, "{run}");
    change["reason"].as_str().unwrap().to_owned()
}

#[test]
fn both_halves_of_a_switch_are_pulled() {
    let ws = applied(&format!("{BUDGET}---\n{WEB}---\n{INGRESS}"));
    switch_budget(&ws);
    let at = |path: &str, value: Value| json!({"op": "replace", "path": path, "value": value});
    let container = "/spec/template/spec/containers/0";
    let field = json!({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}});
    patched(
        &ws,
        "deployment/web",
        &json!([
            at("/spec/strategy", json!({"type": "Recreate"})),
            at(&format!("{container}/env/0"), field),
            at(&format!("{container}/env/1"), json!({"name": "B", "value": "plain"})),
            at(&format!("{container}/livenessProbe"), json!({"periodSeconds": 10, "tcpSocket": {"port": 81}})),
            at(&format!("{container}/lifecycle"), json!({"preStop": {"sleep": {"seconds": 3}}})),
            at("/spec/template/spec/volumes/0", json!({"name": "v", "emptyDir": {}})),
        ]),
    );
    patched(&ws, "ingress/web", &json!([at("/spec/defaultBackend/service/port", json!({"number": 90}))]));
    let run = ws.reconcile(["pull", "-f", "."]).exits_with(0);
    let written = text(&ws);
    for gone in ["maxUnavailable", "rollingUpdate", "value: \"1\"", "metadata.name}", "httpGet", "exec", "configMap"] {
        assert!(!written.contains(gone), "{gone}: {run}");
    }
    for new in ["minAvailable: 50%", "Recreate", "metadata.namespace", "plain", "tcpSocket", "sleep", "emptyDir"] {
        assert!(written.contains(new), "{new}: {run}");
    }
    assert!(written.contains("port: {number: 90}"), "{run}");
    is_settled(&ws, &[("PodDisruptionBudget", "db"), ("Deployment", "web"), ("Ingress", "web")]);
    let again = ws.reconcile(["pull", "-f", "."]).exits_with(0);
    assert!(again.stdout.contains("nothing to pull"), "{again}");
}

#[test]
fn half_of_a_switch_that_was_chosen_alone_is_refused() {
    let ws = applied(BUDGET);
    switch_budget(&ws);
    for (flags, flag) in [
        (["--class", "changedByOther"], "`--class changedByOther,absent`"),
        (["--field", "spec.minAvailable"], "`--field spec.minAvailable,spec.maxUnavailable`"),
    ] {
        for evidence in [&[][..], &["--evidence=read-only", "--class", "changedByOther,unmanaged"]] {
            let run = ws.reconcile([&["pull", "-f", ".", "-o", "json"][..], &flags, evidence].concat());
            let run = run.exits_with(4);
            let reason = reason(&run, "spec.minAvailable");
            let is_named = reason.contains("the manifest has spec.maxUnavailable in its place");
            assert!(is_named && (!evidence.is_empty() || reason.contains(flag)), "{run}");
            assert_eq!(text(&ws), BUDGET, "{run}");
        }
    }
    let run = ws.reconcile(["pull", "-f", ".", "-o", "json", "--class", "absent"]).exits_with(4);
    let reason = reason(&run, "spec.maxUnavailable");
    assert!(reason.contains("the cluster has spec.minAvailable in its place"), "{run}");
    assert!(reason.contains("`--class absent,changedByOther`"), "{run}");
    assert_eq!(text(&ws), BUDGET, "{run}");
    ws.reconcile(["pull", "-f", ".", "--class", "changedByOther,absent"]).exits_with(0);
    assert_eq!(
        text(&ws),
        BUDGET.replace("  maxUnavailable: 1   # one at a time\n", "").replace("db}}\n", "db}}\n  minAvailable: 50%\n")
    );
    is_settled(&ws, &[("PodDisruptionBudget", "db")]);
}

#[test]
fn a_half_whose_other_one_was_declined_is_left_out() {
    let ws = applied(BUDGET);
    switch_budget(&ws);
    let declined = ws.as_user("admin").stdin("n\ny\n").on_terminal().reconcile(["pull", "-f", ".", "-p"]).exits_with(4);
    assert!(declined.stdout.contains("it goes together with spec.maxUnavailable, which is not pulled"), "{declined}");
    assert_eq!(text(&ws), BUDGET);
    let declined = ws.as_user("admin").stdin("y\nn\n").on_terminal().reconcile(["pull", "-f", ".", "-p"]).exits_with(0);
    assert_eq!(text(&ws), BUDGET, "{declined}");
}

/// What no rule of ours tells, the server does: a port of a Service without its type.
#[test]
fn an_edit_that_makes_the_server_refuse_the_manifest_is_refused_with_its_reason() {
    let service = "\
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  selector: {app: web}
  ports:
  - {name: http, port: 80, nodePort: NUMBER}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {a: b}
";
    let ws = Workspace::new();
    ws.write("manifests.yaml", &service.replace(", nodePort: NUMBER", ""));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let port = ws.get("Service", "web")["spec"]["ports"][0]["nodePort"].clone();
    let service = service.replace("NUMBER", &port.to_string());
    ws.write("manifests.yaml", &service);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    patched(
        &ws,
        "service/web",
        &json!([
            {"op": "replace", "path": "/spec/type", "value": "ClusterIP"},
            {"op": "remove", "path": "/spec/ports/0/nodePort"},
        ]),
    );
    ws.patch_as("kubectl-edit", "configmap/other", &json!({"data": {"a": "c"}}));
    let run = ws.reconcile(["pull", "-f", ".", "-o", "json"]).exits_with(4);
    let reason = reason(&run, "spec.type");
    assert!(
        reason.starts_with("the server would refuse the manifest with it: ") && reason.contains("nodePort"),
        "{run}"
    );
    assert!(reason.contains("`--class changedByOther,conflict,absent`"), "{run}");
    // The rest is written.
    assert_eq!(text(&ws), service.replace("a: b", "a: c"), "{run}");
    let dry = ws.reconcile(["pull", "-f", ".", "--dry-run"]).exits_with(4);
    assert!(dry.stdout.contains("would pull no change"), "{dry}");
    ws.reconcile(["pull", "-f", ".", "--class", "changedByOther,conflict,absent"]).exits_with(0);
    is_settled(&ws, &[("Service", "web"), ("ConfigMap", "other")]);
}

/// Only an object of which a part is pulled is tried.
#[test]
fn a_whole_pull_costs_no_more_requests() {
    let ws = applied(WEB);
    ws.scale("deployment/web", 1);
    let (_, compared) = ws.requests_during(|| ws.reconcile(["diff", "-f", "."]).exits_with(1));
    let (run, pulled) = ws.requests_during(|| ws.reconcile(["pull", "-f", "."]).exits_with(0));
    let writes = |requests: &[Request]| requests.iter().filter(|request| request.verb == "patch").count();
    assert_eq!((writes(&pulled), writes(&compared)), (1, 1), "{run}");
}

#[test]
fn both_halves_are_pulled_into_a_kustomization() {
    let ws = Workspace::new();
    ws.write("base/kustomization.yaml", "resources: [db.yaml]\n");
    ws.write("base/db.yaml", BUDGET);
    ws.write("prod/kustomization.yaml", "resources: [../base]\n");
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    switch_budget(&ws);
    let run = ws.reconcile(["pull", "-k", "prod"]).exits_with(4);
    assert!(run.stdout.contains("pass `--add-patches`"), "{run}");
    ws.reconcile(["pull", "-k", "prod", "--add-patches"]).exits_with(0);
    ws.reconcile(["diff", "-k", "prod"]).exits_with(0);
}
