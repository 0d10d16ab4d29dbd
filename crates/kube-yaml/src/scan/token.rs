use std::borrow::Cow;

use crate::advance::Advance as _;

/// A place in the text of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The offset in bytes.
    pub at: usize,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 0.
    pub column: u32,
}

impl Spot {
    /// The place some characters of one byte each further on the line.
    pub(crate) fn behind(mut self, length: usize) -> Self {
        self.at.advance(length);
        self.column.advance(index(length));
        self
    }
}

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

/// What the tag of a node says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// `!`.
    NonSpecific,
    /// One of YAML's own, by its name (`!!name`).
    Core(String),
    /// One with a handle that is not declared.
    Undeclared,
    /// Any other.
    Other,
}

/// A text in quotes.
#[derive(Clone, Copy)]
pub(crate) struct Quoted {
    /// The offset of the opening quote.
    pub at: usize,
    /// The offset behind the closing one.
    pub end: usize,
    pub style: Style,
}

/// A token and where it begins.
pub(crate) struct Token<'t> {
    pub spot: Spot,
    pub kind: TokenKind<'t>,
}

/// What a token is.
pub(crate) enum TokenKind<'t> {
    DocumentStart,
    DocumentEnd,
    StreamEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    /// With whether the name is one that an anchor can have.
    Alias(&'t str, bool),
    Anchor(&'t str),
    /// With its length.
    Tag(Tag, usize),
    /// With the place where its content begins: for `|` and `>` that is on a later line.
    Scalar(Cow<'t, str>, Style, Spot),
}

/// The column of a spot, as the indentation of blocks is counted.
pub(super) fn column(spot: Spot) -> i32 {
    i32::try_from(spot.column).unwrap_or(i32::MAX)
}

/// Documents are bounded far below what 32 bits count.
pub(super) fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
