//! Merges a manifest over the live object, as structured-merge-diff does (`typed/merge.go`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::object::PathElement;
use crate::schema::{self, ListKind, ScalarKind, TypeRef, equivalent_offline, is_default, item_element};

/// Merges a manifest over the live object. Where both mean the same, the live spelling stays.
#[must_use]
pub fn merge(manifest: &Value, live: &Value, of: TypeRef<'_>) -> Value {
    match (manifest, live) {
        (Value::Null, _) => live.clone(),
        (Value::Object(wanted), Value::Object(found)) if !of.is_atomic(manifest) => {
            // What is merged further down isn't copied here as well, level by level.
            let others = found.iter().filter(|(name, _)| !wanted.contains_key(*name));
            let mut merged: Map<String, Value> = others.map(|(name, there)| (name.clone(), there.clone())).collect();
            for (name, value) in wanted {
                match found.get(name) {
                    Some(there) if value.is_null() && (there.is_null() || !is_one_value(there, of.field(name))) => {
                        merged.insert(name.clone(), there.clone());
                    }
                    _ if value.is_null() => emptied(&mut merged, name, of),
                    Some(there) => drop(merged.insert(name.clone(), merge(value, there, of.field(name)))),
                    None if schema::is_omitted_when_empty(value, name, of) => {}
                    None => drop(merged.insert(name.clone(), value.clone())),
                }
            }
            Value::Object(merged)
        }
        (Value::Array(wanted), Value::Array(found)) if *of.list_kind() != ListKind::Atomic => {
            merge_items(wanted, found, of).map_or_else(|| manifest.clone(), Value::Array)
        }
        _ if equivalent_offline(manifest, live, of) => live.clone(),
        _ => completed(manifest, live, of),
    }
}

/// A value that is replaced as a whole, with the defaults that the live one has in the same places.
fn completed(manifest: &Value, live: &Value, of: TypeRef<'_>) -> Value {
    match (manifest, live) {
        (Value::Object(wanted), Value::Object(found)) => {
            let defaults =
                found.iter().filter(|(name, there)| !wanted.contains_key(*name) && is_default(there, name, of));
            let defaults = defaults.map(|(name, there)| (name.clone(), there.clone()));
            let wanted = wanted.iter().map(|(name, value)| {
                let there = found.get(name).unwrap_or(&Value::Null);
                (name.clone(), completed(value, there, of.field(name)))
            });
            wanted.chain(defaults).collect()
        }
        (Value::Array(wanted), Value::Array(found)) => {
            let there = found.iter().chain(std::iter::repeat(&Value::Null));
            wanted.iter().zip(there).map(|(item, there)| completed(item, there, of.item())).collect()
        }
        _ => manifest.clone(),
    }
}

/// Returns true if a value is replaced as a whole: a scalar, or an atomic map or list. A null keeps what is in any other.
pub(crate) fn is_one_value(value: &Value, of: TypeRef<'_>) -> bool {
    !(value.is_object() || value.is_array()) || of.is_atomic(value)
}

/// What a null makes of a field: an entry of a map of texts is empty then, and anything else takes its default.
fn emptied(map: &mut Map<String, Value>, name: &str, of: TypeRef<'_>) {
    if of.is_free_map() && of.field(name).scalar() == ScalarKind::Text {
        map.insert(name.to_owned(), Value::from(""));
    } else if let Some(default) = of.default_of(name).filter(|default| default.as_str() != Some("")) {
        map.insert(name.to_owned(), default.clone());
    } else {
        map.remove(name);
    }
}

/// Live items stay where they are, and new ones come behind them where the manifest has them, unless shared items stand in another
/// order in the manifest, which then holds (structured-merge-diff `typed/merge.go`, `visitListItems`).
fn merge_items(wanted: &[Value], found: &[Value], of: TypeRef<'_>) -> Option<Vec<Value>> {
    let elements = |items: &[Value]| items.iter().map(|item| item_element(item, of)).collect::<Option<Vec<_>>>();
    let (wanted_keys, found_keys) = (elements(wanted)?, elements(found)?);
    let there: BTreeMap<&PathElement, &Value> = found_keys.iter().zip(found).rev().collect();
    let in_manifest: BTreeSet<&PathElement> = wanted_keys.iter().collect();
    let mut shared = wanted_keys.iter().filter(|key| there.contains_key(*key));
    let mut next_shared = shared.next();
    let mut done: BTreeSet<&PathElement> = BTreeSet::new();
    let mut result = Vec::with_capacity(wanted.len() + found.len());
    let mut live = found_keys.iter().zip(found).peekable();
    let mut own = wanted_keys.iter().zip(wanted).peekable();
    while live.peek().is_some() || own.peek().is_some() {
        if let Some((key, item)) = live.peek().copied() {
            let is_next = own.peek().is_some_and(|(next, _)| *next == key);
            if !in_manifest.contains(key) {
                result.push(item.clone());
                live.next();
                continue;
            }
            let is_out_of_turn = own.peek().is_some() && next_shared.is_some_and(|next| next != key);
            if is_next || is_out_of_turn || done.contains(key) {
                live.next();
            }
            if !is_next && is_out_of_turn {
                continue;
            }
        }
        if let Some((key, item)) = own.next() {
            done.insert(key);
            result.push(there.get(key).map_or_else(|| item.clone(), |there| merge(item, there, of.item())));
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
        let of = builtin().object(&GroupVersionKind::new("v1", "Pod")).unwrap();
        let pod = |names: &str| {
            let items: Vec<Value> = names.chars().map(|name| json!({"name": name.to_string()})).collect();
            json!({"spec": {"containers": items}})
        };
        let merged = merge(&pod(wanted), &pod(found), of);
        let items = merged["spec"]["containers"].as_array().unwrap().clone();
        items.iter().filter_map(|item| item["name"].as_str()).collect()
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
