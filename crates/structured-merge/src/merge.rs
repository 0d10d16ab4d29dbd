//! Merges a manifest over the live object, as structured-merge-diff does (`typed/merge.go`).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::kinds::with_limits_filled;
use crate::object::PathElement;
use crate::schema::{
    self, ListKind, TypeRef, equivalent_offline, is_default, item_element, may_be_defaulted, with_empty_values_filled,
};

/// Form of the merged values: as structured-merge-diff computes them, or as the server serves them afterwards.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// As the manifest has them.
    Sent,
    /// As Go types keep them: empty values are left out, and there are no nulls. Where manifest and live object have
    /// the same meaning, the live spelling stays.
    Served,
}

/// Merges a manifest over the live object. Where both have the same meaning, the live spelling stays.
pub fn merge(manifest: &Value, live: &Value, schema: TypeRef<'_>) -> Value {
    merge_to(Values::Served, manifest, live, schema)
}

pub(crate) fn merge_to(values: Values, manifest: &Value, live: &Value, schema: TypeRef<'_>) -> Value {
    match (manifest, live) {
        (Value::Null, _) => live.clone(),
        (Value::Object(wanted), Value::Object(found)) if !schema.is_atomic(manifest) => {
            // Fields that are merged below are not copied here, so that no level copies all levels under it.
            let others = found.iter().filter(|(name, _)| !wanted.contains_key(*name));
            let mut merged: Map<String, Value> = others.map(|(name, there)| (name.clone(), there.clone())).collect();
            for (name, value) in wanted {
                match found.get(name) {
                    there if value.is_null() => nulled(values, &mut merged, name, there, wanted, schema),
                    Some(there) => {
                        let sibling = |name: &str| wanted.get(name).or_else(|| found.get(name));
                        let default = (values == Values::Served && may_be_defaulted(value))
                            .then(|| schema.default_of_empty(name, sibling))
                            .flatten();
                        let value = default.as_ref().unwrap_or(value);
                        merged.insert(name.clone(), merge_to(values, value, there, schema.field(name)));
                    }
                    None if values == Values::Served => {
                        let value = with_nulls_filled(value, schema.field(name));
                        if !schema::is_omitted_when_empty(&value, name, schema) {
                            merged.insert(name.clone(), value.into_owned());
                        }
                    }
                    None => drop(merged.insert(name.clone(), value.clone())),
                }
            }
            Value::Object(merged)
        }
        (Value::Array(wanted), Value::Array(found)) if *schema.list_kind() != ListKind::Atomic => {
            merge_items(values, wanted, found, schema).map_or_else(|| manifest.clone(), Value::Array)
        }
        _ if values == Values::Sent => manifest.clone(),
        _ => {
            let manifest = with_nulls_filled(manifest, schema);
            let manifest = with_limits_filled(&manifest, schema);
            let manifest = with_empty_values_filled(&manifest, schema);
            let is_same = equivalent_offline(&manifest, live, schema);
            if is_same { live.clone() } else { completed(&manifest, live, schema) }
        }
    }
}

/// A value that is replaced as a whole, with the defaults that the live value has at the same paths.
fn completed(manifest: &Value, live: &Value, schema: TypeRef<'_>) -> Value {
    match (manifest, live) {
        (Value::Object(wanted), Value::Object(found)) => {
            let defaults =
                found.iter().filter(|(name, there)| !wanted.contains_key(*name) && is_default(there, name, schema));
            let defaults = defaults.map(|(name, there)| (name.clone(), there.clone()));
            let wanted = wanted.iter().map(|(name, value)| {
                let there = found.get(name).unwrap_or(&Value::Null);
                (name.clone(), completed(value, there, schema.field(name)))
            });
            wanted.chain(defaults).collect()
        }
        (Value::Array(wanted), Value::Array(found)) => {
            let there = found.iter().chain(std::iter::repeat(&Value::Null));
            wanted.iter().zip(there).map(|(item, there)| completed(item, there, schema.item())).collect()
        }
        _ => manifest.clone(),
    }
}

/// Returns true if a value is replaced as a whole: a scalar, or an atomic map or list. In any other value, a null keeps
/// the entries.
pub(crate) fn is_one_value(value: &Value, schema: TypeRef<'_>) -> bool {
    !(value.is_object() || value.is_array()) || schema.is_atomic(value)
}

/// Merges a null into a field. The entries that other managers have in a map or a list stay.
fn nulled(
    values: Values,
    map: &mut Map<String, Value>,
    name: &str,
    there: Option<&Value>,
    wanted: &Map<String, Value>,
    schema: TypeRef<'_>,
) {
    let is_kept = values == Values::Sent || schema.stores_as_sent();
    let goes = |there: &Value| schema::is_nothing(there) && (is_kept || !comes_back(there, name, wanted, schema));
    match there {
        Some(there) if !(is_one_value(there, schema.field(name)) || goes(there)) => {
            map.insert(name.to_owned(), there.clone());
        }
        _ if values == Values::Sent => drop(map.insert(name.to_owned(), Value::Null)),
        _ if schema.stores_as_sent() => {
            map.insert(name.to_owned(), schema.default_of_null(name).cloned().unwrap_or_default());
        }
        Some(Value::Null) => drop(map.insert(name.to_owned(), Value::Null)),
        _ => emptied(map, name, schema),
    }
}

/// Returns true if the server puts such an empty struct back in place of a null: one that it always serves, or the source of a volume
/// without another one (`SetDefaults_Volume`).
fn comes_back(there: &Value, name: &str, wanted: &Map<String, Value>, schema: TypeRef<'_>) -> bool {
    let is_volume = || name == "emptyDir" && schema.declares("projected");
    let is_only_source = || wanted.iter().all(|(key, value)| key == "name" || value.is_null());
    schema::is_empty_struct(there, name, schema) || is_volume() && is_only_source()
}

/// Merges a null into a field of a Go type: an entry of a map becomes empty, and any other field takes its default.
fn emptied(map: &mut Map<String, Value>, name: &str, schema: TypeRef<'_>) {
    if let Some(empty) = empty_entry(schema) {
        map.insert(name.to_owned(), Value::from(empty));
    } else if let Some(default) = schema.default_of(name).filter(|default| default.as_str() != Some("")) {
        map.insert(name.to_owned(), default.clone());
    } else {
        map.remove(name);
    }
}

/// An entry of a map of a Go type as the server reads a null.
fn empty_entry(schema: TypeRef<'_>) -> Option<&'static str> {
    let is_of_go = schema.is_free_map() && !schema.stores_as_sent();
    schema::empty_of(schema.field("")).filter(|_| is_of_go)
}

/// A map of a Go type as the server reads it: nulls are empty values.
fn with_nulls_filled<'v>(value: &'v Value, schema: TypeRef<'_>) -> Cow<'v, Value> {
    match value {
        Value::Object(map) if map.values().any(Value::is_null) => {
            let Some(empty) = empty_entry(schema) else { return Cow::Borrowed(value) };
            let filled = |value: &Value| if value.is_null() { Value::from(empty) } else { value.clone() };
            Cow::Owned(map.iter().map(|(name, value)| (name.clone(), filled(value))).collect())
        }
        _ => Cow::Borrowed(value),
    }
}

/// Merges the items of a list. Live items keep their positions, and new items follow them where the manifest has them.
/// If the manifest has the shared items in another order, its order wins (structured-merge-diff `typed/merge.go`,
/// `visitListItems`).
fn merge_items(values: Values, wanted: &[Value], found: &[Value], schema: TypeRef<'_>) -> Option<Vec<Value>> {
    let elements = |items: &[Value]| items.iter().map(|item| item_element(item, schema)).collect::<Option<Vec<_>>>();
    let wanted_keys = elements(wanted)?;
    let found_keys = elements(found)?;
    let mut there: BTreeMap<&PathElement, &Value> = BTreeMap::new();
    for (key, item) in found_keys.iter().zip(found) {
        // If several live items have one key, none of them is merged.
        there.entry(key).and_modify(|several| *several = &Value::Null).or_insert(item);
    }
    let in_manifest: BTreeSet<&PathElement> = wanted_keys.iter().collect();
    let mut shared = wanted_keys.iter().filter(|key| there.contains_key(*key));
    let mut next_shared = shared.next();
    let mut done: BTreeSet<&PathElement> = BTreeSet::new();
    let mut result = Vec::with_capacity(wanted.len().saturating_add(found.len()));
    let mut live = found_keys.iter().zip(found).peekable();
    let mut own = wanted_keys.iter().zip(wanted).peekable();
    while live.peek().is_some() || own.peek().is_some() {
        if let Some((key, item)) = live.peek().copied() {
            let is_next = own.peek().is_some_and(|(next, _)| *next == key);
            let is_out_of_turn = own.peek().is_some() && next_shared.is_some_and(|next| next != key);
            if !in_manifest.contains(key) {
                result.push(item.clone());
                live.next();
                continue;
            }
            if is_next || is_out_of_turn || done.contains(key) {
                live.next();
            }
            if !is_next && is_out_of_turn {
                continue;
            }
        }
        if let Some((key, item)) = own.next() {
            done.insert(key);
            result.push(
                there.get(key).map_or_else(|| item.clone(), |there| merge_to(values, item, there, schema.item())),
            );
            if next_shared == Some(key) {
                next_shared = shared.next();
            }
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::GroupVersionKind;
    use crate::schema::builtin;
    use serde_json::json;

    /// The order in which an apply of some items leaves a list that has others.
    fn merged(wanted: &str, found: &str) -> String {
        let schema = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let pod = |names: &str| {
            let items: Vec<Value> = names.chars().map(|name| json!({"name": name.to_string()})).collect();
            json!({"spec": {"containers": items}})
        };
        let merged = merge(&pod(wanted), &pod(found), schema);
        let items = merged["spec"]["containers"].as_array().unwrap().clone();
        items.iter().filter_map(|item| item["name"].as_str()).collect()
    }

    /// A kind that a CustomResourceDefinition defines.
    fn gauges() -> crate::schema::TypeTable {
        let text = json!({"type": "string"});
        let number = json!({"type": "integer"});
        let item = json!({"type": "object", "properties": {"name": text, "port": number, "on": {"type": "boolean"}}});
        let definition = json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "metadata": {"type": "object"},
            "spec": {"type": "object", "properties": {
                "size": number, "names": {"type": "array", "items": text}, "free": {"type": "object", "additionalProperties": text},
                "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": text, "list": {"type": "array", "items": text}}},
                "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"], "items": item},
            }},
        }}}}]}});
        crate::schema::compile_definition(&definition, &GroupVersionKind::new("example.com/v1", "Gauge")).unwrap()
    }

    fn merged_gauge(wanted: &Value, found: &Value) -> Value {
        let types = gauges();
        let schema = types.object(&GroupVersionKind::new("example.com/v1", "Gauge")).unwrap();
        merge(&json!({"spec": wanted}), &json!({"spec": found}), schema)["spec"].clone()
    }

    #[test]
    fn a_custom_resource_keeps_empty_values_and_nulls() {
        let empty = json!({"size": 0, "names": [], "free": {}, "whole": {"list": []}});
        assert_eq!(merged_gauge(&empty, &json!({})), empty);
        assert_eq!(
            merged_gauge(&json!({"whole": {"a": "x", "list": []}}), &json!({"whole": {"a": "x"}})),
            json!({"whole": {"a": "x", "list": []}})
        );
        let nulls = json!({"size": null, "free": null, "names": null});
        assert_eq!(merged_gauge(&nulls, &json!({"size": 1, "free": {}, "names": ["a"]})), nulls);
        assert_eq!(merged_gauge(&json!({"free": null}), &json!({"free": {"a": "x"}})), json!({"free": {"a": "x"}}));
    }

    /// The values of the server (1.37.2) for the nulls of these manifests.
    #[test]
    fn a_null_in_a_map_is_an_empty_value() {
        for (kind, wanted, live) in [
            (("v1", "Service"), json!({"spec": {"selector": {"a": null, "b": "c"}}}), json!({"a": "", "b": "c"})),
            (("v1", "ResourceQuota"), json!({"spec": {"hard": {"pods": null}}}), json!({"pods": "0"})),
            (("v1", "Pod"), json!({"spec": {"nodeSelector": {"a": null}}}), json!({"a": ""})),
        ] {
            let schema = builtin().object(&GroupVersionKind::new(kind.0, kind.1)).unwrap();
            let field = wanted["spec"].as_object().unwrap().keys().next().unwrap();
            for before in [json!({field: live}), json!({field: {"z": "1"}}), json!({})] {
                let merged = &merge(&wanted, &json!({"spec": before}), schema)["spec"][field];
                assert!(live.as_object().unwrap().iter().all(|(name, value)| merged[name] == *value), "{merged}");
            }
        }
        let schema = builtin().object(&GroupVersionKind::new("v1", "ConfigMap")).unwrap();
        let live = json!({"binaryData": {"a": "", "b": "YQ=="}});
        assert_eq!(merge(&json!({"binaryData": {"a": null, "b": "YQ=="}}), &live, schema), live);
    }

    #[test]
    fn a_null_in_a_new_map_of_texts_is_empty() {
        let schema = builtin().object(&GroupVersionKind::new("v1", "Service")).unwrap();
        let wanted = json!({"metadata": {"labels": {"a": null}}, "spec": {"selector": {"b": null, "c": "d"}}});
        let after = json!({"metadata": {"labels": {"a": ""}}, "spec": {"selector": {"b": "", "c": "d"}}});
        assert_eq!(merge(&wanted, &json!({"metadata": {}, "spec": {}}), schema), after);
    }

    #[test]
    fn an_item_without_one_of_its_keys_is_an_item_of_its_own() {
        let found = json!({"items": [{"name": "a", "port": 1}, {"name": "a"}]});
        let after = json!({"items": [{"name": "a", "port": 1}, {"name": "a", "on": true}]});
        assert_eq!(merged_gauge(&json!({"items": [{"name": "a", "on": true}]}), &found), after);
    }

    #[test]
    fn of_several_live_items_with_one_key_none_is_merged() {
        let schema = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let pod = |env: Value| json!({"spec": {"containers": [{"name": "a", "env": env}]}});
        let live = pod(json!([{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A", "value": "2"}]));
        let after = merge(&pod(json!([{"name": "A"}])), &live, schema);
        assert_eq!(after, pod(json!([{"name": "A"}, {"name": "B"}])));
    }

    #[test]
    fn items_come_in_the_order_of_the_server() {
        for (wanted, found, order) in [
            ("a", "b", "ba"),
            ("ab", "axb", "axb"),
            ("anb", "axb", "axnb"),
            ("ba", "axb", "xba"),
            ("nab", "xab", "xnab"),
            ("abn", "abx", "abxn"),
            ("cab", "abc", "cab"),
        ] {
            assert_eq!(merged(wanted, found), order, "{wanted} over {found}");
        }
    }
}
