//! Scalars as text: in the style of the place if that keeps their meaning, else in double quotes.

use std::fmt::Write as _;

use kube_yaml::{Style, is_text};
use serde_json::Value;

/// The surroundings of a scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Around {
    /// On a line of its own or behind its key.
    Block,
    /// Inside brackets.
    Flow,
    /// In JSON.
    Json,
}

/// The style of a scalar that is replaced, or of its neighbours, with its text if it is replaced.
#[derive(Clone, Copy)]
pub(crate) struct Former<'t> {
    pub style: Style,
    pub text: &'t str,
}

/// A scalar on one line. `is_quoted` quotes every text.
pub(crate) fn scalar(value: &Value, former: Option<Former<'_>>, around: Around, is_quoted: bool) -> String {
    match value {
        Value::String(text) if around == Around::Json => json(text),
        Value::String(text) if is_quoted => double_quoted(text),
        Value::String(text) => match former.map(|former| former.style) {
            Some(Style::SingleQuoted) if text.chars().all(is_visible) => format!("'{}'", text.replace('\'', "''")),
            Some(Style::DoubleQuoted | Style::SingleQuoted) => double_quoted(text),
            _ if may_be_plain(text, around) => text.clone(),
            _ => double_quoted(text),
        },
        // File modes are written as they were before.
        Value::Number(number) => match (number.as_u64(), former) {
            (Some(mode), Some(former)) if is_octal(former) && around != Around::Json => format!("0{mode:o}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

fn is_octal(former: Former<'_>) -> bool {
    let digits = former.text.strip_prefix('0').filter(|digits| !digits.is_empty());
    former.style == Style::Plain && digits.is_some_and(|digits| digits.bytes().all(|byte| matches!(byte, b'0'..=b'7')))
}

/// Returns true if a text is read as it is without quotes, also by readers of YAML 1.2.
fn may_be_plain(text: &str, around: Around) -> bool {
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return false };
    let second = characters.next();
    let begins = match first {
        '-' => second.is_some_and(|second| second.is_ascii_alphanumeric() || second == '-') && !text.starts_with("---"),
        '.' => !text.starts_with("..."),
        _ => first.is_alphanumeric() || matches!(first, '_' | '/' | '$' | '(' | '+'),
    };
    let is_plain = |character: char| match character {
        ' '..='~' => around == Around::Block || !",[]{}?:#\"'".contains(character),
        _ => character.is_alphanumeric(),
    };
    begins
        && text.chars().all(is_plain)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && is_text(text)
        && !is_read_otherwise(text)
}

/// Returns true for texts that other readers take for something else: times, dates, numbers of base 60 and of other notations.
fn is_read_otherwise(text: &str) -> bool {
    let bare = text.trim_start_matches(['+', '-', '.']);
    let is_number = |character: char| character.is_ascii_hexdigit() || "_:.,+-xXoOtTzZ ".contains(character);
    let is_version = bare.contains('.') && bare.chars().all(|character| character.is_ascii_digit() || character == '.');
    bare.starts_with(|first: char| first.is_ascii_digit()) && text.chars().all(is_number) && !is_version
}

/// Returns true if every character is shown as it is, so that no escape is needed.
fn is_visible(character: char) -> bool {
    !character.is_control()
        && !matches!(character,
            '\u{AD}' | '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFF}' | '\u{E0000}'..='\u{10FFFF}')
}

fn double_quoted(text: &str) -> String {
    quoted(text, |quoted, character| {
        let number = u32::from(character);
        // Writing to a `String` cannot fail.
        let _ = if number > 0xFFFF { write!(quoted, "\\U{number:08X}") } else { write!(quoted, "\\u{number:04X}") };
    })
}

/// A text in JSON. Characters that are not shown are escaped.
fn json(text: &str) -> String {
    quoted(text, |quoted, character| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(quoted, "\\u{unit:04x}");
        }
    })
}

fn quoted(text: &str, escape: impl Fn(&mut String, char)) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            _ if is_visible(character) => quoted.push(character),
            _ => escape(&mut quoted, character),
        }
    }
    quoted.push('"');
    quoted
}

/// A text behind `|`: the header and the lines without indentation. `None` if it cannot be written so.
pub(crate) fn literal(text: &str) -> Option<(&'static str, Vec<&str>)> {
    let body = text.strip_suffix('\n');
    let (header, body) = match body {
        None => ("|-", text),
        Some(body) if body.ends_with('\n') => ("|+", body),
        Some(body) => ("|", body),
    };
    let begins_with_text = !body.starts_with([' ', '\t', '\n']) && !body.trim().is_empty();
    let is_shown = |character: char| matches!(character, '\n' | '\t') || is_visible(character);
    (begins_with_text && body.chars().all(is_shown)).then(|| (header, body.split('\n').collect()))
}
