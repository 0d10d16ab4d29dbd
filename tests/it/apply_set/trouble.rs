//! When something goes wrong, nothing is lost: what can't be listed or deleted is told, and the set goes on listing it.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{SET, applied, config_map, lists, remove, run};
use crate::control_plane::{Fault, Proxy, Request, Run, Workspace};

const ROLE: &str = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: []}";

/// A Job that somebody has to let go of.
const HELD: &str = "
apiVersion: batch/v1
kind: Job
metadata: {name: j, finalizers: [example.com/wait]}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}
";

#[track_caller]
fn through(ws: &Workspace, proxy: &Proxy, command: &str) -> Run {
    ws.through(&proxy.url()).reconcile([&[command, "-f", "."][..], &SET].concat())
}

#[test]
fn nothing_is_pruned_while_an_object_of_the_pass_is_left() {
    let ws = applied();
    remove(&ws, "b");
    ws.write("role.yaml", ROLE);
    ws.write("bad.yaml", "{apiVersion: v1, kind: Service, metadata: {name: bad}, spec: {ports: [{port: 99999}]}}");
    let diff = run(&ws, "diff").exits_with(4);
    assert_eq!(diff.object("ConfigMap", "b")["action"], "delete");
    assert!(diff.stderr.contains("`apply` would prune nothing"), "{diff}");
    let apply = run(&ws, "apply").exits_with(4);
    assert_eq!(
        apply.each("outcome"),
        ["ConfigMap a: unchanged", "Role r: created", "Service bad: skipped", "ConfigMap b: skipped"]
    );
    let reason = &apply.object("ConfigMap", "b")["reason"];
    assert_eq!(reason, "nothing is pruned while an object of the pass is left");
    assert!(apply.stdout.contains(reason.as_str().unwrap()), "{apply}");
    assert!(ws.find("ConfigMap", "b").is_some());
    lists(&ws, "ConfigMap,Role.rbac.authorization.k8s.io,Service", "");
    remove(&ws, "bad");
    run(&ws, "apply").exits_with(0);
    assert_eq!(ws.find("ConfigMap", "b"), None);
    lists(&ws, "ConfigMap,Role.rbac.authorization.k8s.io", "");
}

#[test]
fn a_conflict_keeps_from_pruning_too() {
    let ws = applied();
    remove(&ws, "b");
    ws.apply_as("gitops", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: theirs}}");
    let apply = run(&ws, "apply").exits_with(4);
    assert_eq!(apply.each("outcome"), ["ConfigMap a: conflict", "ConfigMap b: skipped"]);
    assert!(ws.find("ConfigMap", "b").is_some());
}

#[test]
fn a_kind_that_may_not_be_listed_is_named_and_stays_in_the_list() {
    let ws = applied();
    ws.write("role.yaml", ROLE);
    run(&ws, "apply").exits_with(0);
    remove(&ws, "role");
    remove(&ws, "b");
    ws.allow("limited", "get,list,patch,create,delete", "configmaps,secrets");
    for (command, code) in [("diff", 4), ("apply", 4)] {
        let run = ws.as_user("limited").reconcile([&[command, "-f", "."][..], &SET].concat()).exits_with(code);
        let error = run.report()["errors"][0]["message"].as_str().unwrap().to_owned();
        assert!(error.contains("`Role.rbac.authorization.k8s.io`") && error.contains("forbidden"), "{error}");
        assert!(run.stderr.contains(&error), "{run}");
        assert_eq!(run.report()["verdict"], "incomplete");
    }
    assert_eq!(ws.find("ConfigMap", "b"), None, "what is known is pruned");
    assert!(ws.find("Role", "r").is_some());
    lists(&ws, "ConfigMap,Role.rbac.authorization.k8s.io", "");
}

#[test]
fn a_first_set_needs_no_rights_to_other_kinds() {
    let ws = Workspace::new();
    config_map(&ws, "a");
    ws.allow("limited", "get,list,patch,create", "configmaps,secrets");
    let limited = |command: &str| ws.as_user("limited").reconcile([&[command, "-f", "."][..], &SET].concat());
    let diff = limited("diff").exits_with(1);
    assert!(diff.stderr.contains("could not be looked for"), "{diff}");
    limited("apply").exits_with(0);
    let again = limited("apply").exits_with(0);
    assert_eq!((again.writes(), again.stderr.as_str()), (0, ""));
}

#[test]
fn a_deletion_that_is_forbidden_is_told_and_the_others_are_done() {
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
fn a_parent_that_may_not_be_read_or_written_stops_the_pass() {
    let ws = applied();
    config_map(&ws, "c");
    ws.write("role.yaml", ROLE);
    remove(&ws, "b");
    ws.allow("limited", "get,list,patch,create,delete", "configmaps,roles.rbac.authorization.k8s.io");
    let limited = |command: &str| ws.as_user("limited").reconcile([&[command, "-f", "."][..], &SET].concat());
    for command in ["diff", "apply"] {
        let refused = limited(command).exits_with(4);
        assert!(refused.stderr.contains("the parent of the apply set, can't be read"), "{refused}");
    }
    ws.allow("limited", "get", "secrets");
    limited("diff").exits_with(1);
    let apply = limited("apply").exits_with(4);
    assert!(apply.stderr.contains("the parent of the apply set, can't be written"), "{apply}");
    assert_eq!(
        apply.each("outcome"),
        ["ConfigMap a: unchanged", "ConfigMap c: skipped", "Role r: skipped", "ConfigMap b: skipped"]
    );
    assert!(ws.find("ConfigMap", "c").is_none() && ws.find("ConfigMap", "b").is_some());
}

#[test]
fn a_deletion_whose_answer_is_lost_or_that_never_arrives_is_done_once() {
    for (fault, outcome) in [
        (Fault::AnswerLost, "deleted"),
        (Fault::AnswerCut, "deleted"),
        (Fault::Refused, "deleted"),
        (refusal(504), "deleted"),
        (refusal(500), "failed"),
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

#[test]
fn a_list_in_pages_that_breaks_is_read_again() {
    let ws = Workspace::new();
    let objects: Vec<String> = (0..520)
        .map(|number| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number:03}}}}}"))
        .collect();
    ws.write("many.yaml", &objects.join("\n---\n"));
    run(&ws, "apply").exits_with(0);
    remove(&ws, "many");
    config_map(&ws, "a");
    let proxy = Proxy::new(&ws);
    proxy.inject(1, "GET", "labelSelector continue", refusal(410));
    let diff = through(&ws, &proxy, "diff").exits_with(1);
    assert_eq!(diff.report()["summary"]["delete"], 520);
    let lists = proxy.requests().iter().filter(|request| request.contains("labelSelector")).count();
    assert_eq!(lists, 3, "a page, the expired one, and all at once");
}

fn refusal(code: u16) -> Fault {
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": "odd"});
    Fault::Answer(code, vec![("Content-Type", "application/json".to_owned())], status.to_string())
}

/// Waits until the Job is being deleted.
fn wait_until_terminating(ws: &Workspace) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while ws.get("Job", "j")["metadata"].get("deletionTimestamp").is_none() {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(20));
    }
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
        "Job $NS/j is still being deleted".replace("$NS", ws.namespace())
    );
    assert!(apply.stdout.contains(&ws.fill_in("terminating Job $NS/j")), "{apply}");
    lists(&ws, "ConfigMap,Job.batch", "");
}

#[test]
fn what_is_asked_about_covers_deletions_and_the_parent() {
    let ws = applied();
    remove(&ws, "b");
    let confirm = |answer: &str| {
        let flags = ["apply", "-f", ".", "--prune", "--applyset=set", "--confirm"];
        ws.as_user("admin").stdin(answer).on_terminal().reconcile(flags)
    };
    let before = ws.all_resource_versions();
    let no = confirm("n\n").exits_with(1);
    assert!(no.stderr.contains("1 to delete") && no.stderr.contains("[y/N]"), "{no}");
    assert_eq!(ws.all_resource_versions(), before);
    confirm("y\n").exits_with(0);
    assert_eq!(ws.find("ConfigMap", "b"), None);
    assert!(!confirm("").exits_with(0).stderr.contains("[y/N]"));
    // Only the parent is missing.
    ws.kubectl(["delete", "secret", "set"]).exits_with(0);
    confirm("n\n");
    assert_eq!(ws.find("Secret", "set"), None);
}
