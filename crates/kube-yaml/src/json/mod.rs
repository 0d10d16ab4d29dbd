//! JSON values in sequence, as Go's `encoding/json` and `sigs.k8s.io/json` read them.

mod token;

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use crate::collector::Collector;
use crate::diagnostics::too_large;
use crate::document::Content;
use crate::positions::{Edge, Keys, Nodes};
use crate::text::{Advance as _, Cursor};
use crate::{MAX_DEPTH, MAX_DOCUMENT, Mark, Severity, SyntaxDiagnostic, diagnostics, mapping};

/// Reads the JSON values of an input in sequence.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    cursor: Cursor<'a>,
}

/// A collection that is still open.
enum Frame {
    Array { node: u32, items: Vec<Value> },
    Object { node: u32, entries: Map<String, Value>, key: String, key_mark: Mark },
}

/// Reason for which a value is not read to its end.
enum Stop {
    /// The text is not JSON.
    Syntax(SyntaxDiagnostic),
    /// A bound is exceeded; the value has to be skipped.
    Bound(SyntaxDiagnostic),
}

impl From<SyntaxDiagnostic> for Stop {
    fn from(diagnostic: SyntaxDiagnostic) -> Self {
        Self::Syntax(diagnostic)
    }
}

/// The document that is being read.
struct Document<'a> {
    start: usize,
    frames: Vec<Frame>,
    nodes: Nodes,
    keys: &'a mut Keys,
    diagnostics: &'a mut Collector,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, cursor: Cursor::new(bytes, Mark::START) }
    }

    /// Offset at which the last value ended.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// The next value; an error if the input continues with something else than JSON, and `None` at the end. `null` is
    /// an empty document.
    pub(crate) fn next_document(
        &mut self,
        keys: &mut Keys,
        diagnostics: &mut Collector,
    ) -> Option<Result<Content, SyntaxDiagnostic>> {
        self.skip_blank();
        self.peek()?;
        let start = self.here();
        let mut document = Document { start: self.at, frames: Vec::new(), nodes: Nodes::new(keys), keys, diagnostics };
        let value = match self.value(&mut document) {
            Ok(Value::Null) => None,
            Ok(value) => Some(value),
            Err(Stop::Syntax(diagnostic)) => return Some(Err(diagnostic)),
            Err(Stop::Bound(diagnostic)) => {
                if let Err(diagnostic) = self.skip(document.frames.len()) {
                    return Some(Err(diagnostic));
                }
                document.diagnostics.add(diagnostic);
                None
            }
        };
        let nodes = document.nodes;
        Some(Ok(Content { value, start, nodes }))
    }

    fn value(&mut self, document: &mut Document) -> Result<Value, Stop> {
        loop {
            let mut done = self.start_value(document)?;
            // Add a finished value to its collection, which may be finished then as well.
            while let Some(value) = done {
                match self.finish_value(document, value)? {
                    ControlFlow::Break(value) => return Ok(value),
                    ControlFlow::Continue(next) => done = next,
                }
            }
        }
    }

    /// Reads a scalar, or opens a collection. Returns `None` for a collection that is not empty.
    fn start_value(&mut self, document: &mut Document) -> Result<Option<Value>, Stop> {
        self.skip_blank();
        let mark = self.here();
        if self.at.saturating_sub(document.start) > MAX_DOCUMENT {
            return Err(Stop::Bound(too_large(Mark::START)));
        }
        let edge = match document.frames.last() {
            Some(Frame::Object { key, key_mark, .. }) => Edge::Entry(key, *key_mark),
            _ => Edge::Item,
        };
        let node = document.nodes.open(document.keys, edge, mark);
        let value = match self.peek() {
            Some(b'{' | b'[') if document.frames.len() == MAX_DEPTH => {
                return Err(Stop::Bound(diagnostics::too_deep(mark)));
            }
            Some(b'{') => {
                self.at.advance(1);
                if self.take_after_blank(b'}') {
                    return Ok(Some(Value::Object(Map::new())));
                }
                document.frames.push(Frame::Object { node, entries: Map::new(), key: String::new(), key_mark: mark });
                self.key(document)?;
                return Ok(None);
            }
            Some(b'[') => {
                self.at.advance(1);
                if self.take_after_blank(b']') {
                    return Ok(Some(Value::Array(Vec::new())));
                }
                document.frames.push(Frame::Array { node, items: Vec::new() });
                return Ok(None);
            }
            Some(b'"') => Value::String(self.string(document.diagnostics)?),
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            Some(b'-' | b'0'..=b'9') => self.number(document.diagnostics)?,
            _ => return Err(self.unexpected("a value").into()),
        };
        Ok(Some(value))
    }

    /// Adds a value to the innermost open collection; breaks with it if there is none.
    fn finish_value(
        &mut self,
        document: &mut Document,
        value: Value,
    ) -> Result<ControlFlow<Value, Option<Value>>, Stop> {
        let Some(frame) = document.frames.last_mut() else { return Ok(ControlFlow::Break(value)) };
        self.skip_blank();
        let (close, node) = match frame {
            Frame::Array { node, items } => {
                items.push(value);
                (b']', *node)
            }
            Frame::Object { node, entries, key, .. } => {
                entries.insert(std::mem::take(key), value);
                (b'}', *node)
            }
        };
        match self.peek() {
            Some(b',') => {
                self.at.advance(1);
                if close == b'}' {
                    self.key(document)?;
                }
                Ok(ControlFlow::Continue(None))
            }
            Some(byte) if byte == close => {
                self.at.advance(1);
                document.nodes.close(node);
                Ok(ControlFlow::Continue(document.frames.pop().map(|frame| match frame {
                    Frame::Array { mut items, .. } => {
                        items.shrink_to_fit();
                        Value::Array(items)
                    }
                    Frame::Object { entries, .. } => Value::Object(entries),
                })))
            }
            _ => Err(self.unexpected(if close == b'}' { "`,` or `}`" } else { "`,` or `]`" }).into()),
        }
    }

    /// Reads a key and its colon.
    fn key(&mut self, document: &mut Document) -> Result<(), Stop> {
        self.skip_blank();
        let mark = self.here();
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes").into());
        }
        let text = self.string(document.diagnostics)?;
        if !self.take_after_blank(b':') {
            return Err(self.unexpected("`:`").into());
        }
        if let Some(Frame::Object { node, entries, key, key_mark }) = document.frames.last_mut() {
            if entries.contains_key(&text) && document.diagnostics.has_room(Severity::Lossy) {
                let first = document.nodes.key_in(document.keys, *node, &text);
                document.diagnostics.add(mapping::duplicate(mark, first, &text));
            }
            (*key, *key_mark) = (text, mark);
        }
        Ok(())
    }

    /// Skips the rest of a value with `open` open collections.
    fn skip(&mut self, mut open: usize) -> Result<(), SyntaxDiagnostic> {
        loop {
            match self.peek() {
                None => return Err(self.unexpected("the end of the value")),
                Some(b'"') => {
                    self.at.advance(1);
                    while let Some(byte) = self.peek().filter(|byte| *byte != b'"') {
                        self.at.advance(if byte == b'\\' { 2 } else { 1 });
                    }
                }
                Some(b'{' | b'[') => open.advance(1),
                Some(b'}' | b']') => open = open.saturating_sub(1),
                Some(_) => {}
            }
            self.at.advance(1);
            self.at = self.at.min(self.bytes.len());
            if open == 0 {
                return Ok(());
            }
        }
    }

    fn skip_blank(&mut self) {
        let blank = self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
        self.at.advance(blank);
    }

    /// The input that is not read yet.
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at.advance(usize::from(found));
        found
    }

    fn take_after_blank(&mut self, byte: u8) -> bool {
        self.skip_blank();
        self.take(byte)
    }

    fn here(&mut self) -> Mark {
        self.cursor.mark(self.at)
    }

    fn unexpected(&mut self, expected: &str) -> SyntaxDiagnostic {
        let mark = self.here();
        let end = self.peek().is_none();
        let found = if end { "the input ends where JSON needs" } else { "JSON needs" };
        SyntaxDiagnostic::refused(mark, format!("{found} {expected}{}", if end { "" } else { " here" }))
    }
}
