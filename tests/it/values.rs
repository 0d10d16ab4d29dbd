//! Values in any spelling: what means the same is no drift, before and after the first apply.

use serde_json::json;

use crate::control_plane::{Replaced, Workspace, definition};
use crate::manifests::WEB;

/// Applies, and then finds nothing to do, as often as asked.
#[track_caller]
fn is_stable(manifest: &str) -> Workspace {
    let ws = Workspace::new();
    ws.write("it.yaml", manifest);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    for _ in 0..2 {
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
        let before = ws.all_resource_versions();
        let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
        assert_eq!(apply.writes(), 0, "{diff}{apply}");
        assert_eq!(ws.all_resource_versions(), before);
    }
    ws
}

#[test]
fn quantities_in_any_spelling_are_no_drift() {
    for (cpu, memory) in [
        ("1000m", "1024Mi"),
        ("1", "1Gi"),
        ("'1'", "1073741824"),
        ("0.5", "0.5Gi"),
        ("1e0", "1e3"),
        ("'+1'", "'01'"),
        (".1", "1.5G"),
        ("100000u", "1.5Gi"),
    ] {
        is_stable(&WEB.replaced("cpu: 100m, memory: 64Mi", &format!("cpu: {cpu}, memory: {memory}")));
    }
}

#[test]
fn a_new_spelling_in_the_manifest_is_no_drift() {
    let ws = is_stable(&WEB.replaced("cpu: 100m", "cpu: 1000m"));
    for cpu in ["1", "'1.0'", "1e0", "1000000u"] {
        ws.write("it.yaml", &WEB.replaced("cpu: 100m", &format!("cpu: {cpu}")));
        let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
        assert_eq!(diff.changes("Deployment", "web"), [""; 0], "{cpu}");
        assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0, "{cpu}");
    }
    ws.write("it.yaml", &WEB.replaced("cpu: 100m", "cpu: 1001m"));
    ws.reconcile(["diff", "-f", "."]).exits_with(1);
}

/// The server writes them in UTC (apimachinery `pkg/apis/meta/v1/micro_time.go`, `MarshalJSON`).
#[test]
fn times_with_microseconds_in_any_zone_are_no_drift() {
    let lease = |time: &str| {
        format!(
            "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {{name: turn}}\nspec:\n  holderIdentity: a\n  renewTime: {time}\n"
        )
    };
    let ws = is_stable(&lease("2026-11-20T12:00:00.000000+02:00"));
    assert_eq!(ws.get("lease", "turn")["spec"]["renewTime"], "2026-11-20T10:00:00.000000Z");
    for time in ["2026-11-20T12:00:00.000000+02:00", "2026-11-20T10:00:00.000000Z", "2026-11-19T23:30:00.000000-10:30"]
    {
        ws.write("it.yaml", &lease(time));
        for evidence in ["server", "read-only"] {
            let diff = ws.reconcile(["diff", "-f", ".", &format!("--evidence={evidence}")]).exits_with(0);
            assert_eq!(diff.changes("Lease", "turn"), [""; 0], "{time}: {diff}");
        }
    }
    ws.write("it.yaml", &lease("2026-11-20T12:00:00.000001+02:00"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Lease", "turn"), ["pending spec.renewTime"], "{diff}");
    // The server takes six digits and no others.
    ws.write("it.yaml", &lease("2026-11-20T12:00:00+02:00"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(4);
    assert!(
        diff.stdout.contains("./it.yaml:6:14: `spec.renewTime`: not a time") && diff.stdout.contains("six digits"),
        "{diff}"
    );
}

#[test]
fn zero_values_that_the_server_leaves_out_are_no_drift() {
    is_stable(
        "
apiVersion: v1
kind: Pod
metadata: {name: it, labels: {}, annotations: {}}
spec:
  hostNetwork: false
  hostPID: false
  nodeSelector: {}
  tolerations: []
  securityContext: {}
  volumes: [{name: scratch, emptyDir: {}}]
  containers:
  - name: a
    image: a
    env: [{name: EMPTY, value: ''}]
    resources: {}
    args: []
    stdin: false
    volumeMounts: [{name: scratch, mountPath: /scratch, readOnly: false}]
",
    );
}

#[test]
fn defaults_within_atomic_structures_are_no_drift() {
    is_stable(
        "
apiVersion: v1
kind: Pod
metadata: {name: it}
spec:
  automountServiceAccountToken: false
  serviceAccountName: it
  containers:
  - name: a
    image: a
    env:
    - {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
  volumes:
  - name: token
    projected: {sources: [{serviceAccountToken: {path: token}}]}
---
apiVersion: v1
kind: LimitRange
metadata: {name: it}
spec: {limits: [{type: Container, max: {cpu: '2'}, min: {cpu: 100m}}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: it}
spec: {podSelector: {}, ingress: [{ports: [{port: 80}, {port: http, protocol: UDP}]}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: it}
roleRef: {kind: Role, name: it, apiGroup: rbac.authorization.k8s.io}
subjects: [{kind: User, name: me}, {kind: ServiceAccount, name: it, namespace: $NS}]
",
    );
}

#[test]
fn nulls_are_no_drift() {
    is_stable(
        &WEB.replaced("  replicas: 2", "  replicas: null\n  paused: null\n  minReadySeconds: ~")
            .replaced("tier: front}", "tier: front}\n  annotations: null"),
    );
    is_stable(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: it, creationTimestamp: null, labels: {a: null}}, data: null, binaryData: {}}",
    );
    is_stable("{apiVersion: v1, kind: Secret, metadata: {name: it}, data: {a: null}}");
}

#[test]
fn a_zero_that_joins_a_list_which_is_replaced_as_a_whole_is_a_change() {
    let ws = Workspace::new();
    let tolerating = |seconds: &str| {
        let toleration = format!("{{key: slow, operator: Exists, effect: NoExecute{seconds}}}");
        WEB.replaced("      containers:", &format!("      tolerations: [{toleration}]\n      containers:"))
    };
    ws.write("web.yaml", &tolerating(""));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("web.yaml", &tolerating(", tolerationSeconds: 0"));
    for evidence in ["auto", "read-only"] {
        ws.reconcile(["diff", "-f", ".", "--evidence", evidence]).exits_with(1);
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let spec = &ws.get("Deployment", "web")["spec"]["template"]["spec"];
    assert_eq!(spec["tolerations"][0]["tolerationSeconds"], 0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    // Most other zeros are left out, by the server and so without it.
    ws.write("web.yaml", &tolerating(", tolerationSeconds: 0, value: ''"));
    for evidence in ["auto", "read-only"] {
        ws.reconcile(["diff", "-f", ".", "--evidence", evidence]).exits_with(0);
    }
}

#[test]
fn a_null_means_here_what_it_means_to_the_server() {
    let nulls = [
        ("labels: {app: web, tier: front}", "labels: null"),
        ("labels: {app: web, tier: front}", "labels: {app: web, tier: null}"),
        ("replicas: 2", "replicas: null"),
        ("replicas: 2", "replicas: 2\n  strategy: null"),
        ("replicas: 2", "replicas: 2\n  strategy: {rollingUpdate: null}"),
        ("[{containerPort: 8080}]", "null"),
        ("{cpu: 100m, memory: 64Mi}", "null"),
        ("nodeSelector: {disk: fast}", "nodeSelector: null"),
        ("nodeSelector: {disk: fast}", "nodeSelector: {disk: null}"),
        ("tolerations: [{key: slow, operator: Exists}]", "tolerations: null"),
    ];
    let web = WEB.replaced(
        "      containers:",
        "      nodeSelector: {disk: fast}\n      tolerations: [{key: slow, operator: Exists}]\n      containers:",
    );
    for manager in ["kubectl-reconcile", "another"] {
        let ws = Workspace::new();
        ws.apply_as(manager, &web);
        for (from, to) in nulls {
            assert!(web.contains(from), "{from}");
            ws.write("web.yaml", &web.replaced(from, to));
            let differing = |evidence: &str| {
                let evidence = format!("--evidence={evidence}");
                let diff =
                    ws.reconcile(["diff", "-f", ".", "--force-conflicts", "--exit-zero", &evidence]).exits_with(0);
                let changes = diff.object("Deployment", "web")["changes"].as_array().unwrap().clone();
                changes.into_iter().map(|change| change["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
            };
            // Not every default is known here: where the server leaves `{}`, the struct may go whole.
            let here = differing("read-only");
            let there = differing("server");
            let is_same = here.iter().all(|path| there.iter().any(|other| other.starts_with(path)))
                && there.iter().all(|other| here.iter().any(|path| other.starts_with(path)));
            assert!(is_same, "{to} on what {manager} applied: {here:?}, the server says {there:?}");
        }
    }
}

/// Without the server it is the same difference as with it.
#[test]
fn a_null_for_an_empty_struct_and_a_zero_that_is_gone_are_drift_without_the_server_as_well() {
    let ws = Workspace::new();
    let run = |code: i32, paths: &[&str], kind: &str, name: &str| {
        for evidence in ["server", "read-only"] {
            let diff = ws.reconcile(["diff", "-f", ".", &format!("--evidence={evidence}")]).exits_with(code);
            assert_eq!(diff.changes(kind, name), paths, "{diff}");
        }
    };
    let template = "{apiVersion: v1, kind: PodTemplate, metadata: {name: it}, template: {metadata: {labels: {a: b}}, spec: {affinity: EMPTY, securityContext: EMPTY, volumes: [{name: v, emptyDir: EMPTY}], containers: [{name: a, image: b, securityContext: {runAsUser: 1, capabilities: EMPTY}, lifecycle: EMPTY, resources: EMPTY}]}}}";
    ws.write("it.yaml", &template.replaced("EMPTY", "{}"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &template.replaced("EMPTY", "null"));
    let gone = [
        "pruned template.spec.affinity",
        "pruned template.spec.containers[name=a].lifecycle",
        "pruned template.spec.containers[name=a].securityContext.capabilities",
    ];
    run(1, &gone, "PodTemplate", "it");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    run(0, &[], "PodTemplate", "it");

    let budget = "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: it}, spec: {maxUnavailable: 0, selector: {matchLabels: {a: b}}}}";
    ws.write("it.yaml", budget);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let patch = r#"[{"op": "remove", "path": "/spec/maxUnavailable"}]"#;
    ws.kubectl(["patch", "pdb/it", "--type=json", "-p", patch]).exits_with(0);
    run(1, &["absent spec.maxUnavailable"], "PodDisruptionBudget", "it");
}

#[test]
fn what_kubectl_create_prints_is_no_drift() {
    let ws = Workspace::new();
    for create in [
        &["deployment", "it", "--image=a", "--replicas=2", "--port=80"][..],
        &["job", "it", "--image=a"],
        &["cronjob", "it", "--image=a", "--schedule=1 2 * * *"],
        &["service", "clusterip", "it", "--tcp=80:8080"],
        &["role", "it", "--verb=get", "--resource=pods"],
        &["rolebinding", "it", "--role=it", "--user=me"],
        &["configmap", "it", "--from-literal=a=b"],
        &["quota", "it", "--hard=pods=5"],
        &["poddisruptionbudget", "it", "--min-available=1", "--selector=a=b"],
        &["ingress", "it", "--rule=a.example/b*=it:80"],
        &["serviceaccount", "it"],
    ] {
        let printed = ws.kubectl([&["create"][..], create, &["--dry-run=client", "-o", "yaml"]].concat()).exits_with(0);
        ws.write(format!("{}.yaml", create[0]), &printed.stdout);
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.report()["summary"]["inSync"], 11, "{diff}");
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
}

#[test]
fn a_status_in_the_manifest_is_nobodys_wish() {
    let ws = is_stable(&format!("{WEB}status: {{replicas: 17, observedGeneration: 4}}\n"));
    assert_eq!(ws.get("Deployment", "web")["status"].get("replicas"), None);
}

#[test]
fn what_kubectl_get_prints_can_be_applied_again() {
    let ws = Workspace::new();
    ws.write("web.yaml", WEB);
    ws.kubectl(["create", "-f", "web.yaml"]).exits_with(0);
    let printed = ws.kubectl(["get", "deployment/web", "-o", "yaml"]).exits_with(0).stdout;
    assert!(printed.contains("resourceVersion") && printed.contains("uid") && printed.contains("status"));
    ws.write("web.yaml", &printed);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    // It is an older version by then, and what differs is still reported.
    ws.scale("deployment/web", 4);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["changedByOther spec.replicas"]);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 2);
    // Even after it was deleted and created again.
    ws.delete("deployment/web");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn a_list_that_kubectl_get_prints_can_be_applied_again() {
    let ws = Workspace::new();
    ws.write("shop.yaml", crate::manifests::SHOP);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let kinds = "configmaps,services,roles,rolebindings,statefulsets,jobs,cronjobs,hpa,ingresses,pdb,pvc,quota";
    for flags in [&["get", kinds, "-o", "yaml"][..], &["get", kinds, "-o", "json", "--show-managed-fields"]] {
        let printed = ws.kubectl(flags).exits_with(0);
        let diff = ws.stdin(&printed.stdout).reconcile(["diff", "-f", "-"]);
        assert_eq!(diff.code, 0, "{diff}");
        assert_eq!(diff.report()["summary"]["inSync"], 12);
    }
}

#[test]
fn string_data_is_data() {
    let ws = Workspace::new();
    let value = ws.secret("written-in-plain-text");
    let manifest = format!("{{apiVersion: v1, kind: Secret, metadata: {{name: it}}, stringData: {{key: {value}}}}}");
    let ws = is_stable(&manifest);
    // The same in base64, over several lines as `base64` prints it, is the same.
    let encoded = ws.get("Secret", "it")["data"]["key"].as_str().unwrap().to_owned();
    let (first, second) = encoded.split_at(12);
    let folded =
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: it}}\ndata:\n  key: |\n    {first}\n    {second}\n");
    ws.write("it.yaml", &folded);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    let other = ws.secret("put-there-by-somebody");
    ws.patch_as("kubectl-edit", "secret/it", &json!({"stringData": {"key": other}}));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Secret", "it"), ["changedByOther data.key"]);
}

#[test]
fn a_value_that_the_server_keeps_to_itself_is_no_drift() {
    // Allocated by the server: the manifest leaves it open.
    is_stable(
        "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {type: NodePort, clusterIP: '', ports: [{port: 80, nodePort: 0}]}}",
    );
}

#[test]
fn numbers_of_custom_resources_are_compared_as_numbers() {
    let definition = definition(
        "Number",
        "
properties:
  a: {type: number}
  b: {type: integer, format: int64}
  c: {type: string}
  d: {type: number, nullable: true}
  e: {type: string, nullable: true}
",
    );
    let number = "
apiVersion: $NS.example.com/v1
kind: Number
metadata: {name: it}
spec: {a: 3.0, b: 9007199254740993, c: '1000m', d: 1e3, e: null}
";
    is_stable(&[&definition, number].join("---"));
}
