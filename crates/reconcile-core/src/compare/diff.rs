use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use structured_merge::{Change, FieldPath, Op, Operation};

use crate::bounded_value::{present, present_packed};
use crate::manifest::{BaseState, Packed};
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

/// The evidence for an action.
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
    /// Its name, as the JSON has it.
    pub fn name(self) -> String {
        // Its variants have no fields, so that each is a text.
        serde_json::to_value(self).ok().as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
    }

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

/// A difference. Values of Secrets are objects with the one field `redacted`. A large object that is created or deleted as a whole
/// is an object with the one field `omittedBytes`, its size in bytes, unless `--full` is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldChange {
    /// The field; empty for the whole object.
    pub path: FieldPath,
    /// The kind of difference.
    pub op: Op,
    /// The reason for the difference.
    pub class: Class,
    /// The side that changed; absent if the difference is no drift.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// The live value; absent if there is none.
    #[serde(default, deserialize_with = "present_packed", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub live: Option<Packed>,
    /// The value that an apply would leave; absent if there is none.
    #[serde(default, deserialize_with = "present_packed", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub desired: Option<Packed>,
    /// The value that was applied last; absent if there is none, or without a base.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub base: Option<Value>,
    /// The other managers that own the field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub managers: Vec<Owner>,
    /// The objects from whose changes this one follows: a reference to an object under a new name, or the checksum of its content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub follows: Vec<String>,
    /// True if the baseline has the same difference (`--baseline`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub known: bool,
    /// The users who deleted the object, or may have removed the field (`--audit-log`).
    #[serde(default, rename = "removedBy", skip_serializing_if = "Option::is_none")]
    pub removed_by: Option<Box<AuditAnswer>>,
    /// The fields of an added value that the server sets and the manifest does not have; the paths begin at the value.
    #[serde(skip)]
    pub defaulted: Vec<FieldPath>,
    /// The value that an apply writes as a whole, if the field is only a part of it.
    #[serde(skip)]
    pub part_of: Option<Box<FieldPath>>,
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
        Self {
            path,
            op,
            class,
            side: Side::of_change(class, op),
            live: from.map(Packed::tree),
            desired: to.map(Packed::tree),
            base: None,
            managers: Vec::new(),
            follows: Vec::new(),
            known: false,
            removed_by: None,
            defaulted: Vec::new(),
            part_of: None,
        }
    }

    /// One difference inside a value; the owner belongs to the change of the whole value.
    pub fn within(path: &FieldPath, op: Op, live: Option<&Value>, desired: Option<&Value>) -> Self {
        let class = if op == Op::Move { Class::Reordered } else { Class::Pending };
        Self::new(Change { path: path.clone(), op, from: live.cloned(), to: desired.cloned() }, class)
    }

    /// Gives it another class, with the side that such a change has without a base.
    pub(super) fn reclassify(&mut self, class: Class) {
        (self.class, self.side) = (class, Side::of_change(class, self.op));
    }

    /// Says on which side something changed.
    #[must_use]
    pub fn on(self, side: Side) -> Self {
        Self { side: Some(side), ..self }
    }

    /// Names the other managers that own the field.
    pub fn with_managers(mut self, managers: Vec<Owner>) -> Self {
        self.managers = managers;
        self
    }

    /// The creation of a whole object.
    pub fn missing(desired: impl Into<Packed>) -> Self {
        Self { desired: Some(desired.into()), ..Self::of_object(Op::Add, Class::Missing) }
    }

    /// The deletion of a whole object.
    pub fn pruned(live: impl Into<Packed>) -> Self {
        Self { live: Some(live.into()), ..Self::of_object(Op::Remove, Class::Pruned) }
    }

    /// The change of an object as a whole.
    pub(super) fn of_object(op: Op, class: Class) -> Self {
        Self::new(Change { path: FieldPath::root(), op, from: None, to: None }, class)
    }

    /// The live and the desired value, as far as there are any.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        [&self.live, &self.desired].into_iter().flatten().map(Packed::get)
    }

    /// The field with its values, by which another comparison finds the same difference; who made it and when does not matter.
    pub fn content(&self) -> (&FieldPath, Option<&Value>, Option<&Value>) {
        (&self.path, self.live.as_deref(), self.desired.as_deref())
    }

    /// Returns true if it is drift.
    pub fn is_drift(&self) -> bool {
        self.side.is_some()
    }

    /// Returns true if it only follows from the change of another object, which tells more.
    pub fn is_following(&self) -> bool {
        !self.follows.is_empty() && self.class != Class::Conflict
    }

    /// Returns true if it names a conflict: that of its field, or of a value around it that the owner has as a whole.
    pub fn names(&self, conflict: &Conflict) -> bool {
        self.class == Class::Conflict
            && conflict.path.is_prefix_of(&self.path)
            && self.managers.contains(&conflict.owner)
    }

    /// Returns true if another manager added the field, and it stays.
    pub fn is_addition(&self) -> bool {
        self.class == Class::Unmanaged && self.op == Op::Add
    }

    /// Returns true if the run adds the label by which the object joins the apply set.
    pub fn joins_set(&self) -> bool {
        self.op == Op::Add && self.path == apply_set::label_path()
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

/// The reason for an action, with advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
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
