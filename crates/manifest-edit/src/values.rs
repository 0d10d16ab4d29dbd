//! Edits of values: what an edited text has to mean.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::change::{Change, Edit, Refusal, Step};

/// A value with edits applied. The indices of all edits are those of the given value: values are set first, then entries
/// and items are removed, inserted and put in another order, the last ones first. A value behind the end of a list is appended, and
/// mappings on the way and lists of new items that do not exist are made. Removing what does not exist changes nothing. An edit below a
/// value that another one sets as a whole is refused: the new value need not have that place.
pub fn applied(value: &Value, edits: &[&Edit]) -> Result<Value, Refusal> {
    check_overlap(edits)?;
    let mut value = value.clone();
    let mut lists: BTreeMap<&[Step], Shifts<'_>> = BTreeMap::new();
    let mut shifts: BTreeMap<(&[Step], bool), Shifts<'_>> = BTreeMap::new();
    for edit in edits {
        if let Change::Reorder(order) = &edit.change {
            check_order(&mut value, &edit.path, order)?;
            let list = lists.entry(&edit.path).or_default();
            if list.order.replace(order).is_some_and(|other| other != order) {
                return Err(Refusal::Overlap);
            }
        }
    }
    for edit in edits {
        let above = edit.path.split_last().map(|(_, above)| above);
        match (&edit.change, above.and_then(|above| lists.get_mut(above)), edit.path.last()) {
            (Change::Set(new), ..) => set(&mut value, &edit.path, normal(new))?,
            (Change::Reorder(_), ..) => {}
            (change, Some(list), Some(Step::Index(index))) => list.add(*index, change),
            (change, ..) => shifts.entry((&edit.path, false)).or_default().add(0, change),
        }
    }
    shifts.extend(lists.into_iter().map(|(path, list)| ((path, true), list)));
    // A place comes before those below it, which are changed first.
    for ((path, _), shift) in shifts.into_iter().rev() {
        shift.apply(&mut value, path)?;
    }
    Ok(value)
}

/// Makes one edit of a value, at a place that the value has now.
pub fn apply(value: &mut Value, path: &[Step], change: &Change) -> Result<(), Refusal> {
    match change {
        Change::Set(new) => return set(value, path, normal(new)),
        Change::Insert { value: new, .. } => return insert(value, path, normal(new)),
        Change::Remove => remove(value, path),
        Change::Reorder(order) => {
            check_order(value, path, order)?;
            return Shifts { order: Some(order), ..Shifts::default() }.apply(value, path);
        }
    }
    Ok(())
}

/// Refuses an order that does not have each item of a list once.
fn check_order(value: &mut Value, path: &[Step], order: &[usize]) -> Result<(), Refusal> {
    let Some(Value::Array(items)) = below(value, path) else { return Err(Refusal::NoPlace) };
    let known: BTreeSet<usize> = order.iter().copied().collect();
    let is_whole = known.len() == order.len() && known.into_iter().eq(0..items.len());
    if is_whole { Ok(()) } else { Err(Refusal::NoPlace) }
}

/// Refuses edits below a value that is set as a whole.
fn check_overlap(edits: &[&Edit]) -> Result<(), Refusal> {
    let mut places: Vec<(&[Step], bool)> =
        edits.iter().map(|edit| (edit.path.as_slice(), matches!(edit.change, Change::Set(_)))).collect();
    places.sort_unstable();
    let mut whole: Option<&[Step]> = None;
    for (path, is_set) in places {
        if whole.is_some_and(|whole| path.len() > whole.len() && path.starts_with(whole)) {
            return Err(Refusal::Overlap);
        }
        if is_set {
            whole = Some(path);
        }
    }
    Ok(())
}

/// Changes after which items have other indices: those at one place, or all of a list that gets another order.
#[derive(Default)]
struct Shifts<'e> {
    order: Option<&'e Vec<usize>>,
    /// The new items, each with its place and its rank.
    inserted: Vec<(usize, usize, &'e Value)>,
    removed: BTreeSet<usize>,
}

impl<'e> Shifts<'e> {
    fn add(&mut self, index: usize, change: &'e Change) {
        match change {
            Change::Insert { value, rank } => self.inserted.push((index, *rank, value)),
            Change::Remove => drop(self.removed.insert(index)),
            Change::Set(_) | Change::Reorder(_) => {}
        }
    }

    fn apply(mut self, value: &mut Value, path: &[Step]) -> Result<(), Refusal> {
        self.inserted.sort_by_key(|(index, rank, _)| (*index, *rank));
        if let Some(order) = self.order {
            let Some(Value::Array(items)) = below(value, path) else { return Err(Refusal::NoPlace) };
            *items = self.ordered(items, order);
            return Ok(());
        }
        // New items are before the one that is removed.
        if !self.removed.is_empty() {
            remove(value, path);
        }
        self.inserted.iter().rev().try_for_each(|(.., new)| insert(value, path, normal(new)))
    }

    /// The items of a list in another order, with those that come and without those that go. Items behind the ordered ones were appended.
    fn ordered(&self, items: &[Value], order: &[usize]) -> Vec<Value> {
        let mut inserted: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
        for (index, _, new) in &self.inserted {
            inserted.entry(*index).or_default().push(normal(new));
        }
        let mut all = inserted.remove(&0).unwrap_or_default();
        for index in order.iter().copied().chain(order.len()..items.len()) {
            all.extend(items.get(index).filter(|_| !self.removed.contains(&index)).cloned());
            all.extend(inserted.remove(&index.saturating_add(1)).unwrap_or_default());
        }
        all.extend(inserted.into_values().flatten());
        all
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
    match below(value, list) {
        Some(Value::Array(items)) => items.insert((*index).min(items.len()), new),
        None | Some(Value::Null) => set(value, list, Value::Array(vec![new]))?,
        Some(_) => return Err(Refusal::NoPlace),
    }
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
