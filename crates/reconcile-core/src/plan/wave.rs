use structured_merge::GroupVersionKind;

/// A wave of the pass. Waves follow one another; the objects of one wave are written in parallel, as far as their dependencies allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wave {
    /// Namespaces and CustomResourceDefinitions: without them, other objects have no path.
    Foundations,
    /// Objects that are only referred to: classes, quotas, accounts, roles, configuration, volumes.
    Configuration,
    /// Objects that refer to the former: bindings, claims, policies, services.
    Bindings,
    /// Workloads, and every other built-in kind.
    Workloads,
    /// Custom resources, which may need anything of the above.
    Custom,
    /// Objects that can block every request: webhooks and API services.
    Admission,
}

/// Kinds that are not workloads, by the order that Helm (`kind_sorter.go`) and cli-utils (`ordering/sort.go`) agree on.
const CONFIGURATION: [&str; 12] = [
    "ClusterRole",
    "ConfigMap",
    "IngressClass",
    "LimitRange",
    "PersistentVolume",
    "PriorityClass",
    "ResourceQuota",
    "Role",
    "RuntimeClass",
    "Secret",
    "ServiceAccount",
    "StorageClass",
];

const BINDINGS: [&str; 6] =
    ["ClusterRoleBinding", "NetworkPolicy", "PersistentVolumeClaim", "PodDisruptionBudget", "RoleBinding", "Service"];

const ADMISSION: [&str; 7] = [
    "APIService",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
];

impl Wave {
    /// The wave of a kind.
    pub fn of(gvk: &GroupVersionKind) -> Self {
        let is_in = |kinds: &[&str]| kinds.contains(&gvk.kind.as_str());
        if gvk.is_namespace() || gvk.is_crd() {
            Self::Foundations
        } else if structured_merge::builtin_kind(gvk).is_none() {
            Self::Custom
        } else if is_in(&CONFIGURATION) {
            Self::Configuration
        } else if is_in(&BINDINGS) {
            Self::Bindings
        } else if is_in(&ADMISSION) {
            Self::Admission
        } else {
            Self::Workloads
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_need_comes_first() {
        let wave = |api_version, kind| Wave::of(&GroupVersionKind::new(api_version, kind));
        assert!(wave("v1", "Namespace") < wave("v1", "Secret"));
        assert!(wave("v1", "Secret") < wave("apps/v1", "Deployment"));
        assert!(wave("rbac.authorization.k8s.io/v1", "Role") < wave("rbac.authorization.k8s.io/v1", "RoleBinding"));
        assert!(wave("apiextensions.k8s.io/v1", "CustomResourceDefinition") < wave("example.com/v1", "Widget"));
        let webhooks = wave("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration");
        assert!(wave("example.com/v1", "Widget") < webhooks);
        assert_eq!(wave("example.com/v1", "Service"), Wave::Custom);
    }
}
