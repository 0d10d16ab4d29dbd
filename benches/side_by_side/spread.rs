//! Objects in many namespaces, and objects among many others.

use std::rc::Rc;

use serde_json::{Value, json};
use test_control_plane::Workspace;

use super::bare;
use super::contest::Contest;
use super::objects::{self, manifests, of_kind};
use super::scenarios::{Way, entrants, floor, kubectl, ours, prepare, server};
use super::selection::Selection;
use super::table::thousands;

/// Namespaces, each with an object of each of some kinds.
const NAMESPACES: usize = 1_500;
const KINDS: [&str; 3] = ["ConfigMap", "ServiceAccount", "Widget"];
/// Objects of which every fourth is in the manifests.
const CROWD: usize = 40_000;

/// The diff of kubectl with the whole input.
pub const DIFF_OF_KUBECTL: &[&str] =
    &["diff", "--server-side", "--force-conflicts", "--field-manager=kubectl-reconcile", "-f", "all.yaml"];

/// Prints the rows.
pub fn run(selection: &Selection) {
    if selection.wants("many-namespaces") {
        many_namespaces(selection);
    }
    if selection.wants("one-of-four") {
        one_of_four(selection);
    }
}

fn many_namespaces(selection: &Selection) {
    let plane = server();
    let ws = &Rc::new(Workspace::on(&plane));
    let name = |number: usize| format!("{}-{number}", ws.namespace());
    let namespace = |number: usize| {
        let manifest = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name(number)}});
        bare::apply(&format!("/api/v1/namespaces/{}", name(number)), &manifest)
    };
    prepare(floor(ws, &(0..NAMESPACES).map(namespace).collect::<Vec<_>>()));
    let each = (0..NAMESPACES).flat_map(|number| KINDS.map(|kind| of_kind(kind, number, &name(number))));
    ws.write("all.yaml", &each.collect::<String>());
    let lists: Vec<Value> = objects::collections(None)
        .filter(|(kind, _)| KINDS.contains(kind))
        .map(|(_, path)| bare::list(&path))
        .collect();
    in_sync(selection, "many-namespaces", NAMESPACES * KINDS.len(), ws, &lists);
}

fn one_of_four(selection: &Selection) {
    let plane = server();
    let ws = &Rc::new(Workspace::on(&plane));
    // As many of each kind.
    let is_wanted = |index: &usize| (index / 10).is_multiple_of(4);
    ws.write("all.yaml", &manifests((0..CROWD).filter(is_wanted), "$NS"));
    let others = manifests((0..CROWD).filter(|index| !is_wanted(index)), ws.namespace());
    let others: Vec<Value> = objects::objects(&others).iter().map(|of| bare::apply(&of.path, &of.manifest)).collect();
    prepare(floor(ws, &others));
    let lists: Vec<Value> = objects::collections(Some(ws.namespace())).map(|(_, path)| bare::list(&path)).collect();
    in_sync(selection, "one-of-four", CROWD / 4, ws, &lists);
}

/// Prints the row of a `diff` with this input, which has been applied.
pub fn in_sync(selection: &Selection, what: &str, objects: usize, ws: &Rc<Workspace>, lists: &[Value]) {
    prepare(ours(ws, &["apply", "-q", "-f", "all.yaml"]));
    for network in selection.networks() {
        let shown = thousands(objects as u64);
        let contest = Contest { plane: ws.plane(), objects: &shown, network, what };
        let ways: [Way<'_>; 3] = [
            Box::new(|| kubectl(ws, DIFF_OF_KUBECTL)),
            Box::new(|| ours(ws, &["diff", "-f", "all.yaml"])),
            Box::new(|| floor(ws, lists)),
        ];
        contest.run(&entrants(selection, objects, network, true, ways));
    }
}
