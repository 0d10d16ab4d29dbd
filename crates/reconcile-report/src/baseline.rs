//! `diff --baseline`: the differences that an earlier report has already. They are shown on request only, and do not make a run fail.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use reconcile_core::compare::{Action, Class, FieldChange, REDACTED};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::manifest::Packed;
use reconcile_core::object::Shard;
use reconcile_core::object::generated::Generated;
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey, Op, PathElement};

use crate::formats::json::OMITTED_BYTES;
use crate::merge::MergeInput;
use crate::model::{ClusterInfo, Command, ObjectReport, Report};
use crate::words::value::number::counted;

/// The reports of an earlier `diff`, one for each of its clusters.
#[derive(Debug)]
pub struct Baseline {
    file: String,
    reports: Vec<MergeInput>,
}

/// The differences that one cluster had.
#[derive(Debug, Default)]
pub struct KnownDifferences {
    objects: HashMap<ObjectKey, KnownObject>,
    /// The objects under a new name, by their former ones.
    renamed: HashMap<ObjectKey, ObjectKey>,
    /// The former objects that go because new ones come under other names, with their versions.
    former: HashMap<ObjectKey, Option<String>>,
    /// True if the baseline or the run has a base, by which the class of a difference may be another.
    has_base: bool,
}

/// The known differences of an object of the run.
struct KnownAs<'k> {
    known: &'k KnownObject,
    /// True if it is known under another name.
    is_other_name: bool,
}

#[derive(Debug)]
struct KnownObject {
    /// False if the input of the run could not have it, so that its absence means nothing.
    is_in_input: bool,
    /// The former object with which it was compared, if it does not exist yet.
    former: Option<ObjectKey>,
    resource_version: Option<String>,
    changes: BTreeMap<(FieldPath, Class), KnownChange>,
    added_items: BTreeSet<FieldPath>,
    /// The items of lists, as text, that are one difference because only a name in them is another. A run that does not see why has two:
    /// an item that comes, and one that goes.
    renamed_items: BTreeSet<(Vec<PathElement>, String)>,
}

/// The values of a known difference.
#[derive(Debug)]
struct KnownChange {
    live: Option<Packed>,
    desired: Option<Packed>,
    /// False for what others added and no apply removes, for example.
    is_drift: bool,
    /// True if it follows from another object.
    follows: bool,
}

impl Baseline {
    /// Reads the reports of a file. The error has its location.
    pub fn read(file: &str, text: &[u8]) -> Result<Self, Diagnostic> {
        let reports = MergeInput::read(file, text)?;
        if reports.iter().any(|one| one.report.command != Command::Diff) {
            let diagnostic = Diagnostic::of_file(file, "not the report of a `diff`");
            return Err(diagnostic.with_hint("write one with `kubectl reconcile diff … -o json=baseline.json`"));
        }
        Ok(Self { file: file.to_owned(), reports })
    }

    /// The differences of a cluster, or those of a snapshot if there is no cluster. A baseline of another cluster is an error: the same
    /// objects differ there for other reasons. `has_base` says if the run has a base.
    pub fn of(&self, cluster: Option<&ClusterInfo>, has_base: bool) -> Result<KnownDifferences, Diagnostic> {
        let of_cluster = |one: &&MergeInput| match (&one.report.cluster, cluster) {
            (Some(known), Some(cluster)) => known.is_same(cluster),
            (None, None) => true,
            _ => false,
        };
        let context = cluster.and_then(|cluster| cluster.context.as_deref());
        let mut same = self.reports.iter().filter(of_cluster);
        let first = same.clone().next();
        let found = same.find(|one| one.context() == context).or(first);
        found.map(|one| KnownDifferences::of(&one.report, has_base)).ok_or_else(|| self.of_another(cluster))
    }

    fn of_another(&self, cluster: Option<&ClusterInfo>) -> Diagnostic {
        let named =
            |cluster: Option<&ClusterInfo>| cluster.map_or("a snapshot".to_owned(), |one| format!("`{}`", one.server));
        let known = match self.reports.as_slice() {
            [one] => named(one.report.cluster.as_ref()),
            several => format!("{} other clusters", several.len()),
        };
        let now = named(cluster);
        let message = if known == now {
            format!("the baseline is of another cluster than this run: the one at {now} has another UID by now")
        } else {
            format!("the baseline is of {known}, and this run is of {now}")
        };
        Diagnostic::of_file(&self.file, message).with_hint("write a baseline for each cluster")
    }
}

impl KnownDifferences {
    fn of(report: &Report, has_base: bool) -> Self {
        let has_base = has_base || report.base.is_some();
        let entry = |change: &FieldChange| {
            let key = (change.path.clone(), found_again(change.class, has_base));
            let (live, desired) = (change.live.clone(), change.desired.clone());
            (key, KnownChange { live, desired, is_drift: change.is_drift(), follows: !change.follows.is_empty() })
        };
        let known = |object: &ObjectReport| KnownObject {
            is_in_input: true,
            former: object.former(),
            resource_version: object.resource_version.clone(),
            changes: object.diff.changes.iter().map(entry).collect(),
            added_items: object.diff.added_items.iter().cloned().collect(),
            renamed_items: object.diff.changes.iter().flat_map(renamed_items).collect(),
        };
        let objects = report.objects.iter().map(|object| (object.key.clone(), known(object))).collect();
        let new_of = |object: &ObjectReport| Some((object.former()?, object.key.clone()));
        let new_of = report.objects.iter().filter_map(new_of).collect();
        // Without a set, the former ones stay.
        let renamed = report.objects.iter().filter(|_| report.apply_set.is_some());
        let former = renamed.filter_map(|object| Some((object.former()?, object.resource_version.clone())));
        Self { objects, renamed: new_of, former: former.collect(), has_base }
    }

    /// Marks the objects that the input has, as it may have only some of the files. `has` says whether it has a file.
    pub fn of_input(mut self, report: &Baseline, has: impl Fn(&str) -> bool) -> Self {
        for one in report.reports.iter().flat_map(|one| &one.report.objects) {
            if let (Some(known), Some(source)) = (self.objects.get_mut(&one.key), &one.source) {
                known.is_in_input = has(&source.file);
            }
        }
        self
    }

    /// A warning about known differences of objects that the input of the run does not have.
    pub fn outside(&self, objects: &[ObjectReport], shard: Option<Shard>) -> Option<String> {
        let now: BTreeSet<&ObjectKey> = objects.iter().map(|object| &object.key).collect();
        let is_left_out = left_out(objects);
        let is_outside = |(key, known): &(&ObjectKey, &KnownObject)| {
            is_left_out(key, known) && !now.contains(key) && shard.is_none_or(|shard| shard.has(key))
        };
        let outside = self.objects.iter().filter(is_outside).map(|(_, known)| known.drift().count());
        let outside = outside.fold(0, usize::saturating_add);
        let differences = counted(outside, "difference", "differences");
        (outside > 0).then(|| format!("{differences} of the baseline may still be there: this input leaves them out"))
    }

    /// Marks the differences of an object that are known.
    pub fn mark(&self, object: &mut ObjectReport) {
        // A run may see only one of a new object and the former one: they may be in different shards.
        if object.diff.action == Action::Delete && self.former.get(&object.key) == Some(&object.resource_version) {
            return object.diff.changes.iter_mut().for_each(|change| change.known = true);
        }
        let Some(KnownAs { known, is_other_name }) = self.of_object(object) else { return };
        // An object that does not exist has no version, and a snapshot may have none.
        let is_untouched = known.resource_version.is_some() && known.resource_version == object.resource_version;
        for change in &mut object.diff.changes {
            let of = |class| known.changes.get(&(change.path.clone(), found_again(class, self.has_base)));
            // Nothing refuses to create what is in conflict under the former name.
            let is_no_conflict = is_other_name && change.class == Class::ChangedByOther;
            let former = of(change.class).or_else(|| of(Class::Conflict).filter(|_| is_no_conflict));
            change.known = former.filter(|former| former.is_drift || !change.is_drift()).is_some_and(|former| {
                // Nothing tells whether a hidden value of the manifest is still the former one.
                is_same(former.live.as_deref(), change.live.as_deref(), is_untouched)
                    && is_same(former.desired.as_deref(), change.desired.as_deref(), false)
            });
        }
        for change in object.diff.changes.iter_mut().filter(|change| !known.renamed_items.is_empty() && !change.known) {
            let value = if change.op == Op::Add { &change.desired } else { &change.live };
            let is_item = matches!(change.op, Op::Add | Op::Remove);
            let item = item(&change.path, value.as_deref()).filter(|_| is_item);
            change.known = item.is_some_and(|item| known.renamed_items.contains(&item));
        }
        object.diff.known_added_items =
            object.diff.added_items.iter().filter(|path| known.added_items.contains(path)).count();
    }

    /// The known differences of an object. One under a new name may be known under its former name, or under another one that came in the place of
    /// that.
    fn of_object(&self, object: &ObjectReport) -> Option<KnownAs<'_>> {
        let known = self.objects.get(&object.key);
        if known.is_none_or(|known| known.former.is_none())
            && let Some(former) = object.former()
        {
            let other = self.renamed.get(&former).unwrap_or(&former);
            if let Some(known) = self.objects.get(other) {
                return Some(KnownAs { known, is_other_name: true });
            }
        }
        known.map(|known| KnownAs { known, is_other_name: false })
    }

    /// Marks the differences of an object that was two, or follows such an object. What is known of both is known of it, unless the
    /// baseline has it as one.
    pub fn mark_paired(&self, object: &mut ObjectReport) {
        let is_one = self.objects.get(&object.key).is_some_and(|known| known.former.is_some());
        let apart: Vec<bool> = object.diff.changes.iter().map(|change| change.known && !is_one).collect();
        self.mark(object);
        for (change, known) in object.diff.changes.iter_mut().zip(apart) {
            change.known |= known;
        }
    }

    /// The number of known differences that are gone. Those of objects that could not be compared, or that are in another shard, also under
    /// a new name, may still be there.
    pub fn resolved(&self, objects: &[ObjectReport], shard: Option<Shard>) -> usize {
        let now: HashMap<&ObjectKey, &ObjectReport> = objects.iter().map(|object| (&object.key, object)).collect();
        let renamed: HashMap<ObjectKey, &ObjectReport> =
            objects.iter().filter_map(|object| Some((object.former()?, object))).collect();
        let is_left_out = left_out(objects);
        let under_other_name = |key, known: &KnownObject| renamed.get(known.former.as_ref().unwrap_or(key));
        let resolved = self.objects.iter().map(|(key, known)| match now.get(key).or(under_other_name(key, known)) {
            None if is_left_out(key, known) => 0,
            None if shard.is_some_and(|shard| !shard.has(key) || Generated::of(key).is_some()) => 0,
            None => known.drift().count(),
            Some(object) if object.messages.error.is_some() => 0,
            // The new object was known as one that is missing, or is known as such now.
            Some(object) if object.is_known() && object.renamed_from.is_some() != known.former.is_some() => 0,
            Some(object) => {
                // A difference of which a value is hidden may be the former one, although it is not known.
                let may_be = |change: &&FieldChange| change.known || change.values().any(is_hidden);
                let changes = object.diff.changes.iter().filter(may_be);
                let still: BTreeSet<(&FieldPath, Class)> =
                    changes.map(|change| (&change.path, found_again(change.class, self.has_base))).collect();
                let still_paths: BTreeSet<&FieldPath> = still.iter().map(|(path, _)| *path).collect();
                let left: BTreeSet<&FieldPath> = object.diff.left.iter().map(|left| &left.path).collect();
                let is_other_name = object.key != *key;
                let all: BTreeSet<&FieldPath> = object.diff.changes.iter().map(|change| &change.path).collect();
                let is_still = |(path, class): &(FieldPath, Class)| {
                    left.contains(path)
                        || known.is_omitted(path, *class) && all.contains(path)
                        || is_other_name && still_paths.contains(path)
                        || still.contains(&(path, *class))
                        || known.is_following(path, *class) && still_paths.contains(path)
                };
                known.drift().filter(|entry| !is_still(entry)).count()
            }
        });
        resolved.fold(0, usize::saturating_add)
    }
}

/// Returns true for an object that the input of a run could not have: its file is no part of it, or its manifest is in another namespace now.
fn left_out(objects: &[ObjectReport]) -> impl Fn(&ObjectKey, &KnownObject) -> bool {
    let type_and_name = |key: &ObjectKey| (key.gvk.clone(), key.name.clone());
    let is_namespaced = |object: &&ObjectReport| object.key.namespace.is_some();
    let now: HashSet<_> = objects.iter().filter(is_namespaced).map(|object| type_and_name(&object.key)).collect();
    move |key, known| !known.is_in_input || key.namespace.is_some() && now.contains(&type_and_name(key))
}

impl KnownObject {
    fn is_following(&self, path: &FieldPath, class: Class) -> bool {
        self.changes.get(&(path.clone(), class)).is_some_and(|known| known.follows)
    }

    /// Returns true if the report has only the size of a value, which another report cannot be compared with.
    fn is_omitted(&self, path: &FieldPath, class: Class) -> bool {
        let Some(KnownChange { live, desired, .. }) = self.changes.get(&(path.clone(), class)) else { return false };
        [live, desired].into_iter().flatten().any(|value| value.get().get(OMITTED_BYTES).is_some())
    }

    fn drift(&self) -> impl Iterator<Item = &(FieldPath, Class)> {
        self.changes.iter().filter(|(_, known)| known.is_drift).map(|(key, _)| key)
    }
}

/// Both items of a list of which one comes and one goes, if the change follows from another object.
fn renamed_items(change: &FieldChange) -> Vec<(Vec<PathElement>, String)> {
    let is_one = change.op == Op::Change && !change.follows.is_empty();
    let values = [&change.live, &change.desired].into_iter().filter(|_| is_one);
    values.filter_map(|value| item(&change.path, value.as_deref())).collect()
}

/// An item of a list: the path of the list, and the item as text.
fn item(path: &FieldPath, value: Option<&Value>) -> Option<(Vec<PathElement>, String)> {
    let (element, above) = path.elements().split_last()?;
    matches!(element, PathElement::Key(_)).then_some((above.to_vec(), value?.to_string()))
}

/// The class by which a difference is found again. With a base, the same values are the same difference, whichever side is said to have
/// moved: a run without a base says less, and one with another base something else.
fn found_again(class: Class, has_base: bool) -> Class {
    match class {
        Class::ChangedByOther | Class::Absent | Class::Pending if has_base => Class::Unrecorded,
        other => other,
    }
}

/// Returns true if two reports show the same value. The number of a redacted value says nothing about that of another run: it counts as
/// the same only if what has the value is known to be untouched since.
pub(crate) fn is_same(known: Option<&Value>, now: Option<&Value>, is_untouched: bool) -> bool {
    match (known, now) {
        (None, None) => true,
        (Some(known), Some(now)) => is_same_value(known, now, is_untouched),
        _ => false,
    }
}

/// Returns true if a part of a value is hidden behind a number.
pub(crate) fn is_hidden(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key(REDACTED) || fields.values().any(is_hidden),
        Value::Array(items) => items.iter().any(is_hidden),
        _ => false,
    }
}

fn is_same_value(known: &Value, now: &Value, is_untouched: bool) -> bool {
    match (known, now) {
        (Value::Object(known), Value::Object(now)) => {
            let is_redacted = known.contains_key(REDACTED) || now.contains_key(REDACTED);
            if is_redacted && !is_untouched {
                return false;
            }
            let same = |(name, value): (&String, &Value)| {
                is_redacted && name == REDACTED
                    || now.get(name).is_some_and(|now| is_same_value(value, now, is_untouched))
            };
            known.len() == now.len() && known.iter().all(same)
        }
        (Value::Array(known), Value::Array(now)) => {
            let mut pairs = known.iter().zip(now);
            known.len() == now.len() && pairs.all(|(known, now)| is_same_value(known, now, is_untouched))
        }
        _ => known == now,
    }
}
