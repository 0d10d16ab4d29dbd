use std::io;

use super::hidden::is_hidden;
use super::visible::{show, visible};

/// Puts text on one line: runs of blanks become one, everything becomes visible, and a text of more than `limit` characters ends in
/// an ellipsis.
pub fn one_line(text: &str, limit: usize) -> String {
    visible(&cut(text, limit)).into_owned()
}

fn cut(text: &str, limit: usize) -> String {
    let mut line = String::with_capacity(text.len().min(limit.saturating_mul(4)));
    let mut length = 0_usize;
    let mut gap = false;
    for character in text.chars() {
        if character.is_whitespace() {
            gap = length > 0;
            continue;
        }
        if length.saturating_add(usize::from(gap)) >= limit {
            line.push('…');
            return line;
        }
        if gap {
            line.push(' ');
            length = length.saturating_add(1);
            gap = false;
        }
        if is_hidden(character) {
            show(character, &mut line);
        } else {
            line.push(character);
        }
        length = length.saturating_add(1);
    }
    line
}

/// The message of the operating system, without its number.
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    let said = text.split(" (os error ").next().unwrap_or_default();
    one_line(said, 200).to_lowercase()
}

/// Lists at most `limit` names for a message.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>, limit: usize) -> String {
    let names: Vec<_> = names.into_iter().collect();
    let list = names.iter().take(limit).map(|name| format!("`{}`", one_line(name, 100))).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(limit) {
        Some(more @ 1..) => format!("{list} and {more} more"),
        _ => list,
    }
}

/// Bytes in lowercase hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown_and_line_breaks_go() {
        assert_eq!(one_line("  a\r\n\tb\u{1b}[0m \u{202e}c\u{0} ", 80), "a b\\u{1b}[0m \\u{202e}c\\u{0}");
    }

    #[test]
    fn long_text_is_cut_on_a_character() {
        assert_eq!(one_line("ää öö üü", 5), "ää öö…");
        assert_eq!(one_line("ää öö", 5), "ää öö");
    }

    #[test]
    fn lists_are_bounded() {
        assert_eq!(listed(["a", "b"], 2), "`a`, `b`");
        assert_eq!(listed(["a", "b", "c", "d"], 2), "`a`, `b` and 2 more");
    }
}
