//! Two hundred contexts in one run: a script plays their servers, of which one is slow and one is dead.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::control_plane::Workspace;
use crate::control_plane::scripted::{Act, Seen};
use crate::odd_servers::{Odd, body, legacy, path};

const CONTEXTS: usize = 200;
/// The context whose server takes its time.
const SLOW: &str = "c007";
/// The context whose server does not exist.
const DEAD: &str = "c013";
/// The time that each answer of the slow one takes.
const DELAY: Duration = Duration::from_millis(300);
/// The most requests at once: those of the eight contexts that are worked on.
const MOST_AT_ONCE: usize = 64;

fn name(at: usize) -> String {
    format!("c{at:03}")
}

/// Each context has its own path below the address of the server, and one ConfigMap.
fn answered(seen: &Seen) -> Option<Act> {
    let (context, path) = path(seen).strip_prefix('/')?.split_once('/')?;
    let path = format!("/{}", path.split('?').next()?);
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"},
        "metadata": {"name": "it", "namespace": "shop", "uid": context, "resourceVersion": "7"}});
    let document = match path.as_str() {
        "/api/v1/namespaces/shop/configmaps/it" => map,
        "/api/v1/namespaces/shop/configmaps" => {
            json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {}, "items": [map]})
        }
        path => legacy(path, 0)?,
    };
    match body(&document) {
        Act::Answer(bytes) if context == SLOW => Some(Act::AnswerLater(DELAY, bytes)),
        act => Some(act),
    }
}

fn kubeconfig(url: &str) -> Value {
    let names = || (0..CONTEXTS).map(name);
    let server = |name: &str| if name == DEAD { "http://127.0.0.1:1".to_owned() } else { format!("{url}/{name}") };
    let clusters: Vec<Value> =
        names().map(|name| json!({"name": name, "cluster": {"server": server(&name)}})).collect();
    let context = |name: String| json!({"name": name, "context": {"cluster": name, "user": "u", "namespace": "shop"}});
    let contexts: Vec<Value> = names().map(context).collect();
    json!({"apiVersion": "v1", "kind": "Config", "clusters": clusters, "contexts": contexts,
        "users": [{"name": "u", "user": {}}]})
}

#[test]
fn one_that_is_slow_and_one_that_is_dead_hold_nobody_up() {
    let fleet = Odd::new(answered);
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: it}, data: {a: b}}");
    let file = ws.home().join("fleet.kubeconfig");
    fs::write(&file, kubeconfig(&fleet.url()).to_string()).unwrap();
    let begin = Instant::now();
    let flags = ["--context=c*", "--evidence=read-only"];
    let kubeconfig = format!("--kubeconfig={}", file.display());
    let run = ws.as_user("admin").reconcile([&["diff", "-f", "it.yaml", &kubeconfig], &flags[..]].concat());
    let run = run.exits_with(3);
    let took = begin.elapsed();
    let report = run.report();
    assert_eq!(report["contexts"].as_array().map(Vec::len), Some(CONTEXTS), "{run}");
    assert_eq!(report["summary"]["verdicts"], json!({"inSync": CONTEXTS - 1, "unreachable": 1}), "{run}");
    assert!(fleet.most_in_flight() <= MOST_AT_ONCE, "{} requests at once", fleet.most_in_flight());
    assert!(took < Duration::from_mins(1), "{took:?}");
}
