//! A server and a network that fail now and then: what can be repeated is, and the outcome is reported as it is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::control_plane::{Fault, Proxy, Workspace};
use crate::manifests::WEB;

fn refusal(code: u16, retry_after: Option<&str>) -> Fault {
    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "TooManyRequests", "code": code, "message": "not now"});
    let mut headers = vec![("Content-Type", "application/json".to_owned())];
    headers.extend(retry_after.map(|seconds| ("Retry-After", seconds.to_owned())));
    Fault::Answer(code, headers, body.to_string())
}

/// A workspace where `web` was scaled by hand, and a proxy.
fn drifted() -> (Arc<Workspace>, Proxy) {
    let ws = Arc::new(Workspace::new());
    ws.write("web.yaml", WEB);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.scale("deployment/web", 5);
    let proxy = Proxy::new(&ws);
    (ws, proxy)
}

#[test]
fn a_busy_server_is_asked_again_when_it_says() {
    let (ws, proxy) = drifted();
    proxy.inject(1, "PATCH", "dryRun", refusal(429, Some("1")));
    proxy.inject(1, "GET", "deployments", refusal(503, Some("1")));
    let started = Instant::now();
    let diff = ws.through(&proxy.url()).reconcile(["diff", "-f", ".", "-v"]).exits_with(1);
    assert!(started.elapsed() >= Duration::from_secs(2), "as long as the server said");
    assert_eq!(diff.changes("Deployment", "web"), ["changedByOther spec.replicas"]);
    assert!(diff.stderr.contains("repeating PATCH") && diff.stderr.contains("repeating GET"), "{diff}");
    let quiet = ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn a_server_that_stays_busy_leaves_the_object_unknown() {
    let (ws, proxy) = drifted();
    ws.write("other.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}");
    proxy.inject(99, "PATCH", "deployments dryRun", refusal(429, Some("0")));
    let diff = ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(4);
    assert_eq!(diff.each("action"), ["ConfigMap other: create", "Deployment web: unknown"]);
    let asked =
        proxy.requests().iter().filter(|request| request.contains("deployments") && request.contains("dryRun")).count();
    assert!((2..=6).contains(&asked), "asked {asked} times");
}

#[test]
fn a_connection_that_breaks_before_a_write_is_no_failure() {
    let (ws, proxy) = drifted();
    proxy.inject(1, "PATCH", "!dryRun", Fault::Refused);
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["Deployment web: updated"]);
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 2);
}

#[test]
fn a_write_whose_answer_is_lost_is_done_once() {
    for fault in [Fault::AnswerLost, Fault::AnswerCut] {
        let (ws, proxy) = drifted();
        proxy.inject(1, "PATCH", "!dryRun fieldValidation", fault.clone());
        let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(0);
        assert_eq!(apply.each("outcome"), ["Deployment web: updated"]);
        assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 2);
        ws.reconcile(["diff", "-f", "."]).exits_with(0);

        ws.delete("deployment/web");
        proxy.inject(1, "PATCH", "!dryRun", fault);
        let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(0);
        assert_eq!(apply.object("Deployment", "web")["outcome"], "created", "{apply}");
        ws.reconcile(["diff", "-f", "."]).exits_with(0);
    }
}

#[test]
fn a_connection_that_keeps_breaking_is_one_objects_trouble() {
    let (ws, proxy) = drifted();
    ws.write("other.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}");
    proxy.inject(99, "PATCH", "deployments dryRun", Fault::Refused);
    let diff = ws.through(&proxy.url()).reconcile(["diff", "-f", "."]).exits_with(4);
    assert_eq!(diff.object("ConfigMap", "other")["action"], "create");
    assert_eq!(diff.object("Deployment", "web")["error"]["reason"], "ConnectionLost");
}

#[test]
fn silence_ends_with_the_request_timeout() {
    let (ws, proxy) = drifted();
    proxy.inject(9, "PATCH", "deployments dryRun", Fault::Silence);
    let started = Instant::now();
    let diff = ws.through(&proxy.url()).reconcile(["diff", "-f", ".", "--request-timeout=5s"]).exits_with(4);
    assert!(started.elapsed() < Duration::from_mins(2));
    assert_eq!(diff.object("Deployment", "web")["error"]["reason"], "Timeout");

    let proxy = Proxy::new(&ws);
    proxy.inject(99, "GET", "api", Fault::Silence);
    let started = Instant::now();
    let run = ws.through(&proxy.url()).reconcile(["diff", "-f", ".", "--request-timeout=5s"]).exits_with(3);
    assert!(started.elapsed() < Duration::from_mins(2));
    assert!(run.stderr.contains(&proxy.url()) && run.stderr.contains("5s"), "{run}");
}

#[test]
fn a_rival_between_comparison_and_write_is_not_overruled_unseen() {
    let (ws, proxy) = drifted();
    let rival = Arc::clone(&ws);
    let claim = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 7, selector: {matchLabels: {app: web}},
        template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'shop/web:1.2'}]}}}}";
    let event = move || rival.apply_as("gitops", claim);
    proxy.inject(1, "PATCH", "!dryRun fieldValidation", Fault::After(Arc::new(event)));
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "failed", "{apply}");
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 7, "the rival's value stands");
    let diff = ws.reconcile(["diff", "-f", "."]).exits_with(1);
    assert_eq!(diff.changes("Deployment", "web"), ["conflict spec.replicas"]);
}

#[test]
fn a_bystander_between_comparison_and_write_does_not_stop_it() {
    let (ws, proxy) = drifted();
    let bystander = Arc::clone(&ws);
    let event =
        move || bystander.patch_as("agent", "deployment/web", &json!({"metadata": {"labels": {"seen": "yes"}}}));
    proxy.inject(1, "PATCH", "!dryRun fieldValidation", Fault::After(Arc::new(event)));
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(0);
    assert_eq!(apply.each("outcome"), ["Deployment web: updated"]);
    let web = ws.get("Deployment", "web");
    assert_eq!((&web["spec"]["replicas"], &web["metadata"]["labels"]["seen"]), (&json!(2), &json!("yes")));
}

#[test]
fn a_bystander_does_not_stop_the_write_of_a_secret_and_a_rival_for_its_value_does() {
    let ws = Arc::new(Workspace::new());
    let secret = |name: &str, value: &str| {
        format!("---\n{{apiVersion: v1, kind: Secret, metadata: {{name: {name}}}, stringData: {{key: {value}}}}}\n")
    };
    // The first Secret has numbers of its own, so that the second one's don't begin at 1.
    ws.write("it.yaml", &(secret("first", "old-one") + &secret("it", "old-two")));
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.write("it.yaml", &(secret("first", "new-one") + &secret("it", "new-two")));
    for (patch, code, outcome) in [
        (json!({"metadata": {"labels": {"seen": "yes"}}}), 0, "updated"),
        (json!({"stringData": {"key": "rival"}}), 4, "failed"),
    ] {
        let proxy = Proxy::new(&ws);
        let other = Arc::clone(&ws);
        let event = move || other.patch_as("agent", "secret/it", &patch);
        proxy.inject(1, "PATCH", "secrets/it !dryRun", Fault::After(Arc::new(event)));
        let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(code);
        assert_eq!(apply.object("Secret", "it")["outcome"], outcome, "{apply}");
        ws.write("it.yaml", &(secret("first", "newer-one") + &secret("it", "newer-two")));
    }
}

#[test]
fn an_object_that_somebody_creates_meanwhile_is_not_overruled() {
    let ws = Arc::new(Workspace::new());
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: ours}}");
    let proxy = Proxy::new(&ws);
    let rival = Arc::clone(&ws);
    let claim = "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: theirs}}";
    let event = move || rival.apply_as("gitops", claim);
    proxy.inject(1, "PATCH", "configmaps/it !dryRun", Fault::After(Arc::new(event)));
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(4);
    let object = apply.object("ConfigMap", "it");
    assert_eq!((&object["outcome"], &object["action"]), (&json!("failed"), &json!("update")), "{apply}");
    let changed = apply.change("ConfigMap", "it", "data.a");
    assert_eq!((&changed["live"], &changed["desired"]), (&json!("theirs"), &json!("ours")));
    assert!(apply.stdout.contains("theirs → ours"), "the new difference is shown: {apply}");
    assert_eq!(ws.get("ConfigMap", "it")["data"]["a"], "theirs");
}

#[test]
fn an_object_deleted_between_comparison_and_write_is_not_brought_back_by_halves() {
    let (ws, proxy) = drifted();
    let rival = Arc::clone(&ws);
    let event = move || {
        rival.kubectl(["delete", "deployment/web"]).exits_with(0);
    };
    proxy.inject(1, "PATCH", "!dryRun fieldValidation", Fault::After(Arc::new(event)));
    let apply = ws.through(&proxy.url()).reconcile(["apply", "-f", "."]).exits_with(4);
    assert_eq!(apply.object("Deployment", "web")["outcome"], "failed", "{apply}");
    assert_eq!(ws.find("Deployment", "web"), None);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    ws.reconcile(["diff", "-f", "."]).exits_with(0);
}
