use reconcile_core::compare::{Class, FieldChange, Side};
use reconcile_core::manifest::Packed;
use reconcile_core::owners::{AuditAnswer, Owner};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use structured_merge::{Change, FieldPath, Op};

use super::bounded_value::{present, present_packed};

/// A difference. Values of Secrets are objects with the one field `redacted`. A large object that is created or deleted as a whole
/// is an object with the one field `omittedBytes`, its size in bytes, unless `--full` is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "FieldChange", deny_unknown_fields)]
pub struct ChangeReport {
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
}

impl From<FieldChange> for ChangeReport {
    fn from(FieldChange { path, op, class, side, live, desired, base, managers, defaulted }: FieldChange) -> Self {
        Self {
            path,
            op,
            class,
            side,
            live: live.map(Packed::tree),
            desired: desired.map(Packed::tree),
            base,
            managers,
            follows: Vec::new(),
            known: false,
            removed_by: None,
            defaulted,
        }
    }
}

impl ChangeReport {
    /// The difference of an object that does not exist, whose value is no tree.
    pub(super) fn missing(desired: Packed) -> Self {
        Self { desired: Some(desired), ..FieldChange::missing(Value::Null).into() }
    }

    /// The same of an object that is to be deleted.
    pub(super) fn pruned(live: Packed) -> Self {
        Self { live: Some(live), ..FieldChange::pruned(Value::Null).into() }
    }

    /// The difference alone.
    pub(crate) fn field_change(&self) -> FieldChange {
        let Self { path, op, class, live, desired, managers, .. } = self;
        let change = Change {
            path: path.clone(),
            op: *op,
            from: live.as_ref().map(Packed::to_tree),
            to: desired.as_ref().map(Packed::to_tree),
        };
        let change = FieldChange::new(change, *class).with_managers(managers.clone());
        FieldChange { side: self.side, base: self.base.clone(), defaulted: self.defaulted.clone(), ..change }
    }

    /// Returns true if it is drift.
    pub fn is_drift(&self) -> bool {
        self.side.is_some()
    }

    /// Returns true if it only follows from the change of another object, which tells more.
    pub(crate) fn is_following(&self) -> bool {
        !self.follows.is_empty() && self.class != Class::Conflict
    }

    /// Returns true if another manager added the field, and it stays.
    pub(crate) fn is_addition(&self) -> bool {
        self.class == Class::Unmanaged && self.op == Op::Add
    }

    /// Returns true if the field was changed or added manually.
    pub fn is_manual(&self) -> bool {
        self.managers.iter().any(|owner| owner.manual)
    }
}

/// One difference inside a value; the owner belongs to the change of the whole value.
pub(crate) fn difference(path: &FieldPath, op: Op, live: Option<&Value>, desired: Option<&Value>) -> ChangeReport {
    let class = if op == Op::Move { Class::Reordered } else { Class::Pending };
    let change = Change { path: path.clone(), op, from: live.cloned(), to: desired.cloned() };
    FieldChange::new(change, class).into()
}
