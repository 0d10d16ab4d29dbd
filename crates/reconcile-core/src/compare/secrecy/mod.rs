//! The parts of an object that may be shown. Annotations of a Secret are checked one by one: other tools keep copies of it there.

pub(crate) mod paths;
pub(crate) mod readiness;
pub(crate) mod redact;
pub(crate) mod versions;

use std::sync::OnceLock;

use serde_json::Value;
use structured_merge::{FieldPath, GroupVersionKind, LAST_APPLIED, ObjectMeta as _, SERVER_METADATA};

use crate::live::Target;
use crate::object::{
    OPEN_FIELDS, SecretValues, embeds_secrets, holds_secrets, inner_values, is_custom, is_embedded_secret,
    may_be_secret, may_quote_secret,
};
use crate::request::StatusError;

/// Fields of its metadata that hold none of its values, and that a manifest may have.
const OPEN_METADATA: [&str; 6] = ["finalizers", "generateName", "labels", "name", "namespace", "ownerReferences"];

/// Those of them that SOPS encrypts with all other values.
const ENCRYPTED_METADATA: [&str; 3] = ["finalizers", "labels", "ownerReferences"];

/// Annotations whose values are names, dates and switches by definition. They are shown even if the manifest does not have them.
const HARMLESS: [&str; 24] = [
    "applyset.kubernetes.io/additional-namespaces",
    "applyset.kubernetes.io/contains-group-kinds",
    "applyset.kubernetes.io/contains-group-resources",
    "applyset.kubernetes.io/tooling",
    "argocd.argoproj.io/sync-wave",
    "argocd.argoproj.io/tracking-id",
    "cert-manager.io/alt-names",
    "cert-manager.io/certificate-name",
    "cert-manager.io/common-name",
    "cert-manager.io/ip-sans",
    "cert-manager.io/issuer-group",
    "cert-manager.io/issuer-kind",
    "cert-manager.io/issuer-name",
    "cert-manager.io/uri-sans",
    "helm.sh/hook",
    "helm.sh/hook-delete-policy",
    "helm.sh/hook-weight",
    "helm.sh/resource-policy",
    "kubectl-reconcile/prune",
    "kubectl-reconcile/replace",
    "kubernetes.io/service-account.name",
    "kubernetes.io/service-account.uid",
    "meta.helm.sh/release-name",
    "meta.helm.sh/release-namespace",
];

/// Name endings of annotations in which tools keep a copy of the object (kubectl, kapp, Rancher, Banzai's operators). They are never
/// shown, not even if the manifest was exported with them.
const COPIES: [&str; 6] =
    ["/applied", "/last-applied", "/last-applied-config", "/original", "/original-diff", "/previous"];

/// The part of an object that is secret. In every object, the Secrets inside of it are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecretPart {
    /// Nothing else is secret.
    Open,
    /// The values below `stringData` are secret.
    Parts,
    /// All values are secret, and so is everything that may repeat them.
    Whole,
}

/// The secret parts of an object, and its versions, which show the Secrets inside of it and which annotations repeat a value.
#[derive(Clone, Debug)]
pub struct Secrecy<'a> {
    pub(crate) level: SecretPart,
    manifest: Option<&'a Value>,
    live: Option<&'a Value>,
    /// The object after an apply: a webhook may add what neither of the others has.
    result: Option<&'a Value>,
    /// True if a Secret is a map inside of one of them.
    embeds: bool,
    /// True if its manifest is encrypted, so that its labels and annotations are secret as well.
    pub(crate) is_encrypted: bool,
    /// The values that no annotation and no status may repeat, once one is looked at.
    values: OnceLock<SecretValues>,
}

impl<'a> Secrecy<'a> {
    /// Decides by the type, the manifest and the live object.
    pub fn of(gvk: &GroupVersionKind, manifest: Option<&'a Value>, live: Option<&'a Value>) -> Self {
        let is_secret =
            may_be_secret(gvk) || [manifest, live].into_iter().flatten().any(|object| holds_secrets(gvk, object));
        let embeds = !is_secret && [manifest, live].into_iter().flatten().any(embeds_secrets);
        let level = match is_secret {
            true => SecretPart::Whole,
            false if is_custom(&gvk.group) => SecretPart::Parts,
            false => SecretPart::Open,
        };
        Self { level, manifest, live, result: None, embeds, is_encrypted: false, values: OnceLock::new() }
    }

    /// Decides by a target and the live object.
    pub fn of_target(target: &'a Target, live: Option<&'a Value>) -> Self {
        let secrecy = Self::of(&target.key.gvk, Some(target.desired.object()), live);
        secrecy.of_encrypted(target.desired.origin.is_encrypted)
    }

    /// Sets if the object is encrypted in its manifest: then all of its values are secret.
    pub fn of_encrypted(self, is_encrypted: bool) -> Self {
        if is_encrypted { Self { level: SecretPart::Whole, embeds: false, is_encrypted, ..self } } else { self }
    }

    /// Sets the object after an apply, whose values count as well.
    pub(crate) fn with_result(self, object: &'a Value) -> Self {
        let embeds = self.embeds || self.level != SecretPart::Whole && embeds_secrets(object);
        Self { result: Some(object), embeds, ..self }
    }

    /// Adds the base of the object, whose values are as secret as those of the manifest.
    pub(crate) fn with_base(self, gvk: &GroupVersionKind, base: &'a Value) -> Self {
        match Self::of(gvk, Some(base), None).level {
            SecretPart::Whole => Self { level: SecretPart::Whole, result: Some(base), embeds: false, ..self },
            _ => self.with_result(base),
        }
    }

    /// The secret parts of a Secret inside of another object.
    pub(crate) fn of_embedded(secret: &'a Value) -> Self {
        Self {
            level: SecretPart::Whole,
            manifest: None,
            live: Some(secret),
            result: None,
            embeds: false,
            is_encrypted: false,
            values: OnceLock::new(),
        }
    }

    /// The Secret inside of the object that a path leads into, and the rest of the path.
    pub(crate) fn embedded(&self, path: &FieldPath) -> Option<(&'a Value, FieldPath)> {
        let elements = path.elements();
        let objects = || [self.manifest, self.live, self.result].into_iter().flatten();
        (1..elements.len()).filter(|_| self.embeds).find_map(|at| {
            let (above, below) = elements.split_at_checked(at)?;
            let above = FieldPath::from(above.to_vec());
            let values = objects().filter_map(|object| above.value_in(object));
            let secrets = values.filter(|value| value.as_object().is_some_and(is_embedded_secret));
            // A version with metadata is no reference, so that more of its fields are secret.
            let secret = secrets.max_by_key(|secret| secret.get("metadata").is_some())?;
            Some((secret, FieldPath::from(below.to_vec())))
        })
    }

    /// Returns true for a field of a Secret that holds none of its values.
    pub(crate) fn is_open_field(&self, name: &str) -> bool {
        let open: &[&str] = if self.is_encrypted { &["apiVersion", "kind"] } else { &OPEN_FIELDS };
        open.contains(&name)
    }

    /// Returns true for a field of the metadata of a Secret that holds none of its values.
    pub(crate) fn is_open_metadata(&self, name: &str) -> bool {
        let is_open = OPEN_METADATA.contains(&name) && !(self.is_encrypted && ENCRYPTED_METADATA.contains(&name));
        is_open || SERVER_METADATA.contains(&name)
    }

    /// Returns true if an annotation of a Secret may be shown: the manifest sets it to this value, or it is known to be harmless, and
    /// it does not repeat a secret value.
    pub(crate) fn shows_annotation(&self, key: &str, value: &Value) -> bool {
        let Some(text) = value.as_str().filter(|_| !self.is_encrypted) else { return false };
        let is_copy = key == LAST_APPLIED || COPIES.iter().any(|ending| key.ends_with(ending));
        let in_manifest = self.manifest.and_then(|manifest| manifest.metadata("annotations")?.get(key));
        !is_copy && (HARMLESS.contains(&key) || in_manifest == Some(value)) && !self.repeats_a_value(text)
    }

    /// Returns true if a text repeats one of the secret values of the object.
    pub(crate) fn repeats_a_value(&self, text: &str) -> bool {
        let values = || {
            let objects = || [self.manifest, self.live, self.result].into_iter().flatten();
            if self.level != SecretPart::Whole {
                return inner_values(self.level == SecretPart::Parts, objects());
            }
            let parts = objects().filter_map(Value::as_object).flatten();
            let mut parts = parts.filter(|(name, _)| *name != "metadata" && !OPEN_FIELDS.contains(&name.as_str()));
            SecretValues::of(|each| parts.by_ref().for_each(|(_, part)| each(part)))
        };
        self.values.get_or_init(values).are_in(text)
    }
}

/// Returns true if no text of a refusal must be repeated, as it may quote a Secret.
pub(crate) fn refusal_may_quote(target: &Target, live: Option<&Value>, status: &StatusError) -> bool {
    texts_may_quote(target, live, &status.texts())
}

/// Returns true if none of these texts about an object must be repeated, as they may quote a Secret.
pub(crate) fn texts_may_quote(target: &Target, live: Option<&Value>, texts: &str) -> bool {
    let objects: Vec<&Value> = std::iter::once(target.desired.object()).chain(live).collect();
    target.desired.origin.is_encrypted || may_quote_secret(&target.key.gvk, &objects, texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    /// Each of them was searched for each value, which took half a minute for these.
    #[test]
    fn many_annotations_are_searched_for_many_values_at_once() {
        const COUNT: usize = 2000;
        let annotations: Map<String, Value> = (0..COUNT)
            .map(|at| (format!("example.com/{at:05}"), json!(format!("annotation {at:05} of many"))))
            .collect();
        let values: Map<String, Value> =
            (0..COUNT).map(|at| (format!("{at:05}"), json!(format!("annotation {at:05} of few")))).collect();
        let manifest = json!({"metadata": {"annotations": annotations}, "stringData": values});
        let secrecy = Secrecy::of(&GroupVersionKind::new("v1", "Secret"), Some(&manifest), None);
        for (key, value) in &annotations {
            assert!(secrecy.shows_annotation(key, value), "{key}");
        }
        assert!(!secrecy.shows_annotation("helm.sh/hook", &json!("annotation 01234 of few")));
    }

    #[test]
    fn annotations_are_shown_that_the_manifest_sets_or_that_are_harmless() {
        let annotations =
            json!({"team": "payments", "kapp.k14s.io/original": "x", "note": "uses hunter2", "enc": "aHVudGVyMg=="});
        let manifest = json!({"metadata": {"annotations": annotations}, "stringData": {"password": "hunter2\n"}});
        let live = json!({"data": {"old": "b25lIGxpbmUKdHdvIGxpbmVz"}});
        let gvk = GroupVersionKind::new("v1", "Secret");
        let secrecy = Secrecy::of(&gvk, Some(&manifest), Some(&live));
        for (key, value, shown) in [
            ("team", json!("payments"), true),
            ("team", json!("somebody else's"), false),
            ("unknown", json!("x"), false),
            ("team", json!({"redacted": "#1"}), false),
            ("note", json!("uses hunter2"), false),
            ("enc", json!("aHVudGVyMg=="), false),
            ("kapp.k14s.io/original", json!("x"), false),
            (LAST_APPLIED, json!("{}"), false),
            ("helm.sh/hook", json!("pre-install"), true),
            ("helm.sh/hook", json!("two lines"), false),
            ("helm.sh/hook", json!("{\"a\": \"one line\\ntwo\"}"), false),
        ] {
            assert_eq!(secrecy.shows_annotation(key, &value), shown, "{key}: {value}");
        }
    }
}
