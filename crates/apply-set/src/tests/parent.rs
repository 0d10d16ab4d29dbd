use std::collections::BTreeSet;

use serde_json::{Value, json};
use structured_merge::{GroupKind, GroupVersionKind, ObjectKey};

use super::*;

/// The state of a parent as `kubectl-reconcile` reads it.
fn state(set: &ApplySet, live: &Value, adopt: &BTreeSet<String>) -> Result<ParentState, ParentError> {
    ParentState::of(set, live, &own(), adopt)
}

fn own() -> Tooling {
    Tooling::new("kubectl-reconcile/v0.1.0")
}

fn set(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> ApplySet {
    let gvk = GroupVersionKind::new(api_version, kind);
    ApplySet::of(ObjectKey { gvk, namespace: namespace.map(ToOwned::to_owned), name: name.to_owned() })
}

/// The entry of `managedFields` for the manager that wrote these annotations.
fn written_by(manager: &str, annotations: &[&str]) -> Value {
    let fields: serde_json::Map<String, Value> =
        annotations.iter().map(|name| (format!("f:{name}"), json!({}))).collect();
    let fields = json!({"f:metadata": {"f:annotations": fields}});
    json!({"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields})
}

fn parent(labels: &Value, annotations: &Value) -> Value {
    json!({"metadata": {"uid": "u", "resourceVersion": "1", "labels": labels, "annotations": annotations}})
}

#[test]
fn what_is_written_is_what_is_read() {
    let set = set("v1", "Secret", Some("shop"), "web");
    let kinds = ["Service", "Deployment.apps", "ConfigMap"].map(GroupKind::parse).into();
    let contents = Inventory { kinds, namespaces: ["shop", "b", "a"].map(ToOwned::to_owned).into() };
    let record = ParentAnnotations::of(&set, &own(), &contents);
    let annotations = record.to_map();
    let mut live = parent(&json!({ID: set.id}), &json!(annotations));
    live["metadata"]["managedFields"] = json!([written_by("kubectl-reconcile-applyset", &[KINDS, NAMESPACES])]);
    assert_eq!(annotations[KINDS], "ConfigMap,Deployment.apps,Service");
    assert_eq!(annotations[NAMESPACES], "a,b");
    let found = state(&set, &live, &BTreeSet::new()).unwrap();
    assert!(found.has(&record));
    assert_eq!((&found.listed, &found.namespaces), (&ListedKinds::Kinds(contents.kinds), &contents.namespaces));
    assert_eq!(record.manager(), "kubectl-reconcile-applyset");
}

#[test]
fn an_empty_list_is_an_empty_set_and_no_list_is_an_unknown_one() {
    let set = set("v1", "Secret", Some("shop"), "web");
    let listed = |annotations: Value| {
        state(&set, &parent(&json!({ID: set.id}), &annotations), &BTreeSet::new()).map(|found| found.listed)
    };
    assert_eq!(listed(json!({TOOLING: "kubectl-reconcile/v0", KINDS: ""})), Ok(ListedKinds::Kinds(BTreeSet::new())));
    assert_eq!(listed(json!({TOOLING: "kubectl-reconcile/v0"})), Ok(ListedKinds::Unknown));
    let old = json!({TOOLING: "kubectl-reconcile/v0", RESOURCES: "secrets,deployments.apps"});
    assert_eq!(listed(old), Ok(ListedKinds::Resources(vec!["secrets".to_owned(), "deployments.apps".to_owned()])));
}

#[test]
fn the_set_of_another_tool_is_continued_on_demand_and_stays_its_own() {
    let set = set("v1", "Secret", Some("shop"), "web");
    let mut live = parent(&json!({ID: set.id}), &json!({TOOLING: "kubectl/v1.36.3", KINDS: "", NAMESPACES: ""}));
    live["metadata"]["managedFields"] = json!([written_by("kubectl-applyset", &[KINDS, NAMESPACES])]);
    let refusal = state(&set, &live, &["helm".to_owned()].into()).unwrap_err();
    assert_eq!(refusal.cause, ParentErrorCause::OtherTool("kubectl".to_owned()));
    let found = state(&set, &live, &["kubectl".to_owned()].into()).unwrap();
    let record = ParentAnnotations::of(&set, &found.tooling, &Inventory::default());
    assert_eq!(record.manager(), "kubectl-applyset");
    assert_eq!(record.to_map()[TOOLING], "kubectl/v1.36.3");
    assert!(found.has(&record));
}

#[test]
fn a_wrong_id_and_a_parent_on_its_way_out_are_refused() {
    let set = set("v1", "Secret", Some("shop"), "web");
    let forged = parent(&json!({ID: "applyset-other-v1"}), &json!({}));
    assert!(state(&set, &forged, &BTreeSet::new()).unwrap_err().to_string().contains("applyset-other-v1"));
    let led_astray =
        parent(&json!({ID: set.id}), &json!({TOOLING: "kubectl-reconcile/v0", NAMESPACES: "shop,../../nodes"}));
    assert!(state(&set, &led_astray, &BTreeSet::new()).unwrap_err().to_string().contains("../../nodes"));
    let going = json!({"metadata": {"deletionTimestamp": "2026-11-21T00:00:00Z"}});
    assert!(state(&set, &going, &BTreeSet::new()).unwrap_err().to_string().contains("being deleted"));
}

#[test]
fn an_object_that_is_no_parent_does_not_become_one() {
    let set = set("v1", "Secret", Some("shop"), "web");
    let tooling = json!({TOOLING: "kubectl-reconcile/v0", KINDS: "Namespace"});
    for (labels, annotations, missing) in [
        (json!({}), json!({}), ID),
        (json!({}), tooling.clone(), ID),
        (json!({ID: set.id}), json!({KINDS: "Namespace"}), TOOLING),
    ] {
        let refusal = state(&set, &parent(&labels, &annotations), &BTreeSet::new()).unwrap_err();
        let message = refusal.to_string();
        assert!(message.contains("is not the parent") && message.contains(missing), "{refusal:?}");
    }
    assert!(state(&set, &parent(&json!({ID: set.id}), &tooling), &BTreeSet::new()).is_ok());
}

#[test]
fn what_somebody_else_lists_counts_only_as_far_as_the_manifests_name_it() {
    let set = set("v1", "Secret", Some("shop"), "web");
    let annotations =
        json!({TOOLING: "kubectl-reconcile/v0", KINDS: "ConfigMap,Namespace", NAMESPACES: "data,finance"});
    let mentioned = Inventory { kinds: [GroupKind::parse("ConfigMap")].into(), namespaces: ["data".to_owned()].into() };
    let ours = written_by("kubectl-reconcile-applyset", &[KINDS, NAMESPACES]);
    let contents = |owners: Value| {
        let mut live = parent(&json!({ID: set.id}), &annotations);
        live["metadata"]["managedFields"] = owners;
        let found = state(&set, &live, &BTreeSet::new()).unwrap();
        let Inventory { kinds, namespaces } = found.inventory(&mentioned);
        let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        let namespaces: Vec<String> = namespaces.into_iter().collect();
        (kinds.join(","), namespaces.join(","), found.other_author().map(ToOwned::to_owned))
    };
    let found = |kinds: &str, namespaces: &str, by: Option<&str>| {
        (kinds.to_owned(), namespaces.to_owned(), by.map(ToOwned::to_owned))
    };
    assert_eq!(contents(json!([ours])), found("ConfigMap,Namespace", "data,finance,shop", None));
    let mallory = written_by("mallory", &[KINDS, NAMESPACES]);
    assert_eq!(contents(json!([mallory, ours])), found("ConfigMap,Namespace", "data,finance,shop", None));
    assert_eq!(contents(json!([mallory])), found("ConfigMap", "data,shop", Some("`mallory`")));
    assert_eq!(contents(json!([])), found("ConfigMap", "data,shop", Some("an unknown manager")));
    let kinds = written_by("kubectl-reconcile-applyset", &[KINDS]);
    let namespaces = written_by("kubectl-edit", &[NAMESPACES]);
    let edited = found("ConfigMap,Namespace", "data,shop", Some("`kubectl-edit`"));
    assert_eq!(contents(json!([kinds, namespaces])), edited);
    let other_tool = written_by("kubectl-applyset", &[KINDS, NAMESPACES]);
    assert_eq!(contents(json!([other_tool])).0, "ConfigMap");
}
