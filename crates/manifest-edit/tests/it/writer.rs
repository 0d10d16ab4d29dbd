//! Documents in random styles.

use serde_json::Value;

/// Writes a value in random styles: each choice is a byte.
struct Writer<'c> {
    choices: std::iter::Cycle<std::slice::Iter<'c, u8>>,
    text: String,
    /// True if values may be shared: by anchors, aliases and merge keys.
    is_shared: bool,
    /// The values that have an anchor, by its number.
    anchored: Vec<Value>,
}

impl Writer<'_> {
    fn choice(&mut self, of: u8) -> u8 {
        self.choices.next().map_or(0, |choice| choice % of)
    }

    /// A value that may have an anchor, or be an alias of one.
    fn shared(&mut self, value: &Value, indent: usize, in_flow: bool) -> String {
        if !self.is_shared {
            return self.scalar(value, indent, in_flow);
        }
        let anchor = self.anchored.iter().position(|anchored| anchored == value);
        match anchor {
            Some(number) if self.choice(2) == 0 => format!("*a{number}"),
            None if self.choice(4) == 0 => {
                self.anchored.push(value.clone());
                let text = self.scalar(value, indent, in_flow);
                format!("&a{} {text}", self.anchored.len() - 1)
            }
            _ => self.scalar(value, indent, in_flow),
        }
    }

    /// A text behind `>`, whose paragraphs have an empty line between them.
    fn folded(text: &str, indent: usize) -> Option<String> {
        let (header, body) = match text.strip_suffix('\n') {
            Some(body) => (">", body),
            None => (">-", text),
        };
        let is_shown = |line: &str| {
            line.starts_with(|first: char| first.is_ascii_alphanumeric())
                && !line.ends_with(' ')
                && line.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        };
        let lines: Vec<String> = body.split('\n').map(|line| format!("{}{line}", " ".repeat(indent + 2))).collect();
        body.split('\n').all(is_shown).then(|| format!("{header}\n{}", lines.join("\n\n")))
    }

    fn scalar(&mut self, value: &Value, indent: usize, in_flow: bool) -> String {
        let Value::String(text) = value else { return value.to_string() };
        if !in_flow
            && self.choice(5) == 0
            && let Some(folded) = Self::folded(text, indent)
        {
            return folded;
        }
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
            scalar => return self.shared(scalar, 0, true),
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
                let merged = usize::from(self.is_shared && map.len() > 1 && self.choice(6) == 0);
                for (number, (key, value)) in map.iter().enumerate() {
                    if !std::mem::take(&mut is_first) {
                        self.above(indent);
                        self.text.push_str(&" ".repeat(indent));
                    }
                    let key = self.scalar(&key.as_str().into(), 0, true);
                    if number < merged {
                        let value = self.flow(value, indent + 2);
                        self.text.extend(["<<: {", &*key, ": ", &*value, "}"]);
                        self.comment();
                        continue;
                    }
                    match self.choice(10) {
                        0 if self.is_shared => self.text.extend(["? ", &*key, "\n", &*" ".repeat(indent), ":"]),
                        _ => self.text.extend([&*key, ":"]),
                    }
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
                    self.shared(value, indent, false)
                }
            } else {
                self.flow(value, indent)
            };
            self.text.extend([" ", &*text]);
            let body = text.split_once(' ').filter(|_| text.starts_with('&')).map_or(&*text, |(_, body)| body);
            if body.starts_with(['|', '>']) {
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

/// A document in random styles.
pub fn written(value: &Value, choices: &[u8]) -> String {
    document(value, choices, false)
}

/// A file in random styles: also with a byte order mark, other documents around the one that is meant, and values that share their text.
/// Also returns the number of the document.
pub fn file(value: &Value, choices: &[u8]) -> (String, usize) {
    let text = document(value, choices, true);
    let last = choices.last().copied().unwrap_or_default();
    let (above, below) = match last % 5 {
        _ if text.starts_with('{') => ("", ""),
        1 => ("# other\nother: &a0 [1]\nsame: *a0\n---\n", ""),
        2 => ("", "---\nother: |\n  text\n"),
        3 => ("---\n", "---\n# nothing\n---\n{other: 1}\n"),
        _ => ("", ""),
    };
    let number = if above.contains("other") { 2 } else { 1 };
    let end = if below.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let mark = if last % 7 == 1 { "\u{FEFF}" } else { "" };
    (format!("{mark}{above}{text}{end}{below}"), number)
}

fn document(value: &Value, choices: &[u8], is_shared: bool) -> String {
    let mut writer = Writer { choices: choices.iter().cycle(), text: String::new(), is_shared, anchored: Vec::new() };
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
