//! The reasons why changes of a built object are not pulled name the source that sets the value, what else it sets, and what helps.

use serde_json::json;

use super::kustomize::{overlay_of, replaced, text};
use super::patched;
use crate::control_plane::{Replaced as _, Workspace};

const WEB: &str = "\
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
      - {name: app, image: \"shop/web:1.5\"}
      - {name: side, image: \"shop/web:1.5\"}
";
const ADD_PATCHES: &str = ": pass `--add-patches` to patch it in the overlay";

/// Pulls without writing anything, and looks for a part of a reason.
#[track_caller]
fn is_refused(ws: &Workspace, flags: &[&str], reason: &str) {
    let before = text(ws, "prod/kustomization.yaml");
    let run = ws.reconcile([&["pull", "-k", "prod"], flags].concat()).exits_with(4);
    assert!(run.stdout.contains(reason), "{reason}: {run}");
    assert_eq!(text(ws, "prod/kustomization.yaml"), before, "{run}");
}

#[test]
fn a_base_that_two_objects_are_built_from_is_named_with_the_flag_that_works() {
    let ws = overlay_of(&[("web.yaml", WEB)], "resources: [../a, ../b]\n");
    for name in ["a", "b"] {
        ws.write(format!("{name}/kustomization.yaml"), &format!("resources: [../base]\nnamePrefix: {name}-\n"));
    }
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    ws.kubectl(["set", "image", "deployment/a-web", "app=shop/web:2"]).exits_with(0);
    let reason = "the place in base/web.yaml that sets it also sets Deployment b-web \
                  spec.template.spec.containers[name=app].image, whose live value is another or was not accepted: pass `--add-patches`";
    is_refused(&ws, &["--edit-bases"], reason);
    ws.reconcile(["pull", "-k", "prod", "--edit-bases", "--add-patches"]).exits_with(0);
    ws.reconcile(["diff", "-k", "prod"]).exits_with(0);
}

#[test]
fn another_value_of_the_same_object_is_named_by_its_path() {
    let images = "resources: [../base]\nimages:\n- name: shop/web\n  newTag: \"1.6\"\n";
    let ws = overlay_of(&[("web.yaml", WEB)], images);
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    ws.kubectl(["set", "image", "deployment/web", "app=shop/web:2"]).exits_with(0);
    let reason = "the place in prod/kustomization.yaml that sets it also sets spec.template.spec.containers[name=side].image, whose";
    is_refused(&ws, &[], reason);
}

#[test]
fn an_entry_that_wins_is_the_reason_whatever_is_tried_after_it() {
    let app = "- {name: app, image: \"shop/web:1.5\"";
    let web = WEB.replaced(app, &format!("{app}, envFrom: [{{configMapRef: {{name: env}}}}]"));
    let generator = "configMapGenerator:\n- name: env\n  literals: [level=info]\n";
    let images = format!("resources: [../base]\nimages:\n- name: shop/web\n  newTag: \"1.6\"\n{generator}");
    let ws = overlay_of(&[("web.yaml", &web)], &images);
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    let reference = ["get", "deployment", "web", "-o", "jsonpath={..configMapRef.name}"];
    let config = ws.kubectl(reference).exits_with(0).stdout;
    replaced(&ws, &format!("configmap/{config}"), "/data/level", &json!("debug"));
    ws.kubectl(["set", "image", "deployment/web", "app=shop/web:2"]).exits_with(0);
    let run = ws.reconcile(["pull", "-k", "prod", "--add-patches"]).exits_with(4);
    let reason = "the place in prod/kustomization.yaml that sets it also sets spec.template.spec.containers[name=side].image, whose";
    assert!(run.stdout.contains(reason) && text(&ws, "prod/kustomization.yaml").contains("level=debug"), "{run}");
}

#[test]
fn what_no_file_has_is_not_said_to_be_set_in_the_base() {
    let ws = overlay_of(&[("web.yaml", WEB)], "resources: [../base]\n");
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    patched(
        &ws,
        "deployment/web",
        &json!([{"op": "add", "path": "/metadata/annotations", "value": {"team": "front"}}]),
    );
    let flags = ["--class", "unmanaged"];
    let reason = "no file has it: Deployment web is in base/web.yaml, which is outside of the overlay and may be shared: pass `--add-patches`";
    is_refused(&ws, &flags, reason);
}

#[test]
fn a_common_label_is_named_where_it_is_and_with_what_else_has_it() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n";
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n";
    let prod = "resources: [../base]\nlabels:\n- pairs: {tier: front}\n";
    let ws = overlay_of(&[("svc.yaml", service), ("map.yaml", map)], prod);
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    replaced(&ws, "service/web", "/metadata/labels/tier", &json!("back"));
    is_refused(
        &ws,
        &[],
        "the place in prod/kustomization.yaml that sets it also sets ConfigMap web metadata.labels.tier, whose",
    );
}

#[test]
fn what_a_file_sets_is_not_blamed_on_a_transformer_that_has_the_same_text() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {b: \"1\"}\n";
    let ws = overlay_of(&[("map.yaml", map)], "resources: [../base]\ntransformers: [owner.yaml]\n");
    let transformer = "\
apiVersion: builtin
kind: AnnotationsTransformer
metadata: {name: owner}
annotations: {b: \"1\"}
fieldSpecs:
- path: metadata/annotations
  create: true
";
    ws.write("prod/owner.yaml", transformer);
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    replaced(&ws, "configmap/web", "/data/b", &json!("2"));
    is_refused(
        &ws,
        &[],
        &format!("it is set in base/map.yaml, which is outside of the overlay and may be shared{ADD_PATCHES}, or"),
    );
}

#[test]
fn an_anchor_in_a_kustomization_is_named() {
    let prod =
        "resources: [../base]\nimages:\n- name: shop/web\n  newTag: &t \"1.6\"\n- name: shop/other\n  newTag: *t\n";
    let ws = overlay_of(&[("web.yaml", &WEB.replaced("side, image: \"shop/web:1.5\"", "side, image: busybox"))], prod);
    ws.reconcile(["apply", "-k", "prod"]).exits_with(0);
    ws.kubectl(["set", "image", "deployment/web", "app=shop/web:2"]).exits_with(0);
    is_refused(
        &ws,
        &[],
        "it is set in prod/kustomization.yaml, and its value has an anchor that is used elsewhere in the file",
    );
}

#[test]
fn the_bytes_of_a_file_of_a_generator_are_written() {
    let ws = Workspace::new();
    ws.write("kustomization.yaml", "configMapGenerator:\n- name: bin\n  files: [logo.bin]\n");
    let file = ws.folder().join("logo.bin");
    std::fs::write(&file, [0xff, 0xfe, 1, 2]).unwrap();
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    let name = ws.kubectl(["get", "configmap", "-o", "name"]).stdout;
    let name = name.lines().find(|name| name.contains("/bin-")).unwrap().to_owned();
    replaced(&ws, &name, "/binaryData/logo.bin", &json!("//79AwQ="));
    ws.reconcile(["pull", "-k", "."]).exits_with(0);
    assert_eq!(std::fs::read(&file).unwrap(), [0xff, 0xfe, 0xfd, 3, 4]);
}

/// A source of `replacements` is the place of its targets, which have none: all of them are accepted at once, or refused for what they are.
#[test]
fn a_source_is_the_place_of_its_targets() {
    let ws = Workspace::new();
    let source = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: source}\ndata:\n  host: one\n";
    let other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata:\n  level: info\n";
    let target = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: target, annotations: {host: replaced}}\ndata:\n  host: replaced\n";
    let kustomization = "\
resources: [source.yaml, other.yaml, target.yaml]
replacements:
- source: {kind: ConfigMap, name: source, fieldPath: data.host}
  targets:
  - select: {kind: ConfigMap, name: target}
    fieldPaths: [data.host, metadata.annotations.host]
";
    let files = [("source.yaml", source), ("other.yaml", other), ("target.yaml", target)];
    for (name, file) in files.into_iter().chain([("kustomization.yaml", kustomization)]) {
        ws.write(name, file);
    }
    ws.reconcile(["apply", "-k", "."]).exits_with(0);
    replaced(&ws, "configmap/other", "/data/level", &json!("debug"));
    for path in ["/data/host", "/metadata/annotations/host"] {
        replaced(&ws, "configmap/target", path, &json!("two"));
    }
    // The source is as it was: nothing sets only the targets.
    let run = ws.reconcile(["pull", "-k", "."]).exits_with(4);
    assert!(run.stdout.contains("it may be set by `replacements` of kustomization.yaml"), "{run}");
    assert_eq!(text(&ws, "other.yaml"), other.replaced("info", "debug"), "{run}");
    ws.write("other.yaml", other);
    replaced(&ws, "configmap/source", "/data/host", &json!("two"));
    let run = ws.reconcile(["pull", "-k", "."]).exits_with(0);
    assert!(run.stdout.contains("pulled 4 changes into 2 files"), "{run}");
    let expected = [source.replaced("one", "two"), other.replaced("info", "debug"), target.to_owned()];
    assert_eq!(files.map(|(name, _)| text(&ws, name)), expected, "{run}");
    ws.reconcile(["diff", "-k", "."]).exits_with(0);
    // One target has another value.
    replaced(&ws, "configmap/source", "/data/host", &json!("three"));
    replaced(&ws, "configmap/target", "/data/host", &json!("three"));
    replaced(&ws, "configmap/target", "/metadata/annotations/host", &json!("four"));
    replaced(&ws, "configmap/other", "/data/level", &json!("warn"));
    let run = ws.reconcile(["pull", "-k", "."]).exits_with(4);
    assert!(run.stdout.contains("annotations.host, whose live value is another or was not accepted"), "{run}");
    assert!(run.stdout.contains("pulled 1 change into 1 file"), "{run}");
    assert_eq!(text(&ws, "source.yaml"), source.replaced("one", "two"), "{run}");
}

/// Two overlays of one build stand on the same base, each with a prefix of its own.
#[test]
fn a_value_is_looked_for_in_the_overlay_that_its_object_goes_through() {
    let ws = Workspace::new();
    let web = |name: &str| WEB.replaced("metadata: {name: web}", &format!("metadata: {{name: {name}}}"));
    ws.write("base/web.yaml", &format!("{}---\n{}", web("one"), web("two")));
    ws.write("base/kustomization.yaml", "resources: [web.yaml]\n");
    for overlay in ["a", "b"] {
        let images = "images:\n- name: shop/web\n  newName: mirror/web\n  newTag: v1\n";
        ws.write(
            format!("{overlay}/kustomization.yaml"),
            &format!("namePrefix: {overlay}-\nresources: [../base]\n{images}"),
        );
    }
    ws.write("all/kustomization.yaml", "resources: [../a, ../b]\n");
    ws.reconcile(["apply", "-k", "all"]).exits_with(0);
    for (name, image) in [("a-two", "mirror/web:v3"), ("b-one", "other/web:v2"), ("b-two", "other/web:v2")] {
        ws.kubectl(["set", "image", &format!("deployment/{name}"), &format!("*={image}")]).exits_with(0);
    }
    let run = ws.reconcile(["pull", "-k", "all"]).exits_with(4);
    assert_eq!(run.stdout.matches("it is set in b/kustomization.yaml").count(), 4, "{run}");
    // What cannot be pulled keeps nothing else back.
    let run = ws.reconcile(["pull", "-k", "all", "--edit-bases"]).exits_with(4);
    assert!(run.stdout.contains("the place in a/kustomization.yaml that sets it also sets Deployment"), "{run}");
    let overlay = |name: &str| text(&ws, &format!("{name}/kustomization.yaml"));
    assert!(overlay("b").contains("newName: other/web\n  newTag: v2\n"), "{run}");
    assert!(overlay("a").contains("newName: mirror/web\n  newTag: v1\n"), "{run}");
}
