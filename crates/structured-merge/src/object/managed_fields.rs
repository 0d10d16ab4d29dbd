use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{FieldSet, ObjectMeta as _};

/// The annotation in which client-side apply stores the manifest that it applied last.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Operation by which a field manager wrote its fields. An operation of another name is read as [`Operation::Update`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Operation {
    /// Server-side apply.
    Apply,
    /// Any other write: create, update, patch.
    #[serde(other)]
    Update,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        })
    }
}

/// One entry of `metadata.managedFields`: a field manager and the fields that it owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedFieldsEntry {
    /// Name of the field manager.
    pub manager: String,
    /// Apply or Update. The Apply and Update entries of one manager are different owners.
    pub operation: Operation,
    /// The API version in which the fields are named.
    pub api_version: String,
    /// The subresource that was written; empty for the object itself.
    pub subresource: String,
    /// Time of the last change (RFC 3339), if the API recorded it.
    pub time: Option<String>,
    /// The fields owned.
    pub fields: FieldSet,
}

impl ManagedFieldsEntry {
    fn from_json(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
        Some(Self {
            manager: text("manager").unwrap_or_default(),
            operation: if text("operation")? == "Apply" { Operation::Apply } else { Operation::Update },
            api_version: text("apiVersion").unwrap_or_default(),
            subresource: text("subresource").unwrap_or_default(),
            time: text("time"),
            fields: FieldSet::from_fields_v1(value.get("fieldsV1").unwrap_or(&json!({}))).ok()?,
        })
    }

    /// Writes the entry as the API server reads it.
    pub fn to_json(&self) -> Value {
        let mut entry = Map::new();
        entry.insert("manager".into(), self.manager.as_str().into());
        entry.insert("operation".into(), self.operation.to_string().into());
        entry.insert("apiVersion".into(), self.api_version.as_str().into());
        if !self.subresource.is_empty() {
            entry.insert("subresource".into(), self.subresource.as_str().into());
        }
        if let Some(time) = &self.time {
            entry.insert("time".into(), time.as_str().into());
        }
        entry.insert("fieldsType".into(), "FieldsV1".into());
        entry.insert("fieldsV1".into(), self.fields.to_fields_v1());
        Value::Object(entry)
    }

    /// Identity of the owner (apimachinery `managedfields.BuildManagerIdentifier`). Update entries of different
    /// versions are different owners; one Apply entry serves all versions.
    pub fn identity(&self) -> (&str, Operation, &str, Option<&str>) {
        let version = (self.operation == Operation::Update).then_some(self.api_version.as_str());
        (&self.manager, self.operation, &self.subresource, version)
    }
}

/// The entries of an object's `metadata.managedFields`. Entries that cannot be read are left out: `read_managed_fields`
/// names them.
pub fn managed_fields(object: &Value) -> Vec<ManagedFieldsEntry> {
    read_managed_fields(object).0
}

/// The entries of an object's `metadata.managedFields`, and the managers of entries that cannot be read: the fields
/// that those own are unknown.
pub fn read_managed_fields(object: &Value) -> (Vec<ManagedFieldsEntry>, Vec<String>) {
    let mut entries = Vec::new();
    let mut unreadable = Vec::new();
    for (entry, value) in raw_entries(object) {
        match entry {
            Some(entry) => entries.push(entry),
            None => unreadable.push(value.get("manager").and_then(Value::as_str).unwrap_or_default().to_owned()),
        }
    }
    (entries, unreadable)
}

/// Writes entries as `metadata.managedFields` for an update of an object. An entry that the object already has is
/// repeated exactly as it is there, so that reading and writing loses nothing.
pub fn managed_fields_for<'e>(object: &Value, entries: impl Iterator<Item = &'e ManagedFieldsEntry>) -> Value {
    let written: Vec<(Option<ManagedFieldsEntry>, &Value)> = raw_entries(object).collect();
    let as_written = |entry: &ManagedFieldsEntry| {
        let same = written.iter().find(|(other, _)| other.as_ref() == Some(entry));
        same.map_or_else(|| entry.to_json(), |(_, value)| (*value).clone())
    };
    entries.map(as_written).collect()
}

fn raw_entries(object: &Value) -> impl Iterator<Item = (Option<ManagedFieldsEntry>, &Value)> {
    object.raw_managed_fields().iter().map(|value| (ManagedFieldsEntry::from_json(value), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_cannot_be_read_is_named() {
        let entry = |manager: &str, fields: Value| json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsV1": fields});
        let entries = [entry("a", json!({"f:spec": {}})), entry("b", json!({"k:{": {}})), json!({"manager": "c"})];
        let (readable, unreadable) = read_managed_fields(&json!({"metadata": {"managedFields": entries}}));
        assert_eq!(readable.iter().map(|entry| entry.manager.as_str()).collect::<Vec<_>>(), ["a"]);
        assert_eq!(unreadable, ["b", "c"]);
    }

    #[test]
    fn an_entry_that_stays_is_repeated_as_it_is_written() {
        let odd = json!({"manager": "a", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"v:1.0": {}, "i:-1": {}, "x:later": {}}}});
        let object = json!({"metadata": {"managedFields": [odd]}});
        let entries = managed_fields(&object);
        assert_eq!(managed_fields_for(&object, entries.iter()), json!([odd]));
        let other = ManagedFieldsEntry { manager: "b".to_owned(), ..entries[0].clone() };
        assert_eq!(managed_fields_for(&object, std::iter::once(&other)), json!([other.to_json()]));
    }
}
