//! `apply --from helm/RELEASE` under every fault, at the records and at the objects: nothing is restored from a record that was not read
//! whole, what is said of the objects is true, all fields stay Helm's, and the next run does the rest.

use std::fmt::Write as _;

use serde_json::Value;

use super::catalog::{of_requests, of_runs};
use super::oracle::{Wanted, ended_well, held, is_truthful, wrote_once};
use super::passes::{Point, killed_at};
use super::{rounds, side_by_side, times};
use crate::control_plane::{Proxy, Request, Workspace};
use crate::stored::stored_by;

const ARGUMENTS: [&str; 4] = ["apply", "--from", "helm/web", "--request-timeout=10s"];

fn manifest(names: &[String], value: &str) -> String {
    let mut text = String::new();
    for name in names {
        let _ = writeln!(
            text,
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: $NS}}\ndata: {{v: {value}}}"
        );
    }
    text
}

/// A release whose objects somebody has changed; every fourth one is deleted.
fn changed(method: &str, names: &[String]) -> Workspace {
    let ws = Workspace::new();
    let original = ws.fill_in(&manifest(names, "old"));
    stored_by(&ws, "web", (1, "deployed"), Some(method), &original);
    if method == "ssa" {
        ws.apply_as("helm", &original);
    } else {
        ws.stdin(&original).kubectl(["create", "--field-manager=helm", "-f", "-"]).exits_with(0);
    }
    let edited = ws.fill_in(&manifest(names, "edited"));
    ws.stdin(&edited).kubectl(["replace", "--field-manager=kubectl-edit", "-f", "-"]).exits_with(0);
    let deleted: Vec<String> = names.iter().step_by(4).map(|name| format!("configmap/{name}")).collect();
    let delete = ["delete".to_owned(), "--wait=false".to_owned()];
    ws.kubectl(delete.iter().chain(&deleted)).exits_with(0);
    ws
}

fn wanted(names: &[String]) -> Wanted {
    names.iter().map(|name| (name.clone(), Some("old".to_owned()))).collect()
}

/// Without the faults, the next run does the rest, and all fields are those of Helm.
#[track_caller]
fn finishes(what: &str, ws: &Workspace, names: &[String]) {
    let run = ws.reconcile(ARGUMENTS).exits_with(0);
    is_truthful(what, &run, &wanted(names), &held(ws));
    let (again, requests) = ws.requests_during(|| ws.reconcile(ARGUMENTS).exits_with(0));
    assert_eq!(again.writes(), 0, "{what}: {again}");
    assert!(!requests.iter().any(Request::is_write), "{what}: {requests:#?}");
    let list = ws.plane().api().find(&format!("/api/v1/namespaces/{}/configmaps", ws.namespace())).expect("a list");
    for object in list["items"].as_array().expect("items").iter().filter(|object| object["data"].get("v").is_some()) {
        let entries = object["metadata"]["managedFields"].as_array().expect("entries").iter();
        let of_value = entries.filter(|entry| entry["fieldsV1"]["f:data"].get("f:v").is_some());
        let managers: Vec<&Value> = of_value.map(|entry| &entry["manager"]).collect();
        assert_eq!(managers, ["helm"], "{what}: {object}");
    }
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("m-{number:03}")).collect()
}

#[test]
fn each_object_has_its_own_trouble() {
    // Attempts of the comparison, and writes: server-side applies, or updates and creations.
    let stages = [("ssa", "PATCH", "dryRun"), ("ssa", "PATCH", "!dryRun"), ("csa", "PATCH", "!dryRun")];
    let passes: Vec<_> = (0..rounds()).flat_map(|round| stages.map(|stage| (stage, round))).collect();
    side_by_side(3, &passes, |((method, verb, query), round)| {
        let what = format!("{method} {verb} {query}");
        let all = of_requests().into_iter().flat_map(|mishap| times(*round).map(|times| (mishap.clone(), times)));
        let cases: Vec<_> = all.collect();
        let names = names(cases.len());
        let ws = changed(method, &names);
        let proxy = Proxy::new(&ws);
        for ((number, name), (mishap, times)) in names.iter().enumerate().zip(&cases) {
            let is_created = number % 4 == 0;
            if is_created && *method == "csa" {
                // A creation does not say in its address of what.
                proxy.inject(1, "POST", "configmaps? !dryRun", mishap.fault.clone());
            } else if !is_created || *query == "!dryRun" {
                proxy.inject(*times, verb, &format!("configmaps/{name}? {query}"), mishap.fault.clone());
            }
        }
        let (run, requests) = ws.requests_during(|| ws.through(&proxy.url()).reconcile(ARGUMENTS));
        ended_well(&what, &run);
        is_truthful(&what, &run, &wanted(&names), &held(&ws));
        wrote_once(&what, &run, &requests);
        drop(proxy);
        finishes(&what, &ws, &names);
    });
}

#[test]
fn nothing_is_restored_from_a_record_that_was_not_read_whole() {
    let reads = [("GET", "secrets? labelSelector"), ("GET", "secrets/sh.helm")];
    let mishaps = of_requests().into_iter().chain(of_runs());
    let all = mishaps.enumerate().flat_map(|(index, mishap)| {
        let chosen = if rounds() > 1 { vec![reads[0], reads[1]] } else { vec![reads[index % 2]] };
        chosen.into_iter().map(move |read| (mishap.clone(), read))
    });
    let cases: Vec<_> = all.collect();
    let groups: Vec<_> = cases.chunks(cases.len().div_ceil(4)).collect();
    let names = names(5);
    side_by_side(4, &groups, |cases| {
        let ws = changed("ssa", &names);
        for (mishap, (method, pattern)) in *cases {
            let what = format!("{method} {pattern}: {}", mishap.name);
            let before = held(&ws);
            let proxy = Proxy::new(&ws);
            proxy.inject(99, method, pattern, mishap.fault.clone());
            let flags = ["apply", "--from", "helm/web", "--request-timeout=10s"];
            let run = ws.through(&proxy.url()).reconcile(flags);
            assert!([0, 2, 3, 4].contains(&run.code) && !run.stderr.contains("panicked"), "{what}: {run}");
            if run.code == 0 {
                // It waited until it could read the record.
                is_truthful(&what, &run, &wanted(&names), &held(&ws));
                let edited = ws.fill_in(&manifest(&names, "edited"));
                ws.stdin(&edited).kubectl(["replace", "--field-manager=kubectl-edit", "-f", "-"]).exits_with(0);
                continue;
            }
            assert_eq!(held(&ws), before, "{what}: {run}");
            assert!(!run.stderr.is_empty(), "{what}: {run}");
        }
        finishes("at the end", &ws, &names);
    });
}

#[test]
fn a_run_that_is_killed_anywhere_is_finished_by_the_next() {
    let names = names(9);
    let points = (1..14).map(|number| Point(number, "*", "/"));
    let points = points.chain((1..=6).map(|number| Point(number, "PATCH", "configmaps/ !dryRun")));
    let points: Vec<(Point, &str)> = points.zip(["ssa", "csa"].into_iter().cycle()).collect();
    side_by_side(4, &points, |(point, method)| {
        let what = format!("{method} killed at {point:?}");
        let ws = changed(method, &names);
        assert!(killed_at(*point, &ws, &ARGUMENTS), "{what}: it ended before");
        finishes(&what, &ws, &names);
    });
}
