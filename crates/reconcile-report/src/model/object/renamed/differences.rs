//! The differences between a former object and the new one.

use std::collections::BTreeSet;

use reconcile_core::compare::{Class, FieldChange, Side};
use serde_json::Value;
use structured_merge::{FieldPath, ObjectMeta as _, Op};

/// Gives a difference the class, side and owners that the comparison found. What others added to the former object is not in the new one,
/// and nothing refuses to create that.
pub(super) fn explain(change: &mut FieldChange, found: Option<&FieldChange>) {
    change.class = match found.map(|found| found.class) {
        Some(Class::Conflict) => Class::ChangedByOther,
        Some(class) => class,
        None => Class::Unrecorded,
    };
    change.side = found.and_then(|found| found.side).or_else(|| Side::of_change(change.class, change.op));
    let Some(found) = found else { return };
    change.managers.clone_from(&found.managers);
    if found.path == change.path {
        change.base.clone_from(&found.base);
    }
}

/// The type of a Secret that names none (`pkg/apis/core/v1/defaults.go`, `SetDefaults_Secret`).
const OPAQUE: &str = "Opaque";

/// The differences of everything that the new object has, but for its name.
pub(super) fn changes(live: &Value, desired: &Value) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    let mut compare = |path: &[&str], live: Option<&Value>, desired: Option<&Value>| {
        let op = match (live, desired) {
            (None, Some(_)) => Op::Add,
            (Some(_), None) => Op::Remove,
            (live, desired) if live == desired => return,
            _ => Op::Change,
        };
        changes.push(FieldChange::within(&FieldPath::of(path), op, live, desired));
    };
    let opaque = Value::from(OPAQUE);
    let default = live.get("type").map(|_| &opaque);
    compare(&["type"], live.get("type"), desired.get("type").filter(|text| **text != "").or(default));
    let immutable = |object: &Value| object.get("immutable").filter(|value| **value != false).cloned();
    compare(&["immutable"], immutable(live).as_ref(), immutable(desired).as_ref());
    for field in ["data", "binaryData"] {
        let of =
            |object: &Value, field: &str| object.get(field).and_then(Value::as_object).cloned().unwrap_or_default();
        let live = of(live, field);
        let mut desired_data = of(desired, field);
        if field == "data" {
            // The server keeps it there. What is equal has the same number.
            desired_data.extend(of(desired, "stringData"));
        }
        let desired = desired_data;
        let keys: BTreeSet<&String> = live.keys().chain(desired.keys()).collect();
        for key in keys {
            compare(&[field, key], live.get(key), desired.get(key));
        }
    }
    for field in ["labels", "annotations"] {
        let of = |object: &Value| object.metadata(field).and_then(Value::as_object).cloned().unwrap_or_default();
        let live = of(live);
        for (key, value) in &of(desired) {
            compare(&["metadata", field, key], live.get(key), Some(value));
        }
    }
    changes
}
