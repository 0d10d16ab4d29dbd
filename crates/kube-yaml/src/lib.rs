//! Reads YAML and JSON exactly as kubectl does, with the line and column of every key and value.
//!
//! kubectl reads with `apimachinery/pkg/util/yaml`, `sigs.k8s.io/yaml` and `go.yaml.in/yaml/v2`: YAML 1.1 with corners of their
//! own. `0644` is 420, `yes` is true, `on` as a key is `true`, and a stream is cut at lines that begin with `---` before any YAML
//! is understood. Parsers of YAML 1.2 read such files differently, and none of them says where a value is.
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
//! Nesting ([`MAX_DEPTH`]), documents ([`MAX_DOCUMENT`]), inputs ([`MAX_INPUT`]) and what aliases expand to ([`AliasBudget`]) are
//! bounded, and time and memory grow with the input and no faster. A [`Chunk`] is a run of documents that can be read by itself,
//! so that several threads can share one input.
//!
//! # How it reads
//!
//! ```text
//! bytes ─▶ stream (documents as kubectl splits them) ─┬─▶ json ──────────────────────────────┐
//!                                                     └─▶ scan ─▶ events ─▶ compose (YAML) ──┴─▶ Document
//!                               tokens   nodes     scalar · mapping · anchors      value + positions
//! ```
//!
//! Each step does what the one of the same name does in go-yaml.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::string_slice,
        clippy::arithmetic_side_effects
    )
)]
#![cfg_attr(
    not(test),
    expect(
        clippy::indexing_slicing,
        reason = "the scanner works on positions in one text, and every loop over it is bounded by its end: fuzzed, see `fuzz/`"
    )
)]

mod advance;
mod anchors;
mod budget;
mod chunk;
mod collector;
mod compose;
mod content;
mod diagnostics;
mod document;
mod events;
mod json;
mod mapping;
mod number;
mod positions;
mod scalar;
mod scan;
mod stream;
mod syntax;
mod text;

use serde_json::Value;

pub use budget::AliasBudget;
pub use chunk::Chunk;
pub use number::json_number;
pub use positions::{Positions, Step};

/// The deepest nesting of mappings and sequences that is read.
pub const MAX_DEPTH: usize = 1_000;
/// The largest document that is read, in bytes.
pub const MAX_DOCUMENT: usize = 8 << 20;
/// The largest input that is read, in bytes.
pub const MAX_INPUT: usize = 1 << 30;

/// How strictly input that kubectl would accept with a loss is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Validation {
    /// A document that loses something is refused.
    #[default]
    Strict,
    /// The document is read as kubectl reads it, and the losses are reported.
    Warn,
    /// The document is read as kubectl reads it.
    Ignore,
}

/// A place in the input: line and column, both from 1, the column in characters.
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
    /// The position in the stream, from 1, advance the documents that are not empty.
    pub number: usize,
    /// Where its content starts.
    pub start: Mark,
    /// What kubectl reads.
    pub value: Value,
    /// Where its parts are.
    pub positions: Positions,
}

/// What a [`SyntaxDiagnostic`] means for the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// kubectl refuses the document too, or a bound of this program is exceeded.
    Refused,
    /// kubectl accepts the document, but loses a part of it or decides at random.
    Lossy,
}

/// Something in the input that cannot be read, or not without a loss.
///
/// The texts name keys and structural signs only, never a scalar value: it may be secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxDiagnostic {
    /// Where it is.
    pub mark: Mark,
    /// The second place that is involved, such as the first of two equal keys.
    pub also: Option<Mark>,
    /// One sentence, lowercase, without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What it means for the document.
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

/// Everything that was read from one input.
#[derive(Debug, Default)]
pub struct Stream {
    /// The documents that can be used, in order.
    pub documents: Vec<Document>,
    /// What is wrong with the documents, in order.
    pub diagnostics: Vec<SyntaxDiagnostic>,
    /// How many documents are not empty, those that cannot be used included.
    pub count: usize,
}

/// Reads a whole input: YAML documents, JSON documents, or JSON followed by YAML, as kubectl tells them apart.
///
/// The problems of all documents are collected; a broken document does not hide the others. Under [`Validation::Strict`] a
/// document with a problem is not returned, under the others one that is merely [`Severity::Lossy`] is, read as kubectl
/// reads it.
#[must_use]
pub fn read(input: &[u8], validation: Validation) -> Stream {
    Chunk::whole(input).read(validation, &AliasBudget::for_input(input.len()))
}
