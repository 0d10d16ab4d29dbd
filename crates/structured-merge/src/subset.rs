//! Removes the fields of a set from an object, or copies them into another one (structured-merge-diff
//! `typed/remove.go`, `RemoveItems` and `ExtractItems`).
//!
//! [`prune`] removes the fields that the manager of an apply applied before and no longer applies, unless another manager has
//! them (structured-merge-diff `merge/update.go`, `prune`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::merge::Values;
use crate::object::{FieldPath, FieldSet, PathElement};
use crate::schema::{ListKind, TypeRef, fields_of, item_element, places, with_named_parents};

/// The outermost value around a path that is replaced as a whole, such as an atomic list; the path itself if there is
/// none.
pub fn whole_value(path: &FieldPath, mut schema: TypeRef<'_>) -> FieldPath {
    for (depth, element) in path.elements().iter().enumerate() {
        if depth > 0 && (schema.is_atomic_type() || matches!(element, PathElement::Index(_))) {
            return FieldPath::from(path.elements().iter().take(depth).cloned().collect::<Vec<_>>());
        }
        schema = schema.step(element);
    }
    path.clone()
}

/// An object without the values at these paths. Structs, maps and lists that become empty are removed; the keys of list
/// items stay.
pub fn without_fields(object: &Value, fields: &FieldSet, schema: TypeRef<'_>) -> Value {
    left(object, fields, schema).unwrap_or_else(|| Value::Object(Map::new()))
}

fn left(value: &Value, gone: &FieldSet, schema: TypeRef<'_>) -> Option<Value> {
    if gone.is_empty() {
        return Some(value.clone());
    }
    match value {
        _ if schema.is_atomic(value) => None,
        Value::Object(map) => {
            let field = |(name, child): (&String, &Value)| {
                let kept = match gone.step(&PathElement::Field(name.clone())) {
                    Some((true, _)) => None,
                    Some((false, below)) => left(child, below, schema.field(name)),
                    None => Some(child.clone()),
                };
                Some((name.clone(), kept?))
            };
            let left: Map<String, Value> = map.iter().filter_map(field).collect();
            (!left.is_empty() || map.is_empty()).then_some(Value::Object(left))
        }
        Value::Array(items) => {
            let item = |item: &Value| {
                let element = item_element(item, schema);
                match element.as_ref().and_then(|element| gone.step(element)) {
                    Some((true, _)) => None,
                    Some((false, below)) => left(item, &without_keys(below, schema), schema.item()),
                    None => Some(item.clone()),
                }
            };
            let left: Vec<Value> = items.iter().filter_map(item).collect();
            (!left.is_empty() || items.is_empty()).then_some(Value::Array(left))
        }
        scalar => Some(scalar.clone()),
    }
}

/// The fields of an item without its keys.
fn without_keys(fields: &FieldSet, list: TypeRef<'_>) -> FieldSet {
    let ListKind::Keyed(keys) = list.list_kind() else { return fields.clone() };
    let is_key = |path: &FieldPath| match path.elements().first() {
        Some(PathElement::Field(name)) => keys.contains(name),
        _ => false,
    };
    fields.filter(|path| !is_key(path))
}

/// An object in which these fields are replaced by those of another object of its type. Fields that the other object
/// does not have stay; added list items are inserted where the other object has them.
pub fn with_fields_of(object: &Value, other: &Value, fields: &FieldSet, schema: TypeRef<'_>) -> Value {
    put(Some(object), other, fields, schema).unwrap_or_else(|| object.clone())
}

fn put(value: Option<&Value>, other: &Value, fields: &FieldSet, schema: TypeRef<'_>) -> Option<Value> {
    match other {
        _ if schema.is_atomic(other) => Some(other.clone()),
        Value::Object(source) => {
            let mut map = value.and_then(Value::as_object).cloned().unwrap_or_default();
            for (element, _, below) in fields.nodes() {
                if let PathElement::Field(name) = element
                    && let Some(there) = source.get(name)
                    && let Some(child) = put(map.get(name), there, below, schema.field(name))
                {
                    map.insert(name.clone(), child);
                }
            }
            Some(Value::Object(map))
        }
        Value::Array(source) => {
            let items = value.and_then(Value::as_array).cloned().unwrap_or_default();
            let items = put_items(items, source, fields, schema);
            // An empty list claims nothing.
            (!items.is_empty()).then_some(Value::Array(items))
        }
        scalar => Some(scalar.clone()),
    }
}

fn put_items(mut items: Vec<Value>, source: &[Value], fields: &FieldSet, schema: TypeRef<'_>) -> Vec<Value> {
    let here = places(&items, schema);
    // Each added item is inserted behind its predecessor in the other object, so that no order changes.
    let mut coming: BTreeMap<Option<usize>, Vec<Value>> = BTreeMap::new();
    let mut before = None;
    let mut seen = BTreeSet::new();
    for other in source {
        // If several items have one key, the first one counts.
        let Some(element) = item_element(other, schema).filter(|element| seen.insert(element.clone())) else {
            continue;
        };
        let claimed = fields.step(&element).map(|(_, below)| below);
        match (here.get(&element), claimed) {
            (Some(index), claimed) => {
                before = Some(*index);
                if let (Some(below), Some(item)) = (claimed, items.get_mut(*index))
                    && let Some(now) = put(Some(item), other, below, schema.item())
                {
                    *item = now;
                }
            }
            (None, Some(below)) => {
                let item = put(Some(&key_of(other, below, schema)), other, below, schema.item());
                coming.entry(before).or_default().extend(item);
            }
            (None, None) => {}
        }
    }
    let mut result = coming.remove(&None).unwrap_or_default();
    for (index, item) in items.into_iter().enumerate() {
        result.push(item);
        result.extend(coming.remove(&Some(index)).unwrap_or_default());
    }
    result
}

/// The fields that identify an item: its keys, except those that are not claimed and have a default.
fn key_of(item: &Value, claimed: &FieldSet, list: TypeRef<'_>) -> Value {
    let ListKind::Keyed(keys) = list.list_kind() else { return item.clone() };
    let is_needed = |key: &&String| {
        list.item().default_of(key).is_none() || claimed.step(&PathElement::Field((*key).clone())).is_some()
    };
    let keys = keys.iter().filter(is_needed).filter_map(|key| Some((key.clone(), item.get(key)?.clone())));
    Value::Object(keys.collect())
}

/// Removes from `merged` the fields of `last` (applied before) that are not in `managed` (the fields of others and of
/// the new manifest). Structs and items are removed whole when nothing in them is managed any more.
pub fn prune(merged: &Value, schema: TypeRef<'_>, last: &FieldSet, managed: &FieldSet) -> Value {
    prune_to(Values::Served, merged, schema, last, managed)
}

pub(crate) fn prune_to(
    values: Values,
    merged: &Value,
    schema: TypeRef<'_>,
    last: &FieldSet,
    managed: &FieldSet,
) -> Value {
    let fields = |object: &Value| with_named_parents(&fields_of(object, schema), schema);
    let last = with_named_parents(last, schema);
    let all = fields(merged);
    let left = fields(&without(merged, &last, schema, Values::Sent)).union(&with_named_parents(managed, schema));
    let back = without(merged, &all.difference(&left), schema, Values::Sent);
    let gone = all.difference(&fields(&back)).intersection(&last);
    without(merged, &gone, schema, values)
}

/// A value without these fields and items. A map or list that becomes empty is null, which still counts as a field; a
/// field of a Go type is never served as null.
fn without(value: &Value, gone: &FieldSet, schema: TypeRef<'_>, values: Values) -> Value {
    if gone.is_empty() {
        return value.clone();
    }
    match value {
        _ if schema.is_atomic(value) => Value::Null,
        Value::Object(map) => {
            let mut left = Map::new();
            // A struct that still has a null stays, even if the null is not served.
            let mut is_emptied = true;
            for (name, child) in map {
                let kept = match gone.step(&PathElement::Field(name.clone())) {
                    Some((true, _)) => continue,
                    Some((false, below)) => without(child, below, schema.field(name), values),
                    None => child.clone(),
                };
                is_emptied = false;
                if values == Values::Sent || !kept.is_null() || child.is_null() {
                    left.insert(name.clone(), kept);
                } else if schema.stores_as_sent() {
                    left.insert(name.clone(), schema.default_of_null(name).cloned().unwrap_or_default());
                }
            }
            if is_emptied { Value::Null } else { Value::Object(left) }
        }
        Value::Array(items) => {
            let kept = items.iter().filter_map(|item| {
                match item_element(item, schema).as_ref().and_then(|element| gone.step(element)) {
                    Some((true, _)) => None,
                    Some((false, below)) => Some(without(item, below, schema.item(), values)),
                    None => Some(item.clone()),
                }
            });
            let kept: Vec<Value> = kept.collect();
            if kept.is_empty() { Value::Null } else { Value::Array(kept) }
        }
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::GroupVersionKind;
    use crate::schema::{builtin, field_set};

    fn deployment() -> TypeRef<'static> {
        builtin().object(&GroupVersionKind::new("apps/v1", "Deployment")).unwrap()
    }

    fn pod_spec(spec: &Value) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": {"spec": spec}}})
    }

    fn in_pod(elements: Vec<PathElement>) -> FieldPath {
        let fields = ["spec", "template", "spec"].map(|name| PathElement::Field(name.to_owned()));
        FieldPath::from(fields.into_iter().chain(elements).collect::<Vec<_>>())
    }

    fn field(name: &str) -> PathElement {
        PathElement::Field(name.to_owned())
    }

    fn item(name: &str) -> PathElement {
        PathElement::key([("name".to_owned(), crate::object::Scalar::Text(name.to_owned()))])
    }

    #[test]
    fn what_is_left_keeps_keys_and_no_empty_shells() {
        let schema = deployment();
        let object = pod_spec(
            &json!({"containers": [{"name": "app", "image": "a:1", "resources": {"limits": {"cpu": "1"}}}], "nodeSelector": {"disk": "ssd"}}),
        );
        let containers = field("containers");
        let app = |rest: &[&str]| {
            in_pod([containers.clone(), item("app")].into_iter().chain(rest.iter().map(|name| field(name))).collect())
        };
        let without = |paths: Vec<FieldPath>| without_fields(&object, &paths.into_iter().collect(), schema);
        let spec = |value: &Value| value.pointer("/spec/template/spec").cloned();
        let left =
            without(vec![app(&["resources", "limits", "cpu"]), app(&["name"]), in_pod(vec![field("nodeSelector")])]);
        assert_eq!(spec(&left), Some(json!({"containers": [{"name": "app", "image": "a:1"}]})));
        let left = without(vec![app(&[]), in_pod(vec![field("nodeSelector"), field("disk")])]);
        assert_eq!(
            (spec(&left), left.get("spec")),
            (None, None),
            "an atomic map goes as a whole, and what is empty goes"
        );
    }

    #[test]
    fn fields_come_in_where_the_other_object_has_them() {
        let schema = deployment();
        let env = |names: &[&str]| -> Value {
            let items = names.iter().map(|name| json!({"name": name, "value": "x"}));
            pod_spec(&json!({"containers": [{"name": "app", "env": items.collect::<Vec<_>>()}]}))
        };
        let live = env(&["a", "b", "c", "d"]);
        let names = |object: &Value| -> Vec<String> {
            let items = object.pointer("/spec/template/spec/containers/0/env").and_then(Value::as_array).unwrap();
            items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
        };
        let all = field_set(&live, schema, None);
        let of_items =
            |wanted: &[&str]| all.filter(|path| wanted.iter().any(|name| path.elements().contains(&item(name))));
        assert_eq!(
            names(&with_fields_of(&env(&["b", "d"]), &live, &of_items(&["a", "c"]), schema)),
            ["a", "b", "c", "d"]
        );
        assert_eq!(names(&with_fields_of(&env(&["z"]), &live, &of_items(&["c", "b"]), schema)), ["b", "c", "z"]);
        let bare = pod_spec(&json!({}));
        let whole = with_fields_of(&bare, &live, &all, schema);
        assert_eq!(field_set(&whole, schema, None), all, "what comes in claims what was named, and nothing else");
    }

    #[test]
    fn keys_with_defaults_are_not_claimed_again() {
        let schema = deployment();
        let port = |protocol: Option<&str>| {
            let mut port = json!({"containerPort": 80, "name": "http"});
            if let Some(protocol) = protocol {
                port["protocol"] = protocol.into();
            }
            pod_spec(&json!({"containers": [{"name": "app", "ports": [port]}]}))
        };
        let claimed = field_set(&port(None), schema, None);
        let live = port(Some("TCP"));
        let sent = with_fields_of(&pod_spec(&json!({})), &live, &claimed, schema);
        assert_eq!(sent, {
            let mut sent = port(None);
            sent["metadata"] = pod_spec(&json!({}))["metadata"].clone();
            sent
        });
    }

    #[test]
    fn a_path_in_an_atomic_value_stands_for_all_of_it() {
        let schema = deployment();
        let args = in_pod(vec![field("containers"), item("app"), field("args")]);
        assert_eq!(whole_value(&args.child(PathElement::Index(1)), schema), args);
        let selector = in_pod(vec![field("nodeSelector")]);
        assert_eq!(whole_value(&selector.field("disk"), schema), selector);
        let replicas = FieldPath::of(&["spec", "replicas"]);
        assert_eq!(whole_value(&replicas, schema), replicas);
    }

    #[test]
    fn a_struct_goes_whole_with_the_last_field_that_was_applied() {
        let schema = builtin().object(&GroupVersionKind::new("apps/v1", "Deployment")).unwrap();
        let object = |context: Value| {
            json!({"metadata": {"name": "web"}, "spec": {"template": {"spec": {
            "containers": [{"name": "web", "image": "a", "securityContext": context, "terminationMessagePath": "/x"}]}}}})
        };
        let live = object(json!({"runAsUser": 1, "privileged": false}));
        let before = field_set(&object(json!({"runAsUser": 1})), schema, None);
        let mut manifest = object(json!({}));
        let container = manifest.pointer_mut("/spec/template/spec/containers/0").unwrap().as_object_mut().unwrap();
        container.remove("securityContext");
        let after = prune(&live, schema, &before, &fields_of(&manifest, schema));
        let container = &after["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container.get("securityContext"), None, "{after}");
        assert_eq!(container["terminationMessagePath"], "/x");
    }

    #[test]
    fn a_struct_around_what_was_emptied_stays() {
        let schema = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let pod = |spec: Value| json!({"metadata": {"name": "web"}, "spec": spec});
        let live = pod(
            json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 8}]}}}),
        );
        let fields =
            |paths: &[&[&str]]| paths.iter().map(|path| crate::object::FieldPath::of(path)).collect::<FieldSet>();
        let last = fields(&[&["spec", "affinity", "nodeAffinity"]]);
        assert_eq!(prune(&live, schema, &last, &fields(&[&["spec", "affinity"]])), pod(json!({})));
    }

    #[test]
    fn an_item_that_somebody_else_has_stays() {
        let schema = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let pod = |names: &[&str]| {
            let items: Vec<Value> = names.iter().map(|name| json!({"name": name, "image": "a"})).collect();
            json!({"metadata": {"name": "web"}, "spec": {"containers": items}})
        };
        let live = pod(&["a", "b", "c"]);
        let managed = fields_of(&pod(&["a"]), schema).union(&fields_of(&pod(&["c"]), schema));
        assert_eq!(prune(&live, schema, &fields_of(&live, schema), &managed), pod(&["a", "c"]));
    }
}
