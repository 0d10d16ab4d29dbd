//! The identifiers, comments and strings of Rust source, and the prose of Markdown, with their lines.

/// A part of a file.
#[derive(Debug)]
pub struct Token {
    pub kind: Kind,
    /// The line on which it begins, from 1.
    pub line: usize,
    /// An identifier, or a text without its marks; lines that follow one another are one text.
    pub text: String,
    /// Whether it is in the tests at the end of a file.
    pub is_test: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Identifier,
    /// An identifier that is neither called, nor a part of a path, nor a field.
    Binding,
    Comment,
    Doc,
    /// A string literal.
    Text,
    /// A paragraph of Markdown.
    Document,
}

/// The parts of Rust source.
pub fn tokens(text: &str) -> Vec<Token> {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let mut scanner = Scanner { text, at: 0, line: 1, tests, tokens: Vec::new(), last_word: String::new() };
    while scanner.at < text.len() {
        scanner.step();
    }
    scanner.tokens
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    tests: usize,
    tokens: Vec<Token>,
    last_word: String,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn take(&mut self, length: usize) -> &'t str {
        let taken = &self.rest()[..length];
        self.at += length;
        self.line += taken.matches('\n').count();
        taken
    }

    fn push(&mut self, kind: Kind, line: usize, text: String) {
        self.tokens.push(Token { kind, line, text, is_test: self.at > self.tests });
    }

    fn step(&mut self) {
        let rest = self.rest();
        let next = rest.chars().next().unwrap();
        if rest.starts_with("//") {
            self.comment();
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
            self.take(end);
        } else if let Some(hashes) = raw_string(rest) {
            self.raw_string(hashes);
        } else if next == '"' {
            self.string();
        } else if next == '\'' {
            self.take(character(rest));
        } else if next.is_alphabetic() || next == '_' {
            self.identifier();
        } else {
            self.take(next.len_utf8());
        }
    }

    /// A comment line; it continues the one on the line before.
    fn comment(&mut self) {
        let line = self.line;
        let rest = self.rest();
        let comment = self.take(rest.find('\n').unwrap_or(rest.len()));
        let is_doc = comment.starts_with("//!") || comment.starts_with("///") && !comment.starts_with("////");
        let (kind, text) = if is_doc { (Kind::Doc, &comment[3..]) } else { (Kind::Comment, &comment[2..]) };
        match self.tokens.last_mut() {
            Some(last) if last.kind == kind && last.line + last.text.lines().count() == line => {
                last.text.push_str(text);
                last.text.push('\n');
            }
            _ => self.push(kind, line, format!("{text}\n")),
        }
    }

    fn string(&mut self) {
        let line = self.line;
        let mut is_escaped = false;
        let end = self.rest().char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            ends
        });
        let end = end.map_or(self.rest().len(), |(at, _)| at + 1);
        let text = self.take(end).trim_matches('"').replace("\\n", "  ").replace('\\', " ");
        self.push(Kind::Text, line, text);
    }

    fn raw_string(&mut self, hashes: usize) {
        let line = self.line;
        let start = self.rest().find('"').unwrap() + 1;
        let end = format!("\"{}", "#".repeat(hashes));
        let length = self.rest()[start..].find(&end).map_or(self.rest().len(), |at| start + at + end.len());
        let text = self.take(length)[start..].to_owned();
        self.push(Kind::Text, line, text);
    }

    fn identifier(&mut self) {
        let before = self.text[..self.at].trim_end();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let rest = self.rest();
        let word = self.take(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        let after = self.rest().trim_start();
        let is_path =
            before.ends_with("::") || before.ends_with('.') && !before.ends_with("..") || after.starts_with("::");
        let is_called = after.starts_with('(') || self.last_word == "fn";
        let is_field = self.last_word == "pub" || is_path;
        let kind = if is_called || is_field { Kind::Identifier } else { Kind::Binding };
        word.clone_into(&mut self.last_word);
        self.push(kind, self.line, word.to_owned());
    }
}

/// The number of `#` of the raw string that begins here.
fn raw_string(rest: &str) -> Option<usize> {
    let rest = rest.strip_prefix('b').or_else(|| rest.strip_prefix('c')).unwrap_or(rest).strip_prefix('r')?;
    let inner = rest.trim_start_matches('#');
    inner.starts_with('"').then_some(rest.len() - inner.len())
}

/// The length of a character literal, or of the quote of a lifetime.
fn character(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => rest[3..].find('\'').map_or(1, |at| at + 4),
        Some(_) => characters.next().filter(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 1),
        None => 1,
    }
}

/// The paragraphs of Markdown without blocks of code.
pub fn document(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut is_code = false;
    let mut is_open = false;
    for (at, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || line.trim().is_empty() {
            is_open = false;
        } else if let Some(last) = tokens.last_mut().filter(|_| is_open) {
            last.text.push_str(line);
            last.text.push('\n');
        } else {
            is_open = true;
            tokens.push(Token { kind: Kind::Document, line: at + 1, text: format!("{line}\n"), is_test: false });
        }
    }
    tokens
}

/// The lines of a script, without everything that is no comment.
pub fn only_comments(text: &str) -> String {
    text.lines().map(|line| line.trim_start().strip_prefix('#').unwrap_or_default().to_owned() + "\n").collect()
}

/// The words of an identifier in small letters.
pub fn words_of_identifier(identifier: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in identifier.chars() {
        if c == '_' || c.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = c.is_lowercase() || c.is_numeric();
        if c != '_' {
            words.last_mut().unwrap().extend(c.to_lowercase());
        }
    }
    words
}

/// The words of a text in small letters, with their lines, without what is in backticks or braces. A full stop or another mark
/// between two words does not keep them apart from a phrase that goes over it.
pub fn words_of_prose(token: &Token) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let (mut line, mut is_code, mut depth, mut is_open) = (token.line, false, 0_usize, false);
    for c in token.text.chars() {
        line += usize::from(c == '\n');
        match c {
            '`' => is_code = !is_code,
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let c = if c == '’' { '\'' } else { c };
        let is_part = (c.is_alphanumeric() || c == '\'') && !is_code && depth == 0;
        if is_part && is_open {
            words.last_mut().unwrap().1.extend(c.to_lowercase());
        } else if is_part {
            words.push((line, c.to_lowercase().collect()));
        } else if !c.is_whitespace() && !is_code {
            // A mark ends a phrase.
            words.push((line, String::new()));
        }
        is_open = is_part;
    }
    words
}
