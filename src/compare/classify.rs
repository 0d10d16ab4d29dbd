//! From two versions of an object to a verdict: every difference with its class, its owners and, for a Secret, redacted.

use apply_set::{PART_OF, part_of};
use serde_json::Value;
use structured_merge::{
    Change, ClaimStrength, Claimants, FieldPath, FieldSet, GroupVersionKind, KindInfo, LAST_APPLIED, Lookup,
    ManagedFieldsEntry, Op, Ownership, PathElement, TypeRef, changes, claim_strength, leave_out_bookkeeping, merge,
    unrecorded, with_node_ports, with_string_data, with_string_data_folded,
};

use super::beside::beside;
use super::conflicts::{Taken, owners, paths_of};
use super::diff::{Class, Conflict, Evidence, FieldChange, FieldDiff, Owner, Reason, UnmanagedCount};
use super::policy::{ForceConflicts, Policy};
use super::prediction::Prediction;
use super::redact::Redactor;
use super::secrecy::Secrecy;

/// One object as it is wanted and as it is.
#[derive(Clone, Copy, Debug)]
pub struct ObjectPair<'a> {
    /// Its type.
    pub gvk: &'a GroupVersionKind,
    /// Each group and version in which kinds of its name are served.
    pub versions: &'a [String],
    /// The object as it is sent.
    pub manifest: &'a Value,
    /// The manifest with what rules ignore, for what is secret in it.
    pub written: &'a Value,
    /// What rules ignore: nothing of it is a difference.
    pub ignored: &'a FieldSet,
    /// The live object.
    pub live: &'a Value,
    /// The type's fields.
    pub of: TypeRef<'a>,
    /// Whether `status` belongs to a subresource.
    pub status_is_apart: bool,
}

/// Judges what an apply would change, with what the author of the manifest should know.
#[must_use]
pub fn judge(
    subject: ObjectPair<'_>,
    prediction: &Prediction,
    policy: &Policy,
    redactor: &Redactor,
) -> (FieldDiff, Vec<String>) {
    let before = Ownership::of(subject.live, &policy.manager);
    let mut differences = changes(subject.live, &prediction.object, subject.of, subject.status_is_apart);
    leave_out_bookkeeping(&mut differences, subject.gvk, subject.manifest, subject.of);
    let nobody = owner_of_unrecorded(&subject);
    let context = Context {
        of: subject.of,
        claimants: Claimants::of(&before.others),
        taken: Taken::between(&subject, &before, nobody.as_ref(), &differences, &prediction.owners, policy),
        passing: settled(&subject, &before, prediction, policy).map(|owners| owners.our_fields()).unwrap_or_default(),
        ours_before: with_string_data(subject.gvk, before.our_fields(), &before.others),
        ours_after: with_string_data(subject.gvk, prediction.owners.our_fields(), &[]),
        claims: prediction.owners.our_fields().union(&before.our_fields()),
        before: &before,
    };
    let mut found: Vec<FieldChange> = differences.into_iter().map(|change| context.classified(change)).collect();
    context.taken.mark_renamed(&mut found, &context.ours_after, &context.claimants, subject.of);
    // The copy that client-side apply keeps goes with its owner, whose claims pass to us.
    let copy = FieldPath::of(&["metadata", "annotations", LAST_APPLIED]);
    found.retain(|change| change.op != Op::Remove || change.path != copy);
    let is_ignored = |path: &FieldPath| subject.ignored.contains_at_or_above(path);
    found.retain(|change| !is_ignored(&change.path));
    if policy.force == ForceConflicts::None {
        found.extend(context.taken.unseen(subject.live, subject.manifest, subject.ignored, &found));
    }
    let mut manifest = Lookup::of(subject.manifest);
    for change in &mut found {
        change.defaulted = defaulted(change, &mut manifest);
    }
    let mut conflicts = context.taken.conflicts(&found);
    let other_set = other_apply_set(&subject);
    if other_set.is_some() {
        conflicts.extend(context.kept_in_its_apply_set(&mut found, &policy.manager));
    }
    // Of a kind whose types aren't known, lists are compared by position: what others put in would seem to be in the way.
    if prediction.evidence != Evidence::Proven && subject.of.declares("kind") {
        found.extend(overridden(subject, prediction, &found));
    }
    let mut live = Lookup::of(subject.live);
    let mut released = context.released(&mut live, &found);
    released.retain(|change| !is_ignored(&change.path));
    let mut warnings = Vec::new();
    for change in released {
        if change.managers.is_empty() {
            warnings.extend(kept_string_data(subject.gvk, &change.path));
        } else {
            found.push(change);
        }
    }
    let is_settled = |change: &FieldChange| change.class.is_drift() || change.class == Class::Released;
    let is_newly_ours = context.is_newly_claimed(&prediction.owners) || before.is_adopting(&context.claims, policy);
    if !found.iter().any(is_settled) && is_newly_ours {
        found.push(FieldChange::of_object(Op::Change, Class::Adopted));
    }
    let mut beside = beside(subject.live, &before, &prediction.owners.our_fields(), policy);
    beside.retain(|path| !is_ignored(path));
    let drifts: FieldSet =
        found.iter().filter(|change| change.class.is_drift()).map(|change| change.path.clone()).collect();
    beside.retain(|path| !drifts.overlaps(path));
    let mut unmanaged = context.unmanaged(&mut live, &found);
    unmanaged.retain(|change| !is_ignored(&change.path));
    for change in &mut unmanaged {
        policy.mark_manual(&mut change.managers);
    }
    let counted = UnmanagedCount::of(&unmanaged);
    if policy.show_unmanaged {
        found.extend(unmanaged);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let secrecy = Secrecy::of(subject.gvk, Some(subject.written), Some(subject.live));
    for change in &mut found {
        policy.mark_manual(&mut change.managers);
        for value in [&mut change.live, &mut change.desired].into_iter().flatten() {
            *value = redactor.value(&secrecy, &change.path, value);
        }
    }
    let held = other_set.map(|id| {
        let hint = "take it out of that set first: out of its manifests, or, if no tool manages the set, by removing the label";
        Reason { text: format!("it belongs to another apply set, `{id}`"), hint: Some(hint.to_owned()) }
    });
    (
        FieldDiff {
            evidence: prediction.evidence,
            changes: found,
            conflicts,
            beside,
            unmanaged: counted,
            ignored: Vec::new(),
            held,
            versions: None,
        },
        warnings,
    )
}

/// The owners once manual claims have passed to us, if some do.
fn settled(subject: &ObjectPair<'_>, before: &Ownership, after: &Prediction, policy: &Policy) -> Option<Ownership> {
    let (claims, api_version) = (after.owners.our_fields(), subject.gvk.api_version());
    before.with_claims_transferred(subject.live, subject.of, &claims, &api_version, policy)
}

/// The owner that the server invents for an object without a record of owners.
fn owner_of_unrecorded(subject: &ObjectPair<'_>) -> Option<ManagedFieldsEntry> {
    let kind = KindInfo { gvk: subject.gvk.clone(), root: 0, namespaced: false, status: subject.status_is_apart };
    unrecorded(subject.live, subject.of, Some(&kind), &subject.gvk.api_version())
}

/// The apply set that the object belongs to, where the manifest would put it into another: an object belongs to one at
/// most (KEP-3659), and is never taken out of it, no matter who owns the label.
fn other_apply_set<'a>(subject: &ObjectPair<'a>) -> Option<&'a str> {
    let wanted = part_of(subject.manifest)?;
    part_of(subject.live).filter(|id| *id != wanted)
}

struct Context<'a> {
    before: &'a Ownership,
    of: TypeRef<'a>,
    /// Who else claims what.
    claimants: Claimants<'a>,
    taken: Taken<'a>,
    ours_before: FieldSet,
    /// What is ours before the apply, with what manual managers pass to us.
    passing: FieldSet,
    ours_after: FieldSet,
    /// What is ours before or after the apply, as it is recorded.
    claims: FieldSet,
}

impl Context<'_> {
    fn classified(&self, change: Change) -> FieldChange {
        let class = self.class(&change);
        let managers = match class {
            Class::Conflict | Class::ChangedByOther => self.owners(&change.path),
            _ => Vec::new(),
        };
        FieldChange {
            path: change.path,
            op: change.op,
            class,
            live: change.from,
            desired: change.to,
            managers,
            defaulted: Vec::new(),
        }
    }

    fn class(&self, change: &Change) -> Class {
        let path = &change.path;
        if self.taken.overlaps(path) {
            return Class::Conflict;
        }
        let ours = claim_strength(&self.ours_before, path, self.of);
        let (theirs, _) = self.claimants.best(path, self.of);
        let will_be_ours = self.ours_after.covers(path);
        match change.op {
            Op::Move => Class::Reordered,
            _ if !will_be_ours && (ours > ClaimStrength::None || self.passing.covers(path)) => Class::Pruned,
            Op::Change | Op::Remove if theirs > ClaimStrength::None && ours < theirs => Class::ChangedByOther,
            Op::Remove => Class::Pruned,
            Op::Add if ours < ClaimStrength::Own && self.before.ours.is_some() => Class::RemovedByOther,
            Op::Add | Op::Change => Class::Pending,
        }
    }

    /// The others who own a field.
    fn owners(&self, path: &FieldPath) -> Vec<Owner> {
        owners(self.claimants.best(path, self.of).1.into_iter())
    }

    /// Makes a conflict of the change of the label that names the object's apply set.
    fn kept_in_its_apply_set(&self, found: &mut [FieldChange], manager: &str) -> Option<Conflict> {
        let path = FieldPath::of(&["metadata", "labels", PART_OF]);
        let change = found.iter_mut().find(|change| change.path == path)?;
        let is_known = change.class == Class::Conflict;
        change.class = Class::Conflict;
        change.managers = self.owners(&path);
        let owner = change.managers.first().cloned().or_else(|| self.before.ours.as_ref().map(Owner::from));
        let (operation, subresource) = ("Apply".to_owned(), String::new());
        let owner =
            owner.unwrap_or(Owner { manager: manager.to_owned(), operation, subresource, time: None, manual: false });
        (!is_known).then_some(Conflict { path, owner })
    }

    /// Fields that were ours, are not in the manifest any more, and stay; with the co-owners who keep them.
    fn released(&self, live: &mut Lookup<'_>, found: &[FieldChange]) -> Vec<FieldChange> {
        let given_up = self.ours_before.difference(&self.ours_after);
        let differs = paths_of(found);
        let mut outermost = FieldSet::new();
        let mut released = Vec::new();
        given_up.visit(&mut |path, _| {
            let stays = !self.ours_after.contains_at_or_below(path) && !differs.overlaps(path);
            if !stays || outermost.contains_at_or_above(path) {
                return;
            }
            if let Some(value) = live.value(path).cloned() {
                outermost.insert(path);
                released.push(FieldChange {
                    path: path.clone(),
                    op: Op::Remove,
                    class: Class::Released,
                    desired: Some(value.clone()),
                    live: Some(value),
                    managers: self.owners(path),
                    defaulted: Vec::new(),
                });
            }
        });
        released
    }

    /// Returns true if our entry would be written again although no value changes.
    fn is_newly_claimed(&self, after: &Ownership) -> bool {
        let key =
            |owners: &Ownership| owners.ours.as_ref().map(|entry| (entry.api_version.clone(), entry.fields.clone()));
        // A manifest without any field of its own (a Namespace with only a name) claims nothing.
        let nothing = |owners: &Ownership| owners.our_fields().is_empty();
        key(self.before) != key(after) && !(nothing(self.before) && nothing(after))
    }

    /// Fields that others added: live, theirs, and neither ours nor the manifest's.
    fn unmanaged(&self, live: &mut Lookup<'_>, found: &[FieldChange]) -> Vec<FieldChange> {
        let mut known = paths_of(found);
        known.insert(&FieldPath::of(&["status"]));
        let copy = FieldPath::of(&["metadata", "annotations", LAST_APPLIED]);
        let is_ours = |path: &FieldPath| {
            [&self.ours_before, &self.ours_after]
                .into_iter()
                .any(|ours| claim_strength(ours, path, self.of) == ClaimStrength::Own)
        };
        let of_objects = self.before.others.iter().filter(|entry| entry.subresource != "status");
        let theirs = of_objects.fold(FieldSet::new(), |theirs, entry| theirs.union(&entry.fields));
        let mut unmanaged: Vec<FieldChange> = Vec::new();
        theirs.visit(&mut |path, _| {
            if is_ours(path) || known.contains_at_or_above(path) || path.overlaps(&copy) {
                return;
            }
            if let Some(value) = live.value(path) {
                known.insert(path);
                unmanaged.push(FieldChange {
                    op: Op::Add,
                    class: Class::Unmanaged,
                    live: Some(value.clone()),
                    desired: None,
                    managers: self.owners(path),
                    defaulted: Vec::new(),
                    path: path.clone(),
                });
            }
        });
        unmanaged
    }
}

/// The fields of an added value that the manifest does not have.
fn defaulted(change: &FieldChange, manifest: &mut Lookup<'_>) -> Vec<FieldPath> {
    let mut beyond = Vec::new();
    if let (Op::Add, Some(value)) = (change.op, &change.desired)
        && let Some(written) = manifest.value(&change.path)
    {
        collect_beyond(&mut beyond, &FieldPath::root(), value, written);
    }
    beyond
}

fn collect_beyond(beyond: &mut Vec<FieldPath>, path: &FieldPath, value: &Value, written: &Value) {
    match (value, written) {
        (Value::Object(fields), Value::Object(written)) => {
            for (name, value) in fields {
                let path = path.field(name);
                match written.get(name) {
                    Some(written) => collect_beyond(beyond, &path, value, written),
                    None => beyond.push(path),
                }
            }
        }
        (Value::Array(items), Value::Array(written)) if items.len() == written.len() => {
            for (at, (item, written)) in items.iter().zip(written).enumerate() {
                collect_beyond(beyond, &path.child(PathElement::index(at)), item, written);
            }
        }
        _ => {}
    }
}

/// Where the manifest's value is not the one that an apply would leave, although nothing would change: admission or the
/// server keeps its own.
fn overridden(subject: ObjectPair<'_>, prediction: &Prediction, found: &[FieldChange]) -> Vec<FieldChange> {
    let manifest = with_node_ports(with_string_data_folded(subject.manifest), &prediction.object, subject.of);
    let wanted = merge(&manifest, &prediction.object, subject.of);
    let differs = paths_of(found);
    let mut kept = changes(&prediction.object, &wanted, subject.of, subject.status_is_apart);
    leave_out_bookkeeping(&mut kept, subject.gvk, subject.manifest, subject.of);
    kept.into_iter()
        .filter(|change| !differs.overlaps(&change.path))
        .filter(|change| change.op != Op::Move)
        .map(|change| FieldChange {
            path: change.path,
            op: change.op,
            class: Class::Overridden,
            live: change.from,
            desired: change.to,
            managers: Vec::new(),
            defaulted: Vec::new(),
        })
        .collect()
}

/// A key that was set through `stringData` stays in `data` when the manifest drops it: the API does not remove it.
fn kept_string_data(gvk: &GroupVersionKind, path: &FieldPath) -> Option<String> {
    let is_data = matches!(path.elements(), [PathElement::Field(first), _] if first == "data");
    (gvk.is_secret() && is_data).then(|| {
        format!("`{path}` stays in the cluster: it was set through `stringData`, from which the API removes nothing")
    })
}
