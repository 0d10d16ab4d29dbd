//! The set of fields that a manifest claims when it is applied (structured-merge-diff `typed/tofieldset.go`, and
//! apimachinery `managedfields/internal/stripmeta.go` for what is never owned).

use serde_json::Value;

use super::table::{KindInfo, ListKind, Shape, TypeRef, item_element};
use crate::object::{FieldSet, PathElement};

/// Fields of every object that no apply owns.
const STRIPPED: [&[&str]; 11] = [
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "creationTimestamp"],
    &["metadata", "selfLink"],
    &["metadata", "uid"],
    &["metadata", "clusterName"],
    &["metadata", "generation"],
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
];

/// The fields that applying `manifest` claims. `kind` tells which of them the server resets (`status`).
#[must_use]
pub fn field_set(manifest: &Value, of: TypeRef<'_>, kind: Option<&KindInfo>) -> FieldSet {
    let (_, mut set) = claims(manifest, of);
    for path in STRIPPED {
        set.remove_subtree(path);
    }
    if kind.is_some_and(|info| info.status) {
        set.remove_subtree(&["status"]);
    }
    if kind.is_some_and(|info| info.gvk.kind == "CertificateSigningRequest") {
        set.remove_subtree(&["spec"]);
    }
    set
}

/// Whether a value claims its own path, and what it claims below.
fn claims(value: &Value, of: TypeRef<'_>) -> (bool, FieldSet) {
    match value {
        _ if of.is_atomic(value) => (true, FieldSet::new()),
        Value::Object(map) if !map.is_empty() => {
            let mut set = FieldSet::new();
            for (name, child) in map {
                let (member, below) = claims(child, of.field(name));
                set.graft(PathElement::Field(name.clone()), member || !of.declares(name), below);
            }
            (false, set)
        }
        Value::Array(items) if matches!(of.shape(), Shape::List(ListKind::Set | ListKind::Keyed(_), _)) => {
            let mut set = FieldSet::new();
            for item in items {
                if let Some(element) = item_element(item, of) {
                    let below =
                        if *of.list_kind() == ListKind::Set { FieldSet::new() } else { claims(item, of.item()).1 };
                    set.graft(element, true, below);
                }
            }
            (false, set)
        }
        _ => (true, FieldSet::new()),
    }
}
