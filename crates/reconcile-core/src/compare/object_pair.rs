//! What is judged: a manifest and its live object.

use serde_json::Value;
use structured_merge::{FieldSet, GroupVersionKind, TypeRef};

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
    /// The live object.
    pub live: &'a Value,
    /// The type's fields.
    pub of: TypeRef<'a>,
    /// Whether `status` belongs to a subresource.
    pub status_is_apart: bool,
}
