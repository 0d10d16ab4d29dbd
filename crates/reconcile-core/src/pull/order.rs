//! The order of a list: that of the live one, with the items of the manifest.

use serde_json::Value;

/// The items of a list in the order of the live one. `desired` and `live` name those that both lists have, in the order of the manifest
/// and of the cluster. Other items keep their places. `None` if the names do not tell the items apart.
pub(super) fn in_live_order(written: &Value, desired: &Value, live: &Value) -> Option<Value> {
    let (written, desired, live) = (written.as_array()?, desired.as_array()?, live.as_array()?);
    let is_whole = written.len() == desired.len();
    let place = |(position, name): (usize, &Value)| {
        let mut named = written.iter().enumerate().filter(|(_, item)| is_named(item, name)).map(|(index, _)| index);
        let first = named.next();
        if named.next().is_none() && first.is_some() { first } else { is_whole.then_some(position) }
    };
    let places: Vec<usize> = desired.iter().enumerate().map(place).collect::<Option<_>>()?;
    if live.len() != desired.len() || !places.is_sorted_by(|a, b| a < b) {
        return None;
    }
    let mut ordered = written.clone();
    for (place, name) in places.iter().zip(live) {
        let from = *places.get(desired.iter().position(|desired| desired == name)?)?;
        *ordered.get_mut(*place)? = written.get(from)?.clone();
    }
    Some(Value::Array(ordered))
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

    use super::*;

    #[test]
    fn shared_items_take_the_places_of_each_other() {
        let written = json!([{"name": "a", "v": 1}, {"name": "own"}, {"name": "b"}]);
        let ordered = in_live_order(&written, &json!(["a", "b"]), &json!(["b", "a"]));
        assert_eq!(ordered, Some(json!([{"name": "b"}, {"name": "own"}, {"name": "a", "v": 1}])));
        let ports = json!([{"port": 53, "protocol": "UDP"}, {"port": 53}]);
        let names = |protocols: [&str; 2]| protocols.map(|protocol| json!({"port": 53, "protocol": protocol}));
        let ordered = in_live_order(&ports, &json!(names(["UDP", "TCP"])), &json!(names(["TCP", "UDP"])));
        assert_eq!(ordered, Some(json!([{"port": 53}, {"port": 53, "protocol": "UDP"}])));
        assert_eq!(in_live_order(&json!(["x", "y"]), &json!(["x", "y"]), &json!(["y", "x"])), Some(json!(["y", "x"])));
    }

    #[test]
    fn items_that_cannot_be_distinguished_stay() {
        let written = json!([{"name": "a", "to": "b"}, {"name": "own"}, {"name": "b", "to": "a"}]);
        assert_eq!(in_live_order(&written, &json!(["a", "b"]), &json!(["b", "a"])), None);
        assert_eq!(in_live_order(&json!(["x"]), &json!(["x", "y"]), &json!(["y", "x"])), None);
        assert_eq!(in_live_order(&json!({}), &json!(["x"]), &json!(["x"])), None);
    }
}
