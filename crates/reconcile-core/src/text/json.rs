use std::fmt::Write as _;

use super::command::without_commands;
use super::is_hidden;

/// Returns the same JSON with an escape for what a terminal would hide or act on, and for what a pipeline would take for a command.
/// These characters are in strings only, where an escape means the same.
pub fn harmless_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_hidden(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    without_commands(&shown, "\\u0023").into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::command_starts;
    use super::*;

    #[test]
    fn what_is_escaped_means_the_same() {
        let value = json!({"ad\u{ad}min": "a\u{202e}b\u{e0041}\u{7f}\u{9b}\n\"", "plain": "Grüße → 👍", "##[a]": ["##vso[b.c]"]});
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let shown = harmless_json(&text);
            assert!(!shown.chars().any(|c| c != '\n' && is_hidden(c)), "{shown:?}");
            assert!(
                shown.contains("Grüße → 👍") && shown.lines().all(|line| command_starts(line).is_empty()),
                "{shown}"
            );
            assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
        }
    }
}
