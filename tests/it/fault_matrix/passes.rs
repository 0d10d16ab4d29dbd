//! Whole passes with pruning and replacement that a fault ends anywhere: the next pass finishes the work.

use std::fmt::Write;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use super::catalog::of_runs;
use super::oracle::{Wanted, ended_well, held, is_truthful, wrote_once};
use super::{rounds, side_by_side};
use crate::control_plane::{Fault, Proxy, Request, Run, Running, Workspace};

/// How many points of a pass it is killed at.
const POINTS: usize = 50;

/// How many objects of each sort most passes have.
const EACH: usize = 9;

pub const ARGUMENTS: [&str; 7] =
    ["apply", "-f", ".", "--prune", "--applyset=set", "--replace=immutable", "--request-timeout=10s"];

/// Objects of a pass whose manifests change from version to version: most are updated, one kind is replaced, and some come and go.
pub struct Pass {
    pub ws: Workspace,
    version: usize,
    /// How many objects there are of each sort.
    each: usize,
}

impl Pass {
    pub fn new() -> Pass {
        Pass::of(Workspace::new(), EACH)
    }

    /// A pass of this size, whose first version is applied.
    pub fn of(ws: Workspace, each: usize) -> Pass {
        let pass = Pass { ws, version: 0, each };
        pass.write();
        pass.ws.reconcile(ARGUMENTS).exits_with(0);
        pass
    }

    /// The manifests of the next version.
    pub fn advance(&mut self) {
        self.version += 1;
        self.write();
    }

    fn write(&self) {
        let mut text = String::new();
        for (name, value) in self.wanted() {
            let Some(value) = value else { continue };
            let is_fixed = name.starts_with("fixed");
            let _ = write!(
                text,
                "---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, immutable: {is_fixed}, data: {{v: {value}}}}}\n"
            );
        }
        self.ws.write("all.yaml", &text);
    }

    pub fn wanted(&self) -> Wanted {
        let value = format!("v{}", self.version);
        let mut wanted = Wanted::new();
        for number in 0..self.each {
            wanted.insert(format!("plain-{number}"), Some(value.clone()));
            wanted.insert(format!("fixed-{number}"), Some(value.clone()));
            wanted.insert(format!("even-{number}"), self.version.is_multiple_of(2).then(|| value.clone()));
            wanted.insert(format!("odd-{number}"), (!self.version.is_multiple_of(2)).then(|| value.clone()));
        }
        wanted
    }

    /// The pass that comes after trouble does all that is left.
    #[track_caller]
    pub fn finishes(&self, what: &str) {
        let run = self.ws.reconcile(ARGUMENTS);
        assert_eq!(run.code, 0, "{what}: {run}");
        let mut held = held(&self.ws);
        held.remove("kube-root-ca.crt");
        let is_wanted: Wanted = self.wanted().into_iter().filter(|(_, value)| value.is_some()).collect();
        assert_eq!(held, is_wanted, "{what}: {run}");
    }

    /// And the one after it nothing.
    #[track_caller]
    pub fn is_settled(&self, what: &str) {
        let (run, requests) = self.ws.requests_during(|| self.ws.reconcile(ARGUMENTS).exits_with(0));
        assert_eq!(run.writes(), 0, "{what}: {run}");
        assert!(!requests.iter().any(Request::is_write), "{what}: {requests:#?}");
    }

    /// A pass through a proxy, checked as any run is.
    fn is_tried(&self, what: &str, proxy: &Proxy) -> Run {
        let (run, requests) = self.ws.requests_during(|| self.ws.through(&proxy.url()).reconcile(ARGUMENTS));
        ended_well(what, &run);
        is_truthful(what, &run, &self.wanted(), &held(&self.ws));
        wrote_once(what, &run, &requests);
        run
    }
}

/// Requests of a pass, in about the order in which they come.
pub const REQUESTS: [(&str, &str); 8] = [
    ("GET", "/apis"),
    ("GET", "secrets/set"),
    ("GET", "configmaps? limit"),
    ("PATCH", "dryRun"),
    ("PATCH", "configmaps/ !dryRun"),
    ("DELETE", "configmaps/fixed"),
    ("POST", "configmaps !dryRun"),
    ("DELETE", "configmaps/ !fixed"),
];

#[test]
fn a_pass_whose_connection_breaks_is_finished_by_the_next() {
    let all = of_runs().into_iter().flat_map(|mishap| REQUESTS.map(|request| (mishap.clone(), request)));
    // Each fault at two of the requests, in turn, or at all of them.
    let is_in_turn = |index: usize| (index % REQUESTS.len() + index / REQUESTS.len()).is_multiple_of(4);
    let cases = all.enumerate().filter(|(index, _)| rounds() > 1 || is_in_turn(*index)).map(|(_, case)| case);
    let cases: Vec<_> = cases.collect();
    let groups: Vec<_> = cases.chunks(cases.len().div_ceil(6)).collect();
    side_by_side(6, &groups, |cases| {
        let mut pass = Pass::new();
        for (mishap, (method, pattern)) in *cases {
            let what = format!("{method} {pattern}: {}", mishap.name);
            pass.advance();
            let proxy = Proxy::new(&pass.ws);
            proxy.inject(1, method, pattern, mishap.fault.clone());
            let run = pass.is_tried(&what, &proxy);
            assert_eq!(proxy.clear(), Vec::<String>::new(), "{what}: it did not happen: {run}");
            // Who was never connected does not wait for a server to return.
            if *pattern != "/apis" && (mishap.name == "a short outage" || mishap.name.starts_with("one ")) {
                assert_eq!(run.code, 0, "{what}: {run}");
            }
            pass.finishes(&what);
        }
        pass.is_settled("at the end");
    });
}

/// Where a pass is killed: when its request of this number arrives, counted from 1, of those of a method with a pattern.
#[derive(Clone, Copy, Debug)]
pub struct Point(pub usize, pub &'static str, pub &'static str);

/// Runs a pass that is killed when a request arrives, which still reaches the server. Returns whether there was one.
pub fn killed_at(Point(number, method, pattern): Point, ws: &Workspace, arguments: &[&str]) -> bool {
    let proxy = Proxy::new(ws);
    let (sender, receiver) = mpsc::channel::<u32>();
    let receiver = Mutex::new(receiver);
    let kill = move || {
        let pid = receiver.lock().expect("one request").recv().expect("the process");
        let status = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()));
    };
    proxy.inject(number - 1, method, pattern, Fault::After(Arc::new(|| {})));
    proxy.inject(1, method, pattern, Fault::After(Arc::new(kill)));
    let running = ws.through(&proxy.url()).start_reconcile(arguments);
    sender.send(running.pid()).expect("a proxy");
    let run = running.finish();
    assert!(run.code == -9 || run.code == 0, "{run}");
    run.code == -9
}

/// The writes of a pass, in their order: each sort of objects has `EACH`.
const WRITES: [(&str, &str); 5] = [
    ("PATCH", "configmaps/plain !dryRun"),
    ("DELETE", "configmaps/fixed"),
    ("POST", "configmaps !dryRun"),
    // The replacement becomes one that was applied.
    ("PATCH", "configmaps/fixed !dryRun"),
    // What is pruned.
    ("DELETE", "configmaps/ !fixed"),
];

#[test]
fn a_pass_that_is_killed_anywhere_is_finished_by_the_next() {
    // Half of the points are the first requests of a pass, whatever they are, and half are spread over its writes.
    let spread = WRITES.iter().flat_map(|(method, pattern)| [1, 3, 5, 7, EACH].map(|at| Point(at, method, pattern)));
    let pairs: Vec<[Point; 2]> = spread.zip(1..).map(|(late, number)| [late, Point(number, "*", "/")]).collect();
    let groups: Vec<_> = pairs.chunks(pairs.len().div_ceil(4)).collect();
    let reached = AtomicUsize::new(0);
    side_by_side(4, &groups, |pairs| {
        let mut pass = Pass::new();
        for points in *pairs {
            // The second one meets what the first one has left, and has the next version on top of it.
            for point in points {
                pass.advance();
                assert!(killed_at(*point, &pass.ws, &ARGUMENTS), "a pass ends before {point:?}");
                reached.fetch_add(1, Ordering::Relaxed);
                if rounds() > 1 {
                    pass.finishes(&format!("killed at {point:?}"));
                }
            }
            pass.finishes(&format!("killed at {points:?}"));
        }
        pass.is_settled("killed often");
    });
    assert_eq!(reached.into_inner(), POINTS);
}

#[test]
fn two_machines_do_the_work_once() {
    let mut pass = Pass::new();
    for round in 0..4 * rounds() {
        pass.advance();
        let homes = ["one", "two"].map(|name| pass.ws.home().join(name).display().to_string());
        let (runs, requests) = pass.ws.requests_during(|| {
            let running: Vec<_> =
                homes.iter().map(|home| pass.ws.env("HOME", home).start_reconcile(ARGUMENTS)).collect();
            running.into_iter().map(Running::finish).collect::<Vec<_>>()
        });
        let what = format!("round {round}");
        for run in &runs {
            ended_well(&what, run);
        }
        let done = |verb: &str, part: &str| {
            let is_it = |request: &&Request| {
                request.verb == verb && request.uri.contains(part) && !request.is_dry_run() && request.code < 300
            };
            requests.iter().filter(is_it).count()
        };
        assert_eq!(done("delete", "configmaps/fixed"), EACH, "{what}: {runs:#?}");
        // A pass that lost a conflict prunes nothing, and both may lose one: then the next pass prunes.
        let deleted = done("delete", "configmaps/");
        let is_pruned = deleted == 2 * EACH;
        assert!(is_pruned || deleted == EACH && runs.iter().all(|run| run.code != 0), "{what}: {runs:#?}");
        pass.finishes(&what);
    }
    pass.is_settled("at the end");
}

#[test]
fn a_pass_whose_answers_are_lost_writes_nothing_twice() {
    let mut pass = Pass::new();
    // The apply behind the change of the record has no lock on a version.
    for (method, pattern) in WRITES.into_iter().chain([("PATCH", "configmaps/fixed force=false !dryRun")]) {
        pass.advance();
        let proxy = Proxy::new(&pass.ws);
        proxy.inject(3, method, pattern, Fault::AnswerLost);
        let run = pass.is_tried(pattern, &proxy);
        assert_eq!(proxy.clear(), Vec::<String>::new(), "{pattern}: it did not happen: {run}");
        assert_eq!(run.code, 0, "{pattern}: {run}");
        pass.is_settled(pattern);
    }
}
