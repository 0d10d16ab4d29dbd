//! Objects with something in common, which is shown once: the same walk for all formats that group objects.

mod equal_changes;

use std::collections::BTreeMap;

use reconcile_core::compare::{Action, FieldChange};

use crate::model::ObjectReport;
use crate::view::Sort;
use crate::words::sentence::shared_diagnostic::SharedDiagnostic;

pub(crate) use equal_changes::{ChangeGroup, EqualChanges};

/// The parts of objects that a format shows.
pub(crate) trait Shows {
    /// Returns true if a change is shown.
    fn change(&self, change: &FieldChange) -> bool;

    /// The warnings of an object that are shown: all, unless a format leaves some out.
    fn warnings<'o>(&self, object: &'o ObjectReport) -> Vec<&'o str> {
        object.messages.warnings.iter().map(String::as_str).collect()
    }

    /// Returns true if something about an object is shown that is no change, no conflict, no error and no warning.
    fn more(&self, object: &ObjectReport) -> bool;

    /// Returns true if nothing of these is shown of an object, but for warnings.
    fn nothing_but_warnings(&self, object: &ObjectReport) -> bool {
        !object.diff.changes.iter().any(|change| self.change(change))
            && object.diff.conflicts.is_empty()
            && !self.more(object)
    }
}

/// An entry of a list of objects.
#[derive(Debug)]
pub(crate) enum Entry<'r> {
    /// Changes and conflicts that several objects have in common.
    Changes(ChangeGroup<'r>),
    /// Messages that several objects have in common, and these objects.
    Messages(Box<Messages>, Vec<&'r ObjectReport>),
    /// An object, and the part of it that is in no group; `None` if that is all of it.
    Object(&'r ObjectReport, Option<Box<ObjectReport>>),
    /// An object whose changes and messages are all shown in groups.
    Grouped(&'r ObjectReport),
}

/// Groups objects. A group has the position of its first object, and each object has an entry of its own, except those that groups
/// of messages have.
pub(crate) fn entries<'r>(objects: &[&'r ObjectReport], sort: Sort, shows: &impl Shows) -> Vec<Entry<'r>> {
    if sort == Sort::Object {
        return objects.iter().map(|object| Entry::Object(object, None)).collect();
    }
    let mut changes = EqualChanges::of(objects, |change| shows.change(change));
    let mut groups = BTreeMap::new();
    for positions in alike(objects, sort, |object| Messages::of(object, shows)) {
        if let [first, _, ..] = positions[..] {
            groups.extend(positions.iter().map(|at| (*at, Vec::new())));
            groups.insert(first, positions);
        }
    }
    let rests: Vec<Option<ObjectReport>> =
        objects.iter().enumerate().map(|(at, object)| changes.rest_of(at, object)).collect();
    let mut warned = warned_alike(&rests, shows);
    let mut entries = Vec::with_capacity(objects.len());
    for (at, (object, rest)) in objects.iter().copied().zip(rests).enumerate() {
        entries.extend(changes.take_beginning_at(at).into_iter().map(Entry::Changes));
        if let Some(positions) = groups.remove(&at) {
            let members: Vec<&ObjectReport> = positions.iter().filter_map(|at| objects.get(*at).copied()).collect();
            entries.extend(
                Messages::of(object, shows)
                    .filter(|_| !members.is_empty())
                    .map(|messages| Entry::Messages(Box::new(messages), members)),
            );
            entries.push(Entry::Grouped(object));
            continue;
        }
        if let Some((warnings, positions)) = warned.remove(&at) {
            let members: Vec<&ObjectReport> = positions.iter().filter_map(|at| objects.get(*at).copied()).collect();
            if !members.is_empty() {
                entries.push(Entry::Messages(Box::new(Messages { diagnostic: None, warnings }), members));
            }
            entries.push(Entry::Grouped(object));
            continue;
        }
        entries.push(match rest {
            None => Entry::Object(object, None),
            Some(rest) if shows.nothing_but_warnings(&rest) && shows.warnings(&rest).is_empty() => {
                Entry::Grouped(object)
            }
            Some(rest) => Entry::Object(object, Some(Box::new(rest))),
        });
    }
    entries
}

/// The objects of which equal warnings are left besides what groups of changes have: at the position of the first of them the warnings and
/// all positions, and nothing at those of the others.
fn warned_alike(rests: &[Option<ObjectReport>], shows: &impl Shows) -> BTreeMap<usize, (Vec<String>, Vec<usize>)> {
    let mut alike: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
    for (at, rest) in rests.iter().enumerate() {
        if let Some(rest) = rest.as_ref().filter(|rest| shows.nothing_but_warnings(rest)) {
            alike.entry(shows.warnings(rest)).or_default().push(at);
        }
    }
    let mut found = BTreeMap::new();
    for (warnings, positions) in alike {
        if let [first, _, ..] = positions[..]
            && !warnings.is_empty()
        {
            found.extend(positions.iter().map(|at| (*at, <(Vec<String>, Vec<usize>)>::default())));
            found.insert(first, (warnings.into_iter().map(ToOwned::to_owned).collect(), positions));
        }
    }
    found
}

/// The positions of objects in groups of those with the same key, in the order of the first of each; those without a key are alone.
pub(crate) fn alike<K: Ord>(
    objects: &[&ObjectReport],
    sort: Sort,
    key: impl Fn(&ObjectReport) -> Option<K>,
) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut of_keys = BTreeMap::new();
    for (at, object) in objects.iter().enumerate() {
        let key = key(object).filter(|_| sort != Sort::Object);
        match key.map(|key| *of_keys.entry(key).or_insert(groups.len())) {
            Some(number) if number < groups.len() => groups[number].push(at),
            _ => groups.push(vec![at]),
        }
    }
    groups
}

/// The messages about an object that several can share, without its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Messages {
    diagnostic: Option<SharedDiagnostic>,
    warnings: Vec<String>,
}

impl Messages {
    /// The messages about an object of which nothing else is shown.
    pub fn of(object: &ObjectReport, shows: &impl Shows) -> Option<Self> {
        let diagnostic = SharedDiagnostic::of(object);
        let warnings: Vec<String> = shows.warnings(object).into_iter().map(str::to_owned).collect();
        if diagnostic.is_some() {
            return Some(Self { diagnostic, warnings });
        }
        let is_quiet = object.messages.error.is_none()
            && object.diff.action == Action::None
            && !object.is_kept()
            && shows.nothing_but_warnings(object);
        (is_quiet && !warnings.is_empty()).then_some(Self { diagnostic, warnings })
    }

    /// The sentences about all objects that have them, and the advice.
    pub fn sentences(&self, objects: &[&ObjectReport], is_full: bool) -> (Vec<String>, Option<String>) {
        let diagnostic = self.diagnostic.as_ref().map(|diagnostic| diagnostic.sentences(objects, is_full));
        let (mut sentences, hint) = diagnostic.unwrap_or_default();
        sentences.extend(self.warnings.iter().map(|warning| format!("warning: {warning}")));
        (sentences, hint)
    }
}
