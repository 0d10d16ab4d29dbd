use reconcile_core::compare::Evidence;
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
    ObjectReport::unwanted(&key(kind, name), ObjectDiff::create(desired, Evidence::Server))
}

fn old(kind: &str, name: &str, created: &str, data: &Value) -> ObjectReport {
    let metadata = json!({"name": name, "uid": "1", "creationTimestamp": created});
    let live = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": data});
    ObjectReport::unwanted(&key(kind, name), ObjectDiff::delete(live, Side::Manifest, "gone".to_owned()))
}

/// In the reports of two shards, for example, of which the one with the new object could not read the former one.
#[test]
fn without_a_comparison_nothing_tells_the_side() {
    let data = |timeout: &str| json!({"timeout": timeout, "same": "a"});
    let objects = vec![new("ConfigMap", B, &data("45s")), old("ConfigMap", A, EARLY, &data("30s"))];
    let object = paired(objects, &[]).pop().unwrap();
    let [change] = &object.diff.changes[..] else { panic!("{object:#?}") };
    assert_eq!(
        (change.class, change.side, object.diff.side),
        (Class::Unrecorded, Some(Side::Either), Some(Side::Either))
    );
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

/// As after a pull of all that differed.
#[test]
fn a_new_name_with_the_same_content_does_not_follow_itself() {
    let data = json!({"a": "x"});
    let objects = vec![new("ConfigMap", B, &data), old("ConfigMap", A, EARLY, &data)];
    let object = paired(objects, &[]).pop().unwrap();
    let [change] = &object.diff.changes[..] else { panic!("{object:#?}") };
    assert_eq!((change.path.to_string().as_str(), change.follows.as_slice()), ("metadata.name", &[][..]));
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
    let allowed = Deletion { allowed: true, ..needs };
    let marked = old("ConfigMap", A, EARLY, &data("2")).with_deletion(Some(&allowed), None);
    assert_eq!(shown(vec![new("ConfigMap", B, &data("1")), marked]), [format!("Update {B} from {A} data.a")]);
    assert_eq!(shown(vec![new("ConfigMap", B, &data("1")), old("Secret", A, EARLY, &data("2"))]).len(), 2);
}
