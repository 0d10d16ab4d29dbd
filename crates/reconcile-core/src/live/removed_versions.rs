//! Versions of kinds that Kubernetes has removed: the Deprecated API Migration Guide
//! (<https://kubernetes.io/docs/reference/using-api/deprecation-guide/>), release by release.

use structured_merge::GroupVersionKind;

const FLOW: &[&str] = &["FlowSchema", "PriorityLevelConfiguration"];
const WEBHOOKS: &[&str] = &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
const REVIEWS: &[&str] =
    &["LocalSubjectAccessReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"];
const ROLES: &[&str] = &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];
const SCALER: &[&str] = &["HorizontalPodAutoscaler"];

/// The release that removed a version of some kinds, the version, the kinds, and the version to write instead; empty if the kinds are
/// gone. The newest release first, as in the guide.
static REMOVED: [(&str, &str, &[&str], &str); 29] = [
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
    ("1.25", "policy/v1beta1", &["PodDisruptionBudget"], "policy/v1"),
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
    ("1.16", "apps/v1beta2", &["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"], "apps/v1"),
    ("1.16", "apps/v1beta1", &["Deployment", "ReplicaSet", "StatefulSet"], "apps/v1"),
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
                let is_review = kind.ends_with("Review");
                assert!(write.is_empty() || is_review || builtin_kind(&new).is_some(), "{new:?}");
                assert!(removal(&old).is_some_and(|advice| advice.contains(by) && advice.contains(write)));
            }
        }
        assert_eq!(removal(&GroupVersionKind::new("extensions/v1beta1", "Job")), None);
        assert_eq!(removal(&GroupVersionKind::new("networking.k8s.io/v1beta1", "IPAddress")), None);
    }
}
