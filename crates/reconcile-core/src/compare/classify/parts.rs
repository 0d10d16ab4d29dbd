//! The parts that other managers own in values which are compared as a whole. The records of all managers are joined once for an object:
//! everybody who may write it decides how many there are.

use structured_merge::{FieldPath, FieldSet, ManagedFieldsEntry, owns_last_applied};

use crate::compare::additions::CLIENT_SIDE_APPLY;
use crate::compare::policy::Policy;

/// The joined records of the other managers of an object.
pub(super) struct OthersParts {
    /// The fields of all of them.
    all: FieldSet,
    /// Those of all who applied no manifest and did not create the object, without those of `status`.
    changed: FieldSet,
    /// Our fields, and those of who applied a manifest or created the object.
    of_manifests: FieldSet,
}

impl OthersParts {
    /// Joins the records.
    pub fn of(others: &[ManagedFieldsEntry], ours: &FieldSet) -> Self {
        let mut parts = Self { all: FieldSet::new(), changed: FieldSet::new(), of_manifests: ours.clone() };
        for entry in others {
            parts.all = parts.all.union(&entry.fields);
            let is_of_manifest =
                entry.manager == CLIENT_SIDE_APPLY || owns_last_applied(&entry.fields) || Policy::is_creator(entry);
            if is_of_manifest {
                parts.of_manifests = parts.of_manifests.union(&entry.fields);
            } else if entry.subresource != "status" {
                parts.changed = parts.changed.union(&entry.fields);
            }
        }
        parts
    }

    /// Returns true if another manager claims a part of a value that is compared as a whole, and we do not: an item of a list with
    /// duplicates, for example.
    pub fn has_foreign(&self, path: &FieldPath, ours: &FieldSet) -> bool {
        goes_beyond(&self.all, ours, path)
    }

    /// Returns true if another manager owns a part of a value that only the manifest drops: somebody has changed it as well.
    pub fn has_changed(&self, path: &FieldPath) -> bool {
        goes_beyond(&self.changed, &self.of_manifests, path)
    }
}

/// Returns true if fields have parts below a path that others do not have.
pub(super) fn goes_beyond(fields: &FieldSet, others: &FieldSet, path: &FieldPath) -> bool {
    let nothing = FieldSet::new();
    let others = others.below(path).unwrap_or(&nothing);
    fields.below(path).is_some_and(|parts| !parts.difference(others).is_empty())
}
