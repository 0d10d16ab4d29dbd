//! Differences that are none, and that other tools report all the same.

use serde_json::json;

use crate::control_plane::{Workspace, definition, is_before};

/// Applies, and is in sync without asking from then on.
#[track_caller]
fn is_proven(manifest: &str) -> Workspace {
    let ws = Workspace::new();
    ws.write("it.yaml", manifest);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    stays_proven(&ws);
    ws
}

#[track_caller]
fn stays_proven(ws: &Workspace) {
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.report()["requests"]["dryRun"], 0, "{diff}");
    let before = ws.all_resource_versions();
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).report()["requests"]["write"], 0);
    assert_eq!(ws.all_resource_versions(), before);
}

#[test]
fn empty_maps_and_lists_are_proven() {
    is_proven(
        "
apiVersion: v1
kind: Pod
metadata: {name: it, labels: {}, annotations: {}, finalizers: []}
spec:
  securityContext: {}
  imagePullSecrets: []
  containers: [{name: web, image: 'shop/web:1', resources: {}, env: [], securityContext: {}, args: []}]
  volumes: [{name: tmp, emptyDir: {}}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: it}
spec: {podSelector: {}, ingress: [{}], policyTypes: [Ingress]}
",
    );
}

const DATABASE: &str = "
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: 'shop/db:1'}]}}
  volumeClaimTemplates:
  - apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: data, labels: {app: db}}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}
  - metadata: {name: log}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: '0.5Gi'}}, volumeMode: Filesystem}
";

#[test]
fn claim_templates_that_name_their_type_are_proven() {
    let ws = is_proven(DATABASE);
    ws.write("it.yaml", &DATABASE.replace("1024Mi", "2Gi"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let changes = diff.object("StatefulSet", "db")["changes"].as_array().unwrap().clone();
    let paths: Vec<&str> = changes.iter().map(|change| change["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["spec.volumeClaimTemplates[0].spec.resources.requests.storage"], "{diff}");
    assert_eq!((&changes[0]["live"], &changes[0]["desired"]), (&json!("1Gi"), &json!("2Gi")), "{diff}");
}

#[test]
fn defaults_of_every_depth_are_proven() {
    if is_before(34, "there is no ResourceClaim in `resource.k8s.io/v1`") {
        return;
    }
    is_proven(
        "
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: it}
spec:
  serviceName: it
  selector: {matchLabels: {app: it}}
  template:
    metadata: {labels: {app: it}, creationTimestamp: null}
    spec:
      containers:
      - name: web
        image: shop/web:1
        ports: [{containerPort: 80}]
        env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}, {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]
        readinessProbe: {httpGet: {port: 80}}
      volumes: [{name: all, projected: {sources: [{serviceAccountToken: {path: token}}]}}]
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}]
---
apiVersion: v1
kind: Endpoints
metadata: {name: it}
subsets: [{addresses: [{ip: 10.1.2.3}], ports: [{port: 80}]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: it}
roleRef: {kind: Role, name: it}
subjects: [{kind: User, name: ann}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: it}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NS}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [nothing.example.com], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]}
  validations: [{expression: 'true'}]
",
    );
}

/// A StatefulSet whose claims have these texts, each a whole template.
fn stateful_set(templates: &str) -> String {
    format!(
        "
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: it}}
spec:
  serviceName: it
  selector: {{matchLabels: {{app: it}}}}
  template:
    metadata: {{labels: {{app: it}}}}
    spec: {{containers: [{{name: web, image: 'shop/web:1'}}]}}
  volumeClaimTemplates: {templates}
"
    )
}

/// The server completes and normalises each template. What it adds is known from the LIST, so that no dry run is sent.
#[test]
fn claim_templates_are_proven_however_they_are_written() {
    let typed = "apiVersion: v1, kind: PersistentVolumeClaim";
    let spec =
        |size: &str| format!("spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: {size}}}}}}}");
    let plain = spec("1024Mi");
    for template in [
        format!("{{{typed}, metadata: {{name: data}}, {plain}}}"),
        format!("{{{typed}, metadata: {{name: data, creationTimestamp: null, labels: {{}}}}, {plain}, status: {{}}}}"),
        format!("{{metadata: {{name: data}}, {plain}, status: {{phase: Pending}}}}"),
        format!("{{{typed}, metadata: {{name: data}}, {}}}", spec("0.5Gi")),
        format!("{{{typed}, metadata: {{name: data}}, {}}}", spec("1073741824")),
        format!(
            "{{{typed}, metadata: {{name: data}}, {}}}, {{metadata: {{name: more}}, {}}}",
            spec("2048Ki"),
            spec("'1e9'")
        ),
    ] {
        let ws = is_proven(&stateful_set(&format!("[{template}]")));
        let text = ws.reconcile(["diff", "-f", "."]).exits_with(0);
        assert!(!text.stdout.contains("keeps its own value"), "{text}");
        ws.reconcile(["diff", "-f", ".", "--evidence=read-only"]).exits_with(0);
    }
    // Taken over from kubectl, in either way.
    let manifest = stateful_set(&format!("[{{{typed}, metadata: {{name: data}}, {plain}}}]"));
    for flags in [&["apply"][..], &["apply", "--server-side"]] {
        let ws = Workspace::new();
        ws.write("it.yaml", &manifest);
        ws.kubectl([flags, &["-f", "it.yaml"]].concat()).exits_with(0);
        ws.reconcile(["apply", "-f", ".", "--adopt=kubectl"]).exits_with(0);
        stays_proven(&ws);
    }
    // Another size is one difference, and what the server added is none.
    let ws = is_proven(&manifest);
    ws.write("it.yaml", &manifest.replace("1024Mi", "2Gi"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert!(!diff.stdout.contains("status") && !diff.stdout.contains("no longer in the manifest"), "{diff}");
    assert_eq!(diff.object("StatefulSet", "it")["changes"].as_array().unwrap().len(), 1, "{diff}");
}

#[test]
fn numeric_texts_stay_texts() {
    is_proven(
        "
apiVersion: v1
kind: ConfigMap
metadata: {name: it, annotations: {count: '3', big: '12345678901234567890', version: '1.10', flag: 'true', octal: '0644'}}
data: {count: '3', 'yes': 'yes', exponent: '1e3', empty: ''}
",
    );
}

#[test]
fn rules_that_a_controller_aggregates_are_not_ours() {
    let ws = is_proven(
        "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {aggregate-to: $NS}}]}
",
    );
    let rules = json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]});
    ws.patch_as("clusterrole-aggregation-controller", &format!("clusterrole/{}", ws.namespace()), &rules);
    stays_proven(&ws);
}

#[test]
fn a_bundle_of_certificates_that_somebody_injects_is_not_ours() {
    let ws = is_proven(
        "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: $NS}
webhooks:
- name: it.example.com
  clientConfig: {service: {namespace: $NS, name: it}}
  admissionReviewVersions: [v1]
  sideEffects: None
  rules: [{apiGroups: [nothing.example.com], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]
",
    );
    let object = format!("validatingwebhookconfiguration/{}", ws.namespace());
    let bundle = ws.get("ValidatingWebhookConfiguration", ws.namespace());
    let mut webhooks = bundle["webhooks"].clone();
    webhooks[0]["clientConfig"]["caBundle"] = json!("aGVsbG8=");
    ws.patch_as("cert-manager-cainjector", &object, &json!({"webhooks": webhooks}));
    stays_proven(&ws);
}

#[test]
fn defaults_of_a_custom_resource_are_proven() {
    let ws = Workspace::new();
    let definition = definition(
        "Thing",
        "
properties:
  parts: {type: array, items: {type: object, properties: {name: {type: string}, size: {type: integer, default: 3}}}}
  mode: {type: object, default: {}, properties: {fast: {type: boolean, default: true}}}
  tags: {type: array, default: [a, b], items: {type: string}}
  rules:
    type: array
    x-kubernetes-list-type: atomic
    items:
      type: object
      properties:
        name: {type: string}
        matches: {type: array, default: [{path: /}], items: {type: object, properties: {path: {type: string}}}}
",
    );
    let thing = "
apiVersion: $NS.example.com/v1
kind: Thing
metadata: {name: it}
spec: {parts: [{name: a}, {name: b, size: 1.0}], rules: [{name: all}, {name: one, matches: [{path: /one}]}]}
";
    ws.write("it.yaml", &[&definition, thing].join("---"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.wait_for_types();
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    stays_proven(&ws);
}

#[test]
fn the_rules_of_an_aggregated_role_are_the_control_planes() {
    for (rules, warns) in [("rules: []", false), ("rules:", false), (OTHER_RULES, true)] {
        let ws = Workspace::new();
        ws.write("role.yaml", &format!("{AGGREGATED}\n{rules}\n"));
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        // What the controller does in a cluster that has one.
        ws.apply_as(
            "clusterrole-aggregation-controller",
            "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: $NS-shop},
              rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}",
        );
        stays_proven(&ws);
        let run = ws.reconcile(["diff", "-f", "."]).exits_with(0);
        let warnings = &run.object("ClusterRole", &ws.fill_in("$NS-shop"))["warnings"];
        assert_eq!(
            warnings.to_string().contains("left out") && warnings.to_string().contains("`rules`"),
            warns,
            "{run}"
        );
    }
}

const AGGREGATED: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS-shop}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {example.com/shop: $NS}}]}";

const OTHER_RULES: &str = "rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]";

/// The limits of containers follow from one another (`SetDefaults_LimitRangeItem`); those of Pods do not.
const LIMITS: &str = "
apiVersion: v1
kind: LimitRange
metadata: {name: it}
spec:
  limits:
  - {type: Container, default: {cpu: 500m}, max: {cpu: '1', memory: 1024Mi}, min: {cpu: 10m, memory: 1Mi, ephemeral-storage: 1Ki}}
  - {type: Pod, max: {cpu: '4'}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: other}
spec: {limits: [{type: Container, default: {cpu: '0.5'}, defaultRequest: {memory: 1Mi}}]}
";

#[test]
fn limits_that_follow_from_others_are_no_difference() {
    let ws = is_proven(LIMITS);
    ws.write("it.yaml", &LIMITS.replace("metadata: {name: it}", "metadata: {name: it, labels: {a: b}}"));
    for evidence in ["auto", "read-only"] {
        let diff = ws.reconcile(["diff", "-f", ".", "--evidence", evidence]).exits_with(1);
        assert_eq!(diff.changes("LimitRange", "it"), ["absent metadata.labels.a"], "{evidence}");
    }
    ws.write("it.yaml", &LIMITS.replace("default: {cpu: 500m}", "default: {cpu: 600m}"));
    let changes = ["auto", "read-only"].map(|evidence| {
        ws.reconcile(["diff", "-f", ".", "--evidence", evidence]).exits_with(1).changes("LimitRange", "it")
    });
    assert_eq!(changes[0], changes[1], "the server says the same");
    assert!(changes[0].iter().any(|change| change.contains("defaultRequest.cpu")), "{changes:?}");

    // What somebody sets by hand is not what the server would.
    ws.write("it.yaml", LIMITS);
    let patch = json!([{"op": "replace", "path": "/spec/limits/0/defaultRequest/cpu", "value": "400m"}]).to_string();
    ws.kubectl(["patch", "limitrange/other", "--type=json", "-p", &patch]).exits_with(0);
    for evidence in ["auto", "read-only"] {
        ws.reconcile(["diff", "-f", ".", "--evidence", evidence]).exits_with(1);
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", ".", "--evidence=read-only"]).exits_with(0);
}
