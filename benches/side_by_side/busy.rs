//! A cluster in which another client writes objects of other kinds all the time: a LIST from the watch cache waits until the cache has seen
//! the newest write.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_control_plane::{ControlPlane, Workspace};

use super::bare;
use super::objects::{self, manifests};
use super::scenarios::{floor, prepare, server};
use super::selection::Selection;
use super::spread::in_sync;

/// Objects of the manifests, of ten kinds.
const OBJECTS: usize = 1_000;
/// Leases, which the other client writes in turn.
const LEASES: usize = 10;
/// Writes of the other client, in a second.
const WRITES: u32 = 50;

/// Prints the row, if it is wanted.
pub fn run(selection: &Selection) {
    if !selection.wants("busy") {
        return;
    }
    let plane = server();
    let ws = &Rc::new(Workspace::on(&plane));
    ws.write("all.yaml", &manifests(0..OBJECTS, "$NS"));
    let lists: Vec<Value> = objects::collections(Some(ws.namespace())).map(|(_, path)| bare::list(&path)).collect();
    let leases: Vec<Value> = (0..LEASES).map(|number| bare::apply(&lease(ws, number), &manifest(ws, number))).collect();
    prepare(floor(ws, &leases));
    let paths: Vec<String> = (0..LEASES).map(|number| lease(ws, number)).collect();
    let is_over = Arc::new(AtomicBool::new(false));
    let writer = thread::spawn({
        let (plane, is_over) = (Arc::clone(&plane), Arc::clone(&is_over));
        move || write(&plane, &paths, &is_over)
    });
    in_sync(selection, "busy", OBJECTS, ws, &lists);
    is_over.store(true, Ordering::Relaxed);
    writer.join().expect("the other client");
}

fn lease(ws: &Workspace, number: usize) -> String {
    format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases/busy-{number}", ws.namespace())
}

fn manifest(ws: &Workspace, number: usize) -> Value {
    json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": format!("busy-{number}"), "namespace": ws.namespace()}, "spec": {"leaseTransitions": 0}})
}

fn write(plane: &ControlPlane, paths: &[String], is_over: &AtomicBool) {
    let begin = Instant::now();
    for (number, path) in (1_u32..).zip(paths.iter().cycle()) {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let patch = json!([{"op": "replace", "path": "/spec/leaseTransitions", "value": number}]);
        plane.api().json_patch(path, &patch).expect("a lease that may be written");
        let next = begin + Duration::from_secs(1) * number / WRITES;
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}
