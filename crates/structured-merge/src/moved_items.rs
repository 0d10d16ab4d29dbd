//! Finds items of atomic lists that have other positions in two versions of a list. Items are compared without the parts that one
//! version takes from the other.

use serde_json::Value;

use crate::object::{FieldSet, PathElement};
use crate::schema::{TypeRef, element_at};

/// Most pairs of items that are compared.
const MOST_PAIRS: usize = 1 << 20;

/// Returns true if an item differs from the one at its position, and is the same as another one that differs from that at its own. The
/// second list may have more fields, such as defaults. If more items differ than are compared, some of them count as moved.
pub(crate) fn have_moved(here: &[Value], there: &[Value], parts: &FieldSet, schema: TypeRef<'_>) -> bool {
    let pair = |(index, (here, there)): (usize, (_, _))| match parts.step(&PathElement::index(index)) {
        Some((true, _)) => None,
        step => {
            let parts = step.map(|(_, below)| below);
            Some((Part { value: here, parts }, Part { value: there, parts }))
        }
    };
    let pairs = here.iter().zip(there).enumerate().filter_map(pair);
    let differing: Vec<_> = pairs.filter(|(here, there)| !is_within(*here, *there, schema)).collect();
    if differing.len().saturating_mul(differing.len()) > MOST_PAIRS {
        return true;
    }
    differing.iter().any(|(here, _)| differing.iter().any(|(_, there)| is_within(*here, *there, schema)))
}

/// An item, or a value in it, and the parts of it that do not count.
#[derive(Clone, Copy)]
struct Part<'v> {
    value: &'v Value,
    parts: Option<&'v FieldSet>,
}

impl<'v> Part<'v> {
    /// A value in this one; `None` if it does not count.
    fn below(self, element: Option<&PathElement>, value: &'v Value) -> Option<Self> {
        match element.and_then(|element| self.parts?.step(element)) {
            Some((true, _)) => None,
            step => Some(Self { value, parts: step.map(|(_, below)| below) }),
        }
    }

    /// Returns true if the value has nothing that counts.
    fn is_empty(self) -> bool {
        match self.value {
            Value::Object(fields) if self.parts.is_some() => fields
                .iter()
                .filter_map(|(name, value)| self.below(Some(&PathElement::Field(name.clone())), value))
                .all(Self::is_empty),
            _ => false,
        }
    }
}

/// Returns true if everything that counts in the first value is in the second one as well.
fn is_within(here: Part<'_>, there: Part<'_>, schema: TypeRef<'_>) -> bool {
    match (here.value, there.value) {
        (Value::Object(fields), Value::Object(others)) => fields.iter().all(|(name, value)| {
            let element = PathElement::Field(name.clone());
            let Some(value) = here.below(Some(&element), value) else { return true };
            match others.get(name).map(|other| there.below(Some(&element), other)) {
                Some(Some(other)) => is_within(value, other, schema.field(name)),
                _ => value.is_empty(),
            }
        }),
        (Value::Array(items), Value::Array(others)) => {
            let is_item_within = |(index, (item, other)): (usize, (_, _))| {
                let first = element_at(index, item, schema);
                let second = element_at(index, other, schema);
                match (here.below(first.as_ref(), item), there.below(second.as_ref(), other)) {
                    (Some(item), Some(other)) => is_within(item, other, schema.item()),
                    (item, _) => item.is_none(),
                }
            };
            items.len() == others.len() && items.iter().zip(others).enumerate().all(is_item_within)
        }
        (value, other) => value == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::FieldPath;
    use serde_json::json;

    #[track_caller]
    fn moved(here: Value, there: Value) -> bool {
        let (Value::Array(here), Value::Array(there)) = (here, there) else { panic!() };
        let weight = |index| FieldPath::root().child(PathElement::index(index)).field("weight");
        let parts: FieldSet = (0..here.len()).map(weight).collect();
        have_moved(&here, &there, &parts, TypeRef::untyped())
    }

    #[test]
    fn items_that_change_places_have_moved() {
        let item = |name: &str, weight: u32| json!({"name": name, "weight": weight});
        let live = |name: &str, weight: u32| json!({"name": name, "weight": weight, "port": 80});
        for (here, there, expected) in [
            (json!([item("a", 1), item("b", 2)]), json!([live("a", 8), live("b", 9)]), false),
            (json!([item("a", 1), item("b", 2)]), json!([live("b", 8), live("a", 9)]), true),
            (json!([item("x", 1), item("a", 2)]), json!([live("a", 8), live("b", 9)]), true),
            (json!([item("x", 1), item("b", 2)]), json!([live("a", 8), live("b", 9)]), false),
            // The second item has become equal to the first one, which has not moved.
            (json!([item("a", 1), item("a", 2)]), json!([live("a", 8), live("b", 9)]), false),
            (json!([{"weight": 1}, {"weight": 2}]), json!([{"weight": 2}, {"weight": 1}]), false),
            (json!(["a", "b"]), json!(["b", "a"]), true),
        ] {
            assert_eq!(moved(here.clone(), there.clone()), expected, "{here} {there}");
        }
    }

    #[test]
    fn what_has_only_parts_that_do_not_count_is_within_nothing_as_well() {
        let parts: FieldSet =
            [FieldPath::root().child(PathElement::index(0)).field("policy").field("weight")].into_iter().collect();
        let here = [json!({"policy": {"weight": 1}, "name": "a"}), json!({"name": "b"})];
        let there = [json!({"name": "a"}), json!({"name": "c"})];
        assert!(!have_moved(&here, &there, &parts, TypeRef::untyped()));
    }

    #[test]
    fn the_comparison_of_long_lists_is_bounded() {
        let list = |from: usize| (from..from + 20_000).map(|n| json!({"name": n})).collect::<Vec<_>>();
        assert!(have_moved(&list(0), &list(50_000), &FieldSet::new(), TypeRef::untyped()));
    }
}
