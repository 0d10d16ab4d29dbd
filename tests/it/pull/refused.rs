//! What is not pulled, with the reason; and what the worst of values and files do.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use super::{TIDY, applied, patched, pulled, text};
use crate::control_plane::{Replaced, Workspace};

#[test]
fn an_input_without_files_is_refused() {
    let ws = applied(TIDY);
    let run = ws.stdin(TIDY).reconcile(["pull", "-f", "-"]).exits_with(2);
    assert!(run.stderr.contains("hint: "), "{run}");
    ws.reconcile(["pull", "-f", "https://localhost:1/web.yaml"]).exits_with(2);
    for stream in ["/dev/stdin", "/dev/fd/0"] {
        let run = ws.stdin(TIDY).reconcile(["pull", "-f", stream]).exits_with(2);
        assert!(run.stderr.contains("this input has none"), "{run}");
    }
    let run = ws.reconcile(["pull", "-k", "https://localhost:1/shop?ref=v1"]).exits_with(2);
    assert!(run.stderr.contains("the directory of a kustomization on this machine"), "{run}");
    let run = ws.reconcile(["pull", "-k", "overlays/prod"]).exits_with(2);
    assert!(run.stderr.contains("no such file or directory") && !run.stderr.contains("has none"), "{run}");
    let run = ws.reconcile(["pull", "-k", "manifests.yaml"]).exits_with(2);
    assert!(run.stderr.contains("manifests.yaml: is a file"), "{run}");
    ws.reconcile(["pull", "-f", ".", "--class", "missing"]).exits_with(2);
    ws.reconcile(["pull", "-f", ".", "--object", "web"]).exits_with(2);
    ws.reconcile(["pull", "-f", ".", "--field", "["]).exits_with(2);
    assert_eq!(text(&ws), TIDY);
}

#[test]
fn streams_templates_copies_and_anchors_are_reported_and_the_rest_is_written() {
    let ws = Workspace::new();
    let map =
        |name: &str, data: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n{data}");
    ws.write("plain.yaml", &map("plain", "  a: x\n"));
    ws.write("helm.yaml", &format!("---\n# Source: shop/templates/map.yaml\n{}", map("helm", "  a: x\n")));
    ws.write("twice.yaml", &format!("{}---\n{}", map("twice", "  a: x\n"), map("twice", "  a: x\n")));
    ws.write("anchors.yaml", &map("anchors", "  a: &x x\n  b: *x\n  c: c\n"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let stream = map("stream", "  a: x\n");
    ws.stdin(&stream).reconcile(["apply", "-f", "-"]).exits_with(0);
    for name in ["plain", "helm", "twice", "stream"] {
        ws.patch_as("kubectl-edit", &format!("configmap/{name}"), &json!({"data": {"a": "z"}}));
    }
    ws.patch_as("kubectl-edit", "configmap/anchors", &json!({"data": {"a": "z", "b": "z", "c": "z"}}));
    let run = ws.stdin(&stream).reconcile(["pull", "-f", ".", "-f", "-", "-o", "json"]).exits_with(4);
    let read = |name: &str| fs::read_to_string(ws.folder().join(name)).unwrap();
    assert_eq!(read("plain.yaml"), map("plain", "  a: z\n"));
    assert_eq!(read("anchors.yaml"), map("anchors", "  a: &x x\n  b: *x\n  c: z\n"));
    assert!(read("helm.yaml").contains("a: x") && read("twice.yaml").matches("a: x").count() == 2);
    let report = pulled(&run);
    let reason = |name: &str, change: usize| {
        let objects = report["objects"].as_array().unwrap();
        let object = objects.iter().find(|object| object["name"] == name).unwrap();
        object["changes"][change]["reason"].as_str().unwrap_or_default().to_owned()
    };
    assert!(reason("helm", 0).contains("shop/templates/map.yaml"), "{report}");
    assert!(reason("twice", 0).contains("defined twice"), "{report}");
    assert!(reason("stream", 0).contains("not in a file"), "{report}");
    assert!(reason("anchors", 0).contains("anchor") && reason("anchors", 1).contains("alias"), "{report}");
    assert_eq!((reason("plain", 0), reason("anchors", 2)), (String::new(), String::new()));
}

/// The server stores this list although its items have one name; it refuses it in a manifest.
#[test]
fn a_list_with_two_items_of_one_name_is_not_pulled() {
    let manifest = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\nsecrets: [{name: a}]\n";
    let ws = applied(manifest);
    let twice = json!([{"op": "replace", "path": "/secrets", "value": [{"name": "b"}, {"name": "b"}]}]);
    patched(&ws, "serviceaccount/web", &twice);
    let run = ws.reconcile(["pull", "-f", "."]).exits_with(4);
    assert!(run.stdout.contains("two items of the live list have the same key"), "{run}");
    assert!(run.stdout.ends_with("pulled no change\n"), "{run}");
    assert_eq!(text(&ws), manifest);
}

#[test]
fn missing_objects_keep_their_manifests() {
    let ws = applied(TIDY);
    ws.delete("deployment/web");
    let run = ws.reconcile(["pull", "-f", "."]).exits_with(0);
    assert!(run.stderr.contains("does not exist") && run.stdout.contains("nothing to pull"), "{run}");
    assert_eq!(text(&ws), TIDY);
    let report = pulled(&ws.reconcile(["pull", "-f", ".", "-o", "json"]).exits_with(0));
    assert_eq!((&report["missing"][0]["kind"], &report["missing"][0]["name"]), (&json!("Deployment"), &json!("web")));
}

#[test]
fn a_hint_that_names_a_flag_of_apply_says_so() {
    let ws = Workspace::new();
    let map = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a, namespace: {}-none}}}}", ws.namespace());
    ws.write("a.yaml", &map);
    let run = ws.reconcile(["pull", "-f", "."]).exits_with(4);
    assert!(run.stderr.contains("(`--create-namespace` is a flag of `kubectl reconcile apply`)"), "{run}");
    assert!(!ws.reconcile(["diff", "-f", "."]).exits_with(4).stdout.contains("is a flag of"));
}

#[test]
fn objects_that_are_not_chosen_do_not_count() {
    let map = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: x}}\n");
    let ws = Workspace::new();
    let manifests = format!("{}---\n{}---\n{TIDY}", map("m"), map("gone"));
    ws.write("manifests.yaml", &manifests);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.delete("configmap/gone");
    ws.patch_as("kubectl-edit", "configmap/m", &json!({"data": {"a": "z"}}));
    ws.allow("reader", "get,list,create,patch", "configmaps");
    let pull = |flags: &[&str]| ws.as_user("reader").reconcile([&["pull", "-f", ".", "--dry-run"][..], flags].concat());
    let all = pull(&[]).exits_with(4);
    assert!(all.stderr.contains("web cannot be compared") && all.stderr.contains("gone does not exist"), "{all}");
    let chosen = pull(&["--object", "ConfigMap/m"]).exits_with(1);
    assert!(!chosen.stderr.contains("web") && !chosen.stderr.contains("gone"), "{chosen}");
    assert!(chosen.stdout.contains("would pull 1 change"), "{chosen}");
    pull(&["--object", "Deployment/web"]).exits_with(4);
}

#[test]
fn hostile_values_stay_values() {
    let ws =
        applied("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: x\n  b: x\n  c: |\n    x\n  d: x\n");
    let long = "x".repeat(300_000);
    let hostile = json!({
        "a": "\u{1b}]0;title\u{7}\u{202e}\u{0}", "b": "::set-output name=x::y\n::error::z\n---\nkind: Secret\n",
        "c": "}}\n---\n# \"'\n\t- {x: [\n", "d": long,
    });
    let patch = json!({"data": hostile}).to_string();
    let flags = ["patch", "configmap/m", "--type=merge", "--field-manager=kubectl-edit", "--patch-file=/dev/stdin"];
    ws.stdin(&patch).kubectl(flags).exits_with(0);
    let run = ws.reconcile(["pull", "-f", "."]).exits_with(0);
    assert!(!run.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{0}']), "control characters in the output");
    assert!(!run.stdout.lines().any(|line| line.trim_start_matches(['+', '-', ' ']).starts_with("::")), "{run}");
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
    let read = kube_yaml::read(text(&ws).as_bytes(), kube_yaml::Validation::Strict).documents;
    assert_eq!((read.len(), &read[0].value["data"]), (1, &hostile));
}

#[test]
fn links_lead_to_files_of_the_same_repository_only() {
    let ws = Workspace::new();
    let outside = tempfile::tempdir().unwrap();
    let map = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: x}}\n");
    fs::write(outside.path().join("victim.yaml"), map("victim")).unwrap();
    fs::create_dir(ws.folder().join("base")).unwrap();
    let own = ws.write("base/own.yaml", &map("own"));
    fs::set_permissions(&own, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("base/own.yaml", ws.folder().join("own.yaml")).unwrap();
    symlink(outside.path().join("victim.yaml"), ws.folder().join("victim.yaml")).unwrap();
    let files = ["-f", "own.yaml", "-f", "victim.yaml"];
    ws.reconcile([&["apply"][..], &files].concat()).exits_with(0);
    for name in ["own", "victim"] {
        ws.patch_as("kubectl-edit", &format!("configmap/{name}"), &json!({"data": {"a": "z"}}));
    }
    let run = ws.reconcile([&["pull"][..], &files].concat()).exits_with(4);
    assert!(run.stdout.contains("the link leads to"), "{run}");
    assert_eq!(fs::read_to_string(outside.path().join("victim.yaml")).unwrap(), map("victim"));
    assert_eq!(fs::read_to_string(&own).unwrap(), map("own").replaced("a: x", "a: z"));
    assert_eq!(fs::metadata(&own).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(ws.folder().join("own.yaml")).unwrap().is_symlink());
}

#[test]
fn a_linked_folder_leads_to_files_of_the_same_repository_only() {
    let ws = Workspace::new();
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("victim.yaml");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: victim}\ndata: {a: x}\n";
    fs::write(&victim, map).unwrap();
    fs::create_dir(ws.folder().join(".git")).unwrap();
    symlink(outside.path(), ws.folder().join("sub")).unwrap();
    ws.reconcile(["apply", "-f", "sub"]).exits_with(0);
    ws.patch_as("kubectl-edit", "configmap/victim", &json!({"data": {"a": "z"}}));
    for input in ["sub", "sub/victim.yaml", "./sub/./"] {
        let run = ws.reconcile(["pull", "-f", input]).exits_with(4);
        assert!(run.stdout.contains("the link leads to"), "{run}");
        let terminal = ws.as_user("admin").stdin("?\np\ni\nq\n").on_terminal();
        let run = terminal.reconcile(["resolve", "-f", input, "--color=never"]).exits_with(1);
        assert!(run.stderr.contains("p is not offered: the link leads to"), "{run}");
        assert!(run.stderr.contains("i is not offered: the link leads to"), "{run}");
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), map);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}
