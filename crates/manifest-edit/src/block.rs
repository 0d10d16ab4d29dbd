//! Values on lines of their own.

use kube_yaml::{Node, Style};
use serde_json::Value;

use super::habits::Habits;
use super::key_order::KeyOrder;
use super::scalar::{Around, Former, literal, scalar};

/// Writes values as lines.
#[derive(Clone, Copy)]
pub(crate) struct Block<'o> {
    pub habits: Habits,
    /// The order of the keys of the value.
    pub order: &'o KeyOrder,
    /// The style of the texts nearby.
    pub style: Option<Style>,
    /// True if every text is quoted.
    pub is_quoted: bool,
}

impl Block<'_> {
    /// The lines of a collection that begins in a column. The first one has no indentation.
    pub fn lines(&self, value: &Value, column: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let mut add = |mut entry: Vec<String>| {
            if !lines.is_empty() {
                indent_first(&mut entry, column);
            }
            lines.append(&mut entry);
        };
        match value {
            Value::Object(map) => {
                for (key, value) in self.order.entries(map) {
                    add(Block { order: self.order.of_entry(key), ..*self }.entry(key, value, column));
                }
            }
            Value::Array(items) => {
                let block = Block { order: self.order.of_items(), ..*self };
                for item in items {
                    add(block.item(item, column));
                }
            }
            other => add(vec![self.scalar(other)]),
        }
        lines
    }

    /// A key without its `:`.
    pub fn key(&self, key: &str) -> String {
        scalar(&key.into(), None, Around::Block, self.is_quoted)
    }

    /// The lines of an entry of a mapping in a column. Those below the first are indented.
    pub fn entry(&self, key: &str, value: &Value, column: usize) -> Vec<String> {
        let key = self.key(key);
        let below = column.saturating_add(match value {
            Value::Array(_) => self.habits.dash,
            _ => self.habits.unit,
        });
        if is_collection(value) {
            let mut lines = self.lines(value, below);
            indent_first(&mut lines, below);
            lines.insert(0, format!("{key}:"));
            return lines;
        }
        self.with_scalar(&format!("{key}: "), value, below)
    }

    /// The lines of an item of a list whose `-` is in a column.
    pub fn item(&self, value: &Value, column: usize) -> Vec<String> {
        let below = column.saturating_add(self.habits.gap);
        let dash = format!("-{}", " ".repeat(self.habits.gap.saturating_sub(1)));
        if is_collection(value) {
            let mut lines = self.lines(value, below);
            if let Some(first) = lines.first_mut() {
                first.insert_str(0, &dash);
            }
            return lines;
        }
        self.with_scalar(&dash, value, below)
    }

    /// The line of an item whose text is written already.
    pub fn item_of_text(&self, text: &str) -> Vec<String> {
        vec![format!("-{}{text}", " ".repeat(self.habits.gap.saturating_sub(1)))]
    }

    fn with_scalar(&self, before: &str, value: &Value, below: usize) -> Vec<String> {
        match self.literal(value) {
            Some((header, lines)) => {
                let body = lines.iter().map(|line| indented(line, below));
                std::iter::once(format!("{before}{header}")).chain(body).collect()
            }
            None => vec![format!("{before}{}", self.scalar(value))],
        }
    }

    /// The header and the lines of a text that is written on lines of its own.
    pub fn literal<'v>(&self, value: &'v Value) -> Option<(&'static str, Vec<&'v str>)> {
        let text = value.as_str().filter(|text| !self.is_quoted && text.contains('\n'))?;
        literal(text)
    }

    fn scalar(&self, value: &Value) -> String {
        let former = self.style.map(|style| Former { style, text: "" });
        scalar(value, former, Around::Block, self.is_quoted)
    }
}

pub(crate) fn is_collection(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

/// Indents the first of some lines.
pub(crate) fn indent_first(lines: &mut [String], column: usize) {
    if let Some(first) = lines.first_mut() {
        first.insert_str(0, &" ".repeat(column));
    }
}

/// A line of a text with its indentation; an empty one has none.
pub(crate) fn indented(line: &str, column: usize) -> String {
    if line.is_empty() { String::new() } else { format!("{}{line}", " ".repeat(column)) }
}

/// Returns true for a collection that is not empty.
pub(crate) fn is_filled(node: &Node) -> bool {
    node.children().next().is_some()
}
