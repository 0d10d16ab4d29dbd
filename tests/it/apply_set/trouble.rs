//! When something is in the way of the set, nothing is lost: it is reported, and the set still lists what it may have.

use super::{ROLE, SET, applied, config_map, lists, refusal, remove, run, through};
use crate::control_plane::{Fault, Proxy, Workspace};

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
        ["ConfigMap a: unchanged", "Role r: created", "Service bad: failed", "ConfigMap b: skipped"]
    );
    let reason = &apply.object("ConfigMap", "b")["reason"];
    assert_eq!(reason, "nothing is pruned, because an object was not applied");
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
    assert_eq!(again.writes(), 0);
    assert!(again.stderr.lines().all(|line| line.starts_with("context ")), "{again}");
}

#[test]
fn a_missing_namespace_of_the_parent_is_named_with_the_flag_that_creates_it() {
    let ws = Workspace::new();
    ws.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: $NS-missing}}");
    for (command, code) in [("diff", 4), ("apply", 4)] {
        let run = run(&ws, command).exits_with(code);
        let text = format!("{}{}", run.stdout, run.stderr);
        assert!(text.contains(&ws.fill_in("namespace `$NS-missing` does not exist")), "{run}");
        assert!(text.contains("`--create-namespace`"), "{run}");
    }
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
        assert!(refused.stderr.contains("the parent of the apply set, cannot be read"), "{refused}");
    }
    ws.allow("limited", "get", "secrets");
    limited("diff").exits_with(1);
    let apply = limited("apply").exits_with(4);
    assert!(apply.stderr.contains("the parent of the apply set, cannot be written"), "{apply}");
    assert_eq!(
        apply.each("outcome"),
        ["ConfigMap a: unchanged", "ConfigMap c: skipped", "Role r: skipped", "ConfigMap b: skipped"]
    );
    assert!(ws.find("ConfigMap", "c").is_none() && ws.find("ConfigMap", "b").is_some());
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
    proxy.inject(1, "GET", "labelSelector continue", refusal(410, "odd"));
    let diff = through(&ws, &proxy, "diff").exits_with(1);
    assert_eq!(diff.report()["summary"]["delete"], 520);
    let lists = proxy.requests().iter().filter(|request| request.contains("labelSelector")).count();
    assert_eq!(lists, 3, "a page, the expired one, and all at once");
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
    let no = confirm("n\n");
    assert!(no.stdout.contains(&ws.fill_in("+ Secret $NS/set")) && no.stderr.contains("[y/N]"), "{no}");
    assert_eq!(ws.find("Secret", "set"), None);
}

#[test]
fn a_record_whose_answer_is_lost_is_written_once() {
    for fault in [Fault::AnswerLost, Fault::AnswerCut, Fault::Refused] {
        let ws = Workspace::new();
        config_map(&ws, "a");
        ws.write("role.yaml", ROLE);
        let proxy = Proxy::new(&ws);
        proxy.inject(1, "PATCH", "secrets/set", fault.clone());
        through(&ws, &proxy, "apply").exits_with(0);
        lists(&ws, "ConfigMap,Role.rbac.authorization.k8s.io", "");
        remove(&ws, "role");
        proxy.inject(1, "PATCH", "secrets/set", fault);
        let apply = through(&ws, &proxy, "apply").exits_with(0);
        assert!(!apply.stderr.contains("somebody else"), "{apply}");
        lists(&ws, "ConfigMap", "");
        assert_eq!(run(&ws, "apply").exits_with(0).writes(), 0);
    }
}

#[test]
fn a_record_that_fails_after_the_deletions_is_reported_and_made_up_for() {
    let ws = applied();
    ws.write("role.yaml", ROLE);
    run(&ws, "apply").exits_with(0);
    remove(&ws, "role");
    let proxy = Proxy::new(&ws);
    proxy.inject(1, "PATCH", "secrets/set", refusal(500, "odd"));
    let apply = through(&ws, &proxy, "apply").exits_with(4);
    assert_eq!(apply.object("Role", "r")["outcome"], "deleted");
    assert!(apply.stderr.contains("cannot be updated: the server refused the request (500 InternalError)"), "{apply}");
    lists(&ws, "ConfigMap,Role.rbac.authorization.k8s.io", "");
    let diff = run(&ws, "diff").exits_with(0);
    assert!(diff.stdout.contains(&ws.fill_in("~ Secret $NS/set")), "{diff}");
    run(&ws, "apply").exits_with(0);
    lists(&ws, "ConfigMap", "");
}
