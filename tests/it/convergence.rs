//! Whatever stops a run half-way, the next one gets to the end, with nothing lost and nothing doubled.

use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::control_plane::{Fault, Proxy, Replaced, Run, Workspace};

const FLAGS: [&str; 6] = ["-f", ".", "--prune", "--applyset=set", "--replace=immutable", "-q"];

fn apply(ws: &Workspace) -> Run {
    ws.reconcile([&["apply"], &FLAGS[..]].concat())
}

fn config_map(name: &str, value: &str) -> String {
    format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{value: '{value}'}}}}\n---\n")
}

/// The ConfigMaps of the workspace, as `name=value`.
fn config_maps(ws: &Workspace) -> Vec<String> {
    let list = ws.kubectl(["get", "configmaps", "-o", "json"]).exits_with(0);
    let list: Value = serde_json::from_str(&list.stdout).unwrap();
    let items = list["items"].as_array().unwrap().iter().filter(|item| item["metadata"]["name"] != "kube-root-ca.crt");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    items.map(|item| format!("{}={}", text(&item["metadata"]["name"]), text(&item["data"]["value"]))).collect()
}

#[track_caller]
fn is_settled(ws: &Workspace) {
    ws.reconcile([&["diff"], &FLAGS[..]].concat()).exits_with(0);
    assert_eq!(apply(ws).exits_with(0).writes(), 0);
}

/// Generation 0 has the objects 0 to 199, the next one 10 to 209 with other values, and so on.
fn generation(number: usize) -> (String, Vec<String>) {
    let names: Vec<String> = (number * 10..number * 10 + 200).map(|index| format!("m-{index:04}")).collect();
    let manifests = names.iter().map(|name| config_map(name, &number.to_string())).collect();
    (manifests, names.iter().map(|name| format!("{name}={number}")).collect())
}

#[test]
fn a_run_that_is_killed_at_any_moment_is_completed_by_the_next() {
    let ws = Workspace::new();
    ws.write("all.yaml", &generation(0).0);
    apply(&ws).exits_with(0);
    ws.write("all.yaml", &generation(1).0);
    let started = Instant::now();
    apply(&ws).exits_with(0);
    let whole = started.elapsed();
    // Moments that differ from run to run of this test, too.
    let mut random = u64::from(std::process::id());
    for number in 2..22 {
        let (manifests, wanted) = generation(number);
        ws.write("all.yaml", &manifests);
        let mut running = ws.as_user("admin").start_reconcile([&["apply"], &FLAGS[..]].concat());
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = whole.mul_f64(f64::from(u32::try_from(random >> 40).unwrap()) / f64::from(1 << 24));
        thread::sleep(moment);
        running.kill();
        let _ = running.finish();
        apply(&ws).exits_with(0);
        assert_eq!(config_maps(&ws), wanted, "killed after {moment:?} of {whole:?}");
    }
    is_settled(&ws);
}

const JOB: &str = "{apiVersion: batch/v1, kind: Job, metadata: {name: replaced}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: 'a:1'}]}}}}";

fn refusal(code: u16) -> Fault {
    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "", "code": code, "message": "not now"});
    let headers = vec![("Content-Type", "application/json".to_owned()), ("Retry-After", "0".to_owned())];
    Fault::Answer(code, headers, body.to_string())
}

/// What a run says of an object, against what is there.
fn is_true(ws: &Workspace, object: &Value) -> bool {
    let name = object["name"].as_str().unwrap();
    let kind = object["kind"].as_str().unwrap();
    let live = ws.find(kind, name);
    match (object["outcome"].as_str(), name) {
        (Some("deleted"), _) => live.is_none(),
        (Some("created" | "updated"), _) => live.is_some_and(|live| live["data"]["value"] == "2"),
        (Some("replaced"), _) => {
            live.is_some_and(|live| live.pointer("/spec/template/spec/containers/0/image") == Some(&json!("a:2")))
        }
        (Some("unchanged"), _) => live.is_some(),
        _ => true,
    }
}

#[test]
fn at_every_point_where_something_fails_the_run_says_what_is_true_and_the_next_one_converges() {
    let points = [
        ("GET", "configmaps"),
        ("GET", "secrets/set"),
        ("PATCH", "secrets/set"),
        ("PATCH", "configmaps/updated dryRun"),
        ("PATCH", "configmaps/updated !dryRun"),
        ("PATCH", "configmaps/created !dryRun"),
        ("POST", "jobs dryRun"),
        ("DELETE", "jobs/replaced"),
        ("PATCH", "jobs/replaced !dryRun"),
        ("DELETE", "configmaps/pruned"),
    ];
    let faults = [
        (1, Fault::Refused),
        (1, Fault::AnswerLost),
        (1, Fault::AnswerCut),
        (1, refusal(429)),
        (1, refusal(503)),
        (1, refusal(500)),
        (20, refusal(500)),
        (20, Fault::AnswerLost),
    ];
    for (method, pattern) in points {
        for (index, (times, fault)) in faults.iter().enumerate() {
            let case = format!("{method} {pattern}, fault {index}");
            let ws = Workspace::new();
            ws.write("all.yaml", &[config_map("updated", "1"), config_map("pruned", "1"), JOB.to_owned()].concat());
            apply(&ws).exits_with(0);
            let after = [config_map("updated", "2"), config_map("created", "2"), JOB.replaced("a:1", "a:2")];
            ws.write("all.yaml", &after.concat());
            let proxy = Proxy::new(&ws);
            proxy.inject(*times, method, pattern, fault.clone());
            let run = ws.through(&proxy.url()).reconcile([&["apply"], &FLAGS[..]].concat());
            assert!([0, 3, 4].contains(&run.code), "{case}: {run}");
            for object in run.report()["objects"].as_array().unwrap() {
                assert!(is_true(&ws, object), "{case}: {object} of {run}");
            }
            let second = apply(&ws);
            assert_eq!(second.code, 0, "{case}: {:#} after {:#}", second.report(), run.report());
            assert_eq!(config_maps(&ws), ["created=2", "updated=2"], "{case}");
            assert_eq!(apply(&ws).exits_with(0).writes(), 0, "{case}");
        }
    }
}
