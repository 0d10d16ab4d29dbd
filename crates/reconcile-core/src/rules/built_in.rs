//! Fields that a controller fills in and owns by design, so that users need no rule for them.
//!
//! Anybody who may write an object chooses the name of the field manager, so a rule never hides a difference from a value that the
//! manifest sets, unless the manifest says that a controller fills it in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
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
    /// Returns true if a value in the manifest only keeps the place of the one that the controller fills in.
    is_placeholder: fn(&str) -> bool,
    /// True if anybody may fill in the place of such a value: the manifest has nothing that another value would hide.
    is_open: bool,
    /// Annotations of the manifest that ask a controller to fill in the fields.
    requests: &'static [Request],
}

/// An annotation that asks a controller to fill in fields: any value but an empty one, or only this one.
type Request = (&'static str, Option<&'static str>);

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
        is_placeholder: has_no_certificate,
        // Webhooks that inject their own certificate have a field manager of their own. A placeholder trusts nobody.
        is_open: true,
        // cert-manager `pkg/controller/cainjector`, and OpenShift `service-ca-operator`.
        requests: &[
            ("cert-manager.io/inject-ca-from", None),
            ("cert-manager.io/inject-ca-from-secret", None),
            ("cert-manager.io/inject-apiserver-ca", Some("true")),
            ("service.beta.openshift.io/inject-cabundle", Some("true")),
            ("service.alpha.openshift.io/inject-cabundle", Some("true")),
        ],
    },
    BuiltIn {
        name: "a claim is bound to its volume",
        kinds: &[("", "PersistentVolumeClaim")],
        fields: &["spec.volumeName"],
        managers: &["kube-controller-manager", "kube-scheduler"],
        is_placeholder: str::is_empty,
        is_open: false,
        requests: &[],
    },
];

impl BuiltIn {
    pub(super) fn is_for(&self, key: &ObjectKey) -> bool {
        self.kinds.contains(&(key.gvk.group.as_str(), key.gvk.kind.as_str()))
    }

    /// Returns true if a manifest leaves a field to the controller, given its value there.
    pub(super) fn is_left_to_it(&self, manifest: Option<&Value>, value: Option<&Value>) -> bool {
        let annotation = |name: &str| manifest?.get("metadata")?.get("annotations")?.get(name)?.as_str();
        let is_requested = |(name, only): &Request| {
            annotation(name).is_some_and(|value| only.map_or(!value.is_empty(), |only| value == only))
        };
        match value {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) if (self.is_placeholder)(text) => true,
            Some(_) => self.requests.iter().any(is_requested),
        }
    }

    /// Returns true if anybody may fill in a field, given its value in the manifest.
    pub(super) fn is_open_to_all(&self, value: Option<&Value>) -> bool {
        self.is_open && value.and_then(Value::as_str).is_some_and(self.is_placeholder)
    }

    pub(super) fn fields(&self) -> (Vec<FieldPattern>, Vec<Glob>) {
        (patterns(self.fields), self.managers.iter().map(|name| Glob::new(name)).collect())
    }
}

/// Returns true for a `caBundle` that trusts nobody, such as `Cg==`, which generators write for a controller to replace.
fn has_no_certificate(bundle: &str) -> bool {
    const BEGINNING: &[u8] = b"-----BEGIN CERTIFICATE-----";
    let decoded = STANDARD.decode(bundle.split_ascii_whitespace().collect::<String>());
    decoded.is_ok_and(|pem| !pem.windows(BEGINNING.len()).any(|part| part == BEGINNING))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CA_BUNDLE: BuiltIn = BUILT_IN[0];

    fn certificate() -> Value {
        json!(STANDARD.encode("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"))
    }

    #[test]
    fn a_bundle_is_left_to_its_controller_if_the_manifest_has_none() {
        let manifest = json!({"metadata": {"name": "hook"}});
        let is_left = |value: Value| CA_BUNDLE.is_left_to_it(Some(&manifest), Some(&value));
        assert!(CA_BUNDLE.is_left_to_it(Some(&manifest), None));
        // The second is that of controller-gen, the third that of operators that encode it twice.
        for placeholder in [json!(null), json!("Cg=="), json!("Q2c9PQ=="), json!("")] {
            assert!(is_left(placeholder.clone()), "{placeholder}");
        }
        assert!(!is_left(certificate()));
        assert!(!is_left(json!("not base64!")), "nobody knows what this is");
    }

    #[test]
    fn a_claim_is_compared_if_the_manifest_names_its_volume() {
        let claim = BUILT_IN[1];
        assert!(claim.is_left_to_it(None, None) && claim.is_left_to_it(None, Some(&json!(""))));
        assert!(!claim.is_left_to_it(None, Some(&json!("volume-1"))));
    }

    #[test]
    fn a_bundle_is_left_to_its_controller_if_the_manifest_asks_for_it() {
        let is_left = |name: &str, value: &str| {
            let manifest = json!({"metadata": {"annotations": {name: value}}});
            CA_BUNDLE.is_left_to_it(Some(&manifest), Some(&certificate()))
        };
        assert!(is_left("cert-manager.io/inject-ca-from", "shop/serving-cert"));
        assert!(is_left("cert-manager.io/inject-apiserver-ca", "true"));
        assert!(is_left("service.beta.openshift.io/inject-cabundle", "true"));
        assert!(!is_left("cert-manager.io/inject-ca-from", ""));
        assert!(!is_left("cert-manager.io/inject-apiserver-ca", "false"));
        assert!(!is_left("service.beta.openshift.io/inject-cabundle", "false"));
        assert!(!is_left("example.com/inject-ca-from", "shop/serving-cert"));
    }
}
