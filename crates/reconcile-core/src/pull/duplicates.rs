//! Lists in which two items have the same key: the server stores some of them, and a manifest must not have them.

use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{TypeRef, item_element};

/// Returns true if a value has a list with two items of the same key.
pub(super) fn has_duplicates(value: &Value, schema: TypeRef<'_>) -> bool {
    match value {
        Value::Array(items) => {
            let mut seen = BTreeSet::new();
            let is_new = |element| seen.insert(element);
            !items.iter().filter_map(|item| item_element(item, schema)).all(is_new)
                || items.iter().any(|item| has_duplicates(item, schema.item()))
        }
        Value::Object(map) => map.iter().any(|(name, value)| has_duplicates(value, schema.field(name))),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::{GroupVersionKind, builtin};

    use super::*;

    #[test]
    fn items_with_the_same_key_are_found_at_any_depth() {
        let schema = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let pod = |ports: Value| json!({"spec": {"containers": [{"name": "a", "ports": ports}, {"name": "b"}]}});
        let port = |protocol: &str| json!({"containerPort": 53, "protocol": protocol});
        assert!(!has_duplicates(&pod(json!([port("TCP"), port("UDP")])), schema));
        assert!(has_duplicates(&pod(json!([port("TCP"), {"containerPort": 53}])), schema));
        assert!(has_duplicates(&json!({"metadata": {"finalizers": ["x", "x"]}}), schema));
        assert!(!has_duplicates(&json!({"spec": {"tolerations": [{"key": "x"}, {"key": "x"}]}}), schema));
    }
}
