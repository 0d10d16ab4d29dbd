//! Texts that repeat values of Secrets: as plain text, in base64 or escaped.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Minimum length of the parts of a value that are searched for in a text, in characters.
const SHORTEST: usize = 4;
/// Length of the beginning of a part that is searched for in many texts, in bytes: a text with so much of it repeats it.
const LONGEST: usize = 64;

/// Returns true if a text holds a value, or a line of it, as plain text, in base64 or escaped.
pub fn repeats(text: &str, value: &Value) -> bool {
    let mut repeats = false;
    each_part(value, &mut |part| repeats = repeats || text.contains(part));
    repeats
}

/// The values of a Secret, to be searched for in many texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecretValues {
    /// The parts of the values, sorted. None begins with another one.
    parts: Vec<String>,
}

impl SecretValues {
    /// Takes the values apart.
    pub fn of<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        let mut parts = Vec::new();
        for value in values {
            each_part(value, &mut |part| {
                parts.push(part.get(..part.floor_char_boundary(LONGEST)).unwrap_or(part).to_owned());
            });
        }
        parts.sort_unstable();
        // A text with the longer one has the shorter one.
        parts.dedup_by(|part, shorter| part.starts_with(shorter.as_str()));
        Self { parts }
    }

    /// Returns true if a text holds one of the values.
    pub fn are_in(&self, text: &str) -> bool {
        let begins = |rest: &[u8]| {
            // If a part is the beginning of the rest, no other one is between the two: it would begin with that part.
            let after = self.parts.partition_point(|part| part.as_bytes() <= rest);
            let nearest = after.checked_sub(1).and_then(|at| self.parts.get(at));
            nearest.is_some_and(|part| rest.starts_with(part.as_bytes()))
        };
        !self.parts.is_empty() && (0..text.len()).filter_map(|at| text.as_bytes().get(at..)).any(begins)
    }
}

/// Calls a function with the parts of a value that a text must not hold.
fn each_part(value: &Value, each: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(map) => map.values().for_each(|value| each_part(value, each)),
        Value::Array(items) => items.iter().for_each(|value| each_part(value, each)),
        Value::String(value) => {
            each_part_of_text(value, each);
            let decoded = STANDARD.decode(value.replace(['\n', '\r'], "")).ok();
            if let Some(decoded) = decoded.and_then(|bytes| String::from_utf8(bytes).ok()) {
                each_part_of_text(&decoded, each);
            }
        }
        Value::Number(number) => each_part_of_text(&number.to_string(), each),
        Value::Null | Value::Bool(_) => {}
    }
}

fn each_part_of_text(value: &str, each: &mut dyn FnMut(&str)) {
    let value = value.trim();
    let escaped = Value::from(value).to_string();
    // The last group of base64 depends on what follows.
    let groups = STANDARD.encode(value.as_bytes().as_chunks::<3>().0.as_flattened());
    let lines = value.lines().map(str::trim);
    let parts = lines.chain([escaped.trim_matches('"'), &groups]).filter(|part| part.chars().count() >= SHORTEST);
    parts.for_each(each);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn many_texts_are_searched_as_one_is() {
        let values = [
            json!("hunter2"),
            json!({"a": ["hunter", "b25lIGxpbmUKdHdvIGxpbmVz"], "b": 12345, "c": true, "d": null, "e": "abc"}),
            json!("tab\there"),
            json!("größer"),
        ];
        let all = SecretValues::of(&values);
        for (text, expected) in [
            ("", false),
            ("uses hunter2", true),
            ("Xhunte", false),
            ("the hunter", true),
            ("it has two lines", true),
            ("dHdvIGxpbmVz", false),
            ("b25lIGxpbmUKdHdvIGxpbmVz", true),
            ("no 1234", false),
            ("no 123456", true),
            ("abc true null", false),
            ("say \"tab\\there\"", true),
            ("ein größerer", true),
            ("ein gröberer", false),
            ("aHVudGVy", true),
        ] {
            assert_eq!(all.are_in(text), expected, "{text}");
            assert_eq!(values.iter().any(|value| repeats(text, value)), expected, "{text}");
        }
        assert!(!SecretValues::default().are_in("anything"));
    }

    #[test]
    fn a_long_beginning_of_a_value_repeats_it() {
        let all = SecretValues::of([&json!("ö".repeat(1000))]);
        assert!(all.are_in(&"ö".repeat(32)) && !all.are_in(&"ö".repeat(31)));
    }
}
