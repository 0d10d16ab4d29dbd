//! Servers that answer late, in pieces, or as older ones do.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::control_plane::Workspace;
use crate::control_plane::scripted::{Act, Seen, Server, answer};

/// A server that a script plays, as long as it is held.
pub(crate) struct Odd {
    server: Server,
    _runtime: Runtime,
}

impl Odd {
    pub(crate) fn new(script: impl Fn(&Seen) -> Option<Act> + Send + Sync + 'static) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let whole = move |_: usize, seen: &Seen| script(seen).unwrap_or_else(absent);
        Self { server: runtime.block_on(Server::start(whole)), _runtime: runtime }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// The largest number of requests that waited for an answer at the same time.
    pub(crate) fn most_in_flight(&self) -> usize {
        self.server.most_in_flight()
    }

    /// The paths and queries that were asked for and have this in them.
    pub(crate) fn asked(&self, part: &str) -> Vec<String> {
        let lines = self.server.lines().into_iter().filter(|line| line.contains(part));
        lines.map(|line| line.split(' ').nth(1).unwrap_or_default().to_owned()).collect()
    }
}

fn absent() -> Act {
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404});
    answer("404 Not Found", &["content-type: application/json"], &status.to_string())
}

pub(crate) fn body(value: &Value) -> Act {
    answer("200 OK", &["content-type: application/json"], &value.to_string())
}

pub(crate) fn path(seen: &Seen) -> &str {
    seen.line.split(' ').nth(1).unwrap_or_default()
}

/// Discovery as servers before 1.26 have it, with these groups and one resource in each.
pub(crate) fn legacy(path: &str, groups: usize) -> Option<Value> {
    match path {
        "/api" => Some(json!({"kind": "APIVersions", "versions": ["v1"]})),
        "/apis" => {
            let versions = (0..groups).map(|number| json!({"groupVersion": format!("g{number}.example.com/v1")}));
            let groups: Vec<Value> = versions.map(|version| json!({"versions": [version]})).collect();
            Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
        }
        "/api/v1" => Some(resources("configmaps", "ConfigMap")),
        path if path.starts_with("/apis/g") && path.ends_with("/v1") => Some(resources("things", "Thing")),
        _ => None,
    }
}

fn resources(name: &str, kind: &str) -> Value {
    let resource = json!({"name": name, "kind": kind, "namespaced": true, "verbs": ["get", "list", "patch"]});
    json!({"kind": "APIResourceList", "apiVersion": "v1", "resources": [resource]})
}

#[test]
fn legacy_discovery_asks_for_sixteen_groups_at_once() {
    const GROUPS: usize = 60;
    let odd = Odd::new(|seen| {
        let Act::Answer(bytes) = body(&legacy(path(seen), GROUPS)?) else { return None };
        // Whatever is sent beyond what is awaited has some time to arrive.
        let is_group = path(seen).starts_with("/apis/g");
        Some(if is_group { Act::AnswerAmong(16, Duration::from_millis(50), bytes) } else { Act::Answer(bytes) })
    });
    let ws = Workspace::new();
    ws.write("it.yaml", "{apiVersion: g59.example.com/v1, kind: Thing, metadata: {name: it}}");
    let diff = ws.through(&odd.url()).reconcile(["diff", "-f", ".", "--evidence=read-only"]).exits_with(1);
    assert_eq!(diff.each("action"), ["Thing it: create"]);
    let asked = odd.asked("/apis/g").into_iter().filter(|path| path.ends_with("/v1")).count();
    assert_eq!((asked, odd.server.most_in_flight()), (GROUPS, 16));
}

/// A server whose collections cannot be listed, so that each object is read by itself.
fn read_one_by_one(read: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> (Odd, Workspace) {
    let odd = Odd::new(move |seen| match path(seen) {
        path if path.contains("/configmaps/") => Some(read(seen)),
        path if path.contains("/configmaps") => {
            let status = json!({"kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403});
            Some(answer("403 Forbidden", &["content-type: application/json"], &status.to_string()))
        }
        path => legacy(path, 1).as_ref().map(body),
    });
    let ws = Workspace::new();
    let one = |at: usize| format!("---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: it-{at}}}}}\n");
    ws.write("all.yaml", &(0..600).map(one).collect::<String>());
    (odd, ws)
}

fn late(wait: Duration, act: Act) -> Act {
    match act {
        Act::Answer(bytes) => Act::AnswerLater(wait, bytes),
        other => other,
    }
}

#[test]
fn more_requests_are_under_way_while_a_far_server_answers_them_as_quickly() {
    // So long that the machine adds little to it.
    let (odd, ws) = read_one_by_one(|_| late(Duration::from_millis(400), absent()));
    let diff = ws.through(&odd.url()).reconcile(["diff", "-f", ".", "--evidence=read-only"]).exits_with(1);
    assert_eq!(diff.report()["summary"]["create"], 600, "{diff}");
    let most = odd.server.most_in_flight();
    assert!(most > 20 && most <= 64, "{most}");
}

/// Each request would be refused again and again if as many were sent as before.
#[test]
fn fewer_requests_are_under_way_when_a_server_says_that_they_are_too_many() {
    let (odd, ws) = read_one_by_one(|seen| {
        if seen.in_flight > 6 {
            let status = json!({"kind": "Status", "status": "Failure", "reason": "TooManyRequests", "code": 429});
            let headers = ["content-type: application/json", "retry-after: 0"];
            return answer("429 Too Many Requests", &headers, &status.to_string());
        }
        late(Duration::from_millis(40), absent())
    });
    let diff = ws.through(&odd.url()).reconcile(["diff", "-f", ".", "--evidence=read-only"]);
    // On a slow machine, one may have the bad luck to be refused each time that it is asked for.
    let created = diff.report()["summary"]["create"].as_u64();
    assert!(created.is_some_and(|created| created >= 595), "{diff}");
    let reads = odd.asked("/configmaps/").len();
    // Without a smaller number under way, each object is asked for several times.
    assert!(reads < 2 * 600, "{reads} requests for 600 objects");
}

/// An answer whose body has no end that is known.
const BEGUN: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";

/// A server with 120 ConfigMaps that answers pages of 500 as the test says.
fn large(large_page: fn() -> Act) -> Odd {
    const OBJECTS: usize = 120;
    Odd::new(move |seen| {
        if let Some(document) = legacy(path(seen), 0) {
            return Some(body(&document));
        }
        let (collection, query) = path(seen).split_once('?')?;
        if !collection.ends_with("/configmaps") {
            return None;
        }
        let namespace = collection.split('/').nth(4)?;
        let parameter =
            |name: &str| query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name);
        let number = |name: &str| parameter(name).and_then(|(_, value)| value.parse::<usize>().ok());
        let limit = number("limit")?;
        if limit == 500 {
            return Some(large_page());
        }
        let start = number("continue").unwrap_or(0);
        let end = number("continue").unwrap_or(0) + limit;
        let item = |number: usize| json!({"data": {"a": "b"}, "metadata": {"name": format!("m-{number}"), "namespace": namespace, "uid": number.to_string(), "resourceVersion": "7"}});
        let token = if end < OBJECTS { end.to_string() } else { String::new() };
        let items: Vec<Value> = (start..end.min(OBJECTS)).map(item).collect();
        Some(body(
            &json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"continue": token}, "items": items}),
        ))
    })
}

#[test]
fn pages_that_are_too_large_or_too_slow_are_asked_for_in_smaller_ones() {
    let ws = Workspace::new();
    for number in [0, 30, 60, 90, 119, 200] {
        let manifest = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number}}}, data: {{a: b}}}}");
        ws.write(format!("m-{number:03}.yaml"), &manifest);
    }
    let pages: [fn() -> Act; 3] = [
        || Act::Flood(BEGUN.to_vec()),
        || Act::Trickle(BEGUN.to_vec()),
        || {
            answer(
                "504 Gateway Timeout",
                &["content-type: application/json"],
                r#"{"kind":"Status","code":504,"reason":"Timeout"}"#,
            )
        },
    ];
    for (number, page) in pages.into_iter().enumerate() {
        let odd = large(page);
        let flags = ["diff", "-f", ".", "--evidence=read-only", "--request-timeout=4s"];
        let diff = ws.through(&odd.url()).reconcile(flags).exits_with(1);
        let missing: Vec<String> =
            diff.each("action").into_iter().filter(|action| !action.ends_with(": none")).collect();
        assert_eq!(missing, ["ConfigMap m-200: create"], "{number}: {diff}");
        let mut limits: Vec<String> = odd
            .asked("/configmaps?")
            .iter()
            .map(|path| path.rsplit("limit=").next().unwrap_or_default().to_owned())
            .collect();
        limits.retain(|limit| !limit.starts_with("500"));
        assert_eq!(limits.len(), 3, "{number}: {limits:?}");
        assert!(limits.iter().all(|limit| limit.starts_with("50")), "{number}: {limits:?}");
    }
}

#[test]
fn a_server_that_is_silent_is_asked_once() {
    let odd = large(|| Act::Silence);
    let ws = Workspace::new();
    for number in 0..6 {
        ws.write(
            format!("m-{number}.yaml"),
            &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m-{number}}}}}"),
        );
    }
    let started = Instant::now();
    let diff = ws.through(&odd.url()).reconcile(["diff", "-f", ".", "--request-timeout=5s"]).exits_with(4);
    assert!(started.elapsed() < Duration::from_mins(2), "{diff}");
    assert_eq!(odd.asked("/configmaps?").len(), 1, "a smaller page would not be answered either");
}
