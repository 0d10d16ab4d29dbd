//! Replaces secret values by numbers before they leave the comparison. In one run, equal values have the same number.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use structured_merge::{FieldPath, PathElement, with_elements};

use super::{Secrecy, SecretPart};
use crate::object::{CERTIFICATES, certificates, is_embedded_secret, is_secret_part, is_secret_text, is_string_data};

/// Name of the field of a redacted value: `{"redacted": "#1"}`. A value that is nothing but public certificates also has their facts, in
/// the field `certificates`.
pub const REDACTED: &str = "redacted";

/// Assigns the numbers of one run. The order of the objects must be fixed, so that two runs print the same.
#[derive(Debug, Default)]
pub struct Redactor {
    numbers: Mutex<HashMap<Vec<u8>, usize>>,
}

/// The encoding of the values in a part of a Secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// Base64 values.
    Base64,
    /// Values in plain text.
    Plain,
}

impl Redactor {
    /// Returns a value as it may be shown. In a Secret, everything but its type and its metadata is a number, and so is an annotation
    /// that may repeat its values. The same holds for a Secret inside of another object, and a string that is the text of one is a
    /// number. In a custom resource, the values below `stringData` are numbers. So are texts of a status that repeat one of these
    /// values. Other values are returned as they are.
    pub fn value(&self, secrecy: &Secrecy<'_>, path: &FieldPath, value: &Value) -> Value {
        let mut shown = self.parts_of(secrecy, path, value);
        let status = match path.elements() {
            [] => shown.get_mut("status"),
            [PathElement::Field(name), ..] if name == "status" => Some(&mut shown),
            _ => None,
        };
        if let Some(status) = status.filter(|_| secrecy.level != SecretPart::Whole) {
            self.mask_repeated(secrecy, status);
        }
        shown
    }

    /// Makes numbers of the texts that repeat a secret value of the object.
    fn mask_repeated(&self, secrecy: &Secrecy<'_>, value: &mut Value) {
        match value {
            Value::Object(map) if is_redacted(map) => {}
            Value::Object(map) => map.values_mut().for_each(|value| self.mask_repeated(secrecy, value)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_repeated(secrecy, item)),
            Value::String(text) if secrecy.repeats_a_value(text) => *value = self.all(value, Encoding::Plain),
            _ => {}
        }
    }

    fn parts_of(&self, secrecy: &Secrecy<'_>, path: &FieldPath, value: &Value) -> Value {
        if secrecy.level == SecretPart::Whole {
            return self.of_secret(secrecy, path, value);
        }
        if let Some((secret, below)) = secrecy.embedded(path) {
            return self.of_embedded(secret, &below, value);
        }
        let is_string_data =
            |element: &PathElement| matches!(element, PathElement::Field(name) if is_string_data(name));
        if secrecy.level == SecretPart::Parts && path.elements().iter().any(is_string_data) {
            return self.all(value, Encoding::Plain);
        }
        self.parts(secrecy.level, value)
    }

    /// A value at a path inside of a Secret that is a part of another object.
    fn of_embedded(&self, secret: &Value, path: &FieldPath, value: &Value) -> Value {
        let secrecy = Secrecy::of_embedded(secret);
        match (secret.as_object(), path.elements().first()) {
            (Some(fields), Some(PathElement::Field(name))) if is_secret_part(fields, name) || name == "metadata" => {
                self.of_secret(&secrecy, path, value)
            }
            // A reference to a Secret.
            _ => self.parts(SecretPart::Open, value),
        }
    }

    fn of_secret(&self, secrecy: &Secrecy<'_>, path: &FieldPath, value: &Value) -> Value {
        match field_names(path).as_slice() {
            [] => self.each(value, |redactor, name, value| redactor.field(secrecy, name, value)),
            ["metadata", "annotations", key, ..] => self.annotation(secrecy, key, value),
            ["metadata", name] => self.of_metadata(secrecy, name, value),
            ["metadata", name, ..] if secrecy.is_open_metadata(name) => value.clone(),
            [name] => self.field(secrecy, name, value),
            ["data", ..] => self.all(value, Encoding::Base64),
            _ => self.all(value, Encoding::Plain),
        }
    }

    fn field(&self, secrecy: &Secrecy<'_>, name: &str, value: &Value) -> Value {
        match name {
            "data" => self.all(value, Encoding::Base64),
            "metadata" => self.each(value, |redactor, name, value| redactor.of_metadata(secrecy, name, value)),
            _ if secrecy.is_open_field(name) => value.clone(),
            _ => self.all(value, Encoding::Plain),
        }
    }

    fn of_metadata(&self, secrecy: &Secrecy<'_>, name: &str, value: &Value) -> Value {
        match name {
            "annotations" => self.each(value, |redactor, key, value| redactor.annotation(secrecy, key, value)),
            _ if secrecy.is_open_metadata(name) => value.clone(),
            _ => self.all(value, Encoding::Plain),
        }
    }

    fn annotation(&self, secrecy: &Secrecy<'_>, key: &str, value: &Value) -> Value {
        if secrecy.shows_annotation(key, value) { value.clone() } else { self.all(value, Encoding::Plain) }
    }

    fn each(&self, value: &Value, shown: impl Fn(&Self, &str, &Value) -> Value) -> Value {
        match value {
            Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), shown(self, name, value))).collect(),
            other => self.all(other, Encoding::Plain),
        }
    }

    /// Redacts Secrets at any depth, also in strings, and `stringData` if it is secret.
    fn parts(&self, level: SecretPart, value: &Value) -> Value {
        let of_field = |name: &str, field: &Value| match value.as_object().filter(|map| is_embedded_secret(map)) {
            Some(secret) if is_secret_part(secret, name) || name == "metadata" => {
                self.field(&Secrecy::of_embedded(value), name, field)
            }
            _ if level == SecretPart::Parts && is_string_data(name) => self.all(field, Encoding::Plain),
            _ => self.parts(level, field),
        };
        match value {
            Value::Object(map) => map.iter().map(|(name, field)| (name.clone(), of_field(name, field))).collect(),
            Value::Array(items) => items.iter().map(|item| self.parts(level, item)).collect(),
            Value::String(text) if is_secret_text(text) => self.all(value, Encoding::Plain),
            other => other.clone(),
        }
    }

    /// Replaces every scalar by a number; the keys stay.
    fn all(&self, value: &Value, encoding: Encoding) -> Value {
        match value {
            // A number from a snapshot.
            Value::Object(map) if is_redacted(map) => self.number(value.to_string().as_bytes()),
            Value::Object(map) => {
                let shown: Map<_, _> =
                    map.iter().map(|(name, value)| (name.clone(), self.all(value, encoding))).collect();
                Value::Object(shown)
            }
            Value::Null => Value::Null,
            secret => self.number(&plain(secret, encoding)),
        }
    }

    fn number(&self, secret: &[u8]) -> Value {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let next = numbers.len() + 1;
        let number = *numbers.entry(secret.to_owned()).or_insert(next);
        let number = Value::from(format!("#{number}"));
        let certificates = std::str::from_utf8(secret).ok().and_then(certificates);
        let certificates = certificates.and_then(|found| serde_json::to_value(found).ok());
        let public = certificates.map(|found| (CERTIFICATES.to_owned(), found));
        std::iter::once((REDACTED.to_owned(), number)).chain(public).collect()
    }
}

/// The decoded value, so that a value in `stringData` and the same value in `data` have the same number.
fn plain(value: &Value, encoding: Encoding) -> Vec<u8> {
    match (value, encoding) {
        (Value::String(text), Encoding::Base64) => {
            STANDARD.decode(text.replace(['\n', '\r'], "")).unwrap_or_else(|_| text.as_bytes().to_vec())
        }
        (Value::String(text), Encoding::Plain) => text.as_bytes().to_vec(),
        (other, _) => other.to_string().into_bytes(),
    }
}

fn field_names(path: &FieldPath) -> Vec<&str> {
    let names = path.elements().iter();
    names.map_while(|element| if let PathElement::Field(name) = element { Some(name.as_str()) } else { None }).collect()
}

fn is_redacted(map: &Map<String, Value>) -> bool {
    number_of(map).is_some()
}

fn number_of(map: &Map<String, Value>) -> Option<&str> {
    let is_public = |(name, value): (&String, &Value)| name == REDACTED || name == CERTIFICATES && value.is_array();
    map.get(REDACTED)?.as_str().filter(|_| map.iter().all(is_public))
}

/// The number of a redacted value: `#1`. It is an object with the one field `redacted`, or also `certificates` if the value is nothing
/// but public certificates.
pub fn secret_number(value: &Value) -> Option<&str> {
    number_of(value.as_object()?)
}

/// Redacts an object for a snapshot: its secret values are numbers, also as the members and keys that the records of its owners name. All
/// else in the records stays, and with it what a comparison with the snapshot says.
pub fn withheld(secrecy: &Secrecy<'_>, live: &Value, redactor: &Redactor) -> Value {
    let mut object = redactor.value(secrecy, &FieldPath::root(), live);
    without_certificates(&mut object);
    let entries = object.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut);
    for fields in entries.into_iter().flatten().filter_map(|entry| entry.get_mut("fieldsV1")) {
        *fields = with_elements(fields, &|at, element| secrecy.shown_element(at, element));
    }
    object
}

/// Leaves nothing of redacted values but their numbers.
fn without_certificates(value: &mut Value) {
    match value {
        Value::Object(map) if is_redacted(map) => _ = map.remove(CERTIFICATES),
        Value::Object(map) => map.values_mut().for_each(without_certificates),
        Value::Array(items) => items.iter_mut().for_each(without_certificates),
        _ => {}
    }
}

/// Returns true if an object comes from a snapshot without its secret values. Annotations of a Secret may be missing without them.
pub(crate) fn is_withheld(object: &Value) -> bool {
    let parts = object.as_object().into_iter().flatten().filter(|(name, _)| *name != "metadata");
    parts.map(|(_, part)| part).any(holds_redacted)
}

/// Returns true if a value has redacted parts.
pub fn holds_redacted(value: &Value) -> bool {
    match value {
        Value::Object(map) => is_redacted(map) || map.values().any(holds_redacted),
        Value::Array(items) => items.iter().any(holds_redacted),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair};
    use serde_json::json;
    use structured_merge::{GroupVersionKind, LAST_APPLIED};

    fn redacted(redactor: &Redactor, path: &FieldPath, value: &Value) -> Value {
        let gvk = GroupVersionKind::new("v1", "Secret");
        redactor.value(&Secrecy::of(&gvk, None, None), path, value)
    }

    #[test]
    fn equal_values_share_a_number_across_data_and_string_data() {
        let redactor = Redactor::default();
        let object =
            json!({"data": {"a": "aGVsbG8=", "b": "d29ybGQ="}, "stringData": {"c": "hello"}, "type": "Opaque"});
        let shown = redacted(&redactor, &FieldPath::root(), &object);
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
            let shown = redacted(&Redactor::default(), &path, value);
            assert!(!shown.to_string().contains("hello"), "{path}: {shown}");
        }
    }

    #[test]
    fn what_stands_in_the_wrong_place_or_under_a_misspelt_name_is_redacted_too() {
        let object = json!({
            "kind": "Secret", "dta": {"a": "hello"}, "stray": ["hello"],
            "metadata": {"name": "it", "labels": {"open": "yes"}, "stringData": {"a": "hello"}},
        });
        let shown = redacted(&Redactor::default(), &FieldPath::root(), &object);
        assert!(!shown.to_string().contains("hello"), "{shown}");
        assert_eq!(shown["metadata"]["labels"]["open"], "yes");
        for path in [&["dta", "a"][..], &["dta"], &["metadata", "stringData", "a"], &["metadata", "stringData"]] {
            let path = FieldPath::of(path);
            let shown = redacted(&Redactor::default(), &path, path.value_in(&object).unwrap());
            assert!(!shown.to_string().contains("hello"), "{path}: {shown}");
        }
    }

    #[test]
    fn what_is_below_string_data_of_a_custom_resource_is_redacted() {
        let gvk = GroupVersionKind::new("isindir.github.com/v1alpha3", "SopsSecret");
        let object = json!({"spec": {"size": 1, "secretTemplates": [{"name": "a", "stringData": {"pin": "hello"}}]}});
        let secrecy = Secrecy::of(&gvk, Some(&object), None);
        let shown = Redactor::default().value(&secrecy, &FieldPath::root(), &object);
        assert_eq!(
            shown,
            json!({"spec": {"size": 1, "secretTemplates": [{"name": "a", "stringData": {"pin": {"redacted": "#1"}}}]}})
        );
        assert!(is_withheld(&shown) && !is_withheld(&object));
    }

    #[test]
    fn a_status_that_repeats_a_secret_value_is_redacted() {
        let gvk = GroupVersionKind::new("example.com/v1", "Box");
        let object = json!({
            "spec": {"stringData": {"password": "my  hunter2&"}, "note": "open"},
            "status": {"phase": "Failed", "conditions": [{"type": "Ready", "message": "cannot log in with my hunter2\\u0026"}]},
        });
        let redactor = Redactor::default();
        let secrecy = Secrecy::of(&gvk, None, Some(&object));
        let shown = redactor.value(&secrecy, &FieldPath::root(), &object);
        assert_eq!(shown["status"]["phase"], "Failed");
        assert_eq!(shown["spec"]["note"], "open");
        assert!(!shown.to_string().contains("hunter2"), "{shown}");
        let status = redactor.value(&secrecy, &FieldPath::of(&["status"]), &object["status"]);
        assert_eq!(status, shown["status"]);
    }

    /// The path of a change leads into a list, and the value at its end says nothing about where it is from.
    #[test]
    fn a_change_below_string_data_or_a_secret_in_a_list_is_redacted() {
        let gvk = GroupVersionKind::new("isindir.github.com/v1alpha3", "SopsSecret");
        let inner = json!({"kind": "Secret", "data": {"pin": "aGVsbG8="}, "name": "open"});
        let object = json!({"spec": {"list": [{"name": "a", "stringData": {"pin": "hello"}, "object": inner}]}});
        let item = FieldPath::of(&["spec", "list"]).child(PathElement::index(0));
        for object in [(Some(&object), None), (None, Some(&object))] {
            let secrecy = Secrecy::of(&gvk, object.0, object.1);
            let shown = |path: FieldPath| {
                let value = object.0.or(object.1).and_then(|object| path.value_in(object)).unwrap();
                Redactor::default().value(&secrecy, &path, value)
            };
            assert_eq!(shown(item.field("stringData").field("pin")), json!({"redacted": "#1"}));
            assert_eq!(shown(item.field("object").field("data").field("pin")), json!({"redacted": "#1"}));
            assert_eq!(shown(item.field("object").field("data")), json!({"pin": {"redacted": "#1"}}));
            assert_eq!(shown(item.field("object").field("name")), json!("open"));
        }
        let secrecy = Secrecy::of(&gvk, None, None).with_result(&object);
        let path = item.field("object").field("data").field("pin");
        assert_eq!(Redactor::default().value(&secrecy, &path, &json!("aGVsbG8=")), json!({"redacted": "#1"}));
    }

    #[test]
    fn references_to_secrets_and_types_of_them_are_shown() {
        let object = json!({
            "spec": {"ref": {"kind": "Secret", "name": "a", "apiVersion": "v1"}, "text": "kind: Secret\nname: data"},
            "schema": {"properties": {"kind": {"type": "string"}, "data": {"type": "object"}, "stringData": {"type": "object"}}},
        });
        let secrecy = Secrecy::of(&GroupVersionKind::new("apiextensions.k8s.io/v1", "Any"), Some(&object), None);
        assert_eq!(Redactor::default().value(&secrecy, &FieldPath::root(), &object), object);
        assert!(!is_withheld(&object));
    }

    #[test]
    fn of_public_certificates_the_facts_are_shown_and_never_a_key() {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(["shop.example.com".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "shop");
        let pem = params.self_signed(&key).unwrap().pem();
        let key = key.serialize_pem();
        let object = json!({
            "type": "kubernetes.io/tls",
            "data": {"tls.crt": STANDARD.encode(&pem), "tls.key": STANDARD.encode(&key), "both": STANDARD.encode(format!("{pem}{key}"))},
            "stringData": {"ca.crt": pem, "noted": format!("# hunter2\n{pem}"), "tail": format!("{pem}hunter2"), "tls.key": key},
        });
        let redactor = Redactor::default();
        let shown = redacted(&redactor, &FieldPath::root(), &object);
        for certificate in [&shown["data"]["tls.crt"], &shown["stringData"]["ca.crt"]] {
            assert_eq!(certificate["certificates"][0]["names"], json!(["shop.example.com"]));
            assert_eq!(secret_number(certificate), shown["data"]["tls.crt"]["redacted"].as_str());
        }
        for secret in [
            &shown["data"]["tls.key"],
            &shown["data"]["both"],
            &shown["stringData"]["noted"],
            &shown["stringData"]["tail"],
            &shown["stringData"]["tls.key"],
        ] {
            assert!(secret.as_object().unwrap().len() == 1 && secret_number(secret).is_some(), "{secret}");
        }
        let text = shown.to_string();
        for line in [&pem, &key].into_iter().flat_map(|text| text.lines()).filter(|line| !line.starts_with('-')) {
            assert!(!text.contains(line) && !text.contains(&STANDARD.encode(line)), "{line}");
        }
        assert!(!text.contains("hunter2"), "{text}");
        let gvk = GroupVersionKind::new("v1", "Secret");
        let snapshot = withheld(&Secrecy::of(&gvk, Some(&object), Some(&object)), &object, &redactor);
        assert!(!snapshot.to_string().contains("example.com") && is_withheld(&snapshot), "{snapshot}");
    }

    #[test]
    fn what_a_snapshot_left_out_is_a_number_again() {
        let object = json!({"metadata": {"annotations": {"x": {"redacted": "#7"}}}});
        let shown = redacted(&Redactor::default(), &FieldPath::root(), &object);
        assert_eq!(shown["metadata"]["annotations"]["x"], json!({"redacted": "#1"}));
    }
}
