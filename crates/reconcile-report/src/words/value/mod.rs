//! Values as text: short ones on a line, long ones as lines that can be compared.

pub(crate) mod certificate;
pub(crate) mod cut;
pub(crate) mod line_diff;
pub(crate) mod line_pairs;
pub(crate) mod meaning;
pub(crate) mod number;
pub(crate) mod structured;
pub(crate) mod word_diff;

use reconcile_core::compare::{Class, FieldChange, secret_number};
use reconcile_core::text::yaml_with_words;
use serde_json::Value;

/// Longest value that is shown on the line of its path, in characters.
const SHORT: usize = 60;

/// A value on one line, in YAML's flow style: `{value: debug}`, `[a, b]`, `3`, `"3"` for the string. A text with commas has no quotes.
pub(crate) fn inline(value: &Value) -> String {
    match value {
        Value::String(text) if is_bare(&text.replace(", ", " ")) => text.clone(),
        other => inline_in_list(other),
    }
}

/// A value on one line, between others that commas separate.
pub(crate) fn inline_in_list(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            if let Some(secret) = secret(value) {
                return secret;
            }
            let fields: Vec<String> =
                map.iter().map(|(name, value)| format!("{}: {}", key(name), inline_in_list(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline_in_list).collect::<Vec<_>>().join(", ")),
        Value::String(text) if is_bare(text) => text.clone(),
        // Three dots stand for an omission.
        other => other.to_string().replace('…', "\\u2026"),
    }
}

/// The words in the place of a secret value: `(secret #1)`.
fn secret(value: &Value) -> Option<String> {
    secret_number(value).map(|number| format!("(secret {number})"))
}

fn key(name: &str) -> String {
    let is_clear = !looks_like_a_change(name) && !name.contains(": ") && !name.contains(['{', '}', '[', ']', ',', '"']);
    if is_clear { name.to_owned() } else { Value::from(name).to_string().replace('…', "\\u2026") }
}

/// Returns true if a string needs no quotes to be distinguished from numbers, booleans, null and collections.
fn is_bare(text: &str) -> bool {
    let starts_well = text.starts_with(|c: char| c.is_alphabetic() || "/_.*%~$".contains(c))
        || text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<f64>().is_err();
    let is_word = matches!(text, "true" | "false" | "null" | "yes" | "no" | "on" | "off");
    starts_well
        && !is_word
        && !text.ends_with(char::is_whitespace)
        && !text.contains(|c: char| c.is_control() || "{}[],\"'#".contains(c))
        && !text.contains(": ")
        && !looks_like_a_change(text)
}

/// Returns true if a string contains a separator between values, or between a value and its note: `2 → 3  changed by kubectl`.
fn looks_like_a_change(text: &str) -> bool {
    text.contains(['→', '⟶', '➔', '➜', '⇒', '…', '⋯'])
        || text.contains("  ")
        || text.contains("->")
        // Characters that look like the blank between words, but are different.
        || text.contains(|c: char| c.is_whitespace() && c != ' ')
}

/// Returns true if an apply leaves the live value as it is: it is only shown.
pub(crate) fn stays(change: &FieldChange) -> bool {
    change.class == Class::Released || change.is_addition()
}

/// Returns true if a value is shown as lines of its own.
pub(crate) fn is_long(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\n') || text.chars().count() > SHORT,
        Value::Object(_) | Value::Array(_) if secret_number(value).is_none() => inline(value).chars().count() > SHORT,
        _ => false,
    }
}

/// A value as lines: the lines of a string, or YAML. The last line of a string may lack its end, and that is a difference. Every line
/// of YAML has one, so that a last line that is no longer the last does not differ.
pub(crate) fn block(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) | Value::Array(_) if secret_number(value).is_none() => yaml_with_words(value, &secret),
        other => inline(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::value::line_diff::groups;
    use serde_json::json;
    use similar::ChangeTag;

    #[test]
    fn a_list_whose_last_item_moves_up_differs_in_the_items_that_were_added_alone() {
        let list = |last: &[&str]| json!([&["--a", "--b", "--c", "--d", "--e", "--f", "--g", "--h"], last].concat());
        let short = block(&list(&[]));
        let long = block(&list(&["--z"]));
        for (live, desired, tag) in [(&long, &short, ChangeTag::Delete), (&short, &long, ChangeTag::Insert)] {
            let found = groups(live, desired);
            let changed = found.iter().flatten().filter(|(tag, _)| *tag != ChangeTag::Equal);
            assert_eq!(changed.cloned().collect::<Vec<_>>(), [(tag, "- \"--z\"".into())]);
        }
        // The end of the last line of a string is part of the string.
        let live = block(&json!("a\nb"));
        let desired = block(&json!("a\nb\n"));
        let ending = groups(&live, &desired).into_iter().flatten().last();
        assert_eq!(ending, Some((ChangeTag::Insert, "b\\u{a}".into())));
    }

    #[test]
    fn secret_values_are_words_on_a_line_and_in_lines() {
        let secret = json!({"redacted": "#5"});
        let item = json!({"name": secret, "port": 80, "note": "(secret #5)", "more": [secret, "a"]});
        assert_eq!(
            block(&json!([item])),
            "- more:\n  - (secret #5)\n  - a\n  name: (secret #5)\n  note: \"(secret #5)\"\n  port: 80\n"
        );
        assert_eq!(block(&secret), "(secret #5)");
        assert_eq!(inline(&item), "{more: [(secret #5), a], name: (secret #5), note: \"(secret #5)\", port: 80}");
    }

    #[test]
    fn what_could_be_read_as_a_change_or_a_note_is_quoted() {
        for text in [
            "a → b",
            "2 →",
            "a  changed by kubectl",
            "a -> b",
            "a\u{a0}\u{a0}b",
            "a\u{2003}b",
            "- x",
            "+ x",
            "(secret #1)",
        ] {
            assert_eq!(inline(&json!(text)), json!(text).to_string(), "{text}");
        }
        for text in ["plain", "two words", "shop/web:1.3", "Grüße"] {
            assert_eq!(inline(&json!(text)), text);
        }
        assert_eq!(inline(&json!({"a → b": "x", "c": 1})), r#"{"a → b": x, c: 1}"#);
    }
}
