use std::fmt;

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
            Self::Unreadable => "the document is not UTF-8, or cannot be read",
            Self::Layout => "the layout of the file leaves no room for it",
            Self::Meaning => "the file would not be read with this value",
            Self::Effort => "too many changes of this large file cannot be made: choose fewer of them at a time",
        })
    }
}
