//! A difference inside a value, as a change of its own.

use reconcile_core::compare::{Class, FieldChange};
use serde_json::Value;
use structured_merge::{FieldPath, Op};

/// One difference inside a value; the owner belongs to the change of the whole value.
pub(super) fn difference(path: &FieldPath, op: Op, live: Option<&Value>, desired: Option<&Value>) -> FieldChange {
    let class = if op == Op::Move { Class::Reordered } else { Class::Pending };
    FieldChange {
        path: path.clone(),
        op,
        class,
        live: live.cloned(),
        desired: desired.cloned(),
        managers: Vec::new(),
        known: false,
        removed_by: None,
        defaulted: Vec::new(),
    }
}
