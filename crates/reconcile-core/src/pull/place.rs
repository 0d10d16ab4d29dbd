//! The place of a field in its document.

use manifest_edit::Step;
use serde_json::Value;
use structured_merge::{FieldPath, PathElement, Scalar};

/// The steps to a field of an object; `None` if the object has no such place. An item that a list does not have is behind its end.
pub(super) fn steps(path: &FieldPath, object: &Value) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut at = Some(object);
    for element in path.elements() {
        let step = match element {
            PathElement::Field(name) => Step::Key(name.clone()),
            PathElement::Index(index) => Step::Index(usize::try_from(*index).ok()?),
            PathElement::Member(_) | PathElement::Key(_) => item(at, element)?,
        };
        at = at.and_then(|value| value_at(value, std::slice::from_ref(&step)));
        steps.push(step);
    }
    Some(steps)
}

/// The place in a list of the manifest for an item that only the live list has: behind the item that it follows there, or before all
/// others. Returns the steps, and the rank among the items that belong to the same place.
pub(super) fn place_of_new(path: &FieldPath, object: &Value, live: &Value) -> Option<(Vec<Step>, usize)> {
    let (element, above) = path.elements().split_last()?;
    let above = FieldPath::from(above.to_vec());
    let list = |object: &Value| value_at(object, &steps(&above, object)?)?.as_array().cloned();
    let written = list(object)?;
    let there = list(live)?;
    let rank = there.iter().position(|item| is_called(item, element, true))?;
    let follows = |item: &Value| {
        let is_it = |is_whole| written.iter().position(|written| have_same_name(written, item, element, is_whole));
        is_it(true).or_else(|| is_it(false))
    };
    let before = there.iter().take(rank).rev().find_map(follows);
    let mut place = steps(&above, object)?;
    place.push(Step::Index(before.map_or(0, |before| before.saturating_add(1))));
    Some((place, rank))
}

/// Returns true if an item of a list has this element; if that is to be the whole of its keys, with none that the server sets.
fn is_called(item: &Value, element: &PathElement, is_whole: bool) -> bool {
    match element {
        PathElement::Key(keys) => is_item(item, keys, is_whole),
        PathElement::Member(member) => Scalar::from_json(item) == *member,
        PathElement::Field(_) | PathElement::Index(_) => false,
    }
}

/// Returns true if an item of the manifest is the same as a live one, in a list with such elements.
fn have_same_name(written: &Value, live: &Value, element: &PathElement, is_whole: bool) -> bool {
    let name = |(key, _): &(String, Scalar)| Some((key.clone(), Scalar::from_json(live.get(key)?)));
    match element {
        PathElement::Key(keys) => is_item(written, &keys.iter().filter_map(name).collect::<Vec<_>>(), is_whole),
        _ => written == live,
    }
}

pub(super) fn value_at<'v>(value: &'v Value, path: &[Step]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(*index),
    })
}

/// The only item of a list with this element, or the place behind its end. One with all of the keys comes before one that leaves out some.
fn item(list: Option<&Value>, element: &PathElement) -> Option<Step> {
    let items = match list {
        None | Some(Value::Null) => return Some(Step::Index(usize::MAX)),
        Some(list) => list.as_array()?,
    };
    for is_whole in [true, false] {
        let is_it = |(index, item): (usize, &Value)| is_called(item, element, is_whole).then_some(index);
        let mut found = items.iter().enumerate().filter_map(is_it);
        if let Some(first) = found.next() {
            return found.next().is_none().then_some(Step::Index(first));
        }
    }
    Some(Step::Index(usize::MAX))
}

/// The only key of built-in lists that the server sets (`k8s.io/api/core/v1`, `ContainerPort` and `ServicePort`).
const DEFAULT_KEY: (&str, &str) = ("protocol", "TCP");

/// Returns true if an item has these keys, all of them if `is_whole`. The server sets those that it leaves out.
fn is_item(item: &Value, keys: &[(String, Scalar)], is_whole: bool) -> bool {
    let is_default =
        |name: &str, key: &Scalar| name != DEFAULT_KEY.0 || *key == Scalar::from_json(&DEFAULT_KEY.1.into());
    let has = |(name, key): &(String, Scalar)| match item.get(name) {
        Some(found) => Scalar::from_json(found) == *key,
        None => !is_whole && is_default(name, key),
    };
    keys.iter().any(|(name, _)| item.get(name).is_some()) && keys.iter().all(has)
}
