//! A configuration file while it is read: its values with their locations, and its diagnostics.

use std::sync::Arc;

use serde_json::Value;

use reconcile_core::diagnostic::{Diagnostic, Location};
use reconcile_core::manifest::SourceText;
use reconcile_core::manifest::kind_of;
use reconcile_core::manifest::yaml::{Positions, Step};
use reconcile_core::text::{one_line, similar};

/// The file and its diagnostics.
pub(super) struct File<'a> {
    pub name: &'a Arc<str>,
    pub text: &'a SourceText,
    pub positions: &'a Positions,
    pub diagnostics: Vec<Diagnostic>,
}

/// A value of the file, and its path.
#[derive(Clone)]
pub(super) struct ConfigNode<'a> {
    pub value: &'a Value,
    path: Vec<Step<'a>>,
}

/// A mapping while it is read. It learns its keys when they are asked for, so that those nobody asks for are the unknown ones.
pub(super) struct Mapping<'a> {
    node: ConfigNode<'a>,
    name: &'static str,
    known: Vec<&'static str>,
}

impl<'a> Mapping<'a> {
    /// The value of a key; `None` if the key is missing or null.
    pub fn key(&mut self, key: &'static str) -> Option<ConfigNode<'a>> {
        self.known.push(key);
        let (key, value) = self.node.value.as_object()?.get_key_value(key)?;
        (!value.is_null()).then(|| self.node.below(value, Step::Key(key)))
    }
}

impl<'a> ConfigNode<'a> {
    /// The whole document.
    pub fn root(value: &'a Value) -> Self {
        Self { value, path: Vec::new() }
    }

    /// Its key in backticks, as messages name it; that of its list for an item.
    pub fn name(&self) -> String {
        let key = |step: &Step<'a>| match step {
            Step::Key(key) => Some(*key),
            Step::Index(_) => None,
        };
        format!("`{}`", self.path.iter().rev().find_map(key).unwrap_or_default())
    }

    /// Returns true for a list without items.
    pub fn is_empty_list(&self) -> bool {
        self.value.as_array().is_some_and(Vec::is_empty)
    }

    /// The values of a mapping, by their keys.
    pub fn entries(&self) -> Vec<(&'a str, Self)> {
        let map = self.value.as_object().into_iter().flatten();
        map.map(|(key, value)| (key.as_str(), self.below(value, Step::Key(key)))).collect()
    }

    fn below(&self, value: &'a Value, step: Step<'a>) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        Self { value, path }
    }
}

impl File<'_> {
    /// Adds a diagnostic at a key, or at an item.
    pub fn of_key(&mut self, node: &ConfigNode<'_>, message: impl Into<String>, hint: impl Into<String>) {
        let diagnostic = Diagnostic::at(self.name, self.positions.nearest(&node.path), message);
        self.diagnostics.push(diagnostic.shown_in(self.text, None).with_hint(hint));
    }

    /// Adds a diagnostic at a value, or at its key if the value begins on a later line.
    pub fn of_value(&mut self, node: &ConfigNode<'_>, message: impl Into<String>, hint: impl Into<String>) {
        let key = self.positions.nearest(&node.path);
        let value = self.positions.value_at(&node.path).filter(|value| value.line == key.line);
        let diagnostic = Diagnostic::at(self.name, value.unwrap_or(key), message).with_hint(hint);
        // A line with a password in a URL is not shown.
        let has_credentials = node.value.as_str().is_some_and(|text| text.contains("://") && text.contains('@'));
        self.diagnostics.push(if has_credentials { diagnostic } else { diagnostic.shown_in(self.text, None) });
    }

    /// The location of a value.
    pub fn location(&self, node: &ConfigNode<'_>) -> Location {
        let mark = self.positions.nearest(&node.path);
        Location { file: self.name.clone(), line: Some(mark.line), column: Some(mark.column) }
    }

    /// A boolean or a number as it was typed, such as `yes` for true; `None` for other values.
    pub fn typed(&self, node: &ConfigNode<'_>) -> Option<String> {
        let mark = self.positions.value_at(&node.path).filter(|_| node.value.is_boolean() || node.value.is_number())?;
        let text = String::from_utf8_lossy(self.text.bytes());
        let line = text.lines().nth(usize::try_from(mark.line.checked_sub(1)?).ok()?)?;
        let rest: String = line.chars().skip(usize::try_from(mark.column.checked_sub(1)?).ok()?).collect();
        let scalar = rest.split([',', ']', '}']).next()?.split(" #").next()?.trim();
        (!scalar.is_empty()).then(|| scalar.to_owned())
    }

    /// The value as a mapping, which messages call `name`. Ask for its keys, and then [`end`](Self::end) it.
    pub fn mapping<'n>(&mut self, node: &ConfigNode<'n>, name: &'static str) -> Option<Mapping<'n>> {
        self.is_any_mapping(node, name).then(|| Mapping { node: node.clone(), name, known: Vec::new() })
    }

    /// Ends the reading of a mapping: keys that nobody asked for are errors, with a similar key in the hint.
    pub fn end(&mut self, Mapping { node, name, known }: Mapping<'_>) {
        for (key, value) in node.entries().into_iter().filter(|(key, _)| !known.contains(key)) {
            let hint = match similar(key, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the keys are: `{}`", known.join("`, `")),
            };
            self.of_key(&value, format!("unknown key `{}` in {name}", one_line(key, 100)), hint);
        }
    }

    /// Returns true if the value is a mapping, whatever its keys.
    pub fn is_any_mapping(&mut self, node: &ConfigNode<'_>, what: &str) -> bool {
        let is_mapping = node.value.is_object();
        if !is_mapping {
            let message = format!("{what} is a mapping, not {}", kind_of(node.value));
            self.of_value(node, message, "write one `key: value` per line");
        }
        is_mapping
    }

    /// The items of a list, at most `most`.
    pub fn items<'n>(&mut self, node: &ConfigNode<'n>, most: usize, example: &str) -> Vec<ConfigNode<'n>> {
        let name = node.name();
        let Value::Array(items) = node.value else {
            let message = format!("{name} is a list, not {}", kind_of(node.value));
            self.of_value(node, message, format!("write `{example}`"));
            return Vec::new();
        };
        if items.len() > most {
            let message = format!("{name} has {} items, and at most {most} are allowed", items.len());
            self.of_key(node, message, "merge some of them");
            return Vec::new();
        }
        items.iter().enumerate().map(|(index, item)| node.below(item, Step::Index(index))).collect()
    }

    /// A string that is not empty.
    pub fn text<'n>(&mut self, node: &ConfigNode<'n>, what: &str, example: &str) -> Option<&'n str> {
        let text = node.value.as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            let found =
                if node.value.is_string() { "an empty string".to_owned() } else { kind_of(node.value).to_owned() };
            self.of_value(node, format!("{what} must be a string, not {found}"), format!("write it as in `{example}`"));
        }
        text
    }
}
