//! The fields of built-in kinds that the API server refuses to change, for a comparison that does not ask it.
//!
//! A field that the table lacks is shown as an update, which the server refuses later. One too many would have an object replaced that an
//! update changes. So only certain differences count: none that a default of the server may even out, and of the fields inside of a value
//! that only one of the two objects has, only those without a default.

mod table;

use serde_json::{Map, Value};
use structured_merge::{
    FieldPath, ListKind, Quantity, TypeRef, changes, is_nothing, items_by_element, leave_out_bookkeeping,
    semantically_equal,
};

use super::live_object::LiveObject;
use super::prediction::CompareContext;
use super::rejection::refusal::{are_immutable, unchangeable_for};
use table::{ImmutableField, Unset, immutable_fields};

/// Names of fields inside of those of the table that get no default, and that all versions have.
const WITHOUT_DEFAULT: [&str; 19] = [
    "annotations",
    "args",
    "command",
    "env",
    "envFrom",
    "imagePullSecrets",
    "initContainers",
    "labels",
    "limits",
    "matchExpressions",
    "matchLabels",
    "metadata",
    "nodeSelector",
    "serviceAccountName",
    "storageClassName",
    "value",
    "valueFrom",
    "volumeMounts",
    "volumes",
];

/// The immutable fields of a live object that an apply would change, in the words for a refusal of the server.
pub(super) fn immutable_change(context: CompareContext<'_>, live: &LiveObject, desired: &Value) -> Option<String> {
    let CompareContext { target, schema, .. } = context;
    let gvk = &target.key.gvk;
    let fields = immutable_fields(gvk);
    if fields.is_empty() || !schema.declares("kind") {
        return None;
    }
    let object = &live.current.object;
    let is_refused =
        |field: &&ImmutableField| field.differs(object, desired, schema) && (field.is_refused)(object, desired);
    let refused: Vec<&ImmutableField> = fields.iter().filter(is_refused).collect();
    let shrinks = gvk.kind == "PersistentVolumeClaim" && shrinks(object, desired);
    if refused.is_empty() && !shrinks {
        return None;
    }
    let mut differences = changes(object, desired, schema, target.status_is_apart());
    leave_out_bookkeeping(&mut differences, gvk, live.sent(target), schema);
    let is_shown = |path: &FieldPath| differences.iter().any(|change| change.path.overlaps(path));
    let named: Vec<String> =
        refused.into_iter().filter(|field| is_shown(&field.path())).map(|field| field.named.to_owned()).collect();
    if !named.is_empty() {
        return Some(are_immutable(named));
    }
    let is_smaller = shrinks && is_shown(&FieldPath::of(&SIZE));
    is_smaller.then(|| unchangeable_for(&SIZE.join("."), "field can not be less than status.capacity"))
}

impl ImmutableField {
    /// Returns true if the server sees another value.
    fn differs<'v>(&self, live: &'v Value, desired: &'v Value, schema: TypeRef<'_>) -> bool {
        let path = self.path();
        let is_unset = |value: &Value| {
            is_nothing(value) || matches!(self.unset, Unset::Default(_)) && value.as_str().is_some_and(str::is_empty)
        };
        let value = |object: &'v Value| path.value_in(object).filter(|value| !is_unset(value));
        match (value(live), value(desired)) {
            (None, None) => false,
            (None, Some(to)) => !is_empty(to),
            (Some(from), None) => match self.unset {
                Unset::Unknown => false,
                Unset::Nothing => true,
                Unset::Default(default) => from != default,
            },
            (Some(from), Some(to)) => are_different(from, to, schema.at(path.elements()), self.mutable),
        }
    }
}

/// Returns true if two values certainly differ for the server.
fn are_different(from: &Value, to: &Value, schema: TypeRef<'_>, mutable: &[&str]) -> bool {
    match (from, to) {
        (Value::Object(from), Value::Object(to)) => {
            let differ = |name: &str| fields_differ(from, to, name, schema, mutable);
            from.keys().chain(to.keys()).any(|name| !mutable.contains(&name.as_str()) && differ(name))
        }
        (Value::Array(from), Value::Array(to)) if *schema.list_kind() == ListKind::Atomic => {
            let mut pairs = from.iter().zip(to);
            from.len() != to.len() || pairs.any(|(from, to)| are_different(from, to, schema.item(), mutable))
        }
        (Value::Array(from), Value::Array(to)) => {
            let from = items_by_element(from, schema);
            let to = items_by_element(to, schema);
            !from.keys().eq(to.keys())
                || from.values().zip(to.values()).any(|(from, to)| are_different(from, to, schema.item(), mutable))
        }
        _ if is_nothing(from) && is_nothing(to) => false,
        _ => !semantically_equal(to, from, schema),
    }
}

/// Returns true if a field of two structs, or an entry of two maps, certainly differs for the server.
fn fields_differ(
    from: &Map<String, Value>,
    to: &Map<String, Value>,
    name: &str,
    schema: TypeRef<'_>,
    mutable: &[&str],
) -> bool {
    let is_entry = !schema.declares(name);
    match (from.get(name), to.get(name)) {
        // The server may put its default there.
        (Some(_), Some(to)) if !is_entry && !to.is_boolean() && !to.is_object() && is_empty(to) => false,
        (Some(from), Some(to)) => are_different(from, to, schema.field(name), mutable),
        (Some(value), None) | (None, Some(value)) if is_entry => !is_nothing(value),
        (Some(value), None) | (None, Some(value)) => WITHOUT_DEFAULT.contains(&name) && !is_empty(value),
        (None, None) => false,
    }
}

/// Returns true if a value is nothing but empty values of Go.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(map) => map.values().all(is_empty),
        Value::Null => true,
    }
}

/// The size that a claim requests.
const SIZE: [&str; 4] = ["spec", "resources", "requests", "storage"];

/// Returns true if a claim requests less than before, and no more than its volume has (`ValidatePersistentVolumeClaimUpdate`). Older servers
/// refuse any smaller size.
fn shrinks(live: &Value, desired: &Value) -> bool {
    let quantity = |object: &Value, path: &[&str]| Quantity::parse(FieldPath::of(path).value_in(object)?.as_str()?);
    let Some(wanted) = quantity(desired, &SIZE) else { return false };
    let is_at_most = |held: Option<Quantity>| held.is_some_and(|held| wanted <= held);
    let is_less = quantity(live, &SIZE).is_some_and(|held| wanted < held);
    is_less && is_at_most(quantity(live, &["status", "capacity", "storage"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::{GroupVersionKind, builtin};

    use super::*;

    #[test]
    fn only_what_no_default_evens_out_is_a_difference() {
        let job = builtin().object(&GroupVersionKind::new("batch/v1", "Job")).unwrap();
        let pods = job.at(FieldPath::of(&["spec", "template", "spec"]).elements());
        let limited = |cpu: Value| json!({"limits": {"cpu": cpu}});
        let container = |name: &str, env: Value, resources: Value| json!({"name": name, "image": "a", "imagePullPolicy": "Always", "env": env, "resources": resources});
        let env = |name: &str, value: &str| json!([{"name": name, "value": value}]);
        let one = || container("a", env("A", "1"), limited(json!("500m")));
        let two = || container("b", json!([]), json!({}));
        let live = json!({"containers": [one(), two()], "terminationGracePeriodSeconds": 30});
        let with = |container: Value| json!({"containers": [container, two()]});
        let without_policy = json!({"name": "a", "image": "a", "imagePullPolicy": "", "env": env("A", "1"), "resources": limited(json!(0.5))});
        for (desired, is_different) in [
            (live.clone(), false),
            (json!({"containers": [two(), one()]}), false),
            (json!({"containers": [one(), two()], "securityContext": {}, "hostNetwork": false, "volumes": []}), false),
            (json!({"containers": [one(), two()], "dnsPolicy": "Default"}), false),
            (with(without_policy), false),
            (json!({"containers": [one(), two()], "terminationGracePeriodSeconds": 10}), true),
            (json!({"containers": [one(), two()], "volumes": [{"name": "v", "emptyDir": {}}]}), true),
            (with(container("a", env("A", "1"), limited(json!(1)))), true),
            (with(container("a", env("A", "1"), json!({}))), true),
            (with(container("a", env("A", "2"), limited(json!("500m")))), true),
            (with(container("a", env("B", "1"), limited(json!("500m")))), true),
            (json!({"containers": [one()]}), true),
        ] {
            assert_eq!(are_different(&live, &desired, pods, &[]), is_different, "{desired}");
        }
    }
}
