//! Controllers and people who write at random, beside us.

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use apply_set::PART_OF;
use http::Method;
use reconcile_core::live::Target;
use serde_json::{Value, json};

use super::world::{Item, PEOPLE, World, is_terminating};
use crate::control_plane::{Rng, Run, Workspace};
use crate::generated::{Ground, path_of, wait_for};
use crate::soundness::live;

const FINALIZER: &str = "example.com/soak";
/// A label with the name of the person who set it.
pub const SIGNATURE: &str = "signature";
/// The manager of that label.
pub const SIGNER: &str = "kubectl-label";

/// What the writers share with who lets them write.
#[derive(Default)]
pub struct Gate {
    pub is_over: AtomicBool,
    /// How often somebody wrote, or tried to.
    pub writes: AtomicUsize,
}

/// Writes to the objects of the world until the soak is over. Each write holds the world for reading: who holds it for writing
/// is alone.
pub fn write(world: &RwLock<World>, gate: &Gate, mut rng: Rng) {
    while !gate.is_over.load(Ordering::Relaxed) {
        let world = world.read().expect("no writer has failed");
        let item = rng.pick(&world.items);
        let person = rng.below(PEOPLE.len());
        wait_for(write_once(&world.people[person], item, PEOPLE[person], &mut rng));
        gate.writes.fetch_add(1, Ordering::Relaxed);
        if rng.chance(2) {
            by_kubectl(&world.ws, item, PEOPLE[person], &mut rng);
            gate.writes.fetch_add(1, Ordering::Relaxed);
        }
        drop(world);
        thread::sleep(Duration::from_millis(rng.below(60) as u64));
    }
}

async fn write_once(ground: &Ground, item: &Item, person: &str, rng: &mut Rng) {
    let target = &item.target;
    let Some(object) = ground.find(target).await else { return create(ground, target, rng).await };
    if is_terminating(&object) {
        return release(ground, target).await;
    }
    match rng.below(20) {
        0 => {
            let policy = *rng.pick(&["Background", "Foreground", "Orphan"]);
            let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy});
            let _ = ground.call(Method::DELETE, &path_of(target), "application/json", &options).await;
        }
        1 => {
            let held = json!({"metadata": {"finalizers": [FINALIZER]}});
            merge(ground, target, "robot", &held).await;
        }
        2 => release(ground, target).await,
        3 => {
            let label = json!({"metadata": {"labels": {SIGNATURE: if rng.chance(90) { person } else { "" }}}});
            merge(ground, target, SIGNER, &label).await;
        }
        _ => {
            live::change(ground, target, &object, rng).await;
        }
    }
}

/// Brings an object back, as people and other appliers do.
async fn create(ground: &Ground, target: &Target, rng: &mut Rng) {
    let manifest = target.desired.object();
    if rng.chance(50) {
        let _ = ground.apply(target, manifest, "gitops", "").await;
        return;
    }
    let path = path_of(target);
    let collection = path.rsplit_once('/').map_or("", |(collection, _)| collection);
    let query = format!("{collection}?fieldManager=kubectl-create");
    let _ = ground.call(Method::POST, &query, "application/json", manifest).await;
}

async fn merge(ground: &Ground, target: &Target, manager: &str, patch: &Value) {
    let query = format!("{}?fieldManager={manager}", path_of(target));
    let _ = ground.call(Method::PATCH, &query, "application/merge-patch+json", patch).await;
}

/// Takes away whatever keeps an object from going.
pub async fn release(ground: &Ground, target: &Target) {
    merge(ground, target, "robot", &json!({"metadata": {"finalizers": null}})).await;
}

/// Ends what no apply can end: finalizers, the claim of another apply set, and, now and then, conflicts.
pub async fn tidy_up(world: &World, rng: &mut Rng) {
    let ground = &world.ground;
    for item in &world.items {
        let Some(object) = ground.find(&item.target).await else { continue };
        if is_terminating(&object) {
            release(ground, &item.target).await;
        } else if apply_set::part_of(&object).is_some() && !world.is_member(&object) {
            merge(ground, &item.target, "kubectl-label", &json!({"metadata": {"labels": {PART_OF: null}}})).await;
        } else if rng.chance(5) {
            let owners = json!([{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]);
            let _ = ground.call(Method::PATCH, &item.path(), "application/json-patch+json", &owners).await;
        }
    }
}

/// Client-side apply, which leaves a copy of the manifest in the object.
pub fn apply_client_side(ws: &Workspace, item: &Item) -> Run {
    let manifest = item.target.desired.object().to_string();
    ws.stdin(&manifest).kubectl(["apply", "-f", "-"])
}

/// What people do from a terminal; a refusal changes nothing.
fn by_kubectl(ws: &Workspace, item: &Item, person: &str, rng: &mut Rng) {
    let key = &item.target.key;
    let object = format!("{}.{}.{}/{}", key.gvk.kind, key.gvk.version, key.gvk.group, key.name);
    let namespace = format!("--namespace={}", key.namespace.as_deref().unwrap_or("default"));
    let manifest = item.target.desired.object().to_string();
    let words = match rng.below(4) {
        0 => vec!["apply", "-f", "-"],
        1 => vec!["apply", "--server-side", "--force-conflicts", "-f", "-"],
        2 => vec!["scale", &object, &namespace, "--replicas=2"],
        _ => vec!["edit", &object, &namespace],
    };
    let who = ["--as", person, "--as-group=system:masters"];
    ws.stdin(&manifest).env("KUBE_EDITOR", "sed -i s/shop/store/").kubectl([&words[..], &who].concat());
}
