//! Secret values leave the comparison only as numbers: equal values in one run share one, different ones don't.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::object::{FieldPath, GroupVersionKind, LAST_APPLIED, PathElement, SERVER_METADATA};

/// Name of the one field of a redacted value: `{"redacted": "#1"}`.
pub const REDACTED: &str = "redacted";

/// Hands out the numbers of one run. Objects must come in a fixed order, so that two runs print the same.
#[derive(Debug, Default)]
pub struct Redactor {
    numbers: Mutex<HashMap<Vec<u8>, usize>>,
}

/// Fields of a Secret that hold none of its values. Whatever else stands there may be a value with its key misspelt or in
/// the wrong place.
const OPEN: [&str; 4] = ["apiVersion", "immutable", "kind", "type"];
/// The same, of its metadata, as far as they may be in a manifest.
const OPEN_METADATA: [&str; 6] = ["finalizers", "generateName", "labels", "name", "namespace", "ownerReferences"];

/// What a part of a Secret holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Base64 values.
    Data,
    /// Values in plain text.
    Plain,
}

impl Redactor {
    /// A value as it may be shown: of a Secret, everything but its type and its metadata is a number, as is the copy that
    /// client-side apply keeps; of other objects, the value itself.
    pub fn value(&self, gvk: &GroupVersionKind, path: &FieldPath, value: &Value) -> Value {
        if !gvk.is_secret() {
            return value.clone();
        }
        let fields: Vec<&str> = path
            .elements()
            .iter()
            .map_while(|element| if let PathElement::Field(name) = element { Some(name.as_str()) } else { None })
            .collect();
        match fields.as_slice() {
            [] => self.each(value, Self::field),
            ["metadata", "annotations", LAST_APPLIED, ..] => self.all(value, Part::Plain),
            ["metadata", "annotations", _, ..] => value.clone(),
            ["metadata", name] => self.of_metadata(name, value),
            ["metadata", name, ..] if is_open_metadata(name) => value.clone(),
            [name] => self.field(name, value),
            ["data", ..] => self.all(value, Part::Data),
            _ => self.all(value, Part::Plain),
        }
    }

    fn field(&self, name: &str, value: &Value) -> Value {
        match name {
            "data" => self.all(value, Part::Data),
            "metadata" => self.each(value, Self::of_metadata),
            _ if OPEN.contains(&name) => value.clone(),
            _ => self.all(value, Part::Plain),
        }
    }

    fn of_metadata(&self, name: &str, value: &Value) -> Value {
        match name {
            "annotations" => self.each(value, |redactor, name, value| match name {
                LAST_APPLIED => redactor.all(value, Part::Plain),
                _ => value.clone(),
            }),
            _ if is_open_metadata(name) => value.clone(),
            _ => self.all(value, Part::Plain),
        }
    }

    fn each(&self, value: &Value, of: impl Fn(&Self, &str, &Value) -> Value) -> Value {
        match value {
            Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), of(self, name, value))).collect(),
            other => other.clone(),
        }
    }

    /// Every scalar becomes a number; the names of the keys stay.
    fn all(&self, value: &Value, part: Part) -> Value {
        match value {
            Value::Object(map) => {
                let shown: Map<_, _> = map.iter().map(|(name, value)| (name.clone(), self.all(value, part))).collect();
                Value::Object(shown)
            }
            Value::Null => Value::Null,
            secret => self.number(&plain(secret, part)),
        }
    }

    fn number(&self, secret: &[u8]) -> Value {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let next = numbers.len() + 1;
        let number = *numbers.entry(secret.to_owned()).or_insert(next);
        json!({ REDACTED: format!("#{number}") })
    }
}

fn is_open_metadata(name: &str) -> bool {
    OPEN_METADATA.contains(&name) || SERVER_METADATA.contains(&name)
}

/// The value itself, so that a key in `stringData` and the same value in `data` share a number.
fn plain(value: &Value, part: Part) -> Vec<u8> {
    match (value, part) {
        (Value::String(text), Part::Data) => {
            STANDARD.decode(text.replace(['\n', '\r'], "")).unwrap_or_else(|_| text.as_bytes().to_vec())
        }
        (Value::String(text), Part::Plain) => text.as_bytes().to_vec(),
        (other, _) => other.to_string().into_bytes(),
    }
}

/// A Secret without its values, for a snapshot: what would have been a value is a number.
#[must_use]
pub fn withheld(secret: &Value, redactor: &Redactor) -> Value {
    redactor.value(&GroupVersionKind::new("v1", "Secret"), &FieldPath::root(), secret)
}

/// Whether an object's values were left out of a snapshot.
#[must_use]
pub(super) fn is_withheld(object: &Value) -> bool {
    let values = ["data", "stringData"].iter().filter_map(|part| object.get(part)?.as_object());
    values.flat_map(Map::values).any(|value| value.get(REDACTED).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret() -> GroupVersionKind {
        GroupVersionKind::new("v1", "Secret")
    }

    #[test]
    fn equal_values_share_a_number_across_data_and_string_data() {
        let redactor = Redactor::default();
        let object =
            json!({"data": {"a": "aGVsbG8=", "b": "d29ybGQ="}, "stringData": {"c": "hello"}, "type": "Opaque"});
        let shown = redactor.value(&secret(), &FieldPath::root(), &object);
        assert_eq!(
            shown,
            json!({
                "data": {"a": {"redacted": "#1"}, "b": {"redacted": "#2"}},
                "stringData": {"c": {"redacted": "#1"}},
                "type": "Opaque",
            })
        );
    }

    #[test]
    fn the_copy_of_client_side_apply_is_redacted_wherever_the_path_ends() {
        let object = json!({"metadata": {"annotations": {LAST_APPLIED: "{\"stringData\":{\"a\":\"hello\"}}"}}});
        for path in [FieldPath::root(), FieldPath::of(&["metadata"]), FieldPath::of(&["metadata", "annotations"])] {
            let value = path.value_in(&object).unwrap();
            let shown = Redactor::default().value(&secret(), &path, value);
            assert!(!shown.to_string().contains("hello"), "{path}: {shown}");
        }
    }

    #[test]
    fn what_stands_in_the_wrong_place_or_under_a_misspelt_name_is_redacted_too() {
        let object = json!({
            "kind": "Secret", "dta": {"a": "hello"}, "stray": ["hello"],
            "metadata": {"name": "it", "labels": {"open": "yes"}, "stringData": {"a": "hello"}},
        });
        let shown = Redactor::default().value(&secret(), &FieldPath::root(), &object);
        assert!(!shown.to_string().contains("hello"), "{shown}");
        assert_eq!(shown["metadata"]["labels"]["open"], "yes");
        for path in [&["dta", "a"][..], &["dta"], &["metadata", "stringData", "a"], &["metadata", "stringData"]] {
            let path = FieldPath::of(path);
            let shown = Redactor::default().value(&secret(), &path, path.value_in(&object).unwrap());
            assert!(!shown.to_string().contains("hello"), "{path}: {shown}");
        }
    }
}
