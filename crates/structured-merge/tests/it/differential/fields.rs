use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, ManagedFieldsEntry, Operation, PathElement, Scalar};

/// Name, operation and subresource of a manager.
pub type Owner = (String, Operation, String);

pub fn owner(entry: &ManagedFieldsEntry) -> Owner {
    (entry.manager.clone(), entry.operation, entry.subresource.clone())
}

/// The fields of each owner, as `FieldsV1`, without owners of no fields.
pub fn owners<'e>(entries: impl IntoIterator<Item = &'e ManagedFieldsEntry>) -> BTreeMap<Owner, Value> {
    let entries = entries.into_iter().filter(|entry| !entry.fields.is_empty());
    entries.map(|entry| (owner(entry), entry.fields.to_fields_v1())).collect()
}

/// Conflicts as the API server names them: `conflict with "a"`, or `conflict with "u" with subresource "scale" using v1` for an
/// Update entry.
pub fn named(conflicts: &[(String, String)]) -> BTreeSet<(Owner, String)> {
    let named = conflicts.iter().map(|(message, field)| {
        let quoted = |at: usize| message.split('"').nth(at).unwrap_or_default().to_owned();
        let operation = if message.contains("\" using ") { Operation::Update } else { Operation::Apply };
        ((quoted(1), operation, quoted(3)), field.clone())
    });
    named.collect()
}

/// A path as structured-merge-diff writes it (`fieldpath/element.go`, `String`).
pub fn path_text(path: &FieldPath) -> String {
    let text = |scalar: &Scalar| scalar.to_json().to_string();
    let element = |element: &PathElement| match element {
        PathElement::Field(name) => format!(".{name}"),
        PathElement::Member(member) => format!("[={}]", text(member)),
        PathElement::Index(index) => format!("[{index}]"),
        PathElement::Key(keys) => {
            let keys: Vec<String> = keys.iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
            format!("[{}]", keys.join(","))
        }
    };
    path.elements().iter().map(element).collect()
}

/// The paths of a set, and all above them.
pub fn at_or_above(set: &FieldSet) -> BTreeSet<String> {
    let above = |path: &FieldPath| {
        let depths = 1..=path.elements().len();
        depths.map(|depth| path_text(&FieldPath::from(path.elements()[..depth].to_vec()))).collect::<Vec<_>>()
    };
    set.paths().iter().flat_map(above).collect()
}

/// Returns true if two values are equal for structured-merge-diff, for which 1 is 1.0.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// The object without its `managedFields`.
pub fn without_record(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    object
}

/// Removes the fields that are null.
pub fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, child| !child.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
