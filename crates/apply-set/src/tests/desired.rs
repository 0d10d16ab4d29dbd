use serde_json::json;
use structured_merge::{GroupKind, ManagedFieldsEntry};

use super::*;
use crate::{PART_OF, Unlisted};

const KEEP: &str = "example.com/prune";

fn set() -> ApplySet {
    let gvk = GroupVersionKind::new("v1", "Secret");
    ApplySet::of(ObjectKey { gvk, namespace: Some("shop".into()), name: "set".into() })
}

fn member(kind: &str, metadata: &Value) -> Member {
    let fields = json!({"f:metadata": {"f:labels": {format!("f:{PART_OF}"): {}}}});
    let owners = json!([{"manager": "us", "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields}]);
    let mut object = json!({"metadata": {"name": "it", "namespace": "data", "labels": {PART_OF: set().id}}});
    object["metadata"]["managedFields"] = owners;
    for (name, value) in metadata.as_object().unwrap() {
        object["metadata"][name] = value.clone();
    }
    let api_version = if kind == "CustomResourceDefinition" { "apiextensions.k8s.io/v1" } else { "v1" };
    Member::new(GroupVersionKind::new(api_version, kind), object)
}

fn rules() -> PruneRules {
    let trust = Box::new(|entry: &ManagedFieldsEntry| entry.manager == "us");
    let keep = |object: &Value| (object.annotation(KEEP) == Some("keep")).then(|| format!("{KEEP}: keep"));
    PruneRules { trust, keep, recover: false, unseen: Vec::new() }
}

fn desired() -> DesiredMembers {
    DesiredMembers::new(&set(), rules())
}

fn decisions(members: &[Member]) -> Vec<PruneDecision> {
    desired().decide_all(members)
}

fn pruned(member: &Member) -> PruneDecision {
    PruneDecision::Prune(Prunable::of(member))
}

/// The reason why a member is kept, as text.
#[track_caller]
fn kept(decision: &PruneDecision) -> String {
    match decision {
        PruneDecision::Keep(reason) => reason.to_string(),
        other => panic!("not kept: {other:?}"),
    }
}

#[test]
fn a_member_that_is_not_wanted_goes_unless_something_speaks_for_it() {
    let plain = member("ConfigMap", &json!({"uid": "u", "resourceVersion": "7"}));
    let [PruneDecision::Prune(prunable)] = &decisions(&[plain])[..] else { panic!("it is not pruned") };
    assert_eq!((prunable.uid(), prunable.resource_version()), ("u", "7"));
    for (metadata, reason) in [
        (json!({"annotations": {KEEP: "keep"}}), "of its annotation `example.com/prune: keep`"),
        (json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "web"}]}), "Pod web owns it"),
    ] {
        assert_eq!(kept(&decisions(&[member("ConfigMap", &metadata)])[0]), reason);
    }
    let left = member("ConfigMap", &json!({"labels": {PART_OF: "another"}}));
    assert_eq!(decisions(&[left]), [PruneDecision::NotAMember(Reason::LeftTheSet)]);
}

#[test]
fn what_only_a_search_beyond_the_list_found_stays_unless_it_is_asked_for() {
    let beyond = |mut member: Member| {
        member.unlisted = Some(Unlisted::NoParent);
        member
    };
    let found = [beyond(member("ConfigMap", &json!({}))), beyond(member("Namespace", &json!({"name": "b"})))];
    let why = Unlisted::NoParent;
    let namespace = PruneDecision::Spare(Reason::UnlistedContainer { why: why.clone(), gvk: found[1].key.gvk.clone() });
    let text = "no parent of the apply set lists it, and a Namespace is only deleted if it does";
    assert_eq!(namespace.reason().unwrap().to_string(), text);
    let config_map = |is_next| PruneDecision::Spare(Reason::Unlisted { why: why.clone(), is_next });
    let mut wanted = desired();
    assert_eq!(wanted.decide_all(&found), [config_map(false), namespace.clone()]);
    assert_eq!(*wanted.inventory(), Inventory::default(), "it is not listed from then on");
    let mut wanted = DesiredMembers::new(&set(), PruneRules { recover: true, ..rules() });
    assert_eq!(wanted.decide_all(&found), [pruned(&found[0]), namespace]);
    // The next pass deletes members that the parent is about to list.
    let mut wanted = desired();
    wanted.keep(&found[0].key);
    assert_eq!(wanted.decide_all(&found[..1]), [config_map(true)]);
}

#[test]
fn a_namespace_stays_with_what_is_spared_in_it() {
    let mut namespace = member("Namespace", &json!({"name": "data"}));
    namespace.key.namespace = None;
    let found = decisions(&[namespace, member("ConfigMap", &json!({"managedFields": []}))]);
    assert_eq!(kept(&found[0]), "ConfigMap data/it is in it");
    assert_eq!(found[1], PruneDecision::Spare(Reason::LabelOwnerUnknown));
}

#[test]
fn what_holds_a_kept_member_is_kept() {
    let keep = json!({"annotations": {KEEP: "keep"}});
    let mut namespace = member("Namespace", &json!({"name": "data"}));
    namespace.key.namespace = None;
    let of_parent = member("Namespace", &json!({"name": "shop"}));
    let found = decisions(&[namespace.clone(), of_parent, member("ConfigMap", &keep)]);
    assert_eq!(kept(&found[0]), "ConfigMap data/it is in it");
    assert_eq!(kept(&found[1]), "Secret shop/set is in it");
    assert_eq!(decisions(std::slice::from_ref(&namespace)), [pruned(&namespace)]);
    let unsure = |kind: &str, namespace_of_kind: Option<&str>| {
        let unseen = vec![(GroupKind::parse(kind), namespace_of_kind.map(ToOwned::to_owned))];
        DesiredMembers::new(&set(), PruneRules { unseen, ..rules() })
    };
    for (namespace_of_kind, is_kept) in [(None, true), (Some("data"), true), (Some("other"), false)] {
        let decision = unsure("Secret", namespace_of_kind).decide(&namespace);
        assert_eq!(!decision.is_prune(), is_kept, "{namespace_of_kind:?}: {decision:?}");
    }

    let mut definition = member("CustomResourceDefinition", &json!({}));
    definition.object["spec"] = json!({"group": "", "names": {"kind": "Widget"}});
    let found = decisions(&[definition.clone(), member("Widget", &keep)]);
    assert_eq!(kept(&found[0]), "it defines the kind of Widget data/it");
    assert_eq!(decisions(std::slice::from_ref(&definition)), [pruned(&definition)]);
    assert_eq!(unsure("Gadget", None).decide(&definition), pruned(&definition));
    assert_eq!(kept(&unsure("Widget", None).decide(&definition)), "its objects cannot be listed");
}

#[test]
fn what_is_being_deleted_is_not_kept_any_more() {
    let metadata = json!({"annotations": {KEEP: "keep"}, "deletionTimestamp": "2026-01-02T03:04:05Z"});
    let going = member("ConfigMap", &metadata);
    assert_eq!(decisions(std::slice::from_ref(&going)), [pruned(&going)]);
}

#[test]
fn an_object_that_is_served_twice_is_unwanted_once_and_wanted_under_either_name() {
    let present = |kind: &str, uid: &str| member(kind, &json!({"uid": uid}));
    let mut wanted = desired();
    wanted.add(&present("Ingress", "1").key, true);
    let found = vec![
        present("Zebra", "3"),
        present("Ingress", "1"),
        present("OldIngress", "1"),
        present("Event", "2"),
        present("Zebra", "3"),
    ];
    let left: Vec<String> = wanted.unwanted(found).into_iter().map(|member| member.key.gvk.kind.clone()).collect();
    assert_eq!(left, ["Event", "Zebra"]);
}
