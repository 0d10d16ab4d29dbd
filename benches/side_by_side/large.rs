//! The largest input: 100,000 objects of four kinds in 200 namespaces, and the shards of a run over them.

use std::fmt::Write as _;
use std::rc::Rc;

use serde_json::{Value, json};
use test_control_plane::Workspace;

use super::bare;
use super::contest::{Contest, Entrant};
use super::objects::{self, of_kind};
use super::scenarios::{Way, entrants, floor, kubectl, ours, prepare, server};
use super::selection::{LARGE, Selection};
use super::table::thousands;
use super::{OURS, spread};

const NAMESPACES: usize = 200;
/// As many of each.
const KINDS: [&str; 4] = ["ConfigMap", "ServiceAccount", "Service", "Deployment"];

/// Prints the rows, if they are wanted.
pub fn run(selection: &Selection) {
    if !selection.wants_large() {
        return;
    }
    let plane = server();
    let ws = &Rc::new(Workspace::on(&plane));
    let namespaces: Vec<Value> = (0..NAMESPACES).map(|number| namespace(&name(ws, number))).collect();
    prepare(floor(ws, &namespaces));
    ws.write("all.yaml", &manifests(ws));
    let lists: Vec<Value> = objects::collections(None)
        .filter(|(kind, _)| KINDS.contains(kind))
        .map(|(_, path)| bare::list(&path))
        .collect();
    let lists = &lists;
    let shown = thousands(LARGE as u64);
    for network in selection.networks().take(1) {
        let contest = |what| Contest { plane: ws.plane(), objects: &shown, network, what };
        // The objects can be created once: neither kubectl nor the floor has a turn.
        let created = || ours(ws, &["apply", "-q", "-f", "all.yaml"]);
        contest("all-new").run(&[Entrant { by: OURS, rounds: Some(0), ready: Box::new(created) }]);
        for (what, arguments) in [
            ("in-sync", &["diff", "-f", "all.yaml"][..]),
            ("no-op-apply", &["apply", "-f", "all.yaml"]),
            ("shard 0/2", &["diff", "-f", "all.yaml", "--shard", "0/2"]),
            ("shard 1/2", &["diff", "-f", "all.yaml", "--shard", "1/2"]),
        ] {
            let ways: [Way<'_>; 3] = [
                Box::new(|| kubectl(ws, spread::DIFF_OF_KUBECTL)),
                Box::new(|| ours(ws, arguments)),
                Box::new(|| floor(ws, lists)),
            ];
            contest(what).run(&entrants(selection, LARGE, network, true, ways));
        }
    }
}

fn name(ws: &Workspace, number: usize) -> String {
    format!("{}-{number}", ws.namespace())
}

fn namespace(name: &str) -> Value {
    let manifest = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    bare::apply(&format!("/api/v1/namespaces/{name}"), &manifest)
}

fn manifests(ws: &Workspace) -> String {
    let each = LARGE / NAMESPACES / KINDS.len();
    let mut text = String::new();
    for number in 0..NAMESPACES {
        for index in 0..each {
            for kind in KINDS {
                let _ = text.write_str(&of_kind(kind, index, &name(ws, number)));
            }
        }
    }
    text
}
