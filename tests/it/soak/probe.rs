//! Calls of the program while only controllers write, and what may have changed meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::checks::touched_by_others;
use super::tally::Tally;
use super::world::World;
use crate::control_plane::{Request, Run};

/// Runs our program, and returns everything that was asked of the server meanwhile.
pub fn run(world: &World, arguments: &[&str]) -> (Run, Vec<Request>) {
    let kubeconfig = world.kubeconfig.display().to_string();
    let caller = world.ws.env("KUBECONFIG", &kubeconfig).env("KUBECTL_RECONCILE_PLAN_KEY", "the key of the soak");
    world.ws.all_requests_during(|| caller.reconcile(arguments))
}

/// The flags of a pass over a folder.
pub fn pass<'a>(command: &'a str, folder: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec![command, "-f", folder, "--quiet"];
    if folder == "set" {
        arguments.extend(["--prune", "--applyset=set"]);
    }
    arguments.extend(more);
    arguments
}

pub fn objects(run: &Run) -> Vec<Value> {
    run.report.as_ref().and_then(|report| report["objects"].as_array().cloned()).unwrap_or_default()
}

/// Ends well: with one of these codes, and without a panic.
pub fn ends_with(run: &Run, codes: &[i32], tally: &mut Tally) -> bool {
    let is_right = codes.contains(&run.code) && !run.stderr.contains("panicked");
    if !is_right {
        tally.fail(format!("not one of {codes:?}: {run}"));
    }
    is_right
}

/// The resource versions, by the paths of the objects.
pub fn versions(world: &World) -> BTreeMap<String, Value> {
    let live = world.items.iter().zip(world.live());
    let version = |live: Value| live.pointer("/metadata/resourceVersion").cloned();
    live.filter_map(|(item, live)| Some((item.path(), version(live?)?))).collect()
}

/// The objects that may have changed since: those with another version, and those that others wrote to.
pub fn moved(world: &World, before: &BTreeMap<String, Value>, requests: &[Request]) -> BTreeSet<String> {
    let now = versions(world);
    let paths = before.keys().chain(now.keys()).filter(|path| before.get(*path) != now.get(*path));
    paths.cloned().chain(touched_by_others(world, requests)).collect()
}
