//! `-o json`: the report, or the reports of several contexts, as one document.

use std::fmt::Write as _;

use serde::Serialize;

use crate::text::is_hidden;

/// The document, indented, with a line end. Characters that a terminal would hide or act on are written as escapes of JSON, which
/// mean the same.
#[must_use]
pub fn render<R: Serialize>(report: &R) -> String {
    // Serialising can fail only for maps whose keys aren't strings, and the model has none.
    let text = serde_json::to_string_pretty(report).unwrap_or_default();
    format!("{}\n", escaped(&text))
}

fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || !is_hidden(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn hidden_characters_are_escaped_and_mean_the_same() {
        let value = json!({"ad\u{ad}min": "a\u{202e}b\u{e0041}\u{7f}\u{9b}\n\"", "plain": "Grüße → 👍"});
        let text = escaped(&serde_json::to_string_pretty(&value).unwrap());
        assert!(!text.chars().any(|c| c != '\n' && is_hidden(c)), "{text:?}");
        assert!(text.contains("Grüße → 👍"));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
