//! Reasons for which an object is not proven to be in sync.

use std::fmt;

use crate::object::FieldPath;

/// Reason for which there is no proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// We have no Apply entry: we never applied the object, or under another name.
    NoEntry,
    /// We applied the object in another version of its API.
    OtherVersion(String),
    /// The fields of the manifest are not those of our entry; one of them is named.
    OtherFields(FieldPath),
    /// A value differs.
    Differs(FieldPath),
    /// A null, whose meaning depends on the field.
    Null(FieldPath),
    /// An empty map or list whose live entries nobody owns, so that an apply may remove them.
    Emptied(FieldPath),
    /// Not in the live object, and it is unknown whether the server left it out as empty.
    Absent(FieldPath),
    /// A field in a value that is replaced as a whole, which only the live object has.
    Extra(FieldPath),
    /// Written differently from the live value, and co-owned: the server would report a conflict.
    Respelled(FieldPath),
    /// The server ignores the value, but would reject it if it were invalid, which is unknown here.
    Ignored(FieldPath),
    /// The value differs, but the server is known to keep or complete it itself.
    ServersOwn(FieldPath),
    /// Claims of another owner have to pass to us.
    Adopting,
    /// The entry of this owner is in an outdated form: the next apply rewrites it.
    OldRecord(String),
    /// The entry of this owner cannot be read.
    Unreadable(String),
}

impl fmt::Display for Unproven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEntry => f.write_str("it was not applied under this field manager"),
            Self::OtherVersion(version) => write!(f, "it was applied as `{version}`"),
            Self::OtherFields(path) => write!(f, "`{path}` is either owned or in the manifest, but not both"),
            Self::Differs(path) => write!(f, "`{path}` differs"),
            Self::Null(path) => write!(f, "`{path}` is null"),
            Self::Emptied(path) => write!(f, "`{path}` is empty in the manifest, but not in the live object"),
            Self::Absent(path) => write!(f, "`{path}` is not in the live object"),
            Self::Extra(path) => write!(f, "`{path}` is only in the live object"),
            Self::Respelled(path) => write!(f, "`{path}` is written differently and also has another owner"),
            Self::Ignored(path) => write!(f, "`{path}` is left to the server, which may not accept it"),
            Self::ServersOwn(path) => write!(f, "`{path}` differs, and the server may change it"),
            Self::Adopting => f.write_str("a manager in `--adopt` owns some of its fields"),
            Self::OldRecord(manager) => write!(f, "the fields of `{manager}` are recorded in an old form"),
            Self::Unreadable(manager) => write!(f, "the fields of `{manager}` cannot be read"),
        }
    }
}
