//! New patches of an overlay: they have the accepted values and nothing else of the base, also where several changes share a place.

use serde_json::json;

use super::kustomize::{overlay_of, places, replaced, text};
use super::overlays::{builds, counting};
use super::{patched, pulled};
use crate::control_plane::{Replaced as _, Workspace};

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  revisionHistoryLimit: 5
  minReadySeconds: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: shop/web:1.0
        env:
        - name: LOG
          value: info
        - name: MODE
          value: fast
      - name: side
        image: busybox:1.0
";

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports:
  - {name: http, port: 80, targetPort: 8080}
  - {name: https, port: 443, targetPort: 8443}
";

/// The base with an overlay `prod` of nothing else.
fn shop() -> Workspace {
    overlay_of(&[("web.yaml", WEB), ("service.yaml", SERVICE)], "resources:\n- ../base\n")
}

#[test]
fn a_patch_of_an_item_that_is_not_the_first_names_the_others_and_leaves_them_to_the_base() {
    let ws = shop();
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    let containers = "/spec/template/spec/containers";
    replaced(&ws, "deployment/web", &format!("{containers}/0/env/1/value"), &json!("slow"));
    replaced(&ws, "deployment/web", &format!("{containers}/1/image"), &json!("busybox:2.0"));
    replaced(&ws, "service/web", "/spec/ports/1/targetPort", &json!(9443));
    patched(
        &ws,
        "service/web",
        &json!([{"op": "add", "path": "/spec/ports/-", "value": {"name": "metrics", "port": 9090, "targetPort": 9090}}]),
    );
    let counted = counting(&ws, "");
    let flags = ["pull", "-k", "prod", "--add-patches", "--class", "changedByOther,unmanaged"];
    ws.env("PATH", &counted).reconcile(flags).exits_with(0);
    assert!(builds(&ws) <= 12, "too many builds");
    ws.reconcile(["diff", "-k", "prod", "--fail-on", "drift"]).exits_with(0);

    let patch = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
      - name: app
        env:
        - name: LOG
        - name: MODE
          value: slow
";
    assert_eq!(text(&ws, "prod/deployment-patch.yaml"), patch);

    // What the base changes later is not held back.
    let base = WEB
        .replaced("shop/web:1.0", "shop/web:1.1")
        .replaced("value: info", "value: debug")
        .replaced("value: fast\n", "value: fast\n        - {name: NEW, value: '1'}\n");
    ws.write("base/web.yaml", &base);
    ws.write("base/service.yaml", &SERVICE.replaced("targetPort: 8080", "targetPort: 8081"));
    let built = ws.kubectl(["kustomize", "prod"]).exits_with(0).stdout;
    for expected in [
        "shop/web:1.1",
        "value: debug",
        "value: slow",
        "name: NEW",
        "busybox:2.0",
        "targetPort: 8081",
        "targetPort: 9443",
        "port: 9090",
    ] {
        assert!(built.contains(expected), "{expected}: {built}");
    }
    assert!(!text(&ws, "prod/service-patch.yaml").contains("8080"));
}

/// The second one comes behind the first, which the base does not have.
#[test]
fn two_new_items_of_a_list_leave_the_others_to_the_base() {
    let ws = shop();
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    let env = |name: &str| json!({"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": name, "value": "1"}});
    patched(&ws, "deployment/web", &json!([env("NEW"), env("NEWER")]));
    ws.reconcile(["pull", "-k", "prod", "--add-patches", "--class", "unmanaged"]).exits_with(0);
    ws.reconcile(["diff", "-k", "prod", "--fail-on", "drift,unmanaged"]).exits_with(0);
    let patch = text(&ws, "prod/deployment-patch.yaml");
    assert!(patch.contains("NEW\n") && patch.contains("NEWER") && !patch.contains("image"), "{patch}");
    assert!(!patch.contains("info") && !patch.contains("fast"), "{patch}");
}

const SHELF: &str = "
properties:
  items:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
    items: {type: object, required: [name], properties: {name: {type: string}, v: {type: integer}}}
";

#[test]
fn changes_in_a_list_that_kustomize_replaces_are_made_together() {
    let ws = Workspace::new();
    ws.define("Shelf", SHELF);
    let shelf = ws.fill_in(
        "apiVersion: $NS.example.com/v1\nkind: Shelf\nmetadata: {name: web}\nspec:\n  items:\n  - {name: a, v: 1}\n  - {name: b, v: 2}\n",
    );
    ws.write("base/kustomization.yaml", "resources: [shelf.yaml]\n");
    ws.write("base/shelf.yaml", &shelf);
    ws.write("prod/kustomization.yaml", "resources: [../base]\n");
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    let changes = json!([
        {"op": "replace", "path": "/spec/items/1/v", "value": 7},
        {"op": "add", "path": "/spec/items/-", "value": {"name": "c", "v": 3}},
    ]);
    patched(&ws, &ws.fill_in("shelfs.$NS.example.com/web"), &changes);
    let flags = ["pull", "-k", "prod", "--add-patches", "--class", "changedByOther,unmanaged"];
    ws.reconcile(flags).exits_with(0);
    ws.reconcile(["diff", "-k", "prod"]).exits_with(0);
    let built = ws.kubectl(["kustomize", "prod"]).exits_with(0).stdout;
    assert!(built.contains("v: 7") && built.contains("name: c") && built.contains("v: 1"), "{built}");
    assert_eq!(text(&ws, "base/shelf.yaml"), shelf);
}

/// An overlay with one base in two namespaces.
fn two() -> Workspace {
    let ws = shop();
    let [a, b] = namespaces(&ws);
    for (folder, namespace) in [("a", &a), ("b", &b)] {
        ws.write(format!("{folder}/kustomization.yaml"), &format!("resources: [../base]\nnamespace: {namespace}\n"));
    }
    let kustomization = "resources:\n- ../a\n- ../b\nimages:\n- name: busybox\n  newTag: \"2\"\n";
    ws.write("prod/kustomization.yaml", kustomization);
    ws.reconcile(["apply", "-k", "prod", "--create-namespace"]).exits_with(0);
    ws
}

fn namespaces(ws: &Workspace) -> [String; 2] {
    ["a", "b"].map(|name| format!("{}-{name}", ws.namespace()))
}

/// Changes of the live Deployment in a namespace.
fn in_namespace(ws: &Workspace, namespace: &str, patch: &serde_json::Value) {
    ws.kubectl(["patch", "deployment/web", "-n", namespace, "--type=json", "-p", &patch.to_string()]).exits_with(0);
}

#[test]
fn changes_of_one_place_are_tried_together_whatever_else_is_tried() {
    let ws = two();
    let [a, b] = namespaces(&ws);
    let patch = json!([
        {"op": "replace", "path": "/spec/template/spec/containers/1/image", "value": "busybox:3"},
        {"op": "replace", "path": "/spec/revisionHistoryLimit", "value": 8},
        {"op": "replace", "path": "/spec/minReadySeconds", "value": 8},
    ]);
    in_namespace(&ws, &a, &patch);
    in_namespace(&ws, &b, &patch);
    let counted = counting(&ws, "");
    let flags = ["pull", "-k", "prod", "-o", "json", "--add-patches"];
    let run = ws.env("PATH", &counted).reconcile(flags).exits_with(0);
    assert!(builds(&ws) <= 12, "too many builds: {run}");
    assert_eq!(pulled(&run)["summary"]["refused"].as_u64().unwrap_or_default(), 0, "{run}");
    assert!(text(&ws, "prod/kustomization.yaml").contains("newTag: \"3\""), "{run}");
    // The same kubectl builds it: older ones know no file with several patches.
    ws.env("PATH", &counted).reconcile(["diff", "-k", "prod"]).exits_with(0);
}

#[test]
fn an_object_whose_name_another_namespace_has_as_well_is_patched_alone() {
    let ws = two();
    let [a, _] = namespaces(&ws);
    let patch = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/env/1/value", "value": "slow"}]);
    in_namespace(&ws, &a, &patch);
    let run = ws.reconcile(["pull", "-k", "prod", "--add-patches", "-o", "json"]).exits_with(0);
    let [(_, file, how)] = &places(&run)[..] else { panic!("{run}") };
    assert_eq!((file.as_str(), how.as_str()), ("prod/deployment-patch.yaml", "newPatch"), "{run}");
    assert!(text(&ws, file).contains(&format!("namespace: {a}")), "{run}");
    ws.reconcile(["diff", "-k", "prod"]).exits_with(0);
}
