//! From two versions of an object to a verdict: every difference with its class, its owners and, for a Secret, redacted.

use serde_json::Value;

use super::beside::beside;
use super::changes::{Change, Op, changes};
use super::diff::{Class, Conflict, Evidence, FieldChange, ObjectDiff, Owner};
use super::merge::{Prediction, merge, with_string_data_folded};
use super::owners::{Owners, Policy, with_string_data};
use super::redact::Redactor;
use crate::object::{
    FieldPath, FieldSet, GroupVersionKind, LAST_APPLIED, ManagedFieldsEntry, PART_OF, PathElement, part_of,
};
use crate::schema::TypeRef;

/// One object as it is wanted and as it is.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its type.
    pub gvk: &'a GroupVersionKind,
    /// The manifest.
    pub manifest: &'a Value,
    /// The live object.
    pub live: &'a Value,
    /// The type's fields.
    pub of: TypeRef<'a>,
    /// Whether `status` belongs to a subresource.
    pub status_is_apart: bool,
}

/// Judges what an apply would change.
#[must_use]
pub fn judge(subject: Subject<'_>, prediction: &Prediction, policy: &Policy, redactor: &Redactor) -> ObjectDiff {
    let before = Owners::of(subject.live, &policy.manager);
    let context = Context {
        taken: before.taken(&prediction.owners).into_iter().filter(|(_, entry)| !policy.takes_from(entry)).collect(),
        passing: before
            .without_hands(&prediction.owners.our_fields(), &subject.gvk.api_version(), policy)
            .map(|settled| settled.our_fields())
            .unwrap_or_default(),
        ours_before: with_string_data(subject.gvk, before.our_fields(), &before),
        ours_after: with_string_data(subject.gvk, prediction.owners.our_fields(), &Owners::default()),
        claims: prediction.owners.our_fields().union(&before.our_fields()),
        before: &before,
    };
    let differences = changes(subject.live, &prediction.object, subject.of, subject.status_is_apart);
    let mut found: Vec<FieldChange> = differences.into_iter().map(|change| context.classified(change)).collect();
    // The copy that client-side apply keeps goes with its owner, whose claims pass to us.
    let copy = FieldPath::of(&["metadata", "annotations", LAST_APPLIED]);
    found.retain(|change| change.op != Op::Remove || change.path != copy);
    let mut conflicts = context.conflicts(&found);
    let other_set = other_apply_set(&subject);
    if other_set.is_some() {
        conflicts.extend(context.kept_in_its_apply_set(&mut found, &policy.manager));
    }
    // Of a kind whose types aren't known, lists are compared by position: what others put in would seem to be in the way.
    if prediction.evidence != Evidence::Proven && subject.of.declares("kind") {
        found.extend(overridden(subject, prediction, &found));
    }
    let released = context.released(subject.live, &found);
    let mut warnings = Vec::new();
    for change in released {
        if change.managers.is_empty() {
            warnings.extend(kept_string_data(subject.gvk, &change.path));
        } else {
            found.push(change);
        }
    }
    let is_settled = |change: &FieldChange| change.class.is_drift() || change.class == Class::Released;
    let is_ours_anew = context.is_claimed_anew(&prediction.owners) || before.is_adopting(&context.claims, policy);
    if !found.iter().any(is_settled) && is_ours_anew {
        found.push(whole_object(Class::Adopted));
    }
    let mut beside = beside(subject.live, &before, &prediction.owners.our_fields(), policy);
    beside.retain(|path| !found.iter().any(|change| change.class.is_drift() && change.path.overlaps(path)));
    if policy.show_unmanaged {
        found.extend(context.unmanaged(subject.live, &found));
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    for change in &mut found {
        for value in [&mut change.live, &mut change.desired].into_iter().flatten() {
            *value = redactor.value(subject.gvk, &change.path, value);
        }
    }
    let mut diff = ObjectDiff::of(found, conflicts, prediction.evidence);
    diff.warnings = warnings;
    diff.beside = beside;
    if let Some(id) = other_set {
        let hint =
            "take it out of that set first: out of its manifests, or, if nobody keeps the set, by removing the label";
        diff.reason = Some(format!("it belongs to another apply set, `{id}`"));
        diff.hint = Some(hint.to_owned());
    }
    diff
}

/// The apply set that the object belongs to, where the manifest would put it into another: an object belongs to one at
/// most (KEP-3659), and is never taken out of it, whoever owns the label.
fn other_apply_set<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    let wanted = part_of(subject.manifest)?;
    part_of(subject.live).filter(|id| *id != wanted)
}

struct Context<'a> {
    before: &'a Owners,
    /// Fields that others lose and we may not take.
    taken: Vec<(FieldPath, &'a ManagedFieldsEntry)>,
    ours_before: FieldSet,
    /// What is ours before the apply, with what hands pass to us.
    passing: FieldSet,
    ours_after: FieldSet,
    /// What is ours before or after the apply, as it is recorded.
    claims: FieldSet,
}

impl Context<'_> {
    fn classified(&self, change: Change) -> FieldChange {
        let class = self.class(&change);
        let managers = match class {
            Class::Conflict | Class::ChangedByOther => owners(self.before.owning(&change.path)),
            _ => Vec::new(),
        };
        FieldChange { path: change.path, op: change.op, class, live: change.from, desired: change.to, managers }
    }

    fn class(&self, change: &Change) -> Class {
        let path = &change.path;
        let was_ours = self.ours_before.covers(path);
        let passes = self.passing.covers(path);
        let will_be_ours = self.ours_after.covers(path);
        let is_anothers = self.before.owning(path).next().is_some();
        if self.taken.iter().any(|(taken, _)| taken.overlaps(path)) {
            return Class::Conflict;
        }
        match change.op {
            Op::Move => Class::Reordered,
            _ if !will_be_ours && (was_ours || passes) => Class::Pruned,
            Op::Change | Op::Remove if is_anothers && !was_ours => Class::ChangedByOther,
            Op::Remove => Class::Pruned,
            Op::Add if !was_ours && self.before.ours.is_some() => Class::RemovedByOther,
            Op::Add | Op::Change => Class::Pending,
        }
    }

    /// The conflicts behind visible differences. Where nothing differs, admission keeps its own value whoever asks, and
    /// there is nothing to settle.
    fn conflicts(&self, found: &[FieldChange]) -> Vec<Conflict> {
        let is_visible =
            |path: &FieldPath| found.iter().any(|change| change.class == Class::Conflict && change.path.overlaps(path));
        let visible = self.taken.iter().filter(|(path, _)| is_visible(path));
        // The innermost path says it all: an item and the fields in it are lost together.
        let innermost = visible.filter(|(path, entry)| {
            !self.taken.iter().any(|(other, by)| std::ptr::eq(*entry, *by) && path != other && path.is_prefix_of(other))
        });
        let mut conflicts: Vec<Conflict> =
            innermost.map(|(path, entry)| Conflict { path: path.clone(), owner: Owner::from(*entry) }).collect();
        conflicts.sort_by(|a, b| (&a.path, &a.owner).cmp(&(&b.path, &b.owner)));
        conflicts
    }

    /// Makes a conflict of the change of the label that names the object's apply set.
    fn kept_in_its_apply_set(&self, found: &mut [FieldChange], manager: &str) -> Option<Conflict> {
        let path = FieldPath::of(&["metadata", "labels", PART_OF]);
        let change = found.iter_mut().find(|change| change.path == path)?;
        let is_known = change.class == Class::Conflict;
        change.class = Class::Conflict;
        change.managers = owners(self.before.owning(&path));
        let owner = change.managers.first().cloned().or_else(|| self.before.ours.as_ref().map(Owner::from));
        let (operation, subresource) = ("Apply".to_owned(), String::new());
        let owner = owner.unwrap_or(Owner { manager: manager.to_owned(), operation, subresource, time: None });
        (!is_known).then_some(Conflict { path, owner })
    }

    /// Fields that were ours, aren't in the manifest any more, and stay; with the co-owners who keep them.
    fn released(&self, live: &Value, found: &[FieldChange]) -> Vec<FieldChange> {
        let given_up = self.ours_before.difference(&self.ours_after);
        let stays = |path: &FieldPath| {
            !self.ours_after.contains_at_or_below(path) && !found.iter().any(|change| change.path.overlaps(path))
        };
        let mut released: Vec<FieldChange> = Vec::new();
        for path in given_up.paths().into_iter().filter(stays) {
            if released.iter().any(|change| change.path.is_prefix_of(&path)) {
                continue;
            }
            if let Some(value) = path.value_in(live).cloned() {
                let managers = owners(self.before.owning(&path));
                released.push(FieldChange {
                    path,
                    op: Op::Remove,
                    class: Class::Released,
                    desired: Some(value.clone()),
                    live: Some(value),
                    managers,
                });
            }
        }
        released
    }

    /// Whether our entry would be written anew although no value changes.
    fn is_claimed_anew(&self, after: &Owners) -> bool {
        let key = |owners: &Owners| owners.ours.as_ref().map(|entry| (entry.api_version.clone(), entry.fields.clone()));
        // A manifest without any field of its own (a Namespace with only a name) claims nothing.
        let nothing = |owners: &Owners| owners.our_fields().is_empty();
        key(self.before) != key(after) && !(nothing(self.before) && nothing(after))
    }

    /// Fields that others added: live, theirs, and neither ours nor the manifest's.
    fn unmanaged(&self, live: &Value, found: &[FieldChange]) -> Vec<FieldChange> {
        let mut unmanaged: Vec<FieldChange> = Vec::new();
        let apart = FieldPath::of(&["status"]);
        let copy = FieldPath::of(&["metadata", "annotations", LAST_APPLIED]);
        for entry in self.before.others.iter().filter(|entry| entry.subresource != "status") {
            for path in entry.fields.paths() {
                let known = self.ours_before.covers(&path)
                    || self.ours_after.covers(&path)
                    || apart.is_prefix_of(&path)
                    || path.overlaps(&copy)
                    || found.iter().any(|change| change.path != FieldPath::root() && change.path.is_prefix_of(&path));
                if known || unmanaged.iter().any(|change| change.path.is_prefix_of(&path)) {
                    continue;
                }
                if let Some(value) = path.value_in(live) {
                    let managers = owners(self.before.owning(&path));
                    unmanaged.push(FieldChange {
                        op: Op::Add,
                        class: Class::Unmanaged,
                        live: Some(value.clone()),
                        desired: None,
                        managers,
                        path,
                    });
                }
            }
        }
        unmanaged
    }
}

fn owners<'e>(entries: impl Iterator<Item = &'e ManagedFieldsEntry>) -> Vec<Owner> {
    let mut owners: Vec<Owner> = entries.map(Owner::from).collect();
    owners.sort();
    owners.dedup();
    owners
}

fn whole_object(class: Class) -> FieldChange {
    let path = FieldPath::root();
    FieldChange { path, op: Op::Change, class, live: None, desired: None, managers: Vec::new() }
}

/// Where the manifest's value isn't the one that an apply would leave, although nothing would change: admission or the
/// server keeps its own.
fn overridden(subject: Subject<'_>, prediction: &Prediction, found: &[FieldChange]) -> Vec<FieldChange> {
    let wanted = merge(&with_string_data_folded(subject.manifest), &prediction.object, subject.of);
    changes(&prediction.object, &wanted, subject.of, subject.status_is_apart)
        .into_iter()
        .filter(|change| !found.iter().any(|other| other.path.overlaps(&change.path)))
        .filter(|change| change.op != Op::Move)
        .map(|change| FieldChange {
            path: change.path,
            op: change.op,
            class: Class::Overridden,
            live: change.from,
            desired: change.to,
            managers: Vec::new(),
        })
        .collect()
}

/// A key that was set through `stringData` stays in `data` when the manifest drops it: the API doesn't remove it.
fn kept_string_data(gvk: &GroupVersionKind, path: &FieldPath) -> Option<String> {
    let is_data = matches!(path.elements(), [PathElement::Field(first), _] if first == "data");
    (gvk.is_secret() && is_data).then(|| {
        format!("`{path}` stays in the cluster: it was set through `stringData`, from which the API removes nothing")
    })
}
