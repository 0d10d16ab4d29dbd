//! Whose field is it? The owners that an object's `managedFields` name, and which of them are hands.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::claimants::{Claimants, step};
use super::inquiry::EvidenceMode;
use crate::live::Trouble;
use crate::object::{
    FieldPath, FieldSet, GroupVersionKind, LAST_APPLIED, ManagedFieldsEntry, Operation, PathElement,
    managed_fields_for, read_managed_fields,
};
use crate::schema::{self, Shape, TypeRef};

/// What may be taken from others when their fields differ from the manifest's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForceConflicts {
    /// What people changed by hand is taken back; what appliers and controllers own is a conflict.
    #[default]
    Manual,
    /// Everything is taken.
    All,
    /// Nothing is taken.
    None,
}

/// What is done where a field that can't be changed differs (`--replace`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// Nothing: it is told.
    #[default]
    Never,
    /// The object is deleted and created anew.
    Immutable,
}

/// Whose manager we are, and what we take.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Our field manager.
    pub manager: String,
    /// What is taken from others.
    pub force: ForceConflicts,
    /// Whether fields that others added are shown.
    pub show_unmanaged: bool,
    /// How a verdict may be come by.
    pub evidence: EvidenceMode,
    /// Whether the server is asked, before anything is written, if it would create what is missing.
    pub tries_creations: bool,
    /// Field managers that count as hands, beside those of kubectl.
    pub manual_managers: BTreeSet<String>,
    /// Field managers whose claims on our manifests' fields pass to us, whatever they are.
    pub adopt: BTreeSet<String>,
    /// What is done where a field that can't be changed differs.
    pub replace: Replace,
}

impl Policy {
    /// The defaults for a field manager.
    #[must_use]
    pub fn of(manager: &str) -> Self {
        Self {
            manager: manager.to_owned(),
            force: ForceConflicts::default(),
            show_unmanaged: false,
            evidence: EvidenceMode::default(),
            tries_creations: true,
            manual_managers: BTreeSet::new(),
            adopt: BTreeSet::new(),
            replace: Replace::default(),
        }
    }

    /// Whether an owner is a person's hand: an `Update` of kubectl or one of its commands, or the owner that the server
    /// invents for objects older than field management, or one that the configuration names; or our
    /// own, of an object that was put back. The subresource doesn't matter.
    #[must_use]
    pub fn is_manual(&self, entry: &ManagedFieldsEntry) -> bool {
        entry.operation == Operation::Update && self.is_hands_name(&entry.manager)
    }

    /// Whether an object may have fields that only manual changes own: cheaper than to read all its owners.
    #[must_use]
    pub(super) fn may_be_handled(&self, object: &Value) -> bool {
        let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array);
        entries.into_iter().flatten().any(|entry| {
            let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
            text("operation") == "Update" && text("subresource") != "status" && self.is_hands_name(text("manager"))
        })
    }

    fn is_hands_name(&self, manager: &str) -> bool {
        let kubectl = manager == "kubectl" || manager.starts_with("kubectl-");
        kubectl || manager == "before-first-apply" || self.manual_managers.contains(manager) || manager == self.manager
    }

    /// Whether this owner was named to be succeeded by us.
    #[must_use]
    pub fn is_adopted(&self, entry: &ManagedFieldsEntry) -> bool {
        self.adopt.contains(&entry.manager)
    }

    /// Whether a conflict with this owner is settled by taking the field.
    #[must_use]
    pub fn takes_from(&self, entry: &ManagedFieldsEntry) -> bool {
        self.is_adopted(entry)
            || match self.force {
                ForceConflicts::All => true,
                ForceConflicts::Manual => self.is_manual(entry),
                ForceConflicts::None => false,
            }
    }

    /// Whether this owner's claims pass to us where we claim the same.
    fn succeeds(&self, entry: &ManagedFieldsEntry) -> bool {
        self.is_adopted(entry) || self.force != ForceConflicts::None && self.is_manual(entry)
    }
}

/// The owners of an object: our own entry, and everybody else's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// Our Apply entry.
    pub ours: Option<ManagedFieldsEntry>,
    /// All other entries, in the API's order.
    pub others: Vec<ManagedFieldsEntry>,
    /// The managers of entries that cannot be read: with any of them, nothing can be said about the object.
    pub unreadable: Vec<String>,
}

impl Owners {
    /// Reads an object's owners.
    #[must_use]
    pub fn of(object: &Value, manager: &str) -> Self {
        let is_ours = |entry: &ManagedFieldsEntry| {
            entry.manager == manager && entry.operation == Operation::Apply && entry.subresource.is_empty()
        };
        let (entries, unreadable) = read_managed_fields(object);
        let (mut ours, others) = entries.into_iter().partition::<Vec<_>, _>(is_ours);
        Self { ours: ours.pop(), others, unreadable }
    }

    /// Why the object cannot be compared or written: some owner's fields are unknown, and a conflict with them would be missed.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        let manager = self.unreadable.first()?;
        let message = format!(
            "the fields that `{manager}` owns are recorded in a form that cannot be read (`metadata.managedFields`)"
        );
        let hint =
            "see the record with `kubectl get --show-managed-fields -o yaml`, or use a newer version of this program";
        Some(Trouble::new("UnreadableOwners", message).with_hint(hint))
    }

    /// The fields that we own.
    #[must_use]
    pub fn our_fields(&self) -> FieldSet {
        self.ours.as_ref().map(|entry| entry.fields.clone()).unwrap_or_default()
    }

    /// The fields that others lose on the way to `after` because we take them: conflicts, as the server would name them.
    /// The paths that an entry loses, and that are in our entry afterwards or above a path in it.
    #[must_use]
    pub fn taken(&self, after: &Self) -> Vec<(FieldPath, &ManagedFieldsEntry)> {
        let ours = after.our_fields();
        // One owner may have several entries, of different times.
        let mut kept: BTreeMap<_, FieldSet> = BTreeMap::new();
        for entry in &after.others {
            let fields = kept.entry(entry.identity()).or_default();
            *fields = std::mem::take(fields).union(&entry.fields);
        }
        let mut taken = Vec::new();
        for entry in &self.others {
            let lost = match kept.get(&entry.identity()) {
                Some(kept) => entry.fields.difference(kept),
                None => entry.fields.clone(),
            };
            lost.visit(&mut |path, _| {
                if ours.contains_at_or_below(path) {
                    taken.push((path.clone(), entry));
                }
            });
        }
        taken
    }

    /// The owners once the hands' claims on fields of ours or of the manifest are ours, or nothing when no hand has such
    /// a claim. Where a hand is client-side apply, what it last applied to the `live` object passes to us as well, as that is
    /// our manifest's former state.
    #[must_use]
    pub fn with_manual_claims_transferred(
        &self,
        live: &Value,
        of: TypeRef<'_>,
        manifest: &FieldSet,
        api_version: &str,
        policy: &Policy,
    ) -> Option<Self> {
        // Fields of another version may be named otherwise: the apply itself brings our entry to this version first.
        let other_version = self.ours.as_ref().is_some_and(|entry| entry.api_version != api_version);
        if other_version {
            return None;
        }
        let claimed = self.our_fields().union(manifest);
        let mut passing = FieldSet::new();
        let mut others = Vec::new();
        let mut time = None;
        for entry in &self.others {
            if !policy.succeeds(entry) {
                others.push(entry.clone());
                continue;
            }
            // In another version, fields that are named alike are the same ones.
            let pass = if owns_last_applied(&entry.fields) && entry.api_version == api_version {
                fields_applied(&entry.fields, live, of, &claimed)
            } else {
                entry.fields.intersection(&claimed)
            };
            let left = entry.fields.difference(&pass);
            if !pass.is_empty() {
                time = time.max(entry.time.clone());
            }
            passing = passing.union(&pass);
            if !left.is_empty() {
                others.push(ManagedFieldsEntry { fields: left, ..entry.clone() });
            }
        }
        if passing.is_empty() {
            return None;
        }
        let ours = match &self.ours {
            Some(entry) => ManagedFieldsEntry { fields: entry.fields.clone().union(&passing), ..entry.clone() },
            None => ManagedFieldsEntry {
                manager: policy.manager.clone(),
                operation: Operation::Apply,
                api_version: api_version.to_owned(),
                subresource: String::new(),
                time,
                fields: passing,
            },
        };
        Some(Self { ours: Some(ours), others, unreadable: Vec::new() })
    }

    /// What only manual changes own at a path and below it, where it may pass to us. None where others own any of it, or nobody.
    #[must_use]
    pub fn manual_fields(&self, at: &FieldPath, policy: &Policy) -> Option<FieldSet> {
        let mut fields = FieldSet::new();
        for entry in self.others.iter().filter(|entry| entry.fields.contains_at_or_below(at)) {
            if !policy.succeeds(entry) {
                return None;
            }
            fields = fields.union(&entry.fields.filter(|path| at.is_prefix_of(path)));
        }
        (!fields.is_empty()).then_some(fields)
    }

    /// Whether an owner that was named to be succeeded claims one of these fields.
    #[must_use]
    pub fn is_adopting(&self, claims: &FieldSet, policy: &Policy) -> bool {
        let adopted = self.others.iter().filter(|entry| policy.is_adopted(entry));
        adopted.into_iter().any(|entry| !entry.fields.intersection(claims).is_empty())
    }

    /// All that others own.
    #[must_use]
    pub fn fields_of_others(&self) -> FieldSet {
        self.others.iter().fold(FieldSet::new(), |fields, entry| fields.union(&entry.fields))
    }

    /// As `metadata.managedFields` for an update of an object, whose entries stay as they are written where they do not change.
    #[must_use]
    pub fn to_json(&self, object: &Value) -> Value {
        managed_fields_for(object, self.ours.iter().chain(&self.others))
    }
}

/// What client-side apply owns of the manifest as it has last seen it, and of `claimed`. Its entry holds more where it made the
/// object: the server's defaults, and what admission put in (the limits of a `LimitRange`), which no manifest ever had. Those
/// only go where all that the manifest had around them goes. Without a copy of the manifest, everything counts (client-go
/// `csaupgrade.UpgradeManagedFields`).
fn fields_applied(fields: &FieldSet, live: &Value, of: TypeRef<'_>, claimed: &FieldSet) -> FieldSet {
    let Some(applied) = last_applied(live) else { return fields.clone() };
    let text = |name: &str| live.get(name).and_then(Value::as_str).unwrap_or_default();
    let gvk = GroupVersionKind::new(text("apiVersion"), text("kind"));
    let whole = |set: FieldSet| with_string_data(&gvk, set, &Owners::default());
    let (applied, claimed) = (whole(schema::fields_of(&applied, of)), whole(claimed.clone()));
    let copy = FieldPath::of(&["metadata", "annotations", LAST_APPLIED]);
    let mut passing = FieldSet::new();
    fields.visit(&mut |path, below| {
        // An empty map of the manifest does not speak for what admission put into it.
        let is_applied = below.is_empty() && applied.contains(path);
        if is_applied || claimed.contains(path) || *path == copy || is_dropped(path, of, &applied, &claimed) {
            passing.insert(path);
        }
    });
    passing
}

/// Whether a path is in something that the one set speaks of and the other does not: an item, a struct, a value. Entries of maps
/// and items of lists each stand for themselves.
fn is_dropped(path: &FieldPath, of: TypeRef<'_>, applied: &FieldSet, claimed: &FieldSet) -> bool {
    let (mut of, mut applied, mut claimed) = (of, applied, Some(claimed));
    for element in path.elements() {
        let Some((_, below)) = applied.step(element) else { return false };
        of = step(of, element);
        claimed = claimed.and_then(|set| set.step(element)).map(|(_, below)| below);
        let is_many = of.is_free_map() || matches!(of.shape(), Shape::List(..));
        if claimed.is_none() && !is_many && !below.is_empty() {
            return true;
        }
        applied = below;
    }
    false
}

/// The manifest as client-side apply has last seen it.
pub(super) fn last_applied(live: &Value) -> Option<Value> {
    serde_json::from_str(live.pointer("/metadata/annotations")?.get(LAST_APPLIED)?.as_str()?).ok()
}

fn owns_last_applied(fields: &FieldSet) -> bool {
    fields.contains(&FieldPath::of(&["metadata", "annotations", LAST_APPLIED]))
}

/// Keys that a manifest sets through `stringData` live in `data`, where nobody is recorded as their owner until somebody
/// else writes them.
#[must_use]
pub(super) fn with_string_data(gvk: &GroupVersionKind, fields: FieldSet, owners: &Owners) -> FieldSet {
    if !gvk.is_secret() {
        return fields;
    }
    let data = PathElement::Field("data".to_owned());
    let claimants = Claimants::of(&owners.others);
    let mut aliases = FieldSet::new();
    let texts = fields.step(&PathElement::Field("stringData".to_owned())).map(|(_, texts)| texts);
    for (key, _, _) in texts.into_iter().flat_map(FieldSet::nodes) {
        let path = FieldPath::from(vec![data.clone(), key.clone()]);
        if !claimants.is_claimed(&path) {
            aliases.insert(&path);
        }
    }
    fields.union(&aliases)
}
