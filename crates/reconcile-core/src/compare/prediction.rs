//! The result of an apply, predicted by the server's dry run or computed locally.

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, GroupVersionKind, KindInfo, ManagedObject, Ownership, TypeRef};

use super::diff::Evidence;
use super::policy::Policy;
use crate::diagnostic::{Code, Diagnostic};
use crate::manifest::BaseObject;

/// An object as an apply would leave it, with its owners and the evidence for it.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The object.
    pub object: Value,
    /// Its owners.
    pub owners: Ownership,
    /// The evidence for this prediction.
    pub evidence: Evidence,
    /// Fields that the manifest does not have and that the apply removes, because the server rejects them together with the manifest's.
    pub in_the_way: FieldSet,
    /// True if the records of owners in other API versions are written under that of the manifest before the apply, because the server
    /// cannot convert the object to those versions.
    pub rewrites_records: bool,
}

/// Predicts an apply without the server.
pub fn predict(
    manifest: &Value,
    live: &ManagedObject,
    schema: TypeRef<'_>,
    kind: Option<&KindInfo>,
    policy: &Policy,
) -> Prediction {
    predict_displacing(manifest, live, schema, kind, policy, FieldSet::new())
}

/// Predicts an apply that also removes fields that conflict with the manifest (`in_the_way`).
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
    Prediction { object, owners, evidence: Evidence::Local, in_the_way, rewrites_records: false }
}

/// The diagnostic for an object with an owner whose fields are unknown. It cannot be compared or written: a conflict with that
/// owner would be missed.
pub(crate) fn unreadable_owners(owners: &Ownership) -> Option<Diagnostic> {
    let manager = owners.unreadable.first()?;
    let message = format!(
        "the fields that `{manager}` owns are recorded in a form that cannot be read (`metadata.managedFields`)"
    );
    let hint =
        "see the record with `kubectl get --show-managed-fields -o yaml`, or use a newer version of this program";
    Some(Diagnostic::new(Code::UnreadableOwners, message).with_hint(hint))
}

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
    /// True if the manifest is encrypted, so that all values are secret.
    pub is_encrypted: bool,
    /// The fields that rules ignore: they are never differences.
    pub ignored: &'a FieldSet,
    /// The values of which rules ignore parts. A controller owns them because of these parts, which is no conflict.
    pub partly_ignored: &'a FieldSet,
    /// Those of them that their owners keep, because the rules hold for these owners only: to take them is a conflict.
    pub kept_by_owners: &'a FieldSet,
    /// The live object and its owners.
    pub live: &'a ManagedObject,
    /// The claims on the fields that others added, and that the apply takes out.
    pub removed: &'a FieldSet,
    /// The object as it was applied last, if that is known.
    pub base: Option<&'a BaseObject>,
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
