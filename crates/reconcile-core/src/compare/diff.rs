use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use structured_merge::{Change, FieldPath, Op, Operation};

use super::secrecy::versions::Versions;
use crate::manifest::BaseState;
use crate::owners::{AuditAnswer, Owner, User};

/// The action that one object needs, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// No action: the object is in sync.
    None,
    /// The object does not exist.
    Create,
    /// Fields differ.
    Update,
    /// An immutable field differs: the object has to be deleted and recreated.
    Replace,
    /// The object has to be deleted.
    Delete,
    /// The object could not be compared.
    Unknown,
}

/// The evidence for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Evidence {
    /// Proven from the `managedFields` of the live object.
    Proven,
    /// The server answered a dry run.
    Server,
    /// Compared locally, without the server.
    Local,
}

/// The reason why a field differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Class {
    /// Admission or the server keeps its own value, so that an apply changes nothing. Not drift.
    Overridden,
    /// Another applier or a controller owns the field.
    Conflict,
    /// Only the order of a keyed list differs.
    Reordered,
    /// Another manager changed the field and owns it now.
    ChangedByOther,
    /// The field is not in the live object: it is new in the manifest, or was removed from the object.
    Absent,
    /// We own the field and the manifest no longer has it: an apply removes it.
    Pruned,
    /// We own the field and the manifest no longer has it, but a co-owner keeps it. Not drift.
    Released,
    /// The field differs, and a record says that the cluster still has what was applied: the manifest changed.
    Pending,
    /// The field differs, and no record says which side changed.
    Unrecorded,
    /// The server changes the field because another field of the object changes. Not drift by itself.
    Consequence,
    /// The whole object is missing.
    Missing,
    /// Another manager added the field. Drift only where an apply takes it out (`--remove-added`).
    Unmanaged,
    /// All values are equal, but not all of them are recorded as ours yet. Not drift.
    Adopted,
}

impl Class {
    /// Returns true if such a change is always drift.
    pub fn is_drift(self) -> bool {
        self.side().is_some()
    }

    /// The side that changed if nothing but the records of the cluster tells it; `None` if such a change is no drift.
    pub fn side(self) -> Option<Side> {
        match self {
            Self::Pending | Self::Pruned => Some(Side::Manifest),
            Self::ChangedByOther | Self::Conflict => Some(Side::Cluster),
            Self::Missing | Self::Absent | Self::Unrecorded | Self::Reordered => Some(Side::Either),
            Self::Consequence | Self::Overridden | Self::Released | Self::Unmanaged | Self::Adopted => None,
        }
    }
}

/// The side of a difference that changed, as far as a base or the records of the cluster tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Side {
    /// The manifest.
    Manifest,
    /// The live object.
    Cluster,
    /// One of them: no record tells which.
    Either,
    /// Both of them. Of a single difference: an apply overwrites what changed in the cluster.
    Both,
}

impl Side {
    /// The side of several changes, each of its own side: a known one counts before an unknown one. `None` if there are none.
    pub fn of_all(sides: impl Iterator<Item = Self>) -> Option<Self> {
        sides.fold(None, |known, side| {
            Some(match (known, side) {
                (None | Some(Self::Either), side) => side,
                (Some(known), Self::Either) => known,
                (Some(known), side) if known == side => known,
                _ => Self::Both,
            })
        })
    }

    /// The side of a change if nothing but the records of the cluster tells it. What others added is a difference only where an apply takes
    /// it out.
    pub fn of_change(class: Class, op: Op) -> Option<Self> {
        if class == Class::Unmanaged && op != Op::Add { Some(Self::Cluster) } else { class.side() }
    }

    /// The side on which an object is missing that a base has like this.
    pub fn of_missing(base: BaseState) -> Self {
        match base {
            BaseState::Same => Self::Cluster,
            BaseState::Differs => Self::Both,
            BaseState::Absent => Self::Manifest,
        }
    }

    /// Returns true if something changed in the cluster.
    pub fn is_of_cluster(self) -> bool {
        matches!(self, Self::Cluster | Self::Both)
    }
}

/// A difference. Values of Secrets are objects with the one field `redacted`.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// The field; empty for the whole object.
    pub path: FieldPath,
    /// The kind of difference.
    pub op: Op,
    /// The reason for the difference.
    pub class: Class,
    /// The side that changed; `None` if the difference is no drift.
    pub side: Option<Side>,
    /// The live value; `None` if there is none.
    pub live: Option<Value>,
    /// The value that an apply would leave; `None` if there is none.
    pub desired: Option<Value>,
    /// The value of the base; `None` if it has none, or if there is no base.
    pub base: Option<Value>,
    /// The other managers that own the field.
    pub managers: Vec<Owner>,
    /// The fields of an added value that the server sets and the manifest does not have; the paths begin at the value.
    pub defaulted: Vec<FieldPath>,
}

/// Number of fields that other managers added to an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnmanagedCount {
    /// All fields.
    pub fields: usize,
    /// The fields that were added manually.
    pub manual: usize,
}

impl UnmanagedCount {
    pub(super) fn of(unmanaged: &[FieldChange]) -> Self {
        let manual = unmanaged.iter().filter(|change| change.is_manual()).count();
        Self { fields: unmanaged.len(), manual }
    }
}

/// A field that an applier or a controller owns, and for which the manifest has another value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "WrittenConflict")]
pub struct Conflict {
    /// The field.
    pub path: FieldPath,
    /// The owner.
    #[serde(flatten)]
    pub owner: Owner,
}

impl FieldChange {
    /// The difference between two values, without managers.
    pub fn new(change: Change, class: Class) -> Self {
        let Change { path, op, from, to } = change;
        let side = Side::of_change(class, op);
        let managers = Vec::new();
        let defaulted = Vec::new();
        Self { path, op, class, side, live: from, desired: to, base: None, managers, defaulted }
    }

    /// Gives it another class, with the side that such a change has without a base.
    pub(super) fn reclassify(&mut self, class: Class) {
        (self.class, self.side) = (class, Side::of_change(class, self.op));
    }

    /// Names the other managers that own the field.
    pub fn with_managers(mut self, managers: Vec<Owner>) -> Self {
        self.managers = managers;
        self
    }

    /// The creation of a whole object.
    pub fn missing(desired: Value) -> Self {
        Self { desired: Some(desired), ..Self::of_object(Op::Add, Class::Missing) }
    }

    /// The deletion of a whole object.
    pub fn pruned(live: Value) -> Self {
        Self { live: Some(live), ..Self::of_object(Op::Remove, Class::Pruned) }
    }

    /// The change of an object as a whole.
    pub(super) fn of_object(op: Op, class: Class) -> Self {
        Self::new(Change { path: FieldPath::root(), op, from: None, to: None }, class)
    }

    /// Returns true if it is drift.
    pub fn is_drift(&self) -> bool {
        self.side.is_some()
    }

    /// Returns true if the field was changed or added manually.
    pub fn is_manual(&self) -> bool {
        self.managers.iter().any(|owner| owner.manual)
    }
}

/// A conflict as reports write it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenConflict {
    path: FieldPath,
    manager: String,
    operation: Operation,
    subresource: String,
    time: Option<String>,
    #[serde(default)]
    manual: bool,
    user: Option<Box<User>>,
    #[serde(default)]
    users: Vec<User>,
}

impl From<WrittenConflict> for Conflict {
    fn from(written: WrittenConflict) -> Self {
        let WrittenConflict { path, manager, operation, subresource, time, manual, user, users } = written;
        let users = AuditAnswer { user, users };
        Self { path, owner: Owner { manager, operation, subresource, time, manual, users } }
    }
}

/// The result of the comparison of one live object's fields.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldDiff {
    /// The evidence for the comparison.
    pub evidence: Evidence,
    /// The differences, sorted by path.
    pub changes: Vec<FieldChange>,
    /// The fields of other managers that block the apply. While there are any, the object is not written.
    pub conflicts: Vec<Conflict>,
    /// Items that manual changes added to lists of the manifest, and that an apply leaves alone.
    pub added_items: Vec<FieldPath>,
    /// Number of fields that other managers added.
    pub unmanaged: UnmanagedCount,
    /// The differences that rules ignore, by rule.
    pub ignored: Vec<IgnoredFields>,
    /// The differences that the pass leaves (`--only`).
    pub left: Vec<LeftDifference>,
    /// The object before and after an apply, if a report shows it.
    pub versions: Option<Arc<Versions>>,
}

impl FieldDiff {
    /// A result without differences.
    pub fn none(evidence: Evidence) -> Self {
        Self {
            evidence,
            changes: Vec::new(),
            conflicts: Vec::new(),
            added_items: Vec::new(),
            unmanaged: UnmanagedCount::default(),
            ignored: Vec::new(),
            left: Vec::new(),
            versions: None,
        }
    }

    /// The result for an object that is left as it is, although it is missing or has to be deleted.
    pub fn leaving(evidence: Evidence, change: &FieldChange) -> Self {
        Self { left: LeftDifference::of(change).into_iter().collect(), ..Self::none(evidence) }
    }

    /// Returns true if a value differs, which is drift.
    pub fn has_drift(&self) -> bool {
        self.changes.iter().any(FieldChange::is_drift)
    }

    /// Returns true if the record of owners would change.
    pub fn changes_owners(&self) -> bool {
        self.changes.iter().any(|change| matches!(change.class, Class::Adopted | Class::Released))
    }
}

/// A difference that the pass leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftDifference {
    /// The field; empty for the whole object.
    pub path: FieldPath,
    /// The reason for the difference.
    pub class: Class,
    /// The side that changed.
    pub side: Side,
}

impl LeftDifference {
    /// The difference as it is left; `None` if the change is none.
    pub(super) fn of(change: &FieldChange) -> Option<Self> {
        let FieldChange { path, class, side, .. } = change;
        Some(Self { path: path.clone(), class: *class, side: (*side)? })
    }
}

/// The differences of one object that one rule hides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IgnoredFields {
    /// The location of the rule, or the annotation that holds it.
    pub rule: String,
    /// The reason that the rule gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `true` for an autoscaler or another controller that this program knows without a rule.
    #[serde(rename = "builtIn", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_built_in: bool,
    /// The fields.
    pub paths: Vec<FieldPath>,
    /// The field managers that own these fields in the live object, by path. Fields without an owner are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub managers: BTreeMap<String, Vec<String>>,
}

/// The permission to replace an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Replacement {
    /// The flags allow it.
    Allowed,
    /// It needs `--replace=immutable`.
    NeedsFlag,
    /// The object is protected, because its deletion would also delete what no manifest holds.
    Protected,
}

/// The reason for a replacement, with advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The permission to replace the object.
    pub replacement: Replacement,
    /// One sentence.
    pub text: String,
    /// Advice on what to do.
    pub hint: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::Side::{Both, Cluster, Either, Manifest};
    use super::*;

    #[test]
    fn a_known_side_counts_before_an_unknown_one() {
        let side = |sides: &[Side]| Side::of_all(sides.iter().copied());
        assert_eq!(side(&[]), None);
        assert_eq!(side(&[Either]), Some(Either));
        assert_eq!(side(&[Either, Manifest]), Some(Manifest));
        assert_eq!(side(&[Cluster, Either]), Some(Cluster));
        assert_eq!(side(&[Manifest, Manifest]), Some(Manifest));
        assert_eq!(side(&[Manifest, Cluster, Manifest, Either]), Some(Both));
    }
}
