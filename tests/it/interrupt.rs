//! Ctrl-C: what is under way is finished, what was done is reported, nothing new is started.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::control_plane::{ANY_FIELDS, Fault, Gate, Proxy, Replaced, Run, Running, Workspace, wait_until};

const OBJECTS: usize = 60;

/// An apply of many objects, whose writes have this fault, during the first of them.
fn writing(ws: &Workspace, slow: Fault) -> (Proxy, Running) {
    for number in 0..OBJECTS {
        let manifest =
            format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number:02}}}, data: {{a: b}}}}");
        ws.write(format!("m-{number:02}.yaml"), &manifest);
    }
    let proxy = Proxy::new(ws);
    proxy.inject(OBJECTS, "PATCH", "configmaps !dryRun", slow);
    let apply = ws.through(&proxy.url()).start_reconcile(["apply", "-f", "."]);
    wait_until("something is written", || proxy.hits() > 0);
    (proxy, apply)
}

/// An apply of many objects whose writes take a while, interrupted during the first of them.
fn interrupted(ws: &Workspace, interrupt: impl Fn(&Running)) -> Run {
    let gate = Gate::default();
    let opened = gate.clone();
    let slow = move || {
        gate.pass();
        thread::sleep(Duration::from_millis(700));
    };
    let (_proxy, apply) = writing(ws, Fault::After(Arc::new(slow)));
    interrupt(&apply);
    opened.open();
    apply.finish()
}

/// The report tells exactly what the cluster shows.
#[track_caller]
fn tells_what_was_done(ws: &Workspace, run: &Run) {
    assert_eq!(run.report()["verdict"], "interrupted", "{run}");
    assert_eq!(run.report()["exitCode"], 130);
    let mut created = 0;
    for number in 0..OBJECTS {
        let name = format!("m-{number:02}");
        let exists = ws.find("ConfigMap", &name).is_some();
        let outcome = &run.object("ConfigMap", &name)["outcome"];
        assert_eq!(outcome, if exists { "created" } else { "skipped" }, "{name}: {run}");
        created += usize::from(exists);
    }
    assert!(created > 0 && created < OBJECTS, "{created} created");
    assert_eq!(run.stdout.lines().filter(|line| line.starts_with("created ")).count(), created, "{run}");
    assert!(run.stdout.contains("interrupted"), "{run}");
    // The next run takes up where this one ended.
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}

#[test]
fn an_interrupted_apply_reports_what_it_did() {
    let ws = Workspace::new();
    let run = interrupted(&ws, Running::interrupt).exits_with(130);
    tells_what_was_done(&ws, &run);
}

#[test]
fn a_terminated_apply_reports_what_it_did() {
    let ws = Workspace::new();
    let run = interrupted(&ws, Running::terminate).exits_with(130);
    tells_what_was_done(&ws, &run);
}

#[test]
fn a_second_interrupt_ends_at_once() {
    let ws = Workspace::new();
    // Held for a minute.
    let (_proxy, apply) = writing(&ws, Gate::default().fault());
    // Two equal signals are one, as long as the first has not been taken.
    apply.interrupt();
    apply.terminate();
    let started = Instant::now();
    let run = apply.finish().exits_with(130);
    assert!(started.elapsed() < Duration::from_secs(20), "{run}");
}

/// Ctrl-C, and what pipelines do.
const INTERRUPTS: [fn(&Running); 2] = [Running::interrupt, Running::terminate];

#[test]
fn an_interrupted_diff_says_so() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    with_gauge(&ws);
    for interrupt in INTERRUPTS {
        let proxy = Proxy::new(&ws);
        proxy.inject(9, "GET", "configmaps", Gate::default().fault());
        let diff = ws.through(&proxy.url()).start_reconcile(["diff", "-f", "."]);
        is_awaited(&proxy, &["configmaps"]);
        interrupt(&diff);
        let run = diff.finish().exits_with(130);
        assert_eq!(run.report()["verdict"], "interrupted");
        assert_eq!(run.object("ConfigMap", "it")["action"], "unknown", "{run}");
    }
}

const JOB: &str = "{apiVersion: batch/v1, kind: Job, metadata: {name: migrate}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'shop/migrate:1'}]}}}}";

#[test]
fn a_replacement_is_not_left_half_way() {
    for interrupt in INTERRUPTS {
        let ws = Workspace::new();
        ws.write("job.yaml", JOB);
        ws.reconcile(["apply", "-f", "."]).exits_with(0);
        ws.write("job.yaml", &JOB.replaced("migrate:1", "migrate:2"));
        let proxy = Proxy::new(&ws);
        let gate = Gate::default();
        proxy.inject(1, "POST", "jobs !dryRun", gate.fault());
        let apply = ws.through(&proxy.url()).start_reconcile(["apply", "-f", ".", "--replace=immutable"]);
        wait_until("the Job is deleted", || proxy.hits() > 0);
        assert!(ws.find("Job", "migrate").is_none(), "it is deleted, and not created again yet");
        for _ in 0..3 {
            interrupt(&apply);
            thread::sleep(Duration::from_millis(100));
        }
        apply.wait_for_stderr(&ws.fill_in("waiting for Job $NS/migrate: it is being replaced"));
        gate.open();
        let run = apply.finish().exits_with(130);
        assert_eq!(run.object("Job", "migrate")["outcome"], "replaced", "what became of it is reported: {run}");
        let job = ws.get("Job", "migrate");
        assert_eq!(job["spec"]["template"]["spec"]["containers"][0]["image"], "shop/migrate:2");
        assert_eq!(ws.reconcile(["apply", "-f", "."]).exits_with(0).writes(), 0);
    }
}

/// A replacement that waits for a finalizer.
fn held() -> (Workspace, Running) {
    let ws = Workspace::new();
    ws.write("job.yaml", JOB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.patch_as("guard", "job/migrate", &json!({"metadata": {"finalizers": ["example.com/guard"]}}));
    ws.write("job.yaml", &JOB.replaced("migrate:1", "migrate:2"));
    let apply =
        ws.as_user("admin").start_reconcile(["apply", "-f", ".", "--replace=immutable", "--wait", "--timeout=1h"]);
    wait_until("the Job is being deleted", || {
        ws.find("Job", "migrate").is_some_and(|job| job["metadata"].get("deletionTimestamp").is_some())
    });
    (ws, apply)
}

fn release(ws: &Workspace) {
    let job = format!("/apis/batch/v1/namespaces/{}/jobs/migrate", ws.namespace());
    ws.plane().api().json_patch(&job, &json!([{"op": "remove", "path": "/metadata/finalizers"}])).expect("a Job");
}

/// What the first signal leads to.
const GRACE: &str = "finalizers get 10 seconds more";

#[test]
fn an_interrupted_replacement_is_finished_when_the_finalizers_let_go_soon() {
    let (ws, apply) = held();
    apply.interrupt();
    apply.wait_for_stderr(GRACE);
    assert!(ws.find("Job", "migrate").is_some(), "it is still being deleted");
    release(&ws);
    let run = apply.finish().exits_with(130);
    assert!(run.stderr.contains(&ws.fill_in("waiting for Job $NS/migrate: it is being replaced")), "{run}");
    assert_eq!(run.object("Job", "migrate")["outcome"], "replaced", "{run}");
    assert_eq!(ws.get("Job", "migrate")["spec"]["template"]["spec"]["containers"][0]["image"], "shop/migrate:2");
}

#[test]
fn a_replacement_whose_wait_is_cut_short_says_what_is_left_and_the_next_run_creates() {
    let (ws, apply) = held();
    apply.interrupt();
    apply.wait_for_stderr(GRACE);
    let started = Instant::now();
    apply.interrupt();
    let run = apply.finish().exits_with(130);
    assert!(started.elapsed() < Duration::from_secs(9), "{:?}", started.elapsed());
    let job = run.object("Job", "migrate");
    let message = "it is still being deleted, and was not recreated because the run was interrupted: it waits for the finalizer `example.com/guard`";
    assert_eq!((&job["outcome"], &job["error"]["message"]), (&json!("failed"), &json!(message)), "{run}");
    assert!(run.stdout.contains(message) && run.stdout.contains("run again with the same manifests"), "{run}");
    // The deletion has begun.
    assert!(run.stdout.contains("interrupted: nothing was completed\n"), "{run}");
    assert!(ws.find("Job", "migrate").is_some(), "the server deletes it once the finalizer lets it");

    release(&ws);
    wait_until("the Job is gone", || ws.find("Job", "migrate").is_none());
    let again = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(again.each("outcome"), ["Job migrate: created"]);
}

/// Defines a kind, with a manifest of it: its objects are read only after discovery.
fn with_gauge(ws: &Workspace) {
    ws.define("Gauge", ANY_FIELDS);
    ws.write("gauge.yaml", "{apiVersion: $NS.example.com/v1, kind: Gauge, metadata: {name: main}}");
}

/// Waits until a request has arrived that is sent while discovery is under way, and discovery has ended.
fn is_awaited(proxy: &Proxy, parts: &[&str]) {
    proxy.wait_for(parts);
    proxy.wait_for(&["gauges"]);
}

/// The longest time to an end that waits for no answer: what is held is held for a minute.
const AT_ONCE: Duration = Duration::from_secs(30);

#[test]
fn a_list_that_takes_long_is_left() {
    let ws = Workspace::new();
    for number in 0..6 {
        ws.write(
            format!("m-{number}.yaml"),
            &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number}}}}}"),
        );
    }
    with_gauge(&ws);
    for (command, interrupt) in ["diff", "apply", "status"].into_iter().zip(INTERRUPTS.into_iter().cycle()) {
        let proxy = Proxy::new(&ws);
        proxy.inject(9, "GET", "configmaps limit=", Gate::default().fault());
        let running = ws.through(&proxy.url()).start_reconcile([command, "-f", "."]);
        is_awaited(&proxy, &["configmaps?", "limit="]);
        let started = Instant::now();
        interrupt(&running);
        let run = running.finish().exits_with(130);
        assert!(started.elapsed() < AT_ONCE, "{command}: {:?}", started.elapsed());
        assert_eq!(
            (&run.report()["verdict"], &run.report()["exitCode"]),
            (&json!("interrupted"), &json!(130)),
            "{run}"
        );
        assert!(run.stdout.contains("interrupted"), "{run}");
    }
    assert!(ws.find("ConfigMap", "m-0").is_none(), "nothing was applied");

    for interrupt in INTERRUPTS {
        let proxy = Proxy::new(&ws);
        proxy.inject(9, "GET", "configmaps limit=", Gate::default().fault());
        let running = ws.through(&proxy.url()).start_reconcile(["snapshot", "-f", ".", "--file", "live.txt"]);
        is_awaited(&proxy, &["configmaps?", "limit="]);
        let started = Instant::now();
        interrupt(&running);
        let run = running.finish().exits_with(130);
        assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
        assert!(run.stderr.contains("the run was interrupted: no snapshot was written"), "{run}");
        let files = std::fs::read_dir(ws.folder()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(files.into_iter().all(|name| name.to_string_lossy().ends_with(".yaml")), "not even a draft is left");
    }
}

#[test]
fn discovery_and_the_parent_of_an_apply_set_that_take_long_are_left() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    for (slow, arrives) in [("apis", "GET /apis"), ("secrets/shop", "secrets/shop")] {
        for command in ["diff", "apply"] {
            let proxy = Proxy::new(&ws);
            proxy.inject(9, "GET", slow, Gate::default().fault());
            let flags = [command, "-f", ".", "--prune", "--applyset=shop"];
            let running = ws.through(&proxy.url()).start_reconcile(flags);
            proxy.wait_for(&[arrives]);
            let started = Instant::now();
            running.interrupt();
            let run = running.finish().exits_with(130);
            assert!(started.elapsed() < AT_ONCE, "{slow}: {:?}", started.elapsed());
            assert_eq!(run.report()["verdict"], "interrupted", "{run}");
            assert!(run.stderr.contains("the run was interrupted"), "{run}");
        }
    }
    assert!(ws.find("ConfigMap", "it").is_none(), "nothing was applied");
}
