//! States of the parser.

/// State of an open collection: the next expected node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    DocumentStart,
    /// Behind the root.
    DocumentEnd,
    BlockEntry,
    /// An entry of a sequence that is not indented more than its key.
    IndentlessEntry,
    BlockKey,
    BlockValue,
    FlowEntry(Flow),
    /// The key of a single pair in a sequence in brackets, its value, and its end.
    PairKey,
    PairValue,
    PairEnd,
    FlowKey(Flow),
    FlowValue,
    /// The empty value of a key without a `:`, or without a known one.
    NoFlowValue,
}

/// Text before the next entry in brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// The bracket.
    Bracket,
    /// An entry with a `:`, or an item.
    Entry,
    /// A key without a `:`.
    Bare,
}
