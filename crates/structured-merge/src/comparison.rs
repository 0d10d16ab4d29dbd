//! The fields that a write adds, modifies and removes, as structured-merge-diff computes them to find the managers that
//! lose a field (`typed/compare.go`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::object::{FieldSet, PathElement, PathStack, Scalar};
use crate::schema::{Shape, TypeRef, item_element};

/// The fields in which two objects differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub added: FieldSet,
    pub modified: FieldSet,
    pub removed: FieldSet,
}

/// Compares two objects of one type.
pub(crate) fn compare(before: &Value, after: &Value, schema: TypeRef<'_>) -> Comparison {
    let mut comparison = Comparison::default();
    comparison.value(&PathStack::root(), Some(before), Some(after), schema);
    comparison
}

/// Category in which a value is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Atom {
    Map,
    List,
    Scalar,
    /// A null of unknown type, which counts as a map.
    Any,
}

impl Atom {
    fn of(value: Option<&Value>, schema: TypeRef<'_>) -> Self {
        match (schema.shape(), value) {
            (Shape::Map(_), _) | (Shape::Opaque | Shape::Untyped, Some(Value::Object(_))) => Self::Map,
            (Shape::List(..), _) | (Shape::Opaque | Shape::Untyped, Some(Value::Array(_))) => Self::List,
            (Shape::Opaque | Shape::Untyped, None | Some(Value::Null)) => Self::Any,
            (Shape::Scalar(_), _) | (Shape::Opaque | Shape::Untyped, Some(_)) => Self::Scalar,
        }
    }
}

impl Comparison {
    fn value(&mut self, at: &PathStack<'_>, before: Option<&Value>, after: Option<&Value>, schema: TypeRef<'_>) {
        let left = Atom::of(before, schema);
        let right = Atom::of(after, schema);
        let is_leaf = match (before, after) {
            (_, None) => self.handle(left, at, before, after, schema),
            (Some(_), Some(_)) if left != right => {
                self.handle(left, at, before, after, schema);
                self.handle(right, at, before, after, schema)
            }
            _ => self.handle(right, at, before, after, schema),
        };
        match (before, after) {
            _ if is_leaf => {}
            (None, _) => self.added.insert(&at.path()),
            (_, None) => self.removed.insert(&at.path()),
            _ => {}
        }
    }

    /// Compares values as maps, lists or scalars. Returns true if they are compared as a whole.
    fn handle(
        &mut self,
        atom: Atom,
        at: &PathStack<'_>,
        before: Option<&Value>,
        after: Option<&Value>,
        schema: TypeRef<'_>,
    ) -> bool {
        let is_whole = match schema.shape() {
            Shape::Opaque => true,
            Shape::Untyped => atom == Atom::List,
            _ => schema.is_atomic_type(),
        };
        match atom {
            Atom::Map | Atom::Any if !is_whole => {
                let none = Map::new();
                let left = before.and_then(Value::as_object).unwrap_or(&none);
                let right = after.and_then(Value::as_object).unwrap_or(&none);
                if left.is_empty() && right.is_empty() {
                    return self.leaf(at, before, after);
                }
                self.fields(at, left, right, schema);
                false
            }
            Atom::List if !is_whole => {
                let left = before.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let right = after.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                if left.is_empty() && right.is_empty() {
                    return self.leaf(at, before, after);
                }
                self.items(at, left, right, schema);
                false
            }
            _ => self.leaf(at, before, after),
        }
    }

    fn leaf(&mut self, at: &PathStack<'_>, before: Option<&Value>, after: Option<&Value>) -> bool {
        match (before, after) {
            (None, _) => self.added.insert(&at.path()),
            (_, None) => self.removed.insert(&at.path()),
            (Some(before), Some(after)) if !is_same(before, after) => self.modified.insert(&at.path()),
            _ => {}
        }
        true
    }

    fn fields(
        &mut self,
        at: &PathStack<'_>,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        schema: TypeRef<'_>,
    ) {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            self.value(&at.field(name), before.get(name), after.get(name), schema.field(name));
        }
    }

    fn items(&mut self, at: &PathStack<'_>, before: &[Value], after: &[Value], schema: TypeRef<'_>) {
        let mut elements: BTreeMap<PathElement, [Vec<&Value>; 2]> = BTreeMap::new();
        for item in before {
            let Some(element) = item_element(item, schema) else { continue };
            let [left, _] = elements.entry(element).or_default();
            left.push(item);
        }
        for item in after {
            let Some(element) = item_element(item, schema) else { continue };
            let [_, right] = elements.entry(element).or_default();
            right.push(item);
        }
        for (element, [left, right]) in &elements {
            let at = at.item(element);
            match (left.as_slice(), right.as_slice()) {
                ([] | [_], [] | [_]) => self.value(&at, left.first().copied(), right.first().copied(), schema.item()),
                // Items with one key are compared as a whole.
                ([_, _, ..], [_, _, ..]) => {
                    let is_equal = left.len() == right.len() && left.iter().zip(right).all(|(a, b)| is_same(a, b));
                    if !is_equal {
                        self.modified.insert(&at.path());
                    }
                }
                ([_, _, ..], _) => {
                    if let Some(only) = right.first() {
                        self.value(&at, None, Some(only), schema.item());
                    }
                    self.removed.insert(&at.path());
                }
                (_, [_, _, ..]) => {
                    if let Some(only) = left.first() {
                        self.value(&at, Some(only), None, schema.item());
                    }
                    self.added.insert(&at.path());
                }
            }
        }
    }
}

/// Returns true if two values are equal. Numbers are compared by value (`value/value.go`, `Equals`).
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Number(_)) => Scalar::from_json(a) == Scalar::from_json(b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| is_same(a, b)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::GroupVersionKind;
    use crate::schema::builtin;
    use serde_json::json;

    /// The fields of a Pod that are added, modified and removed.
    fn compared(before: &Value, after: &Value) -> [Vec<String>; 3] {
        let schema = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let spec = |value: &Value| json!({"spec": value});
        let found = compare(&spec(before), &spec(after), schema);
        [found.added, found.modified, found.removed].map(|set| set.paths().iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_is_replaced_as_a_whole_is_one_field_and_anything_else_is_compared_within() {
        let before =
            json!({"containers": [{"name": "a", "args": ["x"]}], "hostname": "a", "nodeSelector": {"disk": "ssd"}});
        let after = json!({"containers": [{"name": "a", "args": ["y"]}], "hostname": "b", "subdomain": "s"});
        let [added, modified, removed] = compared(&before, &after);
        assert_eq!(added, ["spec.subdomain"]);
        assert_eq!(modified, ["spec.containers[name=a].args", "spec.hostname"]);
        assert_eq!(removed, ["spec.nodeSelector"]);
    }

    #[test]
    fn items_with_one_key_are_compared_as_a_whole() {
        let env = |values: &[&str]| {
            let items: Vec<Value> = values.iter().map(|value| json!({"name": "A", "value": value})).collect();
            json!({"containers": [{"name": "a", "env": items}]})
        };
        let item = || vec!["spec.containers[name=a].env[name=A]".to_owned()];
        assert_eq!(compared(&env(&["1", "2"]), &env(&["1", "3"])), [vec![], item(), vec![]]);
        assert_eq!(compared(&env(&["1", "2"]), &env(&["1", "2"])).concat(), [""; 0]);
        let fields = || [".name", ".value"].map(|field| format!("{}{field}", item()[0])).to_vec();
        let all = || [item(), fields()].concat();
        assert_eq!(compared(&env(&["1", "2"]), &env(&["1"])), [all(), vec![], item()]);
        assert_eq!(compared(&env(&["1"]), &env(&["1", "2"])), [item(), vec![], all()]);
    }

    #[test]
    fn a_value_that_becomes_another_sort_of_value_loses_what_was_in_it() {
        let schema = TypeRef::untyped();
        let found = compare(&json!({"a": {"b": 1}}), &json!({"a": "x"}), schema);
        let texts = |set: &FieldSet| set.paths().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!((texts(&found.modified), texts(&found.removed)), (vec!["a".to_owned()], vec!["a.b".to_owned()]));
        assert_eq!(compare(&json!({"a": 1}), &json!({"a": 1.0}), schema), Comparison::default());
    }
}
