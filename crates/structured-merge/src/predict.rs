//! Predicts the result of an apply without a server.
//!
//! A value is sent in the spelling of the live object, or in that of the manifest.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::allocations::with_kept_allocations;
use crate::comparison::compare;
use crate::kinds::{with_node_ports, with_string_data, with_string_data_folded};
use crate::last_applied::last_applied;
use crate::merge::{Values, is_one_value, merge_to};
use crate::object::{FieldSet, GroupVersionKind, ManagedFieldsEntry, ObjectMeta as _, Operation};
use crate::ownership::{ManagedObject, Ownership};
use crate::schema::{self, KindInfo, ListKind, TypeRef, item_element, items_by_element, semantically_equal};
use crate::subset::prune_to;
use crate::transfer::Applier;

/// Name of the owner that the server adds, for all fields, to an object without `managedFields` when it is applied first.
pub const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Predicts an apply: merges the manifest over the live object by the rules of its type, and removes what the applier
/// applied before and the manifest no longer has. `kind` is `None` for an unknown kind.
pub fn predict(
    manifest: &Value,
    live: &ManagedObject,
    schema: TypeRef<'_>,
    kind: Option<&KindInfo>,
    applier: &(impl Applier + ?Sized),
) -> ManagedObject {
    predict_displacing(manifest, live, schema, kind, applier, &FieldSet::new())
}

/// Predicts an apply that also removes `displaced`: fields of others that would make the server reject the result, and
/// whose claims have passed to the applier.
pub fn predict_displacing(
    manifest: &Value,
    ManagedObject { object: live, owners }: &ManagedObject,
    schema: TypeRef<'_>,
    kind: Option<&KindInfo>,
    applier: &(impl Applier + ?Sized),
    displaced: &FieldSet,
) -> ManagedObject {
    let api_version = manifest.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let claims = schema::field_set(manifest, schema, kind);
    let before = up_to_date(owners.clone(), schema);
    let settled = before
        .with_fields_displaced(live, schema, &claims, displaced, api_version, applier)
        .unwrap_or_else(|| before.clone());
    let gvk = GroupVersionKind::of(manifest);
    let invented = unrecorded(live, schema, kind, api_version);
    let mut applied_before = settled.our_fields();
    if let Some(last) = last_applied(live) {
        // The entry of client-side apply also has the server's defaults, which would come back.
        let own = before.ours.map(|entry| entry.fields).unwrap_or_default();
        let last = schema::field_set(&last, schema, kind).union(&own);
        let last = with_string_data(&gvk, last, &[]);
        applied_before = applied_before.filter(|path| last.contains_at_or_below(path) || last.covers(path));
        applied_before = applied_before.union(displaced);
    }
    let stays = schema::fields_of(manifest, schema);
    let unclaimed = invented.as_ref().map(|entry| entry.fields.clone()).unwrap_or_default();
    let managed = settled.fields_of_others().union(&stays).union(&unclaimed);
    let written = |values: Values, manifest: Cow<'_, Value>| {
        let manifest = with_node_ports(manifest, live, schema);
        let manifest = match values {
            Values::Served => with_kept_allocations(manifest, live, schema),
            Values::Sent => manifest,
        };
        let mut object = merge_to(values, &manifest, live, schema);
        for name in kind.map(KindInfo::resets).unwrap_or_default() {
            keep(name, live, &mut object);
        }
        object = prune_to(values, &object, schema, &applied_before, &managed);
        // An update of a Namespace keeps its `spec.finalizers` (`pkg/registry/core/namespace/strategy.go`).
        if gvk.is_namespace() && live.get("spec").is_some() {
            keep("spec", live, &mut object);
        }
        object
    };
    // The server moves `stringData` into `data` after it has pruned that.
    let object = with_string_data_folded(&written(Values::Served, Cow::Borrowed(manifest))).into_owned();
    // The server computes the lost fields from the values as they are sent.
    let sent = written(Values::Sent, as_sent(manifest, live, schema, applier));
    let changed = compare(live, &sent, schema);
    let taken = changed.added.union(&changed.modified);
    let taken_or_removed = taken.clone().union(&changed.removed);
    let left = |entry: ManagedFieldsEntry| {
        // Claims that pass to the applier are recorded for their former owner until then.
        let lost = if applier.takes_over(&entry) { &taken } else { &taken_or_removed };
        let fields = entry.fields.difference(lost);
        (!fields.is_empty()).then_some(ManagedFieldsEntry { fields, ..entry })
    };
    let others = before.others.into_iter().chain(invented).filter_map(left).collect();
    let ours = ManagedFieldsEntry::new(applier.manager(), Operation::Apply, api_version, claims);
    ManagedObject { object, owners: Ownership { ours: Some(ours), others, unreadable: Vec::new() } }
}

/// The owners with their fields in the form in which any write leaves them (structured-merge-diff `merge/update.go`,
/// `reconcileManagedFieldsWithSchemaChanges`).
fn up_to_date(mut owners: Ownership, schema: TypeRef<'_>) -> Ownership {
    owners.leave_out_repeated();
    for entry in owners.ours.iter_mut().chain(&mut owners.others) {
        entry.fields = schema::brought_up_to_date(&entry.fields, schema);
    }
    owners
}

/// Restores a field to its value in the live object.
fn keep(name: &str, live: &Value, object: &mut Value) {
    let Some(fields) = object.as_object_mut() else { return };
    match live.get(name) {
        Some(kept) => drop(fields.insert(name.to_owned(), kept.clone())),
        None => drop(fields.remove(name)),
    }
}

/// The owner that the server adds for all fields of an object without `managedFields` at its first apply: as if a
/// manager had set them in a new object of the Go type (apimachinery `managedfields/internal/skipnonapplied.go`).
pub fn unrecorded(
    live: &Value,
    schema: TypeRef<'_>,
    kind: Option<&KindInfo>,
    api_version: &str,
) -> Option<ManagedFieldsEntry> {
    if !live.raw_managed_fields().is_empty() {
        return None;
    }
    let new = kind.map_or_else(|| Value::Object(Map::new()), |kind| schema::new_object(&kind.gvk));
    let written = compare(&new, live, schema);
    let fields = schema::without_unowned(written.added.union(&written.modified), kind);
    (!fields.is_empty()).then(|| ManagedFieldsEntry::new(BEFORE_FIRST_APPLY, Operation::Update, api_version, fields))
}

/// The manifest as an applier sends it in an apply.
pub fn as_sent<'m>(
    manifest: &'m Value,
    live: &Value,
    schema: TypeRef<'_>,
    applier: &(impl Applier + ?Sized),
) -> Cow<'m, Value> {
    if applier.sends_as_written() {
        Cow::Borrowed(manifest)
    } else {
        Cow::Owned(with_live_spelling(manifest, live, schema))
    }
}

/// The manifest in the live object's spelling wherever both have the same meaning. The server compares text: `1000m`
/// against a co-owner's `1` would be a conflict although nothing differs.
pub fn with_live_spelling(manifest: &Value, live: &Value, schema: TypeRef<'_>) -> Value {
    spelled(&with_node_ports(Cow::Borrowed(manifest), live, schema), live, schema)
}

fn spelled(manifest: &Value, live: &Value, schema: TypeRef<'_>) -> Value {
    match (manifest, live) {
        (Value::Object(wanted), Value::Object(found)) if !schema.is_atomic(manifest) => {
            let field = |(name, value): (&String, &Value)| {
                let spelled =
                    found.get(name).map_or_else(|| value.clone(), |there| spelled(value, there, schema.field(name)));
                (name.clone(), spelled)
            };
            Value::Object(wanted.iter().map(field).collect())
        }
        (Value::Array(wanted), Value::Array(found)) if let ListKind::Keyed(keys) = schema.list_kind() => {
            let found = items_by_element(found, schema);
            let item = |item: &Value| {
                let there = item_element(item, schema).and_then(|element| found.get(&element).copied());
                let spelled = there.map(|there| spelled(item, there, schema.item()));
                // The server leaves out an empty key, and rejects an item without it.
                let has_keys =
                    |spelled: &Value| keys.iter().all(|key| item.get(key).is_none() || spelled.get(key).is_some());
                spelled.filter(has_keys).unwrap_or_else(|| item.clone())
            };
            Value::Array(wanted.iter().map(item).collect())
        }
        // Only values that are one claim: the live value of any other may claim more fields.
        _ if !manifest.is_null() && semantically_equal(manifest, live, schema) && is_one_value(manifest, schema) => {
            live.clone()
        }
        _ => manifest.clone(),
    }
}

/// A predicted object with the values of the manifest as they are written there, including those that the server leaves
/// out as empty: this is the object that it validates.
pub fn verbatim(manifest: &Value, object: &Value, schema: TypeRef<'_>) -> Value {
    match (manifest, object) {
        (Value::Object(wanted), Value::Object(found)) if !schema.is_atomic(manifest) => {
            let mut whole = found.clone();
            for (name, value) in wanted {
                let value =
                    found.get(name).map_or_else(|| value.clone(), |there| verbatim(value, there, schema.field(name)));
                whole.insert(name.clone(), value);
            }
            Value::Object(whole)
        }
        (Value::Array(wanted), Value::Array(found)) if matches!(schema.list_kind(), ListKind::Keyed(_)) => {
            let wanted = items_by_element(wanted, schema);
            let item = |there: &Value| {
                let own = item_element(there, schema).and_then(|element| wanted.get(&element).copied());
                own.map_or_else(|| there.clone(), |own| verbatim(own, there, schema.item()))
            };
            Value::Array(found.iter().map(item).collect())
        }
        (Value::Array(_), Value::Array(_)) if *schema.list_kind() == ListKind::Set => object.clone(),
        // A null merges as an empty value: a map or list keeps its entries.
        (Value::Null, Value::Object(_) | Value::Array(_)) if !schema.is_atomic(object) => object.clone(),
        _ => manifest.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::builtin;
    use serde_json::json;

    fn config_map(data: &Value, entries: &Value) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": entries}, "data": data})
    }

    fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    /// The fields of others after an apply by `us`.
    #[track_caller]
    fn others(manifest: &Value, live: &Value) -> Vec<(String, Value)> {
        let text = |name: &str| manifest[name].as_str().unwrap();
        let gvk = GroupVersionKind::new(text("apiVersion"), text("kind"));
        let schema = builtin().object(&gvk).unwrap();
        let live = ManagedObject::new(live.clone(), "us");
        let after = predict(manifest, &live, schema, builtin().kind(&gvk), "us");
        after.owners.others.iter().map(|entry| (entry.manager.clone(), entry.fields.to_fields_v1())).collect()
    }

    #[test]
    fn what_is_there_without_a_record_gets_an_owner_that_keeps_what_does_not_change() {
        let live = config_map(&json!({"a": "1", "b": "2"}), &json!([]));
        let manifest = config_map(&json!({"a": "x"}), &json!(null));
        let left = json!({"f:data": {".": {}, "f:b": {}}});
        assert_eq!(others(&manifest, &live), [("before-first-apply".to_owned(), left)]);
    }

    #[test]
    fn what_a_new_object_of_the_go_type_has_gets_no_owner() {
        let owned = |api_version: &str, kind: &str, spec: &Value| {
            let live = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec});
            let gvk = GroupVersionKind::new(api_version, kind);
            let schema = builtin().object(&gvk).unwrap();
            let entry = unrecorded(&live, schema, builtin().kind(&gvk), api_version);
            entry.map_or(Value::Null, |entry| entry.fields.to_fields_v1())
        };
        assert_eq!(owned("v1", "LimitRange", &json!({"limits": null})), json!(null));
        assert_eq!(owned("v1", "LimitRange", &json!({"limits": []})), json!({"f:spec": {"f:limits": {}}}));
        assert_eq!(owned("networking.k8s.io/v1", "NetworkPolicy", &json!({"podSelector": {}})), json!(null));
        // A pointer.
        let selector = json!({"f:spec": {"f:selector": {}}});
        assert_eq!(owned("policy/v1", "PodDisruptionBudget", &json!({"selector": {}})), selector);
        // The new object already has the list, without items.
        let containers = json!({"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}}}}});
        assert_eq!(owned("v1", "Pod", &json!({"containers": [{"name": "a"}]})), containers);
    }

    #[test]
    fn another_owner_loses_what_changes_and_what_is_removed() {
        let theirs = entry("them", "Update", &json!({"f:data": {"f:a": {}, "f:b": {}}}));
        let live = config_map(&json!({"a": "1", "b": "2"}), &json!([theirs]));
        let manifest = config_map(&json!({"a": "x", "b": "2"}), &json!(null));
        assert_eq!(others(&manifest, &live), [("them".to_owned(), json!({"f:data": {"f:b": {}}}))]);
        // The map is removed together with our last entry in it.
        let ours = entry("us", "Apply", &json!({"f:data": {"f:a": {}}}));
        let theirs = entry("them", "Update", &json!({"f:data": {".": {}}, "f:immutable": {}}));
        let mut live = config_map(&json!({"a": "1"}), &json!([ours, theirs]));
        live["immutable"] = json!(false);
        let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        let kept = json!({"f:data": {}, "f:immutable": {}});
        assert_eq!(others(&manifest, &live), [("them".to_owned(), kept)]);
    }

    #[test]
    fn an_old_record_is_in_the_new_form_afterwards() {
        let theirs = entry("them", "Update", &json!({"f:spec": {"f:selector": {".": {}, "f:app": {}}}}));
        let live = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "managedFields": [theirs]},
            "spec": {"selector": {"app": "a"}}});
        let manifest = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "labels": {"a": "b"}}});
        assert_eq!(others(&manifest, &live), [("them".to_owned(), json!({"f:spec": {"f:selector": {}}}))]);
    }

    #[test]
    fn of_several_entries_of_one_owner_the_last_counts() {
        let theirs = |key: &str| entry("them", "Update", &json!({"f:data": {(format!("f:{key}")): {}}}));
        let live = config_map(&json!({"a": "1", "b": "2"}), &json!([theirs("a"), theirs("b")]));
        let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        assert_eq!(others(&manifest, &live), [("them".to_owned(), json!({"f:data": {"f:b": {}}}))]);
    }

    #[test]
    fn the_texts_of_a_secret_take_no_data_from_others() {
        let theirs = entry("them", "Apply", &json!({"f:data": {"f:a": {}}}));
        let live = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "managedFields": [theirs]}, "data": {"a": "YQ=="}});
        let manifest =
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"a": "b"}});
        assert_eq!(others(&manifest, &live), [("them".to_owned(), json!({"f:data": {"f:a": {}}}))]);
    }
}
