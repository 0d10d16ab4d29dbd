//! The owners that an object's `managedFields` name, and the claims that pass from one owner to another.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::changes::{Change, Op, changes};
use crate::claimants::{ClaimStrength, claim_strength};
use crate::kinds::{with_string_data, with_string_data_folded};
use crate::merge::merge;
use crate::object::{
    FieldPath, FieldSet, GroupVersionKind, LAST_APPLIED, ManagedFieldsEntry, ObjectMeta as _, Operation, PathElement,
    managed_fields_for, read_managed_fields,
};
use crate::schema::{self, ListKind, Shape, TypeRef};

/// The owners of an object: our own entry, and the entries of all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ownership {
    /// Our Apply entry.
    pub ours: Option<ManagedFieldsEntry>,
    /// All other entries, in the API's order.
    pub others: Vec<ManagedFieldsEntry>,
    /// The managers of entries that cannot be read. If there is one, the ownership of the object is unknown.
    pub unreadable: Vec<String>,
}

/// The fields that one owner loses.
#[derive(Clone, Debug)]
pub struct LostFields<'a> {
    /// Entry of the owner.
    pub entry: &'a ManagedFieldsEntry,
    /// The fields, in the version of the entry.
    pub fields: FieldSet,
}

impl<'a> LostFields<'a> {
    /// The lost fields that are in `ours`, or above a path in it.
    pub fn taken_by(&self, ours: &FieldSet) -> Vec<(FieldPath, &'a ManagedFieldsEntry)> {
        let mut taken = Vec::new();
        self.fields.visit(&mut |path, _| {
            if ours.contains_at_or_below(path) {
                taken.push((path.clone(), self.entry));
            }
        });
        taken
    }
}

impl Ownership {
    /// Reads the owners of an object; `manager` is us.
    pub fn of(object: &Value, manager: &str) -> Self {
        let is_ours = |entry: &ManagedFieldsEntry| {
            entry.manager == manager && entry.operation == Operation::Apply && entry.subresource.is_empty()
        };
        let (entries, unreadable) = read_managed_fields(object);
        let (mut ours, others) = entries.into_iter().partition::<Vec<_>, _>(is_ours);
        Self { ours: ours.pop(), others, unreadable }
    }

    /// All entries that can be read: our own, and those of all others.
    pub fn entries(&self) -> impl Iterator<Item = &ManagedFieldsEntry> {
        self.ours.iter().chain(&self.others)
    }

    /// The fields that we own.
    pub fn our_fields(&self) -> FieldSet {
        self.ours.as_ref().map(|entry| entry.fields.clone()).unwrap_or_default()
    }

    /// The conflicts of a change to `after`, as the server would name them: the fields that others lose because we take
    /// them. These are the paths that an entry loses, and that are in our entry afterwards or above a path in it.
    pub fn taken(&self, after: &Self) -> Vec<(FieldPath, &ManagedFieldsEntry)> {
        let ours = after.our_fields();
        self.lost(after).iter().flat_map(|lost| lost.taken_by(&ours)).collect()
    }

    /// All fields that others lose in a change to `after`, because we take them or because they are removed.
    pub fn lost(&self, after: &Self) -> Vec<LostFields<'_>> {
        let kept: BTreeMap<_, &FieldSet> =
            after.others_that_count().map(|entry| (entry.identity(), &entry.fields)).collect();
        let lost = |entry: &ManagedFieldsEntry| match kept.get(&entry.identity()) {
            Some(kept) => entry.fields.difference(kept),
            None => entry.fields.clone(),
        };
        self.others_that_count().map(|entry| LostFields { entry, fields: lost(entry) }).collect()
    }

    /// The entries of others that the server uses: if one owner has several entries, the last one (apimachinery
    /// `managedfields/internal/managedfields.go`, `decodeManagedFields`).
    fn others_that_count(&self) -> impl Iterator<Item = &ManagedFieldsEntry> {
        let last = self.last_of_each();
        self.others.iter().enumerate().filter(move |(index, _)| last.contains(index)).map(|(_, entry)| entry)
    }

    /// Removes the entries of others that the server does not use.
    pub(crate) fn leave_out_repeated(&mut self) {
        let last = self.last_of_each();
        let mut index = 0..;
        self.others.retain(|_| index.next().is_some_and(|index| last.contains(&index)));
    }

    fn last_of_each(&self) -> BTreeSet<usize> {
        let last: BTreeMap<_, usize> =
            self.others.iter().enumerate().map(|(index, entry)| (entry.identity(), index)).collect();
        last.into_values().collect()
    }

    /// Ownership after the claims that the applier takes over have passed to it, on its own fields and on those of the
    /// manifest; `None` if no claim passes. If such an owner is client-side apply, and the applier owns nothing yet,
    /// the fields that were last applied to the `live` object pass as well: they are the former state of the manifest.
    pub fn with_claims_transferred(
        &self,
        live: &Value,
        schema: TypeRef<'_>,
        manifest: &FieldSet,
        api_version: &str,
        applier: &(impl Applier + ?Sized),
    ) -> Option<Self> {
        self.with_fields_displaced(live, schema, manifest, &FieldSet::new(), api_version, applier)
    }

    /// Transfers the fields of the manifest and the `displaced` ones to the applier: other owners lose them, and those without an owner
    /// become its own, so that an apply that leaves them out removes them.
    pub fn with_fields_displaced(
        &self,
        live: &Value,
        schema: TypeRef<'_>,
        manifest: &FieldSet,
        displaced: &FieldSet,
        api_version: &str,
        applier: &(impl Applier + ?Sized),
    ) -> Option<Self> {
        // Fields may have other names in another version; the apply itself first converts our entry to this version.
        let other_version = self.ours.as_ref().is_some_and(|entry| entry.api_version != api_version);
        if other_version {
            return None;
        }
        let claimed = self.our_fields().union(manifest).union(displaced);
        let mut passing = displaced.clone();
        let mut others = Vec::new();
        let mut time = None;
        for entry in &self.others {
            if !applier.takes_over(entry) {
                let fields = entry.fields.difference(displaced);
                if !fields.is_empty() {
                    others.push(ManagedFieldsEntry { fields, ..entry.clone() });
                }
                continue;
            }
            // Across versions, fields of the same name are the same field.
            let is_former = self.ours.is_none() && owns_last_applied(&entry.fields);
            let pass = if is_former && entry.api_version == api_version {
                fields_applied(&entry.fields, live, schema, &claimed)
            } else if applier.adopts(entry) {
                // What it wrote into `data` of a Secret is the value of a text that the applier has.
                entry.fields.intersection(&with_string_data(&GroupVersionKind::of(live), claimed.clone(), &[]))
            } else {
                entry.fields.intersection(&claimed)
            };
            let left = entry.fields.difference(&pass);
            let left = if is_former { without_parents(left, &pass) } else { left };
            if !pass.is_empty() {
                time = time.max(entry.time.clone());
            }
            passing = passing.union(&pass);
            if !left.is_empty() {
                others.push(ManagedFieldsEntry { fields: left, ..entry.clone() });
            }
        }
        if passing.is_empty() {
            return None;
        }
        let ours = match &self.ours {
            Some(entry) => ManagedFieldsEntry { fields: entry.fields.clone().union(&passing), ..entry.clone() },
            None => ManagedFieldsEntry {
                time,
                ..ManagedFieldsEntry::new(applier.manager(), Operation::Apply, api_version, passing)
            },
        };
        Some(Self { ours: Some(ours), others, unreadable: Vec::new() })
    }

    /// The fields at a path and below it that others own.
    pub fn fields_of_others_at(&self, at: &FieldPath) -> FieldSet {
        let owned = self.others.iter().filter(|entry| entry.fields.contains_at_or_below(at));
        owned.fold(FieldSet::new(), |all, entry| all.union(&entry.fields.filter(|path| at.is_prefix_of(path))))
    }

    /// The owners with every record under one API version, for a server that cannot convert the object to the others: fields keep their
    /// names there. Records of one owner become one.
    pub fn under(&self, api_version: &str) -> Self {
        let renamed =
            |entry: &ManagedFieldsEntry| ManagedFieldsEntry { api_version: api_version.to_owned(), ..entry.clone() };
        let mut others: Vec<ManagedFieldsEntry> = Vec::with_capacity(self.others.len());
        for entry in self.others.iter().map(renamed) {
            match others.iter_mut().find(|other| other.identity() == entry.identity()) {
                Some(other) => {
                    other.fields = std::mem::take(&mut other.fields).union(&entry.fields);
                    other.time = other.time.take().max(entry.time);
                }
                None => others.push(entry),
            }
        }
        Self { ours: self.ours.as_ref().map(renamed), others, unreadable: self.unreadable.clone() }
    }

    /// Returns true if an owner that the applier adopts claims one of these fields.
    pub fn is_adopting(&self, claims: &FieldSet, applier: &(impl Applier + ?Sized)) -> bool {
        let adopted = self.others.iter().filter(|entry| applier.adopts(entry));
        adopted.into_iter().any(|entry| !entry.fields.intersection(claims).is_empty())
    }

    /// All fields that others own.
    pub fn fields_of_others(&self) -> FieldSet {
        self.others.iter().fold(FieldSet::new(), |fields, entry| fields.union(&entry.fields))
    }

    /// Writes `metadata.managedFields` for an update of an object. Entries that do not change stay exactly as they are
    /// there.
    pub fn to_json(&self, object: &Value) -> Value {
        managed_fields_for(object, self.entries())
    }
}

/// The fields that client-side apply owns of the manifest it last applied, and of `claimed`. If it created the object,
/// its entry has more fields: the server's defaults, and values that admission added (the limits of a `LimitRange`),
/// which no manifest ever had. Those are only removed together with everything that the manifest had around them. If
/// the copy of the manifest cannot be read, no field is assumed to be from it, so that nothing is removed that another
/// manager may have added (client-go `csaupgrade.UpgradeManagedFields` takes over everything in any case).
fn fields_applied(fields: &FieldSet, live: &Value, schema: TypeRef<'_>, claimed: &FieldSet) -> FieldSet {
    let applied = fields_last_applied(live, schema).unwrap_or_default();
    let claimed = with_string_data(&GroupVersionKind::of(live), claimed.clone(), &[]);
    let copy = FieldPath::of(&["metadata", "annotations", LAST_APPLIED]);
    let mut passing = FieldSet::new();
    fields.visit(&mut |path, below| {
        // An empty map in the manifest does not include the entries that admission added to it.
        let is_applied = below.is_empty() && applied.contains(path);
        if is_applied || claimed.contains(path) || *path == copy || is_dropped(path, schema, &applied, &claimed) {
            passing.insert(path);
        }
    });
    passing
}

/// The rest of an owner's fields after some of them have passed on: nothing, if only maps and lists around those are left. Such an
/// entry would own nothing of its own (`f:data: {}`) for as long as the object exists.
fn without_parents(left: FieldSet, passed: &FieldSet) -> FieldSet {
    let mut has_own = false;
    left.visit(&mut |path, _| has_own |= !passed.contains_at_or_below(path));
    if has_own { left } else { FieldSet::new() }
}

/// Returns true if a path is in a value (an item, a struct, a scalar) that `applied` covers and `claimed` does not.
/// Entries of maps and items of lists are separate values, and so is each field of the object's own metadata, as every
/// manifest has metadata.
fn is_dropped(path: &FieldPath, schema: TypeRef<'_>, applied: &FieldSet, claimed: &FieldSet) -> bool {
    let metadata = FieldPath::of(&["metadata"]);
    let nothing = FieldSet::new();
    let mut schema = schema;
    let mut applied = applied;
    let mut claimed = Some(claimed);
    for (depth, element) in path.elements().iter().enumerate() {
        let Some((_, below)) = applied.step(element) else { return false };
        schema = schema.step(element);
        claimed = claimed.and_then(|set| set.step(element)).map(|(_, below)| below);
        if depth == 0 && metadata.is_prefix_of(path) {
            claimed = claimed.or(Some(&nothing));
        }
        let is_many = schema.is_free_map() || matches!(schema.shape(), Shape::List(..));
        if claimed.is_none() && !is_many && !below.is_empty() {
            return true;
        }
        applied = below;
    }
    false
}

/// The field manager of an apply, and the managers whose claims pass to it.
///
/// A server-side apply takes a field from another manager only by force, and never becomes the only owner of a field
/// whose value stays. So a client that replaces other managers first moves their claims to its own entry, as
/// client-go's `csaupgrade` does for client-side apply. A string is an applier that takes over no claims: the name of
/// its field manager.
pub trait Applier {
    /// The name of the field manager.
    fn manager(&self) -> &str;

    /// Returns true if the claims of an entry pass to the applier, for the fields that the applier claims as well.
    fn takes_over(&self, entry: &ManagedFieldsEntry) -> bool {
        self.adopts(entry)
    }

    /// Returns true if they pass even when nothing else changes: as long as the entry claims a field of the applier,
    /// the object is not in sync.
    fn adopts(&self, _entry: &ManagedFieldsEntry) -> bool {
        false
    }

    /// Returns true if it sends its manifests as they are written, as kubectl does. Otherwise, co-owners lose nothing to a value that only
    /// another spelling makes another one.
    fn sends_as_written(&self) -> bool {
        false
    }
}

impl Applier for str {
    fn manager(&self) -> &str {
        self
    }
}

/// An object with the owners of its fields: a live one, or the prediction of an apply.
#[derive(Clone, Debug, PartialEq)]
pub struct ManagedObject {
    /// The object.
    pub object: Value,
    /// The owners of its fields.
    pub owners: Ownership,
}

impl ManagedObject {
    /// Reads the owners of a live object from its `metadata.managedFields`; `manager` is that of the applier.
    pub fn new(object: Value, manager: &str) -> Self {
        let owners = Ownership::of(&object, manager);
        Self { object, owners }
    }
}

/// The fields that client-side apply applied last. The copy is an annotation, which anybody who may annotate the object can write: it
/// explains a difference, and never decides about one.
#[derive(Clone, Debug)]
pub struct LastApplied<'s> {
    object: Value,
    fields: FieldSet,
    schema: TypeRef<'s>,
    /// The fields with another live value than was applied.
    changed_since: FieldSet,
}

impl<'s> LastApplied<'s> {
    /// Reads the copy in a live object; `None` if there is none that can be read.
    pub fn of(live: &Value, schema: TypeRef<'s>) -> Option<Self> {
        let fields = fields_last_applied(live, schema)?;
        let applied = last_applied(live)?;
        let object = with_string_data_folded(&applied).into_owned();
        let merged = merge(&object, live, schema);
        let changed = changes(live, &merged, schema, true).into_iter().filter(|change| !is_of_server(change, schema));
        Some(Self { changed_since: changed.map(|change| change.path).collect(), object, fields, schema })
    }

    /// Returns true if it has a value at a path, or a part of one. An empty map has no entry, and of a map that is replaced as a whole,
    /// only the value tells which it has.
    pub fn has(&self, path: &FieldPath) -> bool {
        claim_strength(&self.fields, path, self.schema) == ClaimStrength::Own
            && (self.fields.contains_at_or_below(path) || path.value_in(&self.object).is_some())
    }

    /// Returns true if it has a value at a path, and the live object has the same.
    pub fn is_live(&self, path: &FieldPath) -> bool {
        self.has(path) && !self.changed_since.overlaps(path)
    }
}

/// Returns true for a difference that the server makes by itself between a live object and what was applied, in the items of a list in
/// which a key is repeated: the merge takes those as they were applied, without the other fields that the live items have and with the
/// empty values that the server drops.
fn is_of_server(change: &Change, schema: TypeRef<'_>) -> bool {
    let elements = change.path.elements();
    let Some(repeated) = elements.iter().position(|element| matches!(element, PathElement::Index(_))) else {
        return false;
    };
    let list = schema.at(elements.get(..repeated).unwrap_or_default());
    let Some((PathElement::Field(name), above)) = elements.split_last() else { return false };
    *list.list_kind() != ListKind::Atomic
        && match (change.op, &change.to) {
            (Op::Remove, _) => true,
            (Op::Add, Some(applied)) => schema::is_omitted_when_empty(applied, name, schema.at(above)),
            _ => false,
        }
}

/// The fields of the manifest that client-side apply last applied, if its copy can be read.
pub fn fields_last_applied(live: &Value, schema: TypeRef<'_>) -> Option<FieldSet> {
    let applied = last_applied(live)?;
    Some(with_string_data(&GroupVersionKind::of(live), schema::fields_of(&applied, schema), &[]))
}

/// The manifest that client-side apply last applied.
pub(crate) fn last_applied(live: &Value) -> Option<Value> {
    serde_json::from_str::<Value>(live.annotation(LAST_APPLIED)?).ok().filter(Value::is_object)
}

/// Returns true if an owner is client-side apply, which stores a copy of the manifest it last applied.
pub fn owns_last_applied(fields: &FieldSet) -> bool {
    fields.contains(&FieldPath::of(&["metadata", "annotations", LAST_APPLIED]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::builtin;

    fn live(applied: &str) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "annotations": {LAST_APPLIED: applied}},
            "spec": {"replicas": 3, "template": {"spec": {"containers": [
                {"name": "web", "image": "web:2", "resources": {"requests": {"cpu": "500m"}}}]}}}})
    }

    fn of(applied: &str) -> Option<LastApplied<'static>> {
        let gvk = GroupVersionKind::new("apps/v1", "Deployment");
        LastApplied::of(&live(applied), builtin().object(&gvk).expect("a type of Kubernetes"))
    }

    #[test]
    fn a_value_is_live_if_it_means_what_was_applied() {
        let applied = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
            "replicas": 2, "paused": true, "template": {"spec": {"containers": [
                {"name": "web", "image": "web:2", "resources": {"requests": {"cpu": 0.5}}}]}}}});
        let applied = of(&applied.to_string()).expect("a copy");
        let web = PathElement::key([("name".to_owned(), crate::object::Scalar::Text("web".to_owned()))]);
        let container = FieldPath::of(&["spec", "template", "spec", "containers"]).child(web);
        let path = |name: &str| container.field(name);
        assert!(applied.is_live(&path("image")));
        assert!(applied.is_live(&path("resources").field("requests").field("cpu")));
        let replicas = FieldPath::of(&["spec", "replicas"]);
        assert!(applied.has(&replicas) && !applied.is_live(&replicas));
        let paused = FieldPath::of(&["spec", "paused"]);
        assert!(applied.has(&paused) && !applied.is_live(&paused));
        assert!(!applied.has(&FieldPath::of(&["spec", "minReadySeconds"])));
    }

    #[test]
    fn items_with_one_key_are_live_with_the_defaults_and_without_the_empty_values() {
        let deployment = |lists: &Value| {
            let mut container = json!({"name": "web"});
            container.as_object_mut().unwrap().extend(lists.as_object().unwrap().clone());
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                "spec": {"template": {"spec": {"containers": [container]}}}})
        };
        let schema = builtin().object(&GroupVersionKind::new("apps/v1", "Deployment")).expect("a type of Kubernetes");
        let is_live = |list: &str, applied: &Value, live: &Value| {
            let applied = deployment(&json!({list: applied}));
            let mut live = deployment(&json!({list: live}));
            live["metadata"]["annotations"] = json!({LAST_APPLIED: applied.to_string()});
            let web = PathElement::key([("name".to_owned(), crate::object::Scalar::Text("web".to_owned()))]);
            let path = FieldPath::of(&["spec", "template", "spec", "containers"]).child(web).field(list);
            LastApplied::of(&live, schema).expect("a copy").is_live(&path)
        };
        let ports = json!([{"name": "http", "containerPort": 9090}, {"name": "admin", "containerPort": 9090}]);
        let port = |name: &str| json!({"name": name, "containerPort": 9090, "protocol": "TCP"});
        assert!(is_live("ports", &ports, &json!([port("http"), port("admin")])));
        for changed in
            [json!([port("http"), port("other")]), json!([port("http")]), json!([port("admin"), port("http")])]
        {
            assert!(!is_live("ports", &ports, &changed), "{changed}");
        }
        let env = json!([{"name": "A", "value": ""}, {"name": "A", "value": "2"}]);
        assert!(is_live("env", &env, &json!([{"name": "A"}, {"name": "A", "value": "2"}])));
        assert!(!is_live("env", &env, &json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}])));
        assert!(!is_live(
            "env",
            &json!([{"name": "A", "value": "1"}, {"name": "A"}]),
            &json!([{"name": "A"}, {"name": "A"}])
        ));
    }

    #[test]
    fn a_copy_that_is_no_object_says_nothing() {
        for applied in ["", "[]", "null", "{", "\"text\"", "[[[["] {
            assert!(of(applied).is_none(), "{applied}");
        }
        // Values of other types than the live ones: no panic, and nothing is live.
        let odd = of(r#"{"metadata": [], "spec": "text"}"#).expect("a copy");
        assert!(!odd.is_live(&FieldPath::of(&["spec", "replicas"])));
    }
}
