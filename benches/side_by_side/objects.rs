//! Made-up objects of ten kinds, two of them custom resources.

use kube_yaml::Validation;
use serde_json::{Value, json};

/// The group of the custom resources.
pub const GROUP: &str = "bench.example.com";

/// The kinds: the group and version, the kind, the plural, and the rest of the manifest.
const KINDS: [(&str, &str, &str, &str); 10] = [
    ("v1", "ConfigMap", "configmaps", "data: {colour: red, app.conf: \"a = 1\\nb = 2\\n\"}\n"),
    ("v1", "Secret", "secrets", "stringData: {token: made-up}\n"),
    ("v1", "Service", "services", "spec: {clusterIP: None, selector: {app: a}, ports: [{name: http, port: 80}]}\n"),
    ("v1", "ServiceAccount", "serviceaccounts", "automountServiceAccountToken: false\n"),
    (
        "apps/v1",
        "Deployment",
        "deployments",
        "spec:\n  replicas: 0\n  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: a}}\n    spec:\n      \
         containers:\n      - name: main\n        image: registry.example.com/app:1\n        env: [{name: LOG, value: info}]\n        \
         ports: [{containerPort: 8080}]\n        resources: {requests: {cpu: 0.1, memory: 0.5Gi}}\n",
    ),
    (
        "apps/v1",
        "StatefulSet",
        "statefulsets",
        "spec:\n  replicas: 0\n  serviceName: a\n  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: a}}\n    \
         spec:\n      containers:\n      - name: main\n        image: registry.example.com/database:1\n        \
         volumeMounts: [{name: data, mountPath: /data}]\n  volumeClaimTemplates:\n  - metadata: {name: data}\n    \
         spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n",
    ),
    (
        "batch/v1",
        "CronJob",
        "cronjobs",
        "spec:\n  schedule: '0 3 * * *'\n  suspend: true\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          \
         restartPolicy: Never\n          containers: [{name: main, image: 'registry.example.com/job:1', args: [--verbose]}]\n",
    ),
    (
        "networking.k8s.io/v1",
        "NetworkPolicy",
        "networkpolicies",
        "spec:\n  podSelector: {matchLabels: {app: a}}\n  ingress: [{from: [{podSelector: {}}], ports: [{port: 8080}]}]\n",
    ),
    (
        "bench.example.com/v1",
        "Widget",
        "widgets",
        "spec:\n  size: 3\n  tags: [a, b]\n  parts: [{name: left, weight: 1}, {name: right, weight: 2}]\n",
    ),
    ("bench.example.com/v1", "Gadget", "gadgets", "spec: {size: 5, tags: [c], parts: [{name: only, weight: 9}]}\n"),
];

/// The path of an object, and its manifest.
pub struct Object {
    /// Its path.
    pub path: String,
    /// Its manifest as JSON.
    pub manifest: Value,
}

/// The manifest of an object of a kind, with this number in its name.
pub fn of_kind(kind: &str, number: usize, namespace: &str) -> String {
    let (version, kind, _, rest) = KINDS.into_iter().find(|known| known.1 == kind).expect("one of the kinds");
    format!(
        "---\napiVersion: {version}\nkind: {kind}\nmetadata:\n  name: object-{number}\n  namespace: {namespace}\n  \
         labels: {{bench: 'yes', app.kubernetes.io/part-of: bench}}\n{rest}"
    )
}

/// The manifests of these objects, in one text.
pub fn manifests(indices: impl Iterator<Item = usize>, namespace: &str) -> String {
    indices.map(|index| of_kind(KINDS[index % KINDS.len()].1, index, namespace)).collect()
}

/// The kinds, each with the path of its collection, in one namespace or in all.
pub fn collections(namespace: Option<&str>) -> impl Iterator<Item = (&'static str, String)> {
    KINDS.into_iter().map(move |(version, kind, plural, _)| (kind, collection(version, plural, namespace)))
}

/// The objects of a text of manifests.
pub fn objects(text: &str) -> Vec<Object> {
    let stream = kube_yaml::read(text.as_bytes(), Validation::Strict);
    let read = stream.documents.into_iter().map(|document| {
        let manifest = document.value;
        let field = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str);
        let (_, _, plural, _) =
            KINDS.into_iter().find(|kind| field("/kind") == Some(kind.1)).expect("one of the kinds");
        let version = field("/apiVersion").expect("a version");
        let name = field("/metadata/name").expect("a name");
        let path = format!("{}/{name}", collection(version, plural, field("/metadata/namespace")));
        Object { path, manifest }
    });
    read.collect()
}

fn collection(version: &str, plural: &str, namespace: Option<&str>) -> String {
    let root = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
    namespace.map_or(format!("{root}/{plural}"), |namespace| format!("{root}/namespaces/{namespace}/{plural}"))
}

/// The definitions of the custom resources.
pub fn definitions() -> [Value; 2] {
    [("Widget", "widgets", "widget"), ("Gadget", "gadgets", "gadget")].map(|(kind, plural, singular)| {
        let part = json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "weight": {"type": "integer", "default": 1}}});
        let spec = json!({"type": "object", "properties": {
            "size": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "parts": {"type": "array", "items": part, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        }});
        let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{GROUP}")},
            "spec": {
                "group": GROUP, "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": singular, "listKind": format!("{kind}List")},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
            },
        })
    })
}
