//! Servers and networks that fail while somebody waits, and users who may not watch.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{CLAIM, readiness, set_status, states, wait_until};
use crate::control_plane::{Fault, Proxy, Run, Running, Workspace};

/// A claim that stays unbound until the test says otherwise: nobody else looks after it here.
fn unbound() -> Workspace {
    let ws = Workspace::new();
    ws.write("claim.yaml", CLAIM);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws
}

#[track_caller]
fn bind(ws: &Workspace) {
    set_status(ws, "pvc/data", &json!({"phase": "Bound"}));
}

/// Waits for the claim, whose streams of changes go wrong this number of times; it is bound when they have. How often it was watched.
#[track_caller]
fn watched(times: usize, fault: &Fault) -> usize {
    let ws = unbound();
    let proxy = Proxy::new(&ws);
    proxy.inject(times, "GET", "persistentvolumeclaims watch=true", fault.clone());
    let watches = || proxy.requests().iter().filter(|request| request.contains("watch=true")).count();
    let status = ws.through(&proxy.url()).start_reconcile(["status", "-f", ".", "--wait", "--timeout=1m"]);
    wait_until("the claim is watched in earnest", || watches() > times);
    bind(&ws);
    let status = status.finish().exits_with(0);
    assert_eq!(states(&status), ["PersistentVolumeClaim data: current"]);
    watches()
}

fn refusal(code: u16, reason: &str) -> Fault {
    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": "no"});
    Fault::Answer(code, vec![("Content-Type", "application/json".to_owned())], body.to_string())
}

#[test]
fn a_stream_that_breaks_is_opened_again_after_a_new_look() {
    for fault in [
        Fault::AnswerCutAfter(Duration::from_millis(300)),
        Fault::Refused,
        Fault::Answer(200, Vec::new(), String::new()),
        Fault::Answer(200, Vec::new(), "{\"type\":\"ADDED\",\"object\":{\"meta".to_owned()),
        Fault::Answer(502, Vec::new(), "<html><title>502 Bad Gateway</title></html>".to_owned()),
    ] {
        assert_eq!(watched(2, &fault), 3);
    }
}

#[test]
fn an_expired_stream_is_opened_again_after_a_new_look() {
    let event =
        json!({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}});
    assert_eq!(watched(1, &refusal(410, "Expired")), 2);
    assert_eq!(watched(1, &Fault::Answer(200, Vec::new(), format!("{event}\n"))), 2);
}

#[test]
fn what_changes_between_two_streams_is_not_missed() {
    let ws = unbound();
    let proxy = Proxy::new(&ws);
    proxy.inject(1, "GET", "persistentvolumeclaims watch=true", Fault::Refused);
    proxy.inject(1, "GET", "persistentvolumeclaims !watch=true", Fault::AnswerCut);
    let status = ws.through(&proxy.url()).start_reconcile(["status", "-f", ".", "--wait", "--timeout=1m"]);
    wait_until("the stream was refused", || proxy.requests().iter().any(|request| request.contains("watch=true")));
    bind(&ws);
    status.finish().exits_with(0);
}

#[test]
fn a_server_that_cannot_be_read_at_first_is_asked_again() {
    let ws = unbound();
    bind(&ws);
    let proxy = Proxy::new(&ws);
    proxy.inject(2, "GET", "persistentvolumeclaims", refusal(500, "InternalError"));
    ws.through(&proxy.url()).reconcile(["status", "-f", ".", "--wait"]).exits_with(0);
    proxy.inject(1, "GET", "persistentvolumeclaims", refusal(500, "InternalError"));
    let status = ws.through(&proxy.url()).reconcile(["status", "-f", "."]).exits_with(4);
    assert_eq!(readiness(&status, "PersistentVolumeClaim", "data"), ("unknown", "no"));
}

#[test]
fn a_server_that_stays_away_is_not_waited_for_longer_than_the_timeout() {
    let ws = unbound();
    let proxy = Proxy::new(&ws);
    proxy.inject(99, "GET", "persistentvolumeclaims", Fault::Refused);
    let started = Instant::now();
    let wait = ["status", "-f", ".", "--wait", "--timeout=3s"];
    let status = ws.through(&proxy.url()).reconcile(wait).exits_with(4);
    assert!(started.elapsed() < Duration::from_secs(30), "{status}");
    assert_eq!(status.report()["verdict"], "incomplete");
    assert_eq!(readiness(&status, "PersistentVolumeClaim", "data").0, "unknown");

    let proxy = Proxy::new(&ws);
    proxy.inject(99, "GET", "persistentvolumeclaims watch=true", Fault::Silence);
    let started = Instant::now();
    let status = ws.through(&proxy.url()).reconcile(wait).exits_with(5);
    assert!(started.elapsed() < Duration::from_secs(30), "{status}");
    assert_eq!(readiness(&status, "PersistentVolumeClaim", "data").0, "inProgress", "as it was read last");
}

#[test]
fn a_proxy_that_holds_a_stream_back_does_not_hide_what_is_ready() {
    for fault in [Fault::Silence, Fault::AnswerStalled] {
        let ws = unbound();
        let proxy = Proxy::new(&ws);
        proxy.inject(99, "GET", "persistentvolumeclaims watch=true", fault);
        let wait = ["status", "-f", ".", "--wait", "--timeout=5s"];
        let status = ws.through(&proxy.url()).start_reconcile(wait);
        proxy.wait_for(&["persistentvolumeclaims", "watch=true"]);
        bind(&ws);
        let status = status.finish().exits_with(0);
        assert_eq!(states(&status), ["PersistentVolumeClaim data: current"]);
        assert!(!status.stderr.contains("not ready"), "{status}");
    }
}

/// What a user with these verbs on claims sees who waits for one, which is bound after three reads (requests with this in them).
#[track_caller]
fn as_reader(verbs: &str, read: &str) -> (Run, Vec<String>) {
    let ws = unbound();
    ws.allow("reader", verbs, "persistentvolumeclaims");
    let proxy = Proxy::new(&ws);
    let is_read = |request: &&String| request.contains(read) && !request.contains("watch=true");
    let started = Instant::now();
    let (status, requests) = ws.requests_during(|| {
        let caller = ws.as_user("reader").through(&proxy.url());
        let status = caller.start_reconcile(["status", "-f", ".", "--wait", "--timeout=2m"]);
        wait_until("the claim is read three times", || proxy.requests().iter().filter(is_read).count() >= 3);
        bind(&ws);
        status.finish()
    });
    let most = 3 + started.elapsed().as_secs() / 2;
    let reads = proxy.requests().iter().filter(is_read).count() as u64;
    assert!((3..=most).contains(&reads), "{reads} reads, of {most}");
    let of_claims = requests.iter().filter(|request| request.user == "reader" && request.uri.contains("claims"));
    (status, of_claims.map(|request| format!("{} {}", request.verb, request.code)).collect())
}

#[test]
fn who_may_not_watch_looks_every_two_seconds() {
    let (status, requests) = as_reader("get,list", "persistentvolumeclaims?");
    let status = status.exits_with(0);
    // The server may log a watch at its start and at its end.
    assert_eq!(status.report()["requests"]["watch"], 1, "{status}");
    assert!(requests.iter().any(|request| request == "watch 403"), "{requests:?}");
    let count = |what: &str| requests.iter().filter(|request| *request == what).count();
    assert!(count("list 200") >= 3, "{requests:?}");
}

#[test]
fn who_may_only_get_looks_by_name() {
    let (status, requests) = as_reader("get", "persistentvolumeclaims/data");
    status.exits_with(0);
    let count = |what: &str| requests.iter().filter(|request| *request == what).count();
    assert_eq!((count("list 403"), count("watch 403")), (1, 0), "{requests:?}");
    assert!(count("get 200") >= 3, "{requests:?}");
}

#[test]
fn what_may_not_be_read_is_unknown_and_the_rest_is_shown() {
    let ws = unbound();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.allow("reader", "get,list,watch", "configmaps");
    for arguments in [&["status", "-f", "."][..], &["status", "-f", ".", "--wait"]] {
        let started = Instant::now();
        let status = ws.as_user("reader").reconcile(arguments).exits_with(4);
        assert!(started.elapsed() < Duration::from_secs(30), "nothing is worth waiting for");
        assert_eq!(states(&status), ["ConfigMap it: current", "PersistentVolumeClaim data: unknown"]);
        let claim = status.object("PersistentVolumeClaim", "data");
        assert_eq!((&claim["error"]["reason"], &claim["action"]), (&json!("Forbidden"), &json!("unknown")));
        assert_eq!(status.report()["verdict"], "incomplete");
        assert!(status.stdout.contains("unknown ") && status.stdout.contains("forbidden"), "{status}");
    }
}

#[test]
fn who_may_not_read_pods_sees_the_workload_without_them() {
    let ws = Workspace::new();
    ws.write("web.yaml", super::WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.allow("reader", "get,list,watch", "deployments.apps");
    let status = ws.as_user("reader").reconcile(["status", "-f", "."]).exits_with(5);
    let why = ws.fill_in(
        "0 of 2 replicas are created; its Pods cannot be read: pods is forbidden: \
         User \"reader\" cannot list resource \"pods\" in API group \"\" in the namespace \"$NS\"",
    );
    assert_eq!(readiness(&status, "Deployment", "web"), ("inProgress", why.as_str()));
}

/// A command that waits, and what ends it.
type Interrupted = (&'static [&'static str], fn(&Running));

#[test]
fn an_interrupted_wait_reports_what_is_known() {
    let ws = unbound();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}}");
    let waits: [Interrupted; 4] = [
        (&["apply", "--wait"], Running::interrupt),
        (&["apply", "--wait"], Running::terminate),
        (&["status", "--wait"], Running::terminate),
        (&["status", "--wait"], Running::hang_up),
    ];
    for (number, (command, interrupt)) in waits.into_iter().enumerate() {
        let proxy = Proxy::new(&ws);
        // The other object is read by the time the claim is watched.
        let late = Fault::After(Arc::new(|| thread::sleep(Duration::from_secs(1))));
        proxy.inject(usize::MAX, "GET", "persistentvolumeclaims !watch=true", late);
        let running = ws.through(&proxy.url()).start_reconcile([command, &["-f", "."][..]].concat());
        wait_until("it waits", || proxy.requests().iter().any(|request| request.contains("watch=true")));
        let started = Instant::now();
        interrupt(&running);
        let run = running.finish().exits_with(130);
        assert!(started.elapsed() < Duration::from_secs(30));
        assert_eq!(run.report()["verdict"], "interrupted");
        assert_eq!(states(&run), ["ConfigMap it: current", "PersistentVolumeClaim data: inProgress"]);
        if number == 0 {
            assert_eq!(run.object("ConfigMap", "it")["outcome"], "created");
            assert!(run.stdout.contains("interrupted: 1 created, 1 unchanged; 1 in progress, 1 of 2 ready"), "{run}");
        }
        assert!(run.stdout.contains("interrupted") && run.stdout.contains("1 of 2 ready"), "{run}");
    }
}
