//! Values in brackets: JSON, and YAML in the style of JSON.

use kube_yaml::Style;
use serde_json::Value;

use super::habits::Spaces;
use super::key_order::KeyOrder;
use super::scalar::{Around, Former, scalar};

/// The layout of a value in brackets.
#[derive(Clone, Copy)]
pub(crate) struct Brackets<'t> {
    pub around: Around,
    /// The style of the texts nearby.
    pub style: Option<Style>,
    /// True if every text is quoted.
    pub is_quoted: bool,
    /// True for KYAML: keys are plain and texts in double quotes, and on lines of their own, the last entry has a comma as well.
    pub is_kyaml: bool,
    /// The order of the keys of the value.
    pub order: &'t KeyOrder,
    /// The spaces behind `:` and `,`.
    pub spaces: Spaces,
    /// The line break, the indentation of the line on which the value begins and the additional one of its entries, if each entry
    /// has a line of its own.
    pub lines: Option<(&'static str, &'t str, &'t str)>,
}

impl Brackets<'_> {
    /// A value on one line or on several.
    pub fn value(&self, value: &Value) -> String {
        let mut text = String::new();
        self.write(&mut text, value, self.order, 0);
        text
    }

    /// A key with its `:`.
    pub fn key(&self, key: &str) -> String {
        let style = self.style.filter(|_| !self.is_kyaml);
        format!("{}:{}", self.scalar(&key.into(), style), self.spaces.colon)
    }

    fn scalar(&self, value: &Value, style: Option<Style>) -> String {
        let former = style.map(|style| Former { style, text: "" });
        scalar(value, former, self.around, self.is_quoted)
    }

    fn write(&self, text: &mut String, value: &Value, order: &KeyOrder, depth: usize) {
        let below = depth.saturating_add(1);
        match value {
            Value::Object(map) if !map.is_empty() => {
                text.push('{');
                for (number, (key, value)) in order.entries(map).into_iter().enumerate() {
                    self.separate(text, number > 0, below);
                    text.push_str(&self.key(key));
                    self.write(text, value, order.of_entry(key), below);
                }
                self.close(text, '}', depth);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('[');
                for (number, item) in items.iter().enumerate() {
                    self.separate(text, number > 0, below);
                    self.write(text, item, order.of_items(), below);
                }
                self.close(text, ']', depth);
            }
            scalar => {
                let style = if self.is_kyaml { Some(Style::DoubleQuoted) } else { self.style };
                text.push_str(&self.scalar(scalar, style));
            }
        }
    }

    fn separate(&self, text: &mut String, is_next: bool, depth: usize) {
        if is_next {
            text.push(',');
        }
        if self.lines.is_some() {
            self.line(text, depth);
        } else if is_next {
            text.push_str(self.spaces.comma);
        }
    }

    fn close(&self, text: &mut String, bracket: char, depth: usize) {
        if self.is_kyaml && self.lines.is_some() {
            text.push(',');
        }
        self.line(text, depth);
        text.push(bracket);
    }

    fn line(&self, text: &mut String, depth: usize) {
        if let Some((newline, indentation, unit)) = self.lines {
            text.push_str(newline);
            text.push_str(indentation);
            text.extend(std::iter::repeat_n(unit, depth));
        }
    }
}
