//! ConfigMaps and Secrets with a hash of their content in their name, as kustomize generates them: a change of the content is a new object and
//! the deletion of the former one. Both are one object to the reader.

mod differences;
mod references;
mod renaming;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reconcile_core::compare::{
    Action, Class, Decision, FieldChange, LeftDifference, ObjectDiff, Redactor, Secrecy, Side, Versions,
};
use reconcile_core::live::Target;
use reconcile_core::object::generated::Generated;
use reconcile_core::pass::Outcome;
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey, ObjectMeta as _, Op};

use super::ObjectReport;
use differences::{changes, explain};
use references::{Renames, follow};
pub use renaming::{Renaming, RenamingsElsewhere, created, renamings};
use renaming::{is_plain_deletion, may_be_former};

/// A former object that was read, and compared with the manifest of the new one.
pub struct FormerObject {
    /// The object, as if it were to be deleted, with its times and the ignore rules that cover a field of it.
    object: ObjectReport,
    /// The differences that were found between the manifest and it.
    changes: Vec<FieldChange>,
}

impl FormerObject {
    /// A live object, and the decision about it as if it had the manifest of the new one, under its own name.
    pub fn new(former: &Target, mut live: Value, decision: &Decision, redactor: &Redactor) -> Self {
        let key = &former.key;
        if let Some(Value::Object(metadata)) = live.get_mut("metadata") {
            metadata.remove("managedFields");
        }
        let shown = redactor.value(&Secrecy::of_target(former, Some(&live)), &FieldPath::root(), &live);
        let mut object = ObjectReport::unwanted(key, ObjectDiff::delete(shown, Side::Manifest, String::new()));
        object.details.rules.clone_from(&decision.rules);
        object.details.times = decision.times();
        Self { object, changes: decision.diff.changes.clone() }
    }
}

/// Shows each new object with a generated name and the former one as one object under a new name: the newest that is deleted, or else that
/// of `formers`, which stay. A deletion that still has to be allowed, or that cannot be done, stays on its own, and so do both if they are
/// not done alike.
pub(crate) fn paired(mut objects: Vec<ObjectReport>, formers: &[FormerObject]) -> Vec<ObjectReport> {
    take_rules(&mut objects, formers);
    let mut renames = Renames::new();
    let mut gone = take_deletions(&mut objects, &mut renames);
    pair(&mut objects, formers, &mut gone, &mut renames);
    gone.extend(left_as_one(&mut objects));
    if !renames.is_empty() {
        for object in &mut objects {
            follow(object, &renames);
        }
    }
    let mut at = 0_usize..;
    objects.retain(|_| !at.next().is_some_and(|at| gone.contains(&at)));
    objects
}

/// Gives the objects that have a former one already its deletion: the report of a shard has some of which another shard deletes the former
/// one. Returns the places of these deletions.
fn take_deletions(objects: &mut [ObjectReport], renames: &mut Renames) -> BTreeSet<usize> {
    let mut known = BTreeMap::new();
    for object in objects.iter().filter(|object| object.diff.action == Action::Update) {
        if let Some(former) = object.former() {
            renames.insert((former.namespace.clone(), former.name.clone()), object.key.clone());
            if Generated::of(&former) == Generated::of(&object.key) {
                known.insert(former, object.key.clone());
            }
        }
    }
    let mut gone = BTreeSet::new();
    let mut deletions = BTreeMap::new();
    for (at, object) in objects.iter().enumerate().filter(|(_, object)| is_plain_deletion(object)) {
        if let Some(new) = known.remove(&object.key) {
            gone.insert(at);
            deletions.insert(new, object.diff.deletion.clone());
        }
    }
    if !deletions.is_empty() {
        for object in objects {
            if let Some(deletion) = deletions.remove(&object.key) {
                object.diff.deletion = deletion;
            }
        }
    }
    gone
}

/// Puts each new object and its former one in the place of the new one. Adds the places of the deletions to those that are `gone`, and
/// the new names to `renames`.
fn pair(objects: &mut [ObjectReport], formers: &[FormerObject], gone: &mut BTreeSet<usize>, renames: &mut Renames) {
    let mut deleted: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, object) in objects.iter().enumerate().filter(|(_, object)| is_plain_deletion(object)) {
        if !gone.contains(&at) {
            deleted.entry(Generated::of(&object.key)).or_default().push(at);
        }
    }
    let compared: BTreeMap<&ObjectKey, &FormerObject> =
        formers.iter().map(|former| (&former.object.key, former)).collect();
    let mut staying: BTreeMap<Generated, &ObjectReport> = BTreeMap::new();
    for FormerObject { object, .. } in formers {
        let stays = !objects.iter().any(|other| other.key == object.key && !may_be_former(other));
        if let Some(generated) = Generated::of(&object.key).filter(|_| stays) {
            staying.entry(generated).or_insert(object);
        }
    }
    for at in 0..objects.len() {
        let Some(new) = objects.get(at).filter(|object| object.diff.action == Action::Create) else { continue };
        let Some(generated) = Generated::of(&new.key) else { continue };
        let places = deleted.remove(&Some(generated.clone())).unwrap_or_default();
        let created = |at: &usize| objects.get(*at).and_then(live).and_then(created_at).map(ToOwned::to_owned);
        let newest = places.iter().max_by_key(|at| created(at)).copied();
        let staying = || staying.get(&generated).copied();
        let Some(old) = newest.and_then(|at| objects.get(at)).or_else(staying) else { continue };
        let is_alike = match new.run.outcome {
            None => old.run.outcome.is_none(),
            Some(outcome) => outcome == Outcome::Created && (newest.is_none() || old.run.outcome.is_some()),
        };
        let compared = compared.get(&old.key).copied();
        if let Some(renamed) = renamed(new, old, compared).filter(|_| is_alike) {
            gone.extend(newest);
            renames.insert((renamed.key.namespace.clone(), old.key.name.clone()), renamed.key.clone());
            if let Some(slot) = objects.get_mut(at) {
                *slot = renamed;
            }
        }
    }
}

/// Gives the new objects the ignore rules that cover fields of the former ones.
fn take_rules(objects: &mut [ObjectReport], formers: &[FormerObject]) {
    let rules = formers.iter().map(|former| (Generated::of(&former.object.key), &former.object.details.rules));
    let rules: BTreeMap<Option<Generated>, _> = rules.filter(|(_, rules)| !rules.is_empty()).collect();
    if rules.is_empty() {
        return;
    }
    for object in objects.iter_mut().filter(|object| object.source.is_some()) {
        if let Some(rules) = Generated::of(&object.key).and_then(|generated| rules.get(&Some(generated))) {
            object.details.rules.extend(*rules);
        }
    }
}

/// Shows a new object that is left, and the only former one that is left with it, as one object whose new name is left. Returns the
/// places of the former ones.
fn left_as_one(objects: &mut [ObjectReport]) -> Vec<usize> {
    let mut former: BTreeMap<Option<Generated>, Vec<(usize, String)>> = BTreeMap::new();
    for (at, object) in objects.iter().enumerate().filter(|(_, object)| is_left(object, Class::Pruned)) {
        former.entry(Generated::of(&object.key)).or_default().push((at, object.key.name.clone()));
    }
    let mut gone = Vec::new();
    for object in objects.iter_mut().filter(|object| is_left(object, Class::Missing)) {
        let Some(generated) = Generated::of(&object.key) else { continue };
        if let Some([(at, name)]) = former.remove(&Some(generated)).as_deref() {
            gone.push(*at);
            object.renamed_from = Some(name.clone());
            let path = FieldPath::root();
            object.diff.left = vec![LeftDifference { path, class: Class::Pending, side: Side::Manifest }];
        }
    }
    gone
}

/// Returns true if the run leaves an object that is missing, or to be deleted.
fn is_left(object: &ObjectReport, class: Class) -> bool {
    object.diff.action == Action::None
        && object.is_left_whole()
        && object.diff.left.iter().all(|left| left.class == class)
}

/// The live object of a deletion.
fn live(object: &ObjectReport) -> Option<&Value> {
    object.diff.changes.first()?.live.as_deref()
}

fn created_at(object: &Value) -> Option<&str> {
    object.metadata("creationTimestamp")?.as_str()
}

/// The new object with the differences from the old one, which `compared` tells more about. If their content is the same, as after a pull of
/// all that differed, the name is the difference.
fn renamed(new: &ObjectReport, old: &ObjectReport, compared: Option<&FormerObject>) -> Option<ObjectReport> {
    let desired = new.diff.changes.first()?.desired.as_ref()?;
    // With the manifest, more of its annotations are shown.
    let live = live(compared.map_or(old, |compared| &compared.object))?;
    let mut changes = changes(live, desired);
    let is_known = new.is_known() && old.is_known();
    for change in &mut changes {
        // Other classes tell of owners, also of the object as a whole.
        let says_side = |found: &&FieldChange| found.is_drift() || found.class == Class::Unmanaged;
        // In the reports of two shards, nothing tells which side changed.
        let compared = compared.iter().flat_map(|compared| &compared.changes).filter(says_side);
        let above = compared.filter(|found| found.path.is_prefix_of(&change.path));
        explain(change, above.max_by_key(|found| found.path.elements().len()));
    }
    if changes.is_empty() {
        let name = FieldPath::of(&["metadata", "name"]);
        changes.push(FieldChange::within(&name, Op::Change, live.metadata("name"), desired.metadata("name")));
    }
    for change in &mut changes {
        change.known = is_known;
    }
    let mut object = new.clone();
    if let Some(compared) = compared {
        object.details.times = compared.object.details.times;
    }
    object.renamed_from = Some(old.key.name.clone());
    object.resource_version.clone_from(&old.resource_version);
    object.diff.deletion.clone_from(&old.diff.deletion);
    object.diff.action = Action::Update;
    if object.run.outcome == Some(Outcome::Created) {
        object.run.outcome = Some(Outcome::Updated);
    }
    object.diff.changes = changes;
    object.diff.find_side();
    object.diff.notes.versions = Some(Arc::new(Versions::of_redacted(live, desired)));
    Some(object)
}

#[cfg(test)]
mod tests;
