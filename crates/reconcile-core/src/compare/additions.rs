//! `--remove-added`: the fields and list items that hands added to an object, and that an apply takes out.
//!
//! ```text
//! a field that a chosen manager owns
//!     ├─ the manifest has it, or a rule ─▶ it is compared, or ignored, as ever
//!     ├─ another manager owns it, or a part of it ─▶ it stays; what only the chosen managers own in it goes
//!     └─ only the chosen managers own it ─▶ its claims pass to us, and the apply leaves it out
//! ```

use serde_json::Value;
use structured_merge::{
    ClaimStrength, FieldPath, FieldSet, LAST_APPLIED, ListKind, Lookup, ManagedFieldsEntry, ManagedObject,
    ObjectMeta as _, PathElement, Scalar, TypeRef, claim_strength, fields_last_applied, fields_of, item_element,
    owns_last_applied, with_string_data,
};

use super::known_defaults::usual_defaults;
use super::prediction::CompareContext;

/// The field manager of client-side `kubectl apply`.
pub(super) const CLIENT_SIDE_APPLY: &str = "kubectl-client-side-apply";

/// Beginning of the names of labels and annotations by which apply sets are found.
const APPLY_SETS: &str = "applyset.kubernetes.io/";
/// Beginning of the finalizers that the server and its controllers set.
const OF_SERVER: &str = "kubernetes.io/";

/// Tells what an owner added from what the server set for it.
pub(super) struct Additions<'a> {
    object: &'a Value,
    /// The fields in the copy of client-side apply.
    applied: Option<FieldSet>,
    schema: TypeRef<'a>,
}

impl<'a> Additions<'a> {
    pub fn of(object: &'a Value, schema: TypeRef<'a>) -> Self {
        Self { object, applied: fields_last_applied(object, schema), schema }
    }

    /// Returns true if an owner of a field added it. Client-side apply also owns the defaults that the server set in the objects that it
    /// created.
    pub fn has_added(&self, entry: &ManagedFieldsEntry, path: &FieldPath) -> bool {
        match &self.applied {
            // An empty map in that copy has nothing of what the server put into it.
            Some(applied) if owns_last_applied(&entry.fields) => {
                claim_strength(applied, path, self.schema) == ClaimStrength::Own
            }
            // Without the last-applied annotation, the fields that it applied have been transferred to us.
            None if entry.manager == CLIENT_SIDE_APPLY => self.object.annotation(LAST_APPLIED).is_some(),
            _ => true,
        }
    }
}

/// The claims on the fields that an apply takes out, with those on everything in them; empty unless the policy says so.
pub(super) fn to_remove(
    context: CompareContext<'_>,
    live: &ManagedObject,
    manifest: &Value,
    ignored: &FieldSet,
) -> FieldSet {
    let CompareContext { target, schema, policy, .. } = context;
    let ManagedObject { object, owners } = live;
    let is_removed = |entry: &ManagedFieldsEntry| policy.removes_additions_of(entry);
    if !owners.others.iter().any(is_removed) {
        return FieldSet::new();
    }
    let additions = Additions::of(object, schema);
    // Until the first apply, what client-side apply had is the former state of the manifest, and goes in any case.
    let is_former = |entry: &ManagedFieldsEntry| owners.ours.is_none() && owns_last_applied(&entry.fields);
    let added = owners.others.iter().filter(|entry| is_removed(entry) && !is_former(entry));
    let added = added
        .fold(FieldSet::new(), |all, entry| all.union(&entry.fields.filter(|path| additions.has_added(entry, path))));
    let stays = with_string_data(&target.key.gvk, fields_of(manifest, schema).union(&owners.our_fields()), &[]);
    let of_others = owners.others.iter().filter(|entry| !is_removed(entry));
    let kept = of_others.fold(stays, |all, entry| all.union(&entry.fields)).union(ignored);
    let mut values = Lookup::of(object);
    let mut found = FieldSet::new();
    added.visit(&mut |path, below| {
        let is_open = !found.contains_at_or_above(path) && !ignored.contains_at_or_above(path) && !is_kept(path);
        if !is_open || claim_strength(&kept, path, schema) == ClaimStrength::Own {
            return;
        }
        if values.value(path).is_some_and(|value| is_whole(value, path, below, schema)) {
            found.insert(path);
        }
    });
    let removed = |path: &FieldPath| found.contains_at_or_above(path);
    owners.others.iter().fold(FieldSet::new(), |all, entry| all.union(&entry.fields.filter(removed)))
}

/// Returns true for what identifies an object or one of its items, and for what the server and pruning depend on.
fn is_kept(path: &FieldPath) -> bool {
    match path.elements() {
        [.., PathElement::Key(keys), PathElement::Field(name)] => keys.iter().any(|(key, _)| key == name),
        [PathElement::Field(first)] => ["apiVersion", "kind", "metadata", "status"].contains(&first.as_str()),
        [PathElement::Field(first), ..] if first == "status" => true,
        [PathElement::Field(first), PathElement::Field(field)] if first == "metadata" => {
            ["name", "namespace", "generateName", "uid"].contains(&field.as_str())
        }
        [PathElement::Field(first), PathElement::Field(map), PathElement::Field(name)]
            if first == "metadata" && (map == "labels" || map == "annotations") =>
        {
            name.starts_with(APPLY_SETS) || name == LAST_APPLIED
        }
        [PathElement::Field(first), PathElement::Field(list), PathElement::Member(name)]
            if first == "metadata" && list == "finalizers" =>
        {
            matches!(name, Scalar::Text(name) if name.starts_with(OF_SERVER))
        }
        _ => false,
    }
}

/// Returns true if a value goes as a whole: every entry of a map, and every item of a list, has an owner who added it. Others were set by
/// the server.
fn is_whole(value: &Value, path: &FieldPath, below: &FieldSet, schema: TypeRef<'_>) -> bool {
    let schema = schema.at(path.elements());
    let is_added = |element: PathElement| below.step(&element).is_some() && !is_kept(&path.child(element));
    match value {
        Value::Object(entries) if schema.is_free_map() && !schema.is_atomic(value) => {
            entries.keys().all(|name| is_added(PathElement::Field(name.clone())))
        }
        Value::Array(items) if *schema.list_kind() != ListKind::Atomic => {
            items.iter().all(|item| item_element(item, schema).is_some_and(is_added))
        }
        _ => true,
    }
}

/// The claims without those on values that the server would set again, as far as that is known without it.
pub(super) fn without_defaults(removed: &FieldSet, live: &Value) -> FieldSet {
    let mut values = Lookup::of(live);
    let mut defaults = FieldSet::new();
    removed.visit(&mut |path, _| {
        let (Some(PathElement::Field(name)), Some(value)) = (path.elements().last(), values.value(path)) else {
            return;
        };
        if usual_defaults(name).contains(value) && !is_in_item(path, removed) {
            defaults.insert(path);
        }
    });
    removed.difference(&defaults)
}

/// Returns true if something around a field goes as well.
fn is_in_item(path: &FieldPath, removed: &FieldSet) -> bool {
    let above = path.elements().split_last().map(|(_, above)| FieldPath::from(above.to_vec()));
    above.is_some_and(|above| removed.contains_at_or_above(&above))
}
