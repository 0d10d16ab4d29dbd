//! The flags of `apply` hold for a release that is restored: several contexts, shards, sides, the question, readiness, rules and
//! expectations.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{installed, managers, restore};
use crate::contexts::Fleet;
use crate::control_plane::{ControlPlane, Request, Workspace, wait_until};
use crate::stored::stored_by;

#[test]
fn each_context_has_a_release_of_its_own() {
    let fleet = Fleet::new();
    for (ws, method) in [(&fleet.eu, "ssa"), (&fleet.us, "csa")] {
        installed(ws, method);
        ws.scale("deployment/web", 5);
    }
    let kubeconfig = format!("--kubeconfig={}", fleet.kubeconfig());
    let apply = |contexts: &str, flags: &[&str]| {
        let contexts = format!("--context={contexts}");
        let words = [&["apply", "--from", "helm/web", &kubeconfig, &contexts], flags].concat();
        fleet.eu.as_user("admin").reconcile(words)
    };
    apply("eu,us", &["--dry-run"]).exits_with(1);
    let run = apply("eu,us,down", &[]).exits_with(3);
    for (ws, method) in [(&fleet.eu, "helm Apply"), (&fleet.us, "helm Update")] {
        let web = ws.get("deployments", "web");
        assert_eq!((&web["spec"]["replicas"], managers(&web)[0].as_str()), (&json!(2), method), "{run}");
        let context = if method == "helm Apply" { "eu" } else { "us" };
        let reports = run.report()["contexts"].as_array().unwrap();
        let report = reports.iter().find(|report| report["context"] == context).unwrap();
        assert_eq!(
            (&report["release"]["revision"], &report["release"]["namespace"]),
            (&json!(1), &json!(ws.namespace()))
        );
    }
    assert_eq!(apply("eu,us", &[]).exits_with(0).report()["contexts"][0]["verdict"], "applied");
}

#[test]
fn shards_restore_the_whole_release_together() {
    for method in ["ssa", "csa"] {
        let ws = Workspace::new();
        let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m-$N}\ndata: {a: one}\n";
        let maps: Vec<String> = (0..10).map(|number| map.replace("$N", &number.to_string())).collect();
        let maps = maps.concat();
        stored_by(&ws, "web", (1, "deployed"), Some(method), &maps);
        ws.stdin(&maps.replace("one", "two")).kubectl(["create", "--field-manager=helm", "-f", "-"]).exits_with(0);
        let mut all = BTreeSet::new();
        for shard in ["0/3", "1/3", "2/3"] {
            let run = restore(&ws, &["--shard", shard]).exits_with(0);
            assert!(run.each("outcome").into_iter().all(|one| all.insert(one)), "{run}");
        }
        assert_eq!(all.len(), 10);
        assert!(all.iter().all(|one| one.ends_with(": updated")), "{all:?}");
        assert_eq!(restore(&ws, &[]).exits_with(0).writes(), 0);
        assert_eq!(ws.get("ConfigMap", "m-7")["data"]["a"], "one");
    }
}

#[test]
fn only_what_is_chosen_is_restored() {
    for method in ["ssa", "csa"] {
        let ws = Workspace::new();
        installed(&ws, method);
        ws.scale("deployment/web", 5);
        ws.delete("configmap/settings");
        let before = ws.all_resource_versions();
        let none = restore(&ws, &["--only", "manifest"]).exits_with(0);
        assert_eq!((none.writes(), &none.report()["summary"]["left"]), (0, &json!(2)), "{none}");
        assert_eq!(ws.all_resource_versions(), before);
        let run = restore(&ws, &["--only", "missing"]).exits_with(0);
        assert_eq!(ws.get("ConfigMap", "settings")["data"]["a"], "one");
        assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 5);
        let left = &run.object("Deployment", "web")["left"][0];
        assert_eq!((&left["path"], &left["side"]), (&json!("spec.replicas"), &json!("cluster")), "{run}");
        let dry = restore(&ws, &["--only", "cluster", "--dry-run"]).exits_with(1);
        assert_eq!(dry.changes("Deployment", "web"), ["changedByOther spec.replicas"]);
        restore(&ws, &["--only", "cluster"]).exits_with(0);
        assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 2);
    }
}

#[test]
fn the_question_names_the_differences_and_a_no_writes_nothing() {
    let ws = Workspace::new();
    installed(&ws, "csa");
    ws.scale("deployment/web", 5);
    let before = ws.all_resource_versions();
    let confirm = |answer: &str| {
        let words = ["apply", "--from", "helm/web", "--confirm"];
        ws.as_user("admin").stdin(answer).on_terminal().reconcile(words)
    };
    let no = confirm("n\n").exits_with(1);
    assert!(no.stderr.contains("[y/N]") && no.stdout.contains("spec.replicas: 5 → 2"), "{no}");
    assert_eq!(ws.all_resource_versions(), before);
    confirm("y\n").exits_with(0);
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 2);
    // Without a terminal nobody can answer.
    ws.scale("deployment/web", 5);
    restore(&ws, &["--confirm"]).exits_with(2);
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 5);
}

#[test]
fn a_release_is_waited_for_until_it_is_ready() {
    let ws = Workspace::on(&ControlPlane::full());
    installed(&ws, "ssa");
    ws.kubectl(["wait", "deployment/web", "--for=condition=Available", "--timeout=60s"]).exits_with(0);
    let stuck = json!({"spec": {"template": {"spec": {"nodeSelector": {"no": "node"}}}}}).to_string();
    ws.kubectl(["patch", "deployment/web", "-p", &stuck]).exits_with(0);
    ws.scale("deployment/web", 4);
    // The node selector is no field of the release, so that it stays, and with it the rollout.
    let run = restore(&ws, &["--wait", "--timeout=2s"]).exits_with(5);
    assert_eq!(run.report()["verdict"], "notReady", "{run}");
    assert_eq!(ws.get("Deployment", "web")["spec"]["replicas"], 2);
    let free = json!({"spec": {"template": {"spec": {"nodeSelector": null}}}}).to_string();
    ws.kubectl(["patch", "deployment/web", "-p", &free]).exits_with(0);
    restore(&ws, &["--wait", "--timeout=60s"]).exits_with(0);
}

#[test]
fn what_a_rule_ignores_keeps_its_value_and_its_owner() {
    for method in ["ssa", "csa"] {
        let ws = Workspace::new();
        installed(&ws, method);
        let rules = "apiVersion: kubectl-reconcile/v1\nkind: Config\n\
                     ignore: [{kind: Deployment, fields: [spec.replicas], reason: scaled by night}]\n";
        ws.write(".kubectl-reconcile.yaml", rules);
        ws.scale("deployment/web", 5);
        ws.patch_as("kubectl-edit", "configmap/settings", &json!({"data": {"a": "two"}}));
        let flags = ["--config", ".kubectl-reconcile.yaml"];
        restore(&ws, &flags).exits_with(0);
        let web = ws.get("Deployment", "web");
        assert_eq!(web["spec"]["replicas"], 5);
        let owner = crate::ownership::owners_of(&ws, "Deployment", "web", "/f:spec/f:replicas");
        assert_eq!(owner, ["kubectl Update"]);
        assert_eq!(ws.get("ConfigMap", "settings")["data"]["a"], "one");
        assert_eq!(restore(&ws, &flags).exits_with(0).writes(), 0);
    }
}

#[test]
fn a_release_that_is_not_expected_here_is_refused() {
    let ws = Workspace::new();
    installed(&ws, "ssa");
    ws.scale("deployment/web", 5);
    let before = ws.all_resource_versions();
    for (expect, message) in [
        ("contexts: [prod]", "is not expected here, only `prod`"),
        ("servers: ['https://10.1.2.3:6443']", "is not expected here, only `https://10.1.2.3:6443`"),
        ("namespaces: [shop]", "is not expected here, only `shop`"),
        ("applyset: shop", "these manifests belong to apply set `shop`"),
    ] {
        ws.write("expect.yaml", &format!("apiVersion: kubectl-reconcile/v1\nkind: Config\nexpect: {{{expect}}}\n"));
        let refused = restore(&ws, &["--config", "expect.yaml"]).exits_with(2);
        assert!(refused.stderr.contains(message), "{refused}");
        if !expect.starts_with("applyset") {
            let refused = restore(&ws, &["--config", "expect.yaml", "--dry-run"]).exits_with(2);
            assert!(refused.stderr.contains(message), "{refused}");
        }
    }
    assert_eq!(ws.all_resource_versions(), before);
}

/// The permissions that the requests of a user needed, as `VERB RESOURCE`.
fn needed(requests: &[Request], user: &str) -> BTreeSet<String> {
    let counts = |request: &&Request| request.user == user && request.code < 300;
    let named = requests.iter().filter(counts).flat_map(|request| {
        let path = request.uri.split('?').next().unwrap_or_default();
        let resource = path.split_once("/namespaces/").and_then(|(_, rest)| rest.split('/').nth(1));
        // A patch that creates an object needs both.
        let verbs =
            if request.code == 201 { vec!["create", request.verb.as_str()] } else { vec![request.verb.as_str()] };
        verbs.into_iter().filter_map(move |verb| Some(format!("{verb} {}", resource?)))
    });
    named.collect()
}

#[test]
fn access_names_the_permissions_that_the_requests_need() {
    let ws = Workspace::new();
    installed(&ws, "ssa");
    let user = "editor";
    let access = |more: &[&str]| {
        ws.reconcile([&["access", "--from", "helm/web", "--for", "restore", "--name", user], more].concat())
    };
    let roles = access(&["--subject", "User:editor"]).exits_with(0);
    ws.stdin(&roles.stdout).kubectl(["apply", "-f", "-"]).exits_with(0);
    wait_until("the server knows the roles", || access(&["--as", user]).code == 0);
    let report: Value = serde_json::from_str(&access(&["-o", "json"]).exits_with(0).stdout).unwrap();
    let text = |one: &Value| format!("{} {}", one["verb"].as_str().unwrap(), one["resource"].as_str().unwrap());
    let granted: BTreeSet<String> = report["permissions"].as_array().unwrap().iter().map(text).collect();
    let (run, requests) = ws.requests_during(|| {
        for object in ["deployment/web", "configmap/settings"] {
            ws.delete(object);
        }
        ws.as_user(user).reconcile(["apply", "--from", "helm/web"]).exits_with(0);
        ws.scale("deployment/web", 5);
        ws.as_user(user).reconcile(["apply", "--from", "helm/web", "--dry-run"]).exits_with(1);
        ws.as_user(user).reconcile(["apply", "--from", "helm/web"]).exits_with(0)
    });
    let refused: Vec<&Request> = requests.iter().filter(|request| request.code == 403).collect();
    let is_optional = |request: &&&Request| request.uri.contains("/mutating");
    assert!(refused.iter().filter(|request| !is_optional(request)).count() == 0, "{refused:#?} {run}");
    assert_eq!(granted, needed(&requests, user), "{requests:#?}");
}
