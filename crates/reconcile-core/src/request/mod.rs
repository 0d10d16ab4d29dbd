//! Requests to the API server as values: addresses, bodies, errors and refusals, counts.

mod address;
mod error;
mod status;

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rare::is_zero;

pub use address::{Address, InvalidAddress, asks_for_dry_run, is_path_segment};
pub use error::RequestError;
pub(crate) use status::NO_FIELD;
pub use status::{Cause, StatusError};

/// Longest key, with quotes and escapes, that a YAML reader recognises without the sign for long keys, in bytes (1,024 characters in
/// go-yaml, `yaml_simple_key_is_valid`).
const LONG_KEY: usize = 1_000;

/// Number of requests that were sent, retries included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestCounts {
    /// Reads of one object.
    pub get: u64,
    /// Pages of collections.
    pub list: u64,
    /// Dry runs.
    pub dry_run: u64,
    /// Writes.
    pub write: u64,
    /// Watches. Only waiting opens any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub watch: u64,
    /// Discovery, schemas and similar requests.
    pub other: u64,
}

impl RequestCounts {
    /// Adds the requests of another run.
    pub fn plus(self, other: Self) -> Self {
        let Self { get, list, dry_run, write, watch, other: rest } = other;
        Self {
            get: self.get.saturating_add(get),
            list: self.list.saturating_add(list),
            dry_run: self.dry_run.saturating_add(dry_run),
            write: self.write.saturating_add(write),
            watch: self.watch.saturating_add(watch),
            other: self.other.saturating_add(rest),
        }
    }
}

/// Returns the body of a server-side apply: JSON that means the same as YAML.
///
/// The API server reads the body as YAML, with go-yaml. What JSON allows as it stands and YAML does not, or folds into a blank, is
/// escaped, and keys that are too long get the sign of YAML for them. An escape names characters up to U+FFFF alone: go-yaml
/// refuses surrogates, so that all other characters stay as they are.
pub fn apply_body(value: &Value) -> String {
    let mut body = String::new();
    write_body(&mut body, value);
    body
}

fn write_body(body: &mut String, value: &Value) {
    match value {
        Value::Object(fields) => {
            body.push('{');
            for (at, (key, value)) in fields.iter().enumerate() {
                separate(body, at);
                let key = quoted(key);
                if key.len() > LONG_KEY {
                    let _ = write!(body, "? {key} : ");
                } else {
                    let _ = write!(body, "{key}:");
                }
                write_body(body, value);
            }
            body.push('}');
        }
        Value::Array(items) => {
            body.push('[');
            for (at, item) in items.iter().enumerate() {
                separate(body, at);
                write_body(body, item);
            }
            body.push(']');
        }
        Value::String(text) => body.push_str(&quoted(text)),
        other => drop(write!(body, "{other}")),
    }
}

fn separate(body: &mut String, at: usize) {
    if at > 0 {
        body.push(',');
    }
}

/// A string in quotes. JSON escapes the control characters up to U+001F itself.
fn quoted(text: &str) -> String {
    let json = Value::from(text).to_string();
    if !json.contains(is_special) {
        return json;
    }
    json.chars().fold(String::with_capacity(json.len()), |mut escaped, c| {
        if is_special(c) {
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
        escaped
    })
}

/// Returns true for a character that go-yaml refuses (`yaml_parser_update_buffer`), reads as the end of a line (`is_break`) or takes
/// for a byte order mark. None is beyond U+FFFF.
fn is_special(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use kube_yaml::{Validation, read};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::text::any_yaml;

    /// Reads a body as the API server does. By itself, a document that begins with a brace would be read as JSON.
    fn read_as_yaml(body: &str) -> Value {
        let read = read(format!("body: {body}").as_bytes(), Validation::Strict);
        assert!(read.diagnostics.is_empty(), "{body}: {:?}", read.diagnostics);
        read.documents.into_iter().next().map(|mut document| document.value["body"].take()).unwrap_or_default()
    }

    #[test]
    fn every_character_means_the_same_as_yaml() {
        for c in '\0'..='\u{ffff}' {
            let value = json!({"a": format!("x{c}"), format!("{c}"): [c.to_string()]});
            let body = apply_body(&value);
            let usual = value.to_string();
            // Those that are as in JSON are read below, all together.
            if body != usual {
                assert_eq!(
                    (read_as_yaml(&body), serde_json::from_str(&body).ok()),
                    (value.clone(), Some(value)),
                    "{c:?}"
                );
            }
        }
        let all: String = ('\0'..=char::MAX).collect();
        let value = json!({"all": all});
        assert!(read_as_yaml(&apply_body(&value)) == value);
    }

    #[test]
    fn keys_of_any_length_are_keys() {
        for length in [990, 1_000, 1_020, 1_024, 5_000] {
            let value = json!({"a": {"k".repeat(length): {"b": 1}, "ä\u{85}".repeat(length): [], "z": null}});
            assert!(read_as_yaml(&apply_body(&value)) == value, "{length}");
        }
    }

    proptest! {
        #[test]
        fn every_value_means_the_same_as_yaml(value in any_yaml::value()) {
            prop_assert_eq!(read_as_yaml(&apply_body(&value)), value);
        }
    }
}
