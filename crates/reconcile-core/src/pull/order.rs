//! The order of lists: that of the live one for the items that both have.

use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{ListKind, PathElement, TypeRef, item_element};

use crate::compare::FieldChange;

/// The order of a list of the manifest after the live one. `schema` is that of the object.
pub(super) fn live_order_of(written: &Value, change: &FieldChange, schema: TypeRef<'_>) -> Option<Vec<usize>> {
    live_order(written, change.desired.as_ref()?, change.live.as_ref()?, schema.at(change.path.elements()))
}

/// The order of a list after the live one: the former index of each item. `desired` and `live` name those that both lists have, in the order
/// of the manifest and of the cluster. Other items keep their places, and names that only the other lists have, as of an item that somebody
/// added, do not count. `None` if the names do not tell the items apart.
fn live_order(written: &Value, desired: &Value, live: &Value, schema: TypeRef<'_>) -> Option<Vec<usize>> {
    let written = written.as_array()?;
    let desired = desired.as_array()?;
    let live = live.as_array()?;
    let has_keys = *schema.list_kind() != ListKind::Atomic;
    let is_whole = written.len() == desired.len() && !has_keys;
    let named = |name: &Value| -> Vec<usize> {
        let is_it = |item: &Value| is_of_key(item, name, schema).unwrap_or_else(|| is_named(item, name));
        written.iter().enumerate().filter(|(_, item)| is_it(item)).map(|(index, _)| index).take(2).collect()
    };
    let named: Vec<Vec<usize>> = desired.iter().map(named).collect();
    let names_some = named.iter().any(|items| !items.is_empty());
    let mut places: Vec<(usize, &Value)> = Vec::new();
    for (position, (name, items)) in desired.iter().zip(named).enumerate() {
        match items.as_slice() {
            [place] => places.push((*place, name)),
            // As many as somebody removed may have been added: an equal length alone makes no item of the manifest of them.
            [] if names_some || !is_whole => {}
            _ if is_whole => places.push((position, name)),
            _ => return None,
        }
    }
    let is_told_apart = !places.is_empty() && places.is_sorted_by(|(a, _), (b, _)| a < b);
    if live.len() != desired.len() || !is_told_apart {
        return None;
    }
    let place_of = |name: &Value| places.iter().find(|(_, other)| *other == name).map(|(place, _)| *place);
    let from: Vec<usize> = live.iter().filter_map(place_of).collect();
    if from.len() != places.len() || from.iter().collect::<BTreeSet<_>>().len() != from.len() {
        return None;
    }
    let mut order: Vec<usize> = (0..written.len()).collect();
    for ((place, _), from) in places.iter().zip(from) {
        *order.get_mut(*place)? = from;
    }
    Some(order)
}

/// Returns true if an item of a list has a name by its key, with the defaults of the schema. `None` if the schema has no key for it.
fn is_of_key(item: &Value, name: &Value, schema: TypeRef<'_>) -> Option<bool> {
    if *schema.list_kind() == ListKind::Atomic {
        return None;
    }
    match (item_element(item, schema)?, name) {
        (PathElement::Member(member), name) => Some(member.to_json() == *name),
        (PathElement::Key(keys), Value::Object(named)) => {
            Some(keys.iter().all(|(key, value)| named.get(key) == Some(&value.to_json())))
        }
        (PathElement::Key(keys), name) => Some(keys.iter().all(|(_, value)| value.to_json() == *name)),
        (PathElement::Field(_) | PathElement::Index(_), _) => None,
    }
}

/// Returns true if an item may have a name: the value of its key, all of its keys, or the item of a set itself.
fn is_named(item: &Value, name: &Value) -> bool {
    match (item, name) {
        (Value::Object(item), Value::Object(keys)) => {
            // A key that the item leaves out is set by the server.
            let mut written = keys.iter().filter_map(|(key, value)| Some((item.get(key)?, value))).peekable();
            written.peek().is_some() && written.all(|(own, value)| own == value)
        }
        (Value::Object(item), name) => item.values().any(|value| value == name),
        (item, name) => item == name,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::{GroupVersionKind, builtin};

    use super::*;

    /// The order of a list in the containers of a Pod.
    fn order_in_pod(list: &[&str], written: &Value, desired: &Value, live: &Value) -> Option<Vec<usize>> {
        let pod = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let list = list.iter().fold(pod.field("spec").field("containers"), |list, field| list.item().field(field));
        live_order(written, desired, live, list)
    }

    fn order(written: &Value, desired: &Value, live: &Value) -> Option<Vec<usize>> {
        live_order(written, desired, live, TypeRef::untyped())
    }

    #[test]
    fn shared_items_take_the_places_of_each_other() {
        let written = json!([{"name": "a", "v": 1}, {"name": "own"}, {"name": "b"}]);
        assert_eq!(order(&written, &json!(["a", "b"]), &json!(["b", "a"])), Some(vec![2, 1, 0]));
        let ports = json!([{"port": 53, "protocol": "UDP"}, {"port": 53}]);
        let names = |protocols: [&str; 2]| protocols.map(|protocol| json!({"port": 53, "protocol": protocol}));
        assert_eq!(order(&ports, &json!(names(["UDP", "TCP"])), &json!(names(["TCP", "UDP"]))), Some(vec![1, 0]));
        assert_eq!(order(&json!(["x", "y"]), &json!(["x", "y"]), &json!(["y", "x"])), Some(vec![1, 0]));
    }

    /// An item that somebody added is in the list of the cluster and in the one that an apply would leave, and not in the manifest.
    #[test]
    fn items_that_only_the_cluster_has_do_not_hold_the_order_back() {
        let written = json!([{"name": "a"}, {"name": "b"}]);
        for (live, expected) in [(json!(["b", "new", "a"]), [1, 0]), (json!(["new", "a", "b"]), [0, 1])] {
            let desired = json!(["a", "b", "new"]);
            assert_eq!(order_in_pod(&[], &written, &desired, &live).as_deref(), Some(&expected[..]));
            assert_eq!(order(&written, &desired, &live).as_deref(), Some(&expected[..]));
        }
        // As many as somebody removed.
        let written = json!([{"name": "a"}, {"name": "gone"}, {"name": "c"}, {"name": "d"}]);
        let order = order_in_pod(&[], &written, &json!(["a", "c", "n", "d"]), &json!(["a", "d", "c", "n"]));
        assert_eq!(order, Some(vec![0, 1, 3, 2]));
        // A port that leaves its protocol out is not the one of another protocol.
        let ports = json!([{"containerPort": 53}, {"containerPort": 80}]);
        let name = |port: u16, protocol: &str| json!({"containerPort": port, "protocol": protocol});
        let desired = json!([name(53, "TCP"), name(80, "TCP"), name(53, "UDP")]);
        let live = json!([name(80, "TCP"), name(53, "UDP"), name(53, "TCP")]);
        assert_eq!(order_in_pod(&["ports"], &ports, &desired, &live), Some(vec![1, 0]));
    }

    /// The keys of lists of custom resources are not known here.
    #[test]
    fn as_many_items_as_were_removed_may_have_been_added() {
        let names = ["c", "a", "b"];
        let objects = names.map(|name| json!({"name": name, "size": 1}));
        for written in [json!(names), json!(objects)] {
            let order = order(&written, &json!(["d", "c", "a"]), &json!(["a", "d", "c"]));
            assert_eq!(order, Some(vec![1, 0, 2]), "{written}");
        }
        assert_eq!(order(&json!([{"size": 1}]), &json!(["d", "e"]), &json!(["e", "d"])), None);
    }

    #[test]
    fn items_that_cannot_be_distinguished_stay() {
        let written = json!([{"name": "a", "to": "b"}, {"name": "own"}, {"name": "b", "to": "a"}]);
        assert_eq!(order(&written, &json!(["a", "b"]), &json!(["b", "a"])), None);
        assert_eq!(order_in_pod(&[], &written, &json!(["a", "b"]), &json!(["b", "a"])), Some(vec![2, 1, 0]));
        assert_eq!(order(&json!({}), &json!(["x"]), &json!(["x"])), None);
        // No item may come twice in place of another one.
        assert_eq!(order(&json!(["x", "y"]), &json!(["x", "y"]), &json!(["x", "x"])), None);
        assert_eq!(order(&json!([1, 2]), &json!(["x", "y"]), &json!(["y", "z"])), None);
    }
}
