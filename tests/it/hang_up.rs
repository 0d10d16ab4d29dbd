//! A terminal that is closed, or a connection to it that breaks, while a run is under way: it ends as after Ctrl-C. Under `nohup`
//! it goes on.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control_plane::{Gate, Proxy, Replaced, Workspace, terminal, wait_until};

const JOB: &str = "{apiVersion: batch/v1, kind: Job, metadata: {name: migrate}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'shop/migrate:1'}]}}}}";

const REPLACE: [&str; 4] = ["apply", "-f", ".", "--replace=immutable"];

/// A Job that has to be replaced, a proxy, and a gate that holds its creation.
fn replaced_slowly() -> (Workspace, Proxy, Gate) {
    let ws = Workspace::new();
    ws.write("job.yaml", JOB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("job.yaml", &JOB.replaced("migrate:1", "migrate:2"));
    let proxy = Proxy::new(&ws);
    let gate = Gate::default();
    proxy.inject(1, "POST", "jobs !dryRun", gate.fault());
    (ws, proxy, gate)
}

fn is_deleted(proxy: &Proxy) -> bool {
    proxy.requests().iter().any(|request| request.starts_with("POST") && !request.contains("dryRun"))
}

fn is_replaced(ws: &Workspace) {
    let job = ws.get("Job", "migrate");
    assert_eq!(job["spec"]["template"]["spec"]["containers"][0]["image"], "shop/migrate:2");
}

#[test]
fn a_closed_terminal_leaves_no_replacement_half_way() {
    let (ws, proxy, gate) = replaced_slowly();
    let apply = ws.through(&proxy.url()).start_reconcile(REPLACE);
    wait_until("the Job is deleted", || is_deleted(&proxy));
    // The kernel sends the signal, and so does the shell.
    for _ in 0..3 {
        apply.hang_up();
        thread::sleep(Duration::from_millis(50));
    }
    apply.wait_for_stderr("it is being replaced");
    gate.open();
    let run = apply.finish().exits_with(130);
    assert_eq!((&run.report()["verdict"], &run.report()["exitCode"]), (&json!("interrupted"), &json!(130)), "{run}");
    assert_eq!(run.object("Job", "migrate")["outcome"], "replaced", "{run}");
    is_replaced(&ws);
}

/// Our program in a command, as the administrator before this server.
fn command(ws: &Workspace, program: &str, server: &str) -> Command {
    let mut command = terminal::command(program);
    command
        .current_dir(ws.folder())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", ws.home())
        .env("KUBECONFIG", ws.through(server).kubeconfig());
    command
}

fn report(ws: &Workspace) -> Value {
    serde_json::from_slice(&fs::read(ws.folder().join("report.json")).expect("a report")).expect("a report")
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-reconcile");

#[test]
fn a_terminal_that_cannot_be_written_to_any_more_costs_no_report_in_a_file() {
    let (ws, proxy, gate) = replaced_slowly();
    let (ours, theirs) = terminal::open().expect("a terminal");
    let end = || Stdio::from(theirs.try_clone().expect("a terminal"));
    let mut command = command(&ws, PROGRAM, &proxy.url());
    command.args(REPLACE).args(["-o", "text", "-o", "json=report.json"]);
    let mut apply = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("our program");
    wait_until("the Job is deleted", || is_deleted(&proxy));
    drop((ours, theirs, command));
    let signalled = Command::new("sh").args(["-c", "kill -HUP $0", &apply.id().to_string()]).status();
    assert!(signalled.is_ok_and(|status| status.success()), "it has ended already");
    // Nothing shows that the signal has arrived.
    thread::sleep(Duration::from_secs(2));
    gate.open();
    let status = apply.wait().expect("the end of our program");
    assert_eq!(status.code(), Some(130), "{status}");
    let report = report(&ws);
    assert_eq!((&report["verdict"], &report["objects"][0]["outcome"]), (&json!("interrupted"), &json!("replaced")));
    is_replaced(&ws);
}

#[test]
fn what_is_to_outlive_its_terminal_goes_on() {
    let (ws, proxy, gate) = replaced_slowly();
    let arguments = [&REPLACE[..], &["-o", "json=report.json"]].concat().join(" ");
    let script = format!(
        "trap '' HUP; {PROGRAM} {arguments} & until [ -e go ]; do sleep 0.02; done; kill -HUP $!; : > gone; wait $!"
    );
    let mut apply = command(&ws, "bash", &proxy.url())
        .args(["-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    wait_until("the Job is deleted", || is_deleted(&proxy));
    fs::write(ws.folder().join("go"), "").expect("a file");
    wait_until("the signal is sent", || ws.folder().join("gone").exists());
    gate.open();
    let status = apply.wait().expect("the end of the shell");
    assert_eq!(status.code(), Some(0), "{status}");
    assert_eq!(report(&ws)["verdict"], "applied");
    is_replaced(&ws);
}
