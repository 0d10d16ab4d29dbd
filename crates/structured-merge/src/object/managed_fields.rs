use std::fmt;

use serde_json::{Map, Value, json};

use super::FieldSet;

/// The annotation in which client-side apply keeps the manifest that it applied last.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// How a field manager wrote its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Server-side apply.
    Apply,
    /// Any other write: create, update, patch.
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

/// One entry of `metadata.managedFields`: who owns which fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedFieldsEntry {
    /// Name of the field manager.
    pub manager: String,
    /// Apply or Update; a manager's two are different owners.
    pub operation: Operation,
    /// The version in which the fields are named.
    pub api_version: String,
    /// The subresource written through; empty for the object itself.
    pub subresource: String,
    /// When, RFC 3339, where the API records it.
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

    /// As the API server reads it.
    #[must_use]
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

    /// What tells the owner from others (apimachinery `managedfields.BuildManagerIdentifier`): the version tells Update entries apart, and one Apply entry serves all versions.
    #[must_use]
    pub fn identity(&self) -> (&str, Operation, &str, Option<&str>) {
        let version = (self.operation == Operation::Update).then_some(self.api_version.as_str());
        (&self.manager, self.operation, &self.subresource, version)
    }
}

/// The owners that an object's `metadata.managedFields` names. Entries that can't be read are left out.
#[must_use]
pub fn managed_fields(object: &Value) -> Vec<ManagedFieldsEntry> {
    object
        .pointer("/metadata/managedFields")
        .and_then(Value::as_array)
        .map(|entries| entries.iter().filter_map(ManagedFieldsEntry::from_json).collect())
        .unwrap_or_default()
}
