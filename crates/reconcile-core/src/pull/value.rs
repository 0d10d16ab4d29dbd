//! The live value as a manifest has it: without the fields that the server sets by itself.

use serde_json::Value;
use structured_merge::TypeRef;

use super::defaults::{is_known_default, without_known_defaults};

/// A live value without what the server would add to the manifest's value as well: `written` is the manifest's value, and
/// `predicted` what an apply would make of it.
pub(super) fn without_defaults(live: &Value, written: &Value, predicted: &Value, schema: TypeRef<'_>) -> Value {
    if live == predicted {
        return written.clone();
    }
    match (live, written, predicted) {
        (Value::Object(live), Value::Object(written), Value::Object(predicted)) => {
            let is_default = |name: &String, value: &Value| {
                let is_known = || is_known_default(value, name, live, schema);
                !written.contains_key(name) && (predicted.get(name) == Some(value) || is_known())
            };
            let kept = live.iter().filter(|(name, value)| !is_default(name, value));
            let below = |name: &String, value: &Value| match (written.get(name), predicted.get(name)) {
                (Some(written), Some(predicted)) => without_defaults(value, written, predicted, schema.field(name)),
                _ => without_known_defaults(value, schema.field(name)),
            };
            kept.map(|(name, value)| (name.clone(), below(name, value))).collect()
        }
        (Value::Array(live), Value::Array(written), Value::Array(predicted)) if written.len() == predicted.len() => {
            let item = |(index, item): (usize, &Value)| {
                let same = predicted.iter().position(|predicted| predicted == item);
                let index = same.unwrap_or(index);
                match (written.get(index), predicted.get(index)) {
                    (Some(written), Some(predicted)) => without_defaults(item, written, predicted, schema.item()),
                    _ => without_known_defaults(item, schema.item()),
                }
            };
            live.iter().enumerate().map(item).collect()
        }
        _ => without_known_defaults(live, schema),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_the_server_adds_is_left_out() {
        let written = json!([{"port": 80}, {"port": 443, "name": "tls"}]);
        let predicted = json!([{"port": 80, "protocol": "TCP"}, {"port": 443, "name": "tls", "protocol": "TCP"}]);
        let live = json!([{"port": 443, "name": "tls", "protocol": "TCP"}, {"port": 81, "protocol": "UDP"}]);
        let expected = json!([{"port": 443, "name": "tls"}, {"port": 81, "protocol": "UDP"}]);
        assert_eq!(without_defaults(&live, &written, &predicted, TypeRef::untyped()), expected);
        let live = json!([{"port": 8080, "protocol": "TCP"}]);
        assert_eq!(without_defaults(&live, &written, &predicted, TypeRef::untyped()), json!([{"port": 8080}]));
        assert_eq!(
            without_defaults(&json!({"a": 1, "b": 2}), &json!({"a": 0}), &json!({"a": 0, "b": 2}), TypeRef::untyped()),
            json!({"a": 1})
        );
    }
}
