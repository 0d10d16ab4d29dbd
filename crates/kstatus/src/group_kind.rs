//! Kind of an object.

/// The group and the kind of an object; versions do not matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupKindRef<'a> {
    /// The API group, empty for the core group.
    pub group: &'a str,
    /// The kind, as in `Deployment`.
    pub kind: &'a str,
}

impl<'a> GroupKindRef<'a> {
    /// A kind of a group.
    pub const fn new(group: &'a str, kind: &'a str) -> Self {
        Self { group, kind }
    }
}
