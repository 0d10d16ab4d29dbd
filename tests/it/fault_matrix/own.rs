//! `own` under every fault, at each of its requests: no value ever changes, what is said to be given is given, and the next run gives the
//! rest.

use std::collections::BTreeMap;

use serde_json::Value;

use super::catalog::{Mishap, of_requests, of_runs};
use super::oracle::{ended_well, held};
use super::passes::{Point, killed_at};
use super::{rounds, side_by_side, times};
use crate::control_plane::{Fault, Proxy, Request, Run, Running, Workspace};

/// The request that the faults happen to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// The object is read.
    Get,
    /// The comparison asks the server.
    Compare,
    /// With `--dry-run`, the write is tried.
    Try,
    /// The attempt before each write.
    Attempt,
    Write,
    /// Somebody was faster: the object is read again.
    Again,
}

impl Stage {
    const ALL: [Stage; 6] = [Stage::Get, Stage::Compare, Stage::Try, Stage::Attempt, Stage::Write, Stage::Again];

    /// Method and pattern of the request for an object.
    fn request(self, name: &str) -> (&'static str, String) {
        match self {
            Stage::Get | Stage::Again => ("GET", format!("configmaps/{name}")),
            Stage::Compare => ("PATCH", format!("configmaps/{name}? dryRun force")),
            Stage::Try | Stage::Attempt => ("PATCH", format!("configmaps/{name}? dryRun !force")),
            Stage::Write => ("PATCH", format!("configmaps/{name}? !dryRun")),
        }
    }

    fn arguments(self) -> Vec<&'static str> {
        let only_shows = matches!(self, Stage::Get | Stage::Compare | Stage::Try);
        let flags: &[&str] = if only_shows { &["--dry-run"] } else { &[] };
        [&["own", "-f", "all.yaml", "--request-timeout=15s"], flags].concat()
    }
}

/// ConfigMaps that kubectl created.
fn created(names: &[String]) -> Workspace {
    let ws = Workspace::new();
    let manifest = |name: &String| {
        format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{v: value}}}}\n---\n")
    };
    ws.write("all.yaml", &names.iter().map(manifest).collect::<String>());
    ws.kubectl(["create", "-f", "all.yaml"]).exits_with(0);
    ws
}

/// The owners of the values of all objects, as the server records them.
fn owners(ws: &Workspace) -> BTreeMap<String, String> {
    let list = ws.plane().api().find(&format!("/api/v1/namespaces/{}/configmaps", ws.namespace())).expect("a list");
    let owner = |object: &Value| {
        let entries = object["metadata"]["managedFields"].as_array().expect("entries").iter();
        let owning = entries.filter(|entry| entry["fieldsV1"]["f:data"].get("f:v").is_some());
        let names: Vec<&str> = owning.filter_map(|entry| entry["manager"].as_str()).collect();
        (object["metadata"]["name"].as_str().expect("a name").to_owned(), names.join(","))
    };
    list["items"].as_array().expect("items").iter().map(owner).collect()
}

/// What the report says of each object is true, and no value has changed.
#[track_caller]
fn is_truthful(what: &str, ws: &Workspace, run: &Run, names: &[String]) {
    ended_well(what, run);
    let held = held(ws);
    let owners = owners(ws);
    for name in names {
        assert_eq!(held.get(name).and_then(Option::as_deref), Some("value"), "{what}: {name}: {run}");
        let owner = owners.get(name).cloned().unwrap_or_default();
        assert!(["kubectl-create", "kubectl-reconcile"].contains(&owner.as_str()), "{what}: {name}: {owner}");
        let Some(object) = run.objects().iter().find(|object| object["name"] == name.as_str()) else {
            assert!(run.code >= 3, "{what}: {name} is not reported: {run}");
            continue;
        };
        let is_given = match object["outcome"].as_str() {
            Some("adopted" | "unchanged") => true,
            Some("failed" | "skipped") => {
                let why = [&object["error"]["message"], &object["reason"]];
                assert!(why.iter().any(|text| text.as_str().is_some_and(|text| !text.is_empty())), "{what}: {object}");
                assert!(run.code >= 3, "{what}: {run}");
                continue;
            }
            Some(other) => panic!("{what}: {name}: outcome {other}"),
            None if object["action"] == "unknown" => {
                assert!(object["error"]["message"].is_string() && run.code >= 3, "{what}: {object}: {run}");
                continue;
            }
            None => object["transfers"].as_array().is_some_and(Vec::is_empty),
        };
        assert_eq!(is_given, owner == "kubectl-reconcile", "{what}: {name} is {object}");
    }
}

/// Without the faults, the next run gives the rest, and the one after it writes nothing.
#[track_caller]
fn finishes(what: &str, ws: &Workspace, names: &[String]) {
    let run = ws.reconcile(["own", "-f", "all.yaml"]).exits_with(0);
    is_truthful(what, ws, &run, names);
    let (again, requests) = ws.requests_during(|| ws.reconcile(["own", "-f", "all.yaml"]).exits_with(0));
    assert_eq!(again.writes(), 0, "{what}: {again}");
    assert!(!requests.iter().any(Request::is_write), "{what}: {requests:#?}");
    ws.reconcile(["own", "-f", "all.yaml", "--dry-run"]).exits_with(0);
}

#[test]
fn each_object_has_its_own_trouble() {
    let passes: Vec<(Stage, usize)> = (0..rounds()).flat_map(|round| Stage::ALL.map(|stage| (stage, round))).collect();
    side_by_side(3, &passes, |(stage, round)| {
        let what = format!("{stage:?}");
        let all = of_requests().into_iter().flat_map(|mishap| times(*round).map(|times| (mishap.clone(), times)));
        let cases: Vec<(String, (Mishap, usize))> =
            all.enumerate().map(|(number, case)| (format!("m-{number:03}"), case)).collect();
        let names: Vec<String> = cases.iter().map(|(name, _)| name.clone()).collect();
        let ws = created(&names);
        let proxy = Proxy::new(&ws);
        if *stage == Stage::Get {
            proxy.inject(99, "GET", "configmaps? limit", status(403, "Forbidden"));
        }
        for (name, (mishap, times)) in &cases {
            let (method, pattern) = stage.request(name);
            if *stage == Stage::Again {
                proxy.inject(1, "PATCH", &format!("configmaps/{name}? !dryRun"), status(409, "Conflict"));
            }
            proxy.inject(*times, method, &pattern, mishap.fault.clone());
        }
        let (run, requests) = ws.requests_during(|| ws.through(&proxy.url()).reconcile(stage.arguments()));
        is_truthful(&what, &ws, &run, &names);
        assert_eq!(proxy.clear(), Vec::<String>::new(), "{what}: faults that did not happen: {run}");
        for (name, (mishap, times)) in &cases {
            let object = run.objects().iter().find(|object| object["name"] == name.as_str()).expect("an object");
            let is_known = object["error"].is_null();
            assert!(!mishap.is_passing || *times > 1 || is_known, "{what}: {} once: {object}", mishap.name);
            let asked =
                proxy.requests().iter().filter(|request| request.contains(&format!("configmaps/{name}"))).count();
            assert!(asked <= 30, "{what}: {} leads to {asked} requests", mishap.name);
        }
        let writes = requests.iter().filter(|request| request.is_write()).count() as u64;
        assert!(run.writes() >= writes, "{what}: {} writes are reported, of {writes}", run.writes());
        finishes(&what, &ws, &names);
    });
}

fn status(code: u16, reason: &str) -> Fault {
    let body = serde_json::json!({"kind": "Status", "status": "Failure", "reason": reason, "code": code, "message": "injected"});
    Fault::Answer(code, vec![("Content-Type", "application/json".to_owned())], body.to_string())
}

/// The requests that all objects share, and those of one of them, by method and pattern.
const REQUESTS: [(&str, &str); 5] = [
    ("GET", "/apis"),
    ("GET", "configmaps? limit"),
    ("PATCH", "dryRun force"),
    ("PATCH", "dryRun !force"),
    ("PATCH", "configmaps/ !dryRun"),
];

#[test]
fn a_run_whose_connection_breaks_is_finished_by_the_next() {
    let all = of_runs().into_iter().flat_map(|mishap| REQUESTS.map(|request| (mishap.clone(), request)));
    let cases: Vec<_> =
        all.enumerate().filter(|(index, _)| rounds() > 1 || index % 3 == 0).map(|(_, case)| case).collect();
    let names: Vec<String> = (0..9).map(|number| format!("m-{number}")).collect();
    side_by_side(4, &cases, |(mishap, (method, pattern))| {
        let what = format!("{method} {pattern}: {}", mishap.name);
        let ws = created(&names);
        let proxy = Proxy::new(&ws);
        proxy.inject(1, method, pattern, mishap.fault.clone());
        let run = ws.through(&proxy.url()).reconcile(["own", "-f", "all.yaml", "--request-timeout=10s"]);
        assert_eq!(proxy.clear(), Vec::<String>::new(), "{what}: it did not happen: {run}");
        is_truthful(&what, &ws, &run, &names);
        finishes(&what, &ws, &names);
    });
}

#[test]
fn a_run_that_is_killed_anywhere_is_finished_by_the_next() {
    let names: Vec<String> = (0..9).map(|number| format!("m-{number}")).collect();
    let points: Vec<Point> = (1..12)
        .map(|number| Point(number, "*", "/"))
        .chain((1..=9).map(|number| Point(number, "PATCH", "configmaps/ !dryRun")))
        .collect();
    side_by_side(4, &points, |point| {
        let what = format!("killed at {point:?}");
        let ws = created(&names);
        assert!(killed_at(*point, &ws, &["own", "-f", "all.yaml"]), "{what}: it ended before");
        let values = held(&ws);
        assert!(names.iter().all(|name| values.get(name).and_then(Option::as_deref) == Some("value")), "{what}");
        finishes(&what, &ws, &names);
    });
}

#[test]
fn two_runs_at_once_give_each_field_once() {
    let names: Vec<String> = (0..40).map(|number| format!("m-{number}")).collect();
    let ws = created(&names);
    let homes = ["one", "two"].map(|name| ws.home().join(name).display().to_string());
    let (runs, requests) = ws.requests_during(|| {
        let running: Vec<_> =
            homes.iter().map(|home| ws.env("HOME", home).start_reconcile(["own", "-f", "all.yaml"])).collect();
        running.into_iter().map(Running::finish).collect::<Vec<_>>()
    });
    for run in &runs {
        is_truthful("at once", &ws, run, &names);
        assert_eq!(run.code, 0, "{run}");
    }
    let done = requests.iter().filter(|request| request.is_write() && request.code < 300).count();
    assert_eq!(done, names.len(), "{runs:#?}");
    finishes("at once", &ws, &names);
}
