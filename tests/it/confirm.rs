//! `--confirm`: what is shown is what is applied, once somebody says yes.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::control_plane::{Caller, Fault, Proxy, Workspace};
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
            assert_eq!(run.change("Deployment", "web", "spec.replicas")["live"], 7, "the new difference is told");
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
