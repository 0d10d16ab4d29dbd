//! The class of each difference, from its owners before and after an apply, and the changes of ownership without a difference.

mod added;
pub(crate) mod base;
mod by_base;
pub(crate) mod conflicts;
mod kept;
pub(crate) mod only;

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

use structured_merge::{
    Change, ClaimStrength, Claimants, FieldPath, FieldSet, LastApplied, Lookup, ManagedFieldsEntry, ManagedObject, Op,
    Ownership, PathElement, TypeRef, brought_up_to_date, claim_strength, claims_stored, fields_last_applied,
    is_nothing, is_omitted_when_empty, with_string_data,
};

use crate::compare::additions::CLIENT_SIDE_APPLY;
use crate::compare::diff::{Class, FieldChange, Side};
use crate::compare::live_object::LiveObject;
use crate::compare::policy::Policy;
use crate::compare::prediction::{CompareContext, Prediction};
use crate::owners::Owner;
use conflicts::{ContestedFields, OthersParts};

/// The owners of an object before and after an apply.
pub(crate) struct Classifier<'a> {
    context: CompareContext<'a>,
    live: &'a LiveObject,
    /// The claims of other managers, on the texts of a Secret where these are kept.
    claimants: Claimants<'a>,
    pub contested: ContestedFields<'a>,
    ours_before: FieldSet,
    /// Our fields before the apply, and the fields of manual managers that the apply transfers to us.
    passing: FieldSet,
    ours_after: FieldSet,
    /// The fields in the copy of client-side apply.
    copy: Option<FieldSet>,
    /// The manifest as client-side apply applied it last, while nothing is recorded as ours.
    last_applied: Option<LastApplied<'a>>,
    /// True if the server cannot write the records of owners now, so that there may be changes which they lack.
    is_frozen: bool,
    parts: OnceCell<OthersParts>,
    /// The manifest as it is sent, with the indices of its lists.
    manifest: RefCell<Lookup<'a>>,
}

impl<'a> Classifier<'a> {
    /// Reads the owners of an object before the apply and in its prediction. `others` are its other managers, with what they claim of
    /// the texts of a Secret where these are kept.
    pub fn new(
        context: CompareContext<'a>,
        (live, others): (&'a LiveObject, &'a [ManagedFieldsEntry]),
        before_first_apply: Option<&'a ManagedFieldsEntry>,
        differences: &[Change],
        prediction: &Prediction,
    ) -> Self {
        let CompareContext { target, schema, .. } = context;
        let object = &live.current.object;
        let before = &live.current.owners;
        let after = &prediction.owners;
        let ours = before.our_fields();
        let is_first = before.ours.is_none() && !differences.is_empty();
        let is_of_client_side = before.others.iter().any(|entry| entry.manager == CLIENT_SIDE_APPLY);
        let needs_copy = target.base.get().is_some() || is_of_client_side && !differences.is_empty();
        Self {
            last_applied: is_first.then(|| LastApplied::of(object, schema)).flatten(),
            copy: needs_copy.then(|| fields_last_applied(object, schema)).flatten(),
            context,
            live,
            claimants: Claimants::of(others),
            contested: ContestedFields::between(context, (live, others), before_first_apply, differences, after),
            passing: settled(context, live, after).map(|owners| owners.our_fields()).unwrap_or_default(),
            ours_before: with_string_data(&target.key.gvk, ours, &since_ours(before)),
            ours_after: with_string_data(&target.key.gvk, after.our_fields(), &[]),
            is_frozen: prediction.rewrites_records || context.has_old_records,
            parts: OnceCell::new(),
            manifest: Lookup::of(live.sent(target)).into(),
        }
    }

    /// The owners before the apply.
    fn before(&self) -> &'a Ownership {
        &self.live.current.owners
    }

    fn schema(&self) -> TypeRef<'a> {
        self.context.schema
    }

    /// All changes with their classes.
    pub fn classified(&self, differences: Vec<Change>) -> Vec<FieldChange> {
        let mut found: Vec<FieldChange> = differences.into_iter().map(|change| self.classify(change)).collect();
        self.contested.mark_renamed(&mut found, &self.ours_after, &self.claimants, self.schema());
        found
    }

    fn classify(&self, change: Change) -> FieldChange {
        let class = self.class(&change);
        let managers = match class {
            Class::Conflict | Class::ChangedByOther | Class::Unmanaged => self.owners(&change.path),
            _ => Vec::new(),
        };
        let is_of_unknown_side = match class {
            Class::Conflict => self.is_as_applied(&change),
            Class::Pruned => self.parts().has_changed(&change.path) || self.is_no_longer_as_applied(&change.path),
            _ => false,
        };
        let mut found = FieldChange::new(change, class).with_managers(managers);
        if is_of_unknown_side {
            found.side = Some(Side::Either);
        }
        found
    }

    /// Returns true if client-side apply applied another value last, and nothing has been recorded as ours since.
    fn is_no_longer_as_applied(&self, path: &FieldPath) -> bool {
        self.last_applied.as_ref().is_some_and(|applied| applied.has(path) && !applied.is_live(path))
    }

    /// Returns true if a field that another manager owns still has the value of our last apply, of the last client-side apply or of
    /// the creation of the object: that manager has applied the same value, and nobody has changed it.
    fn is_as_applied(&self, change: &Change) -> bool {
        let path = &change.path;
        let is_own = |fields: &FieldSet| claim_strength(fields, path, self.schema()) == ClaimStrength::Own;
        let is_of_creator = || {
            let (strength, owners) = self.claimants.best(path, self.schema());
            strength == ClaimStrength::Own && owners.into_iter().any(|entry| self.is_as_created(entry, path))
        };
        let is_of_client_side = || self.last_applied.as_ref().is_some_and(|applied| applied.is_live(path));
        !self.is_outdated(change) && (is_own(&self.ours_before) || is_of_creator() || is_of_client_side())
    }

    /// Returns true if an owner of a field has it since it created the object. Client-side apply also owns the defaults of the object that
    /// it created: of its fields, those that its copy of the manifest does not have.
    fn is_as_created(&self, entry: &ManagedFieldsEntry, path: &FieldPath) -> bool {
        Policy::is_creator(entry) || entry.manager == CLIENT_SIDE_APPLY && !self.is_in_copy(path)
    }

    /// Returns true if the copy of client-side apply has a field. An empty map in it has nothing of what others put into that.
    fn is_in_copy(&self, path: &FieldPath) -> bool {
        self.copy.as_ref().is_some_and(|copy| claim_strength(copy, path, self.schema()) == ClaimStrength::Own)
    }

    /// The class of a change. The side that changed is said by the first of these records that knows the path: our own entry, the
    /// entry of another manager, and the manifest that client-side apply applied last. What none of them knows is unrecorded.
    ///
    /// Two entries say less than they seem to. A value that is still the one of client-side apply was applied last, also if its
    /// owner is another manager that had set the same value before. And the client that created an object owns its fields since
    /// then: nobody has changed them, and no record says whether the manifest has.
    fn class(&self, change: &Change) -> Class {
        let path = &change.path;
        if self.contested.overlaps(path) {
            return Class::Conflict;
        }
        if self.is_removed(change) {
            return Class::Unmanaged;
        }
        let op = match change.op {
            Op::Move => return Class::Reordered,
            // The server stores no value for the empty one of the manifest.
            Op::Remove if self.is_emptied(path) => Op::Change,
            // It stays in the manifest: the server takes it out, because it does not fit another field that changes.
            Op::Remove if self.is_in_manifest(path) => return Class::Consequence,
            op => op,
        };
        let ours = claim_strength(&self.ours_before, path, self.schema());
        let is_wanted = self.ours_after.covers(path);
        if !is_wanted && (ours == ClaimStrength::Own || self.passing.covers(path)) {
            return Class::Pruned;
        }
        let applied = self.last_applied.as_ref();
        // The live value is still the one that client-side apply applied: the manifest has changed since.
        if op != Op::Add && applied.is_some_and(|applied| applied.is_live(path)) {
            return if op == Op::Remove { Class::Pruned } else { Class::Pending };
        }
        let (theirs, owners) = self.claimants.best(path, self.schema());
        let has_foreign_part = || theirs == ClaimStrength::Own && self.parts().has_foreign(path, &self.ours_before);
        match op {
            // A manager that changes a field owns what the server sets with it, and takes out with it.
            Op::Remove
                if ours == ClaimStrength::None
                    && applied.is_none()
                    && self.may_be_default(path, change.from.as_ref(), None) =>
            {
                Class::Consequence
            }
            Op::Change | Op::Remove if theirs > ours || has_foreign_part() => {
                // A field that client-side apply left to the server is its own as well. The manifest that it applied is known.
                let is_default = owners.iter().all(|entry| entry.manager == CLIENT_SIDE_APPLY)
                    && applied.is_some_and(|applied| !applied.has(path));
                let is_as_created = owners.iter().all(|entry| self.is_as_created(entry, path))
                    && !self.parts().has_part_of_changers(path, &self.ours_before);
                if is_default && op == Op::Change {
                    Class::Pending
                } else if is_default && !self.parts().has_changed(path) {
                    Class::Consequence
                } else if is_as_created {
                    Class::Unrecorded
                } else {
                    Class::ChangedByOther
                }
            }
            Op::Remove if ours == ClaimStrength::Own => Class::Pruned,
            // Nobody put it there, and nobody wants it.
            Op::Remove => Class::Consequence,
            Op::Change | Op::Add if !is_wanted => Class::Consequence,
            Op::Change | Op::Add if ours == ClaimStrength::Own && self.is_claimed(change) => Class::Pending,
            // Who wrote a map that is replaced as a whole has left it out.
            Op::Add if theirs > ours && owners.iter().any(|entry| self.has_left_out(entry, path)) => {
                Class::ChangedByOther
            }
            Op::Add if self.had(path) => Class::Absent,
            Op::Add if applied.is_some() => Class::Pending,
            Op::Change | Op::Add | Op::Move => Class::Unrecorded,
        }
    }

    /// Returns true if an owner has written a map or a list around a missing field that is replaced as a whole. The manager that created
    /// the object and client-side apply have not left it out: the manifest may have had no such field.
    fn has_left_out(&self, entry: &ManagedFieldsEntry, path: &FieldPath) -> bool {
        let elements = path.elements();
        let mut above = (1..elements.len()).filter_map(|length| elements.get(..length));
        entry.manager != CLIENT_SIDE_APPLY
            && !self.is_as_created(entry, path)
            && above.any(|above| self.schema().at(above).is_atomic_type())
    }

    /// Returns true if the manifest has a value at a path that is no empty map or list, which goes with the last of its entries.
    fn is_in_manifest(&self, path: &FieldPath) -> bool {
        self.manifest.borrow_mut().value(path).is_some_and(|value| !is_nothing(value))
    }

    /// Returns true if the manifest has a `false`, `0` or `""` at a path that the server does not store, as its Go type leaves it out.
    fn is_emptied(&self, path: &FieldPath) -> bool {
        let mut manifest = self.manifest.borrow_mut();
        let (Some(value), Some((PathElement::Field(name), above))) =
            (manifest.value(path), path.elements().split_last())
        else {
            return false;
        };
        !is_nothing(value) && is_omitted_when_empty(value, name, self.schema().at(above))
    }

    /// Returns true if the apply changes a field because it takes out what others added. A map goes with the last of its entries.
    fn is_removed(&self, change: &Change) -> bool {
        let path = &change.path;
        match change.op {
            Op::Remove if self.live.removed.contains_at_or_below(path) => {
                claim_strength(&self.ours_before, path, self.schema()) != ClaimStrength::Own
            }
            Op::Remove | Op::Change => self.live.removed.contains_at_or_above(path),
            Op::Add | Op::Move => false,
        }
    }

    /// Returns true if our record may be older than a change that it should have. Since 1.37, the server keeps the records of a custom
    /// resource as they are where a write cannot update them, because it cannot convert the object to the version of one of them
    /// (apimachinery `managedfields`, `UpdateNoErrors`); it used to drop them. That is so as long as the object cannot be converted, and
    /// also where we own a field that is gone: whatever removes it takes it out of the records. `stringData`, which no stored object has,
    /// stays in them.
    fn is_outdated(&self, change: &Change) -> bool {
        self.is_frozen
            || change.op == Op::Add && (self.schema().stores_as_sent() || self.is_text_of_secret(&change.path))
    }

    /// Returns true for data of a Secret that our record has as `stringData` alone.
    fn is_text_of_secret(&self, path: &FieldPath) -> bool {
        self.context.target.key.gvk.is_secret()
            && path.elements().first() == Some(&PathElement::Field("data".to_owned()))
            && claim_strength(&self.before().our_fields(), path, self.schema()) != ClaimStrength::Own
    }

    /// Returns true if our claims show that the manifest has changed: nobody has taken an added value out.
    fn is_claimed(&self, change: &Change) -> bool {
        let added = change.to.as_ref().filter(|_| change.op == Op::Add);
        let is_stored =
            |value| claims_stored(&self.ours_before, &change.path, value, self.schema().at(change.path.elements()));
        !self.is_outdated(change) && added.is_none_or(is_stored)
    }

    /// The parts that other managers own, joined when they are first asked for.
    fn parts(&self) -> &OthersParts {
        self.parts.get_or_init(|| OthersParts::of(&self.before().others, &self.ours_before))
    }

    /// Returns true if the live object may have lost a field of an earlier manifest.
    fn had(&self, path: &FieldPath) -> bool {
        self.before().ours.is_some() || self.last_applied.as_ref().is_some_and(|applied| applied.has(path))
    }

    /// The other managers that own a field.
    fn owners(&self, path: &FieldPath) -> Vec<Owner> {
        self.context.policy.owners(self.claimants.best(path, self.schema()).1)
    }

    /// Returns true if an apply takes ownership of fields although no value changes.
    pub fn is_adopting(&self, after: &Ownership) -> bool {
        let claims = after.our_fields().union(&self.before().our_fields());
        let claims = with_string_data(&self.context.target.key.gvk, claims, &[]);
        self.is_newly_claimed(after) || self.before().is_adopting(&claims, self.context.policy)
    }

    /// Returns true if our entry changes although no value does, and not only its form: any write brings that up to date.
    fn is_newly_claimed(&self, after: &Ownership) -> bool {
        let key = |owners: &Ownership| {
            let ours = owners.ours.as_ref();
            ours.map(|entry| (entry.api_version.clone(), brought_up_to_date(&entry.fields, self.schema())))
        };
        // A manifest without fields (a Namespace with only a name) claims nothing.
        let nothing = |owners: &Ownership| owners.our_fields().is_empty();
        key(self.before()) != key(after) && !(nothing(self.before()) && nothing(after))
    }
}

/// The records of others, if we own texts of a Secret (`stringData`) without those that are older than ours: what they have written in `data`
/// is ours again.
fn since_ours(owners: &Ownership) -> Cow<'_, [ManagedFieldsEntry]> {
    let texts = FieldPath::of(&["stringData"]);
    match owners.ours.as_ref().filter(|ours| ours.fields.contains_at_or_below(&texts)) {
        Some(ours) => owners.others.iter().filter(|other| other.time >= ours.time).cloned().collect(),
        None => Cow::Borrowed(&owners.others),
    }
}

/// The owners once manual claims have been transferred to us; `None` if there are none.
fn settled(context: CompareContext<'_>, live: &LiveObject, after: &Ownership) -> Option<Ownership> {
    let CompareContext { target, schema, policy, .. } = context;
    let ManagedObject { object, owners } = &live.current;
    owners.with_claims_transferred(object, schema, &after.our_fields(), &target.key.gvk.api_version(), policy)
}
