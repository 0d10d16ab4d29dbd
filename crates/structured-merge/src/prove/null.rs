//! Fields with the value null: the result of an apply, as far as it is known without the server.

use serde_json::Value;

use super::walk::{Unproven, Walk, holds_entries};
use crate::kinds::is_node_port;
use crate::object::{FieldPath, PathStack};
use crate::schema::{ScalarKind, Shape, TypeRef, fields_of, is_empty_struct};

impl Walk<'_> {
    /// Checks a null field of a map or struct.
    pub(super) fn null(
        &self,
        at: &PathStack<'_>,
        name: &str,
        found: Option<&Value>,
        schema: TypeRef<'_>,
        whole: Option<&PathStack<'_>>,
    ) -> Result<(), Unproven> {
        let below = schema.field(name);
        let is_typed = !matches!(below.shape(), Shape::Opaque | Shape::Untyped);
        match found {
            Some(Value::Null) => Ok(()),
            // A null merges as an empty value: the entries of others in a map or list stay (structured-merge-diff
            // `typed/merge.go`).
            Some(there)
                if whole.is_none()
                    && is_typed
                    && holds_entries(there)
                    && !below.is_atomic(there)
                    && self.stays(at, there, below) =>
            {
                Ok(())
            }
            // The server keeps the port that it has allocated.
            Some(Value::Number(_)) if self.keeps_node_ports && is_node_port(name, schema) => self.respelled(at, whole),
            // The default replaces the null.
            Some(there) if !self.built_in && schema.default_of_null(name) == Some(there) => self.respelled(at, whole),
            // In a Go map of strings, a null is the empty string.
            Some(Value::String(text))
                if (self.built_in || is_metadata(at))
                    && text.is_empty()
                    && whole.is_none()
                    && schema.is_free_map()
                    && below.scalar() == ScalarKind::Text =>
            {
                self.respelled(at, whole)
            }
            // In a Go struct, a null is no value: the server leaves the field out, or serves an empty struct.
            found
                if (self.built_in || is_metadata(at))
                    && is_typed
                    && schema.declares(name)
                    && found.is_none_or(|there| is_empty_struct(there, name, schema)) =>
            {
                self.respelled(at, whole)
            }
            _ => Err(Unproven::Null(at.path())),
        }
    }

    /// Returns true if an apply that owns an empty map or list keeps the live entries. This is always so, unless a
    /// manager has an entry in another API version: then entries without an owner are removed (structured-merge-diff
    /// `merge/update.go`, `addBackOwnedItems`).
    pub(super) fn stays(&self, at: &PathStack<'_>, there: &Value, schema: TypeRef<'_>) -> bool {
        let Some(theirs) = self.fields_beside_other_versions() else { return true };
        theirs.below(&at.path()).is_some_and(|theirs| fields_of(there, schema).difference(theirs).is_empty())
    }
}

/// Returns true if a path is in the metadata, which has a Go type in custom resources as well.
fn is_metadata(at: &PathStack<'_>) -> bool {
    FieldPath::of(&["metadata"]).is_prefix_of(&at.path())
}
