//! Versions of kinds that Kubernetes has removed: the Deprecated API Migration Guide
//! (<https://kubernetes.io/docs/reference/using-api/deprecation-guide/>), release by release, and for what it leaves out,
//! `APILifecycleRemoved` in `k8s.io/api` (`zz_generated.prerelease-lifecycle.go` of 1.37), by which the server of that release stops
//! serving it (`pkg/server/deleted_kinds.go` of `k8s.io/apiserver`).

use structured_merge::GroupVersionKind;

const FLOW: &[&str] = &["FlowSchema", "PriorityLevelConfiguration"];
const POLICIES: &[&str] = &["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"];
const WEBHOOKS: &[&str] = &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
const REVIEWS: &[&str] =
    &["LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"];
const ROLES: &[&str] = &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];
const SCALER: &[&str] = &["HorizontalPodAutoscaler"];

/// The release that removed a version of some kinds, the version, the kinds, and the version to write instead; empty if the kinds are
/// gone. The newest release first, as in the guide.
static REMOVED: [(&str, &str, &[&str], &str); 33] = [
    ("1.37", "networking.k8s.io/v1beta1", &["IPAddress", "ServiceCIDR"], "networking.k8s.io/v1"),
    ("1.37", "storage.k8s.io/v1beta1", &["VolumeAttributesClass"], "storage.k8s.io/v1"),
    ("1.34", "admissionregistration.k8s.io/v1beta1", POLICIES, "admissionregistration.k8s.io/v1"),
    ("1.33", "authentication.k8s.io/v1beta1", &["SelfSubjectReview"], "authentication.k8s.io/v1"),
    ("1.32", "flowcontrol.apiserver.k8s.io/v1beta3", FLOW, "flowcontrol.apiserver.k8s.io/v1"),
    ("1.29", "flowcontrol.apiserver.k8s.io/v1beta2", FLOW, "flowcontrol.apiserver.k8s.io/v1"),
    ("1.27", "storage.k8s.io/v1beta1", &["CSIStorageCapacity"], "storage.k8s.io/v1"),
    ("1.26", "flowcontrol.apiserver.k8s.io/v1beta1", FLOW, "flowcontrol.apiserver.k8s.io/v1"),
    ("1.26", "autoscaling/v2beta2", SCALER, "autoscaling/v2"),
    ("1.25", "autoscaling/v2beta1", SCALER, "autoscaling/v2"),
    ("1.25", "batch/v1beta1", &["CronJob"], "batch/v1"),
    ("1.25", "discovery.k8s.io/v1beta1", &["EndpointSlice"], "discovery.k8s.io/v1"),
    ("1.25", "events.k8s.io/v1beta1", &["Event"], "events.k8s.io/v1"),
    ("1.25", "node.k8s.io/v1beta1", &["RuntimeClass"], "node.k8s.io/v1"),
    ("1.25", "policy/v1beta1", &["Eviction", "PodDisruptionBudget"], "policy/v1"),
    ("1.25", "policy/v1beta1", &["PodSecurityPolicy"], ""),
    ("1.22", "admissionregistration.k8s.io/v1beta1", WEBHOOKS, "admissionregistration.k8s.io/v1"),
    ("1.22", "apiextensions.k8s.io/v1beta1", &["CustomResourceDefinition"], "apiextensions.k8s.io/v1"),
    ("1.22", "apiregistration.k8s.io/v1beta1", &["APIService"], "apiregistration.k8s.io/v1"),
    ("1.22", "authentication.k8s.io/v1beta1", &["TokenReview"], "authentication.k8s.io/v1"),
    ("1.22", "authorization.k8s.io/v1beta1", REVIEWS, "authorization.k8s.io/v1"),
    ("1.22", "certificates.k8s.io/v1beta1", &["CertificateSigningRequest"], "certificates.k8s.io/v1"),
    ("1.22", "coordination.k8s.io/v1beta1", &["Lease"], "coordination.k8s.io/v1"),
    ("1.22", "extensions/v1beta1", &["Ingress"], "networking.k8s.io/v1"),
    ("1.22", "networking.k8s.io/v1beta1", &["Ingress", "IngressClass"], "networking.k8s.io/v1"),
    ("1.22", "rbac.authorization.k8s.io/v1beta1", ROLES, "rbac.authorization.k8s.io/v1"),
    ("1.22", "scheduling.k8s.io/v1beta1", &["PriorityClass"], "scheduling.k8s.io/v1"),
    (
        "1.22",
        "storage.k8s.io/v1beta1",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
        "storage.k8s.io/v1",
    ),
    ("1.16", "extensions/v1beta1", &["NetworkPolicy"], "networking.k8s.io/v1"),
    ("1.16", "extensions/v1beta1", &["DaemonSet", "Deployment", "ReplicaSet"], "apps/v1"),
    (
        "1.16",
        "apps/v1beta2",
        &["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
        "apps/v1",
    ),
    ("1.16", "apps/v1beta1", &["ControllerRevision", "Deployment", "ReplicaSet", "StatefulSet"], "apps/v1"),
    ("1.16", "extensions/v1beta1", &["PodSecurityPolicy"], ""),
];

/// Advice about a version that Kubernetes has removed; `None` if it is none of them.
pub(super) fn removal(gvk: &GroupVersionKind) -> Option<String> {
    let api_version = gvk.api_version();
    let mut rows = REMOVED.iter().filter(|(_, removed, ..)| *removed == api_version);
    let (by, _, _, write) = rows.find(|(_, _, kinds, _)| kinds.contains(&gvk.kind.as_str()))?;
    let kind = &gvk.kind;
    Some(match *write {
        "" => format!("Kubernetes {by} removed `{kind}`: Pod Security Admission takes its place"),
        write => format!("Kubernetes {by} removed `{api_version}` of `{kind}`: write `apiVersion: {write}`"),
    })
}

#[cfg(test)]
mod tests {
    use structured_merge::builtin_kind;

    use super::*;

    #[test]
    fn the_version_to_write_exists_and_the_removed_one_does_not() {
        for (by, removed, kinds, write) in &REMOVED {
            for kind in *kinds {
                let old = GroupVersionKind::new(removed, kind);
                assert!(builtin_kind(&old).is_none(), "{old:?}");
                let new = GroupVersionKind::new(write, kind);
                // These store no objects.
                let is_request = kind.ends_with("Review") || *kind == "Eviction";
                assert!(write.is_empty() || is_request || builtin_kind(&new).is_some(), "{new:?}");
                assert!(removal(&old).is_some_and(|advice| advice.contains(by) && advice.contains(write)));
            }
        }
        assert_eq!(removal(&GroupVersionKind::new("extensions/v1beta1", "Job")), None);
        // 1.40 will remove it.
        assert_eq!(
            removal(&GroupVersionKind::new("admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicy")),
            None
        );
    }

    #[test]
    fn the_release_is_that_of_the_types_of_kubernetes() {
        for (api_version, kind, release) in [
            ("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy", "1.34"),
            ("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicyBinding", "1.34"),
            ("networking.k8s.io/v1beta1", "IPAddress", "1.37"),
            ("networking.k8s.io/v1beta1", "ServiceCIDR", "1.37"),
            ("networking.k8s.io/v1beta1", "Ingress", "1.22"),
            ("storage.k8s.io/v1beta1", "VolumeAttributesClass", "1.37"),
            ("apps/v1beta1", "ControllerRevision", "1.16"),
            ("apps/v1beta2", "ControllerRevision", "1.16"),
            ("policy/v1beta1", "Eviction", "1.25"),
            ("authentication.k8s.io/v1beta1", "SelfSubjectReview", "1.33"),
        ] {
            let advice = removal(&GroupVersionKind::new(api_version, kind)).unwrap_or_default();
            assert!(advice.starts_with(&format!("Kubernetes {release} removed ")), "{kind}: {advice}");
        }
    }
}
