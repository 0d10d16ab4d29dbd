//! ConfigMaps and Secrets with a hash of their content in their name, as kustomize generates them: a change of the content is a new object and
//! the deletion of the former one. Both are one object to the reader.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reconcile_core::compare::{Action, Class, LeftDifference, Side, Versions};
use reconcile_core::object::generated::{Generated, stem};
use reconcile_core::pass::Outcome;
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey, ObjectMeta as _, Op, PathElement};

use super::ObjectReport;
use super::change::{ChangeReport, difference};
use crate::model::classes::ClassInfo;

/// The objects that may be the former ones of new objects with generated names, and that no apply set deletes: those to which live workloads
/// refer where the manifests refer to the new one, and those that only the base has. A new object with several of them has none.
pub fn former_objects(objects: &[ObjectReport], dropped: &[ObjectKey]) -> Vec<ObjectKey> {
    let known: BTreeSet<&ObjectKey> = objects.iter().map(|object| &object.key).collect();
    let deleted: BTreeSet<_> =
        objects.iter().filter(|one| is_plain_deletion(one)).map(|one| Generated::of(&one.key)).collect();
    let mut new: BTreeMap<Generated, Vec<&ObjectKey>> = BTreeMap::new();
    for object in objects.iter().filter(|object| object.diff.action == Action::Create) {
        if let Some(generated) = Generated::of(&object.key) {
            new.entry(generated).or_default().push(&object.key);
        }
    }
    new.retain(|generated, keys| keys.len() == 1 && !deleted.contains(&Some(generated.clone())));
    if new.is_empty() {
        return Vec::new();
    }
    let mut former: BTreeMap<&ObjectKey, BTreeSet<String>> = BTreeMap::new();
    for (generated, keys) in &new {
        let Some(key) = keys.first() else { continue };
        let is_former = |other: &&ObjectKey| Generated::of(other).as_ref() == Some(generated) && !known.contains(other);
        let names = dropped.iter().filter(is_former).map(|other| other.name.clone());
        former.entry(key).or_default().extend(names);
    }
    for object in objects.iter().filter(|object| object.diff.action == Action::Update) {
        for (key, names) in former.iter_mut().filter(|(key, _)| key.namespace == object.key.namespace) {
            let referred = object.diff.changes.iter().filter_map(|change| former_reference(change, key));
            let other = |name: &String| ObjectKey { name: name.clone(), ..(*key).clone() };
            names.extend(referred.filter(|name| !known.contains(&other(name))));
        }
    }
    let one = |(key, names): (&ObjectKey, BTreeSet<String>)| {
        let mut names = names.into_iter();
        let name = names.next().filter(|_| names.next().is_none())?;
        Some(ObjectKey { name, ..key.clone() })
    };
    former.into_iter().filter_map(one).collect()
}

/// The name of the object to which a live workload refers where its manifest refers to the new one, if both have the same stem.
fn former_reference(change: &ChangeReport, new: &ObjectKey) -> Option<String> {
    let stem = stem(&new.name)?;
    let of = |value: &Option<Value>| {
        let mut found = BTreeSet::new();
        collect_references(
            value.as_ref().unwrap_or(&Value::Null),
            &field_names(&change.path),
            &new.gvk.kind,
            &mut found,
        );
        found
    };
    let (before, after) = (of(&change.live), of(&change.desired));
    if !after.contains(&new.name) || before.contains(&new.name) {
        return None;
    }
    let mut same = before.into_iter().filter(|name| self::stem(name) == Some(stem));
    same.next().filter(|_| same.next().is_none())
}

/// The last two names of fields in a path.
fn field_names(path: &FieldPath) -> Vec<&str> {
    let names = path.elements().iter().rev().take(2).map(|element| match element {
        PathElement::Field(name) => name.as_str(),
        _ => "",
    });
    names.collect::<Vec<_>>().into_iter().rev().collect()
}

/// Collects the names of the objects of a kind to which a value of a Pod template refers; `at` are the fields that lead to it.
fn collect_references(value: &Value, at: &[&str], kind: &str, found: &mut BTreeSet<String>) {
    let holders: &[&str] = match kind {
        "ConfigMap" => &["configMap", "configMapRef", "configMapKeyRef"],
        _ => &["secret", "secretRef", "secretKeyRef"],
    };
    match value {
        Value::String(name) => {
            if let [holder, field] = at
                && holders.contains(holder)
                && (*field == "name" || *holder == "secret" && *field == "secretName")
            {
                found.insert(name.clone());
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, &[], kind, found)),
        Value::Object(fields) => {
            let above = at.last().copied().unwrap_or_default();
            for (name, value) in fields {
                collect_references(value, &[above, name], kind, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns true for the deletion of an object of the apply set that needs no consent and is not refused.
fn is_plain_deletion(object: &ObjectReport) -> bool {
    let is_done = object.run.outcome.is_none_or(|outcome| outcome == Outcome::Deleted);
    object.diff.action == Action::Delete && object.diff.deletion.is_none() && object.messages.error.is_none() && is_done
}

/// Shows each new object with a generated name and the former one as one object under a new name: the newest that is deleted, or else that
/// of `formers`, which stay. A deletion that has to be allowed, or that cannot be done, stays on its own, and so do both if they are not
/// done alike.
pub(crate) fn paired(mut objects: Vec<ObjectReport>, formers: &[ObjectReport]) -> Vec<ObjectReport> {
    let mut former: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, object) in objects.iter().enumerate().filter(|(_, object)| is_plain_deletion(object)) {
        former.entry(Generated::of(&object.key)).or_default().push(at);
    }
    let mut gone = BTreeSet::new();
    let mut pairs = Vec::new();
    for at in 0..objects.len() {
        let Some(new) = objects.get(at).filter(|object| object.diff.action == Action::Create) else { continue };
        let Some(generated) = Generated::of(&new.key) else { continue };
        let places = former.remove(&Some(generated.clone())).unwrap_or_default();
        let created = |at: &usize| objects.get(*at).and_then(live).and_then(created_at).map(ToOwned::to_owned);
        let newest = places.iter().max_by_key(|at| created(at)).copied();
        let staying = || formers.iter().find(|one| Generated::of(&one.key).as_ref() == Some(&generated));
        let Some(old) = newest.and_then(|at| objects.get(at)).or_else(staying) else { continue };
        let is_alike = match new.run.outcome {
            None => old.run.outcome.is_none(),
            Some(outcome) => outcome == Outcome::Created && (newest.is_none() || old.run.outcome.is_some()),
        };
        if let Some(renamed) = renamed(new, old).filter(|_| is_alike) {
            gone.extend(newest);
            pairs.push((renamed.key.clone(), old.key.name.clone()));
            if let Some(slot) = objects.get_mut(at) {
                *slot = renamed;
            }
        }
    }
    gone.extend(left_as_one(&mut objects));
    for object in &mut objects {
        follow(object, &pairs);
    }
    let mut at = 0_usize..;
    objects.retain(|_| !at.next().is_some_and(|at| gone.contains(&at)));
    objects
}

/// Shows a new object that is left, and the only former one that is left with it, as one object whose new name is left. Returns the
/// places of the former ones.
fn left_as_one(objects: &mut [ObjectReport]) -> Vec<usize> {
    let mut former: BTreeMap<Option<Generated>, Vec<(usize, String)>> = BTreeMap::new();
    for (at, object) in objects.iter().enumerate().filter(|(_, object)| is_left(object, Class::Pruned)) {
        former.entry(Generated::of(&object.key)).or_default().push((at, object.key.name.clone()));
    }
    let mut gone = Vec::new();
    for object in objects.iter_mut().filter(|object| is_left(object, Class::Missing)) {
        let Some(generated) = Generated::of(&object.key) else { continue };
        if let Some([(at, name)]) = former.remove(&Some(generated)).as_deref() {
            gone.push(*at);
            object.renamed_from = Some(name.clone());
            let path = FieldPath::root();
            object.diff.left = vec![LeftDifference { path, class: Class::Pending, side: Side::Manifest }];
        }
    }
    gone
}

/// Returns true if the run leaves an object that is missing, or to be deleted.
fn is_left(object: &ObjectReport, class: Class) -> bool {
    object.diff.action == Action::None
        && object.is_left_whole()
        && object.diff.left.iter().all(|left| left.class == class)
}

/// Marks the references to objects under a new name.
fn follow(object: &mut ObjectReport, pairs: &[(ObjectKey, String)]) {
    let namespace = &object.key.namespace;
    let is_value =
        |change: &&mut ChangeReport| change.op == Op::Change && matches!(change.live, Some(Value::String(_)));
    for change in object.diff.changes.iter_mut().filter(is_value) {
        let is_reference = |(new, old): &&(ObjectKey, String)| {
            new.namespace == *namespace && former_reference(change, new).as_ref() == Some(old)
        };
        let followed = pairs.iter().find(is_reference).map(|(new, _)| new.to_string());
        change.follows.extend(followed);
    }
}

/// The live object of a deletion.
fn live(object: &ObjectReport) -> Option<&Value> {
    object.diff.changes.first()?.live.as_ref()
}

fn created_at(object: &Value) -> Option<&str> {
    object.metadata("creationTimestamp")?.as_str()
}

/// The new object with the differences from the old one; `None` if there are none.
fn renamed(new: &ObjectReport, old: &ObjectReport) -> Option<ObjectReport> {
    let desired = new.diff.changes.first()?.desired.as_ref()?;
    let live = live(old)?;
    let changes = changes(live, desired);
    if changes.is_empty() {
        return None;
    }
    let mut object = new.clone();
    object.renamed_from = Some(old.key.name.clone());
    object.diff.action = Action::Update;
    if object.run.outcome == Some(Outcome::Created) {
        object.run.outcome = Some(Outcome::Updated);
    }
    object.diff.side = ClassInfo::side_of(&changes);
    object.diff.changes = changes;
    object.details.versions = Some(Arc::new(Versions::of_redacted(live, desired)));
    Some(object)
}

/// The differences of everything that the new object has, but for its name.
fn changes(live: &Value, desired: &Value) -> Vec<ChangeReport> {
    let mut changes = Vec::new();
    let mut compare = |path: &[&str], live: Option<&Value>, desired: Option<&Value>| {
        let op = match (live, desired) {
            (None, Some(_)) => Op::Add,
            (Some(_), None) => Op::Remove,
            (live, desired) if live == desired => return,
            _ => Op::Change,
        };
        changes.push(difference(&FieldPath::of(path), op, live, desired));
    };
    for field in ["type", "immutable"] {
        compare(&[field], live.get(field), desired.get(field));
    }
    for field in ["data", "binaryData"] {
        let of = |object: &Value| object.get(field).and_then(Value::as_object).cloned().unwrap_or_default();
        let live = of(live);
        let desired = of(desired);
        let keys: BTreeSet<&String> = live.keys().chain(desired.keys()).collect();
        for key in keys {
            compare(&[field, key], live.get(key), desired.get(key));
        }
    }
    for field in ["labels", "annotations"] {
        let of = |object: &Value| object.metadata(field).and_then(Value::as_object).cloned().unwrap_or_default();
        let live = of(live);
        for (key, value) in &of(desired) {
            compare(&["metadata", field, key], live.get(key), Some(value));
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use reconcile_core::compare::{Evidence, ObjectVerdict};
    use reconcile_core::plan::deletion::{Deletion, DeletionKind};
    use serde_json::json;
    use structured_merge::GroupVersionKind;

    use super::*;

    fn key(kind: &str, name: &str) -> ObjectKey {
        let gvk = GroupVersionKind::new("v1", kind);
        ObjectKey { gvk, namespace: Some("shop".to_owned()), name: name.to_owned() }
    }

    fn new(kind: &str, name: &str, data: &Value) -> ObjectReport {
        let desired = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": data});
        ObjectReport::unwanted(
            &key(kind, name),
            ObjectVerdict::Create { desired: desired.into(), evidence: Evidence::Server },
        )
    }

    fn old(kind: &str, name: &str, created: &str, data: &Value) -> ObjectReport {
        let metadata = json!({"name": name, "uid": "1", "creationTimestamp": created});
        let live = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": data});
        ObjectReport::unwanted(&key(kind, name), ObjectVerdict::Delete { live, reason: "gone".to_owned() })
    }

    fn shown(objects: Vec<ObjectReport>) -> Vec<String> {
        let line = |object: &ObjectReport| {
            let from = object.renamed_from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
            let paths: Vec<String> = object.diff.changes.iter().map(|change| change.path.to_string()).collect();
            format!("{:?} {}{from} {}", object.diff.action, object.key.name, paths.join(",")).trim_end().to_owned()
        };
        paired(objects, &[]).iter().map(line).collect()
    }

    const A: &str = "web-config-84c9dfhgtd";
    const B: &str = "web-config-h56kmt2b4c";
    const EARLY: &str = "2026-11-20T10:00:00Z";
    const LATE: &str = "2026-11-21T10:00:00Z";

    #[test]
    fn a_new_hash_is_the_same_object_under_a_new_name() {
        let data = |timeout: &str| json!({"timeout": timeout, "same": "a"});
        assert_eq!(
            shown(vec![new("ConfigMap", B, &data("45s")), old("ConfigMap", A, EARLY, &data("30s"))]),
            [format!("Update {B} from {A} data.timeout")]
        );
        // The newest of several; the others are deleted on their own.
        let older = old("ConfigMap", "web-config-2222222222", EARLY, &data("1s"));
        assert_eq!(
            shown(vec![new("ConfigMap", B, &data("45s")), older, old("ConfigMap", A, LATE, &data("30s"))]),
            [format!("Update {B} from {A} data.timeout"), "Delete web-config-2222222222".to_owned()]
        );
    }

    #[test]
    fn other_names_kinds_and_deletions_stay_apart() {
        let data = |value: &str| json!({"a": value});
        for (kind, before, after) in [
            ("ConfigMap", "web-config-84c9dfhgtd", "api-config-h56kmt2b4c"),
            ("ConfigMap", "web-config-84c9dfhgta", "web-config-h56kmt2b4a"),
            ("ConfigMap", "web-config-84c9dfhgt", "web-config-h56kmt2b4"),
            ("Service", A, B),
            ("ConfigMap", "-84c9dfhgtd", "-h56kmt2b4c"),
        ] {
            let both = vec![new(kind, after, &data("1")), old(kind, before, EARLY, &data("2"))];
            assert_eq!(shown(both), [format!("Create {after}"), format!("Delete {before}")]);
        }
        let needs = Deletion { needs: [DeletionKind::Most].into(), allowed: false };
        let marked = old("ConfigMap", A, EARLY, &data("2")).with_deletion(Some(&needs), None);
        assert_eq!(shown(vec![new("ConfigMap", B, &data("1")), marked]).len(), 2);
        assert_eq!(shown(vec![new("ConfigMap", B, &data("1")), old("Secret", A, EARLY, &data("2"))]).len(), 2);
    }
}
