//! Reads YAML and JSON exactly as kubectl does, with the line and column of every key and value.
//!
//! kubectl reads with `apimachinery/pkg/util/yaml`, `sigs.k8s.io/yaml` and `go.yaml.in/yaml/v2`: YAML 1.1 with their
//! own corner cases. `0644` is 420, `yes` is true, `on` as a key is `true`, and a stream is cut at lines that begin
//! with `---` before any YAML is parsed. Parsers of YAML 1.2 read such files differently, and none of them returns the
//! positions of values.
//!
//! ```
//! use kube_yaml::{Mark, Severity, Step, Validation, read};
//!
//! let input = b"mode: 0644\nenabled: yes\nports: [80, 443]\n---\nname: a\nname: b\n";
//! let stream = read(input, Validation::Strict);
//!
//! // The first document, as JSON.
//! let document = &stream.documents[0];
//! assert_eq!(document.value, serde_json::json!({"mode": 420, "enabled": true, "ports": [80, 443]}));
//! let second_port = document.positions.value_at(&[Step::Key("ports"), Step::Index(1)]);
//! assert_eq!(second_port, Some(Mark { line: 3, column: 13 }));
//!
//! // The second one loses a value without notice in kubectl. Here it is refused, unless the caller asks for `Validation::Warn`.
//! assert_eq!(stream.documents.len(), 1);
//! let diagnostic = &stream.diagnostics[0];
//! assert_eq!(diagnostic.severity, Severity::Lossy);
//! assert_eq!(diagnostic.message, "the key `name` is set twice in this mapping");
//! assert_eq!((diagnostic.mark.line, diagnostic.also.map(|first| first.line)), (6, Some(5)));
//! ```
//!
//! # Large and hostile inputs
//!
//! Nesting ([`MAX_DEPTH`]), documents ([`MAX_DOCUMENT`]), inputs ([`MAX_INPUT`]) and expanded aliases ([`AliasBudget`])
//! are bounded, and time and memory are linear in the size of the input. A [`Chunk`] is a run of documents that can be
//! read independently, so that several threads can share one input.
//!
//! # How it reads
//!
//! ```text
//! bytes ─▶ stream (documents as kubectl splits them) ─┬─▶ json ──────────────────────────────┐
//!                                                     └─▶ scan ─▶ events ─▶ compose (YAML) ──┴─▶ Document
//!                               tokens   nodes     scalar · mapping · anchors      value + positions
//! ```
//!
//! Each step corresponds to the step of the same name in go-yaml.

// What others wrote is read here: a wrong index or sum must not end the program. Some modules index by positions in one text, and every
// loop of theirs ends with it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
#![cfg_attr(test, allow(clippy::unreachable, clippy::string_slice))]

mod anchors;
#[cfg_attr(not(test), expect(clippy::indexing_slicing, reason = "positions in one text: fuzzed"))]
mod chunk;
mod collector;
mod compose;
mod diagnostics;
mod document;
mod events;
#[cfg_attr(not(test), expect(clippy::indexing_slicing, reason = "positions in one text: fuzzed"))]
mod json;
mod mapping;
mod outline;
#[cfg_attr(not(test), expect(clippy::indexing_slicing, reason = "positions in one text: fuzzed"))]
mod positions;
mod scalar;
#[cfg_attr(not(test), expect(clippy::indexing_slicing, reason = "positions in one text: fuzzed"))]
mod scan;
#[cfg_attr(not(test), expect(clippy::indexing_slicing, reason = "positions in one text: fuzzed"))]
mod stream;
mod syntax;
#[cfg_attr(not(test), expect(clippy::indexing_slicing, reason = "positions in one text: fuzzed"))]
mod text;

use std::ops::Range;

use serde_json::Value;

pub use anchors::AliasBudget;
pub use chunk::Chunk;
pub use events::Layout;
pub use outline::{Entry, Item, Key, Kind, Node, outline};
pub use positions::{Positions, Step};
pub use scalar::{is_text, json_number};
pub use scan::Style;

/// Deepest nesting of mappings and sequences that is read.
pub const MAX_DEPTH: usize = 1_000;
/// Size of the largest document that is read, in bytes.
pub const MAX_DOCUMENT: usize = 8 << 20;
/// Length of the longest comment that is returned, in bytes.
pub const MAX_COMMENT: usize = 1 << 10;
/// Size of the largest input that is read, in bytes.
pub const MAX_INPUT: usize = 1 << 30;

/// Treatment of documents that kubectl would accept with a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Validation {
    /// A document with a loss is refused.
    #[default]
    Strict,
    /// The document is read as kubectl reads it, and the losses are reported.
    Warn,
    /// The document is read as kubectl reads it.
    Ignore,
}

/// A position in the input: line and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Mark {
    /// The first character of an input.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The first character of the next line.
    fn next_line(self) -> Self {
        Self { line: self.line.saturating_add(1), column: 1 }
    }
}

/// One document of a stream.
#[derive(Debug, Clone)]
pub struct Document {
    /// The position in the stream, from 1; empty documents do not count.
    pub number: usize,
    /// Position at which its content starts.
    pub start: Mark,
    /// The value that kubectl reads.
    pub value: Value,
    /// Positions of its keys and values.
    pub positions: Positions,
    /// The comment in the line below the separator, without `#`, up to [`MAX_COMMENT`] bytes. A document of this line alone
    /// leaves it to the next one.
    pub comment: Option<Box<str>>,
    /// Its text, as offsets in the input behind a byte order mark; for an input in UTF-16, in its text.
    pub text: Range<usize>,
    /// The syntax of its text.
    pub syntax: Syntax,
}

/// The syntax in which a document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// A YAML document, which may be written in the style of JSON.
    Yaml,
    /// A JSON value at the beginning of an input.
    Json,
}

/// Effect of a [`SyntaxDiagnostic`] on its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The document cannot be used: kubectl refuses it as well, or it exceeds a bound of this crate.
    Refused,
    /// kubectl accepts the document, but loses a part of it or decides at random.
    Lossy,
}

/// A part of the input that cannot be read, or only with a loss.
///
/// The texts quote keys and structural characters only, never a scalar value, as it may be secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxDiagnostic {
    /// Position of the error.
    pub mark: Mark,
    /// A second position, such as that of the first of two equal keys.
    pub also: Option<Mark>,
    /// One sentence, lowercase, without a full stop.
    pub message: String,
    /// A suggestion to fix it.
    pub hint: Option<String>,
    /// Effect on the document.
    pub severity: Severity,
}

impl SyntaxDiagnostic {
    fn refused(mark: Mark, message: impl Into<String>) -> Self {
        Self { mark, also: None, message: message.into(), hint: None, severity: Severity::Refused }
    }

    fn lossy(mark: Mark, message: impl Into<String>) -> Self {
        Self { severity: Severity::Lossy, ..Self::refused(mark, message) }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn also(mut self, mark: Option<Mark>) -> Self {
        self.also = mark;
        self
    }
}

/// The documents and diagnostics of one input.
#[derive(Debug, Default)]
pub struct Stream {
    /// The documents that can be used, in order.
    pub documents: Vec<Document>,
    /// The diagnostics of the documents, in order.
    pub diagnostics: Vec<SyntaxDiagnostic>,
    /// The unquoted keys that kubectl reads with another text than they are written (`yes`, `0644`), at most a hundred of each document.
    /// Documents are returned with them, as kubectl reads them; the caller decides what they mean. There are none with
    /// [`Validation::Ignore`].
    pub changed_keys: Vec<SyntaxDiagnostic>,
    /// Number of documents that are not empty, including those that cannot be used.
    pub count: usize,
}

/// Reads a whole input: YAML documents, JSON documents, or JSON followed by YAML, as kubectl tells them apart.
///
/// The diagnostics of all documents are collected; a broken document does not hide the others. With
/// [`Validation::Strict`], a document with a diagnostic is not returned. With the others, a document that is only
/// [`Severity::Lossy`] is returned as kubectl reads it.
pub fn read(input: &[u8], validation: Validation) -> Stream {
    Chunk::whole(input).read(validation, &AliasBudget::for_input(input.len()))
}
