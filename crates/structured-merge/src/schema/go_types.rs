//! Facts of the API's Go types that OpenAPI does not publish: fields that are pointers, and defaults inside of values that are replaced as
//! a whole.

use serde_json::{Value, json};

use super::type_ref::TypeRef;

/// Fields of built-in types that are pointers to scalars in Go wherever they occur (k8s.io/api v0.37, `types.go` of all
/// groups), in alphabetical order. The server keeps their empty values. Names that are a pointer in some types only are
/// in `POINTERS_BY_TYPE`, as far as they matter.
const POINTERS: [&str; 154] = [
    "accessMode",
    "activeDeadlineSeconds",
    "adminAccess",
    "allocateLoadBalancerNodePorts",
    "allocatedDevices",
    "allowMultipleAllocations",
    "allowPrivilegeEscalation",
    "allowVolumeExpansion",
    "appProtocol",
    "attachRequired",
    "automountServiceAccountToken",
    "availableDevices",
    "averageUtilization",
    "backoffLimit",
    "backoffLimitPerIndex",
    "bindsToNode",
    "borrowingLimitPercent",
    "cachingMode",
    "capacity",
    "capacityKey",
    "collisionCount",
    "commonEncodingVersion",
    "completionMode",
    "completions",
    "currentAverageUtilization",
    "currentCPUUtilizationPercentage",
    "currentVolumeAttributesClassName",
    "defaultMode",
    "defaultPartitionTypeAttribute",
    "defaultUser",
    "deletionGracePeriodSeconds",
    "distinctAttribute",
    "dryRun",
    "enableServiceLinks",
    "endPort",
    "endpointsNamespace",
    "errorCode",
    "expirationSeconds",
    "extendedResourceName",
    "failedIndexes",
    "failedJobsHistoryLimit",
    "failurePolicy",
    "fsGroup",
    "fsGroupChangePolicy",
    "fsGroupPolicy",
    "fullyAvailableDevices",
    "gmsaCredentialSpec",
    "gmsaCredentialSpecName",
    "holderIdentity",
    "hostProcess",
    "hostUsers",
    "hostnameOverride",
    "immutable",
    "ingressClassName",
    "initiatorName",
    "internalTrafficPolicy",
    "ipFamilyPolicy",
    "ipMode",
    "leaseDurationSeconds",
    "leaseTransitions",
    "lendablePercent",
    "limit",
    "limitBytes",
    "loadBalancerClass",
    "localhostProfile",
    "managedBy",
    "manualSelector",
    "matchAttribute",
    "matchPolicy",
    "maxExpirationSeconds",
    "maxFailedIndexes",
    "minDomains",
    "minReplicas",
    "mode",
    "mountPropagation",
    "nodeAffinityPolicy",
    "nodeAllocatableUpdatePeriodSeconds",
    "nodeTaintsPolicy",
    "optional",
    "parallelism",
    "parameterNotFoundAction",
    "parentCompositePodGroupName",
    "partiallyAvailableDevices",
    "partitionTypeAttribute",
    "pathType",
    "perDeviceNodeSelection",
    "persistentVolumeName",
    "podGroupName",
    "podInfoOnMount",
    "podReplacementPolicy",
    "poolCount",
    "preemptionPolicy",
    "preferredHolder",
    "preventPodSchedulingIfMissing",
    "priority",
    "privileged",
    "procMount",
    "progressDeadlineSeconds",
    "readOnlyRootFilesystem",
    "reclaimPolicy",
    "recursiveReadOnly",
    "recursiveReadOnlyMounts",
    "requiresRepublish",
    "resourceClaimTemplateName",
    "revisionHistoryLimit",
    "runAsGroup",
    "runAsNonRoot",
    "runAsUser",
    "runAsUserName",
    "runningInUserNamespace",
    "runtimeClassName",
    "seLinuxChangePolicy",
    "seLinuxMount",
    "secretNamespace",
    "selectPolicy",
    "service",
    "serviceAccountTokenInSecrets",
    "serving",
    "setHostnameAsFQDN",
    "shareID",
    "shareProcessNamespace",
    "sideEffects",
    "sinceSeconds",
    "stabilizationWindowSeconds",
    "started",
    "startingDeadlineSeconds",
    "stopSignal",
    "storageCapacity",
    "stream",
    "succeededCount",
    "succeededIndexes",
    "successfulJobsHistoryLimit",
    "supplementalGroupsPolicy",
    "suspend",
    "tailLines",
    "targetAverageUtilization",
    "targetCPUUtilizationPercentage",
    "terminating",
    "terminatingReplicas",
    "terminationGracePeriodSeconds",
    "timeZone",
    "tolerationSeconds",
    "totalDevices",
    "trafficDistribution",
    "ttlSecondsAfterFinished",
    "unavailableDevices",
    "unhealthyPodEvictionPolicy",
    "url",
    "userNamespaces",
    "validationError",
    "volumeAttributesClassName",
    "volumeBindingMode",
    "volumeMode",
    "zone",
];
/// Names that are pointers in one type only, each with a field that the type has and, unless that identifies it, one that it lacks:
/// `PersistentVolumeClaimSpec`, `EndpointConditions`, `ServiceReference`, `CSIVolumeSource` and `PodDNSConfigOption`.
const POINTERS_BY_TYPE: [(&str, &str, &str); 7] = [
    ("storageClassName", "volumeName", ""),
    ("ready", "serving", ""),
    ("terminating", "serving", ""),
    ("path", "namespace", ""),
    ("readOnly", "nodePublishSecretRef", "volumeHandle"),
    ("fsType", "nodePublishSecretRef", "volumeHandle"),
    // The type of an environment variable has `valueFrom`, and that of an HTTP header always serves its value.
    ("value", "name", "valueFrom"),
];

/// Returns true if a field is known to distinguish an empty value from no value.
pub(super) fn is_pointer(field: &str, schema: TypeRef<'_>) -> bool {
    let is_in_type =
        |(name, has, lacks): &(&str, &str, &str)| *name == field && schema.declares(has) && !schema.declares(lacks);
    POINTERS.binary_search(&field).is_ok() || POINTERS_BY_TYPE.iter().any(is_in_type)
}

/// Defaults that the server fills in inside lists and structs that are replaced as a whole. There, a field that only
/// the live object has is either a default or somebody's change. OpenAPI publishes few of the defaults; the source of
/// each is the `SetDefaults_*` function of its API group (`k8s.io/kubernetes/pkg/apis/<group>/<version>/defaults.go`).
/// A row that is missing here costs a question to the server, never a wrong answer.
pub(super) fn known_default(schema: &str, field: &str) -> Option<Value> {
    let name = schema
        .strip_prefix("io.k8s.api.")
        .or_else(|| schema.strip_prefix("io.k8s.apiextensions-apiserver.pkg.apis."))?;
    Some(match (name, field) {
        ("core.v1.ObjectFieldSelector" | "core.v1.PersistentVolumeClaim", "apiVersion") => json!("v1"),
        ("core.v1.ResourceFieldSelector", "divisor") => json!("0"),
        ("core.v1.ServiceAccountTokenProjection", "expirationSeconds") => json!(3600),
        ("core.v1.PersistentVolumeClaim", "kind") => json!("PersistentVolumeClaim"),
        ("core.v1.PersistentVolumeClaim", "status") => json!({"phase": "Pending"}),
        ("core.v1.PersistentVolumeClaimStatus", "phase") => json!("Pending"),
        ("core.v1.PersistentVolumeClaimSpec", "volumeMode") => json!("Filesystem"),
        ("rbac.v1.RoleRef" | "rbac.v1.Subject", "apiGroup") => json!("rbac.authorization.k8s.io"),
        ("networking.v1.NetworkPolicyPort" | "discovery.v1.EndpointPort" | "core.v1.EndpointPort", "protocol") => {
            json!("TCP")
        }
        (
            "admissionregistration.v1.RuleWithOperations" | "admissionregistration.v1.NamedRuleWithOperations",
            "scope",
        ) => {
            json!("*")
        }
        ("admissionregistration.v1.MatchResources", "matchPolicy") => json!("Equivalent"),
        ("admissionregistration.v1.MatchResources", "namespaceSelector" | "objectSelector") => json!({}),
        ("batch.v1.PodFailurePolicyOnPodConditionsPattern", "status") => json!("True"),
        ("resource.v1.ExactDeviceRequest" | "resource.v1.DeviceSubRequest", "allocationMode") => json!("ExactCount"),
        ("resource.v1.ExactDeviceRequest" | "resource.v1.DeviceSubRequest", "count") => json!(1),
        // Booleans and strings that are not pointers: no value means `false` or `""`.
        ("flowcontrol.v1.ResourcePolicyRule", "clusterScope")
        | ("apiextensions.v1.CustomResourceDefinitionVersion", "deprecated")
        | (
            "apiextensions.v1.JSONSchemaProps",
            "exclusiveMaximum"
            | "exclusiveMinimum"
            | "nullable"
            | "uniqueItems"
            | "x-kubernetes-embedded-resource"
            | "x-kubernetes-int-or-string",
        ) => json!(false),
        (
            "core.v1.ObjectReference",
            "apiVersion" | "fieldPath" | "kind" | "name" | "namespace" | "resourceVersion" | "uid",
        )
        | ("discovery.v1.EndpointPort", "name")
        | ("core.v1.Toleration", "effect" | "key" | "value")
        | ("core.v1.EndpointAddress", "hostname")
        | ("core.v1.EnvFromSource", "prefix")
        | ("core.v1.PersistentVolumeClaimSpec", "volumeName")
        | ("networking.v1.IngressRule", "host")
        | ("networking.v1.IngressTLS", "secretName")
        | ("networking.v1.HTTPIngressPath", "path")
        | ("rbac.v1.Subject", "namespace") => json!(""),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::GroupVersionKind;
    use crate::schema::builtin;

    #[test]
    fn pointers_are_found_by_name() {
        assert!(POINTERS.is_sorted());
        let is_pointer = |field| is_pointer(field, TypeRef::untyped());
        assert!(is_pointer("tolerationSeconds") && is_pointer("shareProcessNamespace"));
        assert!(!is_pointer("hostNetwork") && !is_pointer("value"));
    }

    #[test]
    fn a_claim_without_a_class_is_not_a_volume_without_one() {
        let is_pointer = |kind: &str| {
            let schema = builtin().object(&GroupVersionKind::new("v1", kind)).unwrap();
            is_pointer("storageClassName", schema.field("spec"))
        };
        assert!(is_pointer("PersistentVolumeClaim") && !is_pointer("PersistentVolume"));
    }
}
