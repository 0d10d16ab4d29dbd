//! The conflicts of an object: fields that an apply would take from other managers against the policy.

use std::collections::BTreeMap;

use serde_json::Value;
use structured_merge::{
    Applier as _, Change, Claimants, FieldPath, FieldSet, GroupVersionKind, Lookup, LostFields, ManagedFieldsEntry, Op,
    Operation, Ownership, TypeRef, builtin_kind, owns_last_applied, stored_at, with_string_data,
};

use crate::compare::additions::CLIENT_SIDE_APPLY;
use crate::compare::diff::{Class, Conflict, FieldChange};
use crate::compare::live_object::LiveObject;
use crate::compare::policy::{ForceConflicts, Policy};
use crate::compare::prediction::CompareContext;

/// The fields that other managers lose to an apply and that the policy does not allow us to take.
pub(crate) struct ContestedFields<'a> {
    policy: &'a Policy,
    gvk: &'a GroupVersionKind,
    /// The fields with their owners; the fields of one owner follow one another.
    fields: Vec<(FieldPath, &'a ManagedFieldsEntry)>,
    paths: FieldSet,
    /// Owners that lose a field that has another name in their API version.
    renamed: Vec<&'a ManagedFieldsEntry>,
}

impl<'a> ContestedFields<'a> {
    /// Collects the fields that owners lose to the apply that leaves `after`. `before_first_apply` is the owner that the server
    /// invents for an object without a record of owners; it loses the values that change.
    pub fn between(
        context: CompareContext<'a>,
        (live, others): (&'a LiveObject, &'a [ManagedFieldsEntry]),
        before_first_apply: Option<&'a ManagedFieldsEntry>,
        differences: &[Change],
        after: &Ownership,
    ) -> Self {
        let CompareContext { target, policy, .. } = context;
        let gvk = &target.key.gvk;
        let changed = || -> FieldSet { differences.iter().map(|change| change.path.clone()).collect() };
        let counts = |entry: &ManagedFieldsEntry| !is_forgotten(entry, gvk, &target.versions);
        let ours = after.our_fields();
        let texts = lost_texts(gvk, &live.current.object, others, &ours, changed);
        let ours = texts.iter().fold(with_string_data(gvk, ours, &[]), |all, lost| all.union(&lost.fields));
        let lost = live.current.owners.lost(after).into_iter().chain(texts).filter(|lost| counts(lost.entry));
        let (given_up, lost): (Vec<_>, Vec<_>) = lost.partition(|lost| policy.takes_from(lost.entry));
        let renamed = renamed(&live.current.object, gvk, &lost);
        let mut manifest = Lookup::of(live.sent(target));
        let taken = |lost: &LostFields<'a>| {
            let mut taken = lost.taken_by(&ours);
            taken.extend(emptied(lost, &mut manifest).into_iter().map(|path| (path, lost.entry)));
            taken
        };
        let mut fields: Vec<_> = lost.iter().flat_map(taken).collect();
        let is_kept = |entry: &&ManagedFieldsEntry| counts(entry) && !policy.takes_from(entry);
        if let Some(entry) = before_first_apply.filter(is_kept) {
            let changed = changed();
            let both = ours.leaves().into_iter().filter(|path| entry.fields.contains(path));
            fields.extend(both.filter(|path| changed.contains_at_or_below(path)).map(|path| (path, entry)));
        }
        if policy.force != ForceConflicts::None {
            fields.retain(|(path, entry)| !is_owned_for_a_part(live, path, entry));
        }
        fields.extend(given_up.iter().flat_map(|lost| kept_by_owner(lost, live, &ours, policy)));
        let paths = fields.iter().map(|(path, _)| path.clone()).collect();
        Self { policy, gvk, fields, paths, renamed }
    }

    /// Turns changes into conflicts if an owner loses a field that has another name in its API version. Its name in our version is
    /// not recorded: it is one of the changes without a known owner or, if there are none, any of our changes.
    pub fn mark_renamed(
        &self,
        found: &mut [FieldChange],
        ours: &FieldSet,
        claimants: &Claimants<'_>,
        schema: TypeRef<'_>,
    ) {
        if self.renamed.is_empty() {
            return;
        }
        let is_open = |change: &FieldChange| change.is_drift() && change.class != Class::Conflict;
        let is_ours = |change: &FieldChange| is_open(change) && ours.overlaps(&change.path);
        let has_no_owner = |change: &FieldChange| claimants.best(&change.path, schema).1.is_empty();
        let has_one = found.iter().any(|change| is_ours(change) && has_no_owner(change));
        for change in found.iter_mut().filter(|change| is_ours(change) && (!has_one || has_no_owner(change))) {
            change.reclassify(Class::Conflict);
            change.managers = self.policy.owners(self.renamed.iter().copied());
        }
    }

    /// Returns true if one of the fields is at, above or below the path.
    pub fn overlaps(&self, path: &FieldPath) -> bool {
        self.paths.overlaps(path)
    }

    /// The conflicts of visible differences. If no value differs, admission keeps its own value for every client, and there is
    /// nothing to resolve.
    pub fn conflicts(&self, found: &[FieldChange]) -> Vec<Conflict> {
        let is_conflict = |change: &&FieldChange| change.class == Class::Conflict;
        let visible: FieldSet = found.iter().filter(is_conflict).map(|change| change.path.clone()).collect();
        let mut conflicts = Vec::new();
        for fields_of_owner in self.fields.chunk_by(|(_, a), (_, b)| std::ptr::eq(*a, *b)) {
            let Some((_, entry)) = fields_of_owner.first() else { continue };
            // The innermost paths are enough: an item and its fields are lost together.
            let lost: FieldSet = fields_of_owner.iter().map(|(path, _)| path.clone()).collect();
            let innermost = lost.leaves().into_iter().filter(|path| visible.overlaps(path));
            conflicts.extend(innermost.map(|path| Conflict { path, owner: self.policy.owner(entry) }));
        }
        let unnamed = found.iter().filter(|change| is_conflict(change) && !self.paths.overlaps(&change.path));
        for change in unnamed {
            conflicts.extend(
                change.managers.iter().map(|owner| Conflict { path: change.path.clone(), owner: owner.clone() }),
            );
        }
        conflicts.sort_by(|a, b| (&a.path, &a.owner).cmp(&(&b.path, &b.owner)));
        conflicts
    }

    /// The conflicts without a visible difference: nulls, fields that the server stores in another place, and fields that admission
    /// resets. An apply with force ignores them; without force, the server refuses the apply because of them.
    pub fn without_difference(&self, live: &LiveObject, manifest: &Value, found: &[FieldChange]) -> Vec<FieldChange> {
        let seen = paths_of(found);
        let is_unseen = |path: &FieldPath| !seen.overlaps(&stored_at(self.gvk, path)) && !live.ignores(path);
        let mut losers: BTreeMap<&FieldPath, Vec<&ManagedFieldsEntry>> = BTreeMap::new();
        for (path, entry) in &self.fields {
            losers.entry(path).or_default().push(entry);
        }
        let mut values = Lookup::of(&live.current.object);
        let mut manifest = Lookup::of(manifest);
        let conflict = |path: FieldPath| {
            let managers = self.policy.owners(losers.get(&path).into_iter().flatten().copied());
            let from = values.value(&path).cloned();
            let to = manifest.value(&path).cloned();
            FieldChange::new(Change { path, op: Op::Change, from, to }, Class::Conflict).with_managers(managers)
        };
        self.paths.leaves().into_iter().filter(is_unseen).map(conflict).collect()
    }
}

/// Returns true if a controller owns a value because of the part of it that a rule ignores. An applier means all of it.
fn is_owned_for_a_part(live: &LiveObject, path: &FieldPath, entry: &ManagedFieldsEntry) -> bool {
    entry.operation == Operation::Update
        && live.partly_ignored.contains_at_or_above(path)
        && !live.kept_by_owners.contains_at_or_above(path)
}

/// The values of a Secret that owners lose although they keep the fields, which no server tells: it compares `data` and `stringData` apart,
/// and stores both in `data`. `others` have their texts in `data`.
fn lost_texts<'a>(
    gvk: &GroupVersionKind,
    live: &Value,
    others: &'a [ManagedFieldsEntry],
    ours: &FieldSet,
    changed: impl Fn() -> FieldSet,
) -> Vec<LostFields<'a>> {
    let Some(data) = live.get("data").and_then(Value::as_object).filter(|_| gvk.is_secret()) else {
        return Vec::new();
    };
    let changed = changed();
    let mut lost: Vec<_> = others.iter().map(|entry| LostFields { entry, fields: FieldSet::new() }).collect();
    for key in data.keys() {
        let (path, text) = (FieldPath::of(&["data", key]), FieldPath::of(&["stringData", key]));
        if !changed.overlaps(&path) {
            continue;
        }
        for LostFields { entry, fields } in &mut lost {
            let is_text = || ours.contains(&text) || entry.fields.contains(&text);
            if entry.fields.contains(&path) && is_text() {
                fields.insert(&path);
            }
        }
    }
    lost
}

/// The fields that an owner keeps although the policy allows to take others from it.
fn kept_by_owner<'a>(
    lost: &LostFields<'a>,
    live: &LiveObject,
    ours: &FieldSet,
    policy: &Policy,
) -> Vec<(FieldPath, &'a ManagedFieldsEntry)> {
    let mut taken = lost.taken_by(ours);
    taken.retain(|(path, entry)| !policy.adopts(entry) && live.kept_by_owners.contains_at_or_above(path));
    taken
}

/// The fields that an owner loses to empty lists of the manifest: an apply of an empty list takes the field, but records no owner.
fn emptied(lost: &LostFields<'_>, manifest: &mut Lookup<'_>) -> Vec<FieldPath> {
    let mut emptied = lost.fields.paths();
    emptied.retain(|path| matches!(manifest.value(path), Some(Value::Array(items)) if items.is_empty()));
    emptied
}

/// The owners that lose a field that the live object does not have, because it has another name in their API version. An apply takes
/// nothing in `status`.
fn renamed<'a>(live: &Value, gvk: &GroupVersionKind, lost: &[LostFields<'a>]) -> Vec<&'a ManagedFieldsEntry> {
    let version = gvk.api_version();
    let status = FieldPath::of(&["status"]);
    let mut live = Lookup::of(live);
    let mut is_renamed = |path: &FieldPath| !status.is_prefix_of(path) && live.value(path).is_none();
    let of_others = lost.iter().filter(|lost| lost.entry.api_version != version);
    of_others.filter(|lost| lost.fields.paths().iter().any(&mut is_renamed)).map(|lost| lost.entry).collect()
}

/// Returns true if the server drops a record of an owner with the next write of any client, because it no longer serves the API
/// version of the record (structured-merge-diff `merge/update.go`, `IsMissingVersionError`). It keeps those of custom resources.
fn is_forgotten(entry: &ManagedFieldsEntry, gvk: &GroupVersionKind, served: &[String]) -> bool {
    builtin_kind(gvk).is_some() && !served.contains(&entry.api_version)
}

/// The paths of changes.
pub(crate) fn paths_of(changes: &[FieldChange]) -> FieldSet {
    changes.iter().map(|change| change.path.clone()).collect()
}

/// The paths of changes of values. A list in another order says nothing about what is in its items.
pub(crate) fn values_of(changes: &[FieldChange]) -> FieldSet {
    changes.iter().filter(|change| change.op != Op::Move).map(|change| change.path.clone()).collect()
}

/// The joined records of the other managers of an object.
pub(super) struct OthersParts {
    /// The fields of all of them.
    all: FieldSet,
    /// Those of all who did not create the object.
    of_changers: FieldSet,
    /// Those of all who applied no manifest and did not create the object, without those of `status`.
    changed: FieldSet,
    /// Our fields, and those of who applied a manifest or created the object.
    of_manifests: FieldSet,
}

impl OthersParts {
    /// Joins the records.
    pub fn of(others: &[ManagedFieldsEntry], ours: &FieldSet) -> Self {
        let mut parts = Self {
            all: FieldSet::new(),
            of_changers: FieldSet::new(),
            changed: FieldSet::new(),
            of_manifests: ours.clone(),
        };
        for entry in others {
            let is_creator = Policy::is_creator(entry);
            if is_creator {
                parts.all = parts.all.union(&entry.fields);
            } else {
                parts.of_changers = parts.of_changers.union(&entry.fields);
            }
            let is_of_manifest = entry.manager == CLIENT_SIDE_APPLY || owns_last_applied(&entry.fields) || is_creator;
            if is_of_manifest {
                parts.of_manifests = parts.of_manifests.union(&entry.fields);
            } else if entry.subresource != "status" {
                parts.changed = parts.changed.union(&entry.fields);
            }
        }
        parts.all = parts.all.union(&parts.of_changers);
        parts
    }

    /// Returns true if another manager claims a part of a value that is compared as a whole, and we do not: an item of a list with
    /// duplicates, for example.
    pub fn has_foreign(&self, path: &FieldPath, ours: &FieldSet) -> bool {
        goes_beyond(&self.all, ours, path)
    }

    /// Returns true if somebody who did not create the object claims a part of a value, and we do not.
    pub fn has_part_of_changers(&self, path: &FieldPath, ours: &FieldSet) -> bool {
        goes_beyond(&self.of_changers, ours, path)
    }

    /// Returns true if another manager owns a part of a value that only the manifest drops: somebody has changed it as well.
    pub fn has_changed(&self, path: &FieldPath) -> bool {
        goes_beyond(&self.changed, &self.of_manifests, path)
    }
}

/// Returns true if fields have parts below a path that others do not have.
pub(super) fn goes_beyond(fields: &FieldSet, others: &FieldSet, path: &FieldPath) -> bool {
    let nothing = FieldSet::new();
    let others = others.below(path).unwrap_or(&nothing);
    fields.below(path).is_some_and(|parts| !parts.difference(others).is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_in_another_order_hides_nothing_of_its_items() {
        let change = |path: &[&str], op: Op| {
            FieldChange::new(Change { path: FieldPath::of(path), op, from: None, to: None }, Class::Reordered)
        };
        let found = [change(&["spec", "containers"], Op::Move), change(&["spec", "replicas"], Op::Change)];
        let values = values_of(&found);
        assert!(!values.contains_at_or_above(&FieldPath::of(&["spec", "containers", "x"])));
        assert!(values.contains(&FieldPath::of(&["spec", "replicas"])));
    }

    #[test]
    fn a_record_in_a_version_that_is_gone_is_forgotten() {
        let forgotten = |api_version: &str, kind: &str, served: &[&str], theirs: &str| {
            let entry = json!({"manager": "a", "operation": "Update", "apiVersion": theirs, "fieldsType": "FieldsV1", "fieldsV1": {}});
            let object = json!({"metadata": {"managedFields": [entry]}});
            let owners = Ownership::of(&object, "b");
            let served: Vec<String> = served.iter().map(|version| (*version).to_owned()).collect();
            is_forgotten(&owners.others[0], &GroupVersionKind::new(api_version, kind), &served)
        };
        let v1 = "flowcontrol.apiserver.k8s.io/v1";
        let v1beta3 = "flowcontrol.apiserver.k8s.io/v1beta3";
        assert!(!forgotten(v1, "FlowSchema", &[v1], v1));
        assert!(!forgotten(v1, "FlowSchema", &[v1, v1beta3], v1beta3), "a server before 1.32 serves it");
        assert!(forgotten(v1, "FlowSchema", &[v1], v1beta3));
        assert!(forgotten("apps/v1", "Deployment", &["apps/v1"], "extensions/v1beta1"));
        assert!(!forgotten("example.com/v1", "Widget", &["example.com/v1"], "example.com/v1alpha1"));
    }
}
