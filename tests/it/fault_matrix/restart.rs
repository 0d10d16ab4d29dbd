//! The API server itself is restarted while a pass is under way, as an upgrade or the kernel does it: the pass waits for it to
//! return, or says of each object what became of it, and the next pass finishes the work.

use std::thread;
use std::time::{Duration, Instant};

use super::oracle::{Wanted, ended_well, held, is_truthful, wrote_once};
use super::passes::Pass;
use crate::control_plane::{ControlPlane, Workspace};

/// With the time that requests have unless somebody says otherwise: a restart takes a few seconds.
const ARGUMENTS: [&str; 6] = ["apply", "-f", ".", "--prune", "--applyset=set", "--replace=immutable"];

/// Enough objects of each sort that a pass is still under way when it is noticed.
const EACH: usize = 60;

/// Waits until a pass has come to a certain point.
#[track_caller]
fn wait_for(ws: &Workspace, has_come: impl Fn(&Wanted) -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !has_come(&held(ws)) {
        assert!(Instant::now() < deadline, "the pass does not come to where the server is restarted");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_pass_during_which_the_server_is_restarted_loses_and_doubles_nothing() {
    let mut pass = Pass::of(Workspace::on(&ControlPlane::private()), EACH);
    let is_new = |version: &str, held: &Wanted, sort: &str| {
        held.iter().any(|(name, value)| name.starts_with(sort) && value.as_deref() == Some(version))
    };
    let is_pruned = |held: &Wanted, sort: &str| held.keys().filter(|name| name.starts_with(sort)).count() < EACH;
    // An orderly end, as in an upgrade; a crash in the middle of the writes; and one in the middle of pruning.
    for (signal, version, point) in [("TERM", "v1", "plain"), ("KILL", "v2", "fixed"), ("KILL", "v3", "pruning")] {
        let what = format!("{signal} at {point}");
        pass.advance();
        let (run, requests) = pass.ws.requests_during(|| {
            let running = pass.ws.as_user("admin").start_reconcile(ARGUMENTS);
            wait_for(&pass.ws, |held| match point {
                "pruning" => is_pruned(held, "even"),
                sort => is_new(version, held, sort),
            });
            pass.ws.plane().restart_server(signal);
            running.finish()
        });
        ended_well(&what, &run);
        is_truthful(&what, &run, &pass.wanted(), &held(&pass.ws));
        wrote_once(&what, &run, &requests);
        pass.finishes(&what);
        pass.is_settled(&what);
    }
}
