//! Consent in runs of several shards and contexts, and deletions beside `--only`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{SET, config_map, exists, remove, run};
use crate::contexts::Fleet;
use crate::control_plane::{Run, Workspace};

/// This number of ConfigMaps, in the namespace of the context.
fn many(ws: &Workspace, count: usize) {
    let mut text = String::new();
    for number in 0..count {
        let _ = writeln!(text, "---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number}}}}}");
    }
    ws.write("deploy/all.yaml", &text);
}

/// The number of objects whose deletion needs consent.
fn asking(report: &Value) -> usize {
    let objects = report["objects"].as_array().unwrap().iter();
    objects.filter(|object| object["deletion"]["needs"] == json!(["most"])).count()
}

#[test]
fn the_shard_that_prunes_asks_for_the_whole_set() {
    let ws = Workspace::new();
    many(&ws, 20);
    run(&ws, "apply", &[]).exits_with(0);
    many(&ws, 8);
    let shards = |flags: &[&str]| -> Vec<Run> {
        ["0/3", "1/3", "2/3"].iter().map(|shard| run(&ws, "apply", &[&["--shard", *shard], flags].concat())).collect()
    };
    let refused = shards(&[]);
    // Each shard alone would delete fewer than ten.
    assert_eq!(refused.iter().map(|run| asking(run.report())).sum::<usize>(), 12, "{refused:#?}");
    assert!(refused.iter().any(|run| run.code == 4), "{refused:#?}");
    for number in 0..20 {
        assert!(exists(&ws, ws.namespace(), &format!("configmap/m-{number}")), "m-{number}");
    }
    assert!(shards(&["--prune-allow=most"]).iter().all(|run| run.code == 0));
    assert!(!exists(&ws, ws.namespace(), "configmap/m-19") && exists(&ws, ws.namespace(), "configmap/m-7"));
}

#[test]
fn one_yes_allows_the_deletions_of_all_contexts_and_a_no_none() {
    let fleet = Fleet::new();
    let kubeconfig = format!("--kubeconfig={}", fleet.kubeconfig());
    let words = |flags: &[&'static str]| -> Vec<String> {
        let fixed = ["apply", "-f", "deploy", &kubeconfig, "--context=eu,us"];
        fixed.iter().chain(&SET).chain(flags).map(|word| (*word).to_owned()).collect()
    };
    let caller = || fleet.eu.as_user("admin");
    many(&fleet.eu, 12);
    caller().reconcile(words(&[])).exits_with(0);
    many(&fleet.eu, 1);
    let refused = caller().reconcile(words(&[])).exits_with(4);
    for report in refused.report()["contexts"].as_array().unwrap() {
        assert_eq!(asking(report), 11, "{refused}");
    }
    let no = caller().stdin("n\n").on_terminal().reconcile(words(&["--confirm"])).exits_with(1);
    assert!(no.stderr.contains("a yes also allows these deletions"), "{no}");
    let are_there =
        |number: usize| [&fleet.eu, &fleet.us].map(|ws| exists(ws, ws.namespace(), &format!("configmap/m-{number}")));
    assert_eq!(are_there(11), [true, true]);
    caller().stdin("y\n").on_terminal().reconcile(words(&["--confirm"])).exits_with(0);
    assert_eq!((are_there(11), are_there(0)), ([false, false], [true, true]));
}

#[test]
fn a_run_that_heals_the_cluster_alone_deletes_nothing() {
    let ws = Workspace::new();
    config_map(&ws, "stays", "$NS");
    config_map(&ws, "goes", "$NS");
    run(&ws, "apply", &[]).exits_with(0);
    remove(&ws, "goes");
    ws.patch_as("kubectl-edit", "configmap/stays", &json!({"data": {"a": "other"}}));
    let apply = run(&ws, "apply", &["--only", "cluster"]).exits_with(0);
    assert_eq!(ws.get("ConfigMap", "stays")["data"]["a"], "b", "{apply}");
    assert!(exists(&ws, ws.namespace(), "configmap/goes"), "{apply}");
    assert_eq!(apply.report()["summary"]["left"], 1, "{apply}");
    // The set still knows it.
    run(&ws, "apply", &[]).exits_with(0);
    assert!(!exists(&ws, ws.namespace(), "configmap/goes"));
}
