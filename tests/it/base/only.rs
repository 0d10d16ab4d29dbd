//! `--only`: some differences are resolved, and the others are left as they are in the cluster.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use structured_merge::{FieldPath, managed_fields};

use super::histories::{by_name, in_batches};
use crate::control_plane::{Replaced, Run, Workspace};
use crate::manifests::WEB;

const IMAGE: &str = "spec.template.spec.containers[name=web].image";
const BOTH: [&str; 6] = ["-f", "new", "--base", "old", "--only", "cluster"];

/// A Deployment of which the cluster changed the replicas, and the manifests the image and a label.
fn moved() -> Workspace {
    let ws = Workspace::new();
    ws.write("old/web.yaml", WEB);
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    ws.kubectl(["scale", "deployment/web", "--replicas=5"]).exits_with(0);
    ws.write("new/web.yaml", &WEB.replaced("web:1.2", "web:1.3").replaced("tier: front", "tier: back"));
    ws
}

fn run(ws: &Workspace, command: &str, flags: &[&str]) -> Run {
    ws.reconcile([&[command], flags].concat())
}

fn at(object: &Value, path: &str) -> Option<Value> {
    let path: FieldPath = serde_json::from_value(json!(path)).unwrap();
    path.value_in(object).cloned()
}

/// The owners of a field.
fn owners(object: &Value, path: &str) -> BTreeSet<String> {
    let path: FieldPath = serde_json::from_value(json!(path)).unwrap();
    let entries = managed_fields(object).into_iter().filter(|entry| entry.fields.contains_at_or_below(&path));
    entries.map(|entry| format!("{} {:?} {}", entry.manager, entry.operation, entry.subresource)).collect()
}

fn left(run: &Run, kind: &str, name: &str) -> Vec<String> {
    let left = run.object(kind, name)["left"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    left.iter().map(|one| [&one["path"], &one["class"], &one["side"]].map(text).join(" ")).collect()
}

#[test]
fn what_the_cluster_changed_is_healed_and_what_is_new_in_the_manifests_stays_for_a_release() {
    let ws = moved();
    let before = ws.get("deployment", "web");
    let diff = run(&ws, "diff", &BOTH).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["changedByOther spec.replicas"], "{diff}");
    let expected = ["metadata.labels.tier pending manifest".to_owned(), format!("{IMAGE} pending manifest")];
    assert_eq!(left(&diff, "Deployment", "web"), expected, "{diff}");
    assert_eq!((&diff.report()["summary"]["left"], &diff.report()["only"]), (&json!(2), &json!(["cluster"])));
    assert!(diff.stdout.contains("2 differences left by --only"), "{diff}");
    assert_eq!(ws.get("deployment", "web"), before);

    let apply = run(&ws, "apply", &BOTH).exits_with(0);
    assert!(apply.stdout.contains("2 differences left by --only"), "{apply}");
    assert_eq!(apply.object("Deployment", "web")["outcome"], "updated");
    let after = ws.get("deployment", "web");
    assert_eq!(at(&after, "spec.replicas"), Some(json!(2)));
    for path in [IMAGE, "metadata.labels.tier"] {
        assert_eq!((at(&after, path), owners(&after, path)), (at(&before, path), owners(&before, path)), "{path}");
    }
    let (again, requests) = ws.requests_during(|| run(&ws, "apply", &BOTH).exits_with(0));
    assert_eq!(again.writes(), 0, "{again} {requests:?}");
    assert_eq!(again.report()["summary"]["left"], 2, "{again}");
    assert_eq!(ws.get("deployment", "web"), after);
    // What is left fails nothing, whatever fails a run.
    for gate in ["manifest", "drift", "pending"] {
        run(&ws, "diff", &[&BOTH[..], &["--fail-on", gate]].concat()).exits_with(0);
    }
    ws.reconcile(["diff", "-f", "new", "--base", "old", "--fail-on", "manifest"]).exits_with(1);
}

#[test]
fn classes_and_sides_are_chosen_without_a_base_too() {
    let ws = moved();
    for (only, changed, count) in [
        ("changedByOther", vec!["changedByOther spec.replicas"], 2),
        ("manual", vec!["changedByOther spec.replicas"], 2),
        ("cluster", vec!["changedByOther spec.replicas"], 2),
        ("pending,changedByOther", vec!["pending metadata.labels.tier", "changedByOther spec.replicas", "pending"], 0),
        ("either", vec![], 3),
        ("adopted", vec![], 3),
    ] {
        let code = i32::from(!changed.is_empty());
        let diff = run(&ws, "diff", &["-f", "new", "--only", only]).exits_with(code);
        let found = diff.changes("Deployment", "web");
        assert_eq!(found.len(), changed.len(), "{only}: {diff}");
        assert!(found.iter().zip(&changed).all(|(found, expected)| found.starts_with(expected)), "{only}: {diff}");
        assert_eq!(diff.report()["summary"]["left"], count, "{only}: {diff}");
    }
    let all = run(&ws, "diff", &["-f", "new", "--only", "drift"]).exits_with(1);
    assert_eq!(all.changes("Deployment", "web").len(), 3, "{all}");
    let refused = run(&ws, "diff", &["-f", "new", "--only", "both"]).exits_with(2);
    assert!(refused.stderr.contains("`--only both` needs a base"), "{refused}");
    run(&ws, "diff", &["-f", "new", "--only", "nothing"]).exits_with(2);
    run(&ws, "apply", &["-f", "new", "--only", "manifest"]).exits_with(0);
    let live = ws.get("deployment", "web");
    assert_eq!((at(&live, "spec.replicas"), at(&live, IMAGE)), (Some(json!(5)), Some(json!("shop/web:1.3"))));
    assert_eq!(owners(&live, "spec.replicas").len(), 1, "the scale is still of kubectl alone: {live}");
}

/// What both sides changed is neither healed nor released, unless it is chosen.
#[test]
fn what_an_apply_would_overwrite_is_chosen_by_its_own_name() {
    let ws = moved();
    ws.kubectl(["set", "image", "deployment/web", "web=shop/web:hotfix"]).exits_with(0);
    let diff = run(&ws, "diff", &BOTH).exits_with(1);
    assert!(left(&diff, "Deployment", "web").contains(&format!("{IMAGE} changedByOther both")), "{diff}");
    run(&ws, "apply", &BOTH).exits_with(0);
    assert_eq!(at(&ws.get("deployment", "web"), IMAGE), Some(json!("shop/web:hotfix")));
    run(&ws, "apply", &["-f", "new", "--base", "old", "--only", "both"]).exits_with(0);
    assert_eq!(at(&ws.get("deployment", "web"), IMAGE), Some(json!("shop/web:1.3")));
    assert_eq!(at(&ws.get("deployment", "web"), "metadata.labels.tier"), Some(json!("front")));
}

/// Without its label, a member would never be pruned.
#[test]
fn an_object_joins_the_apply_set_whatever_is_chosen() {
    let ws = moved();
    let set = ["-f", "new", "--base", "old", "--prune", "--applyset=shop"];
    let diff = run(&ws, "diff", &set).exits_with(1);
    let (change, drift) = diff.stdout.split_once("already differs").unwrap();
    assert!(
        change.contains("part-of")
            && change.contains("parent of the apply set")
            && !diff.stdout.contains("without a base"),
        "{diff}"
    );
    assert!(drift.contains("spec.replicas") && !drift.contains("part-of"), "{diff}");
    let label =
        |ws: &Workspace| ws.get("deployment", "web")["metadata"]["labels"]["applyset.kubernetes.io/part-of"].clone();
    run(&ws, "apply", &[&set[..], &["--only", "cluster"]].concat()).exits_with(0);
    assert!(label(&ws).is_string());
    let live = ws.get("deployment", "web");
    assert_eq!((at(&live, "spec.replicas"), at(&live, IMAGE)), (Some(json!(2)), Some(json!("shop/web:1.2"))));
    let (again, _) =
        ws.requests_during(|| run(&ws, "apply", &[&set[..], &["--only", "cluster"]].concat()).exits_with(0));
    assert_eq!(again.writes(), 0, "{again}");
}

#[test]
fn objects_are_created_and_deleted_only_if_they_are_chosen() {
    let ws = Workspace::new();
    let map =
        |name: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{a: '1'}}}}\n");
    for name in ["deleted", "dropped"] {
        ws.write(format!("old/{name}.yaml"), &map(name));
    }
    let set = ["--prune", "--applyset=shop"];
    run(&ws, "apply", &[&["-f", "old"], &set[..]].concat()).exits_with(0);
    ws.kubectl(["delete", "configmap/deleted"]).exits_with(0);
    for name in ["deleted", "fresh"] {
        ws.write(format!("new/{name}.yaml"), &map(name));
    }
    ws.write(
        "new/space.yaml",
        "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-new}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: inside, namespace: $NS-new}}\n",
    );
    let flags = [&BOTH[..], &set].concat();
    let diff = run(&ws, "diff", &flags).exits_with(1);
    assert_eq!(left(&diff, "ConfigMap", "fresh"), [" missing manifest"], "{diff}");
    assert_eq!(left(&diff, "ConfigMap", "dropped"), [" pruned manifest"], "{diff}");
    assert_eq!(left(&diff, "ConfigMap", "deleted"), [""; 0], "{diff}");
    assert_eq!(diff.report()["summary"]["left"], 4, "{diff}");
    assert_eq!(diff.report()["summary"]["inSync"], 0, "{diff}");
    assert!(diff.stdout.contains("/dropped  left by --only"), "{diff}");
    assert!(diff.stdout.contains("1 to create, 1 kept; 0 in sync"), "what is left is not in sync: {diff}");
    ws.reconcile([&["diff"][..], &flags, &["-o", "junit=left.xml"]].concat()).exits_with(1);
    let cases = fs::read_to_string(ws.folder().join("left.xml")).expect("test cases");
    assert_eq!(cases.matches("<skipped message=\"left by --only\"").count(), 4, "{cases}");
    let apply = run(&ws, "apply", &[&flags[..], &["--wait", "--timeout=20s"]].concat()).exits_with(0);
    assert!(apply.stdout.contains("4 differences left by --only"), "{apply}");
    assert!(!apply.stdout.contains("unchanged"), "{apply}");
    assert!(ws.find("configmap", "deleted").is_some() && ws.find("configmap", "dropped").is_some(), "{apply}");
    assert!(ws.find("configmap", "fresh").is_none() && ws.find("namespace", "$NS-new").is_none(), "{apply}");
    assert_eq!(run(&ws, "apply", &flags).exits_with(0).writes(), 0);
    // The member that is left is still one, and a run without the flag deletes it.
    run(&ws, "apply", &[&["-f", "new"], &set[..]].concat()).exits_with(0);
    assert!(ws.find("configmap", "dropped").is_none() && ws.find("configmap", "fresh").is_some());
}

/// An object that was deleted in a namespace that is new in the manifests, or of a kind that is: it waits for them.
#[test]
fn what_needs_an_object_that_is_left_is_skipped_with_the_reason() {
    let ws = Workspace::new();
    let inside = "{apiVersion: v1, kind: ConfigMap, metadata: {name: inside, namespace: $NS-new}}\n";
    ws.write("old/inside.yaml", inside);
    ws.write("new/inside.yaml", inside);
    ws.write("new/space.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-new}}\n");
    let apply = run(&ws, "apply", &BOTH).exits_with(4);
    let reason = apply.object("ConfigMap", "inside")["reason"].as_str().unwrap();
    assert!(reason.contains("does not exist, and `--only` does not create it"), "{apply}");
}

/// A new object without a base is of no known side, so that `--only manifest` leaves it.
#[test]
fn a_diff_names_the_objects_that_are_skipped_for_one_that_is_left() {
    let ws = Workspace::new();
    let web = |map: &str| {
        let reference = format!("{{name: LOG, valueFrom: {{configMapKeyRef: {{name: {map}, key: log}}}}}}");
        WEB.replaced("{name: LOG, value: info}", &reference)
    };
    ws.write("web.yaml", &web("former"));
    run(&ws, "apply", &["-f", "."]).exits_with(0);
    let settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}\n";
    ws.write("it/settings.yaml", settings);
    ws.write("it/web.yaml", &web("settings"));
    let waits = "{apiVersion: v1, kind: ConfigMap, metadata: {name: waits, annotations: {config.kubernetes.io/depends-on: apps/namespaces/$NS/Deployment/web}}, data: {a: '1'}}";
    ws.write("waits.yaml", waits);
    run(&ws, "apply", &["-f", "waits.yaml"]).exits_with(0);
    ws.write("it/waits.yaml", &waits.replaced("a: '1'", "a: '2'"));
    run(&ws, "snapshot", &["-f", "it", "--file", "state.txt"]).exits_with(0);
    let flags = ["-f", "it", "--only", "manifest"];
    let reason =
        |run: &Run, kind: &str, name: &str| run.object(kind, name)["reason"].as_str().unwrap_or_default().to_owned();
    let diffs = [&[][..], &["--evidence=read-only"], &["--live", "state.txt"]]
        .map(|more| run(&ws, "diff", &[&flags, more].concat()).exits_with(1));
    let apply = run(&ws, "apply", &flags).exits_with(4);
    for (kind, name) in [("Deployment", "web"), ("ConfigMap", "waits")] {
        assert_eq!(apply.object(kind, name)["outcome"], "skipped", "{apply}");
        for diff in &diffs {
            let warning = format!("`apply` skips it: {}", reason(&apply, kind, name));
            assert_eq!(diff.object(kind, name)["warnings"], json!([warning]), "{diff}");
        }
    }
    assert!(
        reason(&apply, "Deployment", "web").ends_with("which does not exist, and `--only` does not create it"),
        "{apply}"
    );
    assert!(!diffs[0].stdout.contains("restart"), "nothing restarts: {}", diffs[0]);
    // What exists is not waited for.
    ws.kubectl(["create", "configmap", "settings"]).exits_with(0);
    let diff = run(&ws, "diff", &flags).exits_with(1);
    assert_eq!(diff.object("Deployment", "web")["warnings"], json!([]), "{diff}");
    run(&ws, "apply", &flags).exits_with(0);
}

#[test]
fn a_plan_and_its_apply_have_the_same_choice() {
    let ws = moved();
    run(&ws, "diff", &[&BOTH[..], &["--save-plan", "plan.json"]].concat()).exits_with(1);
    for other in [&BOTH[..4], &[&BOTH[..4], &["--only", "cluster,manifest"]].concat()] {
        let refused = run(&ws, "apply", &[other, &["--plan", "plan.json"]].concat()).exits_with(2);
        assert!(refused.stderr.contains("the plan was made with another `--only`"), "{refused}");
    }
    run(&ws, "diff", &[&BOTH[..4], &["--save-plan", "all.json"]].concat()).exits_with(1);
    run(&ws, "apply", &[&BOTH[..], &["--plan", "all.json"]].concat()).exits_with(2);
    run(&ws, "apply", &[&BOTH[..], &["--plan", "plan.json"]].concat()).exits_with(0);
    let live = ws.get("deployment", "web");
    assert_eq!((at(&live, "spec.replicas"), at(&live, IMAGE)), (Some(json!(2)), Some(json!("shop/web:1.2"))));
}

/// What a plan does may depend on the base: it is part of it, whatever it is called.
#[test]
fn a_plan_and_its_apply_have_the_same_base() {
    let ws = moved();
    let save =
        |flags: &[&str]| run(&ws, "diff", &[&["-f", "new", "--save-plan", "plan.json"], flags].concat()).exits_with(1);
    let follow = |flags: &[&str]| run(&ws, "apply", &[&["-f", "new", "--plan", "plan.json"], flags].concat());
    let refused = |flags: &[&str], why: &str| {
        let refused = follow(flags).exits_with(2);
        assert!(refused.stderr.contains(why), "{refused}");
        assert_eq!(refused.writes(), 0, "{refused}");
    };
    save(&["--base", "old"]);
    refused(&[], "the plan was made with the base `old`, and this run has none");
    refused(&["--base", "new"], "the plan was made with the base `old`, and this run has `new`");
    ws.write("same/web.yaml", WEB);
    ws.write("old/web.yaml", &WEB.replaced("web:1.2", "web:1.1"));
    refused(&["--base", "old"], "the base `old` is no longer that of the plan");
    save(&[]);
    refused(&["--base", "old"], "the plan was made without a base, and this run has one");
    save(&["--base", "same"]);
    ws.write("old/web.yaml", WEB);
    follow(&["--base", "old"]).exits_with(0);
}

/// The conflict of a field that is left blocks nothing.
#[test]
fn a_conflict_that_is_left_blocks_nothing() {
    let ws = moved();
    ws.apply_as(
        "other-tool",
        &ws.fill_in(
            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: $NS, labels: {tier: other}}}",
        ),
    );
    run(&ws, "apply", &["-f", "new"]).exits_with(4);
    let apply = run(&ws, "apply", &["-f", "new", "--base", "old", "--only", "changedByOther"]).exits_with(0);
    assert_eq!(at(&ws.get("deployment", "web"), "spec.replicas"), Some(json!(2)), "{apply}");
    assert_eq!(at(&ws.get("deployment", "web"), "metadata.labels.tier"), Some(json!("other")), "{apply}");
    assert_eq!(apply.object("Deployment", "web")["conflicts"], json!([]), "{apply}");
}

/// Of a list that is replaced as a whole, only all of it can be applied. The order of a list with keys can be left.
#[test]
fn lists_are_left_as_they_are() {
    let ws = Workspace::new();
    ws.write("old/web.yaml", WEB);
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    ws.kubectl(["set", "env", "deployment/web", "LOG=debug"]).exits_with(0);
    let env = "[{name: LOG, value: info}, {name: LANG, value: en}]";
    let args = "args: [--port, '8080', --verbose]";
    let new = WEB
        .replaced(env, "[{name: NEW, value: x}, {name: LANG, value: en}, {name: LOG, value: info}]")
        .replaced(args, "args: [--port, '9090', --verbose, --more]")
        .replaced("- {name: proxy, image: 'shop/proxy:3'}", "- {name: other, image: 'shop/other:1'}");
    ws.write("new/web.yaml", &new);
    let before = ws.get("deployment", "web");
    let apply = run(&ws, "apply", &BOTH).exits_with(0);
    let after = ws.get("deployment", "web");
    let mut expected = before["spec"]["template"]["spec"]["containers"].clone();
    expected[0]["env"][0]["value"] = json!("info");
    assert_eq!(after["spec"]["template"]["spec"]["containers"], expected, "{apply}");
    assert_eq!(run(&ws, "apply", &BOTH).exits_with(0).writes(), 0);
    // Everything that was left comes with the release.
    run(&ws, "apply", &["-f", "new"]).exits_with(0);
    run(&ws, "diff", &["-f", "new"]).exits_with(0);
    assert_eq!(ws.get("deployment", "web")["spec"]["template"]["spec"]["containers"].as_array().unwrap().len(), 2);
}

/// Without a base, nothing tells whether a value that the object lacks is new in the manifest or was removed. Beside one that goes it may be
/// the same under a new name: a pass that makes only one half of that would lose it.
#[test]
fn a_change_of_which_one_half_is_left_is_not_made() {
    let ws = Workspace::new();
    let service = |port: u16| {
        format!(
            "{{apiVersion: v1, kind: Service, metadata: {{name: web}}, spec: {{selector: {{a: b}}, ports: [{{name: h, port: {port}}}, {{name: m, port: 9090}}]}}}}"
        )
    };
    let map = |key: &str| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: web}}, data: {{{key}: x, other: '1'}}}}")
    };
    ws.write("service.yaml", &service(80));
    ws.write("map.yaml", &map("old.conf"));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let before = ["service", "configmap"].map(|kind| ws.get(kind, "web"));
    ws.write("service.yaml", &service(8080));
    ws.write("map.yaml", &map("new.conf"));
    let apply = run(&ws, "apply", &["-f", ".", "--only", "manifest"]).exits_with(4);
    assert_eq!(["service", "configmap"].map(|kind| ws.get(kind, "web")), before, "{apply}");
    assert!(apply.stdout.contains("leaves one beside it whose side no record tells"), "{apply}");
    // Who names the class means it, and both halves are one change.
    run(&ws, "apply", &["-f", "map.yaml", "--only", "pruned"]).exits_with(0);
    assert_eq!(ws.get("configmap", "web")["data"], json!({"other": "1"}));
    run(&ws, "apply", &["-f", ".", "--only", "manifest,either"]).exits_with(0);
    run(&ws, "diff", &["-f", "."]).exits_with(0);
}

/// The API lets the chosen difference go only with the one that is left: it is not in sync.
#[test]
fn what_is_chosen_and_cannot_be_made_alone_is_no_success() {
    let ws = Workspace::new();
    let probe = "image: shop/web:1.2\n        livenessProbe: {tcpSocket: {port: 80}}";
    ws.write("web.yaml", &WEB.replaced("image: shop/web:1.2", probe));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let exec = json!([{"op": "replace", "path": "/spec/template/spec/containers/0/livenessProbe", "value": {"exec": {"command": ["b"]}}}]);
    ws.kubectl(["patch", "deployment/web", "--type=json", "-p", &exec.to_string()]).exits_with(0);
    run(&ws, "diff", &["-f", ".", "--fail-on", "cluster"]).exits_with(1);
    for command in ["diff", "apply"] {
        let run = run(&ws, command, &["-f", ".", "--only", "cluster"]).exits_with(4);
        let web = run.object("Deployment", "web");
        assert_eq!((&web["action"], &web["error"]["reason"]), (&json!("unknown"), &json!("Invalid")), "{run}");
    }
    run(&ws, "apply", &["-f", ".", "--only", "cluster,either"]).exits_with(0);
    run(&ws, "diff", &["-f", "."]).exits_with(0);
}

/// What the server refuses of the manifests is left, and does not keep the rest from being healed.
#[test]
fn what_is_left_is_not_sent() {
    let ws = moved();
    let port = "ports: [{containerPort: 8080}]";
    let new = WEB.replaced(port, "ports: [{containerPort: 808080}]");
    ws.write("new/web.yaml", &new);
    run(&ws, "apply", &["-f", "new"]).exits_with(4);
    let apply = run(&ws, "apply", &BOTH).exits_with(0);
    assert_eq!(at(&ws.get("deployment", "web"), "spec.replicas"), Some(json!(2)), "{apply}");
    // A field that only a replacement changes is left as well.
    ws.kubectl(["scale", "deployment/web", "--replicas=5"]).exits_with(0);
    ws.write("new/web.yaml", &WEB.replaced("{matchLabels: {app: web}}", "{matchLabels: {app: web, tier: new}}"));
    let apply = run(&ws, "apply", &BOTH).exits_with(0);
    assert_eq!(at(&ws.get("deployment", "web"), "spec.replicas"), Some(json!(2)), "{apply}");
}

#[test]
fn a_choice_holds_without_a_cluster_and_in_all_shards() {
    let ws = moved();
    let live = ws.kubectl(["get", "deployment/web", "-o", "yaml", "--show-managed-fields"]).exits_with(0).stdout;
    ws.write("live.yaml", &live);
    let diff = run(&ws, "diff", &[&BOTH[..], &["--live", "live.yaml", "-n", "$NS"]].concat()).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["changedByOther spec.replicas"], "{diff}");
    assert_eq!(diff.report()["summary"]["left"], 2, "{diff}");

    let mut words = vec!["report".to_owned(), "merge".to_owned()];
    for shard in ["0/2", "1/2"] {
        let part = run(&ws, "diff", &[&BOTH[..], &["--shard", shard]].concat());
        let path = ws.home().join(format!("part-{}.json", &shard[..1]));
        fs::write(&path, part.report().to_string()).unwrap();
        words.push(path.display().to_string());
    }
    words.extend(["-o".to_owned(), "json".to_owned()]);
    let whole: Value = serde_json::from_str(&ws.reconcile(&words).exits_with(1).stdout).unwrap();
    assert_eq!((&whole["summary"]["left"], &whole["only"]), (&json!(2), &json!(["cluster"])));
    assert_eq!(whole["base"], json!({"from": "old"}));
    let other = run(&ws, "diff", &["-f", "new", "--base", "old", "--shard", "1/2"]);
    fs::write(ws.home().join("part-1.json"), other.report().to_string()).unwrap();
    let refused = ws.reconcile(&words).exits_with(2);
    assert!(refused.stderr.contains("--only"), "{refused}");
}

/// Exactly the differences of the cluster's side are healed; everything else keeps its value and its owners.
#[test]
fn a_random_history_is_healed_and_nothing_else_is_touched() {
    in_batches(1_000_000, 60, |batch| {
        let ws = &batch.ws;
        let flags = ["-f", "new.json", "--base", "old.json", "--force-conflicts"];
        let heal = [&flags[..], &["--only", "cluster"]].concat();
        let diff = run(ws, "diff", &flags);
        let before = batch.objects();
        let apply = run(ws, "apply", &heal).exits_with(0);
        let after = batch.objects();
        let compared = by_name(&diff);
        for history in &batch.histories {
            let key = history.key();
            let (before, after, object) = (&before[&key], &after[&key], compared[&key]);
            check_healed(before, after, object, &history.about(0, object));
        }
        let again = run(ws, "apply", &heal).exits_with(0);
        assert_eq!(again.writes(), 0, "{apply}\n{again}");
        // Nothing is lost: the release brings what was left.
        run(ws, "apply", &flags).exits_with(0);
        run(ws, "diff", &["-f", "new.json"]).exits_with(0);
    });
}

fn check_healed(before: &Value, after: &Value, compared: &Value, about: &str) {
    // What client-side apply owns becomes ours with our first apply, and the server invents an owner where there was none.
    let entries = managed_fields(before);
    let is_by_kubectl = entries.iter().any(|entry| entry.manager == "kubectl-client-side-apply");
    let keeps_owners = !is_by_kubectl && !entries.is_empty();
    let changes = compared["changes"].as_array().unwrap();
    for found in changes.iter().filter(|change| change.get("side").is_some()) {
        let path = found["path"].as_str().unwrap();
        if found["side"] == "cluster" {
            assert_eq!(at(after, path).as_ref(), found.get("desired"), "{path}: {about}\n{after:#}");
            continue;
        }
        assert_eq!(at(after, path), at(before, path), "{path}: {about}");
        if keeps_owners {
            assert_eq!(owners(after, path), owners(before, path), "{path}: {about}");
        }
    }
}

/// A map or a list that the API replaces as a whole would be claimed with the parts of it that are left.
#[test]
fn a_value_is_not_written_in_parts_that_the_api_writes_as_a_whole() {
    let ws = Workspace::new();
    let manifest = "{apiVersion: batch/v1, kind: CronJob, metadata: {name: it}, spec: {schedule: 0 0 * * *, jobTemplate: {spec: {template: {spec: {restartPolicy: Never, nodeSelector: {a: '1', b: '1'}, containers: [{name: it, image: 'it:1', args: [one, two]}]}}}}}}";
    ws.write("old/it.yaml", manifest);
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    let pod = "spec.jobTemplate.spec.template.spec";
    for (place, other, left) in [
        ("containers/0/args/1", "args: [uno, two]", "containers[name=it].args[1]"),
        ("nodeSelector/b", "nodeSelector: {a: '2', b: '1'}", "nodeSelector.b"),
    ] {
        let field = other.split(':').next().unwrap();
        let start = manifest.find(field).unwrap();
        let end = start + manifest[start..].find([']', '}']).unwrap() + 1;
        ws.write("new/it.yaml", &manifest.replaced(&manifest[start..end], other).replaced("it:1", "it:2"));
        let patch = json!([{"op": "replace", "path": format!("/{}/{place}", pod.replace('.', "/")), "value": "HAND"}]);
        ws.kubectl(["patch", "cronjob/it", "--type=json", "-p", &patch.to_string()]).exits_with(0);
        let before = ws.get("cronjob", "it");
        for side in ["manifest", "cluster"] {
            for command in ["diff", "apply"] {
                let run = run(&ws, command, &["-f", "new", "--base", "old", "--only", side]).exits_with(4);
                let expected = if side == "manifest" {
                    format!("the chosen differences cannot be applied without `{pod}.{left}`, which `--only` leaves: ")
                } else {
                    "which `--only` leaves: it is a part of a value that is written as a whole".to_owned()
                };
                assert!(run.stdout.contains(&expected), "{run}");
            }
        }
        assert_eq!(ws.get("cronjob", "it"), before);
        run(&ws, "diff", &["-f", "new", "--base", "old", "--fail-on", "cluster"]).exits_with(1);
        // Beside such a value, everything is as before.
        let image = manifest.replaced("it:1", "it:2");
        ws.write("new/it.yaml", &image);
        run(&ws, "apply", &["-f", "new", "--base", "old", "--only", "manifest"]).exits_with(0);
        let after = ws.get("cronjob", "it");
        assert_eq!(at(&after, &format!("{pod}.{field}")), at(&before, &format!("{pod}.{field}")));
        run(&ws, "diff", &["-f", "new", "--base", "old", "--fail-on", "cluster"]).exits_with(1);
        run(&ws, "apply", &["-f", "old"]).exits_with(0);
    }
}

/// The server refuses what is chosen together with what is left: neither goes.
#[test]
fn what_is_left_is_not_removed_because_it_is_in_the_way() {
    let ws = Workspace::new();
    ws.write("old/web.yaml", WEB);
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    ws.kubectl(["patch", "deploy/web", "-p", r#"{"spec":{"strategy":{"rollingUpdate":{"maxSurge":3}}}}"#])
        .exits_with(0);
    let new = WEB.replaced("  replicas: 2\n", "  replicas: 2\n  strategy: {type: Recreate}\n");
    ws.write("new/web.yaml", &new);
    let flags = ["-f", "new", "--base", "old", "--only", "manifest"];
    let before = ws.get("deployment", "web");
    let diff = run(&ws, "diff", &flags).exits_with(4);
    assert_eq!(diff.object("Deployment", "web")["action"], "unknown", "{diff}");
    let apply = run(&ws, "apply", &flags).exits_with(4);
    assert!(apply.stdout.contains("without `spec.strategy.rollingUpdate`, which `--only` leaves: "), "{apply}");
    assert_eq!(ws.get("deployment", "web"), before, "{apply}");
    // A rule leaves it as well.
    let annotated = new.replaced(
        "  labels: {app",
        "  annotations: {kubectl-reconcile/ignore: spec.strategy.rollingUpdate}\n  labels: {app",
    );
    ws.write("ignoring/web.yaml", &annotated);
    let apply = run(&ws, "apply", &["-f", "ignoring"]).exits_with(4);
    assert!(apply.stdout.contains("`spec.strategy.rollingUpdate`, which is to be left alone"), "{apply}");
    assert_eq!(ws.get("deployment", "web"), before, "{apply}");
    run(&ws, "apply", &["-f", "new"]).exits_with(0);
    assert_eq!(at(&ws.get("deployment", "web"), "spec.strategy"), Some(json!({"type": "Recreate"})));
}

/// The server drops the port of a node with the type of its Service, and asks nobody.
#[test]
fn what_is_left_is_not_dropped_by_the_server() {
    let ws = Workspace::new();
    let service = "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: NodePort, selector: {app: s}, ports: [{port: 80}]}}";
    ws.write("old/s.yaml", service);
    ws.reconcile(["apply", "-f", "old"]).exits_with(0);
    let before = ws.get("service", "s");
    let other = if before["spec"]["ports"][0]["nodePort"] == 31234 { 31235 } else { 31234 };
    let patch = json!([{"op": "replace", "path": "/spec/ports/0/nodePort", "value": other}]).to_string();
    ws.kubectl(["patch", "service/s", "--type=json", "-p", &patch]).exits_with(0);
    ws.write("new/s.yaml", &service.replaced("NodePort", "ClusterIP"));
    let before = ws.get("service", "s");
    let whole = run(&ws, "diff", &["-f", "new", "--base", "old"]).exits_with(1);
    let port = whole.change("Service", "s", "spec.ports[port=80,protocol=TCP].nodePort");
    // Somebody set the port, and the type of the manifest takes it out.
    assert_eq!(port["side"], "both", "{whole}");
    let apply = run(&ws, "apply", &["-f", "new", "--base", "old", "--only", "manifest"]).exits_with(4);
    let left = "`spec.ports[port=80,protocol=TCP].nodePort`, which `--only` leaves";
    assert!(apply.stdout.contains(left), "{apply}");
    assert_eq!(ws.get("service", "s"), before, "{apply}");
}

/// A new object that is left is not tried, so that its mistakes do not matter.
#[test]
fn a_mistake_in_an_object_that_is_left_fails_nothing() {
    let ws = moved();
    ws.write("new/mistake.yaml", "{apiVersion: v1, kind: Service, metadata: {name: wrong}, spec: {portz: 1}}");
    let diff = run(&ws, "diff", &BOTH).exits_with(1);
    assert_eq!(left(&diff, "Service", "wrong"), [" missing manifest"], "{diff}");
    run(&ws, "apply", &[&BOTH[..], &["--dry-run"]].concat()).exits_with(1);
    run(&ws, "apply", &BOTH).exits_with(0);
    run(&ws, "diff", &BOTH).exits_with(0);
    run(&ws, "diff", &["-f", "new", "--base", "old", "--only", "manifest"]).exits_with(4);
}
