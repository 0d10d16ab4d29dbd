//! Requests that many objects share: discovery, OpenAPI documents, lists and watches. Each run has one fault.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::catalog::{Mishap, of_requests, of_runs};
use super::oracle::{Wanted, ended_well, is_truthful};
use super::{rounds, side_by_side, times};
use crate::control_plane::{Proxy, Run, Workspace};

/// A request of every run, by method and pattern, and whether a run succeeds that it fails for once in passing.
type Shared = (&'static str, &'static str);

/// What a run goes through.
struct Case {
    shared: Shared,
    mishap: Mishap,
    times: usize,
}

impl Case {
    /// Returns true if a run has to succeed.
    fn is_soon_over(&self) -> bool {
        self.mishap.is_passing && self.times == 1
    }

    /// How long requests and waits may take: what lasts uses up the time, and a busy machine may need more for what comes before it.
    fn timeouts(&self) -> &'static [[&'static str; 2]] {
        const LONG: [&str; 2] = ["--request-timeout=60s", "--timeout=120s"];
        if self.is_soon_over() { &[LONG] } else { &[["--request-timeout=10s", "--timeout=15s"], LONG] }
    }

    fn name(&self) -> String {
        format!("{} {}: {} ({})", self.shared.0, self.shared.1, self.mishap.name, self.times)
    }
}

/// Each fault with one of the requests, in turn, or with all of them where there is time for more than one round.
fn cases(shared: &[Shared]) -> Vec<Case> {
    let mut cases = Vec::new();
    for round in 0..rounds() {
        for (index, mishap) in of_requests().into_iter().chain(of_runs()).enumerate() {
            let all = times(round);
            let case = |shared: &Shared, times: usize| Case { shared: *shared, mishap: mishap.clone(), times };
            if rounds() == 1 {
                cases.push(case(&shared[index % shared.len()], all[index / shared.len() % 2]));
            } else {
                cases.extend(shared.iter().flat_map(|shared| all.map(|times| case(shared, times))));
            }
        }
    }
    cases
}

/// How many runs had a cache of their own.
static CACHES: AtomicUsize = AtomicUsize::new(0);

/// Runs the program with one fault, and checks what holds of any run.
fn run(ws: &Workspace, case: &Case, arguments: &[&str]) -> Run {
    let of = |[request_timeout, _]: &[&str; 2]| run_during(ws, case, &[arguments, &[request_timeout]].concat(), || {});
    case.timeouts().iter().find_map(of).unwrap_or_else(|| panic!("{}: it did not happen", case.name()))
}

/// The same while something else happens after the fault; `None` if the run ended before the fault.
fn run_during(ws: &Workspace, case: &Case, arguments: &[&str], event: impl FnOnce()) -> Option<Run> {
    let proxy = Proxy::new(ws);
    proxy.inject(case.times, case.shared.0, case.shared.1, case.mishap.fault.clone());
    let cache = ws.home().join(format!("cache-{}", CACHES.fetch_add(1, Ordering::Relaxed)));
    let cache = format!("--cache-dir={}", cache.display());
    let arguments = arguments.iter().copied().chain([cache.as_str()]);
    let run = thread::scope(|scope| {
        let running = scope.spawn(|| ws.through(&proxy.url()).reconcile(arguments));
        while proxy.hits() == 0 && !running.is_finished() {
            thread::sleep(Duration::from_millis(20));
        }
        if proxy.hits() > 0 {
            thread::sleep(Duration::from_millis(200));
            event();
        }
        running.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    ended_well(&case.name(), &run);
    if !proxy.clear().is_empty() {
        return None;
    }
    assert!(!case.is_soon_over() || run.code < 3, "{}: once: {run}", case.name());
    assert!(proxy.requests().len() < 100, "{}: {} requests: {run}", case.name(), proxy.requests().len());
    Some(run)
}

#[test]
fn a_comparison_knows_what_it_could_not_read() {
    let ws = Workspace::new();
    let manifest = |name: &str, value: &str| {
        ws.write(
            format!("{name}.yaml"),
            &format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {{v: {value}}}}}"),
        );
    };
    let mut wanted = Wanted::new();
    for number in 0..7 {
        manifest(&format!("m-{number}"), "old");
    }
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    for number in 0..7 {
        let value = if number % 3 == 0 { "new" } else { "old" };
        manifest(&format!("m-{number}"), value);
        wanted.insert(format!("m-{number}"), Some(value.to_owned()));
    }
    ws.delete("configmap/m-6");
    let held = super::oracle::held(&ws);
    let shared = [("GET", "/apis"), ("GET", "/api !apis !v1"), ("GET", "configmaps? limit")];
    side_by_side(6, &cases(&shared), |case| {
        let diff = run(&ws, case, &["diff", "-f", "."]);
        assert_ne!(diff.code, 0, "{}: there is drift: {diff}", case.name());
        is_truthful(&case.name(), &diff, &wanted, &held);
    });
}

const GAUGE: &str = "
properties:
  ports:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
    items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer}}}
";

#[test]
fn without_types_the_server_is_asked() {
    let ws = Workspace::new();
    ws.define("Gauge", GAUGE);
    let gauge = |name: &str, size: u8| {
        let text = format!(
            "{{apiVersion: $NS.example.com/v1, kind: Gauge, metadata: {{name: {name}}}, spec: {{ports: [{{name: a, size: {size}}}, {{name: b, size: 2}}]}}}}"
        );
        ws.write(format!("{name}.yaml"), &text);
    };
    gauge("same", 1);
    gauge("other", 1);
    ws.reconcile(["apply", "-f", "."]).exits_with(0);
    gauge("other", 7);
    let shared = [("GET", "/openapi/v3 !apis"), ("GET", "/openapi/v3/apis")];
    side_by_side(6, &cases(&shared), |case| {
        let diff = run(&ws, case, &["diff", "-f", "."]);
        // What the types are for can be asked of the server; who is not connected any more cannot ask.
        if diff.code == 3 || diff.code == 4 {
            assert!(!diff.each("action").contains(&"Gauge other: none".to_owned()), "{}: {diff}", case.name());
            return;
        }
        assert_eq!(diff.each("action"), ["Gauge other: update", "Gauge same: none"], "{}: {diff}", case.name());
        assert_eq!(diff.code, 1, "{}: {diff}", case.name());
    });
}

#[test]
fn what_is_waited_for_is_ready_when_it_is_said_to_be() {
    let shared = [("GET", "persistentvolumeclaims watch="), ("GET", "persistentvolumeclaims limit=")];
    let storage = json!({"storage": "1Gi"});
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": storage}});
    let claim =
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec});
    side_by_side(8, &cases(&shared), |case| {
        let ws = Workspace::new();
        ws.write("claim.yaml", &claim.to_string());
        let claims = format!("/api/v1/namespaces/{}/persistentvolumeclaims", ws.namespace());
        ws.plane().api().create(&claims, &claim);
        let bind = || {
            let bound = json!([{"op": "add", "path": "/status/phase", "value": "Bound"}]);
            ws.plane().api().json_patch(&format!("{claims}/data/status"), &bound).expect("a claim");
        };
        let status = case.timeouts().iter().find_map(|timeouts| {
            run_during(&ws, case, &[&["status", "-f", ".", "--wait"][..], timeouts].concat(), bind)
        });
        let status = status.unwrap_or_else(|| panic!("{}: it did not happen", case.name()));
        // By now it is bound.
        let state = status.report()["objects"][0]["readiness"]["state"].as_str().unwrap_or_default();
        match status.code {
            0 => assert_eq!(state, "current", "{}: {status}", case.name()),
            code => assert!(code >= 3 && state != "current", "{}: {status}", case.name()),
        }
        assert!(!case.is_soon_over() || status.code == 0, "{}: {status}", case.name());
    });
}
