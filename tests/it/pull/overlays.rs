//! The parts of a kustomization that `pull -k` edits, and the number of builds that it needs.

use std::fs;

use serde_json::json;

use super::kustomize::{places, replaced, text};
use super::{patched, pulled};
use crate::control_plane::{Replaced as _, Workspace};
use crate::manifests::WITH_SETTINGS;

/// A `kubectl` that writes a line for each build, and the `PATH` with it.
pub fn counting(ws: &Workspace, script: &str) -> String {
    let bin = ws.home().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let kubectl = ws.plane().kubectl().display().to_string();
    let count = ws.home().join("builds").display().to_string();
    let text = format!("#!/bin/sh\necho build >> {count}\nn=$(wc -l < {count})\n{script}\nexec {kubectl} \"$@\"\n");
    let program = bin.join("kubectl");
    fs::write(&program, text).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", bin.display())
}

/// The number of builds since the last call.
pub fn builds(ws: &Workspace) -> usize {
    let count = ws.home().join("builds");
    let lines = fs::read_to_string(&count).unwrap_or_default().lines().count();
    let _ = fs::remove_file(count);
    lines
}

fn hows(run: &crate::control_plane::Run) -> Vec<String> {
    let mut hows: Vec<String> =
        places(run).into_iter().map(|(path, file, how)| format!("{how} {file} {path}")).collect();
    hows.sort();
    hows
}

#[test]
fn labels_and_annotations_of_all_objects_are_pulled_where_they_are_common() {
    let ws = Workspace::new();
    let kustomization = "\
resources: [maps.yaml]
labels:
- pairs:
    tier: front   # for the firewall
commonLabels: {part: 'shop'}
commonAnnotations:
  example.com/owner: team-a   # see the wiki
";
    let map = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: b}}\n");
    ws.write("kustomization.yaml", kustomization);
    ws.write("maps.yaml", &format!("{}---\n{}", map("a"), map("b")));
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    for object in ["configmap/a", "configmap/b"] {
        replaced(&ws, object, "/metadata/labels/tier", &json!("back"));
        replaced(&ws, object, "/metadata/labels/part", &json!("store"));
        replaced(&ws, object, "/metadata/annotations/example.com~1owner", &json!("team-b"));
    }
    let run = ws.reconcile(["pull", "-k", ".", "-o", "json"]).exits_with(0);
    let expected = [
        "annotations kustomization.yaml metadata.annotations[\"example.com/owner\"]",
        "annotations kustomization.yaml metadata.annotations[\"example.com/owner\"]",
        "labels kustomization.yaml metadata.labels.part",
        "labels kustomization.yaml metadata.labels.part",
        "labels kustomization.yaml metadata.labels.tier",
        "labels kustomization.yaml metadata.labels.tier",
    ];
    assert_eq!(hows(&run), expected, "{run}");
    let expected = kustomization
        .replaced("tier: front", "tier: back")
        .replaced("part: 'shop'", "part: 'store'")
        .replaced("team-a", "team-b");
    assert_eq!(text(&ws, "kustomization.yaml"), expected);
    ws.reconcile(["diff", "-k", "."]).exits_with(0);

    // The label of one object cannot be changed where that of all is.
    replaced(&ws, "configmap/a", "/metadata/labels/tier", &json!("middle"));
    let run = ws.reconcile(["pull", "-k", "."]).exits_with(4);
    assert!(run.stdout.contains("also sets ConfigMap b"), "{run}");
    assert_eq!(text(&ws, "kustomization.yaml"), expected);
}

#[test]
fn files_and_envs_of_generators_are_edited_whatever_the_hash() {
    let ws = Workspace::new();
    ws.secret("hunter2-of-the-shop");
    let kustomization = "\
resources: [job.yaml]
configMapGenerator:
- name: settings
  files:
  - app.conf
  - page=files/index.html
  envs: [web.env]
secretGenerator:
- name: login
  envs: [login.env]
";
    let job = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: shop/web
        envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: login}}]
";
    ws.write("kustomization.yaml", kustomization);
    ws.write("job.yaml", job);
    ws.write("app.conf", "[server]\nport = 1\n");
    ws.write("files/index.html", "<h1>Shop</h1>\n");
    ws.write("web.env", "# for all shops\nCOLOUR=green\nSIZE=4\n");
    ws.write("login.env", "PASSWORD=hunter2-of-the-shop\n");
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    let names = ws.kubectl(["get", "configmap", "-o", "name"]).exits_with(0).stdout;
    let settings = names.lines().find(|name| name.contains("/settings-")).unwrap();
    replaced(&ws, settings, "/data/app.conf", &json!("[server]\nport = 2\n"));
    replaced(&ws, settings, "/data/page", &json!("<h1>Closed</h1>\n"));
    replaced(&ws, settings, "/data/COLOUR", &json!("red"));
    let run = ws.reconcile(["pull", "-k", ".", "-o", "json"]).exits_with(0);
    let expected = ["file app.conf data[\"app.conf\"]", "file files/index.html data.page", "file web.env data.COLOUR"];
    assert_eq!(hows(&run), expected, "{run}");
    assert_eq!(text(&ws, "app.conf"), "[server]\nport = 2\n");
    assert_eq!(text(&ws, "files/index.html"), "<h1>Closed</h1>\n");
    assert_eq!(text(&ws, "web.env"), "# for all shops\nCOLOUR=red\nSIZE=4\n");
    // What was removed goes with its line.
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    let names = ws.kubectl(["get", "deployment", "web", "-o", "jsonpath={..configMapRef.name}"]).exits_with(0).stdout;
    patched(&ws, &format!("configmap/{names}"), &json!([{"op": "remove", "path": "/data/SIZE"}]));
    let run = ws.reconcile(["pull", "-k", ".", "--class", "absent", "-o", "json"]).exits_with(0);
    assert_eq!(hows(&run), ["file web.env data.SIZE"], "{run}");
    assert_eq!(text(&ws, "web.env"), "# for all shops\nCOLOUR=red\n");
    // So does the last one of a generator.
    let lone = "- name: lone\n  literals: [x=1]\n  options: {disableNameSuffixHash: true, labels: {a: b}}\n";
    ws.write(
        "kustomization.yaml",
        &kustomization.replaced("configMapGenerator:\n", &format!("configMapGenerator:\n{lone}")),
    );
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    patched(&ws, "configmap/lone", &json!([{"op": "remove", "path": "/data"}]));
    let flags = ["pull", "-k", ".", "--class", "absent", "--object", "ConfigMap/lone", "-o", "json"];
    let run = ws.reconcile(flags).exits_with(0);
    assert_eq!(hows(&run), ["literal kustomization.yaml data.x"], "{run}");
    ws.write("kustomization.yaml", kustomization);
    // A value of a Secret is never written, also if somebody names it.
    let names = ws.kubectl(["get", "secret", "-o", "name"]).exits_with(0).stdout;
    let login = names.lines().find(|name| name.contains("/login-")).unwrap();
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    replaced(&ws, login, "/data/PASSWORD", &json!("c29tZXRoaW5nLWVsc2U="));
    let login = format!("Secret/{}", login.trim_start_matches("secret/"));
    let run = ws.reconcile(["pull", "-k", ".", "--object", &login]).exits_with(4);
    assert!(run.stdout.contains("secret values are not written into manifests"), "{run}");
    assert_eq!(text(&ws, "login.env"), "PASSWORD=hunter2-of-the-shop\n");
    // The reference to the generated name follows.
    let built = ws.kubectl(["kustomize", "."]).exits_with(0).stdout;
    assert!(built.contains("COLOUR: red") && !built.contains(settings.trim_start_matches("configmap/")), "{built}");
    assert_eq!((text(&ws, "job.yaml"), text(&ws, "kustomization.yaml")), (job.to_owned(), kustomization.to_owned()));
}

#[test]
fn the_rest_of_a_generated_object_is_pulled_after_a_part_of_it() {
    let ws = Workspace::new();
    ws.write(
        "base/kustomization.yaml",
        "resources: [job.yaml]\nconfigMapGenerator:\n- name: settings\n  literals: [A=1, B=2]\n",
    );
    ws.write("base/job.yaml", WITH_SETTINGS);
    let prod = "resources: [../base]\nconfigMapGenerator:\n- name: settings\n  behavior: merge\n  literals:\n  - A=3\n";
    ws.write("prod/kustomization.yaml", prod);
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    let names = ws.kubectl(["get", "configmap", "-o", "name"]).exits_with(0).stdout;
    let settings = names.lines().find(|name| name.contains("/settings-")).unwrap();
    replaced(&ws, settings, "/data/A", &json!("x"));
    replaced(&ws, settings, "/data/B", &json!("y"));
    ws.patch_as("kubectl-edit", settings, &json!({"data": {"C": "new"}}));
    let run = ws.reconcile(["pull", "-k", "prod", "-o", "json"]).exits_with(4);
    assert_eq!(hows(&run), ["literal prod/kustomization.yaml data.A"], "{run}");
    // The manifest has a new name now. The live object is the former one, in which only the other value is not what was applied.
    let diff = ws.reconcile(["diff", "-k", "prod"]).exits_with(1);
    let objects = diff.objects();
    let map = objects.iter().find(|object| object["kind"] == "ConfigMap").unwrap();
    assert_eq!(
        (map["renamedFrom"].as_str(), &map["side"]),
        (settings.strip_prefix("configmap/"), &json!("cluster")),
        "{diff}"
    );
    let run = ws.reconcile(["pull", "-k", "prod", "-o", "json"]).exits_with(4);
    assert!(run.stdout.contains("--add-patches") && !run.stderr.contains("does not exist"), "{run}");
    let run = ws.reconcile(["pull", "-k", "prod", "--add-patches", "-o", "json"]).exits_with(0);
    assert_eq!(hows(&run).len(), 1, "{run}");
    let built = ws.kubectl(["kustomize", "prod"]).exits_with(0).stdout;
    assert!(built.contains("A: x") && built.contains("B: \"y\"") || built.contains("B: y"), "{built}");
    ws.reconcile(["pull", "-k", "prod", "--add-patches"]).exits_with(0);
    // The reference follows the build, and is never pulled.
    let run = ws.reconcile(["pull", "-k", "prod", "--add-patches", "--class", "pending"]).exits_with(4);
    assert!(run.stdout.contains("the name has the hash of the content, which the build sets"), "{run}");
    // What nobody pulled is lost under the new name.
    let diff = ws.reconcile(["diff", "-k", "prod"]).exits_with(1);
    let objects = diff.objects();
    let map = objects.iter().find(|object| object["kind"] == "ConfigMap").unwrap();
    let lost = &map["changes"][0];
    assert_eq!((map["changes"].as_array().map(Vec::len), &map["side"]), (Some(1), &json!("cluster")), "{diff}");
    assert_eq!(
        (&lost["path"], &lost["class"], &lost["side"]),
        (&json!("data.C"), &json!("unmanaged"), &json!("cluster"))
    );
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    ws.reconcile(["diff", "-k", "prod"]).exits_with(0);
}

#[test]
fn a_generated_object_that_only_the_base_tells_of_is_pulled_and_is_one_object_afterwards() {
    let ws = Workspace::new();
    let kustomization = |literals: &str| format!("configMapGenerator:\n- name: settings\n  literals: [{literals}]\n");
    for folder in ["prod", "before"] {
        ws.write(format!("{folder}/kustomization.yaml"), &kustomization("A=1, B=2"));
    }
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    let names = ws.kubectl(["get", "configmap", "-o", "name"]).exits_with(0).stdout;
    let settings = names.lines().find(|name| name.contains("/settings-")).unwrap();
    replaced(&ws, settings, "/data/A", &json!("x"));
    replaced(&ws, settings, "/data/B", &json!("y"));
    let before = ws.kubectl(["kustomize", "before"]).exits_with(0).stdout;
    ws.write("before.yaml", &before);
    ws.reconcile(["pull", "-k", "prod", "--field", "data.A"]).exits_with(0);
    let run = ws.reconcile(["pull", "-k", "prod", "--base", "before.yaml", "-o", "json"]).exits_with(0);
    assert_eq!(hows(&run), ["literal prod/kustomization.yaml data.B"], "{run}");
    let diff = ws.reconcile(["diff", "-k", "prod", "--base", "before.yaml"]).exits_with(1);
    let object = &diff.objects()[0];
    assert_eq!(
        (object["renamedFrom"].as_str(), &object["action"]),
        (settings.strip_prefix("configmap/"), &json!("update"))
    );
    assert_eq!(
        (&object["changes"][0]["path"], &object["side"]),
        (&json!("metadata.name"), &json!("manifest")),
        "{diff}"
    );
}

#[test]
fn a_file_that_a_secret_has_as_well_is_left_alone_and_not_shown() {
    let ws = Workspace::new();
    let kustomization = "\
configMapGenerator:
- name: settings
  envs: [web.env]
secretGenerator:
- name: login
  envs: [web.env]
generatorOptions: {disableNameSuffixHash: true}
";
    ws.write("kustomization.yaml", kustomization);
    ws.write("web.env", "COLOUR=green\nPASSWORD=hunter2-of-both\n");
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    replaced(&ws, "configmap/settings", "/data/COLOUR", &json!("red"));
    let run =
        ws.reconcile(["pull", "-k", ".", "--object", "ConfigMap/settings", "--field", "data.COLOUR"]).exits_with(4);
    assert!(run.stdout.contains("also sets Secret login"), "{run}");
    assert_eq!(text(&ws, "web.env"), "COLOUR=green\nPASSWORD=hunter2-of-both\n");
}

#[test]
fn names_with_prefix_suffix_and_namespace_lead_to_their_places() {
    let ws = Workspace::new();
    let kustomization = "\
namePrefix: shop-
nameSuffix: -v1
namespace: $NS
resources: [web.yaml]
components: [limits]
patches:
- patch: |-
    {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {minReadySeconds: 3}}
configMapGenerator:
- name: settings
  literals: [A=1]
";
    let web = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  revisionHistoryLimit: 5   # enough
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: 'shop/web:1'}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-api}
spec:
  replicas: 1
  revisionHistoryLimit: 6
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: web, image: 'shop/api:1'}]}
";
    let component = "\
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- path: limits.yaml
  target: {kind: Deployment}
";
    let limits = "- op: add\n  path: /spec/progressDeadlineSeconds\n  value: 60   # a minute\n";
    ws.write("kustomization.yaml", kustomization);
    ws.write("web.yaml", web);
    ws.write("limits/kustomization.yaml", component);
    ws.write("limits/limits.yaml", limits);
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    let settings = ws.kubectl(["get", "configmap", "-o", "name"]).exits_with(0).stdout;
    let settings = settings.lines().find(|name| name.contains("/shop-settings-v1-")).unwrap();
    ws.scale("deployment/shop-web-v1", 4);
    replaced(&ws, "deployment/shop-web-v1", "/spec/minReadySeconds", &json!(9));
    replaced(&ws, "deployment/shop-web-v1", "/spec/revisionHistoryLimit", &json!(7));
    replaced(&ws, "deployment/shop-web-api-v1", "/spec/revisionHistoryLimit", &json!(8));
    for object in ["deployment/shop-web-v1", "deployment/shop-web-api-v1"] {
        replaced(&ws, object, "/spec/progressDeadlineSeconds", &json!(90));
    }
    replaced(&ws, settings, "/data/A", &json!("2"));
    let run = ws.reconcile(["pull", "-k", ".", "-o", "json"]).exits_with(0);
    let expected = [
        "literal kustomization.yaml data.A",
        "patch kustomization.yaml spec.minReadySeconds",
        "patch limits/limits.yaml spec.progressDeadlineSeconds",
        "patch limits/limits.yaml spec.progressDeadlineSeconds",
        "resource web.yaml spec.replicas",
        "resource web.yaml spec.revisionHistoryLimit",
        "resource web.yaml spec.revisionHistoryLimit",
    ];
    assert_eq!(hows(&run), expected, "{run}");
    let expected =
        web.replacen("replicas: 1", "replicas: 4", 1).replaced("Limit: 5", "Limit: 7").replaced("Limit: 6", "Limit: 8");
    assert_eq!(text(&ws, "web.yaml"), expected);
    assert_eq!(text(&ws, "limits/limits.yaml"), limits.replaced("60", "90"));
    let expected =
        ws.fill_in(kustomization).replaced("minReadySeconds: 3", "minReadySeconds: 9").replaced("A=1", "A=2");
    assert_eq!(text(&ws, "kustomization.yaml"), expected);
}

#[test]
fn the_names_of_new_entries_are_those_before_the_prefix() {
    let ws = Workspace::new();
    let base = "\
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}},
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'shop/web:1'}]}}}}
";
    ws.write("base/kustomization.yaml", "namePrefix: base-\nresources: [web.yaml]\n");
    ws.write("base/web.yaml", base);
    ws.write("prod/kustomization.yaml", "namePrefix: prod-\nresources: [../base]\n");
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    ws.scale("deployment/prod-base-web", 3);
    ws.reconcile(["pull", "-k", "prod"]).exits_with(0);
    let expected = "namePrefix: prod-\nresources: [../base]\nreplicas:\n- count: 3\n  name: base-web\n";
    assert_eq!(text(&ws, "prod/kustomization.yaml"), expected);
    ws.reconcile(["diff", "-k", "prod"]).exits_with(0);
}

#[test]
fn thirty_changes_in_forty_files_take_at_most_a_dozen_builds() {
    let ws = Workspace::new();
    let app = |name: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: 1\n  \
             selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n    \
             spec: {{containers: [{{name: app, image: 'shop/{name}:1'}}]}}\n"
        )
    };
    let names: Vec<String> = (1..=20).map(|number| format!("app{number}")).collect();
    for name in &names {
        ws.write(format!("base/{name}.yaml"), &app(name));
    }
    let files: Vec<String> = names.iter().map(|name| format!("{name}.yaml")).collect();
    ws.write("base/kustomization.yaml", &format!("resources: [{}]\n", files.join(", ")));
    let mut kustomization = "resources:\n- ../base\n".to_owned();
    for number in 1..=8 {
        let map = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map{number}}}\ndata: {{a: one}}\n");
        ws.write(format!("prod/map{number}.yaml"), &map);
        kustomization.extend(["- map", number.to_string().as_str(), ".yaml\n"]);
    }
    kustomization.push_str("patches:\n");
    for name in names.iter().take(10) {
        let patch = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec: {{minReadySeconds: 1}}\n"
        );
        ws.write(format!("prod/patches/{name}.yaml"), &patch);
        kustomization.extend(["- path: patches/", name.as_str(), ".yaml\n"]);
    }
    ws.write("prod/kustomization.yaml", &kustomization);
    let path = counting(&ws, "");
    ws.env("PATH", &path).reconcile(["apply", "-k", "prod"]).exits_with(0);
    for (index, name) in names.iter().enumerate() {
        let object = format!("deployment/{name}");
        if index < 10 {
            replaced(&ws, &object, "/spec/minReadySeconds", &json!(20 + index));
        } else {
            replaced(&ws, &object, "/spec/replicas", &json!(2 + index));
        }
    }
    for number in 1..=8 {
        replaced(&ws, &format!("configmap/map{number}"), "/data/a", &json!("two"));
    }
    for name in ["app1", "app2"] {
        let image = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": format!("shop/{name}:2")}]);
        patched(&ws, &format!("deployment/{name}"), &image);
    }
    builds(&ws);
    let run = ws.env("PATH", &path).reconcile(["pull", "-k", "prod", "-o", "json"]).exits_with(0);
    let built = builds(&ws);
    assert_eq!(places(&run).len(), 30, "{run}");
    assert!(built <= 12, "{built} builds");
    assert!(pulled(&run)["files"].as_array().unwrap().len() > 15, "{run}");
    ws.env("PATH", &path).reconcile(["diff", "-k", "prod"]).exits_with(0);
}
