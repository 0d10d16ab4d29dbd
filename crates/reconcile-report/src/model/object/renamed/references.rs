//! References to objects under a new name.

use std::collections::BTreeMap;

use reconcile_core::compare::{Class, FieldChange, Side};
use reconcile_core::object::generated::{generated_names, stem};
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey, Op, PathElement};

use crate::model::object::ObjectReport;

/// The new objects, by the namespaces and names of the former ones.
pub(super) type Renames = BTreeMap<(Option<String>, String), ObjectKey>;

/// Marks the references to objects under a new name; that name itself follows nothing. An item of a list whose key is the name is one
/// difference with the former item.
pub(super) fn follow(object: &mut ObjectReport, renames: &Renames) {
    let namespace = object.key.namespace.clone();
    let new_of = |name: &str| renames.get(&(namespace.clone(), name.to_owned()));
    let mut removed: BTreeMap<(Vec<PathElement>, String), (FieldPath, Vec<String>)> = BTreeMap::new();
    let own_name = object.renamed_from.is_some().then(|| FieldPath::of(&["metadata", "name"]));
    let is_reference = |change: &&mut FieldChange| {
        change.follows.is_empty() && own_name.as_ref().is_none_or(|name| change.path != *name)
    };
    for change in object.diff.changes.iter_mut().filter(is_reference) {
        let Some(live) = change.live.as_deref().filter(|_| change.op != Op::Move) else { continue };
        if generated_names(std::iter::once(live)).into_iter().all(|name| new_of(name).is_none()) {
            continue;
        }
        let mut follows = Vec::new();
        let now = under_new_names(live, &new_of, &mut follows);
        match (change.op, list_of(&change.path)) {
            (Op::Change, _) if change.desired.as_deref() == Some(&now) => change.follows.extend(follows),
            (Op::Remove, Some(list)) => {
                removed.insert((list, now.to_string()), (change.path.clone(), follows));
            }
            _ => {}
        }
    }
    if removed.is_empty() {
        return;
    }
    let mut former = BTreeMap::new();
    for change in object.diff.changes.iter().filter(|change| change.op == Op::Add) {
        let (Some(list), Some(desired)) = (list_of(&change.path), &change.desired) else { continue };
        former.extend(
            removed.remove(&(list, desired.to_string())).map(|(path, follows)| (path, (change.path.clone(), follows))),
        );
    }
    let mut replaced = BTreeMap::new();
    object.diff.changes.retain(|change| match former.remove(&change.path).filter(|_| change.op == Op::Remove) {
        Some((new, follows)) => {
            replaced.insert(new, (change.clone(), follows));
            false
        }
        None => true,
    });
    for change in object.diff.changes.iter_mut().filter(|change| change.op == Op::Add) {
        let Some((old, follows)) = replaced.remove(&change.path) else { continue };
        change.op = Op::Change;
        change.known &= old.known;
        change.live = old.live;
        change.follows.extend(follows);
        if old.side == Some(Side::Manifest) {
            change.class = Class::Pending;
            change.side = old.side;
        }
    }
    object.diff.find_side();
}

/// The list or object that has what a path names.
fn list_of(path: &FieldPath) -> Option<Vec<PathElement>> {
    path.elements().split_last().map(|(_, above)| above.to_vec())
}

/// The value with the new names in the place of the former ones, and the objects that have them.
fn under_new_names<'r>(
    value: &Value,
    renamed: &impl Fn(&str) -> Option<&'r ObjectKey>,
    follows: &mut Vec<String>,
) -> Value {
    match value {
        Value::String(name) => match stem(name).and_then(|_| renamed(name)) {
            Some(new) => {
                let shown = new.to_string();
                if !follows.contains(&shown) {
                    follows.push(shown);
                }
                new.name.clone().into()
            }
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| under_new_names(item, renamed, follows)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), under_new_names(value, renamed, follows)));
            Value::Object(fields.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
