//! Compares two objects field by field. Items of keyed lists are matched by key, never by position.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::object::{FieldPath, PathElement, PathStack, SERVER_METADATA, Scalar};
use crate::schema::{ListKind, TypeRef, all_different, item_element, same_scalar};

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Op {
    /// Only the second object has the value.
    Add,
    /// Both objects have the value, and it differs.
    Change,
    /// Only the first object has the value.
    Remove,
    /// The items are the same, in another order.
    Move,
}

/// One difference between two objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Path of the value.
    pub path: FieldPath,
    /// Kind of the change.
    pub op: Op,
    /// The value in the first object.
    pub from: Option<Value>,
    /// The value in the second object.
    pub to: Option<Value>,
}

/// The changes between two versions of an object, by path. Fields that only the server writes are left out, and so is
/// `status` if `has_status_subresource`.
pub fn changes(from: &Value, to: &Value, schema: TypeRef<'_>, has_status_subresource: bool) -> Vec<Change> {
    let mut found = Vec::new();
    let strip = |object: &Value| {
        let mut object = object.clone();
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.retain(|name, _| !SERVER_METADATA.contains(&name.as_str()));
        }
        if let (true, Value::Object(fields)) = (has_status_subresource, &mut object) {
            fields.remove("status");
        }
        object
    };
    walk(&PathStack::root(), Some(&strip(from)), Some(&strip(to)), schema, &mut found);
    found
}

fn walk(at: &PathStack<'_>, from: Option<&Value>, to: Option<&Value>, schema: TypeRef<'_>, found: &mut Vec<Change>) {
    match (from, to) {
        (Some(a), Some(b)) if a == b => {}
        // The server keeps one spelling of a quantity or a time.
        (Some(a), Some(b)) if !a.is_object() && !a.is_array() && same_scalar(b, a, schema.scalar()) => {}
        (Some(Value::Object(a)), Some(Value::Object(b))) => fields(at, a, b, schema, found),
        (Some(Value::Array(a)), Some(Value::Array(b))) => items(at, a, b, schema, found),
        // An entry of a free map (a label, a file of a ConfigMap) is created and owned separately.
        (None, Some(Value::Object(b))) if is_free_map(b, schema) => fields(at, &Map::new(), b, schema, found),
        (Some(Value::Object(a)), None) if is_free_map(a, schema) => fields(at, a, &Map::new(), schema, found),
        (None, None) => {}
        (from, to) => {
            let op = match (from, to) {
                (None, _) => Op::Add,
                (_, None) => Op::Remove,
                _ => Op::Change,
            };
            found.push(Change { path: at.path(), op, from: from.cloned(), to: to.cloned() });
        }
    }
}

fn is_free_map(value: &Map<String, Value>, schema: TypeRef<'_>) -> bool {
    !value.is_empty() && value.keys().all(|name| !schema.declares(name)) && value.values().all(|v| !v.is_object())
}

fn fields(
    at: &PathStack<'_>,
    from: &Map<String, Value>,
    to: &Map<String, Value>,
    schema: TypeRef<'_>,
    found: &mut Vec<Change>,
) {
    let mut names: Vec<&String> = from.keys().chain(to.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        walk(&at.field(name), from.get(name), to.get(name), schema.field(name), found);
    }
}

fn items(at: &PathStack<'_>, from: &[Value], to: &[Value], schema: TypeRef<'_>, found: &mut Vec<Change>) {
    if let (Some(before), Some(after)) = (elements(from, schema), elements(to, schema)) {
        keyed(at, &before, &after, schema, found);
    } else if from.len() == to.len() {
        for (index, (a, b)) in from.iter().zip(to).enumerate() {
            walk(&at.index(index), Some(a), Some(b), schema.item(), found);
        }
    } else {
        let from = Value::from(from);
        let to = Value::from(to);
        found.push(Change { path: at.path(), op: Op::Change, from: Some(from), to: Some(to) });
    }
}

type Item<'v> = (PathElement, &'v Value);

/// The items of a keyed list or of a set with their path elements. `None` for an atomic list, and for a list in which
/// an item has no key or two items have the same one: such items only have positions.
fn elements<'v>(items: &'v [Value], schema: TypeRef<'_>) -> Option<Vec<Item<'v>>> {
    if *schema.list_kind() == ListKind::Atomic {
        return None;
    }
    let elements: Option<Vec<Item<'v>>> = items.iter().map(|item| Some((item_element(item, schema)?, item))).collect();
    elements.filter(|elements| all_different(elements.iter().map(|(element, _)| element)))
}

fn keyed(at: &PathStack<'_>, from: &[Item<'_>], to: &[Item<'_>], schema: TypeRef<'_>, found: &mut Vec<Change>) {
    let before = by_element(from);
    let after = by_element(to);
    for (element, item) in from {
        walk(&at.item(element), Some(item), after.get(element).copied(), schema.item(), found);
    }
    // A new item is one change.
    for (element, item) in to.iter().filter(|(element, _)| !before.contains_key(element)) {
        found.push(Change { path: at.item(element).path(), op: Op::Add, from: None, to: Some((*item).clone()) });
    }
    let shared_before = from.iter().map(|(element, _)| element).filter(|element| after.contains_key(element));
    let shared_after = to.iter().map(|(element, _)| element).filter(|element| before.contains_key(element));
    if !shared_before.clone().eq(shared_after.clone()) {
        let from = shared_before.map(name_of).collect();
        let to = shared_after.map(name_of).collect();
        let from = Some(Value::Array(from));
        let to = Some(Value::Array(to));
        found.push(Change { path: at.path(), op: Op::Move, from, to });
    }
}

fn by_element<'i, 'v>(items: &'i [Item<'v>]) -> BTreeMap<&'i PathElement, &'v Value> {
    items.iter().map(|(element, value)| (element, *value)).collect()
}

/// The name of an item in a list whose order changed: the value of its key, or all keys if it has several.
fn name_of(element: &PathElement) -> Value {
    match element {
        PathElement::Member(member) => member.to_json(),
        PathElement::Key(keys) => match keys.as_slice() {
            [(_, value)] => value.to_json(),
            several => {
                Value::Object(several.iter().map(|(name, value)| (name.clone(), Scalar::to_json(value))).collect())
            }
        },
        PathElement::Field(name) => Value::from(name.as_str()),
        PathElement::Index(index) => Value::from(*index),
    }
}
