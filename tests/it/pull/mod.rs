//! `pull`: live values are written into the manifests, and nothing else of the files changes.

mod added;
mod asked;
mod bases;
#[cfg(target_os = "linux")]
mod faults;
mod kustomize;
mod kyaml;
mod order;
mod overlays;
mod patches;
mod refused;
mod rules;
mod secrets;
mod shapes;
mod sources;
mod switches;
mod trees;

use std::fs;

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};
use crate::manifests::{SHOP, WEB};

/// A Deployment as people write it.
pub const TIDY: &str = "\
# The shop's front
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app: web   # also the selector
    tier: 'front'
spec:
  replicas: 2   # one for each zone

  selector:
    matchLabels: {app: web}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        # the server itself
        - name: web
          image: \"shop/web:1.2\"
          args: [--port, '8080']   # as in the Service
          env:
            - name: LOG
              value: info
            - name: LANG
              value: en
          ports: [{containerPort: 8080}]
        - {name: proxy, image: 'shop/proxy:3'}
";

/// A workspace with applied manifests in `manifests.yaml`.
pub fn applied(manifests: &str) -> Workspace {
    let ws = Workspace::new();
    ws.write("manifests.yaml", manifests);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws
}

pub fn text(ws: &Workspace) -> String {
    fs::read_to_string(ws.folder().join("manifests.yaml")).unwrap()
}

pub fn patched(ws: &Workspace, object: &str, patch: &Value) {
    ws.kubectl(["patch", object, "--type=json", "-p", &patch.to_string()]).exits_with(0);
}

/// The report of a run with `-o json`.
pub fn pulled(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
}

/// After a pull, `diff` has nothing to show, and `apply` changes no value.
#[track_caller]
fn is_settled(ws: &Workspace, objects: &[(&str, &str)]) {
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    let values = |(kind, name): &(&str, &str)| {
        let mut object = ws.get(kind, name);
        for field in ["managedFields", "resourceVersion"] {
            object["metadata"].as_object_mut().unwrap().remove(field);
        }
        object
    };
    let before: Vec<Value> = objects.iter().map(values).collect();
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let after: Vec<Value> = objects.iter().map(values).collect();
    assert_eq!(after, before, "{diff}");
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
}

#[test]
fn values_are_replaced_where_they_are_written() {
    let ws = applied(TIDY);
    ws.scale("deployment/web", 5);
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:hotfix", "proxy=shop/proxy:4"]).exits_with(0);
    patched(
        &ws,
        "deployment/web",
        &json!([
            {"op": "replace", "path": "/metadata/labels/tier", "value": "back"},
            {"op": "replace", "path": "/spec/template/spec/containers/0/args/1", "value": "9090"},
            {"op": "replace", "path": "/spec/template/spec/containers/0/env/0/value", "value": "yes"},
        ]),
    );
    let expected = TIDY
        .replaced("replicas: 2", "replicas: 5")
        .replaced("\"shop/web:1.2\"", "\"shop/web:hotfix\"")
        .replaced("'shop/proxy:3'", "'shop/proxy:4'")
        .replaced("tier: 'front'", "tier: 'back'")
        .replaced("[--port, '8080']", "[--port, '9090']")
        .replaced("value: info", "value: \"yes\"");

    let dry = ws.reconcile(["pull", "-f", ".", "--dry-run"]).exits_with(1);
    assert!(
        dry.stdout.contains("-  replicas: 2   # one for each zone\n+  replicas: 5   # one for each zone\n"),
        "{dry}"
    );
    assert!(dry.stdout.contains("would pull 6 changes into 1 file"), "{dry}");
    assert_eq!(text(&ws), TIDY);
    let run = ws.reconcile(["pull", "-f", "."]).exits_with(0);
    assert_eq!(text(&ws), expected, "{run}");
    is_settled(&ws, &[("Deployment", "web")]);
    let again = ws.reconcile(["pull", "-f", "."]).exits_with(0);
    assert!(again.stdout.contains("nothing to pull"), "{again}");
    ws.reconcile(["pull", "-f", ".", "--dry-run"]).exits_with(0);
}

#[test]
fn edits_of_a_whole_shop_are_pulled() {
    let manifests = format!("{SHOP}---{WEB}");
    let ws = Workspace::new();
    ws.secret("shopkeeper-of-the-corner");
    ws.write("manifests.yaml", &manifests);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as(
        "kubectl-edit",
        "configmap/settings",
        &json!({"data": {"colour": "red", "app.conf": "[server]\nport = 1\nthreads = 4\n"}}),
    );
    ws.patch_as("kubectl-edit", "cronjob/report", &json!({"spec": {"schedule": "1 1 * * *"}}));
    ws.patch_as(
        "kubectl-edit",
        "service/web",
        &json!({"spec": {"ports": [
        {"name": "http", "port": 80, "targetPort": 9999}, {"name": "metrics", "port": 9090}]}}),
    );
    ws.patch_as(
        "kubectl-edit",
        "role/web",
        &json!({"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]}),
    );
    ws.patch_as(
        "kubectl-edit",
        "ingress/web",
        &json!({"spec": {"rules": [{"host": "other.example", "http": {"paths": [
        {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "web", "port": {"number": 80}}}}]}}]}}),
    );
    ws.patch_as(
        "kubectl-edit",
        "networkpolicy/db",
        &json!({"spec": {"podSelector": {"matchLabels": {"app": "other"}}}}),
    );
    let before = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    let run = ws.reconcile(["pull", "-f", "."]).exits_with(0);
    let new = text(&ws);
    for (old, line) in [
        ("  colour: green\n", "  colour: red\n"),
        ("    port = 8080\n", "    port = 1\n"),
        ("'5 4 * * *'", "'1 1 * * *'"),
    ] {
        assert!(manifests.contains(old) && !new.contains(old) && new.contains(line), "{line}: {run}\n{before}");
    }
    let objects = [
        ("ConfigMap", "settings"),
        ("CronJob", "report"),
        ("Service", "web"),
        ("Role", "web"),
        ("Ingress", "web"),
        ("NetworkPolicy", "db"),
    ];
    is_settled(&ws, &objects);
    // Every line that belongs to no change is as it was.
    let changed = manifests.lines().filter(|line| !new.lines().any(|new| new == *line)).count();
    assert!(changed <= 8, "{changed} lines: {run}");
}

#[test]
fn flags_choose_what_is_pulled() {
    let ws = applied(TIDY);
    ws.scale("deployment/web", 5);
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:hotfix"]).exits_with(0);
    patched(
        &ws,
        "deployment/web",
        &json!([
            {"op": "add", "path": "/metadata/labels/team", "value": "a"},
            {"op": "remove", "path": "/metadata/labels/tier"},
            {"op": "remove", "path": "/spec/template/spec/containers/0/env/1"},
        ]),
    );
    let other = ws.reconcile(["pull", "-f", ".", "--object", "deployment/other"]).exits_with(0);
    assert!(other.stderr.contains("warning: no object of the manifests is `deployment/other`"), "{other}");
    assert_eq!(text(&ws), TIDY);
    ws.reconcile(["pull", "-f", ".", "--manager", "kubectl-set"]).exits_with(0);
    let expected = TIDY.replaced("web:1.2", "web:hotfix");
    assert_eq!(text(&ws), expected);
    let fields = "metadata.annotations,spec.replicas,data[\"a,b\"]";
    ws.reconcile(["pull", "-f", ".", "--object", "Deployment/w*", "--field", fields]).exits_with(0);
    let expected = expected.replaced("replicas: 2", "replicas: 5");
    assert_eq!(text(&ws), expected);
    ws.reconcile(["pull", "-f", ".", "--class", "unmanaged", "--field", "metadata.labels"]).exits_with(0);
    let expected = expected.replaced("    tier: 'front'\n", "    tier: 'front'\n    team: 'a'\n");
    assert_eq!(text(&ws), expected);
    ws.reconcile(["pull", "-f", ".", "--class", "absent"]).exits_with(0);
    let expected = expected.replaced("    tier: 'front'\n", "");
    let expected = expected.replaced("            - name: LANG\n              value: en\n", "");
    assert_eq!(text(&ws), expected);
    is_settled(&ws, &[("Deployment", "web")]);
}

#[test]
fn patterns_that_match_nothing_are_named() {
    let ws = applied(TIDY);
    ws.scale("deployment/web", 5);
    for (flags, said) in [
        (
            &["--field", "replicas"][..],
            "`--field replicas`: neither the manifests nor the differences have this field: did you mean `spec.replicas`?",
        ),
        (
            &["--field", "spec.paused,spec.replicas"],
            "`--field spec.paused`: neither the manifests nor the differences have this field",
        ),
        (&["--manager", "nobody,kubectl*"], "`--manager nobody`: no difference is of a field that this manager owns"),
        (&["--class", "pending"], "`--class pending`: there is no difference of this class"),
        (&["--object", "deploy/api"], "no object of the manifests is `deploy/api`"),
    ] {
        let run = ws.reconcile([&["pull", "-f", ".", "--dry-run", "-o", "json"], flags].concat());
        assert_eq!(run.stderr.matches("warning: ").count(), 1, "{run}");
        assert!(run.stderr.contains(&format!("warning: {said}\n")), "{run}");
        assert_eq!(pulled(&run)["warnings"], json!([said]), "{run}");
    }
    let flags = ["--field", "spec.replicas,metadata.labels[*],spec.template.spec.containers[name=web]"];
    let more = ["--manager", "kubectl", "--class", "changedByOther", "--object", "Deployment/*"];
    let run = ws.reconcile([&["pull", "-f", ".", "--dry-run"][..], &flags, &more].concat()).exits_with(1);
    assert!(!run.stderr.contains("warning"), "{run}");
}

#[test]
fn only_what_was_added_by_hand_is_pulled_unless_its_owner_is_named() {
    let ws = applied(TIDY);
    let patch = |manager: &str, name: &str| {
        ws.patch_as(manager, "deployment/web", &json!({"metadata": {"annotations": {name: "1"}}}));
    };
    patch("deployment-controller", "deployment.kubernetes.io/revision");
    patch("kubectl-annotate", "team");
    let unmanaged = ["pull", "-f", ".", "--class", "unmanaged"];
    let both = ws.reconcile([&unmanaged[..], &["--dry-run", "--manager", "*"]].concat()).exits_with(1);
    assert!(both.stdout.contains("revision") && both.stdout.contains("team"), "{both}");
    let run = ws.reconcile(unmanaged).exits_with(0);
    assert!(run.stdout.contains("+    team: ") && !run.stdout.contains("revision"), "{run}");
    let none = ws.reconcile(unmanaged).exits_with(0);
    assert!(none.stderr.contains("no field was added by hand") && none.stdout.contains("nothing to pull"), "{none}");
    ws.reconcile([&unmanaged[..], &["--manager", "deployment-controller"]].concat()).exits_with(0);
    assert!(text(&ws).contains("deployment.kubernetes.io/revision"), "{}", text(&ws));
}

#[test]
fn lists_json_and_several_files_are_edited() {
    let map =
        |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}});
    let ws = Workspace::new();
    let json = serde_json::to_string_pretty(&map("json")).unwrap() + "\n";
    ws.write("a.json", &json);
    let list = format!("{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{},{}]}}", map("one"), map("two"));
    ws.write("b.json", &list);
    ws.write("c.yaml", "apiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: three}\r\ndata:\r\n  a: \"1\"");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    for name in ["json", "two", "three"] {
        ws.patch_as("kubectl-edit", &format!("configmap/{name}"), &json!({"data": {"a": "2\n3\n"}}));
    }
    let run = ws.reconcile(["pull", "-f", ".", "-o", "json"]).exits_with(0);
    let read = |name: &str| fs::read_to_string(ws.folder().join(name)).unwrap();
    assert_eq!(read("a.json"), json.replaced("\"a\": \"1\"", "\"a\": \"2\\n3\\n\""));
    let second = list.rfind("\"a\":\"1\"").unwrap();
    assert_eq!(read("b.json"), format!("{}\"a\":\"2\\n3\\n\"{}", &list[..second], &list[second + 7..]));
    assert_eq!(
        read("c.yaml"),
        "apiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: three}\r\ndata:\r\n  a: \"2\\n3\\n\""
    );
    let report = pulled(&run);
    assert_eq!(
        (&report["command"], &report["exitCode"], &report["dryRun"]),
        (&json!("pull"), &json!(0), &json!(false))
    );
    assert_eq!(report["files"].as_array().unwrap().len(), 3, "{report}");
    for object in report["objects"].as_array().unwrap() {
        assert_eq!(object["changes"][0]["accepted"], true, "{object}");
        assert_eq!(object["changes"][0]["live"], "2\n3\n", "{object}");
    }
    is_settled(&ws, &[("ConfigMap", "one"), ("ConfigMap", "two"), ("ConfigMap", "three"), ("ConfigMap", "json")]);
}
