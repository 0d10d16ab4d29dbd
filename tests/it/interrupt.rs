//! Ctrl-C: what is under way is finished, what was done is reported, nothing new is started.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::control_plane::{Fault, Proxy, Replaced, Run, Running, Workspace};

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

#[test]
fn an_interrupted_diff_says_so() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    let proxy = Proxy::new(&ws);
    let slow = Fault::After(Arc::new(|| thread::sleep(Duration::from_millis(500))));
    proxy.inject(9, "GET", "configmaps", slow);
    let diff = ws.through(&proxy.url()).start_reconcile(["diff", "-f", "."]);
    let deadline = Instant::now() + Duration::from_mins(1);
    while !proxy.requests().iter().any(|request| request.contains("configmaps")) {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(5));
    }
    diff.interrupt();
    let run = diff.finish().exits_with(130);
    assert_eq!(run.report()["verdict"], "interrupted");
    assert_eq!(run.object("ConfigMap", "it")["action"], "unknown", "{run}");
}

#[test]
fn a_replacement_is_not_left_half_way() {
    const JOB: &str = "{apiVersion: batch/v1, kind: Job, metadata: {name: migrate}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'shop/migrate:1'}]}}}}";
    let interrupts: [fn(&Running); 2] = [Running::interrupt, Running::terminate];
    for interrupt in interrupts {
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
