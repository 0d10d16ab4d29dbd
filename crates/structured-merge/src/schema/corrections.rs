//! Values of a manifest that the server itself corrects when it stores an object.
//!
//! Nulls that the type of a custom resource does not allow: the server removes them when an object is created or
//! replaced (apiextensions-apiserver `defaulting.PruneNonNullableNullsWithoutDefaults`), and rejects them in an apply. A null in the
//! key of a list item goes even if it has a default: an apply takes the key as it is written, and finds another item by it than by the
//! default that the server stores.
//!
//! Keys of list items that are written as an empty text: a built-in type reads an empty text as the default (`protocol: ""` of a
//! port), and stores that. The keys of managed fields are taken from what is written: the item would be another one than the live one.

use serde_json::{Map, Value};

use super::table::{ListKind, ScalarKind, Shape};
use super::type_ref::TypeRef;
use crate::object::{FieldPath, PathElement};

/// A null that was removed because the type does not allow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedNull {
    /// Its path, with list items by position.
    pub path: FieldPath,
    /// The empty value that could be written instead, if the type has one.
    pub empty: Option<&'static str>,
}

/// Removes the nulls from a custom resource that its type does not allow, as a create does, and returns their paths.
pub fn take_out_refused_nulls(object: &mut Value, schema: TypeRef<'_>) -> Vec<RefusedNull> {
    /// Fields of every object, which are not part of its own type.
    const COMMON: [&str; 3] = ["apiVersion", "kind", "metadata"];
    let mut found = Vec::new();
    if let Value::Object(map) = object {
        map.retain(|name, child| {
            COMMON.contains(&name.as_str()) || keeps(name, child, schema, &FieldPath::root(), &mut found)
        });
    }
    found
}

/// Returns true if a field stays. Removes nulls below it.
fn keeps(name: &str, value: &mut Value, schema: TypeRef<'_>, above: &FieldPath, found: &mut Vec<RefusedNull>) -> bool {
    let path = above.field(name);
    let below = schema.field(name);
    if value.is_null() && schema.refuses_null(name) {
        found.push(RefusedNull { path, empty: empty(below) });
        return false;
    }
    walk(value, below, &path, found);
    true
}

fn walk(value: &mut Value, schema: TypeRef<'_>, at: &FieldPath, found: &mut Vec<RefusedNull>) {
    match value {
        Value::Object(map) => map.retain(|name, child| keeps(name, child, schema, at, found)),
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let at = at.child(PathElement::index(index));
                if let (Value::Object(map), ListKind::Keyed(keys)) = (&mut *item, schema.list_kind()) {
                    take_out_null_keys(map, keys, schema.item(), &at, found);
                }
                walk(item, schema.item(), &at, found);
            }
        }
        _ => {}
    }
}

/// Removes the null keys of a list item for which the server stores a default.
fn take_out_null_keys(
    item: &mut Map<String, Value>,
    keys: &[String],
    schema: TypeRef<'_>,
    at: &FieldPath,
    found: &mut Vec<RefusedNull>,
) {
    let is_defaulted = |name: &&String| schema.default_of_null(name).is_some();
    for name in keys.iter().filter(is_defaulted) {
        if item.get(name).is_some_and(Value::is_null) {
            item.remove(name);
            found.push(RefusedNull { path: at.field(name), empty: None });
        }
    }
}

/// The empty value that a field of this type takes in every apply. One that merges with the live value does not do: if its last entries
/// are removed, it becomes null.
fn empty(schema: TypeRef<'_>) -> Option<&'static str> {
    match schema.shape() {
        Shape::Map(_) if schema.is_atomic(&Value::Object(Map::new())) => Some("{}"),
        Shape::List(ListKind::Atomic, _) => Some("[]"),
        Shape::Map(_) | Shape::List(..) | Shape::Scalar(_) | Shape::Opaque | Shape::Untyped => None,
    }
}

/// A key of a list item that was empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmptyKey {
    /// Its path, with list items by position.
    pub path: FieldPath,
    /// The default that it now has.
    pub default: String,
}

/// Gives keys of list items that are written as an empty text their default, as the Go types of built-in kinds do. Returns them.
pub fn fill_in_empty_keys(object: &mut Value, schema: TypeRef<'_>) -> Vec<EmptyKey> {
    let mut found = Vec::new();
    fill_in_keys(object, schema, &FieldPath::root(), &mut found);
    found
}

fn fill_in_keys(value: &mut Value, schema: TypeRef<'_>, at: &FieldPath, found: &mut Vec<EmptyKey>) {
    match value {
        _ if matches!(schema.shape(), Shape::Untyped) => {}
        Value::Object(map) => {
            for (name, child) in map {
                if child.is_object() || child.is_array() {
                    fill_in_keys(child, schema.field(name), &at.field(name), found);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let at = at.child(PathElement::index(index));
                if let ListKind::Keyed(keys) = schema.list_kind() {
                    fill_in(item, keys, schema.item(), &at, found);
                }
                fill_in_keys(item, schema.item(), &at, found);
            }
        }
        _ => {}
    }
}

fn fill_in(item: &mut Value, keys: &[String], schema: TypeRef<'_>, at: &FieldPath, found: &mut Vec<EmptyKey>) {
    for key in keys {
        let Some(Value::String(default)) = schema.default_of(key) else { continue };
        if let Some(written) = item.get_mut(key).filter(|_| !default.is_empty())
            && (*written == "" || written.is_null())
        {
            *written = Value::String(default.clone());
            found.push(EmptyKey { path: at.field(key), default: default.clone() });
        }
    }
}

/// A null entry of a map of a built-in kind, which an apply does not leave out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NullEntry {
    /// Its path, with list items by position.
    pub path: FieldPath,
    /// The value that the server stores, in JSON.
    pub stored: &'static str,
}

/// The null entries of maps, which the server reads as the empty value of the Go type: a label as an empty text, a limit of memory as 0.
/// `kubectl apply` leaves them out.
pub fn null_entries(object: &Value, schema: TypeRef<'_>) -> Vec<NullEntry> {
    let mut found = Vec::new();
    find_null_entries(object, schema, &FieldPath::root(), &mut found);
    found
}

fn find_null_entries(value: &Value, schema: TypeRef<'_>, at: &FieldPath, found: &mut Vec<NullEntry>) {
    match value {
        Value::Object(map) => {
            for (name, child) in map {
                let schema_of_child = schema.field(name);
                if !child.is_null() {
                    find_null_entries(child, schema_of_child, &at.field(name), found);
                } else if !schema.declares(name)
                    && let Some(empty) = empty_of(schema_of_child)
                {
                    let stored = if empty.is_empty() { "\"\"" } else { empty };
                    found.push(NullEntry { path: at.field(name), stored });
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                find_null_entries(item, schema.item(), &at.child(PathElement::index(index)), found);
            }
        }
        _ => {}
    }
}

/// The empty value of a type of Go, as the server serves it: the empty text, or no bytes, or the quantity zero.
pub(crate) fn empty_of(schema: TypeRef<'_>) -> Option<&'static str> {
    match schema.shape() {
        Shape::Scalar(ScalarKind::Text | ScalarKind::Bytes) => Some(""),
        Shape::Scalar(ScalarKind::Quantity) => Some("0"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::GroupVersionKind;
    use crate::schema::{builtin, compile_definition};

    #[test]
    fn a_null_goes_where_its_type_neither_allows_nor_replaces_it() {
        let text = json!({"type": "string"});
        let definition = json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "metadata": {"type": "object"},
            "spec": {"type": "object", "properties": {
                "tuning": {"type": "object", "properties": {"a": text}},
                "list": {"type": "array", "items": {"type": "object", "properties": {"a": text}}},
                "map": {"type": "object", "additionalProperties": text},
                "maybe": {"type": "string", "nullable": true},
                "defaulted": {"type": "array", "items": text, "default": ["x"]},
                "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"known": text}},
                "either": {"x-kubernetes-int-or-string": true},
            }},
        }}}}]}});
        let table = compile_definition(&definition, &GroupVersionKind::new("example.com/v1", "Gadget")).unwrap();
        let schema = table.object(&GroupVersionKind::new("example.com/v1", "Gadget")).unwrap();
        let mut object = json!({"metadata": {"labels": null}, "spec": {
            "tuning": null, "list": [{"a": null, "b": 1}, null], "map": {"a": null, "b": "x"}, "maybe": null, "defaulted": null,
            "open": {"known": null, "other": null}, "either": null}});
        let found = take_out_refused_nulls(&mut object, schema);
        let mut found: Vec<_> = found.iter().map(|null| (null.path.to_string(), null.empty)).collect();
        found.sort();
        assert_eq!(
            found,
            [
                ("spec.either".to_owned(), None),
                ("spec.list[0].a".to_owned(), None),
                ("spec.map.a".to_owned(), None),
                ("spec.open.known".to_owned(), None),
                ("spec.tuning".to_owned(), None),
            ]
        );
        assert_eq!(
            object,
            json!({"metadata": {"labels": null}, "spec": {"list": [{"b": 1}, null], "map": {"b": "x"}, "maybe": null,
                "defaulted": null, "open": {"other": null}}})
        );
    }

    #[test]
    fn an_empty_key_with_a_default_gets_it() {
        let schema = builtin().object(&GroupVersionKind::new("v1", "Service")).unwrap();
        let mut service = json!({"spec": {"type": "", "ports": [
            {"port": 80, "name": "", "protocol": ""}, {"port": 81, "protocol": "UDP"}, {"port": 82}, {"protocol": null}]}});
        let found = fill_in_empty_keys(&mut service, schema);
        let paths: Vec<String> = found.iter().map(|key| format!("{} {}", key.path, key.default)).collect();
        assert_eq!(paths, ["spec.ports[0].protocol TCP", "spec.ports[3].protocol TCP"]);
        let ports = json!([{"port": 80, "name": "", "protocol": "TCP"}, {"port": 81, "protocol": "UDP"}, {"port": 82}, {"protocol": "TCP"}]);
        assert_eq!(service, json!({"spec": {"type": "", "ports": ports}}));
        let pod = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let mut pod_object =
            json!({"spec": {"containers": [{"name": "", "ports": [{"containerPort": 1, "protocol": ""}]}]}});
        assert_eq!(fill_in_empty_keys(&mut pod_object, pod).len(), 1);
    }
}
