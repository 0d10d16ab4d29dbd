//! The place of a field in its document.

use std::collections::BTreeMap;

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
/// others. The manifest may lack the list, but nothing that has a name of its own around it. Returns the steps, and the rank among the items
/// that belong to the same place.
pub(super) fn place_of_new(path: &FieldPath, object: &Value, live: &Value) -> Option<(Vec<Step>, usize)> {
    let (element, above) = path.elements().split_last()?;
    let above = FieldPath::from(above.to_vec());
    let mut place = steps(&above, object)?;
    let items: &[Value] = match value_at(object, &place) {
        Some(Value::Array(items)) => items,
        Some(Value::Null) => &[],
        None if has_items(object, &place) => &[],
        _ => return None,
    };
    let written = NamedItems::of(items, element);
    let there = value_at(live, &steps(&above, live)?)?.as_array()?;
    let rank = there.iter().position(|item| is_called(item, element, true))?;
    let before = there.iter().take(rank).rev().find_map(|item| written.position_of(item));
    place.push(Step::Index(before.map_or(0, |before| before.saturating_add(1))));
    Some((place, rank))
}

/// Returns true if an object has all items of lists on the way to a place.
fn has_items(object: &Value, place: &[Step]) -> bool {
    let ends = place.iter().enumerate().filter(|(_, step)| matches!(step, Step::Index(_))).map(|(at, _)| at);
    ends.filter_map(|at| place.get(..=at)).all(|item| value_at(object, item).is_some())
}

/// Returns true if an item of a list has this element; if that is to be the whole of its keys, with none that the server sets.
fn is_called(item: &Value, element: &PathElement, is_whole: bool) -> bool {
    match element {
        PathElement::Key(keys) => is_item(item, keys, is_whole),
        PathElement::Member(member) => Scalar::from_json(item) == *member,
        PathElement::Field(_) | PathElement::Index(_) => false,
    }
}

/// The items of a list of the manifest by their names.
struct NamedItems<'v> {
    items: &'v [Value],
    element: &'v PathElement,
    /// The first item with each name that has all of its keys.
    whole: BTreeMap<Vec<Scalar>, usize>,
    /// The items that leave out keys.
    partial: Vec<usize>,
}

impl<'v> NamedItems<'v> {
    fn of(items: &'v [Value], element: &'v PathElement) -> Self {
        let mut named = Self { items, element, whole: BTreeMap::new(), partial: Vec::new() };
        for (position, item) in items.iter().enumerate() {
            match named.whole_name(item) {
                Some(name) => drop(named.whole.entry(name).or_insert(position)),
                None => named.partial.push(position),
            }
        }
        named
    }

    /// The values of all keys of an item; `None` if it leaves out one.
    fn whole_name(&self, item: &Value) -> Option<Vec<Scalar>> {
        match self.element {
            PathElement::Key(keys) => keys.iter().map(|(key, _)| item.get(key).map(Scalar::from_json)).collect(),
            _ => Some(vec![Scalar::from_json(item)]),
        }
    }

    /// The position of the item that is the same as a live one. One with all of its keys comes before one that leaves out some.
    fn position_of(&self, live: &Value) -> Option<usize> {
        if let Some(position) = self.whole_name(live).and_then(|name| self.whole.get(&name)) {
            return Some(*position);
        }
        let PathElement::Key(keys) = self.element else { return None };
        let name = |(key, _): &(String, Scalar)| Some((key.clone(), Scalar::from_json(live.get(key)?)));
        let keys: Vec<_> = keys.iter().filter_map(name).collect();
        let is_it = |position: &usize| self.items.get(*position).is_some_and(|item| is_item(item, &keys, false));
        // The server sets all keys, so that a live item leaves out none in most lists.
        let is_whole = self.whole_name(live).is_some();
        let all = (0..self.items.len()).filter(|_| !is_whole);
        self.partial.iter().copied().filter(|_| is_whole).chain(all).find(is_it)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place(written: &Value, live: &Value, protocol: &str) -> Option<(Vec<Step>, usize)> {
        let keys = [("containerPort", json!(99)), ("protocol", json!(protocol))];
        let element = PathElement::key(keys.map(|(key, value)| (key.to_owned(), Scalar::from_json(&value))));
        let path = FieldPath::of(&["ports"]).child(element);
        place_of_new(&path, &json!({"ports": written}), &json!({"ports": live}))
    }

    #[test]
    fn a_new_item_follows_the_one_that_it_follows_in_the_live_list() {
        let port = |port: u16, protocol: &str| json!({"containerPort": port, "protocol": protocol});
        let live = json!([port(53, "TCP"), port(53, "UDP"), port(1, "TCP"), port(99, "TCP")]);
        let at = |position| Some((vec![Step::Key("ports".to_owned()), Step::Index(position)], 3));
        // The server sets the protocol that the manifest leaves out.
        let written = json!([{"containerPort": 53}, port(53, "UDP")]);
        assert_eq!(place(&written, &live, "TCP"), at(2));
        assert_eq!(place(&json!([port(53, "UDP"), {"containerPort": 53}]), &live, "TCP"), at(1));
        assert_eq!(place(&json!([{"containerPort": 53}]), &live, "TCP"), at(1));
        assert_eq!(place(&json!([{"containerPort": 8}]), &live, "TCP"), at(0), "before all others");
        assert_eq!(place(&written, &live, "UDP"), None, "it is not there");
    }
}
