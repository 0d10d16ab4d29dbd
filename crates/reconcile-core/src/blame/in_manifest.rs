use serde_json::Value;
use structured_merge::{
    ClaimStrength, FieldPath, FieldSet, KindInfo, ManagedObject, TypeRef, changes, claim_strength, fields_of, predict,
    with_string_data_folded,
};

use super::field::InManifest;

/// The name under which the prediction is made.
const APPLIER: &str = "kubectl-reconcile";

/// The fields that a manifest has, and those of them that an apply would change.
pub(super) struct WantedFields<'a> {
    fields: FieldSet,
    changed: FieldSet,
    schema: TypeRef<'a>,
}

impl<'a> WantedFields<'a> {
    /// Reads the fields of the manifest. Values that mean the same do not differ, as for an apply.
    pub fn of(manifest: &Value, live: &Value, schema: TypeRef<'a>, kind: Option<&KindInfo>) -> Self {
        let manifest = with_string_data_folded(manifest);
        let before = ManagedObject::new(live.clone(), APPLIER);
        let after = predict(&manifest, &before, schema, kind, APPLIER);
        let status_is_apart = kind.is_none_or(|kind| kind.status);
        let mut changed = FieldSet::new();
        for change in changes(live, &after.object, schema, status_is_apart) {
            changed.insert(&change.path);
        }
        Self { fields: fields_of(&manifest, schema), changed, schema }
    }

    /// Compares a field of the live object.
    pub fn compared(&self, path: &FieldPath) -> InManifest {
        if claim_strength(&self.fields, path, self.schema) != ClaimStrength::Own {
            return InManifest::Absent;
        }
        if self.changed.overlaps(path) { InManifest::Differs } else { InManifest::Same }
    }
}
