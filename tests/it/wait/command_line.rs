//! What can be typed, and what a run comes to.

use std::time::{Duration, Instant};

use super::{CLAIM, readiness, states};
use crate::control_plane::Workspace;

#[test]
fn flags_that_make_no_sense_together_are_refused() {
    let ws = Workspace::new();
    ws.write("claim.yaml", CLAIM);
    for arguments in [
        &["apply", "-f", ".", "--timeout=1m"][..],
        &["status", "-f", ".", "--timeout=1m"],
        &["diff", "-f", ".", "--wait"],
        &["diff", "-f", ".", "--apply", "--timeout=1m"],
        &["apply", "-f", ".", "--wait", "--dry-run"],
        &["apply", "-f", ".", "--wait", "--timeout=soon"],
        &["apply", "-f", ".", "--wait", "--timeout=-1s"],
    ] {
        let run = ws.reconcile(arguments);
        assert_eq!(run.code, 2, "{run}");
        assert!(run.report.is_none() && run.stderr.contains("--"), "{run}");
    }
    assert_eq!(ws.find("PersistentVolumeClaim", "data"), None);
}

#[test]
fn no_time_is_one_look() {
    let ws = Workspace::new();
    ws.write("claim.yaml", CLAIM);
    for time in ["0", "0s"] {
        let started = Instant::now();
        let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout", time]).exits_with(5);
        assert!(started.elapsed() < Duration::from_secs(30));
        assert_eq!(states(&apply), ["PersistentVolumeClaim data: inProgress"]);
        assert!(!apply.stderr.contains("not ready"), "nothing was waited for: {apply}");
    }
}

#[test]
fn diff_with_apply_waits_as_apply_does() {
    let ws = Workspace::new();
    ws.write("claim.yaml", CLAIM);
    let run = ws.reconcile(["diff", "--apply", "--wait", "--timeout=1s", "-f", "."]).exits_with(5);
    assert_eq!(run.report()["command"], "apply");
    assert_eq!(readiness(&run, "PersistentVolumeClaim", "data").0, "inProgress");
    assert!(run.stdout.contains("in progress  PersistentVolumeClaim "), "{run}");
}

#[test]
fn what_could_not_be_applied_outweighs_what_is_not_ready() {
    let ws = Workspace::new();
    ws.write("claim.yaml", CLAIM);
    ws.write("bad.yaml", "{apiVersion: v1, kind: Service, metadata: {name: bad}, spec: {ports: [{port: -1}]}}");
    let apply = ws.reconcile(["apply", "-f", ".", "--wait", "--timeout=1s"]).exits_with(4);
    assert_eq!(apply.report()["verdict"], "incomplete");
    assert_eq!(readiness(&apply, "PersistentVolumeClaim", "data").0, "inProgress");
    assert!(apply.object("Service", "bad")["readiness"].is_null(), "it is not there: {apply}");
}

#[test]
fn quiet_waits_say_nothing_and_reports_stay() {
    let ws = Workspace::new();
    ws.write("claim.yaml", CLAIM);
    let apply = ws.reconcile(["apply", "-q", "-f", ".", "--wait", "--timeout=1s"]).exits_with(5);
    assert_eq!((apply.stdout.as_str(), apply.stderr.as_str()), ("", ""));
    assert_eq!(states(&apply), ["PersistentVolumeClaim data: inProgress"]);
    let status = ws.reconcile(["status", "-q", "-f", "."]).exits_with(5);
    assert_eq!((status.stdout.as_str(), status.stderr.as_str()), ("", ""));
}

#[test]
fn a_look_writes_nothing_and_compares_nothing() {
    let ws = Workspace::new();
    ws.write("claim.yaml", CLAIM);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    let (status, requests) = ws.requests_during(|| ws.reconcile(["status", "-f", ".", "-o", "json"]).exits_with(5));
    assert!(!requests.iter().any(|request| request.is_write() || request.is_dry_run()), "{requests:#?}");
    let claim = status.object("PersistentVolumeClaim", "data");
    assert_eq!((&claim["action"], &claim["changes"]), (&"none".into(), &serde_json::json!([])));
    let counts = |report: &serde_json::Value| {
        report["summary"].as_object().unwrap().keys().map(String::clone).collect::<Vec<String>>()
    };
    let found = ["hooks", "objects", "readiness", "unknown"];
    assert_eq!(counts(status.report()), found, "nothing was compared, so that nothing is counted as in sync");
    assert_eq!(status.report()["summary"]["readiness"]["inProgress"], 1);
    // Other formats and merged reports have no more.
    ws.write("status.json", &status.stdout);
    let merged = ws.reconcile(["report", "merge", "status.json", "-o", "json"]).exits_with(5);
    assert_eq!(counts(&serde_json::from_str(&merged.stdout).unwrap()), found);
    let metrics = ws.reconcile(["report", "merge", "status.json", "-o", "prometheus"]).exits_with(5);
    assert!(!metrics.stdout.contains("in_sync") && metrics.stdout.contains("action=\"unknown\""), "{metrics}");
    let requests = &status.report()["requests"];
    assert_eq!((&requests["get"], &requests["list"], &requests["watch"]), (&1.into(), &0.into(), &().into()));
}

#[test]
fn without_a_cluster_there_is_no_status() {
    let ws = Workspace::new();
    ws.write("claim.yaml", CLAIM);
    let status = ws.through("https://127.0.0.1:1").reconcile(["status", "-f", "."]).exits_with(3);
    assert_eq!(status.report()["verdict"], "unreachable");
    let status = ws.reconcile(["status", "-f", "missing.yaml"]).exits_with(2);
    assert_eq!((&status.report()["verdict"], &status.report()["command"]), (&"invalid".into(), &"status".into()));
}

#[test]
fn what_nobody_reports_on_is_not_watched() {
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    ws.write("service.yaml", "{apiVersion: v1, kind: Service, metadata: {name: it}, spec: {ports: [{port: 80}]}}");
    let apply = ws.reconcile(["apply", "-f", ".", "--wait"]).exits_with(0);
    assert_eq!(states(&apply), ["ConfigMap it: current", "Service it: current"]);
    assert!(apply.report()["requests"]["watch"].is_null(), "{apply}");
    assert!(apply.stdout.ends_with("2 created; 2 ready\n"), "{apply}");
}
