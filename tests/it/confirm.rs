//! `--confirm`: what is shown is what is applied, once somebody says yes.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::control_plane::{Caller, Fault, Proxy, Replaced, Workspace};
use crate::manifests::WEB;

const ADMIN: &str = "admin";

fn with_drift() -> Arc<Workspace> {
    let ws = Arc::new(Workspace::new());
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 5);
    ws
}

fn typing<'a>(ws: &'a Workspace, answer: &str) -> Caller<'a> {
    ws.as_user(ADMIN).stdin(answer).on_terminal()
}

fn replicas(ws: &Workspace) -> u64 {
    ws.get("Deployment", "web")["spec"]["replicas"].as_u64().unwrap()
}

#[test]
fn yes_applies_what_was_shown() {
    for (command, answer) in [(&["apply"][..], "y\n"), (&["apply"], "Yes\n"), (&["diff", "--apply"], "yes\n")] {
        let ws = with_drift();
        let arguments = [command, &["--confirm", "-f", "."]].concat();
        let run = typing(&ws, answer).reconcile(arguments).exits_with(0);
        assert!(run.stdout.contains("5 → 2") && run.stdout.contains("updated Deployment"), "{run}");
        assert!(run.stderr.contains("1 to update") && run.stderr.contains("[y/N]"), "{run}");
        assert_eq!(replicas(&ws), 2);
    }
}

#[test]
fn anything_else_writes_nothing_and_exits_1() {
    for answer in ["n\n", "\n", "yellow\n", "\u{4}"] {
        let ws = with_drift();
        let before = ws.all_resource_versions();
        let run = typing(&ws, answer).reconcile(["apply", "--confirm", "-f", "."]).exits_with(1);
        assert_eq!((&run.report()["command"], &run.report()["verdict"]), (&json!("apply"), &json!("drift")));
        assert_eq!(run.writes(), 0);
        assert_eq!(ws.all_resource_versions(), before, "{answer:?}");
    }
}

#[test]
fn without_a_terminal_nothing_is_begun() {
    let ws = with_drift();
    let run = ws.stdin("y\n").reconcile(["apply", "--confirm", "-f", "web.yaml"]).exits_with(2);
    assert!(run.stderr.contains("terminal") && run.stderr.contains("hint: "), "{run}");
    let run = typing(&ws, WEB).reconcile(["apply", "--confirm", "-f", "-"]).exits_with(2);
    assert!(run.stderr.contains("-f -"), "{run}");
    assert_eq!(replicas(&ws), 5);
    ws.reconcile(["diff", "--confirm", "-f", "web.yaml"]).exits_with(2);
    ws.reconcile(["apply", "--confirm", "--dry-run", "-f", "web.yaml"]).exits_with(2);
}

#[test]
fn nothing_to_do_is_nothing_to_ask() {
    let ws = with_drift();
    ws.scale("deployment/web", 2);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let run = typing(&ws, "").reconcile(["apply", "--confirm", "-f", "."]).exits_with(0);
    assert!(!run.stderr.contains("[y/N]"), "{run}");
}

#[test]
fn the_difference_is_shown_even_where_stdout_is_for_machines() {
    for flags in ["--output=json", "--quiet"] {
        let ws = with_drift();
        let run = typing(&ws, "n\n").reconcile(["apply", "--confirm", "-f", ".", "--color=never", flags]).exits_with(1);
        assert!(run.stderr.contains("5 → 2"), "{run}");
    }
}

#[test]
fn what_changes_while_somebody_reads_is_not_applied_unseen() {
    for (patch, code) in
        [(json!({"metadata": {"annotations": {"note": "harmless"}}}), 0), (json!({"spec": {"replicas": 7}}), 4)]
    {
        let ws = with_drift();
        let proxy = Proxy::new(&ws);
        let other = ws.clone();
        let race = move || other.patch_as("kubectl-edit", "deployment/web", &patch);
        proxy.inject(1, "PATCH", "!dryRun", Fault::After(Arc::new(race)));
        let run =
            typing(&ws, "y\n").through(&proxy.url()).reconcile(["apply", "--confirm", "-f", "."]).exits_with(code);
        if code == 4 {
            assert_eq!(run.object("Deployment", "web")["error"]["reason"], "Conflict");
            assert_eq!(run.change("Deployment", "web", "spec.replicas")["live"], 7, "the new difference is shown");
            assert_eq!(replicas(&ws), 7);
        }
    }
}

#[test]
fn ctrl_c_at_the_question_writes_nothing() {
    let ws = with_drift();
    let running = typing(&ws, "").start_reconcile(["apply", "--confirm", "-f", "."]);
    thread::sleep(Duration::from_secs(2));
    running.interrupt();
    running.finish().exits_with(130);
    assert_eq!(replicas(&ws), 5);
}

#[test]
fn what_is_created_is_what_was_shown_and_what_somebody_creates_meanwhile_is_left_alone() {
    let ws = Arc::new(Workspace::new());
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: ours}}");
    let proxy = Proxy::new(&ws);
    let other = ws.clone();
    let plant = move || other.kubectl(["create", "configmap", "it", "--from-literal=evil=yes"]).exits_with(0);
    proxy.inject(1, "POST", "configmaps !dryRun", Fault::After(Arc::new(move || drop(plant()))));
    let run = typing(&ws, "y\n").through(&proxy.url()).reconcile(["apply", "--confirm", "-f", "."]).exits_with(4);
    let error = &run.object("ConfigMap", "it")["error"];
    assert_eq!(error["reason"], "Conflict", "{run}");
    assert!(
        error["message"].as_str().unwrap().contains("somebody else created it in the meantime: left unchanged"),
        "{error}"
    );
    assert_eq!(ws.get("ConfigMap", "it")["data"], json!({"evil": "yes"}));
}

#[test]
fn what_is_created_after_a_yes_is_recorded_as_any_other_creation() {
    let objects = "
{apiVersion: v1, kind: Namespace, metadata: {name: $NS-bare}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: it, namespace: $NS-bare}, data: {a: b}}
---
{apiVersion: v1, kind: Secret, metadata: {name: it}, stringData: {a: b}}
---
{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {selector: {a: b}, ports: [{port: 80}]}}
---
";
    let owners = |ws: &Workspace| {
        [("Secret", "it"), ("Service", "it"), ("Deployment", "web")].map(|(kind, name)| {
            let entries = ws.get(kind, name)["metadata"]["managedFields"].clone();
            let entries = entries.as_array().unwrap();
            let owner = |entry: &serde_json::Value| json!([entry["manager"], entry["operation"], entry["fieldsV1"]]);
            let is_service = |entry: &&serde_json::Value| entry["manager"] == "kubectl-reconcile";
            entries.iter().filter(is_service).map(owner).collect::<Vec<_>>()
        })
    };
    let agreed = Workspace::new();
    let plain = Workspace::new();
    for ws in [&agreed, &plain] {
        ws.write("it.yaml", &format!("{objects}{WEB}"));
    }
    let run = typing(&agreed, "y\n").reconcile(["apply", "--confirm", "-f", "."]).exits_with(0);
    assert!(run.each("outcome").iter().all(|outcome| outcome.ends_with(": created")), "{run}");
    plain.reconcile(["apply", "-f", "."]).exits_with(0);
    assert!(owners(&agreed).iter().all(|entries| !entries.is_empty()));
    assert_eq!(owners(&agreed), owners(&plain));
    for ws in [&agreed, &plain] {
        ws.reconcile(["diff", "-f", ".", "--strict-ownership"]).exits_with(0);
        assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    }
    // What the manifest drops later goes.
    let changed = objects.replaced("selector: {a: b}", "selector: {c: d}");
    assert_ne!(changed, objects);
    agreed.write("it.yaml", &format!("{changed}{WEB}"));
    agreed.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(agreed.get("Service", "it")["spec"]["selector"], json!({"c": "d"}));
}

#[test]
fn a_creation_after_a_yes_whose_answer_is_lost_is_done_once() {
    for (method, fault) in [
        ("POST", Fault::AnswerLost),
        ("POST", Fault::AnswerCut),
        ("POST", Fault::Refused),
        ("PATCH", Fault::AnswerLost),
        ("PATCH", Fault::Refused),
    ] {
        let ws = Workspace::new();
        ws.write("web.yaml", WEB);
        let proxy = Proxy::new(&ws);
        proxy.inject(1, method, "deployments !dryRun", fault);
        let run = typing(&ws, "y\n").through(&proxy.url()).reconcile(["apply", "--confirm", "-f", "."]).exits_with(0);
        assert_eq!(run.object("Deployment", "web")["outcome"], "created", "{method}: {run}");
        assert_eq!(run.object("Deployment", "web")["warnings"], json!([]), "{method}: {run}");
        ws.reconcile(["diff", "-f", ".", "--strict-ownership"]).exits_with(0);
        assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    }
}

#[test]
fn a_creation_whose_owners_cannot_be_recorded_is_reported_and_made_up_for() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: b}}");
    let proxy = Proxy::new(&ws);
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "not today"});
    let refusal = Fault::Answer(403, vec![("Content-Type", "application/json".to_owned())], status.to_string());
    proxy.inject(1, "PATCH", "configmaps/it !dryRun", refusal);
    let run = typing(&ws, "y\n").through(&proxy.url()).reconcile(["apply", "--confirm", "-f", "."]).exits_with(0);
    let warning = run.object("ConfigMap", "it")["warnings"][0].as_str().unwrap();
    assert!(warning.contains("not recorded as applied") && warning.contains("not today"), "{run}");
    assert!(run.stdout.contains(warning), "{run}");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(0);
    assert_eq!(diff.changes("ConfigMap", "it"), ["adopted"]);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
}

#[test]
fn a_no_beside_a_kept_member_is_reported_as_such() {
    let ws = Workspace::new();
    let keep =
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: keep, annotations: {kubectl-reconcile/prune: keep}}}";
    ws.write("keep.yaml", keep);
    ws.write("web.yaml", WEB);
    let set = ["-f", ".", "--prune", "--applyset=set"];
    ws.reconcile([&["apply"][..], &set].concat()).exits_with(0);
    std::fs::remove_file(ws.folder().join("keep.yaml")).unwrap();
    ws.scale("deployment/web", 5);
    let run = typing(&ws, "n\n").reconcile([&["apply", "--confirm"][..], &set].concat()).exits_with(1);
    assert!(
        run.stdout.contains("nothing was applied: 1 to update: changed in the cluster; 1 kept; 0 in sync"),
        "{run}"
    );
    assert_eq!(replicas(&ws), 5);
}
