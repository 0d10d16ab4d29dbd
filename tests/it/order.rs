//! What needs another object comes after it, whatever the manifests' order; and not at all when that one failed.

use serde_json::json;

use crate::control_plane::{ControlPlane, Proxy, Replaced, Workspace};

/// A workload and everything that its pods name, in the least helpful order; and an autoscaler of it.
const WORKLOAD: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: web
      containers:
      - name: web
        image: shop/web:1
        envFrom: [{configMapRef: {name: settings}}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a-scaler}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}, imagePullSecrets: [{name: registry}]}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: registry}, stringData: {a: b}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects: [{kind: ServiceAccount, name: web}]
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: web}, rules: []}
";

fn config_map(name: &str, depends_on: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  annotations:\n    config.kubernetes.io/depends-on: {depends_on}\ndata: {{a: b}}\n"
    )
}

/// `ConfigMap settings`, in the order in which their writes reached the server.
fn written(proxy: &Proxy) -> Vec<String> {
    let writes =
        proxy.requests().into_iter().filter(|request| request.starts_with("PATCH ") && !request.contains("dryRun"));
    let name = |request: String| {
        let path = request.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default().to_owned();
        let mut parts = path.rsplit('/');
        let name = parts.next().unwrap_or_default().to_owned();
        format!("{} {name}", parts.next().unwrap_or_default())
    };
    writes.map(name).collect()
}

#[test]
fn what_a_workload_names_is_written_before_it() {
    let ws = Workspace::new();
    ws.write("all.yaml", WORKLOAD);
    let proxy = Proxy::new(&ws);
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(0);
    let order = written(&proxy);
    let place =
        |name: &str| order.iter().position(|written| written == name).unwrap_or_else(|| panic!("{name}: {order:?}"));
    let pairs = [
        ("secrets registry", "serviceaccounts web"),
        ("serviceaccounts web", "rolebindings web"),
        ("roles web", "rolebindings web"),
        ("rolebindings web", "deployments web"),
        ("configmaps settings", "deployments web"),
        ("persistentvolumeclaims data", "deployments web"),
        ("deployments web", "horizontalpodautoscalers a-scaler"),
    ];
    for (first, then) in pairs {
        assert!(place(first) < place(then), "{first} before {then}: {order:?}");
    }
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.each("kind").len(), 8);
    assert_eq!(apply.each("kind"), diff.each("kind"), "both show the plan in its order");
}

#[test]
fn a_token_is_written_after_its_account() {
    let ws = Workspace::new();
    ws.write(
        "all.yaml",
        "
apiVersion: v1
kind: Secret
metadata: {name: a-token, annotations: {kubernetes.io/service-account.name: robot}}
type: kubernetes.io/service-account-token
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}, secrets: [{name: a-token}]}
",
    );
    let proxy = Proxy::new(&ws);
    ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(written(&proxy), ["serviceaccounts robot", "secrets a-token"]);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn explicit_dependencies_beat_the_order_of_kinds() {
    let ws = Workspace::new();
    ws.write("all.yaml", WORKLOAD);
    ws.write("late.yaml", &config_map("late", "apps/namespaces/$NS/Deployment/web"));
    ws.write(
        "later.yaml",
        &config_map("a-later", "\"/namespaces/$NS/ConfigMap/late, /namespaces/$NS/Secret/registry\""),
    );
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let order: Vec<String> = diff.each("action").into_iter().filter(|line| !line.starts_with("Horizontal")).collect();
    assert_eq!(
        order[order.len() - 3..],
        ["Deployment web: create", "ConfigMap late: create", "ConfigMap a-later: create"]
    );
    let proxy = Proxy::new(&ws);
    ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(0);
    let written = written(&proxy);
    let place = |name: &str| written.iter().position(|written| written == name).unwrap();
    assert!(
        place("deployments web") < place("configmaps late") && place("configmaps late") < place("configmaps a-later")
    );
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
}

#[test]
fn an_explicit_dependency_beats_one_that_is_only_derived() {
    let ws = Workspace::new();
    ws.write("all.yaml", WORKLOAD);
    let settings = config_map("settings", "apps/namespaces/$NS/Deployment/web");
    ws.write(
        "all.yaml",
        &format!(
            "{}{settings}",
            WORKLOAD.replaced("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}\n---\n", "")
        ),
    );
    let order = ws.reconcile(["diff", "-f", "."]).exits_with(1).each("action");
    let place = |name: &str| order.iter().position(|line| line.starts_with(name)).unwrap();
    assert!(place("Deployment web") < place("ConfigMap settings"), "{order:?}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
}

#[test]
fn a_cycle_is_reported_with_its_members_and_nothing_is_done() {
    let ws = Workspace::new();
    ws.write("a.yaml", &config_map("a", "/namespaces/$NS/ConfigMap/b"));
    ws.write("b.yaml", &config_map("b", "/namespaces/$NS/ConfigMap/c"));
    ws.write("c.yaml", &config_map("c", "/namespaces/$NS/ConfigMap/a"));
    ws.write("d.yaml", &config_map("d", "/namespaces/$NS/ConfigMap/a"));
    ws.write("e.yaml", &config_map("e", "/namespaces/$NS/ConfigMap/e"));
    for command in ["diff", "apply"] {
        let run = ws.reconcile([command, "-f", "."]).exits_with(2);
        let cycle = ws.fill_in("ConfigMap $NS/a → ConfigMap $NS/b → ConfigMap $NS/c → ConfigMap $NS/a");
        assert!(run.stderr.contains(&cycle), "{run}");
        assert!(run.stderr.contains(&ws.fill_in("ConfigMap $NS/e → ConfigMap $NS/e")), "{run}");
        assert!(run.stderr.contains("a.yaml:7:"), "{run}");
        assert_eq!(run.report()["errors"].as_array().unwrap().len(), 2, "{run}");
    }
    assert!(ws.find("ConfigMap", "d").is_none());
}

#[test]
fn a_namespace_can_not_depend_on_what_lives_in_it() {
    let ws = Workspace::new();
    ws.write("a.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-in, annotations: {config.kubernetes.io/depends-on: /namespaces/$NS-in/ConfigMap/a}}}");
    ws.write("b.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: $NS-in}}");
    let run = ws.reconcile(["diff", "-f", "."]).exits_with(2);
    assert!(run.stderr.contains("cycle") && run.stderr.contains("a.yaml:1:"), "{run}");
}

#[test]
fn a_dependency_that_cannot_be_read_is_reported_with_its_place() {
    let ws = Workspace::new();
    ws.write("a.yaml", &config_map("a", "ConfigMap/b"));
    let run = ws.reconcile(["diff", "-f", "."]).exits_with(2);
    assert!(run.stderr.contains("a.yaml:7:") && run.stderr.contains("ConfigMap/b"), "{run}");
    assert!(run.stderr.contains("hint: ") && run.stderr.contains("GROUP/namespaces/NAMESPACE/KIND/NAME"), "{run}");
}

#[test]
fn a_dependency_outside_of_the_input_is_a_warning() {
    let ws = Workspace::new();
    ws.write("a.yaml", &config_map("a", "apps/namespaces/$NS/Deployment/elsewhere"));
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let warnings = &apply.object("ConfigMap", "a")["warnings"];
    assert!(warnings[0].as_str().unwrap().contains(&ws.fill_in("Deployment $NS/elsewhere")), "{warnings}");
}

#[test]
fn what_depends_on_a_failed_object_is_skipped_with_the_cause() {
    let ws = Workspace::new();
    // A service account that the server refuses; a deployment that uses it; what waits for that one; and a bystander.
    ws.write(
        "all.yaml",
        &WORKLOAD.replaced("imagePullSecrets: [{name: registry}]", "automountServiceAccountToken: perhaps"),
    );
    ws.write("late.yaml", &config_map("late", "apps/namespaces/$NS/Deployment/web"));
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    let outcome = |kind: &str, name: &str| apply.object(kind, name)["outcome"].clone();
    assert_eq!(outcome("ConfigMap", "settings"), "created");
    assert_eq!(outcome("PersistentVolumeClaim", "data"), "created");
    for (kind, name, cause) in [
        ("Deployment", "web", "ServiceAccount $NS/web"),
        ("ConfigMap", "late", "Deployment $NS/web"),
        ("HorizontalPodAutoscaler", "a-scaler", "Deployment $NS/web"),
    ] {
        let object = apply.object(kind, name);
        assert_eq!(object["outcome"], "skipped", "{object}");
        assert!(object["reason"].as_str().unwrap().contains(&ws.fill_in(cause)), "{object}");
        assert!(ws.find(kind, name).is_none(), "{kind} {name}");
    }
    ws.write("all.yaml", WORKLOAD);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "late")["data"], json!({"a": "b"}));
}

#[test]
fn what_is_only_named_as_optional_does_not_hold_a_workload_back() {
    let ws = Workspace::new();
    let optional =
        WORKLOAD.replaced("configMapRef: {name: settings}", "configMapRef: {name: settings, optional: true}");
    ws.write(
        "all.yaml",
        &optional.replaced("metadata: {name: settings}, data: {a: b}", "metadata: {name: settings}, data: {a: 1}"),
    );
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.object("ConfigMap", "settings")["outcome"], "failed");
    assert_eq!(apply.object("Deployment", "web")["outcome"], "created");
}

#[test]
fn what_is_in_sync_is_not_skipped_for_what_it_depends_on() {
    let ws = Workspace::new();
    ws.write("all.yaml", WORKLOAD);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write(
        "all.yaml",
        &WORKLOAD.replaced("metadata: {name: settings}, data: {a: b}", "metadata: {name: settings}, data: {a: 1}"),
    );
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "unchanged");
}

#[test]
fn a_webhook_comes_after_the_pods_that_answer_it() {
    let ws = Workspace::new();
    ws.write(
        "all.yaml",
        &format!(
            "{WORKLOAD}---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: $NS}}
webhooks:
- name: a.example.com
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {{service: {{name: hook, namespace: $NS}}}}
  rules: [{{apiGroups: ['none.example.com'], apiVersions: [v1], operations: [CREATE], resources: [nothing]}}]
---
{{apiVersion: v1, kind: Service, metadata: {{name: hook}}, spec: {{selector: {{app: web}}, ports: [{{port: 443}}]}}}}
"
        )
        .replaced("metadata: {name: settings}, data: {a: b}", "metadata: {name: settings}, data: {a: 1}"),
    );
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(4);
    let hook = apply.object("ValidatingWebhookConfiguration", ws.namespace());
    assert_eq!(hook["outcome"], "skipped", "{hook}");
    assert!(hook["reason"].as_str().unwrap().contains("Deployment"), "{hook}");
    assert_eq!(apply.report()["objects"].as_array().unwrap().last(), Some(hook));
}

#[test]
fn with_wait_what_an_author_says_comes_first_has_to_be_ready() {
    let ws = Workspace::on(&ControlPlane::full());
    let job = "{apiVersion: batch/v1, kind: Job, metadata: {name: migrate}, spec: {template: {spec: {restartPolicy: Never, $NODE containers: [{name: a, image: a}]}}}}";
    ws.write("late.yaml", &config_map("late", "batch/namespaces/$NS/Job/migrate"));
    ws.write("job.yaml", &job.replaced("$NODE", "nodeSelector: {none: such},"));
    let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout=3s"]).exits_with(4);
    assert_eq!(apply.object("Job", "migrate")["outcome"], "created");
    let late = apply.object("ConfigMap", "late");
    assert_eq!(late["outcome"], "skipped", "{apply}");
    assert!(late["reason"].as_str().unwrap().contains(&ws.fill_in("Job $NS/migrate, which is not ready")), "{late}");
    assert!(ws.find("ConfigMap", "late").is_none());
    ws.delete("job/migrate");
    ws.write("job.yaml", &job.replaced("$NODE", ""));
    let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout=60s"]).exits_with(0);
    assert_eq!(apply.object("ConfigMap", "late")["outcome"], "created");
    let at = |kind: &str, name: &str, pointer: &str| {
        ws.get(kind, name).pointer(pointer).unwrap().as_str().unwrap().to_owned()
    };
    let completed = at("Job", "migrate", "/status/completionTime");
    assert!(at("ConfigMap", "late", "/metadata/creationTimestamp") >= completed, "after {completed}");
}
