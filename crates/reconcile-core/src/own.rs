//! The fields that `own` gives to a manager, without a change of any value.
//!
//! ```text
//! manifest, live object ─▶ fields whose values are equal ─▶ claims of the recipient (Apply)
//!                                                       └─▶ no claims of manual changes and of released managers
//!                      ├─▶ fields whose values differ: they stay with their owners
//!                      └─▶ fields that the next apply removes: claims of the recipient, so that it still does
//! ```

use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{
    Change, FieldPath, FieldSet, GroupVersionKind, Lookup, ManagedFieldsEntry, Op, Operation, Ownership, TypeRef,
    field_set, stored_at, with_string_data,
};

use crate::compare::{Class, FieldChange, LiveObject, Policy, Redactor, Secrecy, unreadable_owners};
use crate::diagnostic::{Code, Diagnostic};
use crate::live::Target;
use crate::owners::Transfer;
use crate::rules::Glob;

/// The manager that gets fields, and the managers that lose them.
#[derive(Clone, Copy, Debug)]
pub struct Recipient<'a> {
    /// The policy, whose field manager gets the fields. Manual changes lose them.
    pub policy: &'a Policy,
    /// The other managers that lose them (`--release`).
    pub released: &'a [Glob],
    /// The time of the run (RFC 3339), which becomes that of the new claims.
    pub time: &'a str,
    /// True if transfers have the owners that lose fields, so that an audit log can name their users.
    pub names_owners: bool,
}

/// The change of owners of one object.
#[derive(Clone, Debug, Default)]
pub struct Handover {
    /// The fields whose owners change.
    pub transfers: Vec<Transfer>,
    /// The fields of the manifest that stay with their owners, because their values differ.
    pub changes: Vec<FieldChange>,
    /// The owners afterwards; `None` if there is nothing to write.
    pub owners: Option<Ownership>,
}

impl Handover {
    /// The change that was made in the end, if the object was compared again: `last` has what differs by now. If nothing was left to write
    /// then, an earlier attempt has given what is equal.
    pub fn after(&self, last: Self) -> Self {
        if last.owners.is_some() {
            return last;
        }
        let differs = |path: &FieldPath| {
            last.changes.iter().any(|change| change.path.is_prefix_of(path) || path.is_prefix_of(&change.path))
        };
        let given = self.transfers.iter().filter(|transfer| !differs(&transfer.path)).cloned();
        Self { transfers: given.collect(), ..last }
    }
}

impl Recipient<'_> {
    /// Returns true if the claims of an entry on the fields end.
    fn ends(&self, entry: &ManagedFieldsEntry) -> bool {
        self.policy.is_manual(entry) || self.released.iter().any(|glob| glob.matches(&entry.manager))
    }

    /// The change of owners of an object with these differences.
    pub fn receive(
        &self,
        target: &Target,
        live: &LiveObject,
        differences: &[FieldChange],
        schema: TypeRef<'_>,
        redactor: &Redactor,
    ) -> Result<Handover, Diagnostic> {
        if let Some(diagnostic) = unreadable_owners(&live.current.owners) {
            return Err(diagnostic);
        }
        let manifest = target.desired.object();
        let fields = field_set(manifest, schema, target.kind().as_ref());
        let before = &live.current.owners;
        let gvk = &target.key.gvk;
        let stored = with_string_data(gvk, fields.clone(), &[]);
        let differing: Vec<&FieldChange> =
            differences.iter().filter(|change| is_of_manifest(change, &stored)).collect();
        let is_left_out = |path: &FieldPath| {
            let is_leaf = fields.below(path).is_none_or(FieldSet::is_empty);
            let is_ignored = live.ignores(path) || is_leaf && live.ignored.contains_at_or_below(path);
            is_ignored
                || differing
                    .iter()
                    .any(|change| change.path.is_prefix_of(path) || is_leaf && path.is_prefix_of(&change.path))
        };
        let mut equal = FieldSet::new();
        fields.visit(&mut |path, _| {
            let place = stored_at(gvk, path);
            // A value that the server does not store, as an empty text, is equal as well, and has owners.
            if !is_left_out(path) && !is_left_out(&place) {
                equal.insert(path);
            }
        });
        let contested = self.written_otherwise(target, live, &fields, &equal, redactor);
        let paths: BTreeSet<&FieldPath> = contested.iter().map(|change| &change.path).collect();
        let equal = equal.filter(|path| !paths.contains(path)).union(&self.dropped(before, differences));
        let mut changes: Vec<FieldChange> = differing.into_iter().cloned().chain(contested).collect();
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        let transfers = self.transfers(gvk, before, &equal);
        let owners = match transfers.as_slice() {
            [] => None,
            _ => Some(self.owners(target, before, &live.current.object, &equal)?),
        };
        Ok(Handover { transfers, changes, owners })
    }

    /// The fields that the next apply removes, of owners whose claims end: without a claim of the recipient, it would leave them. Those that
    /// client-side `kubectl apply` wrote are removed by the first apply alone.
    fn dropped(&self, before: &Ownership, differences: &[FieldChange]) -> FieldSet {
        let removed = differences.iter().filter(|change| change.class == Class::Pruned);
        let removed: FieldSet = removed.map(|change| change.path.clone()).collect();
        let mut dropped = FieldSet::new();
        for entry in before.others.iter().filter(|entry| !removed.is_empty() && self.ends(entry)) {
            entry.fields.visit(&mut |path, _| {
                if removed.contains_at_or_above(path) {
                    dropped.insert(path);
                }
            });
        }
        dropped
    }

    /// The fields whose value is the same, and written otherwise than in the manifest (`1000m` for `1`, or `data` for `stringData`): a
    /// server-side apply of the manifest changes their text, which the managers that go on owning them would refuse.
    fn written_otherwise(
        &self,
        target: &Target,
        live: &LiveObject,
        fields: &FieldSet,
        equal: &FieldSet,
        redactor: &Redactor,
    ) -> Vec<FieldChange> {
        let remaining: Vec<&ManagedFieldsEntry> =
            live.current.owners.others.iter().filter(|entry| !self.ends(entry)).collect();
        if remaining.is_empty() {
            return Vec::new();
        }
        let manifest = target.desired.object();
        let object = &live.current.object;
        let secrecy = Secrecy::of(&target.key.gvk, Some(manifest), Some(object));
        let mut wanted = Lookup::of(manifest);
        let mut values = Lookup::of(object);
        let mut found = Vec::new();
        fields.visit(&mut |path, below| {
            let owners = remaining.iter().filter(|entry| entry.fields.contains_at_or_below(path));
            let owners: Vec<&ManagedFieldsEntry> = owners.copied().collect();
            let Some(to) = wanted.value(path) else { return };
            let from = values.value(path);
            let is_accepted = is_accepted(to, from);
            if owners.is_empty() || !below.is_empty() || !equal.contains(path) || is_accepted {
                return;
            }
            let shown = |value: &Value| redactor.value(&secrecy, path, value);
            let op = if from.is_some() { Op::Change } else { Op::Add };
            let change = Change { path: path.clone(), op, from: from.map(shown), to: Some(shown(to)) };
            found.push(FieldChange::new(change, Class::Conflict).with_managers(self.policy.owners(owners)));
        });
        found
    }

    fn transfers(&self, gvk: &GroupVersionKind, before: &Ownership, equal: &FieldSet) -> Vec<Transfer> {
        let ours = before.our_fields();
        let losing: Vec<&ManagedFieldsEntry> = before.others.iter().filter(|entry| self.ends(entry)).collect();
        let mut transfers = Vec::new();
        for path in equal.paths() {
            let place = stored_at(gvk, &path);
            let owning = |entry: &&&ManagedFieldsEntry| entry.fields.contains(&path) || entry.fields.contains(&place);
            let from: Vec<&ManagedFieldsEntry> = losing.iter().filter(owning).copied().collect();
            if !from.is_empty() || !ours.contains(&path) {
                let owners = if self.names_owners { self.policy.owners(from.iter().copied()) } else { Vec::new() };
                let from: BTreeSet<String> = from.into_iter().map(|entry| entry.manager.clone()).collect();
                let to = self.policy.manager.clone();
                transfers.push(Transfer { path, from: from.into_iter().collect(), to, owners });
            }
        }
        transfers
    }

    /// The owners once the fields are those of the recipient.
    fn owners(
        &self,
        target: &Target,
        before: &Ownership,
        live: &Value,
        equal: &FieldSet,
    ) -> Result<Ownership, Diagnostic> {
        let api_version = target.key.gvk.api_version();
        let claims = before.our_fields();
        if before.ours.as_ref().is_some_and(|entry| entry.api_version != api_version) {
            // The names of the fields may be others in the version of the manifest, in which the object was read.
            let mut values = Lookup::of(live);
            if claims.paths().iter().any(|path| values.value(path).is_none()) {
                let manager = &self.policy.manager;
                let message = format!("the record of `{manager}` names fields of another version than {api_version}");
                let hint = format!("apply the object once as `{manager}`, or write its manifest in that version");
                return Err(Diagnostic::new(Code::Unknown, message).with_hint(hint));
            }
        }
        let ours = ManagedFieldsEntry {
            manager: self.policy.manager.clone(),
            operation: Operation::Apply,
            api_version,
            subresource: String::new(),
            time: Some(self.time.to_owned()),
            fields: claims.union(equal),
        };
        let lost = with_string_data(&target.key.gvk, equal.clone(), &[]);
        let left = before.others.iter().filter_map(|entry| {
            if !self.ends(entry) {
                return Some(entry.clone());
            }
            let fields = rest(&entry.fields, &lost);
            (!fields.is_empty()).then(|| ManagedFieldsEntry { fields, ..entry.clone() })
        });
        Ok(Ownership { ours: Some(ours), others: left.collect(), unreadable: Vec::new() })
    }
}

/// Returns true if a difference is one of the manifest: it is in it, around it, or in a value that is compared as a whole.
fn is_of_manifest(change: &FieldChange, fields: &FieldSet) -> bool {
    let is_difference = change.is_drift() && change.class != Class::Pruned && change.op != Op::Move;
    is_difference && fields.overlaps(&change.path)
}

/// Returns true if the other managers of a field accept this value over the live one. Each apply of a value that the server does not store,
/// as an empty text or `stringData`, is a change for the others that have applied it.
pub(crate) fn is_accepted(to: &Value, from: Option<&Value>) -> bool {
    from.is_some_and(|from| is_same(to, from))
}

/// Returns true if two values are the same text, for the server: of numbers, only the value counts.
fn is_same(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().is_some_and(|number| other.as_f64() == Some(number))
}

/// The fields that an owner keeps: none, if only maps and lists around those that it loses are left.
fn rest(fields: &FieldSet, lost: &FieldSet) -> FieldSet {
    let left = fields.difference(lost);
    let mut has_own = false;
    left.visit(&mut |path, _| has_own |= !lost.contains_at_or_below(path));
    if has_own || left == *fields { left } else { FieldSet::new() }
}
