use super::type_ref::TypeRef;

/// Fields of built-in types that are pointers to scalars in Go wherever they occur (k8s.io/api v0.36, `types.go` of all groups),
/// in alphabetical order: an empty value of theirs is a value, which the server keeps. Of names that are a pointer in one type
/// and none in another, those that matter are in `POINTERS_BESIDE`.
const POINTERS: [&str; 146] = [
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
    "disruptionMode",
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

/// Names that are pointers in one type only, each with another field of that type: of a claim for a volume, and of the conditions of
/// an endpoint.
const POINTERS_BESIDE: [(&str, &str); 3] =
    [("storageClassName", "volumeName"), ("ready", "serving"), ("terminating", "serving")];

/// Returns true if a field of a type is known to tell an empty value from none.
pub(super) fn is_pointer(field: &str, of: TypeRef<'_>) -> bool {
    let is_beside = |(name, other): &(&str, &str)| *name == field && of.declares(other);
    POINTERS.binary_search(&field).is_ok() || POINTERS_BESIDE.iter().any(is_beside)
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
            let of = builtin().object(&GroupVersionKind::new("v1", kind)).unwrap();
            is_pointer("storageClassName", of.field("spec"))
        };
        assert!(is_pointer("PersistentVolumeClaim") && !is_pointer("PersistentVolume"));
    }
}
