//! Predicts what an apply would leave without asking a server.

use serde_json::Value;

use crate::applier::Applier;
use crate::changes::changes;
use crate::merge::merge;
use crate::node_ports::with_node_ports;
use crate::object::{FieldPath, FieldSet, GroupVersionKind, ManagedFieldsEntry, Operation};
use crate::ownership::{Ownership, last_applied};
use crate::prune::prune;
use crate::schema::{self, KindInfo, TypeRef};
use crate::string_data::{with_string_data, with_string_data_folded};

/// An object as an apply would leave it, and who would own what.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The object.
    pub object: Value,
    /// Its owners.
    pub owners: Ownership,
}

/// Predicts an apply: merges the manifest over the live object by the rules of its type, and removes what the applier applied
/// before and the manifest no longer has.
#[must_use]
pub fn predict(
    manifest: &Value,
    live: &Value,
    of: TypeRef<'_>,
    kind: Option<&KindInfo>,
    applier: &(impl Applier + ?Sized),
) -> Prediction {
    predict_displacing(manifest, live, of, kind, applier, &FieldSet::new())
}

/// Predicts an apply that also removes fields of others which would make the server reject the result, once they have passed to
/// the applier.
#[must_use]
pub fn predict_displacing(
    manifest: &Value,
    live: &Value,
    of: TypeRef<'_>,
    kind: Option<&KindInfo>,
    applier: &(impl Applier + ?Sized),
    in_the_way: &FieldSet,
) -> Prediction {
    let api_version = manifest.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let claims = schema::field_set(manifest, of, kind);
    let before = Ownership::of(live, applier.manager());
    let settled = before
        .with_claims_transferred(live, of, &claims.clone().union(in_the_way), api_version, applier)
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
    let stays = with_string_data(&gvk, schema::fields_of(manifest, of), &[]);
    let mut applied_before = settled.our_fields();
    if let Some(last) = last_applied(live) {
        // The entry of client-side apply holds the server's defaults as well, which would come back.
        let last = schema::field_set(&last, of, kind).union(&before.our_fields());
        let last = with_string_data(&gvk, last, &[]);
        applied_before = applied_before.filter(|path| last.contains_at_or_below(path) || last.covers(path));
        applied_before = applied_before.union(in_the_way);
    }
    object = prune(&object, of, &applied_before, &settled.fields_of_others().union(&stays));
    // An update of a Namespace leaves its finalizers alone (`pkg/registry/core/namespace/strategy.go`).
    if let (true, Some(fields), Some(kept)) = (gvk.is_namespace(), object.as_object_mut(), live.get("spec")) {
        fields.insert("spec".to_owned(), kept.clone());
    }
    let changed: FieldSet = changes(live, &object, of, true).into_iter().map(|change| change.path).collect();
    let ours = ManagedFieldsEntry {
        manager: applier.manager().to_owned(),
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
    Prediction { object, owners: Ownership { ours: Some(ours), others, unreadable: Vec::new() } }
}
