//! Messages and advice about values of the wrong type.

use serde_json::Value;

/// The type of value that a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A string.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// Keys and values.
    Mapping,
    /// Items.
    List,
    /// A number or a string: a quantity, a port.
    NumberOrText,
}

impl Expected {
    /// Returns true if a value has this type.
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Mapping => value.is_object(),
            Self::List => value.is_array(),
            Self::NumberOrText => value.is_number() || value.is_string(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Mapping => "a mapping",
            Self::List => "a list",
            Self::NumberOrText => "a number or a string",
        }
    }
}

/// The type of a value, in words.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

/// `expected a string, found a boolean`
pub fn mismatch(expected: Expected, found: &Value) -> String {
    format!("expected {}, found {}", expected.name(), kind_of(found))
}

/// Advice on what to write instead. `written` is the value as it is in the file, if it may be shown.
pub fn advice(expected: Expected, found: &Value, written: Option<&str>) -> Option<String> {
    let this = || written.map_or_else(|| "the value".to_owned(), |text| format!("`{text}`"));
    Some(match (expected, found) {
        (Expected::Text, Value::Bool(_) | Value::Number(_)) => {
            let example = written.map(|text| format!(", as in `\"{text}\"`")).unwrap_or_default();
            format!("{} is {} here: quote it{example}", this(), kind_of(found))
        }
        (Expected::Text, Value::Null) => "write `\"\"` for an empty string, or leave the key out".to_owned(),
        (Expected::Text, Value::Object(_) | Value::Array(_)) => {
            "to keep it as text, write `|` after the key, and the text indented below it".to_owned()
        }
        (Expected::Boolean, Value::String(_)) => {
            format!("{} is a string here: write `true` or `false`, without quotes", this())
        }
        (Expected::Number, Value::String(text)) if text.parse().is_ok_and(f64::is_finite) => {
            format!("{} is a string here: leave the quotes out", this())
        }
        (Expected::List, Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            let item = written.map_or("…", |text| text);
            format!("write it as a list: `[{item}]`, or each item on a line of its own after `- `")
        }
        (Expected::List, Value::Object(_)) => "begin each item of the list with `- `".to_owned(),
        (Expected::Mapping, Value::Array(_)) => "leave out the `- ` before the keys".to_owned(),
        (Expected::Mapping, Value::Null) => "indent the keys that belong to it further than its own".to_owned(),
        (Expected::Mapping, _) => "write keys and values below it, indented".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_wrong_and_what_to_write_is_reported() {
        let reported = |expected, found: Value, written: Option<&str>| {
            format!("{}; {}", mismatch(expected, &found), advice(expected, &found, written).unwrap_or_default())
        };
        assert_eq!(
            reported(Expected::Text, json!(true), Some("yes")),
            "expected a string, found a boolean; `yes` is a boolean here: quote it, as in `\"yes\"`"
        );
        assert_eq!(
            reported(Expected::Text, json!(1), None),
            "expected a string, found a number; the value is a number here: quote it"
        );
        assert_eq!(
            reported(Expected::Number, json!("80"), Some("\"80\"")),
            "expected a number, found a string; `\"80\"` is a string here: leave the quotes out"
        );
        for text in ["many", "1e400"] {
            assert_eq!(reported(Expected::Number, json!(text), Some(text)), "expected a number, found a string; ");
        }
        assert_eq!(
            reported(Expected::List, json!("ls"), Some("ls")),
            "expected a list, found a string; write it as a list: `[ls]`, or each item on a line of its own after `- `"
        );
    }
}
