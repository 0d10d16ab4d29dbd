//! The table of the immutable fields, with the functions of Kubernetes that refuse their changes.

use serde_json::Value;
use structured_merge::{FieldPath, GroupVersionKind};

/// A field that cannot be changed.
pub(super) struct ImmutableField {
    path: &'static str,
    /// The field that the server names when it refuses the change.
    pub named: &'static str,
    /// The value that the field has where the manifest does not have it any more.
    pub unset: Unset,
    /// Returns true of a live object and the object to be if the server refuses the change.
    pub is_refused: fn(&Value, &Value) -> bool,
    /// Names of fields inside of it that can be changed.
    pub mutable: &'static [&'static str],
}

/// The value of a field that is no longer in a manifest.
pub(super) enum Unset {
    /// It is not known here: the field may be required, or get a default.
    Unknown,
    /// None.
    Nothing,
    /// This default.
    Default(&'static str),
}

/// The fields of a kind that Kubernetes 1.30 to 1.37 all refuse to change.
pub(super) fn immutable_fields(gvk: &GroupVersionKind) -> &'static [ImmutableField] {
    let mut rows = IMMUTABLE_FIELDS.iter();
    let row = rows.find(|(group, kinds, _)| gvk.group == *group && kinds.contains(&gvk.kind.as_str()));
    row.map_or(&[], |(_, _, fields)| fields)
}

/// A field that cannot be changed from one value to another.
const fn field(path: &'static str) -> ImmutableField {
    ImmutableField { path, named: path, unset: Unset::Unknown, is_refused: always, mutable: &[] }
}

impl ImmutableField {
    /// Its path.
    pub fn path(&self) -> FieldPath {
        FieldPath::of(&self.path.split('.').collect::<Vec<_>>())
    }

    /// The field, with the name that the server gives it.
    const fn named(self, named: &'static str) -> Self {
        Self { named, ..self }
    }

    /// The field, which can be absent.
    const fn or_nothing(self) -> Self {
        Self { unset: Unset::Nothing, ..self }
    }

    /// The field, with its default.
    const fn or_default(self, default: &'static str) -> Self {
        Self { unset: Unset::Default(default), ..self }
    }

    /// The field, if the server refuses only some of its changes.
    const fn only_if(self, is_refused: fn(&Value, &Value) -> bool) -> Self {
        Self { is_refused, ..self }
    }

    /// The field, without some of those inside of it.
    const fn but(self, mutable: &'static [&'static str]) -> Self {
        Self { mutable, ..self }
    }
}

/// The kinds of each group, with their fields. Paths are in `k8s.io/kubernetes`.
const IMMUTABLE_FIELDS: &[(&str, &[&str], &[ImmutableField])] = &[
    // `pkg/apis/apps/validation/validation.go`, `ValidateDeploymentUpdate`, `ValidateReplicaSetUpdate`, `ValidateDaemonSetSpecUpdate`;
    // before 1.34 `pkg/registry/apps/*/strategy.go`, `ValidateUpdate`.
    ("apps", &["Deployment", "ReplicaSet", "DaemonSet"], &[field("spec.selector").only_if(selects_its_pods)]),
    // There, `ValidateStatefulSetUpdate`. Before 1.37 it names `spec` as a whole.
    (
        "apps",
        &["StatefulSet"],
        &[
            field("spec.selector").only_if(selects_its_pods),
            field("spec.serviceName").or_nothing(),
            field("spec.podManagementPolicy").or_default("OrderedReady"),
            field("spec.volumeClaimTemplates").or_nothing(),
        ],
    ),
    // There, `ValidateControllerRevisionUpdate`.
    ("apps", &["ControllerRevision"], &[field("data")]),
    // `pkg/apis/batch/validation/validation.go`, `ValidateJobSpecUpdate`.
    (
        "batch",
        &["Job"],
        &[
            field("spec.selector").only_if(selects_by_hand),
            field("spec.template").only_if(is_never_suspended),
            field("spec.completionMode").or_default("NonIndexed"),
            field("spec.completions").only_if(is_never_indexed),
            field("spec.podFailurePolicy").or_nothing(),
            field("spec.backoffLimitPerIndex").or_nothing(),
        ],
    ),
    // `pkg/apis/core/validation/validation.go`, `ValidatePersistentVolumeClaimUpdate`. A data source is in two fields that have to be equal.
    (
        "",
        &["PersistentVolumeClaim"],
        &[
            field("spec.accessModes").named("spec"),
            field("spec.storageClassName").named("spec").or_nothing().only_if(has_class),
            field("spec.volumeMode").named("spec").or_default("Filesystem"),
            field("spec.volumeMode").named("volumeMode").or_default("Filesystem"),
            field("spec.selector").named("spec").or_nothing(),
            field("spec.volumeName").named("spec").or_nothing().only_if(has_volume),
            field("spec.resources").named("spec").only_if(is_unbound),
        ],
    ),
    // There, `ValidatePersistentVolumeUpdate`. A secret for expansions may be added to a CSI volume.
    (
        "",
        &["PersistentVolume"],
        &[
            source("spec.awsElasticBlockStore"),
            source("spec.azureDisk"),
            source("spec.azureFile"),
            source("spec.cephfs"),
            source("spec.cinder"),
            source("spec.csi").but(&["controllerExpandSecretRef"]),
            source("spec.fc"),
            source("spec.flexVolume"),
            source("spec.gcePersistentDisk"),
            source("spec.hostPath"),
            source("spec.iscsi"),
            source("spec.local"),
            source("spec.nfs"),
            source("spec.rbd"),
            source("spec.vsphereVolume"),
            field("spec.volumeMode").named("volumeMode").or_default("Filesystem"),
        ],
    ),
    // There, `ValidatePodUpdate`.
    (
        "",
        &["Pod"],
        &[
            field("spec.hostname").named("spec").or_nothing(),
            field("spec.subdomain").named("spec").or_nothing(),
            field("spec.restartPolicy").named("spec").or_default("Always"),
            field("spec.serviceAccountName").named("spec"),
            field("spec.containers").named("spec").but(&["image", "resources"]).only_if(has_the_same_containers),
        ],
    ),
    // There, `validateUpgradeDowngradeClusterIPs`.
    ("", &["Service"], &[field("spec.clusterIP").named("spec.clusterIPs[0]").only_if(has_address)]),
    // There, `ValidateConfigMapUpdate`.
    (
        "",
        &["ConfigMap"],
        &[
            field("immutable").or_nothing().only_if(is_immutable),
            field("data").or_nothing().only_if(is_immutable),
            field("binaryData").or_nothing().only_if(is_immutable),
        ],
    ),
    // There, `ValidateSecretUpdate`.
    (
        "",
        &["Secret"],
        &[
            field("type").or_default("Opaque"),
            field("immutable").or_nothing().only_if(is_immutable),
            field("data").or_nothing().only_if(is_immutable),
        ],
    ),
    // `pkg/apis/storage/validation/validation.go`, `ValidateStorageClassUpdate`.
    (
        "storage.k8s.io",
        &["StorageClass"],
        &[
            field("provisioner"),
            field("parameters").or_nothing(),
            field("reclaimPolicy").or_default("Delete"),
            field("volumeBindingMode").or_default("Immediate"),
        ],
    ),
    // There, `ValidateCSIDriverUpdate`, which writes `attachedRequired`.
    (
        "storage.k8s.io",
        &["CSIDriver"],
        &[field("spec.attachRequired").named("spec.attachedRequired"), field("spec.volumeLifecycleModes")],
    ),
    // There, `ValidateVolumeAttributesClassUpdate`.
    ("storage.k8s.io", &["VolumeAttributesClass"], &[field("driverName"), field("parameters").or_nothing()]),
    // `pkg/apis/rbac/validation/validation.go`, `ValidateRoleBindingUpdate`, `ValidateClusterRoleBindingUpdate`.
    ("rbac.authorization.k8s.io", &["RoleBinding", "ClusterRoleBinding"], &[field("roleRef")]),
    // `pkg/apis/networking/validation/validation.go`, `validateIngressClassSpecUpdate`.
    ("networking.k8s.io", &["IngressClass"], &[field("spec.controller")]),
    // `pkg/apis/scheduling/validation/validation.go`, `ValidatePriorityClassUpdate`.
    (
        "scheduling.k8s.io",
        &["PriorityClass"],
        &[field("value"), field("preemptionPolicy").or_default("PreemptLowerPriority")],
    ),
    // `pkg/apis/node/validation/validation.go`, `ValidateRuntimeClassUpdate`.
    ("node.k8s.io", &["RuntimeClass"], &[field("handler")]),
    // `pkg/apis/discovery/validation/validation.go`, `ValidateEndpointSliceUpdate`.
    ("discovery.k8s.io", &["EndpointSlice"], &[field("addressType")]),
    // `pkg/apis/resource/validation/validation.go`, `ValidateResourceClaimUpdate`, `ValidateResourceClaimTemplateUpdate`.
    ("resource.k8s.io", &["ResourceClaim", "ResourceClaimTemplate"], &[field("spec")]),
    // `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`, `ValidateCustomResourceDefinitionUpdate`. Of
    // another group or plural, a definition has another name.
    (
        "apiextensions.k8s.io",
        &["CustomResourceDefinition"],
        &[field("spec.scope").only_if(is_established), field("spec.names.kind").only_if(is_established)],
    ),
];

/// The name of all sources of a volume.
const SOURCE: &str = "spec.persistentvolumesource";

/// A source of a volume, of which one is allowed.
const fn source(path: &'static str) -> ImmutableField {
    field(path).named(SOURCE).or_nothing().only_if(has_one_source)
}

fn always(_: &Value, _: &Value) -> bool {
    true
}

fn text<'v>(object: &'v Value, pointer: &str) -> Option<&'v str> {
    object.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A selector that does not select the Pods of its workload is invalid.
fn selects_its_pods(_: &Value, desired: &Value) -> bool {
    let Some(selected) = desired.pointer("/spec/selector/matchLabels").and_then(Value::as_object) else { return false };
    let labels = desired.pointer("/spec/template/metadata/labels").and_then(Value::as_object);
    selected.iter().all(|(name, value)| labels.is_some_and(|labels| labels.get(name) == Some(value)))
}

/// The server generates the selector of a Job, unless the Job says that it brings its own.
fn selects_by_hand(live: &Value, desired: &Value) -> bool {
    let by_hand = |job: &Value| job.pointer("/spec/manualSelector").and_then(Value::as_bool) == Some(true);
    by_hand(live) && by_hand(desired) && selects_its_pods(live, desired)
}

/// Parts of the template of a suspended Job can be changed.
fn is_never_suspended(live: &Value, desired: &Value) -> bool {
    let is_suspended = |job: &Value| job.pointer("/spec/suspend").and_then(Value::as_bool) == Some(true);
    !is_suspended(live) && !is_suspended(desired)
}

/// An indexed Job can be scaled.
fn is_never_indexed(live: &Value, desired: &Value) -> bool {
    let is_indexed = |job: &Value| text(job, "/spec/completionMode") == Some("Indexed");
    !is_indexed(live) && !is_indexed(desired)
}

/// A claim without a class may get one.
fn has_class(live: &Value, _: &Value) -> bool {
    live.pointer("/spec/storageClassName").is_some_and(Value::is_string)
}

/// A claim without a volume may get one.
fn has_volume(live: &Value, _: &Value) -> bool {
    text(live, "/spec/volumeName").is_some()
}

/// Only a claim that has its volume can be expanded.
fn is_unbound(live: &Value, _: &Value) -> bool {
    text(live, "/status/phase").is_some_and(|phase| phase != "Bound")
}

fn has_one_source(_: &Value, desired: &Value) -> bool {
    let names = IMMUTABLE_FIELDS.iter().flat_map(|(_, _, fields)| *fields);
    let sources = names.filter(|field| field.named == SOURCE && field.path().value_in(desired).is_some());
    sources.count() == 1
}

/// Containers that are added or removed are refused in other words.
fn has_the_same_containers(live: &Value, desired: &Value) -> bool {
    let names = |pod: &Value| -> Vec<Value> {
        let containers = pod.pointer("/spec/containers").and_then(Value::as_array);
        containers.into_iter().flatten().map(|container| container.get("name").cloned().unwrap_or_default()).collect()
    };
    names(live) == names(desired)
}

/// The address of a Service is released by its type `ExternalName`, and kept where a manifest has none.
fn has_address(live: &Value, desired: &Value) -> bool {
    let has = |service: &Value| {
        text(service, "/spec/clusterIP").is_some() && text(service, "/spec/type") != Some("ExternalName")
    };
    has(live) && has(desired)
}

fn is_immutable(live: &Value, _: &Value) -> bool {
    live.get("immutable").and_then(Value::as_bool) == Some(true)
}

/// Until its names are accepted, a definition can be changed.
fn is_established(live: &Value, _: &Value) -> bool {
    let conditions = live.pointer("/status/conditions").and_then(Value::as_array);
    let is_true = |condition: &Value| {
        text(condition, "/type") == Some("Established") && text(condition, "/status") == Some("True")
    };
    conditions.into_iter().flatten().any(is_true)
}

#[cfg(test)]
mod tests {
    use structured_merge::{PathElement, builtin};

    use super::*;

    #[test]
    fn all_fields_of_the_table_exist() {
        for (group, kinds, fields) in IMMUTABLE_FIELDS {
            for kind in *kinds {
                let info = builtin().kinds().iter().find(|info| info.gvk.group == *group && info.gvk.kind == *kind);
                let schema = builtin().object(&info.unwrap_or_else(|| panic!("{kind}")).gvk).unwrap();
                for path in fields.iter().map(ImmutableField::path) {
                    let Some((PathElement::Field(name), above)) = path.elements().split_last() else {
                        panic!("{path}")
                    };
                    assert!(schema.at(above).declares(name), "{kind}: {path}");
                }
            }
        }
    }
}
