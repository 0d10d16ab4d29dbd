//! Objects that hold secret values: Secrets, and objects that were meant to be Secrets. A type that the server would refuse still
//! reaches an offline comparison, an excerpt or a snapshot.
//!
//! Secrets are also inside of other objects: as maps at any depth (the workload of a `ManifestWork`, the objects of a `Template`), and as
//! YAML or JSON in a string (a ConfigMap of manifests, a copy of the object in an annotation). Their values are also found where others
//! quote them: in annotations, and in messages of a server.

use kube_yaml::Validation;
use serde_json::{Map, Value};
use strsim::levenshtein;
use structured_merge::GroupVersionKind;

use super::repeated::SecretValues;

/// The field of a Secret that holds plain text, which no other built-in kind has.
const STRING_DATA: &str = "stringData";
/// Fields of a Secret that hold none of its values. Every other field may hold a value, under a misspelt key or in the wrong place.
pub const OPEN_FIELDS: [&str; 4] = ["apiVersion", "immutable", "kind", "type"];
/// Groups that define a kind named `Secret` of their own, which refers to values and holds none.
const OTHER_SECRETS: [&str; 3] = [".crossplane.io", ".services.k8s.aws", ".upbound.io"];
/// Maximum number of texts inside of each other that are read. A deeper one is secret if it mentions a Secret.
const TEXTS: usize = 4;

/// Returns true for the core `Secret` and for kinds that may be misspelt ones: `secret`, `Secrets` or `SecretList` in any group,
/// and in groups that define no other kinds of their own (`v1`, `core/v1`, `apps/v1`) every kind whose name holds the word, or
/// is at most two letters away from it.
pub fn may_be_secret(gvk: &GroupVersionKind) -> bool {
    let kind = gvk.kind.to_lowercase();
    if is_custom(&gvk.group) {
        return is_secret_word(&kind) && !OTHER_SECRETS.iter().any(|suffix| gvk.group.ends_with(suffix));
    }
    kind.contains("secret") || is_nearly_secret(&kind)
}

/// Returns true if the values of an object are secret, by its kind or because it has `stringData` in the place where a Secret
/// has it.
pub fn holds_secrets(gvk: &GroupVersionKind, object: &Value) -> bool {
    may_be_secret(gvk) || object.as_object().is_some_and(|object| object.keys().any(|key| is_string_data(key)))
}

/// Returns true for the kind of a Secret or of a list of them, and for names that are at most two letters away from it,
/// ignoring case.
pub fn is_nearly_secret(kind: &str) -> bool {
    is_secret_word(kind) || levenshtein(&kind.to_lowercase(), "secret") <= 2
}

/// Returns true for the names of the kind of a Secret, and of lists of them, ignoring case.
pub(crate) fn is_secret_word(word: &str) -> bool {
    ["secret", "secrets", "secretlist"].iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// Returns true for `stringData`, ignoring case: what is below it is secret in every custom resource.
pub fn is_string_data(key: &str) -> bool {
    key.eq_ignore_ascii_case(STRING_DATA)
}

/// Returns true if CustomResourceDefinitions may use a group: its name has a dot, and is not one of Kubernetes' own.
pub fn is_custom(group: &str) -> bool {
    group.contains('.') && !group.ends_with(".k8s.io")
}

/// Returns true for a map that is a Secret or a list of them, or that refers to one, by its kind.
pub fn is_embedded_secret(map: &Map<String, Value>) -> bool {
    let text = |name: &str| map.get(name).and_then(Value::as_str);
    text("kind").is_some_and(|kind| may_be_secret(&GroupVersionKind::new(text("apiVersion").unwrap_or_default(), kind)))
}

/// Returns true if a field of such a map holds secret values. A reference to a Secret has no metadata, and its other fields are
/// names.
pub fn is_secret_part(secret: &Map<String, Value>, name: &str) -> bool {
    let is_reference = !secret.contains_key("metadata");
    matches!(name, "data" | "items")
        || is_string_data(name)
        || !is_reference && name != "metadata" && !OPEN_FIELDS.contains(&name)
}

/// Returns true if a Secret is a map inside of a value.
pub fn embeds_secrets(value: &Value) -> bool {
    match value {
        Value::Object(map) => is_embedded_secret(map) || map.values().any(embeds_secrets),
        Value::Array(items) => items.iter().any(embeds_secrets),
        _ => false,
    }
}

/// Returns true if a string is YAML or JSON that holds values of a Secret, or a text that cannot be read as such and mentions one.
pub fn is_secret_text(text: &str) -> bool {
    let mut found = false;
    each_in_text(text, TEXTS, &mut |value| found |= has_value(value));
    found
}

fn has_value(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().any(has_value),
        Value::Array(items) => items.iter().any(has_value),
        Value::Null => false,
        _ => true,
    }
}

/// Calls a function with the secret values of an object whose kind is another one. `has_string_data` is true if everything below
/// `stringData` counts as secret as well.
fn each_value(value: &Value, has_string_data: bool, texts: usize, each: &mut dyn FnMut(&Value)) {
    match value {
        Value::Object(map) => {
            let is_secret = is_embedded_secret(map);
            for (name, value) in map {
                if has_string_data && is_string_data(name) || is_secret && is_secret_part(map, name) {
                    each(value);
                } else {
                    each_value(value, has_string_data, texts, each);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each_value(item, has_string_data, texts, each)),
        Value::String(text) => each_in_text(text, texts, each),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Calls a function with the secret values in a text: the whole text, if a part of it cannot be read and it mentions a Secret.
fn each_in_text(text: &str, texts: usize, each: &mut dyn FnMut(&Value)) {
    if !may_mention_secret(text) {
        return;
    }
    let is_read = texts.checked_sub(1).is_some_and(|texts| {
        let stream = kube_yaml::read(text.as_bytes(), Validation::Ignore);
        stream.documents.iter().for_each(|document| each_value(&document.value, true, texts, each));
        stream.diagnostics.is_empty()
    });
    if !is_read && mentions_secret(text) {
        each(&Value::from(text));
    }
}

/// Returns true if a text has words that a Secret with values needs, or escapes that may spell them.
fn may_mention_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let has = |word: &str| text.contains(word);
    has("\\u") || has("\\x") || has("stringdata") || has("secret") && (has("data") || has("items"))
}

/// Returns true if a text has `stringData`, or the kind of a Secret next to its key, in any spelling of YAML, JSON or a template.
fn mentions_secret(text: &str) -> bool {
    // The line ends of a text inside of another one.
    let text = text.replace("\\n", "\n").replace("\\t", "\t");
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_kind = |[key, kind]: &[&str; 2]| key.eq_ignore_ascii_case("kind") && is_secret_word(kind);
    words.iter().any(|word| is_string_data(word)) || words.array_windows().any(is_kind)
}

/// Returns true if a text about an object must not be repeated: any text about a Secret, and a text that repeats a value of a Secret
/// inside of another object.
pub fn may_quote_secret(gvk: &GroupVersionKind, objects: &[&Value], text: &str) -> bool {
    objects.iter().any(|object| holds_secrets(gvk, object))
        || inner_values(is_custom(&gvk.group), objects.iter().copied()).are_in(text)
}

/// The secret values in objects of another kind. `has_string_data` is true if everything below `stringData` counts as secret as well.
pub(crate) fn inner_values<'v>(has_string_data: bool, objects: impl IntoIterator<Item = &'v Value>) -> SecretValues {
    SecretValues::of(|each| objects.into_iter().for_each(|object| each_value(object, has_string_data, TEXTS, each)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn misspelt_types_of_a_secret_are_known() {
        for (api_version, kind) in [
            ("v1", "Secret"),
            ("v1", "secret"),
            ("v1", "SECRET"),
            ("v1", "Secrets"),
            ("v1", "secretlist"),
            ("v1", "Secert"),
            ("v1", "Secrt"),
            ("v1", "Secret "),
            ("v1", "TLSSecret"),
            ("core/v1", "Secret"),
            ("/v1", "Secret"),
            ("V1", "Secret"),
            ("v1/", "Secret"),
            ("", "Secret"),
            ("apps/v1", "Secret"),
            ("rbac.authorization.k8s.io/v1", "Secret"),
            ("example.com/v1", "secrets"),
        ] {
            assert!(may_be_secret(&GroupVersionKind::new(api_version, kind)), "{api_version} {kind}");
        }
    }

    #[test]
    fn other_kinds_are_none() {
        for (api_version, kind) in [
            ("v1", "ConfigMap"),
            ("v1", "Service"),
            ("v1", "ServiceAccount"),
            ("v1", "Event"),
            ("apps/v1", "Deployment"),
            ("bitnami.com/v1alpha1", "SealedSecret"),
            ("external-secrets.io/v1", "ExternalSecret"),
            ("external-secrets.io/v1", "SecretStore"),
            ("secrets-store.csi.x-k8s.io/v1", "SecretProviderClass"),
            ("secrets.hashicorp.com/v1beta1", "VaultStaticSecret"),
            ("secretsmanager.aws.upbound.io/v1beta1", "Secret"),
        ] {
            let gvk = GroupVersionKind::new(api_version, kind);
            assert!(!may_be_secret(&gvk), "{api_version} {kind}");
            assert!(holds_secrets(&gvk, &json!({"stringdata": {"a": "b"}})), "{api_version} {kind}");
        }
    }

    #[test]
    fn texts_with_values_of_a_secret_are_secret() {
        let secret =
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"a": "aGVsbG8="}});
        let nested = json!({"data": {"all.yaml": secret.to_string()}}).to_string();
        let deep = (0..9).fold(secret.to_string(), |text, _| json!({"stringly": text, "data": "secret"}).to_string());
        for text in [
            "apiVersion: v1\nkind: Secret\ndata: {a: aGVsbG8=}",
            "kind: ConfigMap\n---\nkind: Secret\nstringData:\n  a: hello\n",
            "kind: List\nitems:\n- kind: Secret\n  data: {a: aGVsbG8=}",
            "kind: SecretList\nitems:\n- data: {a: aGVsbG8=}",
            "apiVersion: a.example.com/v1\nkind: SopsSecret\nspec: {templates: [{stringData: {a: hello}}]}",
            "kind: Secret\ndata:\n  a: {{ .Values.password | b64enc }}\n  b: aGVsbG8=",
            "kind: Secret\ndata: {a: aGVsbG8=",
            "kind: ! \"\\x53ecret\"\ndata: {a: aGVsbG8=}",
            r#"{"kind":"\u0053ecret","data":{"a":"aGVsbG8="}}"#,
            &secret.to_string(),
            &nested,
            &deep,
        ] {
            assert!(is_secret_text(text), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not() {
        for text in [
            "",
            "Keep secret data in a Secret: see kind and data.",
            "valuesFrom:\n- kind: Secret\n  name: values\n  valuesKey: data",
            "kind: Secret\nmetadata: {name: empty}\ndata: {}",
            "kind: ConfigMap\ndata: {secret: of nobody}",
            "kind: ExternalSecret\napiVersion: external-secrets.io/v1\nspec: {data: [{secretKey: a, remoteRef: {key: b}}]}",
            "the {secret: [data",
            "C:\\users\\secret\\data",
        ] {
            assert!(!is_secret_text(text), "{text}");
        }
    }
}
