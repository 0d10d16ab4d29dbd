//! The search for the former objects of new ones with generated names.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::compare::Action;
use reconcile_core::object::generated::{Generated, names_in_place_of_others};
use reconcile_core::pass::Outcome;
use structured_merge::ObjectKey;

use crate::model::object::ObjectReport;

/// A new object with a generated name, and an object that may be the former one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renaming {
    /// The new object.
    pub new: ObjectKey,
    /// The object that may be the former one.
    pub former: ObjectKey,
}

/// The objects that may be the former ones of new objects of a shard, as far as other shards have what names them.
#[derive(Debug, Default)]
pub struct RenamingsElsewhere {
    /// Those that the apply set deletes, each with a new object.
    pub deleted: Vec<Renaming>,
    /// Those to which live objects refer where the manifests refer to the new one.
    pub referred: Vec<Renaming>,
}

/// The objects that may be the former ones of new objects with generated names: those that the apply set deletes, or else those to which
/// live workloads refer where the manifests refer to the new one, and those that only the base has. A new object with several of the
/// latter has none.
pub fn renamings(objects: &[ObjectReport], dropped: &[ObjectKey], elsewhere: RenamingsElsewhere) -> Vec<Renaming> {
    let known = objects.iter().filter(|object| !may_be_former(object));
    let known: BTreeSet<&ObjectKey> = known.map(|object| &object.key).collect();
    let mut deleted: BTreeMap<Generated, Vec<&ObjectKey>> = BTreeMap::new();
    for key in objects.iter().filter(|one| is_plain_deletion(one)).map(|one| &one.key) {
        if let Some(generated) = Generated::of(key) {
            deleted.entry(generated).or_default().push(key);
        }
    }
    let mut new: BTreeMap<Generated, Vec<&ObjectKey>> = BTreeMap::new();
    for (generated, key) in created(objects) {
        new.entry(generated).or_default().push(key);
    }
    new.retain(|_, keys| keys.len() == 1);
    let mut found = Vec::new();
    new.retain(|generated, keys| {
        let of_set = deleted.remove(generated);
        for former in of_set.iter().flatten() {
            found.extend(keys.iter().map(|new| Renaming { new: (*new).clone(), former: (*former).clone() }));
        }
        of_set.is_none()
    });
    for renaming in elsewhere.deleted {
        if Generated::of(&renaming.new).is_some_and(|generated| new.remove(&generated).is_some()) {
            found.push(renaming);
        }
    }
    if new.is_empty() {
        return found;
    }
    let mut former: BTreeMap<&ObjectKey, BTreeSet<String>> =
        new.values().flatten().map(|key| (*key, BTreeSet::new())).collect();
    for other in dropped.iter().filter(|other| !known.contains(other)) {
        let keys = Generated::of(other).and_then(|generated| new.get(&generated));
        for key in keys.into_iter().flatten() {
            former.entry(key).or_default().insert(other.name.clone());
        }
    }
    for renaming in elsewhere.referred.iter().filter(|renaming| !known.contains(&renaming.former)) {
        if let Some(former) = former.get_mut(&renaming.new) {
            former.insert(renaming.former.name.clone());
        }
    }
    let mut named: BTreeMap<(Option<&str>, &str), Vec<&ObjectKey>> = BTreeMap::new();
    for key in new.into_values().flatten() {
        named.entry((key.namespace.as_deref(), &key.name)).or_default().push(key);
    }
    for object in objects.iter().filter(|object| object.diff.action == Action::Update) {
        let before = object.diff.changes.iter().filter_map(|change| change.live.as_deref());
        let after = object.diff.changes.iter().filter_map(|change| change.desired.as_deref());
        for (name, others) in names_in_place_of_others(before, after) {
            for key in named.get(&(object.key.namespace.as_deref(), name)).into_iter().flatten() {
                let other = |name: &str| ObjectKey { name: name.to_owned(), ..(*key).clone() };
                let unknown = others.iter().map(|name| other(name)).filter(|other| !known.contains(other));
                former.entry(key).or_default().extend(unknown.map(|other| other.name));
            }
        }
    }
    let one = |(key, formers): (&ObjectKey, BTreeSet<String>)| {
        let mut formers = formers.into_iter();
        let name = formers.next().filter(|_| formers.next().is_none())?;
        Some(Renaming { new: key.clone(), former: ObjectKey { name, ..key.clone() } })
    };
    found.extend(former.into_iter().filter_map(one));
    found
}

/// The objects with generated names that do not exist.
pub fn created(objects: &[ObjectReport]) -> impl Iterator<Item = (Generated, &ObjectKey)> {
    let created = objects.iter().filter(|object| object.diff.action == Action::Create);
    created.filter_map(|object| Some((Generated::of(&object.key)?, &object.key)))
}

/// Returns true if it may be the former one although the report shows it as well: a member of the apply set that is kept.
pub(super) fn may_be_former(object: &ObjectReport) -> bool {
    object.is_kept() && !object.is_left_whole()
}

/// Returns true for the deletion of an object of the apply set that is allowed and not refused.
pub(super) fn is_plain_deletion(object: &ObjectReport) -> bool {
    let is_done = object.run.outcome.is_none_or(|outcome| outcome == Outcome::Deleted);
    let is_allowed = object.diff.deletion.as_ref().is_none_or(|deletion| deletion.allowed || deletion.needs.is_empty());
    object.diff.action == Action::Delete && is_allowed && object.messages.error.is_none() && is_done
}
