//! What an apply would make of an object, by the word of the server or by our own.

use serde_json::Value;
use structured_merge::{FieldSet, KindInfo, ManagedObject, Ownership, TypeRef};

use super::diff::Evidence;
use super::policy::Policy;
use crate::diagnostic::{Code, Diagnostic};

/// An object as an apply would leave it, who would own what, and what says so.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The object.
    pub object: Value,
    /// Its owners.
    pub owners: Ownership,
    /// What this rests on.
    pub evidence: Evidence,
    /// Fields of manual changes alone, beside the manifest's, that go with the apply: the server would reject both together.
    pub in_the_way: FieldSet,
}

/// Predicts an apply without the server.
#[must_use]
pub fn predict(
    manifest: &Value,
    live: &ManagedObject,
    schema: TypeRef<'_>,
    kind: Option<&KindInfo>,
    policy: &Policy,
) -> Prediction {
    predict_displacing(manifest, live, schema, kind, policy, FieldSet::new())
}

/// Predicts an apply that also removes fields of manual changes that are in its way.
#[must_use]
pub(super) fn predict_displacing(
    manifest: &Value,
    live: &ManagedObject,
    schema: TypeRef<'_>,
    kind: Option<&KindInfo>,
    policy: &Policy,
    in_the_way: FieldSet,
) -> Prediction {
    let ManagedObject { object, owners } =
        structured_merge::predict_displacing(manifest, live, schema, kind, policy, &in_the_way);
    Prediction { object, owners, evidence: Evidence::Local, in_the_way }
}

/// Says why an object cannot be compared or written if the fields of one of its owners are unknown: a conflict with them
/// would be missed.
#[must_use]
pub(super) fn unreadable_owners(owners: &Ownership) -> Option<Diagnostic> {
    let manager = owners.unreadable.first()?;
    let message = format!(
        "the fields that `{manager}` owns are recorded in a form that cannot be read (`metadata.managedFields`)"
    );
    let hint =
        "see the record with `kubectl get --show-managed-fields -o yaml`, or use a newer version of this program";
    Some(Diagnostic::new(Code::UnreadableOwners, message).with_hint(hint))
}
