//! An edit of one value.

use serde_json::Value;

/// One step of a path into a document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The value of a key.
    Key(String),
    /// An item of a list, from 0.
    Index(usize),
}

/// An edit of one value.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The value is set, and added if there is none.
    Set(Value),
    /// A new item is put before this one of a list, or behind the last one. Items that are put at one place are in the order of their
    /// ranks.
    Insert {
        /// The new item.
        value: Value,
        /// Its rank.
        rank: usize,
    },
    /// The entry or the item is removed.
    Remove,
}

/// An edit of one place in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// The number of the document in the file, from 1, without empty documents.
    pub document: usize,
    /// The place in the document, as it was before all edits.
    pub path: Vec<Step>,
    /// The change.
    pub change: Change,
}
