//! Why an object is not proven to be in sync.

use std::fmt;

use crate::object::FieldPath;

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// We never applied it, or under another name.
    NoEntry,
    /// We applied it in another version of its API.
    OtherVersion(String),
    /// The manifest's fields are not those that are recorded as ours; one of them is named.
    OtherFields(FieldPath),
    /// A value differs.
    Differs(FieldPath),
    /// A null, which means something else in every place.
    Null(FieldPath),
    /// Empty in the manifest, and holds something live that nobody owns, which an apply may remove.
    Emptied(FieldPath),
    /// Not in the live object, and it cannot be told whether the server left it out as empty.
    Absent(FieldPath),
    /// A field in a value that is replaced as a whole, which only the live object has.
    Extra(FieldPath),
    /// Written differently from the live value, and co-owned: the server would see a conflict.
    Respelled(FieldPath),
    /// The server ignores it, but would refuse it if it were not valid, which cannot be told here.
    Ignored(FieldPath),
    /// It differs where the server is known to keep or complete the value itself.
    ServersOwn(FieldPath),
    /// Another owner's claims are to pass to us.
    Adopting,
    /// The record of this owner is of another age of the API: the next apply rewrites it.
    OldRecord(String),
    /// The record of this owner cannot be read.
    Unreadable(String),
}

impl fmt::Display for Unproven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEntry => f.write_str("it was not applied under this field manager"),
            Self::OtherVersion(version) => write!(f, "it was applied as `{version}`"),
            Self::OtherFields(path) => write!(f, "`{path}` is owned or in the manifest, not both"),
            Self::Differs(path) => write!(f, "`{path}` differs"),
            Self::Null(path) => write!(f, "`{path}` is null"),
            Self::Emptied(path) => write!(f, "`{path}` is empty in the manifest, but not in the live object"),
            Self::Absent(path) => write!(f, "`{path}` is not in the live object"),
            Self::Extra(path) => write!(f, "`{path}` is only in the live object"),
            Self::Respelled(path) => write!(f, "`{path}` is written differently and also has another owner"),
            Self::Ignored(path) => write!(f, "`{path}` is left to the server, which may not accept it"),
            Self::ServersOwn(path) => write!(f, "`{path}` differs, and the server may change it"),
            Self::Adopting => f.write_str("a manager to adopt owns fields of it"),
            Self::OldRecord(manager) => write!(f, "the fields of `{manager}` are recorded in an old form"),
            Self::Unreadable(manager) => write!(f, "the fields of `{manager}` cannot be read"),
        }
    }
}
