//! Each condition of the proof, for and against.

use super::*;
use crate::object::{FieldSet, PathElement, Scalar};
use crate::schema::field_set;
use serde_json::json;

const US: &str = "kubectl-reconcile";

fn kind_of(manifest: &Value) -> KindInfo {
    let text = |name: &str| manifest[name].as_str().unwrap();
    schema::builtin_kind(&GroupVersionKind::new(text("apiVersion"), text("kind"))).unwrap().clone()
}

fn entry(manager: &str, operation: &str, manifest: &Value, fields: &FieldSet) -> Value {
    json!({"manager": manager, "operation": operation, "time": "2026-01-02T03:04:05Z", "apiVersion": manifest["apiVersion"], "fieldsType": "FieldsV1",
           "fieldsV1": fields.to_fields_v1()})
}

fn claims(manifest: &Value) -> FieldSet {
    let kind = kind_of(manifest);
    field_set(manifest, schema::builtin().object(&kind.gvk).unwrap(), Some(&kind))
}

/// `live` as it is after an apply of `manifest` by us.
fn applied(manifest: &Value, mut live: Value) -> Value {
    live["metadata"]["managedFields"] = json!([entry(US, "Apply", manifest, &claims(manifest))]);
    live
}

/// `live` with the update of another manager, which owns these fields as well.
fn shared(live: &Value, path: &FieldPath) -> Value {
    let mut live = live.clone();
    let other = entry("robot", "Update", &live, &[path.clone()].into_iter().collect());
    live["metadata"]["managedFields"].as_array_mut().unwrap().push(other);
    live
}

fn proof(manifest: &Value, live: &Value) -> Proof {
    let kind = kind_of(manifest);
    let live = ManagedObject::new(live.clone(), US);
    prove(manifest, &live, schema::builtin().object(&kind.gvk).unwrap(), &kind, US)
}

#[track_caller]
fn holds(manifest: &Value, live: &Value) {
    assert_eq!(proof(manifest, live), Proof::Proven);
}

#[track_caller]
fn fails(manifest: &Value, live: &Value, reason: &str) {
    let Proof::Inconclusive(found) = proof(manifest, live) else { panic!("proven: {manifest}") };
    assert!(format!("{found:?}").starts_with(reason), "{found}");
}

fn config_map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "it"}, "data": data})
}

fn pod(container: &Value, rest: &Value) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "it"},
                         "spec": {"containers": [{"name": "web", "image": "a"}]}});
    let parts = [("/spec/containers/0", container), ("/spec", rest)];
    for (at, more) in parts {
        let target = pod.pointer_mut(at).unwrap().as_object_mut().unwrap();
        target.extend(more.as_object().unwrap().clone());
    }
    pod
}

fn container(more: &Value) -> Value {
    pod(more, &json!({}))
}

#[test]
fn only_what_we_applied_in_this_version_is_proven() {
    let manifest = config_map(&json!({"a": "1"}));
    let live = applied(&manifest, manifest.clone());
    holds(&manifest, &live);
    fails(&manifest, &manifest, "NoEntry");
    let by = |name: &str, operation: &str| {
        let mut live = live.clone();
        live["metadata"]["managedFields"] = json!([entry(name, operation, &manifest, &claims(&manifest))]);
        live
    };
    fails(&manifest, &by("robot", "Apply"), "NoEntry");
    fails(&manifest, &by(US, "Update"), "NoEntry");
    let mut through_status = live.clone();
    through_status["metadata"]["managedFields"][0]["subresource"] = json!("status");
    fails(&manifest, &through_status, "NoEntry");
    let mut older = live.clone();
    older["metadata"]["managedFields"][0]["apiVersion"] = json!("v1beta1");
    fails(&manifest, &older, "OtherVersion");
}

#[test]
fn the_fields_must_be_the_same_as_sets() {
    let manifest = config_map(&json!({"a": "1", "b": "2"}));
    let less = config_map(&json!({"a": "1"}));
    let live = applied(&manifest, manifest.clone());
    fails(&less, &live, "OtherFields");
    fails(&manifest, &applied(&less, manifest.clone()), "OtherFields");
}

#[test]
fn values_must_be_there_and_extras_of_granular_maps_do_not_count() {
    let manifest = config_map(&json!({"a": "1"}));
    holds(&manifest, &applied(&manifest, config_map(&json!({"a": "1", "theirs": "x"}))));
    fails(&manifest, &applied(&manifest, config_map(&json!({"a": "2"}))), "Differs");
    fails(&manifest, &applied(&manifest, config_map(&json!({}))), "Absent");
    // An empty string is left out of structs, but never of maps.
    let empty = config_map(&json!({"a": ""}));
    fails(&empty, &applied(&empty, config_map(&json!({}))), "Absent");
    let manifest = container(&json!({"env": [{"name": "A", "value": ""}]}));
    holds(&manifest, &applied(&manifest, container(&json!({"env": [{"name": "A"}]}))));
    for refused in [json!(0), json!(false), json!([])] {
        let manifest = container(&json!({"env": [{"name": "A", "value": refused}]}));
        fails(&manifest, &applied(&manifest, container(&json!({"env": [{"name": "A"}]}))), "Absent");
    }
    let template = |metadata: &Value| json!({"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "it"}, "template": {"metadata": metadata}});
    let manifest = template(&json!({"creationTimestamp": "", "labels": {"a": "b"}}));
    fails(&manifest, &applied(&manifest, template(&json!({"labels": {"a": "b"}}))), "Absent");
    let manifest = container(&json!({"env": [{"name": "A", "value": "1"}]}));
    fails(&manifest, &applied(&manifest, container(&json!({"env": [{"name": "A"}]}))), "Absent");
}

#[test]
fn a_null_in_a_map_of_texts_is_the_empty_text() {
    let manifest = config_map(&json!({"a": null}));
    let live = applied(&manifest, config_map(&json!({"a": ""})));
    holds(&manifest, &live);
    fails(&manifest, &shared(&live, &FieldPath::of(&["data", "a"])), "Respelled");
    fails(&manifest, &applied(&manifest, config_map(&json!({"a": "x"}))), "Null");
    fails(&manifest, &applied(&manifest, config_map(&json!({}))), "Null");
    // The server writes a Secret with such an entry again in every apply.
    let secret = |data: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "it"}, "data": data});
    let manifest = secret(json!({"a": null}));
    fails(&manifest, &applied(&manifest, secret(json!({"a": ""}))), "Null");
    let template = |metadata: &Value| json!({"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "it"}, "template": {"metadata": metadata}});
    let manifest = template(&json!({"creationTimestamp": null, "labels": {"a": "b"}}));
    holds(&manifest, &applied(&manifest, template(&json!({"labels": {"a": "b"}}))));
}

#[test]
fn items_are_matched_by_key_in_their_order_and_others_may_stand_between() {
    let env = |names: &[&str]| {
        let items: Vec<Value> = names.iter().map(|name| json!({"name": name, "value": name})).collect();
        container(&json!({"env": items}))
    };
    let manifest = env(&["A", "B"]);
    for live in [&["A", "B"][..], &["X", "A", "Y", "B", "Z"]] {
        holds(&manifest, &applied(&manifest, env(live)));
    }
    for (live, reason) in [
        (&["B", "A"][..], "Differs"),
        (&["A"], "Differs"),
        (&["A", "B", "B"], "ServersOwn"),
        (&["A", "X", "X", "B"], "ServersOwn"),
    ] {
        fails(&manifest, &applied(&manifest, env(live)), reason);
    }
    let ports = |first: &Value| container(&json!({"ports": [first]}));
    let manifest = ports(&json!({"containerPort": 80}));
    holds(&manifest, &applied(&manifest, ports(&json!({"containerPort": 80, "protocol": "TCP"}))));
    fails(&manifest, &applied(&manifest, ports(&json!({"containerPort": 80, "protocol": "UDP"}))), "Differs");
    let finalizers = |names: &[&str]| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "it", "finalizers": names}});
    let manifest = finalizers(&["a/a", "b/b"]);
    holds(&manifest, &applied(&manifest, finalizers(&["a/a", "c/c", "b/b"])));
    fails(&manifest, &applied(&manifest, finalizers(&["b/b", "a/a"])), "Differs");
}

#[test]
fn what_is_replaced_as_a_whole_must_be_equal_but_for_known_defaults() {
    let args = |args: &[&str]| container(&json!({"args": args}));
    let manifest = args(&["a", "b"]);
    holds(&manifest, &applied(&manifest, args(&["a", "b"])));
    for live in [&["b", "a"][..], &["a"], &["a", "b", "c"]] {
        fails(&manifest, &applied(&manifest, args(live)), "Differs");
    }
    let selector = |selector: &Value| pod(&json!({}), &json!({"nodeSelector": selector}));
    let manifest = selector(&json!({"a": "b"}));
    fails(&manifest, &applied(&manifest, selector(&json!({"a": "b", "c": "d"}))), "Extra");
    let field = |more: &Value| {
        let mut reference = json!({"fieldPath": "metadata.name"});
        reference.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        container(&json!({"env": [{"name": "A", "valueFrom": {"fieldRef": reference}}]}))
    };
    let manifest = field(&json!({}));
    holds(&manifest, &applied(&manifest, field(&json!({"apiVersion": "v1"}))));
    fails(&manifest, &applied(&manifest, field(&json!({"apiVersion": "v2"}))), "Extra");
}

#[test]
fn another_spelling_holds_as_long_as_nobody_else_owns_the_value() {
    let limit = |cpu: &Value| container(&json!({"resources": {"limits": {"cpu": cpu}}}));
    let path = FieldPath::of(&["spec", "containers"]);
    let path = path.child(PathElement::key([("name".to_owned(), Scalar::Text("web".to_owned()))]));
    let path = ["resources", "limits", "cpu"].iter().fold(path, |path, name| path.field(name));
    for (wanted, served) in [(json!("1000m"), "1"), (json!(0.5), "500m"), (json!("1.0"), "1"), (json!(1000), "1k")] {
        let manifest = limit(&wanted);
        let live = applied(&manifest, limit(&json!(served)));
        holds(&manifest, &live);
        fails(&manifest, &shared(&live, &path), "Respelled");
        holds(&limit(&json!(served)), &shared(&live, &path));
    }
    // Spellings that the server keeps would be written again, and values below a thousandth are rounded in some fields.
    for (wanted, served) in [("1e0", "1"), ("1", "1e0"), ("+1", "1"), ("1.0001", "1001m"), ("2", "1")] {
        let manifest = limit(&json!(wanted));
        fails(&manifest, &applied(&manifest, limit(&json!(served))), "Differs");
    }
    // An empty value that the server leaves out is another spelling, too.
    let manifest = container(&json!({"workingDir": ""}));
    let live = applied(&manifest, container(&json!({})));
    holds(&manifest, &live);
    let path = FieldPath::from(path.elements()[..3].to_vec()).field("workingDir");
    fails(&manifest, &shared(&live, &path), "Respelled");
}

#[test]
fn numbers_are_equal_by_value_and_never_equal_to_texts() {
    let port = |port: &Value| container(&json!({"readinessProbe": {"httpGet": {"port": port}}}));
    let manifest = port(&json!(80.0));
    holds(&manifest, &applied(&manifest, port(&json!(80))));
    fails(&manifest, &applied(&manifest, port(&json!("80"))), "Differs");
    let bool_text = config_map(&json!({"a": "true"}));
    fails(&bool_text, &applied(&bool_text, config_map(&json!({"a": true}))), "Differs");
}

#[test]
fn bytes_and_times_are_equal_by_what_they_mean() {
    let secret =
        |data: &str| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "it"}, "data": {"a": data}});
    let manifest = secret("aGVs\nbG8=\n");
    holds(&manifest, &applied(&manifest, secret("aGVsbG8=")));
    fails(&manifest, &applied(&manifest, secret("aGVsbG8h")), "Differs");
    let event =
        |time: &str| json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "it"}, "firstTimestamp": time});
    let manifest = event("2026-01-02T04:04:05+01:00");
    holds(&manifest, &applied(&manifest, event("2026-01-02T03:04:05Z")));
    let manifest = event("2026-01-02T03:04:05.999Z");
    holds(&manifest, &applied(&manifest, event("2026-01-02T03:04:05Z")));
    fails(&manifest, &applied(&manifest, event("2026-01-02T03:04:06Z")), "Differs");
    for odd in ["2026-01-02 03:04:05Z", "2026-01-02T03:04:05z", "2026-01-02T03:04:05+00", "2026-01-02T03:04:06Z"] {
        let manifest = event(odd);
        fails(&manifest, &applied(&manifest, event("2026-01-02T03:04:05Z")), "Differs");
    }
}

#[test]
fn string_data_is_compared_with_data_and_shared_with_nobody() {
    let secret = |name: &str, value: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "it"}, name: value});
    let manifest = secret("stringData", json!({"a": "hello"}));
    let live = applied(&manifest, secret("data", json!({"a": "aGVsbG8="})));
    holds(&manifest, &live);
    fails(&manifest, &applied(&manifest, secret("data", json!({"a": "eA=="}))), "Differs");
    // The server compares the written value with no value, so that every co-owner is in conflict every time.
    fails(&manifest, &shared(&live, &FieldPath::of(&["stringData", "a"])), "Respelled");
    let null = secret("stringData", json!({"a": null}));
    fails(&null, &applied(&null, secret("data", json!({"a": ""}))), "Null");
    let nothing = secret("stringData", Value::Null);
    let live = applied(&nothing, secret("data", json!({"a": "eA=="})));
    holds(&nothing, &live);
    fails(&nothing, &shared(&live, &FieldPath::of(&["stringData", "a"])), "Respelled");
}

#[test]
fn a_null_is_proven_where_the_server_leaves_it_out() {
    let spec = |name: &str| FieldPath::of(&["spec", name]);
    for name in ["volumes", "nodeSelector", "tolerations", "affinity", "hostNetwork", "schedulerName", "priority"] {
        let manifest = pod(&json!({}), &json!({name: null}));
        let live = applied(&manifest, pod(&json!({}), &json!({})));
        holds(&manifest, &live);
        // The server would report a conflict with a co-owner of the field.
        fails(&manifest, &shared(&live, &spec(name)), "Respelled");
    }
    let manifest = container(&json!({"resources": null, "env": null, "securityContext": null}));
    holds(&manifest, &applied(&manifest, container(&json!({"resources": {}}))));
    // A pointer: the empty struct would be removed.
    fails(&manifest, &applied(&manifest, container(&json!({"resources": {}, "securityContext": {}}))), "Null");
    let manifest = pod(&json!({}), &json!({"securityContext": null}));
    holds(&manifest, &applied(&manifest, pod(&json!({}), &json!({"securityContext": {}}))));
}

#[test]
fn a_null_keeps_what_others_have_in_a_keyed_list_or_a_map_and_empties_what_is_replaced_as_a_whole() {
    let manifest = pod(&json!({"env": null}), &json!({"nodeSelector": null, "securityContext": null}));
    let others =
        applied(&manifest, pod(&json!({"env": [{"name": "A"}]}), &json!({"securityContext": {"runAsUser": 1}})));
    holds(&manifest, &others);
    holds(&manifest, &shared(&others, &FieldPath::of(&["spec", "securityContext", "runAsUser"])));
    fails(&manifest, &applied(&manifest, pod(&json!({}), &json!({"nodeSelector": {"a": "b"}}))), "Null");
    fails(&manifest, &applied(&manifest, pod(&json!({"env": []}), &json!({}))), "Null");
    // If there is a default, only the server knows it.
    let manifest = pod(&json!({"imagePullPolicy": null}), &json!({}));
    fails(&manifest, &applied(&manifest, pod(&json!({"imagePullPolicy": "Always"}), &json!({}))), "Null");
}

#[test]
fn what_nobody_owns_in_an_empty_map_is_the_servers_to_judge_beside_a_record_in_another_version() {
    let scaler = |behavior: Value| {
        json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "it"},
               "spec": {"maxReplicas": 3, "behavior": behavior}})
    };
    let up = json!({"scaleUp": {"selectPolicy": "Max"}});
    for (empty, reason) in [(json!({}), "Emptied"), (json!(null), "Null")] {
        let manifest = scaler(empty);
        let live = applied(&manifest, scaler(up.clone()));
        holds(&manifest, &live);
        let with = |entries: &[Value]| {
            let mut live = live.clone();
            live["metadata"]["managedFields"].as_array_mut().unwrap().extend(entries.iter().cloned());
            live
        };
        let fields = |path: &[&str]| [FieldPath::of(path)].into_iter().collect::<FieldSet>();
        let mut old = entry("robot", "Update", &manifest, &fields(&["metadata", "labels", "a"]));
        old["apiVersion"] = json!("autoscaling/v1");
        fails(&manifest, &with(&[old.clone()]), reason);
        let owner = entry("other", "Apply", &manifest, &fields(&["spec", "behavior", "scaleUp", "selectPolicy"]));
        holds(&manifest, &with(&[old, owner]));
    }
}

#[test]
fn a_port_without_a_target_is_its_own_target() {
    let service = |port: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "it"}, "spec": {"ports": [port]}});
    let served = |target: u32| service(json!({"port": 80, "protocol": "TCP", "targetPort": target}));
    for nothing in [json!(0), json!(""), json!(null)] {
        let manifest = service(json!({"port": 80, "targetPort": nothing}));
        holds(&manifest, &applied(&manifest, served(80)));
        assert_ne!(proof(&manifest, &applied(&manifest, served(8080))), Proof::Proven);
    }
}

#[test]
fn a_status_is_ignored_as_long_as_the_server_would_accept_it() {
    let deployment = |status: &Value| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "it"}, "spec": {"paused": true}, "status": status});
    let live = deployment(&json!({"replicas": 3}));
    for fine in [json!({}), json!({"replicas": 1}), json!({"conditions": [{"type": "Available", "status": "True"}]})] {
        let manifest = deployment(&fine);
        holds(&manifest, &applied(&manifest, live.clone()));
    }
    for odd in
        [json!({"phase": "Ready"}), json!({"replicas": "1"}), json!({"replicas": 5_000_000_000_i64}), json!(null)]
    {
        let manifest = deployment(&odd);
        fails(&manifest, &applied(&manifest, live.clone()), "Ignored");
    }
}

#[test]
fn an_old_record_of_another_owner_is_rewritten_by_any_apply() {
    let manifest = container(&json!({"args": ["a"]}));
    let live = applied(&manifest, manifest.clone());
    let inside = FieldPath::of(&["spec", "nodeSelector", "a"]);
    fails(&manifest, &shared(&live, &inside), "OldRecord");
    holds(&manifest, &shared(&live, &FieldPath::of(&["spec", "nodeSelector"])));
    let mut gone = shared(&live, &FieldPath::of(&["spec", "nodeName"]));
    gone["metadata"]["managedFields"][1]["apiVersion"] = json!("v1beta1");
    fails(&manifest, &gone, "OldRecord");
    let mut timeless = shared(&live, &FieldPath::of(&["spec", "nodeName"]));
    holds(&manifest, &timeless);
    timeless["metadata"]["managedFields"][1].as_object_mut().unwrap().remove("time");
    fails(&manifest, &timeless, "OldRecord");
}
