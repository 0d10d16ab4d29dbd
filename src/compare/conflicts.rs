//! What an apply would take from others and may not: the conflicts of an object.

use std::collections::BTreeMap;

use serde_json::Value;
use structured_merge::{Change, FieldPath, FieldSet, Lookup, ManagedFieldsEntry, Op, Ownership};

use super::diff::{Class, Conflict, FieldChange, Owner};
use super::policy::Policy;

/// The fields that others lose and we may not take.
pub(super) struct Taken<'a> {
    /// Those of one owner behind each other.
    fields: Vec<(FieldPath, &'a ManagedFieldsEntry)>,
    paths: FieldSet,
}

impl<'a> Taken<'a> {
    /// What owners lose between `before` and `after`. The owner whom the server invents for all that nobody is recorded for
    /// (`nobody`) loses the values that change.
    pub fn between(
        before: &'a Ownership,
        nobody: Option<&'a ManagedFieldsEntry>,
        differences: &[Change],
        after: &Ownership,
        policy: &Policy,
    ) -> Self {
        let mut fields = before.taken(after);
        if let Some(entry) = nobody {
            let changed: FieldSet = differences.iter().map(|change| change.path.clone()).collect();
            let both = after.our_fields().leaves().into_iter().filter(|path| entry.fields.contains(path));
            fields.extend(both.filter(|path| changed.contains_at_or_below(path)).map(|path| (path, entry)));
        }
        fields.retain(|(_, entry)| !policy.takes_from(entry));
        let paths = fields.iter().map(|(path, _)| path.clone()).collect();
        Self { fields, paths }
    }

    /// Returns true if one of the fields is at, above or below a path.
    pub fn overlaps(&self, path: &FieldPath) -> bool {
        self.paths.overlaps(path)
    }

    /// The conflicts behind visible differences. Where nothing differs, admission keeps its own value for every client, and
    /// there is nothing to settle.
    pub fn conflicts(&self, found: &[FieldChange]) -> Vec<Conflict> {
        let is_conflict = |change: &&FieldChange| change.class == Class::Conflict;
        let visible: FieldSet = found.iter().filter(is_conflict).map(|change| change.path.clone()).collect();
        let mut conflicts = Vec::new();
        for of_one in self.fields.chunk_by(|(_, a), (_, b)| std::ptr::eq(*a, *b)) {
            let Some((_, entry)) = of_one.first() else { continue };
            // The innermost path says it all: an item and the fields in it are lost together.
            let lost: FieldSet = of_one.iter().map(|(path, _)| path.clone()).collect();
            let innermost = lost.leaves().into_iter().filter(|path| visible.overlaps(path));
            conflicts.extend(innermost.map(|path| Conflict { path, owner: Owner::from(*entry) }));
        }
        conflicts.sort_by(|a, b| (&a.path, &a.owner).cmp(&(&b.path, &b.owner)));
        conflicts
    }

    /// The conflicts behind which no value differs: nulls, what the server keeps elsewhere, and what admission keeps as it is. With
    /// force they are nothing; without any, the server refuses the apply because of them.
    pub fn unseen(
        &self,
        live: &Value,
        manifest: &Value,
        ignored: &FieldSet,
        found: &[FieldChange],
    ) -> Vec<FieldChange> {
        let seen = paths_of(found);
        let is_unseen = |path: &FieldPath| !seen.overlaps(path) && !ignored.contains_at_or_above(path);
        let mut losers: BTreeMap<&FieldPath, Vec<&ManagedFieldsEntry>> = BTreeMap::new();
        for (path, entry) in &self.fields {
            losers.entry(path).or_default().push(entry);
        }
        let (mut live, mut manifest) = (Lookup::of(live), Lookup::of(manifest));
        let conflict = |path: FieldPath| FieldChange {
            op: Op::Change,
            class: Class::Conflict,
            live: live.value(&path).cloned(),
            desired: manifest.value(&path).cloned(),
            managers: owners(losers.get(&path).into_iter().flatten().copied()),
            defaulted: Vec::new(),
            path,
        };
        self.paths.leaves().into_iter().filter(is_unseen).map(conflict).collect()
    }
}

/// The places of changes.
pub(super) fn paths_of(changes: &[FieldChange]) -> FieldSet {
    changes.iter().map(|change| change.path.clone()).collect()
}

/// The owners of entries, each once.
pub(super) fn owners<'e>(entries: impl Iterator<Item = &'e ManagedFieldsEntry>) -> Vec<Owner> {
    let mut owners: Vec<Owner> = entries.map(Owner::from).collect();
    owners.sort();
    owners.dedup();
    owners
}
