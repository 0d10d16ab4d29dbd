//! `-o yaml`: the document of `-o json` as YAML, and YAML for the formats that show whole objects.
//!
//! Written as kubectl writes it: keys in order, block style, strings quoted only where YAML 1.1 would read something else. What
//! a terminal hides or acts on is an escape, so that a document can be printed and still means the same.

use std::fmt::Write as _;

use reconcile_core::text::is_hidden;
use serde::Serialize;
use serde_json::{Map, Value};

use super::json;
use crate::{Sections, View};

/// Longest key that YAML reads without the sign for long keys, in bytes (1,024 characters), with room for escapes.
const LONG_KEY: usize = 100;
/// Columns between a level and the next one.
const STEP: usize = 2;

/// The document of `-o json`, as YAML.
#[must_use]
pub fn render<R: Sections + Serialize + Clone>(report: &R, view: &View) -> String {
    // Serialising can fail only for maps whose keys are not strings, and the model has none.
    document(&serde_json::to_value(&*json::shown(report, view)).unwrap_or_default())
}

/// A value as a document, with a line end.
pub(crate) fn document(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => mapping(&mut text, map, 0, false),
        Value::Array(items) if !items.is_empty() => sequence(&mut text, items, 0, false),
        other => scalar(&mut text, other, 0),
    }
    text
}

/// `is_open` tells whether the first line already has its indentation, and the dash of a list item.
fn mapping(text: &mut String, map: &Map<String, Value>, indent: usize, is_open: bool) {
    let inner = indent.saturating_add(STEP);
    for (at, (key, value)) in map.iter().enumerate() {
        if at > 0 || !is_open {
            margin(text, indent);
        }
        if key.len() > LONG_KEY {
            let _ = writeln!(text, "? {}", string(key));
            margin(text, indent);
        } else {
            text.push_str(&string(key));
        }
        text.push(':');
        match value {
            Value::Object(map) if !map.is_empty() => {
                text.push('\n');
                mapping(text, map, inner, false);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                sequence(text, items, indent, false);
            }
            other => {
                text.push(' ');
                scalar(text, other, inner);
            }
        }
    }
}

fn sequence(text: &mut String, items: &[Value], indent: usize, is_open: bool) {
    let inner = indent.saturating_add(STEP);
    for (at, item) in items.iter().enumerate() {
        if at > 0 || !is_open {
            margin(text, indent);
        }
        text.push_str("- ");
        match item {
            Value::Object(map) if !map.is_empty() => mapping(text, map, inner, true),
            Value::Array(items) if !items.is_empty() => sequence(text, items, inner, true),
            other => scalar(text, other, inner),
        }
    }
}

fn margin(text: &mut String, indent: usize) {
    text.extend(std::iter::repeat_n(' ', indent));
}

/// A scalar or an empty collection, and the end of its line.
fn scalar(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::String(content) if is_block(content) => block(text, content, indent),
        Value::String(content) => text.push_str(&string(content)),
        Value::Object(_) => text.push_str("{}"),
        Value::Array(_) => text.push_str("[]"),
        other => {
            let _ = write!(text, "{other}");
        }
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Returns true if a string is written line by line: each line can be seen from its start to its end.
fn is_block(text: &str) -> bool {
    let mut lines = text.split('\n');
    let starts_well = lines.next().is_some_and(|first| !first.is_empty() && !first.starts_with([' ', '\t']));
    starts_well
        && text.contains('\n')
        && !text.contains(|c| c != '\n' && c != '\t' && is_hidden(c))
        && !text.split('\n').any(|line| line.ends_with([' ', '\t']))
}

fn block(text: &mut String, content: &str, indent: usize) {
    let breaks = content.chars().rev().take_while(|c| *c == '\n').count();
    text.push_str(match breaks {
        0 => "|-\n",
        1 => "|\n",
        _ => "|+\n",
    });
    for line in content.strip_suffix('\n').unwrap_or(content).split('\n') {
        if !line.is_empty() {
            margin(text, indent);
            text.push_str(line);
        }
        text.push('\n');
    }
}

/// A string on one line: bare where YAML 1.1 reads it as a string, else in quotes.
fn string(text: &str) -> String {
    if is_bare(text) {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len().saturating_add(2));
    quoted.push('"');
    for c in text.chars() {
        let code = u32::from(c);
        let _ = match c {
            '"' | '\\' => write!(quoted, "\\{c}"),
            '\n' => write!(quoted, "\\n"),
            '\t' => write!(quoted, "\\t"),
            '\r' => write!(quoted, "\\r"),
            // U+FFFE and U+FFFF are no characters, and not allowed in YAML.
            c if (is_hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}')) && code <= 0xff => {
                write!(quoted, "\\x{code:02x}")
            }
            c if (is_hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}')) && code <= 0xffff => {
                write!(quoted, "\\u{code:04x}")
            }
            c if is_hidden(c) => write!(quoted, "\\U{code:08x}"),
            c => write!(quoted, "{c}"),
        };
    }
    quoted.push('"');
    quoted
}

/// Returns true if a string needs no quotes: a word, a path, an image, a quantity, a sentence without signs of YAML.
fn is_bare(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./@+ ()=;,:".contains(c);
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') || is_quantity(text);
    let is_word = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"].contains(&&*text.to_ascii_lowercase());
    starts_well && !is_word && text.chars().all(is_plain) && !text.ends_with([' ', ':']) && !text.contains(": ")
}

/// Returns true for `100m`, `64Mi` and `30s`.
fn is_quantity(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits).unwrap_or_default();
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && ["m", "Ki", "Mi", "Gi", "Ti", "k", "M", "G", "T", "s", "h", "d"].contains(&unit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use kube_yaml::{Validation, read};

    fn read_back(text: &str) -> Value {
        let read = read(text.as_bytes(), Validation::Strict);
        assert!(read.diagnostics.is_empty(), "{text}: {:?}", read.diagnostics);
        read.documents.into_iter().next().map_or(Value::Null, |document| document.value)
    }

    #[test]
    fn objects_look_as_kubectl_prints_them() {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "it", "labels": {}},
            "list": [{"image": "shop/web:1.2", "name": "web"}, "1.27", 3, [1, [2]], "100m", "yes", "a: b", "#x"],
            "script": "#!/bin/sh\nexec nginx\n", "open": "a\nb", "blank": "a\n\n", "empty": "", "null": null,
        });
        let expected = "apiVersion: v1
blank: |+
  a

empty: \"\"
kind: ConfigMap
list:
- image: shop/web:1.2
  name: web
- \"1.27\"
- 3
- - 1
  - - 2
- 100m
- \"yes\"
- \"a: b\"
- \"#x\"
metadata:
  labels: {}
  name: it
\"null\": null
open: |-
  a
  b
script: |
  #!/bin/sh
  exec nginx
";
        assert_eq!(document(&object), expected);
        assert_eq!(read_back(expected), object);
    }

    #[test]
    fn nothing_hidden_is_printed() {
        let object =
            json!({"a\u{202e}\n": "x\u{1b}[2J\u{e0041}\u{ffff}\r\nb ", "k".repeat(2_000): ["\u{feff}", " a\nb\n"]});
        let text = document(&object);
        assert!(!text.contains(|c| c != '\n' && is_hidden(c)), "{text}");
        assert_eq!(read_back(&text), object);
    }

    fn value() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            "[ -~]{0,12}",
            "[\\PC\n\t\r ]{0,8}",
            "[0-9eExo:._+-]{1,8}",
            prop::sample::select(vec![
                "~",
                "Yes",
                "0o7",
                "1:30",
                "2001-01-01",
                "=",
                "<<",
                ".inf",
                "- a",
                "? a",
                "|",
                "a\n",
                "\n\n"
            ])
            .prop_map(ToOwned::to_owned),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            text.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(text.clone(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in value()) {
            let value = json!({"kind": value});
            prop_assert_eq!(read_back(&document(&value)), value);
        }
    }
}
