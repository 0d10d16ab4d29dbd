//! Objects with a hash of their content in the name: the new one and the former one are one object, wherever the former one is known from.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::control_plane::{Replaced, Run, Workspace};
use crate::manifests::WEB;

const A: &str = "web-config-84c9dfhgtd";
const B: &str = "web-config-h56kmt2b4c";
const C: &str = "web-config-g9c8b2kmtd";

/// A Deployment that uses a ConfigMap in a volume, in the environment and for a variable.
fn workload(name: &str) -> String {
    let uses = format!(
        "spec:
      volumes: [{{name: config, configMap: {{name: {name}}}}}]
      containers:
      - name: extra
        image: shop/extra:1
        envFrom: [{{configMapRef: {{name: {name}}}}}]
        env: [{{name: TIMEOUT, valueFrom: {{configMapKeyRef: {{name: {name}, key: timeout}}}}}}]"
    );
    WEB.replaced("spec:\n      containers:", &uses)
}

fn config(name: &str, timeout: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{timeout: {timeout}, same: a}}}}")
}

fn run(ws: &Workspace, command: &str, flags: &[&str]) -> Run {
    ws.reconcile([&[command, "-f", "new"], flags].concat())
}

#[test]
fn what_a_live_workload_refers_to_is_the_former_object() {
    let ws = Workspace::new();
    ws.write("old/all.yaml", &format!("{}\n---\n{}", config(A, "30s"), workload(A)));
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    ws.write("new/all.yaml", &format!("{}\n---\n{}", config(B, "45s"), workload(B)));
    let diff = run(&ws, "diff", &[]).exits_with(1);
    let object = diff.object("ConfigMap", B);
    assert_eq!((&object["renamedFrom"], &object["action"]), (&json!(A), &json!("update")), "{diff}");
    assert_eq!(diff.changes("ConfigMap", B), ["pending data.timeout"], "{diff}");
    let summary = &diff.report()["summary"];
    assert_eq!(
        (&summary["update"], &summary["create"], &summary["delete"]),
        (&json!(2), &json!(0), &json!(0)),
        "{diff}"
    );
    // The references are told once, with it.
    let changes = diff.object("Deployment", "web")["changes"].as_array().unwrap();
    let follows: BTreeSet<String> = changes.iter().map(|change| change["follows"].to_string()).collect();
    let key = ws.fill_in(&format!("[\"ConfigMap $NS/{B}\"]"));
    assert!(follows.contains(&key), "{changes:#?}");
    let stdout = &diff.stdout;
    assert_eq!(stdout.matches(A).count(), 1 + usize::from(follows.len() > 1), "{diff}");
    assert!(stdout.contains(&format!("under a new name, was {A}")) && stdout.contains("follows ConfigMap"), "{diff}");
    for format in ["markdown", "html", "github", "gitlab", "junit", "sarif"] {
        let diff = run(&ws, "diff", &["-o", format]).exits_with(1);
        assert!(diff.stdout.contains(&format!("under a new name, was {A}")), "{format}: {diff}");
        assert!(diff.stdout.contains("follows ConfigMap"), "{format}: {diff}");
    }
    let live = ws.kubectl(["get", "configmap,deployment", "-o", "yaml", "--show-managed-fields"]).exits_with(0);
    ws.write("live.yaml", &live.stdout);
    let offline = run(&ws, "diff", &["--live", "live.yaml", "-n", ws.namespace()]).exits_with(1);
    assert_eq!(offline.object("ConfigMap", B)["renamedFrom"], json!(A), "{offline}");
    run(&ws, "diff", &["--save-plan", "plan.json"]).exits_with(1);
    let apply = run(&ws, "apply", &["--plan", "plan.json"]).exits_with(0);
    assert_eq!(
        (&apply.object("ConfigMap", B)["renamedFrom"], &apply.object("ConfigMap", B)["outcome"]),
        (&json!(A), &json!("updated")),
        "{apply}"
    );
    assert_eq!(ws.get("configmap", A)["data"]["timeout"], "30s");
    run(&ws, "diff", &[]).exits_with(0);
}

#[test]
fn what_the_base_has_is_the_former_object() {
    let ws = Workspace::new();
    ws.write("old/all.yaml", &config(A, "30s"));
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    ws.write("new/all.yaml", &config(B, "45s"));
    let plain = run(&ws, "diff", &[]).exits_with(1);
    assert_eq!(plain.object("ConfigMap", B)["action"], "create", "nothing tells of the former one: {plain}");
    let diff = run(&ws, "diff", &["--base", "old"]).exits_with(1);
    assert_eq!(diff.object("ConfigMap", B)["renamedFrom"], json!(A), "{diff}");
    assert_eq!(diff.changes("ConfigMap", B), ["pending data.timeout"], "{diff}");
    assert_eq!((diff.report().get("dropped"), &diff.report()["summary"]["update"]), (None, &json!(1)), "{diff}");
}

/// The server keeps `stringData` in `data`, and gives a Secret a type.
#[test]
fn a_secret_under_a_new_name_is_compared_by_what_the_server_keeps_of_it() {
    let ws = Workspace::new();
    let [same, one, two] = ["guava-of-names", "mango-of-names", "papaya-of-names"].map(|value| ws.secret(value));
    let secret = |name: &str, value: &str| {
        format!("{{apiVersion: v1, kind: Secret, metadata: {{name: {name}}}, stringData: {{a: {value}, b: {same}}}}}")
    };
    ws.write("old/all.yaml", &secret(A, &one));
    ws.reconcile(["apply", "-f", "old", "--prune", "--applyset=names"]).exits_with(0);
    for (value, path) in [(&one, "metadata.name"), (&two, "data.a")] {
        ws.write("new/all.yaml", &secret(B, value));
        for flags in [&["--base", "old"][..], &["--prune", "--applyset=names"]] {
            let diff = run(&ws, "diff", flags).exits_with(1);
            let changes = diff.object("Secret", B)["changes"].as_array().unwrap();
            let paths: Vec<_> = changes.iter().map(|change| (&change["path"], &change["op"])).collect();
            assert_eq!(paths, [(&json!(path), &json!("change"))], "{diff}");
        }
    }
}

#[test]
fn nothing_is_paired_that_may_be_another_object() {
    let ws = Workspace::new();
    let secret = |name: &str| {
        format!("{{apiVersion: v1, kind: Secret, metadata: {{name: {name}}}, stringData: {{timeout: 30s}}}}")
    };
    for (case, before, after) in [
        ("two of them", format!("{}\n---\n{}", config(A, "30s"), config(C, "31s")), config(B, "45s")),
        ("another kind", secret(A), config(B, "45s")),
        ("another stem", config("api-config-84c9dfhgtd", "30s"), config(B, "45s")),
        ("a name by hand", config("web-config-abcdefghij", "30s"), config("web-config-abcdefghik", "45s")),
    ] {
        ws.write("old/all.yaml", &before);
        ws.reconcile(["apply", "-f", "old"]).exits_with(0);
        ws.write("new/all.yaml", &after);
        let diff = run(&ws, "diff", &["--base", "old"]).exits_with(1);
        assert_eq!(diff.report()["summary"]["create"], 1, "{case}: {diff}");
        assert!(diff.objects().iter().all(|object| object.get("renamedFrom").is_none()), "{case}: {diff}");
    }
    let other = ws.fill_in("$NS-other");
    let space = format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {other}}}}}\n---\n");
    let there = config(A, "30s").replaced("metadata: {", &format!("metadata: {{namespace: {other}, "));
    ws.write("old/all.yaml", &format!("{space}{there}"));
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    ws.write("new/all.yaml", &config("web-config-8b2kmtdg9c", "45s"));
    let diff = run(&ws, "diff", &["--base", "old"]).exits_with(1);
    assert!(diff.objects()[0].get("renamedFrom").is_none(), "{diff}");
}

#[test]
fn a_checksum_in_a_template_follows_the_object_that_changed() {
    let ws = Workspace::new();
    let manifests = |timeout: &str, sum: &str, other: &str| {
        let annotations = format!(
            "template:\n    metadata:\n      labels: {{app: web}}\n      annotations: {{checksum/config: {sum}, checksum/other: {other}}}"
        );
        let web = workload("settings").replaced("template:\n    metadata: {labels: {app: web}}", &annotations);
        format!("{}\n---\n{web}", config("settings", timeout))
    };
    let path = "spec.template.metadata.annotations[checksum/config]";
    ws.write("new/all.yaml", &manifests("30s", "aaaa1111", "x"));
    run(&ws, "apply", &[]).exits_with(0);
    ws.write("new/all.yaml", &manifests("45s", "bbbb2222", "x"));
    let diff = run(&ws, "diff", &[]).exits_with(1);
    let changes = diff.object("Deployment", "web")["changes"].as_array().unwrap().clone();
    assert_eq!(changes.len(), 1, "{changes:#?}");
    let expected: Value = json!([ws.fill_in("ConfigMap $NS/settings")]);
    assert_eq!(changes[0]["follows"], expected, "{changes:#?}");
    assert!(!diff.stdout.contains("aaaa1111") && diff.stdout.contains("follows ConfigMap"), "{path}: {diff}");
    run(&ws, "apply", &[]).exits_with(0);
    // Without a change of what it uses, it stands for itself.
    ws.write("new/all.yaml", &manifests("45s", "cccc3333", "x"));
    let diff = run(&ws, "diff", &[]).exits_with(1);
    assert!(diff.object("Deployment", "web")["changes"][0].get("follows").is_none(), "{diff}");
    assert!(diff.stdout.contains("cccc3333"), "{diff}");
}

/// Runs a command over the set, from the folder `new`.
fn of_set(ws: &Workspace, command: &str, flags: &[&str]) -> Run {
    ws.reconcile([&[command, "-f", "new", "--prune", "--applyset", "web"], flags].concat())
}

/// The ConfigMaps of the namespace with a generated name.
fn config_maps(ws: &Workspace) -> BTreeSet<String> {
    let names = ws.kubectl(["get", "configmap", "-o", "name"]).exits_with(0).stdout;
    names.lines().filter_map(|line| line.strip_prefix("configmap/web-config-")).map(ToOwned::to_owned).collect()
}

#[test]
fn a_new_name_is_chosen_as_one_change() {
    let hash = |name: &str| BTreeSet::from([name.trim_start_matches("web-config-").to_owned()]);
    for with_workload in [false, true] {
        let ws = Workspace::new();
        let write = |name: &str, timeout: &str| {
            let workload = if with_workload { format!("\n---\n{}", workload(name)) } else { String::new() };
            ws.write("new/all.yaml", &format!("{}{workload}", config(name, timeout)));
        };
        write(A, "30s");
        of_set(&ws, "apply", &[]).exits_with(0);
        write(B, "45s");
        let plain = of_set(&ws, "diff", &[]).exits_with(1);
        assert_eq!(plain.object("ConfigMap", B)["side"], "manifest", "{plain}");
        assert!(!plain.stderr.contains("no manifest names a member"), "{plain}");
        for not in ["cluster", "either", "missing", "pruned", "cluster,either"] {
            let diff = of_set(&ws, "diff", &["--only", not]).exits_with(0);
            let left = usize::from(with_workload) * 3 + 1;
            assert_eq!(diff.report()["summary"]["left"], left, "{not}: {diff}");
            let object = diff.object("ConfigMap", B);
            let expected = json!([{"path": "", "class": "pending", "side": "manifest"}]);
            assert_eq!((&object["left"], &object["renamedFrom"]), (&expected, &json!(A)), "{not}: {diff}");
            let apply = of_set(&ws, "apply", &["--only", not]).exits_with(0);
            assert_eq!(apply.report()["summary"]["left"], left, "{not}: {apply}");
            assert_eq!(config_maps(&ws), hash(A), "{not}: {apply}");
        }
        let flags = ["--only", "manifest", "--save-plan", "plan.json"];
        let diff = of_set(&ws, "diff", &flags).exits_with(1);
        assert_eq!(diff.object("ConfigMap", B)["renamedFrom"], json!(A), "{diff}");
        assert_eq!(diff.changes("ConfigMap", B), ["pending data.timeout"], "{diff}");
        assert_eq!(diff.report()["summary"]["left"], 0, "{diff}");
        let apply = of_set(&ws, "apply", &["--only", "manifest", "--plan", "plan.json"]).exits_with(0);
        assert_eq!(apply.object("ConfigMap", B)["outcome"], "updated", "{apply}");
        assert_eq!(config_maps(&ws), hash(B), "{apply}");
        of_set(&ws, "diff", &[]).exits_with(0);
        // One that somebody deleted is no change of the manifests.
        if !with_workload {
            ws.kubectl(["delete", "configmap", B]).exits_with(0);
            let apply = of_set(&ws, "apply", &["--only", "manifest"]).exits_with(0);
            assert_eq!((apply.report()["summary"]["left"].as_u64(), config_maps(&ws).len()), (Some(1), 0), "{apply}");
        }
    }
}

#[test]
fn older_generations_stay_where_the_new_one_is_left() {
    let ws = Workspace::new();
    ws.write("new/all.yaml", &format!("{}\n---\n{}", config(A, "30s"), config(C, "31s")));
    of_set(&ws, "apply", &[]).exits_with(0);
    ws.write("new/all.yaml", &config(B, "45s"));
    let apply = of_set(&ws, "apply", &["--only", "pruned"]).exits_with(0);
    assert_eq!(config_maps(&ws).len(), 2, "{apply}");
    let apply = of_set(&ws, "apply", &["--only", "manifest"]).exits_with(0);
    assert_eq!(config_maps(&ws).len(), 1, "{apply}");
    assert_eq!(ws.get("configmap", B)["data"]["timeout"], "45s");
}

#[test]
fn each_difference_from_the_former_object_is_on_its_side() {
    let with_set = &["--prune", "--applyset", "web"][..];
    for set in [with_set, &[]] {
        let ws = Workspace::new();
        let run = |command: &str, flags: &[&str]| ws.reconcile([&[command, "-f", "new"], set, flags].concat());
        let map = |name: &str, data: &str| {
            format!(
                "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {data}}}\n---\n{}",
                workload(name)
            )
        };
        ws.write("new/all.yaml", &map(A, "{timeout: 30s, same: a, level: low, gone: x}"));
        run("apply", &[]).exits_with(0);
        let edit = r#"{"data": {"level": "high", "note": "by hand"}}"#;
        ws.kubectl(["patch", "configmap", A, "--type=merge", "-p", edit, "--field-manager=kubectl-edit"]).exits_with(0);
        ws.write("new/all.yaml", &map(B, "{timeout: 45s, same: a, level: low}"));
        let diff = run("diff", &[]).exits_with(1);
        let object = diff.object("ConfigMap", B);
        assert_eq!((&object["renamedFrom"], &object["side"]), (&json!(A), &json!("both")), "{diff}");
        let sides: BTreeSet<String> = object["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|change| {
                let manager = change["managers"][0]["manager"].as_str().unwrap_or("-");
                let text = |field: &str| change[field].as_str().unwrap_or("-").to_owned();
                format!("{} {} {} {} {manager}", text("path"), text("op"), text("class"), text("side"))
            })
            .collect();
        let expected = [
            "data.gone remove pruned manifest -",
            "data.level change changedByOther cluster kubectl-edit",
            "data.note remove unmanaged cluster kubectl-edit",
            "data.timeout change pending manifest -",
        ];
        assert_eq!(sides, expected.map(str::to_owned).into(), "{diff}");
        run("diff", &["--fail-on", "cluster"]).exits_with(1);
        // The new object cannot have one side alone: the former one stays, and nothing refers to what is not there.
        let diff = run("diff", &["--only", "manifest"]).exits_with(1);
        let left = diff.object("ConfigMap", B);
        assert_eq!((&left["action"], &left["left"][0]["path"]), (&json!("none"), &json!("")), "{diff}");
        let apply = run("apply", &["--only", "manifest"]).exits_with(4);
        assert!(apply.stdout.contains("left by --only") && apply.stdout.contains(B), "{apply}");
        assert_eq!(
            (ws.get("configmap", A)["data"]["level"].as_str(), config_maps(&ws).len()),
            (Some("high"), 1),
            "{apply}"
        );
        let live = ws.kubectl(["get", "configmap,deployment", "-o", "yaml", "--show-managed-fields"]).exits_with(0);
        ws.write("live.yaml", &live.stdout);
        if set.is_empty() {
            let offline = run("diff", &["--live", "live.yaml", "-n", ws.namespace()]).exits_with(1);
            assert_eq!(offline.object("ConfigMap", B)["changes"], object["changes"], "{offline}");
        }
        let apply = run("apply", &[]).exits_with(0);
        assert_eq!(apply.object("ConfigMap", B)["outcome"], "updated", "{apply}");
        assert_eq!(ws.get("configmap", B)["data"], json!({"timeout": "45s", "same": "a", "level": "low"}));
        run("diff", &[]).exits_with(0);
    }
}

#[test]
fn what_nothing_tells_about_the_former_object_is_on_no_known_side() {
    let ws = Workspace::new();
    // Created by somebody who left no record of what the manifest was.
    ws.write("old.yaml", &config(A, "30s"));
    ws.kubectl(["create", "-f", "old.yaml"]).exits_with(0);
    ws.write("web.yaml", &workload(A));
    ws.reconcile(["apply", "-f", "web.yaml"]).exits_with(0);
    ws.write("new/all.yaml", &format!("{}\n---\n{}", config(B, "45s"), workload(B)));
    let diff = run(&ws, "diff", &[]).exits_with(1);
    let object = diff.object("ConfigMap", B);
    assert_eq!((&object["renamedFrom"], &object["side"]), (&json!(A), &json!("either")), "{diff}");
    assert_eq!(diff.changes("ConfigMap", B), ["unrecorded data.timeout"], "{diff}");
    // With a base, its former manifest is the record.
    ws.write("base/all.yaml", &format!("{}\n---\n{}", config(A, "30s"), workload(A)));
    let diff = run(&ws, "diff", &["--base", "base"]).exits_with(1);
    assert_eq!(diff.changes("ConfigMap", B), ["pending data.timeout"], "{diff}");
    assert_eq!(diff.object("ConfigMap", B)["changes"][0]["base"], "30s", "{diff}");
}

#[test]
fn an_immutable_object_under_a_new_name_is_no_replacement() {
    let ws = Workspace::new();
    let fixed = |name: &str, timeout: &str| config(name, timeout).replaced(", data:", ", immutable: true, data:");
    ws.write("new/all.yaml", &format!("{}\n---\n{}", fixed(A, "30s"), workload(A)));
    run(&ws, "apply", &[]).exits_with(0);
    ws.write("new/all.yaml", &format!("{}\n---\n{}", fixed(B, "45s"), workload(B)));
    let diff = run(&ws, "diff", &[]).exits_with(1);
    let object = diff.object("ConfigMap", B);
    assert_eq!((&object["renamedFrom"], &object["action"]), (&json!(A), &json!("update")), "{diff}");
    assert_eq!(diff.changes("ConfigMap", B), ["pending data.timeout"], "{diff}");
    run(&ws, "apply", &[]).exits_with(0);
    run(&ws, "diff", &[]).exits_with(0);
}
