//! A manifest and its live object, as they are compared.

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, GroupVersionKind, ManagedObject, TypeRef};

/// One object in its desired and in its live form.
#[derive(Clone, Copy, Debug)]
pub struct ObjectPair<'a> {
    /// The group, version and kind.
    pub gvk: &'a GroupVersionKind,
    /// Every API version in which the server has a kind of this name.
    pub versions: &'a [String],
    /// The object as an apply sends it.
    pub manifest: &'a Value,
    /// The manifest with its ignored fields, to find the secret values in it.
    pub written: &'a Value,
    /// The fields that rules ignore: they are never differences.
    pub ignored: &'a FieldSet,
    /// The values of which rules ignore parts. A controller owns them because of these parts, which is no conflict.
    pub partly_ignored: &'a FieldSet,
    /// Those of them that their owners keep, because the rules hold for these owners only: to take them is a conflict.
    pub kept_by_owners: &'a FieldSet,
    /// The live object and its owners.
    pub live: &'a ManagedObject,
    /// The type's fields.
    pub schema: TypeRef<'a>,
    /// True if `status` belongs to a subresource.
    pub status_is_apart: bool,
}

impl ObjectPair<'_> {
    /// Returns true if a rule ignores everything at a path.
    pub(super) fn ignores(&self, path: &FieldPath) -> bool {
        self.ignored.contains_at_or_above(path)
    }
}
