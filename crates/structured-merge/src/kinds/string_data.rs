//! `stringData` of a Secret: plain text that the server stores in `data`, without an owner there.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::claimants::Claimants;
use crate::object::{FieldPath, FieldSet, GroupVersionKind, ManagedFieldsEntry, PathElement};

/// A Secret with its `stringData` moved into `data`, as the server stores it.
pub fn with_string_data_folded(manifest: &Value) -> Cow<'_, Value> {
    let text = |name: &str| manifest.get(name).and_then(Value::as_str).unwrap_or_default();
    if !GroupVersionKind::new(text("apiVersion"), text("kind")).is_secret() {
        return Cow::Borrowed(manifest);
    }
    let mut manifest = manifest.clone();
    if let Some(fields) = manifest.as_object_mut()
        && let Some(Value::Object(texts)) = fields.remove("stringData")
    {
        let data = fields.entry("data").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(data) = data {
            for (name, text) in texts {
                data.insert(name, encoded(text.as_str().unwrap_or_default()).into());
            }
        }
    }
    Cow::Owned(manifest)
}

/// Encodes a text of `stringData` as it is in `data`.
pub(crate) fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}

/// Adds `data.KEY` for each `stringData.KEY` in the fields of a Secret. Such keys are stored in `data`, where they have
/// no recorded owner until another manager writes them.
pub fn with_string_data(gvk: &GroupVersionKind, fields: FieldSet, others: &[ManagedFieldsEntry]) -> FieldSet {
    if !gvk.is_secret() {
        return fields;
    }
    let data = PathElement::Field("data".to_owned());
    let claimants = Claimants::of(others);
    let mut aliases = FieldSet::new();
    let texts = fields.step(&PathElement::Field("stringData".to_owned())).map(|(_, texts)| texts);
    for (key, _, _) in texts.into_iter().flat_map(FieldSet::nodes) {
        let path = FieldPath::from(vec![data.clone(), key.clone()]);
        if !claimants.is_claimed(&path) {
            aliases.insert(&path);
        }
    }
    fields.union(&aliases)
}
