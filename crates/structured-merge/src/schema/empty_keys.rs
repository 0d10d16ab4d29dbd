//! Keys of list items that are written as an empty text. A built-in type reads an empty text as the default (`protocol: ""` of a
//! port), and stores that. The keys of managed fields are taken from what is written: the item would be another one than the live one.

use serde_json::Value;

use super::table::{ListKind, Shape};
use super::type_ref::TypeRef;
use crate::object::{FieldPath, PathElement};

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
    walk(object, schema, &FieldPath::root(), &mut found);
    found
}

fn walk(value: &mut Value, schema: TypeRef<'_>, at: &FieldPath, found: &mut Vec<EmptyKey>) {
    match value {
        _ if matches!(schema.shape(), Shape::Untyped) => {}
        Value::Object(map) => {
            for (name, child) in map {
                if child.is_object() || child.is_array() {
                    walk(child, schema.field(name), &at.field(name), found);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let at = at.child(PathElement::index(index));
                if let ListKind::Keyed(keys) = schema.list_kind() {
                    fill_in(item, keys, schema.item(), &at, found);
                }
                walk(item, schema.item(), &at, found);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::GroupVersionKind;
    use crate::schema::builtin;

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
