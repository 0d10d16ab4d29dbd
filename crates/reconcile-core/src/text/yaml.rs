//! Values as YAML that our own reader, which reads as kubectl does, reads back as the same values.
//!
//! Written as kubectl writes it: block style, strings quoted only where YAML 1.1 would read something else, and nothing folded.
//! What a terminal hides or acts on, and what a pipeline takes for a command, is an escape, so that a document can be printed and still
//! means the same.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::marker::PhantomData;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::is_hidden;
use super::visible::{has_command, without_commands};

/// Longest key that YAML reads without the sign for long keys, in bytes (1,024 characters), with room for escapes.
const LONG_KEY: usize = 100;
/// Columns between a level and the next one.
const STEP: usize = 2;

/// Returns a value as a document with a line end, the keys of its objects sorted.
pub fn yaml(value: &Value) -> String {
    document(&Node::from(value))
}

/// Returns a value as a document with a line end, the keys of its objects sorted behind their names.
pub fn yaml_by_name(value: &Value) -> String {
    let mut node = Node::from(value);
    node.move_names();
    document(&node)
}

/// Returns a value as lines that are for people and not to be read again: what `words` returns for a part of it is in the place of that part,
/// without quotes. The keys of objects are sorted.
pub fn yaml_with_words(value: &Value, words: &impl Fn(&Value) -> Option<String>) -> String {
    document(&Node::with_words(value, words))
}

/// Returns a value of a type of ours as a document with a line end, its fields in the order in which the type serializes them.
pub fn yaml_in_order<T: Serialize>(value: &T) -> String {
    // JSON refuses only maps whose keys are not strings and more than 127 levels, and no such type has them.
    let json = serde_json::to_string(value).unwrap_or_default();
    serde_json::from_str(&json).map(|node| document(&node)).unwrap_or_default()
}

/// A value whose fields have the order in which they are written.
#[derive(Deserialize)]
#[serde(untagged)]
enum Node<'v> {
    Map(#[serde(deserialize_with = "in_order")] Vec<(Cow<'v, str>, Self)>),
    List(Vec<Self>),
    Scalar(Cow<'v, Value>),
    /// Words in the place of a value.
    #[serde(skip)]
    Words(String),
}

impl<'v> From<&'v Value> for Node<'v> {
    fn from(value: &'v Value) -> Self {
        Self::with_words(value, &|_| None)
    }
}

impl<'v> Node<'v> {
    fn with_words(value: &'v Value, words: &impl Fn(&Value) -> Option<String>) -> Self {
        let inner = |value| Self::with_words(value, words);
        match value {
            _ if let Some(words) = words(value) => Self::Words(words),
            Value::Object(map) => Self::Map(map.iter().map(|(key, value)| (key.into(), inner(value))).collect()),
            Value::Array(items) => Self::List(items.iter().map(inner).collect()),
            scalar => Self::Scalar(Cow::Borrowed(scalar)),
        }
    }
}

impl Node<'_> {
    /// Moves the name to the beginning of each object.
    fn move_names(&mut self) {
        match self {
            Self::Map(fields) => {
                fields.sort_by_key(|(key, _)| key != "name");
                for (_, value) in fields {
                    value.move_names();
                }
            }
            Self::List(items) => items.iter_mut().for_each(Self::move_names),
            Self::Scalar(_) | Self::Words(_) => {}
        }
    }
}

fn in_order<'de, 'v, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(Cow<'v, str>, Node<'v>)>, D::Error> {
    struct Entries<'v>(PhantomData<&'v ()>);
    impl<'de, 'v> Visitor<'de> for Entries<'v> {
        type Value = Vec<(Cow<'v, str>, Node<'v>)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_map(Entries(PhantomData))
}

fn document(node: &Node<'_>) -> String {
    let mut text = String::new();
    match node {
        Node::Map(fields) if !fields.is_empty() => mapping(&mut text, fields, 0, false),
        Node::List(items) if !items.is_empty() => sequence(&mut text, items, 0, false),
        other => scalar(&mut text, other, STEP),
    }
    text
}

/// `is_open` tells whether the first line already has its indentation, and the dash of a list item.
fn mapping(text: &mut String, fields: &[(Cow<'_, str>, Node<'_>)], indent: usize, is_open: bool) {
    let inner = indent.saturating_add(STEP);
    for (at, (key, value)) in fields.iter().enumerate() {
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
            Node::Map(fields) if !fields.is_empty() => {
                text.push('\n');
                mapping(text, fields, inner, false);
            }
            Node::List(items) if !items.is_empty() => {
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

fn sequence(text: &mut String, items: &[Node<'_>], indent: usize, is_open: bool) {
    let inner = indent.saturating_add(STEP);
    for (at, item) in items.iter().enumerate() {
        if at > 0 || !is_open {
            margin(text, indent);
        }
        text.push_str("- ");
        match item {
            Node::Map(fields) if !fields.is_empty() => mapping(text, fields, inner, true),
            Node::List(items) if !items.is_empty() => sequence(text, items, inner, true),
            other => scalar(text, other, inner),
        }
    }
}

fn margin(text: &mut String, indent: usize) {
    text.extend(std::iter::repeat_n(' ', indent));
}

/// A scalar or an empty collection, and the end of its line.
fn scalar(text: &mut String, node: &Node<'_>, indent: usize) {
    match node {
        Node::Map(_) => text.push_str("{}"),
        Node::List(_) => text.push_str("[]"),
        Node::Words(words) => text.push_str(words),
        Node::Scalar(value) => match &**value {
            Value::String(content) if is_block(content) => block(text, content, indent),
            Value::String(content) => text.push_str(&string(content)),
            other => {
                let _ = write!(text, "{other}");
            }
        },
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
        && !has_command(text)
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
            c if !is_hidden(c) && !matches!(c, '\u{fffe}' | '\u{ffff}') => write!(quoted, "{c}"),
            _ if code <= 0xff => write!(quoted, "\\x{code:02x}"),
            _ if code <= 0xffff => write!(quoted, "\\u{code:04x}"),
            _ => write!(quoted, "\\U{code:08x}"),
        };
    }
    quoted.push('"');
    without_commands(&quoted, "\\x23").into_owned()
}

/// Returns true if a string needs no quotes: a word, a path, an image, a quantity, a sentence without signs of YAML.
fn is_bare(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./@+ ()[]\"=;,:".contains(c);
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
pub(crate) mod tests;
