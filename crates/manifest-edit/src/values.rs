//! Edits of values: what an edited text has to mean.

use serde_json::{Map, Value};

use super::change::Refusal;
use super::change::{Change, Edit, Step};

/// A value with edits applied. The indices of all edits are those of the given value: values are set first, then entries
/// and items are removed and inserted, the last ones first. A value behind the end of a list is appended, and mappings on the way that
/// do not exist are made. Removing what does not exist changes nothing.
pub fn applied(value: &Value, edits: &[&Edit]) -> Result<Value, Refusal> {
    let mut value = value.clone();
    let mut shifts: Vec<(&[Step], Shift<'_>)> = Vec::new();
    for edit in edits {
        match &edit.change {
            Change::Set(new) => set(&mut value, &edit.path, normal(new))?,
            Change::Insert { value, rank } => shifts.push((&edit.path, Shift::Insert(*rank, value))),
            Change::Remove => shifts.push((&edit.path, Shift::Remove)),
        }
    }
    shifts.sort_by(|(a, first), (b, second)| a.cmp(b).then(first.order().cmp(&second.order())));
    shifts.dedup_by(|(a, first), (b, second)| a == b && matches!((first, second), (Shift::Remove, Shift::Remove)));
    for (path, shift) in shifts.into_iter().rev() {
        match shift {
            Shift::Insert(_, new) => insert(&mut value, path, normal(new))?,
            Shift::Remove => remove(&mut value, path),
        }
    }
    Ok(value)
}

/// A change after which the items behind it have other indices.
enum Shift<'e> {
    Insert(usize, &'e Value),
    Remove,
}

impl Shift<'_> {
    /// The order at one place: new items are before the one that is removed.
    fn order(&self) -> (bool, usize) {
        match self {
            Self::Insert(rank, _) => (false, *rank),
            Self::Remove => (true, 0),
        }
    }
}

fn set(mut value: &mut Value, path: &[Step], new: Value) -> Result<(), Refusal> {
    for step in path {
        value = match (step, value) {
            (Step::Key(key), Value::Object(map)) => map.entry(key.as_str()).or_insert(Value::Null),
            (Step::Key(key), value @ Value::Null) => {
                *value = Value::Object(Map::new());
                let Value::Object(map) = value else { return Err(Refusal::NoPlace) };
                map.entry(key.as_str()).or_insert(Value::Null)
            }
            (Step::Index(index), Value::Array(items)) => {
                let last = items.len();
                if *index >= last {
                    items.push(Value::Null);
                }
                items.get_mut((*index).min(last)).ok_or(Refusal::NoPlace)?
            }
            _ => return Err(Refusal::NoPlace),
        };
    }
    *value = new;
    Ok(())
}

fn insert(value: &mut Value, path: &[Step], new: Value) -> Result<(), Refusal> {
    let Some((Step::Index(index), list)) = path.split_last() else { return Err(Refusal::NoPlace) };
    let Some(Value::Array(items)) = below(value, list) else { return Err(Refusal::NoPlace) };
    items.insert((*index).min(items.len()), new);
    Ok(())
}

fn remove(value: &mut Value, path: &[Step]) {
    let Some((last, above)) = path.split_last() else { return };
    match (last, below(value, above)) {
        (Step::Key(key), Some(Value::Object(map))) => drop(map.remove(key)),
        (Step::Index(index), Some(Value::Array(items))) if *index < items.len() => drop(items.remove(*index)),
        _ => {}
    }
}

fn below<'v>(value: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key.as_str()),
        Step::Index(index) => value.get_mut(*index),
    })
}

/// A value as it is read again: whole numbers are integers.
pub(crate) fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let read = number.as_f64().and_then(kube_yaml::json_number);
            Value::Number(read.unwrap_or_else(|| number.clone()))
        }
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), normal(value))).collect(),
        other => other.clone(),
    }
}
