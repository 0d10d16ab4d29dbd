//! ConfigMaps and Secrets with a hash of their content in their name, as kustomize generates them: a change of the content is a new object and
//! the deletion of the former one. Both are one object to the reader.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reconcile_core::compare::{Action, Versions};
use reconcile_core::object::generated::stem;
use serde_json::Value;
use structured_merge::{FieldPath, ObjectMeta as _, Op};

use super::ObjectReport;
use super::change::{ChangeReport, difference};
use crate::model::classes::ClassInfo;

/// The kind, namespace and stem of an object with a generated name.
fn generated(object: &ObjectReport) -> Option<(String, Option<String>, String)> {
    let key = &object.key;
    let is_generated_kind = key.gvk.group.is_empty() && ["ConfigMap", "Secret"].contains(&key.gvk.kind.as_str());
    let stem = stem(&key.name).filter(|_| is_generated_kind)?;
    Some((key.gvk.kind.clone(), key.namespace.clone(), stem.to_owned()))
}

/// Shows each new object with a generated name and the newest former one as one object under a new name. A deletion that has to be
/// allowed, or that cannot be done, stays on its own.
pub(crate) fn paired(mut objects: Vec<ObjectReport>) -> Vec<ObjectReport> {
    let mut former: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, object) in objects.iter().enumerate() {
        let is_plain =
            object.diff.deletion.is_none() && object.messages.error.is_none() && object.run.outcome.is_none();
        if object.diff.action == Action::Delete && is_plain {
            former.entry(generated(object)).or_default().push(at);
        }
    }
    let mut gone = BTreeSet::new();
    for at in 0..objects.len() {
        let Some(new) = objects.get(at).filter(|object| object.diff.action == Action::Create) else { continue };
        let Some(places) = generated(new).and_then(|generated| former.remove(&Some(generated))) else { continue };
        let created = |at: &usize| objects.get(*at).and_then(live).and_then(created_at).map(ToOwned::to_owned);
        let newest = places.iter().max_by_key(|at| created(at)).copied();
        let Some((newest, old)) = newest.and_then(|at| Some((at, objects.get(at)?))) else { continue };
        if let Some(renamed) = renamed(new, old) {
            gone.insert(newest);
            if let Some(slot) = objects.get_mut(at) {
                *slot = renamed;
            }
        }
    }
    let mut at = 0_usize..;
    objects.retain(|_| !at.next().is_some_and(|at| gone.contains(&at)));
    objects
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
    use structured_merge::{GroupVersionKind, ObjectKey};

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
        paired(objects).iter().map(line).collect()
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
