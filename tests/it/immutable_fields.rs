//! The fields that the API refuses to change are known without a dry run: the verdict is that of the server.

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace, is_before};
use crate::immutable::{CASES, Edit, WORKLOAD};

/// A kind, a manifest of it, and an edit. `$NAME` is the name of the object, `$NS-$NAME` that of a cluster-scoped one.
type Row = (&'static str, &'static str, Edit);

const SET: &str = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: $NAME}, spec: {replicas: 1, serviceName: old, podManagementPolicy: Parallel, selector: {matchLabels: {app: old}}, template: {metadata: {labels: {app: old}}, spec: {containers: [{name: a, image: a}]}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: a, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}";
const JOB: &str = "{apiVersion: batch/v1, kind: Job, metadata: {name: $NAME}, spec: {parallelism: 1, completions: 1, suspend: false, backoffLimitPerIndex: 1, completionMode: Indexed, podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: In, values: [1]}}]}, template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: a, image: a, env: [{name: A, value: a}]}]}}}}";
const PLAIN_JOB: &str = "{apiVersion: batch/v1, kind: Job, metadata: {name: $NAME}, spec: {parallelism: 1, completions: 1, manualSelector: true, selector: {matchLabels: {a: old}}, template: {metadata: {labels: {a: old, b: new}}, spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}";
const SUSPENDED: &str = "{apiVersion: batch/v1, kind: Job, metadata: {name: $NAME}, spec: {suspend: true, template: {spec: {restartPolicy: Never, nodeSelector: {a: b}, containers: [{name: a, image: a}]}}}}";
const CLAIM: &str = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: $NAME}, spec: {storageClassName: a, volumeName: $NAME-a, volumeMode: Filesystem, accessModes: [ReadWriteOnce], selector: {matchLabels: {a: b}}, resources: {requests: {storage: 2Gi}}}}";
const OPEN_CLAIM: &str = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: $NAME}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}";
const VOLUME: &str = "{apiVersion: v1, kind: PersistentVolume, metadata: {name: $NS-$NAME}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, volumeMode: Filesystem, nfs: {server: a, path: /a}}}";
const CSI_VOLUME: &str = "{apiVersion: v1, kind: PersistentVolume, metadata: {name: $NS-$NAME}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: example.com, volumeHandle: a}}}";
const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: $NAME}, spec: {hostname: one, subdomain: one, restartPolicy: Always, containers: [{name: a, image: a, args: [a], env: [{name: A, value: a}]}]}}";
const SERVICE: &str = "{apiVersion: v1, kind: Service, metadata: {name: $NAME}, spec: {clusterIP: None, ports: [{port: 80}], selector: {app: old}}}";
const ADDRESS: &str = "{apiVersion: v1, kind: Service, metadata: {name: $NAME}, spec: {clusterIP: 10.0.0.12, ports: [{port: 80}], selector: {app: old}}}";
const FIXED_MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: $NAME}, immutable: true, data: {a: b, c: d}, binaryData: {e: ZQ==}}";
const MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: $NAME}, data: {a: b}}";
const FIXED_SECRET: &str =
    "{apiVersion: v1, kind: Secret, metadata: {name: $NAME}, immutable: true, stringData: {a: public}}";
const SECRET: &str = "{apiVersion: v1, kind: Secret, metadata: {name: $NAME}, stringData: {a: public}}";
const CLASS: &str = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: $NS-$NAME}, provisioner: example.com/a, parameters: {a: b, c: d}, reclaimPolicy: Retain, volumeBindingMode: WaitForFirstConsumer, allowVolumeExpansion: false}";
const DRIVER: &str = "{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: $NS-$NAME}, spec: {attachRequired: false, podInfoOnMount: false, volumeLifecycleModes: [Persistent]}}";
const ATTRIBUTES: &str = "{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {name: $NS-$NAME}, driverName: example.com/a, parameters: {a: b}}";
const BINDING: &str = "{apiVersion: rbac.authorization.k8s.io/v1, kind: $KIND, metadata: {name: $IN$NAME}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a}, subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: ann}]}";
const INGRESS_CLASS: &str = "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: $NS-$NAME}, spec: {controller: example.com/a, parameters: {kind: Thing, apiGroup: example.com, name: old}}}";
const PRIORITY: &str = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: $NS-$NAME}, value: 10, preemptionPolicy: Never, description: old}";
const RUNTIME: &str = "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: $NS-$NAME}, handler: old, scheduling: {nodeSelector: {a: b}}}";
const SLICE: &str = "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: $NAME}, addressType: IPv4, endpoints: [{addresses: [10.1.2.3]}]}";
const REVISION: &str =
    "{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: $NAME}, revision: 1, data: {a: b}}";
const RESOURCES: &str = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: $NAME}, spec: {devices: {requests: [{name: a, exactly: {deviceClassName: old}}]}}}";
const RESOURCES_TEMPLATE: &str = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: $NAME}, spec: {spec: {devices: {requests: [{name: a, exactly: {deviceClassName: old}}]}}}}";
const DEFINITION: &str = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: $NAMEs.$NS.example.com}, spec: {group: $NS.example.com, scope: Namespaced, names: {kind: It$NAME, plural: $NAMEs}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}";

const DEFAULT_CLASS: &str = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: $NS-$NAME}, provisioner: example.com/a, reclaimPolicy: Delete, volumeBindingMode: Immediate}";
const TYPED_SECRET: &str =
    "{apiVersion: v1, kind: Secret, metadata: {name: $NAME}, type: Opaque, stringData: {a: public}}";
const LEFT_CLAIM: &str = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: $NAME, annotations: {kubectl-reconcile/ignore: spec.storageClassName}}, spec: {storageClassName: a, accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}";

/// Changes that the server refuses.
const REFUSED: &[Row] = &[
    ("ReplicaSet", WORKLOAD, ("app: old", "app: new")),
    ("StatefulSet", SET, ("app: old", "app: new")),
    ("StatefulSet", SET, ("serviceName: old", "serviceName: new")),
    ("StatefulSet", SET, ("serviceName: old, ", "")),
    ("StatefulSet", SET, ("Parallel", "OrderedReady")),
    ("StatefulSet", SET, ("podManagementPolicy: Parallel, ", "")),
    ("StatefulSet", SET, ("1Gi", "2Gi")),
    ("StatefulSet", SET, ("storageClassName: a, ", "")),
    ("ControllerRevision", REVISION, ("a: b", "a: c")),
    ("Job", JOB, ("image: a", "image: b")),
    ("Job", JOB, ("value: a", "value: b")),
    ("Job", JOB, ("{name: A, value: a}", "{name: A, value: a}, {name: B, value: b}")),
    ("Job", JOB, (", env: [{name: A, value: a}]", "")),
    ("Job", JOB, ("value: a", "valueFrom: {fieldRef: {fieldPath: metadata.name}}")),
    ("Job", JOB, ("{a: b}", "{a: c}")),
    ("Job", JOB, ("image: a", "image: a, resources: {limits: {cpu: 1}}")),
    ("Job", JOB, ("values: [1]", "values: [2]")),
    ("Job", JOB, ("backoffLimitPerIndex: 1", "backoffLimitPerIndex: 2")),
    ("Job", JOB, ("backoffLimitPerIndex: 1, completionMode: Indexed", "completionMode: NonIndexed")),
    ("Job", PLAIN_JOB, ("completions: 1", "completions: 2")),
    ("Job", PLAIN_JOB, ("matchLabels: {a: old}", "matchLabels: {b: new}")),
    ("PersistentVolumeClaim", CLAIM, ("storageClassName: a", "storageClassName: b")),
    ("PersistentVolumeClaim", CLAIM, ("storageClassName: a, ", "")),
    ("PersistentVolumeClaim", CLAIM, ("ReadWriteOnce", "ReadWriteOnce, ReadOnlyMany")),
    ("PersistentVolumeClaim", CLAIM, ("Filesystem", "Block")),
    ("PersistentVolumeClaim", CLAIM, ("{a: b}", "{a: c}")),
    ("PersistentVolumeClaim", CLAIM, ("selector: {matchLabels: {a: b}}, ", "")),
    ("PersistentVolumeClaim", CLAIM, ("$NAME-a", "$NAME-b")),
    ("PersistentVolumeClaim", OPEN_CLAIM, ("2Gi", "3Gi")),
    ("PersistentVolumeClaim", OPEN_CLAIM, ("2Gi", "1Gi")),
    ("PersistentVolume", VOLUME, ("path: /a", "path: /b")),
    ("PersistentVolume", VOLUME, ("nfs: {server: a, path: /a}", "hostPath: {path: /a}")),
    ("PersistentVolume", VOLUME, ("Filesystem", "Block")),
    ("PersistentVolume", CSI_VOLUME, ("volumeHandle: a", "volumeHandle: b")),
    ("Pod", POD, ("hostname: one", "hostname: two")),
    ("Pod", POD, ("subdomain: one, ", "")),
    ("Pod", POD, ("restartPolicy: Always", "restartPolicy: Never")),
    ("Pod", POD, ("args: [a]", "args: [b]")),
    ("Pod", POD, ("value: a", "value: b")),
    ("Service", SERVICE, ("clusterIP: None", "clusterIP: 10.0.0.11")),
    ("Service", ADDRESS, ("10.0.0.12", "10.0.0.13")),
    ("ConfigMap", FIXED_MAP, ("a: b", "a: c")),
    ("ConfigMap", FIXED_MAP, (", c: d", "")),
    ("ConfigMap", FIXED_MAP, ("ZQ==", "Zg==")),
    ("ConfigMap", FIXED_MAP, ("immutable: true", "immutable: false")),
    ("ConfigMap", FIXED_MAP, ("immutable: true, data: {a: b", "data: {a: c")),
    ("Secret", FIXED_SECRET, ("public", "published")),
    ("Secret", FIXED_SECRET, ("immutable: true, ", "")),
    ("Secret", SECRET, ("stringData", "type: example.com/it, stringData")),
    ("StorageClass", CLASS, ("a: b", "a: c")),
    ("StorageClass", CLASS, (", c: d", "")),
    ("StorageClass", CLASS, ("example.com/a", "example.com/b")),
    ("StorageClass", CLASS, ("Retain", "Delete")),
    ("StorageClass", CLASS, ("reclaimPolicy: Retain, ", "")),
    ("StorageClass", CLASS, ("WaitForFirstConsumer", "Immediate")),
    ("CSIDriver", DRIVER, ("attachRequired: false", "attachRequired: true")),
    ("CSIDriver", DRIVER, ("[Persistent]", "[Persistent, Ephemeral]")),
    ("RoleBinding", BINDING, ("name: a}", "name: b}")),
    ("ClusterRoleBinding", BINDING, ("name: a}", "name: b}")),
    ("IngressClass", INGRESS_CLASS, ("example.com/a", "example.com/b")),
    ("PriorityClass", PRIORITY, ("value: 10", "value: 11")),
    ("PriorityClass", PRIORITY, ("Never", "PreemptLowerPriority")),
    ("PriorityClass", PRIORITY, ("preemptionPolicy: Never, ", "")),
    ("RuntimeClass", RUNTIME, ("handler: old", "handler: new")),
    (
        "EndpointSlice",
        SLICE,
        ("IPv4, endpoints: [{addresses: [10.1.2.3]}]", "IPv6, endpoints: [{addresses: ['fd00::1']}]"),
    ),
    ("CustomResourceDefinition", DEFINITION, ("Namespaced", "Cluster")),
    ("CustomResourceDefinition", DEFINITION, ("kind: It", "kind: Other")),
    ("ConfigMap", FIXED_MAP, ("data: {a: b, c: d}, ", "")),
];

/// Changes that it refuses since these kinds are stable, in Kubernetes 1.34.
const NEW: &[Row] = &[
    ("VolumeAttributesClass", ATTRIBUTES, ("example.com/a", "example.com/b")),
    ("VolumeAttributesClass", ATTRIBUTES, ("a: b", "a: c")),
    ("ResourceClaim", RESOURCES, ("deviceClassName: old", "deviceClassName: new")),
    ("ResourceClaimTemplate", RESOURCES_TEMPLATE, ("deviceClassName: old", "deviceClassName: new")),
];

/// Changes of fields beside those, and of other spellings, which the server takes or does not even see.
const TAKEN: &[Row] = &[
    ("Deployment", WORKLOAD, ("image: a", "image: b")),
    ("Deployment", WORKLOAD, ("selector: {matchLabels", "selector: {matchExpressions: [], matchLabels")),
    ("DaemonSet", WORKLOAD, ("labels: {app: old}", "labels: {app: old, more: new}")),
    ("StatefulSet", SET, ("replicas: 1", "replicas: 2")),
    ("StatefulSet", SET, ("image: a", "image: b")),
    ("StatefulSet", SET, ("1Gi", "1024Mi")),
    ("StatefulSet", SET, ("storageClassName: a, ", "storageClassName: a, volumeMode: Filesystem, ")),
    ("Job", JOB, ("suspend: false", "suspend: true")),
    ("Job", JOB, ("parallelism: 1", "parallelism: 0")),
    ("Job", JOB, ("parallelism: 1, completions: 1", "parallelism: 2, completions: 2")),
    ("Job", JOB, ("image: a", "image: a, imagePullPolicy: Always")),
    ("Job", JOB, ("restartPolicy: Never", "restartPolicy: Never, securityContext: {}, hostNetwork: false")),
    ("Job", SUSPENDED, ("{a: b}", "{a: c}")),
    ("PersistentVolumeClaim", CLAIM, ("2Gi", "2048Mi")),
    ("PersistentVolumeClaim", CLAIM, ("volumeMode: Filesystem, ", "")),
    ("PersistentVolumeClaim", CLAIM, ("name: $NAME}", "name: $NAME, labels: {a: b}}")),
    ("PersistentVolumeClaim", OPEN_CLAIM, ("spec: {", "spec: {storageClassName: a, ")),
    ("PersistentVolumeClaim", OPEN_CLAIM, ("spec: {", "spec: {volumeName: $NAME-a, ")),
    ("PersistentVolume", VOLUME, ("storage: 1Gi", "storage: 2Gi")),
    (
        "PersistentVolume",
        CSI_VOLUME,
        ("volumeHandle: a", "volumeHandle: a, controllerExpandSecretRef: {namespace: a, name: a}"),
    ),
    ("Pod", POD, ("image: a", "image: b")),
    ("Service", SERVICE, ("app: old", "app: new")),
    ("Service", SERVICE, ("clusterIP: None, ports", "ports")),
    ("ConfigMap", MAP, ("a: b", "a: c")),
    ("ConfigMap", MAP, ("data: {a: b}", "immutable: true, data: {a: c}")),
    ("ConfigMap", FIXED_MAP, ("name: $NAME}", "name: $NAME, labels: {a: b}}")),
    ("Secret", SECRET, ("public", "published")),
    ("Secret", SECRET, ("stringData", "type: Opaque, stringData")),
    ("StorageClass", CLASS, ("allowVolumeExpansion: false", "allowVolumeExpansion: true")),
    ("CSIDriver", DRIVER, ("podInfoOnMount: false", "podInfoOnMount: true")),
    ("IngressClass", INGRESS_CLASS, ("name: old}", "name: new}")),
    ("PriorityClass", PRIORITY, ("description: old", "description: new")),
    ("RuntimeClass", RUNTIME, ("{a: b}", "{a: c}")),
    ("StorageClass", DEFAULT_CLASS, (", reclaimPolicy: Delete, volumeBindingMode: Immediate", "")),
    ("Secret", TYPED_SECRET, ("type: Opaque, ", "")),
    ("Secret", FIXED_SECRET, ("stringData: {a: public}", "data: {a: cHVibGlj}")),
    ("Job", PLAIN_JOB, ("parallelism: 1", "parallelism: 1, completionMode: NonIndexed")),
    ("ReplicaSet", WORKLOAD, ("image: a", "image: b")),
    ("RoleBinding", BINDING, ("roleRef: {apiGroup: rbac.authorization.k8s.io, ", "roleRef: {")),
    ("RoleBinding", BINDING, ("name: ann", "name: bob")),
    (
        "Service",
        SERVICE,
        ("clusterIP: None, ports: [{port: 80}], selector: {app: old}", "type: ExternalName, externalName: example.com"),
    ),
    (
        "Pod",
        POD,
        ("hostname: one", "hostname: one, activeDeadlineSeconds: 600, tolerations: [{key: a, operator: Exists}]"),
    ),
    ("CustomResourceDefinition", DEFINITION, ("served: true", "served: true, deprecated: true")),
    (
        "StatefulSet",
        SET,
        (
            "volumeClaimTemplates: [{metadata",
            "volumeClaimTemplates: [{apiVersion: v1, kind: PersistentVolumeClaim, metadata",
        ),
    ),
    ("PersistentVolume", VOLUME, ("path: /a", "path: /a, readOnly: false")),
    ("EndpointSlice", SLICE, ("10.1.2.3", "10.1.2.4")),
    ("ControllerRevision", REVISION, ("revision: 1", "revision: 2")),
    ("PersistentVolumeClaim", LEFT_CLAIM, ("storageClassName: a", "storageClassName: b")),
];

/// The manifests of one row, before and after the edit, with the name of their object.
fn manifests(ws: &Workspace, at: usize, (kind, manifest, (from, to)): Row) -> (String, String, String) {
    let scope = if kind.starts_with("Cluster") { "$NS-" } else { "" };
    let before = manifest
        .replace("$KIND", kind)
        .replace("$IN", scope)
        .replace("name: it}", "name: $NAME}")
        .replace("$NS-it}", "$NS-$NAME}");
    assert!(before.contains(from), "{kind}: {from}");
    let name = format!("it{at}");
    let fill_in = |text: &str| ws.fill_in(&text.replace("$NAME", &name));
    let shown = if kind == "CustomResourceDefinition" {
        "$NAMEs.$NS.example.com"
    } else if before.contains("$NS-$NAME") {
        "$NS-$NAME"
    } else {
        "$NAME"
    };
    (fill_in(&before), fill_in(&before.replaced(from, to)), fill_in(shown))
}

/// Applies the manifests before their edits, and compares those after them: with dry runs, without, and with a snapshot.
fn compared(ws: &Workspace, rows: &[Row]) -> ([Run; 3], Vec<String>) {
    let all: Vec<_> = rows.iter().enumerate().map(|(at, row)| manifests(ws, at, *row)).collect();
    let write = |text: fn(&(String, String, String)) -> &str| {
        ws.write("it.yaml", &all.iter().map(text).collect::<Vec<_>>().join("\n---\n"));
    };
    write(|(before, _, _)| before);
    ws.reconcile(["apply", "-f", "it.yaml"]).exits_with(0);
    ws.reconcile(["snapshot", "-f", "it.yaml", "--include-secrets", "--file", "live.yaml"]).exits_with(0);
    write(|(_, after, _)| after);
    let evidence = [["--evidence", "server"], ["--evidence", "read-only"], ["--live", "live.yaml"]];
    let runs = evidence.map(|evidence| ws.reconcile([&["diff", "-f", "it.yaml"][..], &evidence].concat()));
    (runs, all.into_iter().map(|(_, _, name)| name).collect())
}

/// The fields that a reason names, one for each of its sentences.
fn named(reason: &Value) -> Vec<&str> {
    let sentences = reason.as_str().unwrap_or_default().split("; ");
    let ends = [" cannot be changed", " is immutable", " are immutable"];
    let of_sentence =
        |sentence: &'_ str| ends.iter().find_map(|end| Some(sentence.split_once(end)?.0.len())).unwrap_or_default();
    sentences.map(|sentence| &sentence[..of_sentence(sentence)]).collect()
}

/// Returns true if two verdicts are the same: the server was asked about the first.
fn is_same(asked: &Value, local: &Value) -> bool {
    let fields = (named(&asked["reason"]), named(&local["reason"]));
    // Before 1.37, a StatefulSet is named as a whole.
    let is_whole = asked["kind"] == "StatefulSet" && fields.0 == ["spec"] && fields.1 != ["spec"];
    // 1.30 says two things about a claim that shrinks.
    let is_more = asked["kind"] == "PersistentVolumeClaim" && fields.1 == ["spec"] && fields.0.first() == Some(&"spec");
    ["action", "replacement", "evidence", "changes", "hint", "warnings"].iter().all(|name| asked[name] == local[name])
        && (fields.0 == fields.1 || is_whole || is_more)
}

#[test]
fn a_comparison_without_a_dry_run_finds_what_the_server_refuses() {
    let ws = Workspace::new();
    let mut rows: Vec<Row> = REFUSED.to_vec();
    // An address can be taken once.
    let others = CASES.into_iter().filter(|(kind, ..)| *kind != "Service");
    rows.extend(others.map(|(kind, manifest, edit, ..)| (kind, manifest, edit)));
    if !is_before(34, "some kinds are not served in these versions") {
        rows.extend(NEW);
    }
    let (runs, names) = compared(&ws, &rows);
    let mut wrong = Vec::new();
    for (name, (kind, _, edit)) in names.iter().zip(&rows) {
        let [asked, local, offline] = runs.each_ref().map(|run| run.object(kind, name));
        if asked["action"] != "replace" || !is_same(asked, local) || !is_same(asked, offline) {
            wrong.push(format!("{kind} {edit:?}\n  {asked}\n  {local}\n  {offline}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    for evidence in ["--evidence=server", "--evidence=read-only", "--live=live.yaml"] {
        ws.reconcile(["diff", "-f", "it.yaml", "--fail-on", "replace", evidence]).exits_with(1);
    }
}

#[test]
fn a_comparison_without_a_dry_run_refuses_nothing_else() {
    let ws = Workspace::new();
    let (runs, names) = compared(&ws, TAKEN);
    let mut wrong = Vec::new();
    for (name, (kind, _, edit)) in names.iter().zip(TAKEN) {
        let [asked, local, offline] = runs.each_ref().map(|run| run.object(kind, name));
        let is_taken = |object: &&Value| object["action"] == "update" || object["action"] == "none";
        if ![asked, local, offline].iter().all(is_taken) {
            wrong.push(format!("{kind} {edit:?}\n  {asked}\n  {local}\n  {offline}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), TAKEN.len(), wrong.join("\n"));
    for evidence in ["--evidence=server", "--evidence=read-only", "--live=live.yaml"] {
        ws.reconcile(["diff", "-f", "it.yaml", "--fail-on", "replace", evidence]).exits_with(0);
    }
}

#[test]
fn a_claim_that_has_its_volume_can_grow_and_cannot_shrink() {
    let ws = Workspace::new();
    ws.write(
        "class.yaml",
        "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: $NS-it}, provisioner: example.com/a, allowVolumeExpansion: true}",
    );
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: it}, spec: {storageClassName: $NS-it, accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}}";
    ws.write("claim.yaml", claim);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let status = r#"{"status": {"phase": "Bound", "capacity": {"storage": "2Gi"}}}"#;
    ws.kubectl(["patch", "pvc", "it", "--subresource=status", "--type=merge", "-p", status]).exits_with(0);
    let verdicts = |size: &str| {
        ws.write("claim.yaml", &claim.replaced("2Gi", size));
        let runs = ["server", "read-only"].map(|evidence| ws.reconcile(["diff", "-f", ".", "--evidence", evidence]));
        runs.map(|run| run.object("PersistentVolumeClaim", "it").clone())
    };
    let [asked, local] = verdicts("3Gi");
    assert_eq!((&asked["action"], &local["action"]), (&json!("update"), &json!("update")), "{asked:#}\n{local:#}");
    let [asked, local] = verdicts("1Gi");
    assert!(asked["action"] == "replace" && is_same(&asked, &local), "{asked:#}\n{local:#}");
}

#[test]
fn a_reader_who_may_not_try_an_apply_sees_what_needs_a_replacement() {
    let ws = Workspace::new();
    let manifest = WORKLOAD.replace("$KIND", "Deployment");
    ws.write("it.yaml", &manifest);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &manifest.replace("app: old", "app: new"));
    let asked = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    ws.allow("reader", "get,list", "deployments");
    let refused = ws.as_user("reader").reconcile(["diff", "-f", ".", "--fail-on", "replace"]).exits_with(1);
    let (asked, refused) = (asked.object("Deployment", "it"), refused.object("Deployment", "it"));
    for field in ["action", "replacement", "reason", "hint", "changes"] {
        assert_eq!(asked[field], refused[field], "{refused:#}");
    }
}
