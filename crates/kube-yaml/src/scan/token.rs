//! Tokens and their positions, the keys that they may be, and classes of characters.

use std::borrow::Cow;

use crate::text::Advance as _;

/// A position in the text of a document.
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
    /// The position `length` characters further on the line, each of one byte.
    pub(crate) fn behind(mut self, length: usize) -> Self {
        self.at.advance(length);
        self.column.advance(index(length));
        self
    }
}

/// Style in which a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// `'text'`
    SingleQuoted,
    /// `"text"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// Kind of the tag of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// `!`.
    NonSpecific,
    /// A tag of YAML itself, by its name (`!!name`).
    Core(String),
    /// A tag with a handle that is not declared.
    Undeclared,
    /// Any other tag.
    Other,
}

/// A quoted text.
#[derive(Clone, Copy)]
pub(crate) struct Quoted {
    /// The offset of the opening quote.
    pub at: usize,
    /// The offset behind the closing quote.
    pub end: usize,
    pub style: Style,
}

/// A token and the position of its beginning.
pub(crate) struct Token<'t> {
    pub spot: Spot,
    pub kind: TokenKind<'t>,
}

/// Kind of a token.
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
    /// An alias with its name; true if an anchor can have this name.
    Alias(&'t str, bool),
    Anchor(&'t str),
    /// A tag with its length.
    Tag(Tag, usize),
    /// A scalar with its style, the position of its content, which is on a later line for `|` and `>`, and the offset of its end.
    Scalar(Cow<'t, str>, Style, Spot, usize),
}

/// The column of a spot, as the indentation of blocks is counted.
pub(super) fn column(spot: Spot) -> i32 {
    i32::try_from(spot.column).unwrap_or(i32::MAX)
}

/// Converts a length to 32 bits; the bound of documents is far below.
pub(super) fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Length of the longest key up to its colon, in characters, if no `?` precedes it.
pub(crate) const MAX_KEY: usize = 1024;

/// A token that is a key if a `:` follows it.
#[derive(Clone, Copy)]
pub(super) struct SimpleKey {
    /// True if the token has to be a key.
    pub required: bool,
    pub spot: Spot,
}

/// The block, or a collection in brackets inside it.
pub(super) struct Level {
    pub key: Option<SimpleKey>,
    /// The number of the key's token, or of the token where the last key could have been.
    pub token: usize,
}

/// Characters that are line breaks in YAML 1.1 only.
pub(super) const OLD_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// Characters of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Characters {
    /// Only ASCII: a character is a byte.
    Ascii,
    /// Characters of several bytes as well.
    Wide,
    /// [`OLD_BREAKS`] as well.
    OldBreaks,
}

impl Characters {
    pub(super) fn of(text: &str) -> Self {
        match text {
            text if text.is_ascii() => Self::Ascii,
            text if text.contains(OLD_BREAKS) => Self::OldBreaks,
            _ => Self::Wide,
        }
    }
}

pub(super) fn is_blank_or_break(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
