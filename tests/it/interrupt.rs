//! Ctrl-C: what is under way is finished, what was done is reported, nothing new is started.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::control_plane::{Fault, Proxy, Replaced, Run, Running, Workspace, wait_until};

const OBJECTS: usize = 60;

/// An apply of many objects whose writes take a while, interrupted during the first of them.
fn interrupted(ws: &Workspace, interrupt: impl Fn(&Running)) -> Run {
    for number in 0..OBJECTS {
        let manifest =
            format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number:02}}}, data: {{a: b}}}}");
        ws.write(format!("m-{number:02}.yaml"), &manifest);
    }
    let proxy = Proxy::new(ws);
    let slow = Fault::After(Arc::new(|| thread::sleep(Duration::from_millis(700))));
    proxy.inject(OBJECTS, "PATCH", "configmaps !dryRun", slow);
    let apply = ws.through(&proxy.url()).start_reconcile(["apply", "-f", "."]);
    let deadline = Instant::now() + Duration::from_mins(1);
    while !proxy.requests().iter().any(|request| request.starts_with("PATCH") && !request.contains("dryRun")) {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(5));
    }
    interrupt(&apply);
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
    let started = std::sync::Mutex::new(Instant::now());
    let run = interrupted(&ws, |apply| {
        apply.interrupt();
        thread::sleep(Duration::from_millis(50));
        apply.interrupt();
        *started.lock().unwrap() = Instant::now();
    });
    assert_eq!(run.code, 130, "{run}");
    assert!(started.lock().unwrap().elapsed() < Duration::from_millis(600), "{run}");
}

/// Ctrl-C, and what pipelines do.
const INTERRUPTS: [fn(&Running); 2] = [Running::interrupt, Running::terminate];

#[test]
fn an_interrupted_diff_says_so() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    for interrupt in INTERRUPTS {
        let proxy = Proxy::new(&ws);
        proxy.inject(9, "GET", "configmaps", late(Duration::from_secs(20)));
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
        let slow = Fault::After(Arc::new(|| thread::sleep(Duration::from_secs(2))));
        proxy.inject(1, "POST", "jobs !dryRun", slow);
        let apply = ws.through(&proxy.url()).start_reconcile(["apply", "-f", ".", "--replace=immutable"]);
        let deadline = Instant::now() + Duration::from_mins(1);
        let is_deleted =
            || proxy.requests().iter().any(|request| request.starts_with("POST") && !request.contains("dryRun"));
        while !is_deleted() {
            assert!(Instant::now() < deadline);
            thread::sleep(Duration::from_millis(5));
        }
        assert!(ws.find("Job", "migrate").is_none(), "it is deleted, and not created again yet");
        for _ in 0..3 {
            interrupt(&apply);
            thread::sleep(Duration::from_millis(100));
        }
        let run = apply.finish().exits_with(130);
        assert!(run.stderr.contains(&ws.fill_in("waiting for Job $NS/migrate: it is being replaced")), "{run}");
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
    ws.patch_as("guard", "job/migrate", &json!({"metadata": {"finalizers": null}}));
}

#[test]
fn an_interrupted_replacement_is_finished_when_the_finalizers_let_go_soon() {
    let (ws, apply) = held();
    apply.interrupt();
    thread::sleep(Duration::from_secs(1));
    assert!(ws.find("Job", "migrate").is_some(), "it is still being deleted");
    release(&ws);
    let run = apply.finish().exits_with(130);
    assert!(run.stderr.contains(&ws.fill_in("waiting for Job $NS/migrate: it is being replaced")), "{run}");
    assert!(run.stderr.contains("finalizers get 10 seconds more"), "{run}");
    assert_eq!(run.object("Job", "migrate")["outcome"], "replaced", "{run}");
    assert_eq!(ws.get("Job", "migrate")["spec"]["template"]["spec"]["containers"][0]["image"], "shop/migrate:2");
}

#[test]
fn a_replacement_whose_wait_is_cut_short_says_what_is_left_and_the_next_run_creates() {
    let (ws, apply) = held();
    let started = Instant::now();
    apply.interrupt();
    thread::sleep(Duration::from_millis(200));
    apply.interrupt();
    let run = apply.finish().exits_with(130);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let job = run.object("Job", "migrate");
    let message = "it is still being deleted, and was not recreated because the run was interrupted: it waits for the finalizer `example.com/guard`";
    assert_eq!((&job["outcome"], &job["error"]["message"]), (&json!("failed"), &json!(message)), "{run}");
    assert!(run.stdout.contains(message) && run.stdout.contains("run again with the same manifests"), "{run}");
    assert!(ws.find("Job", "migrate").is_some(), "the server deletes it once the finalizer lets it");

    release(&ws);
    wait_until("the Job is gone", || ws.find("Job", "migrate").is_none());
    let again = ws.reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(again.each("outcome"), ["Job migrate: created"]);
}

/// An answer after this long.
fn late(time: Duration) -> Fault {
    Fault::After(Arc::new(move || thread::sleep(time)))
}

/// Waits until a request has arrived whose line holds all of `parts`.
#[track_caller]
fn arrived(proxy: &Proxy, parts: &[&str]) {
    wait_until("the request arrives", || {
        proxy.requests().iter().any(|request| parts.iter().all(|part| request.contains(part)))
    });
}

/// Waits until a request has arrived that is read while discovery is under way, and discovery has ended.
fn is_awaited(proxy: &Proxy, parts: &[&str]) {
    arrived(proxy, parts);
    thread::sleep(Duration::from_secs(1));
}

#[test]
fn a_list_that_takes_long_is_left() {
    let ws = Workspace::new();
    for number in 0..6 {
        ws.write(
            format!("m-{number}.yaml"),
            &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number}}}}}"),
        );
    }
    for (command, interrupt) in ["diff", "apply", "status"].into_iter().zip(INTERRUPTS.into_iter().cycle()) {
        let proxy = Proxy::new(&ws);
        proxy.inject(9, "GET", "configmaps limit=", late(Duration::from_secs(20)));
        let running = ws.through(&proxy.url()).start_reconcile([command, "-f", "."]);
        is_awaited(&proxy, &["configmaps?", "limit="]);
        let started = Instant::now();
        interrupt(&running);
        let run = running.finish().exits_with(130);
        assert!(started.elapsed() < Duration::from_secs(3), "{command}: {:?}", started.elapsed());
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
        proxy.inject(9, "GET", "configmaps limit=", late(Duration::from_secs(20)));
        let running = ws.through(&proxy.url()).start_reconcile(["snapshot", "-f", ".", "--file", "live.txt"]);
        is_awaited(&proxy, &["configmaps?", "limit="]);
        let started = Instant::now();
        interrupt(&running);
        let run = running.finish().exits_with(130);
        assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
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
            proxy.inject(9, "GET", slow, late(Duration::from_secs(20)));
            let flags = [command, "-f", ".", "--prune", "--applyset=shop"];
            let running = ws.through(&proxy.url()).start_reconcile(flags);
            arrived(&proxy, &[arrives]);
            let started = Instant::now();
            running.interrupt();
            let run = running.finish().exits_with(130);
            assert!(started.elapsed() < Duration::from_secs(3), "{slow}: {:?}", started.elapsed());
            assert_eq!(run.report()["verdict"], "interrupted", "{run}");
            assert!(run.stderr.contains("the run was interrupted"), "{run}");
        }
    }
    assert!(ws.find("ConfigMap", "it").is_none(), "nothing was applied");
}
