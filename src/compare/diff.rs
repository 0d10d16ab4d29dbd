use serde::{Serialize, Serializer};
use serde_json::Value;
use structured_merge::{FieldPath, ManagedFieldsEntry, Op};

use crate::diagnostic::Diagnostic;

/// What has to be done to one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Nothing: it is in sync.
    None,
    /// It does not exist.
    Create,
    /// Fields differ.
    Update,
    /// A field that cannot be changed differs: only deleting and creating it again would do.
    Replace,
    /// It is to be deleted.
    Delete,
    /// It could not be compared.
    Unknown,
}

/// What a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Evidence {
    /// Proven from the live object's own record of owners.
    Proven,
    /// The server was asked.
    Server,
    /// Compared here, without the server.
    Local,
}

/// Why a field differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Class {
    /// Admission or the server keeps its own value, so that applying changes nothing. Not drift.
    Overridden,
    /// Another applier or a controller owns it.
    Conflict,
    /// Only the order of a keyed list differs.
    Reordered,
    /// Another manager changed it and owns it now.
    ChangedByOther,
    /// We had it, and it is gone from the live object; or it is new in the manifest.
    RemovedByOther,
    /// We own it and the manifest does not have it any more: it goes.
    Pruned,
    /// We own it and the manifest does not have it any more, but a co-owner keeps it. Not drift.
    Released,
    /// It differs, and nobody else owns it: the manifest moved.
    Pending,
    /// The whole object is missing.
    Missing,
    /// Somebody else added it. Not drift.
    Unmanaged,
    /// All values are equal, and not all of them are recorded as ours yet. Not drift.
    Adopted,
}

impl Class {
    /// Returns true if such a change is drift.
    #[must_use]
    pub fn is_drift(self) -> bool {
        !matches!(self, Self::Overridden | Self::Released | Self::Unmanaged | Self::Adopted)
    }
}

/// Who owns a field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Owner {
    /// Name of the field manager.
    pub manager: String,
    /// `Apply` or `Update`.
    pub operation: String,
    /// The subresource written through; empty for the object itself.
    pub subresource: String,
    /// When, RFC 3339, where the API records it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

impl From<&ManagedFieldsEntry> for Owner {
    fn from(entry: &ManagedFieldsEntry) -> Self {
        Self {
            manager: entry.manager.clone(),
            operation: entry.operation.to_string(),
            subresource: entry.subresource.clone(),
            time: entry.time.clone(),
        }
    }
}

/// One difference, with secret values redacted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldChange {
    /// Where.
    #[serde(serialize_with = "as_text")]
    pub path: FieldPath,
    /// How.
    pub op: Op,
    /// Why.
    pub class: Class,
    /// The live value, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Value>,
    /// The value that an apply would leave, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired: Option<Value>,
    /// Who else owns it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub managers: Vec<Owner>,
}

/// A field that an applier or a controller owns, and the manifest wants otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// Where.
    #[serde(serialize_with = "as_text")]
    pub path: FieldPath,
    /// The owner.
    #[serde(flatten)]
    pub owner: Owner,
}

fn as_text<S: Serializer>(path: &FieldPath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(path)
}

/// The verdict on one object.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectDiff {
    /// What has to be done.
    pub action: Action,
    /// What that rests on; none where nothing could be compared.
    pub evidence: Option<Evidence>,
    /// What differs, by path.
    pub changes: Vec<FieldChange>,
    /// Fields of others that stand in the way. While there are any, the object is left alone.
    pub conflicts: Vec<Conflict>,
    /// Items that manual changes added beside the manifest's own, and that an apply leaves alone.
    pub beside: Vec<FieldPath>,
    /// What its author should know.
    pub warnings: Vec<String>,
    /// Why it could not be compared.
    pub trouble: Option<Diagnostic>,
    /// Why it has to be replaced.
    pub reason: Option<String>,
    /// What to do about that.
    pub hint: Option<String>,
}

impl ObjectDiff {
    /// An object that could not be compared.
    #[must_use]
    pub fn unknown(trouble: Diagnostic) -> Self {
        Self {
            action: Action::Unknown,
            evidence: None,
            changes: Vec::new(),
            conflicts: Vec::new(),
            beside: Vec::new(),
            warnings: Vec::new(),
            trouble: Some(trouble),
            reason: None,
            hint: None,
        }
    }

    /// An object that does not exist.
    #[must_use]
    pub fn create(desired: Value, evidence: Evidence) -> Self {
        let change = FieldChange {
            path: FieldPath::root(),
            op: Op::Add,
            class: Class::Missing,
            live: None,
            desired: Some(desired),
            managers: Vec::new(),
        };
        Self::of(vec![change], Vec::new(), evidence)
    }

    /// A live object that is to be deleted.
    #[must_use]
    pub fn delete(live: Value, reason: &str) -> Self {
        let change = FieldChange {
            path: FieldPath::root(),
            op: Op::Remove,
            class: Class::Pruned,
            live: Some(live),
            desired: None,
            managers: Vec::new(),
        };
        Self { action: Action::Delete, changes: vec![change], ..Self::untouched(reason) }
    }

    /// A live object that stays as it is although no manifest wants it.
    #[must_use]
    pub fn untouched(reason: &str) -> Self {
        Self {
            action: Action::None,
            evidence: None,
            changes: Vec::new(),
            conflicts: Vec::new(),
            beside: Vec::new(),
            warnings: Vec::new(),
            trouble: None,
            reason: Some(reason.to_owned()),
            hint: None,
        }
    }

    /// An object whose fields were compared.
    #[must_use]
    pub fn of(changes: Vec<FieldChange>, conflicts: Vec<Conflict>, evidence: Evidence) -> Self {
        let action = if changes.iter().any(|change| change.class == Class::Missing) {
            Action::Create
        } else if changes.iter().any(|change| change.class.is_drift()) {
            Action::Update
        } else {
            Action::None
        };
        Self {
            action,
            evidence: Some(evidence),
            changes,
            conflicts,
            beside: Vec::new(),
            warnings: Vec::new(),
            trouble: None,
            reason: None,
            hint: None,
        }
    }

    /// Returns true if values are equal and only the record of owners would change.
    #[must_use]
    pub fn is_ownership_only(&self) -> bool {
        self.action == Action::None
            && self.changes.iter().any(|change| matches!(change.class, Class::Adopted | Class::Released))
    }

    /// Returns true if two comparisons found the same difference, whoever made it and whenever.
    #[must_use]
    pub fn same_difference(&self, other: &Self) -> bool {
        let drift = |diff: &Self| -> Vec<(FieldPath, Option<Value>, Option<Value>)> {
            let changes = diff.changes.iter().filter(|change| change.class.is_drift());
            changes.map(|change| (change.path.clone(), change.live.clone(), change.desired.clone())).collect()
        };
        self.action == other.action && drift(self) == drift(other)
    }
}
