//! The fields that other managers added: they own them, and neither we nor the manifest have them.

use std::cell::OnceCell;

use serde_json::{Map, Value};
use structured_merge::{
    Change, ClaimStrength, FieldPath, FieldSet, LAST_APPLIED, Lookup, ManagedFieldsEntry, Op, PathElement,
    claim_strength, made_fields, without_fields,
};

use super::Classifier;
use super::conflicts::values_of;
use crate::compare::additions::Additions;
use crate::compare::diff::{Class, FieldChange};
use crate::compare::known_defaults::is_known_default;

impl Classifier<'_> {
    /// The fields of others that are no additions, each with everything below it: rules ignore them, or only the server writes them. A
    /// value is one of them if all that others own of it is.
    pub fn left_out(&self) -> FieldSet {
        let made = made_fields(&self.context.target.key.gvk);
        let left_out = self.live.ignored.clone().union(&made);
        let mut whole = FieldSet::new();
        if !left_out.is_empty() {
            collect_whole(&self.fields_of_others(), &left_out, &FieldPath::root(), &mut whole);
        }
        left_out.union(&whole)
    }

    /// The fields that other managers own, without those of `status`.
    fn fields_of_others(&self) -> FieldSet {
        let of_objects = self.before().others.iter().filter(|entry| entry.subresource != "status");
        of_objects.fold(FieldSet::new(), |theirs, entry| theirs.union(&entry.fields))
    }

    /// The fields that other managers added, without those that are left out. Client-side apply also owns the defaults that the server set
    /// in the objects that it created; it did not add those.
    pub fn unmanaged(
        &self,
        object: &Value,
        live: &mut Lookup<'_>,
        found: &[FieldChange],
        left_out: &FieldSet,
    ) -> Vec<FieldChange> {
        let mut known = values_of(found);
        known.insert(&FieldPath::of(&["status"]));
        let copy = FieldPath::of(&["metadata", "annotations", LAST_APPLIED]);
        let is_ours = |path: &FieldPath| {
            [&self.ours_before, &self.ours_after]
                .into_iter()
                .any(|ours| claim_strength(ours, path, self.schema()) == ClaimStrength::Own)
        };
        let additions = Additions::of(object, self.schema());
        let rest: OnceCell<Value> = OnceCell::new();
        let mut unmanaged: Vec<FieldChange> = Vec::new();
        self.fields_of_others().visit(&mut |path, _| {
            // A map of which the entries go.
            let goes = self.live.removed.contains(path) && known.overlaps(path);
            let is_known = known.contains_at_or_above(path) || left_out.contains_at_or_above(path);
            if is_ours(path) || goes || is_known || path.overlaps(&copy) {
                return;
            }
            let (_, mut added_by) = self.claimants.best(path, self.schema());
            added_by.retain(|entry| additions.has_added(entry, path) && goes_beyond(entry, path, left_out));
            let Some(value) = live.value(path) else { return };
            if self.is_set_by_server(path, value, live) {
                added_by.retain(|entry| !self.context.policy.adds_manually(&self.context.policy.owner(entry)));
            }
            if added_by.is_empty() || have_different_parts(&added_by, path) {
                return;
            }
            let without = || rest.get_or_init(|| without_fields(object, left_out, self.schema()));
            let is_whole = !left_out.contains_at_or_below(path);
            let Some(value) = (if is_whole { Some(value) } else { path.value_in(without()) }) else { return };
            known.insert(path);
            let mut managers = self.context.policy.owners(added_by);
            for owner in &mut managers {
                owner.manual = self.context.policy.adds_manually(owner);
            }
            let added = Change { path: path.clone(), op: Op::Add, from: Some(value.clone()), to: None };
            unmanaged.push(FieldChange::new(added, Class::Unmanaged).with_managers(managers));
        });
        unmanaged
    }

    /// Returns true if a field inside of what the manifest has is a key of an item, or has the default that the server gives it there. Who
    /// added the value around it by hand, before the manifest had it, owns it still.
    fn is_set_by_server(&self, path: &FieldPath, value: &Value, live: &mut Lookup<'_>) -> bool {
        let Some((PathElement::Field(name), above)) = path.elements().split_last() else { return false };
        let around = FieldPath::from(above.to_vec());
        if above.is_empty() || !self.ours_after.contains_at_or_below(&around) {
            return false;
        }
        let is_key = matches!(above.last(), Some(PathElement::Key(keys)) if keys.iter().any(|(key, _)| key == name));
        let siblings = live.value(&around).and_then(Value::as_object);
        is_key || is_known_default(value, name, siblings.unwrap_or(&Map::new()), self.schema().at(above))
    }
}

/// Returns true if owners of a value own different entries, fields or items of it: each of these is an addition of its own.
fn have_different_parts(owners: &[&ManagedFieldsEntry], path: &FieldPath) -> bool {
    owners.iter().zip(owners.iter().skip(1)).any(|(one, next)| !parts(one, path).eq(parts(next, path)))
}

fn parts<'e>(entry: &'e ManagedFieldsEntry, path: &FieldPath) -> impl Iterator<Item = &'e PathElement> {
    entry.fields.below(path).into_iter().flat_map(FieldSet::nodes).map(|(element, ..)| element)
}

/// Returns true if an owner has more of a value than what is left out.
fn goes_beyond(entry: &ManagedFieldsEntry, path: &FieldPath, left_out: &FieldSet) -> bool {
    let (Some(parts), Some(left_out)) = (entry.fields.below(path), left_out.below(path)) else { return true };
    parts.is_empty() || parts.leaves().iter().any(|leaf| !left_out.contains_at_or_above(leaf))
}

/// Collects the values of which everything that others own is left out. Returns true if that is so of all of them.
fn collect_whole(theirs: &FieldSet, left_out: &FieldSet, at: &FieldPath, whole: &mut FieldSet) -> bool {
    let mut is_all = true;
    for (element, _, below) in theirs.nodes() {
        let path = at.child(element.clone());
        let is_left_out = match left_out.step(element) {
            None => false,
            Some((true, _)) => true,
            Some((false, parts)) => !below.is_empty() && collect_whole(below, parts, &path, whole),
        };
        if is_left_out {
            whole.insert(&path);
        }
        is_all &= is_left_out;
    }
    is_all
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use structured_merge::Ownership;

    use super::*;

    fn fields(value: &Value) -> FieldSet {
        FieldSet::from_fields_v1(value).unwrap()
    }

    #[test]
    fn a_value_is_left_out_with_everything_that_others_own_of_it() {
        let item = |name: &str| format!("k:{{\"name\":\"{name}\"}}");
        let theirs = fields(&json!({"f:metadata": {"f:labels": {".": {}, "f:a": {}, "f:b": {}}},
            "f:spec": {"f:env": {".": {}, item("q"): {".": {}, "f:name": {}, "f:value": {}}}}}));
        let left_out = fields(&json!({"f:metadata": {"f:labels": {"f:a": {}}},
            "f:spec": {"f:env": {item("q"): {"f:name": {}, "f:value": {}}}}}));
        let mut whole = FieldSet::new();
        assert!(!collect_whole(&theirs, &left_out, &FieldPath::root(), &mut whole));
        assert!(!whole.contains(&FieldPath::of(&["metadata", "labels"])), "it has another label");
        assert!(whole.contains(&FieldPath::of(&["metadata", "labels", "a"])));
        assert!(whole.contains(&FieldPath::of(&["spec", "env"])));
    }

    #[test]
    fn an_owner_adds_a_value_if_more_of_it_is_theirs_than_what_is_left_out() {
        let labels = FieldPath::of(&["metadata", "labels"]);
        let left_out = fields(&json!({"f:metadata": {"f:labels": {"f:a": {}}}}));
        let adds = |claims: Value| {
            let entry = json!({"manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:metadata": claims}});
            let owners = Ownership::of(&json!({"metadata": {"managedFields": [entry]}}), "us");
            goes_beyond(&owners.others[0], &labels, &left_out)
        };
        assert!(!adds(json!({"f:labels": {".": {}, "f:a": {}}})));
        assert!(adds(json!({"f:labels": {".": {}, "f:a": {}, "f:b": {}}})));
        assert!(adds(json!({"f:labels": {}})), "the whole value");
        assert!(adds(json!({"f:annotations": {}})), "a value around it");
    }
}
