//! A difference inside a value, as a change of its own.

use reconcile_core::compare::{Class, FieldChange};
use serde_json::Value;
use structured_merge::{Change, FieldPath, Op};

use crate::model::ChangeReport;

/// One difference inside a value; the owner belongs to the change of the whole value.
pub(super) fn difference(path: &FieldPath, op: Op, live: Option<&Value>, desired: Option<&Value>) -> ChangeReport {
    let class = if op == Op::Move { Class::Reordered } else { Class::Pending };
    let change = Change { path: path.clone(), op, from: live.cloned(), to: desired.cloned() };
    FieldChange::new(change, class).into()
}
