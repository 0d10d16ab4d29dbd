//! Documents that SOPS has encrypted: how they are recognised, and what they are decrypted to.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::diagnostic::{Code, Diagnostic};

/// The key under which SOPS keeps its metadata.
const SOPS: &str = "sops";
/// The beginning of an encrypted value.
const CIPHERTEXT: &str = "ENC[";
/// The parts of the metadata of an object that stay of an encrypted one, as far as they can be read.
const METADATA: [&str; 4] = ["annotations", "labels", "name", "namespace"];

/// The place of an encrypted document in its input: the line of the document, and the indices of the item in the lists of the document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line at which the document starts.
    pub line: u32,
    /// The indices, the outermost first; empty for the document itself.
    pub items: Vec<usize>,
}

impl Place {
    /// A name for the object at this place.
    pub(super) fn name(&self) -> String {
        self.items.iter().fold(format!("line-{}", self.line), |name, item| format!("{name}-{item}"))
    }
}

/// The decrypted documents of one input, or the reasons why they cannot be decrypted.
#[derive(Debug, Default)]
pub struct Decrypted(BTreeMap<Place, Result<Value, Undecrypted>>);

impl Decrypted {
    /// Adds a document.
    pub fn insert(&mut self, place: Place, result: Result<Value, Undecrypted>) {
        self.0.insert(place, result);
    }
}

/// The reason why a document is not decrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undecrypted {
    /// `sops` has none of its keys.
    NoKey,
    /// The code over its values (`mac`) does not match them.
    OtherValues,
    /// A value is not the one that was encrypted at its place.
    BrokenValue,
    /// The decrypted document is not what it should be: words that follow "encrypted with SOPS: ".
    Mistake(String),
    /// `sops` failed, or printed something else: words that follow "encrypted with SOPS: ".
    Failed(String),
}

impl Undecrypted {
    /// The diagnostic for a document in a file, or in what was built from a kustomization.
    pub(super) fn diagnostic(&self, is_built: bool) -> Diagnostic {
        const BUILT: &str = "a build that changes values or their order breaks the `mac`: pass the encrypted files with `-f`, \
                             or decrypt them in the build";
        const CHANGED: &str = "undo the change, or encrypt it again; documents that were encrypted in one file have to be in \
                               one input";
        let changed = if is_built { BUILT } else { CHANGED };
        let (reason, hint) = match self {
            Self::NoKey => (
                "`sops` has no key that decrypts it",
                "`sops` needs one of the keys that are listed under `sops` in the file, such as an age key in \
                 `SOPS_AGE_KEY_FILE`",
            ),
            Self::OtherValues if is_built => {
                ("`sops` refuses it, because its `mac` does not match what the kustomization builds", changed)
            }
            Self::OtherValues => {
                ("`sops` refuses it, because its `mac` does not match: it was changed after it was encrypted", changed)
            }
            Self::BrokenValue => {
                ("one of its values cannot be decrypted: it was changed or moved after it was encrypted", changed)
            }
            Self::Mistake(reason) => (reason.as_str(), "`sops edit FILE` opens it decrypted"),
            Self::Failed(reason) => {
                (reason.as_str(), "`sops --decrypt FILE` shows its error; what else it prints may be secret")
            }
        };
        Diagnostic::new(Code::Encrypted, format!("encrypted with SOPS: {reason}")).with_hint(hint)
    }
}

/// The mistake in a decrypted object that is no manifest. Nothing in it is quoted.
pub(super) fn mistake(object: &Value) -> Undecrypted {
    let is_text = |path: &str| object.pointer(path).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let fields = [("/apiVersion", "apiVersion"), ("/kind", "kind"), ("/metadata/name", "metadata.name")];
    Undecrypted::Mistake(match fields.into_iter().find(|(path, _)| !is_text(path)) {
        Some((_, name)) => format!("the decrypted manifest has no valid `{name}`"),
        None => "the server would refuse the name, the labels or the annotations of the decrypted manifest".to_owned(),
    })
}

/// Returns true for a document with the metadata of SOPS.
pub fn is_encrypted(document: &Value) -> bool {
    sops(document).is_some()
}

/// The code over all values of the documents that were encrypted together, which each of them has.
pub fn authentication_code(document: &Value) -> Option<&str> {
    sops(document)?.get("mac")?.as_str()
}

fn sops(document: &Value) -> Option<&Map<String, Value>> {
    let sops = document.get(SOPS)?.as_object()?;
    (sops.contains_key("mac") && sops.contains_key("version")).then_some(sops)
}

/// The state of a document, and of the objects in it.
#[derive(Clone, Debug)]
pub(super) enum Seal {
    /// It is not encrypted.
    Open,
    /// It was encrypted, and its values are known. This is its identity as it stands in the text.
    Decrypted { known: Value, is_identified: bool },
    /// Its values are not known, for this reason.
    Closed(Diagnostic),
}

impl Seal {
    /// Reads what a document was decrypted to. The value stays as it is if there is nothing else.
    pub fn of(value: Value, place: &Place, decrypted: Option<&Decrypted>, is_built: bool) -> (Value, Self) {
        let Some(Decrypted(decrypted)) = decrypted else {
            let hint = "pass `--decrypt=sops` to decrypt it in memory";
            return (value, Self::Closed(Diagnostic::new(Code::Encrypted, "encrypted with SOPS").with_hint(hint)));
        };
        let wrong = match decrypted.get(place) {
            Some(Ok(open)) if is_encrypted(open) => "`sops` printed a document that is still encrypted",
            Some(Ok(open)) if !open.is_object() => "what `sops` printed is not a Kubernetes object",
            Some(Ok(open)) => match (is_list(&value), is_list(open)) {
                (false, true) => "`sops` printed a list of objects instead of one object",
                (true, false) => "`sops` printed one object instead of a list of objects",
                _ => {
                    let known = identity(&value, &place.name());
                    let is_identified = is_identified(&value);
                    return (open.clone(), Self::Decrypted { known, is_identified });
                }
            },
            Some(Err(reason)) => return (value, Self::Closed(reason.diagnostic(is_built))),
            None => "`sops` was not run for it",
        };
        (value, Self::Closed(Undecrypted::Failed(wrong.to_owned()).diagnostic(is_built)))
    }
}

/// Returns true for a list of objects.
pub(super) fn is_list(document: &Value) -> bool {
    document.get("kind").is_some_and(|kind| kind == "List") || document.get("items").is_some_and(Value::is_array)
}

/// Returns true if the type, the name and the namespace of an encrypted object can be read.
pub(super) fn is_identified(encrypted: &Value) -> bool {
    let is_open = |path: &str| match encrypted.pointer(path) {
        Some(value) => value.as_str().is_some_and(|text| !text.starts_with(CIPHERTEXT)),
        None => path == "/metadata/namespace",
    };
    ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace"].into_iter().all(is_open)
}

/// The identity of an encrypted object, which is all that is used of it. An identity that is encrypted as well is replaced: `number`
/// distinguishes the objects of an input.
pub(super) fn identity(encrypted: &Value, number: &str) -> Value {
    let text = |value: Option<&Value>, instead: &str| match value.and_then(Value::as_str) {
        Some(text) if !text.is_empty() && !text.starts_with(CIPHERTEXT) => text.to_owned(),
        _ => instead.to_owned(),
    };
    let metadata = encrypted.get("metadata");
    let mut kept: Map<String, Value> =
        METADATA.iter().filter_map(|name| Some(((*name).to_owned(), readable(metadata?.get(*name)?)?))).collect();
    kept.insert("name".to_owned(), text(metadata.and_then(|metadata| metadata.get("name")), number).into());
    serde_json::json!({
        "apiVersion": text(encrypted.get("apiVersion"), "v1"),
        "kind": text(encrypted.get("kind"), "Encrypted"),
        "metadata": kept,
    })
}

/// A text, or the texts of a map, without those that are encrypted.
fn readable(value: &Value) -> Option<Value> {
    let is_open = |value: &Value| value.as_str().is_some_and(|text| !text.starts_with(CIPHERTEXT));
    match value {
        Value::Object(map) => {
            let open = map.iter().filter(|(_, value)| is_open(value));
            Some(open.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        value => is_open(value).then(|| value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_with_the_metadata_of_sops_is_encrypted() {
        for (document, expected) in [
            (json!({"sops": {"mac": "ENC[x]", "version": "3.11.0"}}), true),
            (json!({"sops": {"mac": "ENC[x]"}}), false),
            (json!({"sops": {"version": "3.11.0"}}), false),
            (json!({"sops": "mac version"}), false),
            (json!({"data": {"sops": {"mac": "x", "version": "1"}}}), false),
            (json!(["sops"]), false),
        ] {
            assert_eq!(is_encrypted(&document), expected, "{document}");
        }
    }

    #[test]
    fn a_decrypted_object_that_is_no_manifest_is_described_without_its_values() {
        for (object, expected) in [
            (json!({"kind": "hunter2"}), "the decrypted manifest has no valid `apiVersion`"),
            (json!({"apiVersion": "v1", "kind": 2}), "the decrypted manifest has no valid `kind`"),
            (
                json!({"apiVersion": "v1", "kind": "Pod", "metadata": "x"}),
                "the decrypted manifest has no valid `metadata.name`",
            ),
            (
                json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "hunter2", "labels": {"a": 1}}}),
                "the server would refuse the name, the labels or the annotations of the decrypted manifest",
            ),
        ] {
            assert_eq!(mistake(&object), Undecrypted::Mistake(expected.to_owned()), "{object}");
        }
    }

    #[test]
    fn a_build_is_named_as_the_cause_if_the_code_over_the_values_does_not_match() {
        let file = Undecrypted::OtherValues.diagnostic(false);
        assert!(file.message.ends_with("it was changed after it was encrypted"), "{}", file.message);
        let built = Undecrypted::OtherValues.diagnostic(true);
        assert!(built.message.ends_with("does not match what the kustomization builds"), "{}", built.message);
        assert!(built.hint.unwrap().contains("`-f`"));
    }

    #[test]
    fn nothing_but_the_identity_of_an_encrypted_object_is_used() {
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "data": {"pin": "ENC[a]", "plain": "hunter2"}, "sops": {},
            "metadata": {"name": "db", "namespace": "shop", "labels": {"app": "db", "team": "ENC[b]"}, "finalizers": ["x"]},
        });
        let expected = json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "db", "namespace": "shop", "labels": {"app": "db"}},
        });
        assert_eq!(identity(&object, "document-1"), expected);
        let all =
            json!({"apiVersion": "ENC[a]", "kind": "ENC[b]", "metadata": {"name": "ENC[c]", "namespace": "ENC[d]"}});
        let expected = json!({"apiVersion": "v1", "kind": "Encrypted", "metadata": {"name": "document-2"}});
        assert_eq!(identity(&all, "document-2"), expected);
        assert!(is_identified(&object) && !is_identified(&all));
    }
}
