//! The nodes of a document with their extents in the text.

use super::events::{Extent, Layout};
use super::scan::Style;

/// A node: a scalar, an alias or a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its first byte, with its anchor and tag.
    pub begin: usize,
    /// Its first byte behind its anchor and tag. An empty node is at its end.
    pub at: usize,
    /// Its end. A block collection ends with its last entry, a text with `|` or `>` at the end of its last line.
    pub end: usize,
    /// The number of its anchor, 0 if it has none.
    pub anchor: usize,
    /// True if it has a tag.
    pub is_tagged: bool,
    /// Kind of the node.
    pub kind: Kind,
}

/// Kind of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A scalar.
    Scalar(Style),
    /// An alias, with the number of its anchor.
    Alias(Option<usize>),
    /// A sequence.
    Sequence(Layout, Vec<Item>),
    /// A mapping.
    Mapping(Layout, Vec<Entry>),
}

/// An item of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its first byte: the `-` in a block sequence.
    pub begin: usize,
    /// Its node.
    pub node: Node,
}

/// An entry of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key as JSON has it.
    pub name: Key,
    /// The node of the key.
    pub key: Node,
    /// The offset behind the `:`, if there is one.
    pub colon: Option<usize>,
    /// The node of the value.
    pub value: Node,
}

/// Key of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A text, or a scalar that becomes this text in JSON.
    Text(String),
    /// The merge key `<<`.
    Merge,
    /// An alias, a collection, or a scalar with a tag.
    Unusual,
}

impl Node {
    pub(super) fn new(extent: Extent, kind: Kind) -> Self {
        let Extent { begin, at, end } = extent;
        Self { begin, at, end, anchor: 0, is_tagged: false, kind }
    }

    /// Moves the node by the length of a byte order mark.
    pub(super) fn shift(&mut self, by: usize) {
        if by == 0 {
            return;
        }
        for offset in [&mut self.begin, &mut self.at, &mut self.end] {
            *offset = offset.saturating_add(by);
        }
        match &mut self.kind {
            Kind::Scalar(_) | Kind::Alias(_) => {}
            Kind::Sequence(_, items) => {
                for item in items {
                    item.begin = item.begin.saturating_add(by);
                    item.node.shift(by);
                }
            }
            Kind::Mapping(_, entries) => {
                for entry in entries {
                    entry.colon = entry.colon.map(|colon| colon.saturating_add(by));
                    entry.key.shift(by);
                    entry.value.shift(by);
                }
            }
        }
    }
}
