//! Lists and maps of every kind: items are matched by key, sets by value, and positions count only where nothing else can.

use serde_json::json;

use crate::control_plane::{Replaced, Run, Workspace, definition_with_status};
use crate::manifests::WEB;

fn with(manifest: &str) -> Workspace {
    let ws = Workspace::new();
    ws.write("it.yaml", manifest);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    ws
}

#[track_caller]
fn json_patch(ws: &Workspace, object: &str, manager: &str, patch: &serde_json::Value) {
    let flags = ["--type=json", "--field-manager", manager, "-p", &patch.to_string()];
    ws.kubectl([&["patch", object][..], &flags].concat()).exits_with(0);
}

#[track_caller]
fn heals(ws: &Workspace) -> Run {
    let apply = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    apply
}

const CONTAINER: &str = "spec.template.spec.containers[name=web]";

#[test]
fn another_order_of_a_keyed_list_is_reordered() {
    let ws = with(WEB);
    ws.write(
        "it.yaml",
        &WEB.replaced(
            "[{name: LOG, value: info}, {name: LANG, value: en}]",
            "[{name: LANG, value: en}, {name: LOG, value: info}]",
        ),
    );
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), [format!("reordered {CONTAINER}.env")]);
    let change = diff.change("Deployment", "web", &format!("{CONTAINER}.env"));
    assert_eq!(
        (&change["op"], &change["live"], &change["desired"]),
        (&json!("move"), &json!(["LOG", "LANG"]), &json!(["LANG", "LOG"]))
    );
    heals(&ws);
    let web = ws.get("Deployment", "web");
    assert_eq!(web["spec"]["template"]["spec"]["containers"][0]["env"][0]["name"], "LANG");
}

#[test]
fn items_that_others_put_anywhere_shift_nothing() {
    let ws = with(WEB);
    let sidecar = json!({"name": "mesh", "image": "mesh:1"});
    let patch = json!([
        {"op": "add", "path": "/spec/template/spec/containers/0", "value": sidecar},
        {"op": "add", "path": "/spec/template/spec/containers/1/env/1", "value": {"name": "MESH", "value": "on"}},
    ]);
    json_patch(&ws, "deployment/web", "mesh-injector", &patch);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.changes("Deployment", "web"), [""; 0]);
    // A change in the list is still found by key, and what others put there stays.
    ws.write("it.yaml", &WEB.replaced("value: en", "value: de"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), [format!("pending {CONTAINER}.env[name=LANG].value")]);
    heals(&ws);
    let containers = &ws.get("Deployment", "web")["spec"]["template"]["spec"]["containers"];
    assert_eq!((&containers[0]["name"], &containers[1]["env"][1]["name"]), (&json!("mesh"), &json!("MESH")));
}

#[test]
fn ports_have_two_keys_and_the_second_a_default() {
    let service = "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {ports: [{name: dns, port: 53}, {name: udp, port: 53, protocol: UDP}]}}";
    let ws = with(service);
    ws.write("it.yaml", &service.replaced("{name: dns, port: 53}", "{name: tcp, port: 53}"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Service", "it"), ["pending spec.ports[port=53,protocol=TCP].name"]);
    heals(&ws);
    // Another key is another item.
    ws.write("it.yaml", &service.replaced("{name: dns, port: 53}", "{name: dns, port: 54}"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(
        diff.changes("Service", "it"),
        ["pruned spec.ports[port=53,protocol=TCP]", "absent spec.ports[port=54,protocol=TCP]"]
    );
    heals(&ws);
}

#[test]
fn atomic_lists_are_compared_by_position() {
    let ws = with(WEB);
    let patch = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/args/1", "value": "9090"}]);
    json_patch(&ws, "deployment/web", "kubectl-edit", &patch);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), [format!("changedByOther {CONTAINER}.args[1]")]);
    heals(&ws);
    let patch = json!([{"op": "add", "path": "/spec/template/spec/containers/0/args/0", "value": "--debug"}]);
    json_patch(&ws, "deployment/web", "kubectl-edit", &patch);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), [format!("changedByOther {CONTAINER}.args")]);
    let change = diff.change("Deployment", "web", &format!("{CONTAINER}.args"));
    assert_eq!(change["desired"], json!(["--port", "8080", "--verbose"]));
    heals(&ws);
}

#[test]
fn members_of_a_set_are_matched_by_value() {
    let manifest =
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: it, finalizers: [example.com/a, example.com/b]}}";
    let ws = with(manifest);
    json_patch(&ws, "configmap/it", "kubectl-patch", &json!([{"op": "remove", "path": "/metadata/finalizers/0"}]));
    json_patch(
        &ws,
        "configmap/it",
        "agent",
        &json!([{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/c"}]),
    );
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "it"), [r#"absent metadata.finalizers[="example.com/a"]"#]);
    heals(&ws);
    let finalizers = ws.get("ConfigMap", "it")["metadata"]["finalizers"].as_array().unwrap().len();
    assert_eq!(finalizers, 3, "what others added stays");
    ws.write("it.yaml", &manifest.replaced("example.com/a, example.com/b", "example.com/b"));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", "it"), [r#"pruned metadata.finalizers[="example.com/a"]"#]);
    heals(&ws);
}

#[test]
fn strange_keys_of_maps_stand_in_brackets() {
    let ws = with(
        "
apiVersion: v1
kind: ConfigMap
metadata:
  name: it
  labels: {example.com/role: a, plain: a}
  annotations: {'quote.example.com/x_y-z': 'it''s \"quoted\"'}
data: {app.conf: a, UPPER: a, _x: a, '1': a, 'true': a, a-b: a}
",
    );
    let all = json!({
        "metadata": {"labels": {"example.com/role": "b", "plain": "b"}, "annotations": {"quote.example.com/x_y-z": "b"}},
        "data": {"app.conf": "b", "UPPER": "b", "_x": "b", "1": "b", "true": "b", "a-b": "b"},
    });
    ws.patch_as("kubectl-edit", "configmap/it", &all);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let mut paths: Vec<String> = diff.changes("ConfigMap", "it");
    paths.sort();
    assert_eq!(
        paths,
        [
            "changedByOther data.UPPER",
            "changedByOther data._x",
            "changedByOther data.a-b",
            "changedByOther data.true",
            r#"changedByOther data["1"]"#,
            r#"changedByOther data["app.conf"]"#,
            r#"changedByOther metadata.annotations["quote.example.com/x_y-z"]"#,
            "changedByOther metadata.labels.plain",
            r#"changedByOther metadata.labels["example.com/role"]"#,
        ]
    );
    heals(&ws);
}

#[test]
fn duplicates_that_an_update_left_behind_do_not_hide_drift() {
    let ws = with(WEB);
    let env = json!([{"name": "LOG", "value": "a"}, {"name": "LOG", "value": "b"}, {"name": "LANG", "value": "en"}]);
    let patch = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/env", "value": env}]);
    json_patch(&ws, "deployment/web", "kubectl-replace", &patch);
    let live = ws.get("Deployment", "web");
    assert_eq!(live["spec"]["template"]["spec"]["containers"][0]["env"].as_array().unwrap().len(), 3);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert!(diff.changes("Deployment", "web").iter().all(|change| change.contains("env")), "{diff}");
    heals(&ws);
    let env = &ws.get("Deployment", "web")["spec"]["template"]["spec"]["containers"][0]["env"];
    let value = |name: &str| env.as_array().unwrap().iter().filter(|item| item["name"] == name).count();
    assert_eq!((value("LOG"), value("LANG")), (1, 1), "{env}");
}

const SHELF: &str = "
properties:
  keyed:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name, zone]
    items:
      type: object
      required: [name]
      properties: {name: {type: string}, zone: {type: string, default: any}, weight: {type: integer}}
  tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
  steps: {type: array, items: {type: string}}
  whole: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
  free: {type: object, additionalProperties: {type: string}}
  any: {type: object, x-kubernetes-preserve-unknown-fields: true}
  ratio: {type: number}
  port: {x-kubernetes-int-or-string: true}
  level: {type: string, default: low}
";

const A_SHELF: &str = "
apiVersion: $NS.example.com/v1
kind: Shelf
metadata: {name: it}
spec:
  keyed: [{name: a, weight: 1}, {name: a, zone: x, weight: 2}, {name: b}]
  tags: [red, blue]
  steps: [one, two]
  whole: {a: b}
  free: {a: b, c/d: e}
  any: {deep: {list: [1, {x: y}], lit: true}}
  ratio: 2.0
  port: '80'
";

#[test]
fn custom_resources_have_lists_of_every_type() {
    let ws = with(&[&definition_with_status("Shelf", SHELF), A_SHELF].join("---"));
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    ws.wait_for_types();
    let kind = ws.fill_in("shelfs.$NS.example.com");
    let patch = json!([
        {"op": "replace", "path": "/spec/keyed/1/weight", "value": 9},
        {"op": "add", "path": "/spec/tags/0", "value": "green"},
        {"op": "replace", "path": "/spec/steps/1", "value": "three"},
        {"op": "replace", "path": "/spec/whole", "value": {"a": "c"}},
        {"op": "replace", "path": "/spec/free/c~1d", "value": "f"},
        {"op": "replace", "path": "/spec/any/deep/lit", "value": false},
        {"op": "replace", "path": "/spec/port", "value": 80},
        {"op": "replace", "path": "/spec/level", "value": "high"},
    ]);
    json_patch(&ws, &format!("{kind}/it"), "kubectl-edit", &patch);
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let mut paths = diff.changes("Shelf", "it");
    paths.sort();
    assert_eq!(
        paths,
        [
            "changedByOther spec.any.deep.lit",
            r#"changedByOther spec.free["c/d"]"#,
            "changedByOther spec.keyed[name=a,zone=x].weight",
            "changedByOther spec.port",
            "changedByOther spec.steps[1]",
            "changedByOther spec.whole.a",
        ]
    );
    let change = diff.change("Shelf", "it", "spec.port");
    assert_eq!((&change["live"], &change["desired"]), (&json!(80), &json!("80")));
    heals(&ws);
    let spec = &ws.get(&ws.fill_in("Shelf.$NS.example.com"), "it")["spec"];
    assert_eq!((&spec["tags"][0], &spec["level"]), (&json!("green"), &json!("high")), "not ours, not in the manifest");
}

#[test]
fn an_atomic_map_is_taken_whole() {
    let ws = with(
        "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {selector: {app: web}, ports: [{port: 80}]}}",
    );
    ws.patch_as("kubectl-edit", "service/it", &json!({"spec": {"selector": {"extra": "yes"}}}));
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Service", "it").len(), 1, "{diff}");
    assert!(diff.changes("Service", "it")[0].starts_with("changedByOther spec.selector"), "{diff}");
    heals(&ws);
    assert_eq!(ws.get("Service", "it")["spec"]["selector"], json!({"app": "web"}));
}
