//! The owners that an object's `managedFields` name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::object::{FieldPath, FieldSet, ManagedFieldsEntry, Operation, managed_fields_for, read_managed_fields};

/// The owners of an object: our own entry, and the entries of all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ownership {
    /// Our Apply entry.
    pub ours: Option<ManagedFieldsEntry>,
    /// All other entries, in the API's order.
    pub others: Vec<ManagedFieldsEntry>,
    /// The managers of entries that cannot be read. If there is one, the ownership of the object is unknown.
    pub unreadable: Vec<String>,
}

/// The fields that one owner loses.
#[derive(Clone, Debug)]
pub struct LostFields<'a> {
    /// Entry of the owner.
    pub entry: &'a ManagedFieldsEntry,
    /// The fields, in the version of the entry.
    pub fields: FieldSet,
}

impl<'a> LostFields<'a> {
    /// The lost fields that are in `ours`, or above a path in it.
    pub fn taken_by(&self, ours: &FieldSet) -> Vec<(FieldPath, &'a ManagedFieldsEntry)> {
        let mut taken = Vec::new();
        self.fields.visit(&mut |path, _| {
            if ours.contains_at_or_below(path) {
                taken.push((path.clone(), self.entry));
            }
        });
        taken
    }
}

impl Ownership {
    /// Reads the owners of an object; `manager` is us.
    pub fn of(object: &Value, manager: &str) -> Self {
        let is_ours = |entry: &ManagedFieldsEntry| {
            entry.manager == manager && entry.operation == Operation::Apply && entry.subresource.is_empty()
        };
        let (entries, unreadable) = read_managed_fields(object);
        let (mut ours, others) = entries.into_iter().partition::<Vec<_>, _>(is_ours);
        Self { ours: ours.pop(), others, unreadable }
    }

    /// All entries that can be read: our own, and those of all others.
    pub fn entries(&self) -> impl Iterator<Item = &ManagedFieldsEntry> {
        self.ours.iter().chain(&self.others)
    }

    /// The fields that we own.
    pub fn our_fields(&self) -> FieldSet {
        self.ours.as_ref().map(|entry| entry.fields.clone()).unwrap_or_default()
    }

    /// The conflicts of a change to `after`, as the server would name them: the fields that others lose because we take
    /// them. These are the paths that an entry loses, and that are in our entry afterwards or above a path in it.
    pub fn taken(&self, after: &Self) -> Vec<(FieldPath, &ManagedFieldsEntry)> {
        let ours = after.our_fields();
        self.lost(after).iter().flat_map(|lost| lost.taken_by(&ours)).collect()
    }

    /// All fields that others lose in a change to `after`, because we take them or because they are removed.
    pub fn lost(&self, after: &Self) -> Vec<LostFields<'_>> {
        let kept: BTreeMap<_, &FieldSet> =
            after.others_that_count().map(|entry| (entry.identity(), &entry.fields)).collect();
        let lost = |entry: &ManagedFieldsEntry| match kept.get(&entry.identity()) {
            Some(kept) => entry.fields.difference(kept),
            None => entry.fields.clone(),
        };
        self.others_that_count().map(|entry| LostFields { entry, fields: lost(entry) }).collect()
    }

    /// The entries of others that the server uses: if one owner has several entries, the last one (apimachinery
    /// `managedfields/internal/managedfields.go`, `decodeManagedFields`).
    fn others_that_count(&self) -> impl Iterator<Item = &ManagedFieldsEntry> {
        let last = self.last_of_each();
        self.others.iter().enumerate().filter(move |(index, _)| last.contains(index)).map(|(_, entry)| entry)
    }

    /// Removes the entries of others that the server does not use.
    pub(crate) fn leave_out_repeated(&mut self) {
        let last = self.last_of_each();
        let mut index = 0..;
        self.others.retain(|_| index.next().is_some_and(|index| last.contains(&index)));
    }

    fn last_of_each(&self) -> BTreeSet<usize> {
        let last: BTreeMap<_, usize> =
            self.others.iter().enumerate().map(|(index, entry)| (entry.identity(), index)).collect();
        last.into_values().collect()
    }

    /// The fields at a path and below it that others own.
    pub fn fields_of_others_at(&self, at: &FieldPath) -> FieldSet {
        let owned = self.others.iter().filter(|entry| entry.fields.contains_at_or_below(at));
        owned.fold(FieldSet::new(), |all, entry| all.union(&entry.fields.filter(|path| at.is_prefix_of(path))))
    }

    /// The owners with every record under one API version, for a server that cannot convert the object to the others: fields keep their
    /// names there. Records of one owner become one.
    pub fn under(&self, api_version: &str) -> Self {
        let renamed =
            |entry: &ManagedFieldsEntry| ManagedFieldsEntry { api_version: api_version.to_owned(), ..entry.clone() };
        let mut others: Vec<ManagedFieldsEntry> = Vec::with_capacity(self.others.len());
        for entry in self.others.iter().map(renamed) {
            match others.iter_mut().find(|other| other.identity() == entry.identity()) {
                Some(other) => {
                    other.fields = std::mem::take(&mut other.fields).union(&entry.fields);
                    other.time = other.time.take().max(entry.time);
                }
                None => others.push(entry),
            }
        }
        Self { ours: self.ours.as_ref().map(renamed), others, unreadable: self.unreadable.clone() }
    }

    /// All fields that others own.
    pub fn fields_of_others(&self) -> FieldSet {
        self.others.iter().fold(FieldSet::new(), |fields, entry| fields.union(&entry.fields))
    }

    /// Writes `metadata.managedFields` for an update of an object. Entries that do not change stay exactly as they are
    /// there.
    pub fn to_json(&self, object: &Value) -> Value {
        managed_fields_for(object, self.entries())
    }
}

/// An object with the owners of its fields: a live one, or the prediction of an apply.
#[derive(Clone, Debug, PartialEq)]
pub struct ManagedObject {
    /// The object.
    pub object: Value,
    /// The owners of its fields.
    pub owners: Ownership,
}

impl ManagedObject {
    /// Reads the owners of a live object from its `metadata.managedFields`; `manager` is that of the applier.
    pub fn new(object: Value, manager: &str) -> Self {
        let owners = Ownership::of(&object, manager);
        Self { object, owners }
    }
}
