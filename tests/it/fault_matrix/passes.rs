//! Whole passes with pruning and replacement that a fault ends anywhere: the next pass finishes the work.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use super::catalog::of_runs;
use super::oracle::{Wanted, ended_well, held, is_truthful, wrote_once};
use super::{rounds, side_by_side};
use crate::control_plane::{Fault, Proxy, Request, Run, Running, Workspace};

/// How many points of a pass it is killed at.
const POINTS: usize = 50;

/// How many objects there are of each sort.
const EACH: usize = 9;

const ARGUMENTS: [&str; 7] =
    ["apply", "-f", ".", "--prune", "--applyset=set", "--replace=immutable", "--request-timeout=4s"];

/// Objects of a pass whose manifests change from version to version: most are updated, one kind is replaced, and some come and go.
struct Pass {
    ws: Workspace,
    version: usize,
}

impl Pass {
    fn new() -> Pass {
        let pass = Pass { ws: Workspace::new(), version: 0 };
        pass.write();
        pass.ws.reconcile(ARGUMENTS).exits_with(0);
        pass
    }

    /// The manifests of the next version.
    fn advance(&mut self) {
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

    fn wanted(&self) -> Wanted {
        let value = format!("v{}", self.version);
        let mut wanted = Wanted::new();
        for number in 0..EACH {
            wanted.insert(format!("plain-{number}"), Some(value.clone()));
            wanted.insert(format!("fixed-{number}"), Some(value.clone()));
            wanted.insert(format!("even-{number}"), self.version.is_multiple_of(2).then(|| value.clone()));
            wanted.insert(format!("odd-{number}"), (!self.version.is_multiple_of(2)).then(|| value.clone()));
        }
        wanted
    }

    /// The pass that comes after trouble does all that is left.
    #[track_caller]
    fn finishes(&self, what: &str) {
        let run = self.ws.reconcile(ARGUMENTS);
        assert_eq!(run.code, 0, "{what}: {run}");
        let mut held = held(&self.ws);
        held.remove("kube-root-ca.crt");
        let is_wanted: Wanted = self.wanted().into_iter().filter(|(_, value)| value.is_some()).collect();
        assert_eq!(held, is_wanted, "{what}: {run}");
    }

    /// And the one after it nothing.
    #[track_caller]
    fn is_settled(&self, what: &str) {
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
const REQUESTS: [(&str, &str); 8] = [
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

/// Runs a pass that is killed when its request of this number arrives, which still reaches the server. Says whether there was one.
fn killed_at(point: usize, pass: &Pass) -> bool {
    let proxy = Proxy::new(&pass.ws);
    let (tell, told) = mpsc::channel::<u32>();
    let told = Mutex::new(told);
    let kill = move || {
        let pid = told.lock().expect("one request").recv().expect("the process");
        let status = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()));
    };
    proxy.inject(point - 1, "*", "/", Fault::After(Arc::new(|| {})));
    proxy.inject(1, "*", "/", Fault::After(Arc::new(kill)));
    let running = pass.ws.through(&proxy.url()).start_reconcile(ARGUMENTS);
    tell.send(running.pid()).expect("a proxy");
    let run = running.finish();
    assert!(run.code == -9 || run.code == 0, "{run}");
    run.code == -9
}

#[test]
fn a_pass_that_is_killed_anywhere_is_finished_by_the_next() {
    let late: Vec<usize> = (POINTS / 2 + 1..=POINTS).collect();
    let groups: Vec<_> = late.chunks(late.len().div_ceil(4)).collect();
    let reached = AtomicUsize::new(0);
    side_by_side(4, &groups, |points| {
        let mut pass = Pass::new();
        for late in *points {
            pass.advance();
            // What the first one has left is killed as well.
            for point in [*late, late - POINTS / 2] {
                reached.fetch_add(usize::from(killed_at(point, &pass)), Ordering::Relaxed);
                if rounds() > 1 {
                    pass.finishes(&format!("killed at {point}"));
                    pass.advance();
                }
            }
            pass.finishes(&format!("killed at {late}, and before"));
        }
        pass.is_settled("killed often");
    });
    assert_eq!(reached.into_inner(), POINTS, "a pass has fewer requests than points");
}

#[test]
fn a_token_that_expires_is_renewed_anywhere() {
    let refusal =
        r#"{"kind": "Status", "status": "Failure", "reason": "Unauthorized", "code": 401, "message": "expired"}"#;
    let mut pass = Pass::new();
    let config: serde_json::Value = {
        let path = pass.ws.as_user("editor").kubeconfig();
        pass.ws.allow("editor", "*", "*.*");
        serde_json::from_str(&fs::read_to_string(path).expect("a kubeconfig")).expect("a kubeconfig")
    };
    let plugin = pass.ws.home().join("plugin");
    let script = "#!/bin/sh\necho run >>\"$HOME/runs\"\n\
        echo '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", \"status\": {\"token\": \"bearer-token-of-editor\"}}'\n";
    fs::write(&plugin, script).expect("a plugin");
    fs::set_permissions(&plugin, fs::Permissions::from_mode(0o755)).expect("a plugin");
    for (method, pattern) in REQUESTS {
        pass.advance();
        let proxy = Proxy::new(&pass.ws);
        let mut config = config.clone();
        config["clusters"][0]["cluster"]["server"] = proxy.url().into();
        config["users"][0]["user"] = serde_json::json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1",
            "command": plugin, "interactiveMode": "Never"}});
        let kubeconfig = pass.ws.home().join("plugin.kubeconfig");
        fs::write(&kubeconfig, config.to_string()).expect("a kubeconfig");
        let _ = fs::remove_file(pass.ws.home().join("runs"));
        proxy.inject(1, method, pattern, Fault::Answer(401, Vec::new(), refusal.to_owned()));
        let run = pass.ws.env("KUBECONFIG", &kubeconfig.display().to_string()).reconcile(ARGUMENTS).exits_with(0);
        assert_eq!(proxy.clear(), Vec::<String>::new(), "{method} {pattern}: {run}");
        assert_eq!(fs::read_to_string(pass.ws.home().join("runs")).unwrap_or_default(), "run\nrun\n", "{run}");
        is_truthful(pattern, &run, &pass.wanted(), &held(&pass.ws));
    }
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
