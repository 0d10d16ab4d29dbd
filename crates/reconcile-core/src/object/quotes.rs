//! Finds secret values in texts of others: annotations, and messages of a server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use structured_merge::GroupVersionKind;

use super::embedded::each_secret_value;
use super::secrecy::{holds_secrets, is_custom};

/// Minimum length of the parts of a value that are searched for in a text, in characters.
const SHORTEST: usize = 4;

/// Returns true if a text about an object must not be repeated: any text about a Secret, and a text that repeats a value of a Secret
/// inside of another object.
pub fn may_quote_secret(gvk: &GroupVersionKind, objects: &[&Value], text: &str) -> bool {
    let quotes = |object: &&Value| {
        let mut quotes = false;
        each_secret_value(object, is_custom(&gvk.group), &mut |value| quotes |= repeats(text, value));
        quotes
    };
    objects.iter().any(|object| holds_secrets(gvk, object)) || objects.iter().any(quotes)
}

/// Returns true if a text holds a value, or a line of it, as plain text, in base64 or escaped.
pub fn repeats(text: &str, value: &Value) -> bool {
    match value {
        Value::Object(map) => map.values().any(|value| repeats(text, value)),
        Value::Array(items) => items.iter().any(|value| repeats(text, value)),
        Value::String(value) => {
            let decoded = STANDARD.decode(value.replace(['\n', '\r'], "")).ok();
            let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
            holds(text, value) || decoded.is_some_and(|value| holds(text, &value))
        }
        Value::Number(number) => holds(text, &number.to_string()),
        Value::Null | Value::Bool(_) => false,
    }
}

fn holds(text: &str, value: &str) -> bool {
    let value = value.trim();
    let escaped = Value::from(value).to_string();
    // The last group of base64 depends on what follows.
    let groups = STANDARD.encode(value.as_bytes().as_chunks::<3>().0.as_flattened());
    let lines = value.lines().map(str::trim);
    let mut parts = lines.chain([escaped.trim_matches('"'), &groups]).filter(|part| part.chars().count() >= SHORTEST);
    parts.any(|part| text.contains(part))
}
