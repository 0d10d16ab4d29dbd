//! The side of a difference by the base and by the records of owners, and its class by the side.

use serde_json::{Map, Value};
use structured_merge::{
    ClaimStrength, FieldPath, FieldSet, ManagedFieldsEntry, Op, PathElement, claim_strength, owns_last_applied,
};

use super::Classifier;
use super::base::{BaseComparison, BaseRecords};
use super::conflicts::goes_beyond;
use crate::compare::additions::CLIENT_SIDE_APPLY;
use crate::compare::diff::{Class, FieldChange, Side};
use crate::compare::known_defaults::{is_known_default, usual_defaults};
use crate::compare::policy::Policy;

impl Classifier<'_> {
    /// Gives a difference its side by the base, and the class that follows from it.
    pub fn settle_by_base(&self, base: &BaseComparison<'_>, change: &mut FieldChange) {
        let Some(recorded) = change.side else { return };
        let (theirs, _) = self.claimants.best(&change.path, self.schema());
        let is_put = change.op != Op::Add && change.op != Op::Move && self.is_put(base, change);
        // Where the live value is a default, another one is the manifest's.
        let adds_default = !base.has(&change.path)
            && (is_put || change.op == Op::Add)
            && self.may_be_default(&change.path, change.desired.as_deref(), None);
        let records = BaseRecords { is_put, is_theirs: theirs == ClaimStrength::Own, adds_default };
        let Some(side) = base.side(change, &records, recorded) else { return };
        (change.side, change.base) = (Some(side), base.value(change));
        // A conflict stays one, and so does what only the manifest drops.
        if matches!(change.class, Class::Conflict | Class::Pruned | Class::Reordered | Class::Unmanaged) {
            return;
        }
        match side {
            Side::Manifest => (change.class, change.managers) = (Class::Pending, Vec::new()),
            Side::Cluster if change.op == Op::Add && change.class != Class::ChangedByOther => {
                (change.class, change.managers) = (Class::Absent, Vec::new());
            }
            Side::Cluster => {
                (change.class, change.managers) = (Class::ChangedByOther, self.owners(&change.path));
            }
            Side::Both | Side::Either => {}
        }
    }

    /// Returns true if it is known which default the server sets at a path, or that it sets none: in labels, annotations, the data of a
    /// ConfigMap or a Secret, and a custom resource.
    fn knows_defaults(&self, path: &FieldPath) -> bool {
        let Some((PathElement::Field(name), above)) = path.elements().split_last() else { return false };
        let first = path.elements().first();
        let is_text = |name: &&str| first == Some(&PathElement::Field((**name).to_owned()));
        let parent = self.schema().at(above);
        ["metadata", "data", "binaryData"].iter().any(is_text)
            || parent.stores_as_sent()
            || parent.default_of(name).is_some()
            || !usual_defaults(name).is_empty()
    }

    /// Returns true if somebody put the live value there, or a part of it that the base does not have.
    fn is_put(&self, base: &BaseComparison<'_>, change: &FieldChange) -> bool {
        let path = &change.path;
        if base.has(path) {
            // What has no parts has none that somebody could have added.
            if base.fields.below(path).is_none_or(FieldSet::is_empty) {
                return false;
            }
            let of_object = self.before().others.iter().filter(|entry| entry.subresource != "status");
            let mut beyond = of_object.filter(|entry| goes_beyond(&entry.fields, &base.fields, path));
            return beyond.any(|entry| match &self.copy {
                // It also owns the defaults that the base lacks as well.
                Some(copy) if is_of_client_side(entry) => goes_beyond(copy, &base.fields, path),
                _ => self.has_put(base, entry, path),
            });
        }
        // With or without it in the manifest, the server would have this value.
        if self.may_be_default(path, change.live.as_deref(), None) {
            return false;
        }
        let is_ours = claim_strength(&self.ours_before, path, self.schema()) == ClaimStrength::Own;
        if is_ours || self.before().ours.is_none() && self.before().others.is_empty() {
            return true;
        }
        // Nor has the server set it, whatever the records say: a manager that applies, and scales as well, does not own what it scaled. The
        // server adds no items to lists.
        self.knows_defaults(path)
            || base.lacks_item_around(path)
            || self.claimants.best(path, self.schema()).1.into_iter().any(|entry| self.has_put(base, entry, path))
    }

    /// Returns true if the owner of a field that the base does not have has set it, and not only the server for it.
    fn has_put(&self, base: &BaseComparison<'_>, entry: &ManagedFieldsEntry, path: &FieldPath) -> bool {
        if is_of_client_side(entry) {
            return self.is_in_copy(path);
        }
        let has_made = || Policy::is_maker(entry) || base.is_made_by(entry);
        Policy::is_invented(entry) || self.knows_defaults(path) || !has_made()
    }

    /// Returns true if the server may set this value at a path where a manifest has none. `siblings` are the fields beside it, if they are
    /// known.
    pub(super) fn may_be_default(
        &self,
        path: &FieldPath,
        value: Option<&Value>,
        siblings: Option<&Map<String, Value>>,
    ) -> bool {
        let (Some((PathElement::Field(name), above)), Some(value)) = (path.elements().split_last(), value) else {
            return false;
        };
        let parent = self.schema().at(above);
        is_known_default(value, name, siblings.unwrap_or(&Map::new()), parent)
            || !parent.stores_as_sent() && usual_defaults(name).contains(value)
    }
}

/// Returns true if an owner is client-side apply, which keeps a copy of the manifest that it applied last.
fn is_of_client_side(entry: &ManagedFieldsEntry) -> bool {
    entry.manager == CLIENT_SIDE_APPLY || owns_last_applied(&entry.fields)
}
