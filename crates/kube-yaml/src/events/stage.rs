//! Where in its collections the parser is.

/// What may come next, one for each collection that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    DocumentStart,
    /// Behind the root.
    DocumentEnd,
    BlockEntry,
    /// An entry of a sequence that is no deeper than its key.
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
    /// The value of a key that has none, as no `:` follows or is known to follow.
    NoFlowValue,
}

/// What is before the next entry in brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// The bracket.
    Bracket,
    /// An entry with a `:`, or an item.
    Entry,
    /// A key without a `:`.
    Bare,
}
