//! Deletions that fail: each outcome is reported, and the set still lists what is left.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::{ROLE, SET, applied, lists, refusal, remove, run, through};
use crate::control_plane::{Fault, Proxy, Replaced, Request, Workspace, wait_until};

/// A Job that somebody has to let go of.
const HELD: &str = "
apiVersion: batch/v1
kind: Job
metadata: {name: j, finalizers: [example.com/wait]}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}
";

#[test]
fn a_deletion_that_is_forbidden_is_reported_and_the_others_are_done() {
    let ws = applied();
    ws.write("role.yaml", ROLE);
    run(&ws, "apply").exits_with(0);
    remove(&ws, "role");
    remove(&ws, "b");
    ws.allow("limited", "get,list,patch,create,delete", "configmaps,secrets");
    ws.allow("limited", "get,list", "roles.rbac.authorization.k8s.io");
    let apply = ws.as_user("limited").reconcile([&["apply", "-f", "."][..], &SET].concat()).exits_with(4);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: unchanged", "ConfigMap b: deleted", "Role r: failed"]);
    assert_eq!(apply.object("Role", "r")["error"]["reason"], "Forbidden");
    assert!(apply.stdout.contains(&ws.fill_in("failed Role $NS/r")), "{apply}");
    lists(&ws, "ConfigMap,Role.rbac.authorization.k8s.io", "");
    let apply = run(&ws, "apply").exits_with(0);
    assert_eq!(apply.object("Role", "r")["outcome"], "deleted");
    lists(&ws, "ConfigMap", "");
}

#[test]
fn a_namespace_stays_with_what_can_not_be_deleted_or_seen_in_it() {
    let data = "{apiVersion: v1, kind: Namespace, metadata: {name: $NS-data}}
---
{apiVersion: v1, kind: Secret, metadata: {name: precious, namespace: $NS-data}}
";
    for (method, pattern, secret) in
        [("DELETE", "secrets/precious", Some("failed")), ("GET", "-data/secrets labelSelector", None)]
    {
        let ws = applied();
        ws.write("data.yaml", data);
        run(&ws, "apply").exits_with(0);
        remove(&ws, "data");
        let proxy = Proxy::new(&ws);
        proxy.inject(99, method, pattern, refusal(403, "no"));
        let apply = through(&ws, &proxy, "apply").exits_with(4);
        let namespace = apply.object("Namespace", &ws.fill_in("$NS-data"));
        assert_eq!(namespace["outcome"], "unchanged", "{apply}");
        assert!(namespace["reason"].as_str().unwrap().starts_with("kept because "), "{apply}");
        let reported = apply.report()["objects"].as_array().unwrap().iter().find(|object| object["kind"] == "Secret");
        assert_eq!(reported.map(|object| &object["outcome"]), secret.map(|outcome| json!(outcome)).as_ref());
        assert!(ws.get("Namespace", &ws.fill_in("$NS-data"))["metadata"].get("deletionTimestamp").is_none());
        lists(&ws, "ConfigMap,Namespace,Secret", &ws.fill_in("$NS-data"));
    }
}

#[test]
fn a_deletion_whose_answer_is_lost_or_that_never_arrives_is_done_once() {
    for (fault, outcome) in [
        (Fault::AnswerLost, "deleted"),
        (Fault::AnswerCut, "deleted"),
        (Fault::Refused, "deleted"),
        (refusal(504, "odd"), "deleted"),
        (refusal(500, "odd"), "failed"),
    ] {
        let ws = applied();
        remove(&ws, "b");
        let proxy = Proxy::new(&ws);
        proxy.inject(1, "DELETE", "configmaps/b", fault);
        let apply = through(&ws, &proxy, "apply");
        assert_eq!(apply.object("ConfigMap", "b")["outcome"], outcome, "{apply}");
        assert_eq!(apply.code, if outcome == "deleted" { 0 } else { 4 }, "{apply}");
        assert_eq!(ws.find("ConfigMap", "b").is_none(), outcome == "deleted");
    }
    // The server deletes it, and the answer says otherwise.
    let ws = Arc::new(applied());
    remove(&ws, "b");
    let proxy = Proxy::new(&ws);
    let other = Arc::clone(&ws);
    proxy.inject(1, "DELETE", "configmaps/b", Fault::After(Arc::new(move || other.delete("configmap/b"))));
    let apply = through(&ws, &proxy, "apply").exits_with(0);
    assert_eq!(apply.object("ConfigMap", "b")["outcome"], "deleted");
}

#[test]
fn a_member_that_changes_or_is_made_anew_meanwhile_is_judged_again() {
    let ws = Arc::new(applied());
    remove(&ws, "b");
    let proxy = Proxy::new(&ws);
    let other = Arc::clone(&ws);
    let event = move || other.patch_as("agent", "configmap/b", &json!({"data": {"seen": "yes"}}));
    proxy.inject(1, "DELETE", "configmaps/b", Fault::After(Arc::new(event)));
    through(&ws, &proxy, "apply").exits_with(0);
    assert_eq!(ws.find("ConfigMap", "b"), None);

    let ws = Arc::new(applied());
    remove(&ws, "b");
    let proxy = Proxy::new(&ws);
    let other = Arc::clone(&ws);
    let event = move || {
        other.kubectl(["delete", "configmap", "b"]).exits_with(0);
        other.kubectl(["create", "configmap", "b", "--from-literal=new=yes"]).exits_with(0);
    };
    proxy.inject(1, "DELETE", "configmaps/b", Fault::After(Arc::new(event)));
    let apply = through(&ws, &proxy, "apply").exits_with(0);
    assert_eq!(apply.object("ConfigMap", "b")["outcome"], "unchanged", "{apply}");
    assert_eq!(ws.get("ConfigMap", "b")["data"], json!({"new": "yes"}), "the new one is no member");

    // Without end.
    let ws = Arc::new(applied());
    remove(&ws, "b");
    let proxy = Proxy::new(&ws);
    let other = Arc::clone(&ws);
    let event = move || {
        let version = other.resource_version("ConfigMap", "b");
        other.patch_as("agent", "configmap/b", &json!({"data": {"seen": version}}));
    };
    proxy.inject(99, "DELETE", "configmaps/b", Fault::After(Arc::new(event)));
    let apply = through(&ws, &proxy, "apply").exits_with(4);
    assert_eq!(apply.object("ConfigMap", "b")["outcome"], "failed", "{apply}");
    assert!(ws.find("ConfigMap", "b").is_some());
}

fn wait_until_terminating(ws: &Workspace) {
    wait_until("the Job is being deleted", || ws.get("Job", "j")["metadata"].get("deletionTimestamp").is_some());
}

#[test]
fn an_object_that_its_finalizer_holds_is_waited_for_and_what_comes_after_it_waits() {
    let ws = applied();
    ws.write("job.yaml", HELD);
    run(&ws, "apply").exits_with(0);
    remove(&ws, "job");
    remove(&ws, "b");
    let apply = ws.as_user("admin").start_reconcile([&["apply", "-f", "."][..], &SET].concat());
    wait_until_terminating(&ws);
    thread::sleep(Duration::from_millis(300));
    assert!(ws.find("ConfigMap", "b").is_some(), "the later wave waits");
    ws.patch_as("controller", "job/j", &json!({"metadata": {"finalizers": null}}));
    let apply = apply.finish().exits_with(0);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: unchanged", "Job j: deleted", "ConfigMap b: deleted"]);
}

#[test]
fn an_interrupt_between_deletions_leaves_the_rest_and_the_list() {
    let ws = applied();
    ws.write("job.yaml", HELD);
    run(&ws, "apply").exits_with(0);
    remove(&ws, "job");
    remove(&ws, "b");
    let apply = ws.as_user("admin").start_reconcile([&["apply", "-f", "."][..], &SET].concat());
    wait_until_terminating(&ws);
    apply.interrupt();
    let apply = apply.finish().exits_with(130);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: unchanged", "Job j: terminating", "ConfigMap b: skipped"]);
    assert_eq!(apply.object("ConfigMap", "b")["reason"], "the run was interrupted");
    assert!(apply.object("Job", "j")["error"]["message"].as_str().unwrap().contains("`example.com/wait`"), "{apply}");
    assert!(!apply.stdout.contains("60 s"), "{apply}");
    assert!(ws.find("ConfigMap", "b").is_some());
    lists(&ws, "ConfigMap,Job.batch", "");

    // The next run takes up where this one ended: what is on its way out is waited for, not deleted again.
    let diff = run(&ws, "diff").exits_with(1);
    assert_eq!(diff.each("action"), ["ConfigMap a: none", "Job j: delete", "ConfigMap b: delete"]);
    ws.patch_as("controller", "job/j", &json!({"metadata": {"finalizers": null}}));
    run(&ws, "apply").exits_with(0);
    assert_eq!(ws.find("ConfigMap", "b"), None);
    let (_, requests) = ws.requests_during(|| run(&ws, "apply").exits_with(0));
    assert!(!requests.iter().any(Request::is_write), "{requests:#?}");
}

#[test]
fn a_wait_ends_with_the_timeout() {
    let ws = applied();
    ws.write("job.yaml", HELD);
    run(&ws, "apply").exits_with(0);
    remove(&ws, "job");
    remove(&ws, "b");
    let flags = ["apply", "-f", ".", "--prune", "--applyset=set", "--wait", "--timeout=2s"];
    let apply = ws.reconcile(flags).exits_with(4);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: unchanged", "Job j: terminating", "ConfigMap b: skipped"]);
    let error = &apply.object("Job", "j")["error"];
    assert_eq!(error["reason"], "Terminating");
    assert!(
        error["message"].as_str().unwrap().contains("not gone after 2 s: the finalizer `example.com/wait`"),
        "{error}"
    );
    assert_eq!(
        apply.object("ConfigMap", "b")["reason"],
        "Job $NS/j is still being deleted".replaced("$NS", ws.namespace())
    );
    assert!(apply.stdout.contains(&ws.fill_in("terminating Job $NS/j")), "{apply}");
    lists(&ws, "ConfigMap,Job.batch", "");
}

#[test]
fn many_deletions_over_a_bad_connection_are_all_done() {
    let ws = Workspace::new();
    let objects: Vec<String> = (0..40)
        .map(|number| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number:02}}}}}"))
        .collect();
    ws.write("many.yaml", &objects.join("\n---\n"));
    run(&ws, "apply").exits_with(0);
    ws.write("many.yaml", &objects[0]);
    let proxy = Proxy::new(&ws);
    for fault in [Fault::AnswerLost, Fault::Refused, Fault::AnswerCut, refusal(504, "slow")] {
        proxy.inject(5, "DELETE", "configmaps/m-", fault);
    }
    let apply = through(&ws, &proxy, "apply").exits_with(0);
    assert_eq!(apply.each("outcome").iter().filter(|outcome| outcome.ends_with(": deleted")).count(), 39, "{apply}");
    assert!(ws.find("ConfigMap", "m-00").is_some() && ws.find("ConfigMap", "m-39").is_none());
    run(&ws, "diff").exits_with(0);
}
