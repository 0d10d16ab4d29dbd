//! What an apply would leave, worked out here: for comparisons without a server, and for the spelling of what is sent.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::diff::Evidence;
use super::node_ports::with_node_ports;
use super::owners::{Owners, Policy, last_applied, with_string_data};
use super::prune::prune;
use crate::object::{FieldPath, FieldSet, GroupVersionKind, ManagedFieldsEntry, Operation, PathElement};
use crate::schema::{
    self, KindInfo, ListKind, ScalarKind, TypeRef, equivalent_offline, is_default, item_element, items_by_element,
    semantically_equal,
};

/// An object as an apply would leave it, and who would own what.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The object.
    pub object: Value,
    /// Its owners.
    pub owners: Owners,
    /// What this rests on.
    pub evidence: Evidence,
    /// What manual changes alone own beside the manifest and goes with the apply, as the server would refuse both together.
    pub in_the_way: FieldSet,
}

/// Predicts an apply without the server: the manifest merged over the live object by the rules of its type, and what
/// the manifest dropped taken out.
#[must_use]
pub fn predict(
    manifest: &Value,
    live: &Value,
    of: TypeRef<'_>,
    kind: Option<&KindInfo>,
    policy: &Policy,
) -> Prediction {
    predict_without(manifest, live, of, kind, policy, FieldSet::new())
}

/// The same where fields that manual changes own are in the way, and go.
#[must_use]
pub(super) fn predict_without(
    manifest: &Value,
    live: &Value,
    of: TypeRef<'_>,
    kind: Option<&KindInfo>,
    policy: &Policy,
    in_the_way: FieldSet,
) -> Prediction {
    let api_version = manifest.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let claims = schema::field_set(manifest, of, kind);
    let before = Owners::of(live, &policy.manager);
    let settled = before
        .with_manual_claims_transferred(live, of, &claims.clone().union(&in_the_way), api_version, policy)
        .unwrap_or_else(|| before.clone());
    let mut object = merge(&with_node_ports(with_string_data_folded(manifest), live, of), live, of);
    for name in kind.map(KindInfo::resets).unwrap_or_default() {
        match (object.as_object_mut(), live.get(*name)) {
            (Some(fields), Some(kept)) => drop(fields.insert((*name).to_owned(), kept.clone())),
            (Some(fields), None) => drop(fields.remove(*name)),
            (None, _) => {}
        }
    }
    let gvk = GroupVersionKind::new(api_version, manifest.get("kind").and_then(Value::as_str).unwrap_or_default());
    let stays = with_string_data(&gvk, schema::fields_of(manifest, of), &Owners::default());
    let mut applied_before = settled.our_fields();
    if let Some(applied) = last_applied(live) {
        // The entry of client-side apply holds the server's defaults as well, which would come back.
        let applied = schema::field_set(&applied, of, kind).union(&before.our_fields());
        let applied = with_string_data(&gvk, applied, &Owners::default());
        applied_before = applied_before.filter(|path| applied.contains_at_or_below(path) || applied.covers(path));
        applied_before = applied_before.union(&in_the_way);
    }
    object = prune(&object, of, &applied_before, &settled.fields_of_others().union(&stays));
    // An update of a Namespace leaves its finalizers alone (`pkg/registry/core/namespace/strategy.go`).
    if let (true, Some(fields), Some(kept)) = (gvk.is_namespace(), object.as_object_mut(), live.get("spec")) {
        fields.insert("spec".to_owned(), kept.clone());
    }
    let changed: FieldSet = super::changes(live, &object, of, true).into_iter().map(|change| change.path).collect();
    let ours = ManagedFieldsEntry {
        manager: policy.manager.clone(),
        operation: Operation::Apply,
        api_version: api_version.to_owned(),
        subresource: String::new(),
        time: None,
        fields: claims,
    };
    // A map or list that only holds what is ours isn't.
    let is_ours = |path: &FieldPath| {
        ours.fields.contains(path) || !ours.fields.contains_at_or_below(path) && ours.fields.covers(path)
    };
    let keep = |entry: &ManagedFieldsEntry| -> ManagedFieldsEntry {
        let fields = entry.fields.filter(|path| !(is_ours(path) && changed.covers(path)));
        ManagedFieldsEntry { fields, ..entry.clone() }
    };
    let others = before.others.iter().map(keep).collect();
    Prediction {
        object,
        owners: Owners { ours: Some(ours), others, unreadable: Vec::new() },
        evidence: Evidence::Local,
        in_the_way,
    }
}

/// `stringData` of a Secret as `data`: what the server makes of it.
#[must_use]
pub(super) fn with_string_data_folded(manifest: &Value) -> Cow<'_, Value> {
    let text = |name: &str| manifest.get(name).and_then(Value::as_str).unwrap_or_default();
    if !GroupVersionKind::new(text("apiVersion"), text("kind")).is_secret() {
        return Cow::Borrowed(manifest);
    }
    let mut manifest = manifest.clone();
    if let Some(fields) = manifest.as_object_mut()
        && let Some(Value::Object(texts)) = fields.remove("stringData")
    {
        let data = fields.entry("data").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(data) = data {
            for (name, text) in texts {
                data.insert(name, encoded(text.as_str().unwrap_or_default()).into());
            }
        }
    }
    Cow::Owned(manifest)
}

/// A text of `stringData` as it stands in `data`.
pub(super) fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}

/// Merges a manifest over the live object. Where both mean the same, the live spelling stays.
pub(super) fn merge(manifest: &Value, live: &Value, of: TypeRef<'_>) -> Value {
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

/// A predicted object with the values of the manifest as they are written there, also those that the server leaves out as
/// empty: what it has to accept.
#[must_use]
pub(super) fn verbatim(manifest: &Value, object: &Value, of: TypeRef<'_>) -> Value {
    match (manifest, object) {
        (Value::Object(wanted), Value::Object(found)) if !of.is_atomic(manifest) => {
            let mut whole = found.clone();
            for (name, value) in wanted {
                let value =
                    found.get(name).map_or_else(|| value.clone(), |there| verbatim(value, there, of.field(name)));
                whole.insert(name.clone(), value);
            }
            Value::Object(whole)
        }
        (Value::Array(wanted), Value::Array(found)) if matches!(of.list_kind(), ListKind::Keyed(_)) => {
            let item = |there: &Value| {
                let element = item_element(there, of);
                let own = wanted.iter().find(|item| element.is_some() && item_element(item, of) == element);
                own.map_or_else(|| there.clone(), |own| verbatim(own, there, of.item()))
            };
            Value::Array(found.iter().map(item).collect())
        }
        (Value::Array(_), Value::Array(_)) if *of.list_kind() == ListKind::Set => object.clone(),
        // Merged with nothing, a map or list keeps what it has.
        (Value::Null, Value::Object(_) | Value::Array(_)) if !of.is_atomic(object) => object.clone(),
        _ => manifest.clone(),
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

/// Whether a value is replaced as a whole: a scalar, or an atomic map or list. A null keeps what is in any other.
fn is_one_value(value: &Value, of: TypeRef<'_>) -> bool {
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

/// The manifest in the live object's spelling wherever both mean the same: the server compares text, and `1000m` against
/// a co-owner's `1` would be a conflict although nothing differs.
#[must_use]
pub fn with_live_spelling(manifest: &Value, live: &Value, of: TypeRef<'_>) -> Value {
    spelled(&with_node_ports(Cow::Borrowed(manifest), live, of), live, of)
}

fn spelled(manifest: &Value, live: &Value, of: TypeRef<'_>) -> Value {
    match (manifest, live) {
        (Value::Object(wanted), Value::Object(found)) if !of.is_atomic(manifest) => {
            let field = |(name, value): (&String, &Value)| {
                let spelled =
                    found.get(name).map_or_else(|| value.clone(), |there| spelled(value, there, of.field(name)));
                (name.clone(), spelled)
            };
            Value::Object(wanted.iter().map(field).collect())
        }
        (Value::Array(wanted), Value::Array(found)) if matches!(of.list_kind(), ListKind::Keyed(_)) => {
            let found = items_by_element(found, of);
            let item = |item: &Value| {
                let there = item_element(item, of).and_then(|element| found.get(&element).copied());
                there.map_or_else(|| item.clone(), |there| spelled(item, there, of.item()))
            };
            Value::Array(wanted.iter().map(item).collect())
        }
        // Only what is one claim as a whole: the live value of anything else may claim more.
        _ if !manifest.is_null() && semantically_equal(manifest, live, of) && is_one_value(manifest, of) => {
            live.clone()
        }
        _ => manifest.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
