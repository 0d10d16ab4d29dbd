//! New patches of an overlay: they have the accepted values and nothing else of the base, also where several changes share a place.

use serde_json::json;

use super::kustomize::{overlay_of, places, replaced, text};
use super::overlays::{builds, counting};
use super::{patched, pulled};
use crate::control_plane::{Replaced as _, Workspace, definition};

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
    let shelf = "apiVersion: $NS.example.com/v1\nkind: Shelf\nmetadata: {name: web}\nspec:\n  items:\n  - {name: a, v: 1}\n  - {name: b, v: 2}\n";
    let ws = overlay_of(&[("shelf.yaml", shelf)], "resources: [../base]\n");
    ws.define("Shelf", SHELF);
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
    assert_eq!(text(&ws, "base/shelf.yaml"), ws.fill_in(shelf));
}

const RACK: &str = "
properties:
  slots: {type: array, items: {type: object, properties: {name: {type: string}, v: {type: integer}}}}
";

#[test]
fn several_values_of_a_list_that_is_one_value_are_pulled_in_one_run() {
    let rack = "apiVersion: $NS.example.com/v1\nkind: Rack\nmetadata: {name: it}\nspec:\n  slots:\n  - {name: a, v: 1}\n  - {name: b, v: 2}\n  - {name: c, v: 3}\n";
    let ws = overlay_of(&[("rack.yaml", rack)], "resources: [../base]\n");
    ws.define("Rack", RACK);
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    let value = |at: &str, value| json!({"op": "replace", "path": format!("/spec/slots/{at}"), "value": value});
    let changes = json!([value("0/v", json!(10)), value("1/v", json!(20)), value("1/name", json!("bb"))]);
    patched(&ws, &ws.fill_in("racks.$NS.example.com/it"), &changes);
    ws.reconcile(["pull", "-k", "prod", "--add-patches"]).exits_with(0);
    ws.reconcile(["diff", "-k", "prod"]).exits_with(0);
    assert_eq!(text(&ws, "base/rack.yaml"), ws.fill_in(rack));
}

/// Each edit names what comes before its item: together, they have the order of the cluster.
#[test]
fn items_with_other_keys_are_patched_at_their_places() {
    const KEPT: &str = "# ours
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - name: app
        env:
        # the last one
        - name: MODE
          value: slow # for now
";
    let containers = "/spec/template/spec/containers";
    let env = |at: &str| format!("{containers}/0/env/{at}");
    let set = |path: &str, value| json!({"op": "replace", "path": path, "value": value});
    let add = |path: &str, value| json!({"op": "add", "path": path, "value": value});
    let variable = |name: &str| json!({"name": name, "value": "1"});
    for (object, changes) in [
        ("service/web", json!([set("/spec/ports/0/port", json!(81))])),
        ("service/web", json!([set("/spec/ports/0/port", json!(81)), set("/spec/ports/1/port", json!(444))])),
        ("deployment/web", json!([set(&env("0"), variable("LEVEL")), set(&env("1/value"), json!("other"))])),
        ("deployment/web", json!([set(&env("1"), variable("SPEED")), set(&env("0/value"), json!("other"))])),
        (
            "deployment/web",
            json!([{"op": "remove", "path": env("1")}, add(&env("0"), variable("FIRST")), add(&env("-"), variable("LAST"))]),
        ),
        (
            "deployment/web",
            json!([
                add(&format!("{containers}/0"), json!({"name": "before", "image": "b"})),
                add(&format!("{containers}/-"), json!({"name": "after", "image": "a"})),
            ]),
        ),
    ] {
        for kept in [None, Some(KEPT)] {
            let ws = shop();
            if let Some(kept) = kept {
                ws.write("prod/kustomization.yaml", "resources:\n- ../base\npatches:\n- path: kept.yaml\n");
                ws.write("prod/kept.yaml", kept);
            }
            ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
            patched(&ws, object, &changes);
            let flags = ["pull", "-k", "prod", "--add-patches", "--class", "changedByOther,absent,unmanaged"];
            ws.reconcile(flags).exits_with(0);
            let diff = ws.reconcile(["diff", "-k", "prod", "--fail-on", "drift,unmanaged"]).exits_with(0);
            assert_eq!(diff.report()["summary"]["inSync"], 2, "{changes}: {diff}");
            let again = ws.reconcile(flags).exits_with(0);
            assert!(again.stdout.contains("nothing to pull"), "{again}");
            let is_kept = |text: String| text.starts_with("# ours\n") && text.contains("# the last one\n");
            assert!(kept.is_none() || is_kept(text(&ws, "prod/kept.yaml")), "{changes}");
        }
    }
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

/// Each file of a kustomization loses the part of the map or the list that it has.
#[test]
fn a_map_that_is_gone_from_a_custom_resource_goes_from_the_files_of_a_kustomization() {
    let schema = "
properties:
  size: {type: integer}
  labels: {type: object, additionalProperties: {type: string}}
  deep: {type: object, properties: {er: {type: object, additionalProperties: {type: string}}}}
  tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
";
    let base = "apiVersion: $NS.example.com/v1\nkind: Coop\nmetadata: {name: it}\nspec:\n  labels:  # of all\n    a: x\n  size: 1\n";
    let overlay = "\
resources:
- ../base
patches:
- path: labels.yaml
- target: {kind: Coop}
  patch: |-
    - op: add
      path: /spec/tags
      value: [c, d]
    - op: add
      path: /spec/deep
      value: {er: {e: f}}
    - op: replace
      path: /spec/size
      value: 2
";
    let labels =
        "apiVersion: $NS.example.com/v1\nkind: Coop\nmetadata: {name: it}\nspec:\n  labels:\n    b: z\n    c: w\n";
    let ws = overlay_of(&[("it.yaml", base)], overlay);
    ws.write("prod/labels.yaml", labels);
    ws.write("crd.yaml", &definition("Coop", schema));
    ws.reconcile(["apply", "-f", "crd.yaml"]).exits_with(0);
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    let gone = ["labels", "deep", "tags"].map(|field| json!({"op": "remove", "path": format!("/spec/{field}")}));
    patched(&ws, &ws.fill_in("coops.$NS.example.com/it"), &json!(gone));
    ws.reconcile(["pull", "-k", "prod", "--edit-bases", "--class", "absent"]).exits_with(0);
    ws.reconcile(["diff", "-k", "prod"]).exits_with(0);
    assert!(text(&ws, "base/it.yaml").ends_with("spec:\n  size: 1\n"), "{}", text(&ws, "base/it.yaml"));
    assert!(text(&ws, "prod/labels.yaml").ends_with("spec: {}\n"), "{}", text(&ws, "prod/labels.yaml"));
    let overlay = text(&ws, "prod/kustomization.yaml");
    assert!(overlay.ends_with("  patch: |-\n    - op: replace\n      path: /spec/size\n      value: 2\n"), "{overlay}");
}
