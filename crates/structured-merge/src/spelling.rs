//! Chooses the spelling in which a value is sent: that of the live object, or that of the manifest.

use std::borrow::Cow;

use serde_json::Value;

use crate::merge::is_one_value;
use crate::node_ports::with_node_ports;
use crate::schema::{ListKind, TypeRef, item_element, items_by_element, semantically_equal};

/// The manifest in the live object's spelling wherever both have the same meaning. The server compares text: `1000m`
/// against a co-owner's `1` would be a conflict although nothing differs.
pub fn with_live_spelling(manifest: &Value, live: &Value, schema: TypeRef<'_>) -> Value {
    spelled(&with_node_ports(Cow::Borrowed(manifest), live, schema), live, schema)
}

fn spelled(manifest: &Value, live: &Value, schema: TypeRef<'_>) -> Value {
    match (manifest, live) {
        (Value::Object(wanted), Value::Object(found)) if !schema.is_atomic(manifest) => {
            let field = |(name, value): (&String, &Value)| {
                let spelled =
                    found.get(name).map_or_else(|| value.clone(), |there| spelled(value, there, schema.field(name)));
                (name.clone(), spelled)
            };
            Value::Object(wanted.iter().map(field).collect())
        }
        (Value::Array(wanted), Value::Array(found)) if let ListKind::Keyed(keys) = schema.list_kind() => {
            let found = items_by_element(found, schema);
            let item = |item: &Value| {
                let there = item_element(item, schema).and_then(|element| found.get(&element).copied());
                let spelled = there.map(|there| spelled(item, there, schema.item()));
                // The server leaves out an empty key, and rejects an item without it.
                let has_keys =
                    |spelled: &Value| keys.iter().all(|key| item.get(key).is_none() || spelled.get(key).is_some());
                spelled.filter(has_keys).unwrap_or_else(|| item.clone())
            };
            Value::Array(wanted.iter().map(item).collect())
        }
        // Only values that are one claim: the live value of any other may claim more fields.
        _ if !manifest.is_null() && semantically_equal(manifest, live, schema) && is_one_value(manifest, schema) => {
            live.clone()
        }
        _ => manifest.clone(),
    }
}

/// A predicted object with the values of the manifest as they are written there, including those that the server leaves
/// out as empty: this is the object that it validates.
pub fn verbatim(manifest: &Value, object: &Value, schema: TypeRef<'_>) -> Value {
    match (manifest, object) {
        (Value::Object(wanted), Value::Object(found)) if !schema.is_atomic(manifest) => {
            let mut whole = found.clone();
            for (name, value) in wanted {
                let value =
                    found.get(name).map_or_else(|| value.clone(), |there| verbatim(value, there, schema.field(name)));
                whole.insert(name.clone(), value);
            }
            Value::Object(whole)
        }
        (Value::Array(wanted), Value::Array(found)) if matches!(schema.list_kind(), ListKind::Keyed(_)) => {
            let wanted = items_by_element(wanted, schema);
            let item = |there: &Value| {
                let own = item_element(there, schema).and_then(|element| wanted.get(&element).copied());
                own.map_or_else(|| there.clone(), |own| verbatim(own, there, schema.item()))
            };
            Value::Array(found.iter().map(item).collect())
        }
        (Value::Array(_), Value::Array(_)) if *schema.list_kind() == ListKind::Set => object.clone(),
        // A null merges as an empty value: a map or list keeps its entries.
        (Value::Null, Value::Object(_) | Value::Array(_)) if !schema.is_atomic(object) => object.clone(),
        _ => manifest.clone(),
    }
}
