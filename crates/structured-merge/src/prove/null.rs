//! Fields without a value: what the server makes of a null, where that can be told.

use serde_json::{Map, Value};

use super::unproven::Unproven;
use super::walk::{Walk, holds_entries};
use crate::node_ports::is_node_port;
use crate::object::FieldPath;
use crate::path_stack::PathStack;
use crate::schema::{ScalarKind, Shape, TypeRef, fields_of};

impl Walk<'_> {
    /// A null in a map or struct of type `of`.
    pub(super) fn null(
        &self,
        at: &PathStack<'_>,
        name: &str,
        found: Option<&Value>,
        of: TypeRef<'_>,
        whole: Option<&PathStack<'_>>,
    ) -> Result<(), Unproven> {
        let below = of.field(name);
        let is_typed = !matches!(below.shape(), Shape::Opaque | Shape::Untyped);
        match found {
            Some(Value::Null) => Ok(()),
            // Merged with nothing, what others own in a map or list stays as it is (structured-merge-diff `typed/merge.go`).
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
            Some(Value::Number(_)) if self.keeps_node_ports && is_node_port(name, of) => self.respelled(at, whole),
            // A default comes in its place.
            Some(there) if !self.built_in && of.default_of_null(name) == Some(there) => self.respelled(at, whole),
            // To a Go map of texts it is the empty text.
            Some(Value::String(text))
                if (self.built_in || is_metadata(at))
                    && text.is_empty()
                    && whole.is_none()
                    && of.is_free_map()
                    && below.scalar() == ScalarKind::Text =>
            {
                self.respelled(at, whole)
            }
            // To a Go struct it is nothing: the server leaves the field out, or serves the empty struct that it is.
            found
                if (self.built_in || is_metadata(at))
                    && is_typed
                    && of.declares(name)
                    && found.is_none_or(|there| is_empty_struct(there, name, of)) =>
            {
                self.respelled(at, whole)
            }
            _ => Err(Unproven::Null(at.path())),
        }
    }

    /// Returns true if an apply that owns a map or list as a whole, with nothing in it, leaves what is in it: always, but where
    /// somebody has a record in another version of the API. Then what nobody owns goes (structured-merge-diff `merge/update.go`,
    /// `addBackOwnedItems`).
    pub(super) fn stays(&self, at: &PathStack<'_>, there: &Value, of: TypeRef<'_>) -> bool {
        let Some(theirs) = self.fields_beside_other_versions() else { return true };
        let path = at.path();
        let theirs = path.elements().iter().try_fold(&theirs, |set, element| Some(set.step(element)?.1));
        theirs.is_some_and(|theirs| fields_of(there, of).difference(theirs).is_empty())
    }
}

/// Returns true if a place is in the metadata, which is of a Go type in custom resources, too.
fn is_metadata(at: &PathStack<'_>) -> bool {
    FieldPath::of(&["metadata"]).is_prefix_of(&at.path())
}

/// Returns true if the server serves such an empty struct where a manifest has none: it is no pointer, or the security context of a
/// pod, which always has one (`SetDefaults_PodSpec`).
fn is_empty_struct(value: &Value, name: &str, of: TypeRef<'_>) -> bool {
    let is_default = || of.default_of(name).is_some_and(|default| default.as_object().is_some_and(Map::is_empty));
    let is_pods = || name == "securityContext" && of.declares("containers");
    value.as_object().is_some_and(Map::is_empty) && (is_default() || is_pods())
}
