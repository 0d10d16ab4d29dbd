//! Splits an input into documents as kubectl does (`apimachinery/pkg/util/yaml/decoder.go`): an input that starts with
//! `{` is a sequence of JSON values, until one of the first two is not JSON; the rest is cut at lines that begin with
//! `---`, before any YAML is parsed.

use std::ops::Range;
use std::sync::Arc;

use super::anchors::AliasBudget;
use super::collector::Collector;
use super::diagnostics::too_large;
use super::document::Content;
use super::positions::Keys;
use super::text::{self, Cursor};
use super::{
    Document, MAX_COMMENT, MAX_DOCUMENT, MAX_INPUT, Mark, Severity, Stream, Syntax, SyntaxDiagnostic, Validation,
};
use super::{document, json};
use crate::text::Advance as _;

/// Number of bytes in which kubectl looks for the brace that makes an input JSON.
const GUESS_LENGTH: usize = 4096;
/// Beginning of a line between two documents.
pub(super) const SEPARATOR: &[u8] = b"---";

/// The state of reading one input.
struct Reader<'b> {
    validation: Validation,
    budget: &'b AliasBudget,
    keys: Keys,
    /// The documents that were read so far.
    stream: Stream,
    /// The comment of the document above, if it has no other line.
    comment_above: Option<Box<str>>,
}

pub(super) fn read(input: &[u8], validation: Validation, budget: &AliasBudget) -> Stream {
    let mut reader = Reader::new(validation, budget);
    if input.len() > MAX_INPUT {
        reader.stream.diagnostics.push(
            SyntaxDiagnostic::refused(Mark::START, "the input is larger than 1 GiB")
                .hint("split it into several inputs"),
        );
    } else {
        match text::decode_utf16(input) {
            Some(Ok(text)) => reader.input(text.as_bytes()),
            Some(Err(diagnostic)) => reader.stream.diagnostics.push(diagnostic),
            None => reader.input(input.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(input)),
        }
    }
    reader.finish()
}

/// Reads YAML documents; the first one begins at `start`.
pub(super) fn read_documents(text: &[u8], start: Mark, validation: Validation, budget: &AliasBudget) -> Stream {
    let mut reader = Reader::new(validation, budget);
    reader.yaml(text, start, 0);
    reader.finish()
}

/// Returns true if an input is YAML from its start on, in UTF-8.
pub(super) fn is_yaml(input: &[u8]) -> bool {
    let text = input.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(input);
    !matches!(input, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) && !starts_like_json(text)
}

/// Returns true if a line is one that separates documents.
pub(super) fn is_separator(line: &[u8]) -> bool {
    line.strip_prefix(SEPARATOR).is_some_and(is_blank_or_comment)
}

/// Returns true if the first character that is not white space is a brace (`GuessJSONStream`).
fn starts_like_json(input: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(&input[..input.len().min(GUESS_LENGTH)]);
    beginning.trim_start().starts_with('{')
}

impl<'b> Reader<'b> {
    fn new(validation: Validation, budget: &'b AliasBudget) -> Self {
        Self { validation, budget, keys: Keys::default(), stream: Stream::default(), comment_above: None }
    }

    fn input(&mut self, input: &[u8]) {
        if starts_like_json(input) { self.json(input) } else { self.yaml(input, Mark::START, 0) }
    }

    fn json(&mut self, input: &[u8]) {
        let mut scanner = json::Scanner::new(input);
        let mut values = 0_usize;
        loop {
            let mut diagnostics = Collector::default();
            let from = scanner.offset();
            match scanner.next_document(&mut self.keys, &mut diagnostics) {
                Some(Ok(content)) => {
                    values.advance(1);
                    self.add(content, from..scanner.offset(), Syntax::Json, None, diagnostics);
                }
                Some(Err(diagnostic)) => {
                    // After at most one value, the rest may still be YAML; kubectl needs four more bytes to detect it.
                    match after_blank_line(&input[from..]) {
                        Some(rest) if values <= 1 => {
                            let read = input.len().saturating_sub(rest.len());
                            self.yaml(rest, Cursor::new(input, Mark::START).mark(read), read);
                        }
                        _ => self.refuse(diagnostic),
                    }
                    return;
                }
                None => return,
            }
        }
    }

    /// Reads YAML documents. `before` is the number of bytes of the input before them.
    fn yaml(&mut self, input: &[u8], start: Mark, before: usize) {
        let mut mark = start;
        // The first line of the document.
        let (mut from, mut first) = (0, start);
        let mut at = 0;
        let mut skipping = false;
        while at < input.len() {
            let rest = &input[at..];
            let length = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end.saturating_add(1));
            let line = &rest[..length];
            let end = at.saturating_add(length);
            if let Some(rest) = line.strip_prefix(SEPARATOR) {
                let is_separator = is_blank_or_comment(rest);
                // A separator at the beginning of a document belongs to it.
                if !is_separator || skipping || at > from {
                    if !skipping {
                        self.document(&input[from..at], first, before.saturating_add(from));
                    }
                    if !is_separator && !skipping {
                        self.refuse(bad_separator(mark, rest));
                        self.comment_above = None;
                    }
                    (from, first, skipping) = (end, mark.next_line(), !is_separator);
                }
            }
            at = end;
            mark = mark.next_line();
        }
        if !skipping {
            self.document(&input[from..], first, before.saturating_add(from));
        }
    }

    /// Reads the text between two separators, which begins at an offset, unless the budget is exhausted.
    fn document(&mut self, bytes: &[u8], start: Mark, from: usize) {
        if self.budget.is_exhausted() {
            return;
        }
        if bytes.len() > MAX_DOCUMENT {
            return self.refuse(too_large(start));
        }
        let mut diagnostics = Collector::default();
        let content = document::read(bytes, start, self.budget, &mut self.keys, &mut diagnostics);
        let own = comment(bytes);
        let above = self.comment_above.take();
        let text = from..from.saturating_add(bytes.len());
        let has_content = self.add(content, text, Syntax::Yaml, own.clone().or(above), diagnostics);
        self.comment_above = own.filter(|_| !has_content && is_one_line(bytes));
    }

    /// Counts a document, and keeps it if it can be used. Returns false if it is empty.
    fn add(
        &mut self,
        content: Content,
        text: Range<usize>,
        syntax: Syntax,
        comment: Option<Box<str>>,
        mut found: Collector,
    ) -> bool {
        if content.value.is_none() && found.diagnostics.is_empty() {
            return false;
        }
        self.stream.count.advance(1);
        if self.validation == Validation::Ignore {
            found.diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Refused);
            found.changed_keys.clear();
        }
        let refused = match self.validation {
            Validation::Strict => !found.diagnostics.is_empty(),
            Validation::Warn | Validation::Ignore => found.is_refused(),
        };
        self.stream.diagnostics.append(&mut found.diagnostics);
        self.stream.changed_keys.append(&mut found.changed_keys);
        if let Some(value) = content.value.filter(|_| !refused) {
            let number = self.stream.count;
            let start = content.start;
            let positions = content.nodes.seal(&mut self.keys);
            self.stream.documents.push(Document { number, start, value, positions, comment, text, syntax });
        }
        true
    }

    fn refuse(&mut self, diagnostic: SyntaxDiagnostic) {
        self.stream.count.advance(1);
        self.stream.diagnostics.push(diagnostic);
    }

    fn finish(mut self) -> Stream {
        let keys = self.keys.finish();
        for document in &mut self.stream.documents {
            document.positions.keys = Arc::clone(&keys);
        }
        self.stream
    }
}

fn is_blank_or_comment(rest: &[u8]) -> bool {
    let rest = String::from_utf8_lossy(rest);
    let rest = rest.trim();
    rest.is_empty() || rest.starts_with('#')
}

/// The comment in the first line below the separators, without `#` and white space around it.
fn comment(document: &[u8]) -> Option<Box<str>> {
    let line = below_separators(document).strip_prefix(b"#")?.split(|byte| *byte == b'\n').next()?;
    let line = line.get(..=MAX_COMMENT).map_or(Some(line), |_| None)?;
    str::from_utf8(line).ok().map(|line| line.trim().into())
}

fn is_one_line(document: &[u8]) -> bool {
    let text = below_separators(document);
    !text.strip_suffix(b"\n").unwrap_or(text).contains(&b'\n')
}

/// The text below the separators that belong to a document: the first one of an input, and those directly below another.
fn below_separators(mut document: &[u8]) -> &[u8] {
    while let Some(rest) = document.strip_prefix(SEPARATOR) {
        document = rest
            .iter()
            .position(|byte| *byte == b'\n')
            .and_then(|end| rest.get(end.saturating_add(1)..))
            .unwrap_or_default();
    }
    document
}

/// The input behind the white space that kubectl skips between JSON and YAML: up to a line break, inclusive. `None` if
/// the input ends within the four bytes it reads ahead.
fn after_blank_line(mut rest: &[u8]) -> Option<&[u8]> {
    loop {
        let text = String::from_utf8_lossy(rest.get(..4)?);
        match text.chars().next()? {
            '\n' => return rest.strip_prefix(b"\n"),
            '\u{FFFD}' => return None,
            space if space.is_whitespace() => rest = rest.get(space.len_utf8()..)?,
            _ => return Some(rest),
        }
    }
}

fn bad_separator(mark: Mark, rest: &[u8]) -> SyntaxDiagnostic {
    if rest.starts_with(b"-") {
        SyntaxDiagnostic::refused(mark, "a line that begins with `---` separates documents and cannot have more dashes")
            .hint("if the line belongs to a text such as a certificate, indent it further than the key of the text")
    } else {
        SyntaxDiagnostic::refused(mark, "only a comment may follow `---` on its line")
            .hint("start the document on the next line")
    }
}
