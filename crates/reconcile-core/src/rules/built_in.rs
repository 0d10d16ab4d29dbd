//! Fields that a controller fills in and owns by design, so that users need no rule for them.

use structured_merge::ObjectKey;

use super::autoscaler::patterns;
use super::glob::Glob;
use super::pattern::FieldPattern;

/// Fields of some kinds, as far as these managers own them.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// The subject, for people.
    pub name: &'static str,
    kinds: &'static [(&'static str, &'static str)],
    fields: &'static [&'static str],
    managers: &'static [&'static str],
}

/// The rules that always apply.
pub const BUILT_IN: [BuiltIn; 2] = [
    BuiltIn {
        name: "`caBundle` is injected",
        kinds: &[
            ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
            ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
            ("apiextensions.k8s.io", "CustomResourceDefinition"),
            ("apiregistration.k8s.io", "APIService"),
        ],
        fields: &[
            "webhooks[*].clientConfig.caBundle",
            "spec.conversion.webhook.clientConfig.caBundle",
            "spec.caBundle",
        ],
        // cert-manager, the job of ingress-nginx and kube-prometheus, and OpenShift.
        managers: &["cert-manager-cainjector", "cainjector", "kube-webhook-certgen", "service-ca-operator"],
    },
    BuiltIn {
        name: "a claim is bound to its volume",
        kinds: &[("", "PersistentVolumeClaim")],
        fields: &["spec.volumeName"],
        managers: &["kube-controller-manager", "kube-scheduler"],
    },
];

impl BuiltIn {
    pub(super) fn is_for(&self, key: &ObjectKey) -> bool {
        self.kinds.contains(&(key.gvk.group.as_str(), key.gvk.kind.as_str()))
    }

    pub(super) fn fields(&self) -> (Vec<FieldPattern>, Vec<Glob>) {
        (patterns(self.fields), self.managers.iter().map(|name| Glob::new(name)).collect())
    }
}
