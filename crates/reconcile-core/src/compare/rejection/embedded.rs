//! The demands on an object that a custom resource embeds (`x-kubernetes-embedded-resource`): its type has to be there, and its metadata
//! follow the rules of all objects (apiextensions-apiserver `pkg/apiserver/schema/objectmeta/validation.go`). The names of finalizers
//! and the fields of owner references are left to the server.

use serde_json::{Map, Value};

use crate::object::is_kind;
use crate::object::names::{
    annotation_key_refused, label_key_refused, label_value_refused, namespace_refused, path_segment_refused,
};
use crate::request::Cause;

/// The server's words for a kind that it refuses, without the regular expression.
const KIND: &str = "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric \
                    characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. \
                    'my-name' or 'abc-123')";

/// The causes for which the server will refuse the object at this path.
pub(super) fn causes(object: &Map<String, Value>, path: &str) -> Vec<Cause> {
    let mut found = Found { causes: Vec::new(), path };
    for name in ["apiVersion", "kind"] {
        match object.get(name) {
            None | Some(Value::Null) => found.add("FieldValueRequired", "Required value".to_owned(), name),
            Some(Value::String(text)) => {
                if let Some(reason) = type_refused(name, text) {
                    found.invalid(text, &reason, name);
                }
            }
            // A value of another type is a mistake of its own.
            Some(_) => {}
        }
    }
    if let Some(Value::Object(metadata)) = object.get("metadata") {
        found.metadata(metadata);
    }
    found.causes
}

fn type_refused(name: &str, text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("must not be empty".to_owned());
    }
    if name == "apiVersion" {
        return (text.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {text}"));
    }
    (!is_kind(text)).then(|| KIND.to_owned())
}

struct Found<'p> {
    causes: Vec<Cause>,
    /// The path of the embedded object.
    path: &'p str,
}

impl Found<'_> {
    fn metadata(&mut self, metadata: &Map<String, Value>) {
        let text = |name: &str| metadata.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some((name, rule)) = text("name").and_then(|name| Some((name, path_segment_refused(name)?))) {
            self.invalid(name, rule, "metadata.name");
        }
        if let Some((name, rule)) = text("namespace").and_then(|name| Some((name, namespace_refused(name)?))) {
            self.invalid(name, rule, "metadata.namespace");
        }
        let entries = |name: &str| metadata.get(name).and_then(Value::as_object).into_iter().flatten();
        for (key, value) in entries("labels") {
            if let Some(rule) = label_key_refused(key) {
                self.invalid(key, rule, "metadata.labels");
            }
            if let Some((value, rule)) = value.as_str().and_then(|value| Some((value, label_value_refused(value)?))) {
                self.invalid(value, rule, "metadata.labels");
            }
        }
        for (key, _) in entries("annotations") {
            if let Some(rule) = annotation_key_refused(key) {
                self.invalid(key, rule, "metadata.annotations");
            }
        }
    }

    fn invalid(&mut self, value: &str, complaint: &str, field: &str) {
        self.add("FieldValueInvalid", format!("Invalid value: {}: {complaint}", Value::from(value)), field);
    }

    fn add(&mut self, reason: &str, message: String, field: &str) {
        self.causes.push(Cause { reason: reason.to_owned(), message, field: format!("{}.{field}", self.path) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_embedded_object_has_a_type_and_metadata_as_all_objects() {
        let fields = |object: Value| -> Vec<String> {
            causes(object.as_object().unwrap(), "spec.template").into_iter().map(|cause| cause.field).collect()
        };
        assert_eq!(fields(json!({})), ["spec.template.apiVersion", "spec.template.kind"]);
        let good = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {
            "name": "Any_name", "namespace": "shop", "labels": {"a.b/c": ""}, "annotations": {"A.b/C": "x y"}}});
        assert_eq!(fields(good), Vec::<String>::new());
        let bad = json!({"apiVersion": "a/b/c", "kind": "A b", "metadata": {
            "name": "a/b", "namespace": "Shop", "labels": {"a b": "x y"}, "annotations": {"a b": "x"}}});
        let expected = ["apiVersion", "kind", "metadata.name", "metadata.namespace"];
        let expected = expected.iter().chain(&["metadata.labels", "metadata.labels", "metadata.annotations"]);
        assert_eq!(fields(bad), expected.map(|field| format!("spec.template.{field}")).collect::<Vec<_>>());
        assert_eq!(fields(json!({"apiVersion": "", "kind": "a-"})), ["spec.template.apiVersion", "spec.template.kind"]);
    }
}
