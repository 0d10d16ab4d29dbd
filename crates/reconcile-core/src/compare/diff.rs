use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use structured_merge::{FieldPath, Op, Operation};

use super::ignored_fields::IgnoredFields;
use super::versions::Versions;
use super::written_paths::{as_text, path_of};

/// What has to be done to one object, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
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
    /// It is not in the live object: it is new in the manifest, or was removed there.
    Absent,
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// Name of the field manager.
    pub manager: String,
    /// How it wrote the field.
    pub operation: Operation,
    /// The subresource written through; empty for the object itself.
    pub subresource: String,
    /// When, RFC 3339, where the API records it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Whether it is a manual change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub manual: bool,
}

/// One difference. Values of Secrets are objects with the one field `redacted`. A large object that is created or deleted as a whole
/// is an object with the one field `leftOut`, its size in bytes, unless `--full` is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldChange {
    /// The field; empty for the whole object.
    #[serde(serialize_with = "as_text", deserialize_with = "path_of")]
    #[schemars(with = "String")]
    pub path: FieldPath,
    /// How it differs.
    pub op: Op,
    /// Why it differs.
    pub class: Class,
    /// The live value; absent where there is none.
    #[serde(default, deserialize_with = "value_of", skip_serializing_if = "Option::is_none")]
    pub live: Option<Value>,
    /// The value that an apply would leave; absent where there is none.
    #[serde(default, deserialize_with = "value_of", skip_serializing_if = "Option::is_none")]
    pub desired: Option<Value>,
    /// Who else owns it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub managers: Vec<Owner>,
    /// What the server sets in an added value, as the manifest does not say it; the paths begin at the value.
    #[serde(skip)]
    pub defaulted: Vec<FieldPath>,
}

/// How many fields others added to an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnmanagedCount {
    /// All of them.
    pub fields: usize,
    /// Those that were added by hand.
    pub manual: usize,
}

impl UnmanagedCount {
    pub(super) fn of(unmanaged: &[FieldChange]) -> Self {
        let manual = unmanaged.iter().filter(|change| change.is_manual()).count();
        Self { fields: unmanaged.len(), manual }
    }
}

/// A field that an applier or a controller owns, and the manifest wants otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "WrittenConflict")]
pub struct Conflict {
    /// The field.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub path: FieldPath,
    /// The owner.
    #[serde(flatten)]
    pub owner: Owner,
}

impl FieldChange {
    /// Returns true if somebody changed or added it by hand.
    #[must_use]
    pub fn is_manual(&self) -> bool {
        self.managers.iter().any(|owner| owner.manual)
    }

    /// A whole object that does not exist.
    #[must_use]
    pub fn missing(desired: Value) -> Self {
        Self { desired: Some(desired), ..Self::of_object(Op::Add, Class::Missing) }
    }

    /// A whole object that is to be deleted.
    #[must_use]
    pub fn pruned(live: Value) -> Self {
        Self { live: Some(live), ..Self::of_object(Op::Remove, Class::Pruned) }
    }

    /// The change of an object as a whole.
    pub(super) fn of_object(op: Op, class: Class) -> Self {
        Self {
            path: FieldPath::root(),
            op,
            class,
            live: None,
            desired: None,
            managers: Vec::new(),
            defaulted: Vec::new(),
        }
    }
}

/// A value that is there, also one that is null.
fn value_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A conflict as reports write it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenConflict {
    #[serde(deserialize_with = "path_of")]
    #[schemars(with = "String")]
    path: FieldPath,
    manager: String,
    operation: Operation,
    subresource: String,
    time: Option<String>,
    #[serde(default)]
    manual: bool,
}

impl From<WrittenConflict> for Conflict {
    fn from(written: WrittenConflict) -> Self {
        let WrittenConflict { path, manager, operation, subresource, time, manual } = written;
        Self { path, owner: Owner { manager, operation, subresource, time, manual } }
    }
}

/// The fields of one live object that were compared with those wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldDiff {
    /// What the comparison rests on.
    pub evidence: Evidence,
    /// What differs, by path.
    pub changes: Vec<FieldChange>,
    /// Fields of others that stand in the way. While there are any, the object is left alone.
    pub conflicts: Vec<Conflict>,
    /// Items that manual changes added beside the manifest's own, and that an apply leaves alone.
    pub beside: Vec<FieldPath>,
    /// How many fields others added.
    pub unmanaged: UnmanagedCount,
    /// Differences that rules ignore, by rule.
    pub ignored: Vec<IgnoredFields>,
    /// Why the object is left alone, if there is more to say than the conflicts do.
    pub held: Option<Reason>,
    /// The object before and after, where that was asked for.
    pub versions: Option<Arc<Versions>>,
}

impl FieldDiff {
    /// No difference.
    #[must_use]
    pub fn none(evidence: Evidence) -> Self {
        let (changes, conflicts, beside, ignored) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self {
            evidence,
            changes,
            conflicts,
            beside,
            unmanaged: UnmanagedCount::default(),
            ignored,
            held: None,
            versions: None,
        }
    }

    /// Returns true if a value differs, so that it is drift.
    #[must_use]
    pub fn has_drift(&self) -> bool {
        self.changes.iter().any(|change| change.class.is_drift())
    }

    /// Returns true if the record of owners would change.
    #[must_use]
    pub fn changes_owners(&self) -> bool {
        self.changes.iter().any(|change| matches!(change.class, Class::Adopted | Class::Released))
    }
}

/// Why something is as it is, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// One sentence.
    pub text: String,
    /// What to do.
    pub hint: Option<String>,
}
