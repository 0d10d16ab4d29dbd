//! `pull -k`: each live value lands where the kustomization sets it, and a build proves it.

use std::fs;

use serde_json::{Value, json};

use super::{patched, pulled};
use crate::control_plane::{Replaced as _, Run, Workspace};

pub const OVERLAY: &str = "\
# The shop in production
resources:
- ../../base
- extra.yaml
images:
- name: shop/web
  newTag: \"1.2\"   # set by the release
replicas:
- name: web
  count: 2
configMapGenerator:
- name: settings
  literals:
  - COLOUR=green
  - SIZE=4
patches:
- patch: |-
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
    spec:
      minReadySeconds: 3  # as the load balancer
- path: limits.yaml
  target:
    kind: Deployment
    name: web
secretGenerator:
- name: login
  literals:
  - password=swordfish
";

pub const BASE: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  revisionHistoryLimit: 5
  selector:
    matchLabels: {app: web}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 20
      containers:
      - name: web
        image: shop/web
        envFrom:
        - configMapRef: {name: settings}
";

pub const LIMITS: &str = "\
- op: replace
  path: /spec/template/spec/terminationGracePeriodSeconds
  value: 30
";

pub const EXTRA: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: banner}
data:
  text: hello   # shown on top
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: worker
spec:
  selector:
    matchLabels: {app: worker}
  template:
    metadata: {labels: {app: worker}}
    spec:
      containers:
      - {name: worker, image: 'shop/worker:1'}
";

/// A workspace with an overlay that was applied.
pub fn shop() -> Workspace {
    let ws = Workspace::new();
    ws.secret("swordfish");
    ws.write("base/kustomization.yaml", "resources: [web.yaml]\n");
    ws.write("base/web.yaml", BASE);
    ws.write("overlays/prod/kustomization.yaml", OVERLAY);
    ws.write("overlays/prod/extra.yaml", EXTRA);
    ws.write("overlays/prod/limits.yaml", LIMITS);
    ws.reconcile(["apply", "-k", "overlays/prod"]).exits_with(0);
    ws
}

/// A base with these files, and an overlay `prod`.
pub fn overlay_of(files: &[(&str, &str)], prod: &str) -> Workspace {
    let ws = Workspace::new();
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    ws.write("base/kustomization.yaml", &format!("resources: [{}]\n", names.join(", ")));
    for (name, content) in files {
        ws.write(format!("base/{name}"), content);
    }
    ws.write("prod/kustomization.yaml", prod);
    ws
}

pub fn text(ws: &Workspace, file: &str) -> String {
    fs::read_to_string(ws.folder().join(file)).unwrap()
}

pub fn replaced(ws: &Workspace, object: &str, path: &str, value: &Value) {
    patched(ws, object, &json!([{"op": "replace", "path": path, "value": value}]));
}

/// The path, the file and the kind of place of each change that was pulled.
pub fn places(run: &Run) -> Vec<(String, String, String)> {
    let report = pulled(run);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let changes = report["objects"].as_array().unwrap().iter().flat_map(|object| object["changes"].as_array().unwrap());
    let accepted = changes.filter(|change| change["accepted"] == true);
    accepted.map(|change| (text(&change["path"]), text(&change["file"]), text(&change["how"]))).collect()
}

#[test]
fn each_value_lands_where_the_overlay_sets_it() {
    let ws = shop();
    let settings = ws.kubectl(["get", "configmap", "-o", "name"]).exits_with(0).stdout;
    let settings = settings.lines().find(|name| name.contains("/settings-")).unwrap();
    ws.scale("deployment/web", 5);
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:hotfix"]).exits_with(0);
    replaced(&ws, "deployment/web", "/spec/minReadySeconds", &json!(9));
    replaced(&ws, "deployment/web", "/spec/template/spec/terminationGracePeriodSeconds", &json!(60));
    replaced(&ws, settings, "/data/COLOUR", &json!("red"));
    replaced(&ws, "configmap/banner", "/data/text", &json!("closed"));
    let kustomization = "overlays/prod/kustomization.yaml";

    let dry = ws.reconcile(["pull", "-k", "overlays/prod", "--dry-run"]).exits_with(1);
    assert!(dry.stdout.contains("+  newTag: \"hotfix\"   # set by the release\n"), "{dry}");
    assert_eq!(text(&ws, kustomization), OVERLAY);

    let run = ws.reconcile(["pull", "-k", "overlays/prod", "-o", "json"]).exits_with(0);
    let mut hows: Vec<String> = places(&run).into_iter().map(|(_, file, how)| format!("{how} {file}")).collect();
    hows.sort();
    assert_eq!(
        hows,
        [
            "images overlays/prod/kustomization.yaml",
            "literal overlays/prod/kustomization.yaml",
            "patch overlays/prod/kustomization.yaml",
            "patch overlays/prod/limits.yaml",
            "replicas overlays/prod/kustomization.yaml",
            "resource overlays/prod/extra.yaml",
        ],
        "{run}"
    );
    let expected = OVERLAY
        .replaced("count: 2", "count: 5")
        .replaced("\"1.2\"", "\"hotfix\"")
        .replaced("minReadySeconds: 3", "minReadySeconds: 9")
        .replaced("COLOUR=green", "COLOUR=red");
    assert_eq!(text(&ws, kustomization), expected);
    assert_eq!(text(&ws, "overlays/prod/limits.yaml"), LIMITS.replaced("30", "60"));
    assert_eq!(text(&ws, "overlays/prod/extra.yaml"), EXTRA.replaced("hello", "closed"));
    assert_eq!(text(&ws, "base/web.yaml"), BASE);
}

#[test]
fn a_new_entry_is_made_in_the_overlay_and_a_base_is_left_alone() {
    let ws = Workspace::new();
    let base = BASE.replaced("spec:\n  rev", "spec:\n  replicas: 1\n  rev");
    let kustomization = "overlays/prod/kustomization.yaml";
    ws.write("base/kustomization.yaml", "resources: [web.yaml]\n");
    ws.write("base/web.yaml", &base);
    ws.write(kustomization, "resources:\n- ../../base\n");
    ws.reconcile(["apply", "-k", "overlays/prod"]).exits_with(0);
    ws.scale("deployment/web", 4);
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:hotfix"]).exits_with(0);
    replaced(&ws, "deployment/web", "/spec/revisionHistoryLimit", &json!(7));

    let run = ws.reconcile(["pull", "-k", "overlays/prod", "-o", "json"]).exits_with(4);
    let hows: Vec<String> = places(&run).into_iter().map(|(_, file, how)| format!("{how} {file}")).collect();
    assert_eq!(hows, ["newEntry overlays/prod/kustomization.yaml"; 2], "{run}");
    let report = pulled(&run);
    let changes = report["objects"][0]["changes"].as_array().unwrap();
    let refused = changes.iter().find(|change| change["accepted"] == false).unwrap();
    assert_eq!(refused["path"], "spec.revisionHistoryLimit", "{run}");
    assert!(refused["reason"].as_str().unwrap().contains("base/web.yaml"), "{run}");
    assert_eq!(text(&ws, "base/web.yaml"), base);
    assert!(text(&ws, kustomization).contains("replicas:\n- count: 4\n  name: web\n"), "{run}");
    // kustomize reads the new entries as they are meant.
    let diff = ws.reconcile(["diff", "-k", "overlays/prod", "-o", "json"]).exits_with(1);
    let diff: Value = serde_json::from_str(&diff.stdout).unwrap();
    let paths: Vec<&Value> =
        diff["objects"][0]["changes"].as_array().unwrap().iter().map(|change| &change["path"]).collect();
    assert_eq!(paths, ["spec.revisionHistoryLimit"]);
}

#[test]
fn an_entry_that_sets_another_object_as_well_is_left_alone() {
    let ws = Workspace::new();
    let other = BASE.replace("web\n", "api\n").replace("{app: web}", "{app: api}").replace("shop/api", "shop/web");
    let overlay = "resources: [web.yaml, api.yaml]\nimages:\n- name: shop/web\n  newTag: \"1\"\n";
    ws.write("kustomization.yaml", overlay);
    ws.write("web.yaml", BASE);
    ws.write("api.yaml", &other);
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:2"]).exits_with(0);
    let run = ws.reconcile(["pull", "-k", "."]).exits_with(4);
    assert!(run.stdout.contains("also sets Deployment api"), "{run}");
    assert_eq!((text(&ws, "kustomization.yaml"), text(&ws, "web.yaml")), (overlay.to_owned(), BASE.to_owned()));
    ws.kubectl(["set", "image", "deployment/api", "api=shop/web:2"]).exits_with(0);
    ws.reconcile(["pull", "-k", "."]).exits_with(0);
    assert_eq!(text(&ws, "kustomization.yaml"), overlay.replaced("\"1\"", "\"2\""));
}

#[test]
fn the_lines_of_a_generator_of_secrets_are_not_shown() {
    let ws = shop();
    replaced(&ws, "deployment/web", "/spec/minReadySeconds", &json!(9));
    let run = ws.reconcile(["pull", "-k", "overlays/prod", "--dry-run"]).exits_with(1);
    assert!(run.stdout.contains("minReadySeconds: 9"), "{run}");
    assert!(!run.stdout.contains("swordfish"), "{run}");
}

/// Two Deployments in the overlay with one image.
fn two_with_one_image(kustomization: &str) -> (Workspace, String) {
    let ws = Workspace::new();
    let other = BASE.replace("web\n", "api\n").replace("{app: web}", "{app: api}").replace("shop/api", "shop/web");
    ws.write("kustomization.yaml", kustomization);
    ws.write("web.yaml", BASE);
    ws.write("api.yaml", &other);
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    (ws, other)
}

#[test]
fn values_that_one_entry_cannot_set_are_pulled_into_their_resources_in_one_run() {
    let resources = "resources: [web.yaml, api.yaml]\n";
    let (ws, other) = two_with_one_image(resources);
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:2"]).exits_with(0);
    ws.kubectl(["set", "image", "deployment/api", "api=shop/web:3"]).exits_with(0);
    let run = ws.reconcile(["pull", "-k", ".", "-o", "json"]).exits_with(0);
    let hows: Vec<String> = places(&run).into_iter().map(|(_, file, how)| format!("{how} {file}")).collect();
    assert_eq!(hows, ["resource api.yaml", "resource web.yaml"], "{run}");
    assert_eq!(text(&ws, "web.yaml"), BASE.replaced("image: shop/web", "image: shop/web:2"));
    assert_eq!(text(&ws, "api.yaml"), other.replaced("image: shop/web", "image: shop/web:3"));
    assert_eq!(text(&ws, "kustomization.yaml"), resources);
    ws.reconcile(["diff", "-k", "."]).exits_with(0);

    // An entry that is there wins over the resources, so that there is no place for both.
    let overlay = &format!("{resources}images:\n- name: shop/web\n  newTag: \"1\"\n");
    let (ws, _) = two_with_one_image(overlay);
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:2"]).exits_with(0);
    ws.kubectl(["set", "image", "deployment/api", "api=shop/web:3"]).exits_with(0);
    let run = ws.reconcile(["pull", "-k", "."]).exits_with(4);
    assert!(run.stdout.contains("kustomization.yaml that sets it also sets Deployment"), "{run}");
    assert!(!run.stdout.contains("--add-patches"), "nothing comes after it: {run}");
    assert_eq!(text(&ws, "kustomization.yaml"), *overlay);
}

#[test]
fn the_items_of_a_list_are_resources() {
    let ws = Workspace::new();
    ws.secret("hunter2-of-the-list");
    let list = "\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: first}
  data: {a: ours}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: second}
  data:
    a: ours   # as agreed
";
    let secret = "kind: Secret\napiVersion: v1\nmetadata: {name: login}\nstringData: {password: hunter2-of-the-list}\n";
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: third}\ndata: {a: ours}\n";
    ws.write("kustomization.yaml", "resources: [list.yaml, both.yaml]\nnamePrefix: shop-\n");
    ws.write("list.yaml", list);
    ws.write("both.yaml", &format!("{secret}---\n{map}"));
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    for name in ["second", "third"] {
        replaced(&ws, &format!("configmap/shop-{name}"), "/data/a", &json!("theirs"));
    }
    let diff = ws.reconcile(["diff", "-k", "."]).exits_with(1);
    assert!(diff.stdout.contains("list.yaml:8") && diff.stdout.contains("both.yaml:6"), "{diff}");
    let run = ws.reconcile(["pull", "-k", "."]).exits_with(0);
    assert_eq!(text(&ws, "list.yaml"), list.replaced("    a: ours", "    a: theirs"), "{run}");
    assert_eq!(text(&ws, "both.yaml"), format!("{secret}---\n{}", map.replaced("ours", "theirs")));
    // The lines of the other document of its file are shown, those of the Secret are not.
    assert!(run.stdout.contains("+data: {a: theirs}"), "{run}");
}

/// An item with another key comes at the place of the one that goes.
#[test]
fn an_item_with_another_key_is_pulled_in_one_run() {
    let ws = Workspace::new();
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  selector: {app: web}\n  ports:\n  - port: 80  # for all\n    targetPort: 8080\n";
    ws.write("shop/kustomization.yaml", "resources: [web.yaml]\n");
    ws.write("shop/web.yaml", service);
    ws.reconcile(["apply", "-k", "shop"]).exits_with(0);
    patched(&ws, "service/web", &json!([{"op": "replace", "path": "/spec/ports/0/port", "value": 81}]));
    ws.reconcile(["pull", "-k", "shop", "--class", "changedByOther,absent,unmanaged"]).exits_with(0);
    let text = fs::read_to_string(ws.folder().join("shop/web.yaml")).unwrap();
    assert!(text.ends_with("  ports:\n  - port: 81  # for all\n    targetPort: 8080\n"), "{text}");
    ws.reconcile(["diff", "-k", "shop"]).exits_with(0);
}
