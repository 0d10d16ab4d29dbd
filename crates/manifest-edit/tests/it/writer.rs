//! Documents in random styles.

use serde_json::Value;

/// Writes a value in random styles: each choice is a byte.
struct Writer<'c> {
    choices: std::iter::Cycle<std::slice::Iter<'c, u8>>,
    text: String,
}

impl Writer<'_> {
    fn choice(&mut self, of: u8) -> u8 {
        self.choices.next().map_or(0, |choice| choice % of)
    }

    fn scalar(&mut self, value: &Value, indent: usize, in_flow: bool) -> String {
        let Value::String(text) = value else { return value.to_string() };
        let is_shown =
            |character: char| matches!(character, ' '..='~' | '\u{A1}'..='\u{D7FF}') && character != '\u{AD}';
        let is_line = text.chars().all(is_shown);
        match self.choice(5) {
            0 if is_line => format!("'{}'", text.replace('\'', "''")),
            1 | 2
                if !text.is_empty()
                    && text.bytes().all(|byte| byte.is_ascii_alphabetic())
                    && kube_yaml::is_text(text) =>
            {
                text.clone()
            }
            3 | 4
                if !in_flow
                    && text.ends_with('\n')
                    && !text.starts_with(['\n', ' ', '\t'])
                    && text.chars().all(|c| is_shown(c) || c == '\n') =>
            {
                let (header, body) = if text.ends_with("\n\n") {
                    ("|+", &text[..text.len() - 1])
                } else {
                    ("|", text.trim_end_matches('\n'))
                };
                let lines = body.split('\n').map(|line| {
                    if line.is_empty() { String::new() } else { format!("{}{line}", " ".repeat(indent + 2)) }
                });
                format!("{header}\n{}", lines.collect::<Vec<_>>().join("\n"))
            }
            _ => {
                let escaped = text.chars().map(|character| match character {
                    '"' | '\\' => format!("\\{character}"),
                    _ if is_shown(character) => character.to_string(),
                    _ => format!("\\U{:08x}", u32::from(character)),
                });
                format!("\"{}\"", escaped.collect::<String>())
            }
        }
    }

    fn flow(&mut self, value: &Value, indent: usize) -> String {
        let line = if self.choice(3) == 0 { format!("\n{}", " ".repeat(indent + 2)) } else { " ".to_owned() };
        let parts: Vec<String> = match value {
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| {
                    format!("{line}{}: {}", self.scalar(&key.as_str().into(), 0, true), self.flow(value, indent + 2))
                })
                .collect(),
            Value::Array(items) => items.iter().map(|item| format!("{line}{}", self.flow(item, indent + 2))).collect(),
            scalar => return self.scalar(scalar, 0, true),
        };
        let comma = if self.choice(4) == 0 && !parts.is_empty() { "," } else { "" };
        let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
        format!("{open}{}{comma}{close}", parts.join(","))
    }

    fn comment(&mut self) {
        if self.choice(4) == 0 {
            self.text.push_str("  # why: \"x\", 'y'");
        }
        self.text.push('\n');
    }

    fn above(&mut self, indent: usize) {
        match self.choice(8) {
            0 => self.text.extend([&*" ".repeat(indent), "# - note: {x}\n"]),
            1 if !self.text.ends_with("\n\n") => self.text.push('\n'),
            _ => {}
        }
    }

    fn entries(&mut self, value: &Value, indent: usize) {
        let mut is_first = true;
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    if !std::mem::take(&mut is_first) {
                        self.above(indent);
                        self.text.push_str(&" ".repeat(indent));
                    }
                    let key = self.scalar(&key.as_str().into(), 0, true);
                    self.text.extend([&*key, ":"]);
                    self.value(value, indent);
                }
            }
            Value::Array(items) => {
                for item in items {
                    if !std::mem::take(&mut is_first) {
                        self.above(indent);
                        self.text.push_str(&" ".repeat(indent));
                    }
                    self.text.push('-');
                    let is_block = matches!(item, Value::Object(map) if !map.is_empty())
                        || matches!(item, Value::Array(items) if !items.is_empty());
                    if is_block && self.choice(3) > 0 {
                        self.text.push(' ');
                        self.entries(item, indent + 2);
                    } else {
                        self.value(item, indent + 1);
                    }
                }
            }
            _ => {}
        }
    }

    fn value(&mut self, value: &Value, indent: usize) {
        let is_empty = match value {
            Value::Object(map) => map.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Null if self.choice(2) == 0 => return self.comment(),
            _ => true,
        };
        if is_empty || self.choice(4) == 0 {
            let text = if is_empty {
                if value.is_object() {
                    "{}".into()
                } else if value.is_array() {
                    "[]".into()
                } else {
                    self.scalar(value, indent, false)
                }
            } else {
                self.flow(value, indent)
            };
            self.text.extend([" ", &*text]);
            if text.contains('\n') && text.starts_with('|') {
                self.text.push('\n');
            } else {
                self.comment();
            }
            return;
        }
        let below = indent
            + usize::from(self.choice(3))
            + usize::from(!value.is_array() || indent == 0)
            + usize::from(value.is_object());
        self.comment();
        self.above(below);
        self.text.push_str(&" ".repeat(below));
        self.entries(value, below);
    }
}

pub fn written(value: &Value, choices: &[u8]) -> String {
    let mut writer = Writer { choices: choices.iter().cycle(), text: String::new() };
    if writer.choice(8) == 0 {
        let text =
            if writer.choice(2) == 0 { serde_json::to_string(value) } else { serde_json::to_string_pretty(value) };
        return text.unwrap();
    }
    writer.entries(value, 0);
    let text = writer.text;
    let text = if choices[0] % 5 == 1 { text.replace('\n', "\r\n") } else { text };
    if choices[0] % 7 == 1 && !text.ends_with("\n\n") {
        text.strip_suffix('\n').map_or(text.clone(), Into::into)
    } else {
        text
    }
}
