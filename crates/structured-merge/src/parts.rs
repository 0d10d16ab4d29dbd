//! Takes parts of values that are replaced as a whole, such as `weight` in the items of an atomic list, from another object: an apply
//! keeps the live value of such a part only if it sends it with the rest of the list.
//!
//! Items of atomic lists have no keys, so they are paired by position, if both lists have the same length and no item has moved.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::moved_items::have_moved;
use crate::object::{FieldPath, FieldSet, PathElement, PathStack};
use crate::schema::{ListKind, TypeRef, element_at, is_nothing, places};

/// The reason why parts of a value are not taken from the other object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpaired {
    /// The other object does not have the value, which holds more than these parts.
    OnlyHere,
    /// Only the other object has the value.
    OnlyThere,
    /// The parts are all that the values hold.
    NothingElse,
    /// The values are lists of these lengths.
    Lengths(usize, usize),
    /// The values are lists in which items have other positions: paired by position, they would be mixed.
    Moved,
    /// One of the values is a list or a map, and the other one is not.
    Types,
}

/// An object with parts of another one.
#[derive(Clone, Debug, PartialEq)]
pub struct WithParts {
    /// The object. Values that are replaced as a whole, and whose parts are not paired, are those of the first object. Values in
    /// them are those of the other object.
    pub object: Value,
    /// The values whose parts are not paired.
    pub unpaired: BTreeMap<FieldPath, Unpaired>,
}

/// Replaces parts of an object by those of another object of its type. Each part is inside a value that is replaced as a whole.
pub fn with_parts_of(object: &Value, other: &Value, parts: &FieldSet, schema: TypeRef<'_>) -> WithParts {
    let mut walk = PartsWalk { unpaired: BTreeMap::new() };
    let at = PathStack::root();
    let taken = walk.value(&at, Some(object), Some(other), parts, Around { schema, in_whole: false });
    WithParts { object: taken.unwrap_or_else(|| object.clone()), unpaired: walk.unpaired }
}

/// The type of a value, and the way in which it is merged.
#[derive(Clone, Copy)]
struct Around<'t> {
    schema: TypeRef<'t>,
    /// True if it is merged with the value around it, false if each field is merged on its own.
    in_whole: bool,
}

impl Around<'_> {
    fn field(self, name: &str) -> Self {
        Self { schema: self.schema.field(name), ..self }
    }

    fn item(self) -> Self {
        Self { schema: self.schema.item(), ..self }
    }
}

struct PartsWalk {
    unpaired: BTreeMap<FieldPath, Unpaired>,
}

impl PartsWalk {
    fn value(
        &mut self,
        at: &PathStack<'_>,
        here: Option<&Value>,
        there: Option<&Value>,
        parts: &FieldSet,
        around: Around<'_>,
    ) -> Option<Value> {
        let (here, there) = match (here, there) {
            (Some(here), Some(there)) => (here, there),
            (Some(here), None) => return self.only_here(at, here, parts, around),
            (None, there) => return self.only_there(at, there?, parts, around),
        };
        let is_whole = around.schema.is_atomic(here) || around.schema.is_atomic(there);
        if !around.in_whole && is_whole {
            if !holds_more(here, parts, around.schema) && !holds_more(there, parts, around.schema) {
                self.unpaired.insert(at.path(), Unpaired::NothingElse);
                return Some(here.clone());
            }
            return self.value(at, Some(here), Some(there), parts, Around { in_whole: true, ..around });
        }
        match (here, there) {
            (Value::Object(here), Value::Object(there)) => Some(self.fields(at, here, there, parts, around)),
            (Value::Array(here), Value::Array(there)) if *around.schema.list_kind() != ListKind::Atomic => {
                Some(Value::Array(self.keyed_items(at, here, there, parts, around)))
            }
            (Value::Array(here), Value::Array(there)) if here.len() == there.len() => {
                if have_moved(here, there, parts, around.schema.item()) {
                    self.unpaired.insert(at.path(), Unpaired::Moved);
                    return Some(Value::Array(there.clone()));
                }
                Some(Value::Array(self.items(at, here, there, parts, around)))
            }
            (Value::Array(first), Value::Array(second)) => {
                self.unpaired.insert(at.path(), Unpaired::Lengths(first.len(), second.len()));
                Some(there.clone())
            }
            _ => {
                self.unpaired.insert(at.path(), Unpaired::Types);
                Some(if around.in_whole { there } else { here }.clone())
            }
        }
    }

    /// A value that the other object does not have is created with all its parts, unless it has nothing else.
    fn only_here(&mut self, at: &PathStack<'_>, here: &Value, parts: &FieldSet, around: Around<'_>) -> Option<Value> {
        let holds_more = holds_more(here, parts, around.schema);
        if around.in_whole {
            return holds_more.then(|| here.clone());
        }
        let reason = if holds_more { Unpaired::OnlyHere } else { Unpaired::NothingElse };
        self.unpaired.insert(at.path(), reason);
        Some(here.clone())
    }

    /// The parts of a value that only the other object has.
    fn only_there(&mut self, at: &PathStack<'_>, there: &Value, parts: &FieldSet, around: Around<'_>) -> Option<Value> {
        if !around.in_whole {
            self.unpaired.insert(at.path(), Unpaired::OnlyThere);
            return None;
        }
        match there {
            Value::Object(there) => {
                let taken = self.fields(at, &Map::new(), there, parts, around);
                (!is_nothing(&taken)).then_some(taken)
            }
            // Items cannot be taken without the others.
            Value::Array(_) => {
                self.unpaired.insert(at.path(), Unpaired::OnlyThere);
                Some(there.clone())
            }
            _ => None,
        }
    }

    fn fields(
        &mut self,
        at: &PathStack<'_>,
        here: &Map<String, Value>,
        there: &Map<String, Value>,
        parts: &FieldSet,
        around: Around<'_>,
    ) -> Value {
        let mut result = here.clone();
        for (element, is_part, below) in parts.nodes() {
            let PathElement::Field(name) = element else { continue };
            let value = here.get(name);
            let other = there.get(name);
            let taken = if is_part {
                other.cloned()
            } else {
                self.value(&at.field(name), value, other, below, around.field(name))
            };
            match taken {
                Some(taken) => _ = result.insert(name.clone(), taken),
                None => _ = result.remove(name),
            }
        }
        Value::Object(result)
    }

    /// Pairs the items of an atomic list by position.
    fn items(
        &mut self,
        at: &PathStack<'_>,
        here: &[Value],
        there: &[Value],
        parts: &FieldSet,
        around: Around<'_>,
    ) -> Vec<Value> {
        let pairs = here.iter().zip(there).enumerate();
        let item = |(index, (here, there)): (usize, (&Value, &Value))| match parts.step(&PathElement::index(index)) {
            None => here.clone(),
            Some((true, _)) => there.clone(),
            Some((false, below)) => {
                let taken = self.value(&at.index(index), Some(here), Some(there), below, around.item());
                taken.unwrap_or_else(|| here.clone())
            }
        };
        pairs.map(item).collect()
    }

    /// Pairs the items of an associative list by their keys. The first of several items with one key counts.
    fn keyed_items(
        &mut self,
        at: &PathStack<'_>,
        here: &[Value],
        there: &[Value],
        parts: &FieldSet,
        around: Around<'_>,
    ) -> Vec<Value> {
        let own = places(here, around.schema);
        let others = places(there, around.schema);
        let mut result: Vec<Option<Value>> = here.iter().cloned().map(Some).collect();
        for (element, is_part, below) in parts.nodes() {
            let place = own.get(element).copied();
            let value = place.and_then(|place| here.get(place));
            let other = others.get(element).and_then(|place| there.get(*place));
            let taken = match (is_part, value, other) {
                (true, _, other) => other.cloned(),
                // An item that only the other object has does not come with its parts.
                (false, None, _) if around.in_whole => None,
                // It identifies itself, so that it holds more than the parts.
                (false, Some(value), None) if around.in_whole => Some(value.clone()),
                (false, value, other) => self.value(&at.item(element), value, other, below, around.item()),
            };
            match place.and_then(|place| result.get_mut(place)) {
                Some(slot) => *slot = taken,
                None => result.extend(taken.map(Some)),
            }
        }
        result.into_iter().flatten().collect()
    }
}

/// Returns true if a value holds more than these parts.
fn holds_more(value: &Value, parts: &FieldSet, schema: TypeRef<'_>) -> bool {
    let is_more = |element: Option<&PathElement>, value: &Value, schema: TypeRef<'_>| match element
        .and_then(|element| parts.step(element))
    {
        None => true,
        Some((true, _)) => false,
        Some((false, below)) => holds_more(value, below, schema),
    };
    match value {
        Value::Object(map) => {
            map.iter().any(|(name, value)| is_more(Some(&PathElement::Field(name.clone())), value, schema.field(name)))
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .any(|(index, item)| is_more(element_at(index, item, schema).as_ref(), item, schema.item())),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::GroupVersionKind;
    use crate::schema::builtin;
    use serde_json::json;

    /// A path such as `spec.rules.0.host`, in which a number is a position.
    fn path(text: &str) -> FieldPath {
        let element = |part: &str| match part.parse::<usize>() {
            Ok(index) => PathElement::index(index),
            Err(_) => PathElement::Field(part.to_owned()),
        };
        FieldPath::from(text.split('.').map(element).collect::<Vec<_>>())
    }

    #[track_caller]
    fn taken(here: &Value, there: &Value, parts: &[&str]) -> (Value, Vec<(String, Unpaired)>) {
        let parts: FieldSet = parts.iter().map(|part| path(part)).collect();
        let WithParts { object, unpaired } = with_parts_of(here, there, &parts, TypeRef::untyped());
        (object, unpaired.into_iter().map(|(path, reason)| (path.to_string(), reason)).collect())
    }

    #[test]
    fn parts_come_from_the_other_object_and_the_rest_stays() {
        let here = json!({"spec": {"size": 1, "items": [{"name": "a", "weight": 1}, {"name": "b", "weight": 2}]}});
        let there =
            json!({"spec": {"size": 9, "items": [{"name": "x", "weight": 8}, {"name": "b", "weight": 9, "more": 1}]}});
        let (object, unpaired) = taken(&here, &there, &["spec.items.0.weight", "spec.items.1.weight"]);
        assert_eq!(
            object,
            json!({"spec": {"size": 1, "items": [{"name": "a", "weight": 8}, {"name": "b", "weight": 9}]}})
        );
        assert_eq!(unpaired, []);
        let (object, _) = taken(&here, &there, &["spec.items.1"]);
        assert_eq!(object["spec"]["items"], json!([{"name": "a", "weight": 1}, {"name": "b", "weight": 9, "more": 1}]));
    }

    #[test]
    fn a_part_that_one_object_lacks_is_lacking_in_the_result_or_comes_with_its_parents() {
        let parts = ["items.0.policy.weight"];
        let with = |item: Value| json!({"items": [item]});
        let full = json!({"name": "a", "policy": {"weight": 1, "mode": "x"}});
        for (here, there, expected) in [
            (
                full.clone(),
                json!({"name": "a", "policy": {"mode": "y"}}),
                json!({"name": "a", "policy": {"mode": "x"}}),
            ),
            (full.clone(), json!({"name": "a"}), full.clone()),
            (json!({"name": "a", "policy": {"weight": 1}}), json!({"name": "a"}), json!({"name": "a"})),
            (json!({"name": "a"}), full.clone(), json!({"name": "a", "policy": {"weight": 1}})),
            (json!({"name": "a"}), json!({"name": "a", "policy": {"mode": "y"}}), json!({"name": "a"})),
        ] {
            assert_eq!(taken(&with(here), &with(there), &parts), (with(expected), Vec::new()));
        }
    }

    #[test]
    fn lists_of_different_lengths_are_not_paired() {
        let lists = |outer: usize, inner: usize| {
            let backends: Vec<_> = (0..inner).map(|n| json!({"name": n, "weight": inner})).collect();
            json!({"rules": vec![json!({"match": outer, "backends": backends}); outer]})
        };
        let parts = ["rules.0.backends.0.weight", "rules.1.backends.0.weight"];
        let (object, unpaired) = taken(&lists(2, 1), &lists(3, 1), &parts);
        assert_eq!(unpaired, [("rules".to_owned(), Unpaired::Lengths(2, 3))]);
        assert_eq!(object, lists(3, 1));
        let (object, unpaired) = taken(&lists(2, 1), &lists(2, 2), &parts);
        let inner = |rule: usize| (format!("rules[{rule}].backends"), Unpaired::Lengths(1, 2));
        assert_eq!(unpaired, [inner(0), inner(1)]);
        assert_eq!(object, lists(2, 2), "the inner lists as a whole");
    }

    #[test]
    fn lists_in_which_items_have_moved_are_not_paired() {
        let list = |names: [&str; 2], weights: [u32; 2]| {
            let items = names.into_iter().zip(weights).map(|(name, weight)| json!({"name": name, "weight": weight}));
            json!({"items": items.collect::<Vec<_>>()})
        };
        let here = list(["b", "a"], [1, 2]);
        let there = list(["a", "b"], [8, 9]);
        let (object, unpaired) = taken(&here, &there, &["items.0.weight", "items.1.weight"]);
        assert_eq!((object, unpaired), (there, vec![("items".to_owned(), Unpaired::Moved)]));
    }

    #[test]
    fn what_has_no_counterpart_has_its_reason() {
        let (items, part) = (json!({"items": [{"name": "a", "weight": 1}]}), ["items.0.weight"]);
        let only = |reason: Unpaired| vec![("items".to_owned(), reason)];
        assert_eq!(taken(&items, &json!({}), &part), (items.clone(), only(Unpaired::OnlyHere)));
        assert_eq!(taken(&json!({"a": 1}), &items, &part), (json!({"a": 1}), only(Unpaired::OnlyThere)));
        assert_eq!(taken(&items, &json!({"items": "x"}), &part).1, only(Unpaired::Types));
        assert_eq!(taken(&items, &items, &["items.0"]).1, only(Unpaired::NothingElse));
        assert_eq!(taken(&items, &json!({}), &["items.0"]).1, only(Unpaired::NothingElse));
        let nested = |item: Value| json!({"items": [item]});
        let (object, unpaired) =
            taken(&nested(json!({"n": 1})), &nested(json!({"n": 2, "l": [{"w": 1}]})), &["items.0.l.0.w"]);
        assert_eq!(unpaired, [("items[0].l".to_owned(), Unpaired::OnlyThere)]);
        assert_eq!(object, nested(json!({"n": 1, "l": [{"w": 1}]})), "an inner list comes as a whole");
    }

    #[test]
    fn items_of_lists_with_keys_are_paired_by_their_keys() {
        let deployment = builtin().object(&GroupVersionKind::new("apps/v1", "Deployment")).unwrap();
        let pod = |containers: Value| json!({"spec": {"template": {"spec": {"containers": containers}}}});
        let here = pod(json!([{"name": "a", "args": ["1", "2"]}, {"name": "new", "args": ["1", "2"]}]));
        let there = pod(json!([{"name": "old", "args": ["8", "9"]}, {"name": "a", "args": ["8", "9"]}]));
        let part = |name: &str| {
            let key = PathElement::key([("name".to_owned(), crate::object::Scalar::Text(name.to_owned()))]);
            let containers = path("spec.template.spec.containers").child(key);
            containers.field("args").child(PathElement::index(1))
        };
        let parts: FieldSet = ["a", "new", "old"].into_iter().map(part).collect();
        let WithParts { object, unpaired } = with_parts_of(&here, &there, &parts, deployment);
        assert_eq!(object, pod(json!([{"name": "a", "args": ["1", "9"]}, {"name": "new", "args": ["1", "2"]}])));
        let reasons: Vec<_> = unpaired.into_values().collect();
        assert_eq!(reasons, [Unpaired::OnlyHere, Unpaired::OnlyThere]);
    }
}
