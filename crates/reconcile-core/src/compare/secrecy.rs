//! The parts of an object that may be shown. Annotations of a Secret are checked one by one: other tools keep copies of it there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use structured_merge::{GroupVersionKind, LAST_APPLIED, ObjectMeta as _, SERVER_METADATA};

use crate::live::Target;
use crate::object::{holds_secrets, is_custom, may_be_secret};

/// Fields of a Secret that hold none of its values. Every other field may hold a value, under a misspelt key or in the wrong place.
pub(super) const OPEN: [&str; 4] = ["apiVersion", "immutable", "kind", "type"];
/// Fields of its metadata that hold none of its values, and that a manifest may have.
const OPEN_METADATA: [&str; 6] = ["finalizers", "generateName", "labels", "name", "namespace", "ownerReferences"];

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

/// Minimum length of the parts of a value that are searched for in an annotation, in characters.
const SHORTEST: usize = 4;

/// The part of an object that is secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Nothing is secret.
    Open,
    /// The values below `stringData` are secret.
    Parts,
    /// All values are secret, and so is everything that may repeat them.
    Whole,
}

/// The secret parts of an object, and the manifest and live object that show which annotations repeat them.
#[derive(Clone, Copy, Debug)]
pub struct Secrecy<'a> {
    pub(super) level: Level,
    manifest: Option<&'a Value>,
    live: Option<&'a Value>,
}

impl<'a> Secrecy<'a> {
    /// Decides by the type, the manifest and the live object.
    #[must_use]
    pub fn of(gvk: &GroupVersionKind, manifest: Option<&'a Value>, live: Option<&'a Value>) -> Self {
        let is_secret =
            may_be_secret(gvk) || [manifest, live].into_iter().flatten().any(|object| holds_secrets(gvk, object));
        let level = match is_secret {
            true => Level::Whole,
            false if is_custom(&gvk.group) => Level::Parts,
            false => Level::Open,
        };
        Self { level, manifest, live }
    }

    /// Returns true if an annotation of a Secret may be shown: the manifest sets it to this value, or it is known to be harmless, and
    /// it does not repeat a secret value.
    pub(super) fn shows_annotation(&self, key: &str, value: &Value) -> bool {
        let Some(text) = value.as_str() else { return false };
        let is_copy = key == LAST_APPLIED || COPIES.iter().any(|ending| key.ends_with(ending));
        let in_manifest = self.manifest.and_then(|manifest| manifest.metadata("annotations")?.get(key));
        !is_copy && (HARMLESS.contains(&key) || in_manifest == Some(value)) && !self.repeats_a_value(text)
    }

    fn repeats_a_value(&self, text: &str) -> bool {
        let objects = [self.manifest, self.live].into_iter().flatten();
        let parts = objects.filter_map(Value::as_object).flatten();
        parts
            .filter(|(name, _)| *name != "metadata" && !OPEN.contains(&name.as_str()))
            .any(|(_, part)| repeats(text, part))
    }
}

/// Returns true if a text holds a value, or a line of it, as plain text, in base64 or escaped.
fn repeats(text: &str, value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().any(|value| repeats(text, value)),
        Value::Array(items) => items.iter().any(|value| repeats(text, value)),
        Value::String(value) => {
            let decoded = STANDARD.decode(value.replace(['\n', '\r'], "")).ok();
            let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
            holds(text, value) || decoded.is_some_and(|value| holds(text, &value))
        }
        Value::Number(number) => holds(text, &number.to_string()),
        Value::Null | Value::Bool(_) => false,
    }
}

fn holds(text: &str, value: &str) -> bool {
    let value = value.trim();
    let escaped = Value::from(value).to_string();
    let encoded = STANDARD.encode(value);
    // The last group of base64 depends on what follows.
    let groups = encoded.get(..value.len() / 3 * 4).unwrap_or_default();
    let lines = value.lines().map(str::trim);
    let mut parts = lines.chain([escaped.trim_matches('"'), groups]).filter(|part| part.chars().count() >= SHORTEST);
    parts.any(|part| text.contains(part))
}

pub(super) fn is_open_metadata(name: &str) -> bool {
    OPEN_METADATA.contains(&name) || SERVER_METADATA.contains(&name)
}

/// Returns true if the values of an object are secret, because of its kind or of a field in the manifest or live object.
pub(super) fn is_secret(target: &Target, live: Option<&Value>) -> bool {
    let gvk = &target.key.gvk;
    holds_secrets(gvk, target.desired.object()) || live.is_some_and(|live| holds_secrets(gvk, live))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
