//! Edits of values: what an edited text has to mean.

use serde_json::{Map, Value};

use super::change::{Change, Edit, Step};
use super::refusal::Refusal;

/// A value with edits applied. The indices of all edits are those of the given value: values are set first, then entries
/// and items are removed, the last ones first. A value behind the end of a list is appended, and mappings on the way that do not
/// exist are made. Removing what does not exist changes nothing.
pub fn applied(value: &Value, edits: &[&Edit]) -> Result<Value, Refusal> {
    let mut value = value.clone();
    for edit in edits {
        if let Change::Set(new) = &edit.change {
            set(&mut value, &edit.path, normal(new))?;
        }
    }
    let mut removed: Vec<&[Step]> =
        edits.iter().filter(|edit| matches!(edit.change, Change::Remove)).map(|edit| edit.path.as_slice()).collect();
    removed.sort_unstable();
    removed.dedup();
    for path in removed.iter().rev() {
        remove(&mut value, path);
    }
    Ok(value)
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

fn remove(mut value: &mut Value, path: &[Step]) {
    let Some((last, above)) = path.split_last() else { return };
    for step in above {
        let below = match step {
            Step::Key(key) => value.get_mut(key.as_str()),
            Step::Index(index) => value.get_mut(*index),
        };
        let Some(below) = below else { return };
        value = below;
    }
    match (last, value) {
        (Step::Key(key), Value::Object(map)) => drop(map.remove(key)),
        (Step::Index(index), Value::Array(items)) if *index < items.len() => drop(items.remove(*index)),
        _ => {}
    }
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
