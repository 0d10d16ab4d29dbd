//! The context of a comparison, and the result of an apply, predicted by the server's dry run or computed locally.

use serde_json::Value;
use structured_merge::{FieldSet, ManagedObject, Ownership, TypeRef};

use super::changing_kinds::ComingType;
use super::diff::Evidence;
use super::policy::Policy;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::Target;
use crate::text::coded;

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

/// The object of a comparison as it is desired, with its type and the policy of the run.
#[derive(Clone, Copy)]
pub struct CompareContext<'a> {
    /// The desired object.
    pub target: &'a Target,
    /// The type's fields.
    pub schema: TypeRef<'a>,
    /// The policy of the run.
    pub policy: &'a Policy,
    /// The type that the kind is about to get, if its CustomResourceDefinition changes in this input.
    pub coming_type: Option<ComingType<'a>>,
    /// True if the server may have kept the records of owners as they were while the object changed.
    pub has_old_records: bool,
}

impl<'a> CompareContext<'a> {
    /// A comparison with the types that the server has and keeps.
    pub fn new(target: &'a Target, schema: TypeRef<'a>, policy: &'a Policy) -> Self {
        Self { target, schema, policy, coming_type: None, has_old_records: false }
    }

    /// Predicts an apply without the server.
    pub fn predict(&self, manifest: &Value, live: &ManagedObject) -> Prediction {
        self.predict_displacing(manifest, live, FieldSet::new())
    }

    /// Predicts the object that an apply would leave if no claims were transferred to us before.
    pub(super) fn predict_without_transfer(&self, manifest: &Value, live: &ManagedObject) -> Value {
        let kind = self.target.kind();
        structured_merge::predict(manifest, live, self.schema, kind.as_ref(), self.policy.manager.as_str()).object
    }

    /// Predicts an apply that also removes fields that conflict with the manifest (`in_the_way`).
    pub(super) fn predict_displacing(
        &self,
        manifest: &Value,
        live: &ManagedObject,
        in_the_way: FieldSet,
    ) -> Prediction {
        let kind = self.target.kind();
        let ManagedObject { object, owners } =
            structured_merge::predict_displacing(manifest, live, self.schema, kind.as_ref(), self.policy, &in_the_way);
        Prediction { object, owners, evidence: Evidence::Local, in_the_way, rewrites_records: false }
    }
}

/// The diagnostic for an object with an owner whose fields are unknown. It cannot be compared or written: a conflict with that
/// owner would be missed.
pub(crate) fn unreadable_owners(owners: &Ownership) -> Option<Diagnostic> {
    let manager = owners.unreadable.first()?;
    let message = format!(
        "the fields that {} owns are recorded in a form that cannot be read (`metadata.managedFields`)",
        coded(manager)
    );
    let hint =
        "see the record with `kubectl get --show-managed-fields -o yaml`, or use a newer version of this program";
    Some(Diagnostic::new(Code::UnreadableOwners, message).with_hint(hint))
}
