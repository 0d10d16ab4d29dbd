//! An edit of one value.

use std::fmt;

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
    /// ranks. In a list that gets another order, a new item follows the former one before its place.
    Insert {
        /// The new item.
        value: Value,
        /// Its rank.
        rank: usize,
    },
    /// The entry or the item is removed.
    Remove,
    /// The items of a list are put in another order: each of its indices once, as they were before all edits. Edits below the list are
    /// made in the items that they name, wherever these go.
    Reorder(Vec<usize>),
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

/// The reason why an edit is not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The value is an alias of another one.
    Alias,
    /// The value, or one around it, has an anchor that is used elsewhere: the edit would change more than it says.
    Anchor,
    /// The value comes from a merge key.
    Merge,
    /// The value has a tag, such as `!!binary`.
    Tag,
    /// There is no such place: a value on the way to it is neither a mapping nor a list.
    NoPlace,
    /// Another edit sets a value around it as a whole.
    Overlap,
    /// The text is not UTF-8, or the document cannot be read.
    Unreadable,
    /// The text is laid out in a way that is not edited, such as a comment between brackets.
    Layout,
    /// The new text would be read otherwise than it is meant.
    Meaning,
    /// Too many edits of a large file cannot be made: the search for those that can ended early.
    Effort,
}

/// A fragment for messages, such as `its value is an alias`.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alias => "its value is an alias of another value in the file",
            Self::Anchor => "its value has an anchor that is used elsewhere in the file",
            Self::Merge => "its value comes from a merge key (`<<`)",
            Self::Tag => "its value has a YAML tag",
            Self::NoPlace => "the manifest has no place for it",
            Self::Overlap => "another change sets a value around it as a whole",
            Self::Unreadable => "the document is not UTF-8, or cannot be read",
            Self::Layout => "the layout of the file leaves no room for it",
            Self::Meaning => "the file would not be read with this value",
            Self::Effort => "too many changes of this large file cannot be made: choose fewer of them at a time",
        })
    }
}
