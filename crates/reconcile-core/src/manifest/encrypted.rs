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
pub struct Decrypted(BTreeMap<Place, Result<Value, String>>);

impl Decrypted {
    /// Adds a document.
    pub fn insert(&mut self, place: Place, result: Result<Value, String>) {
        self.0.insert(place, result);
    }
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
    pub fn of(value: Value, place: &Place, decrypted: Option<&Decrypted>) -> (Value, Self) {
        let Some(Decrypted(decrypted)) = decrypted else {
            let hint = "pass `--decrypt=sops` to decrypt it in memory";
            return (value, Self::Closed(Diagnostic::new(Code::Encrypted, "encrypted with SOPS").with_hint(hint)));
        };
        match decrypted.get(place) {
            Some(Ok(open)) if is_encrypted(open) => {
                (value, Self::Closed(closed("`sops` printed a document that is still encrypted")))
            }
            Some(Ok(open)) if is_list(open) == is_list(&value) && open.is_object() => {
                let known = identity(&value, &place.name());
                (open.clone(), Self::Decrypted { known, is_identified: is_identified(&value) })
            }
            Some(Ok(_)) => (value, Self::Closed(closed("`sops` printed no manifest"))),
            Some(Err(reason)) => (value, Self::Closed(closed(reason))),
            None => (value, Self::Closed(closed("it was not decrypted"))),
        }
    }
}

/// The diagnostic for a document that `sops` did not decrypt to what it should.
pub(super) fn closed(reason: &str) -> Diagnostic {
    let hint = "`sops --decrypt FILE` shows more, and perhaps what nobody else should see";
    Diagnostic::new(Code::Encrypted, format!("encrypted with SOPS: {reason}")).with_hint(hint)
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
