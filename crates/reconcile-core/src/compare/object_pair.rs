//! What is judged: a manifest and its live object.

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, GroupVersionKind, ManagedObject, TypeRef};

/// One object as it is wanted and as it is.
#[derive(Clone, Copy, Debug)]
pub struct ObjectPair<'a> {
    /// Its type.
    pub gvk: &'a GroupVersionKind,
    /// Each group and version in which kinds of its name are served.
    pub versions: &'a [String],
    /// The object as it is sent.
    pub manifest: &'a Value,
    /// The manifest with what rules ignore, for what is secret in it.
    pub written: &'a Value,
    /// What rules ignore: nothing of it is a difference.
    pub ignored: &'a FieldSet,
    /// The live object and its owners.
    pub live: &'a ManagedObject,
    /// The type's fields.
    pub schema: TypeRef<'a>,
    /// Whether `status` belongs to a subresource.
    pub status_is_apart: bool,
}

impl ObjectPair<'_> {
    /// Returns true if a rule ignores all of what is at a path.
    pub(super) fn ignores(&self, path: &FieldPath) -> bool {
        self.ignored.contains_at_or_above(path)
    }
}
