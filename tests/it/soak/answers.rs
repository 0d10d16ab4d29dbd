//! `resolve` with answers at random: what is answered is done, in whole files, and a run without an end writes nothing.

use std::fs;

use super::checks::{is_about_emptiness, ours, touched_by_others};
use super::probe::{ends_with, objects, run};
use super::tally::Tally;
use super::world::World;
use crate::control_plane::Rng;

/// More answers than there are questions; those that are left over are never read.
const ANSWERS: usize = 100;
const CONFIGURATION: &str = ".kubectl-reconcile.yaml";

/// Lines that answer each question at random, and agree in the end. A question that does not offer the answer takes the next one, and
/// those that are left are skipped.
pub fn random(rng: &mut Rng, offered: &[&str]) -> String {
    let answers = (0..ANSWERS).flat_map(|_| [*rng.pick(offered), "\ny\n"]);
    answers.chain(std::iter::repeat_n("s\ny\n", ANSWERS)).collect()
}

/// Where copies of the manifests of a folder are edited while others write.
pub fn moving_copy(folder: &str) -> &'static str {
    if folder == "plain" { "answered-plain" } else { "answered-set" }
}

/// Every file is as whole as before, also after a run that was killed.
pub fn files_are_whole(world: &World, folder: &str, tally: &mut Tally) {
    for entry in fs::read_dir(world.ws.folder().join(folder)).into_iter().flatten().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let is_whole = if entry.file_name() == CONFIGURATION {
            text.starts_with("apiVersion: kubectl-reconcile/v1") && text.ends_with('\n')
        } else {
            world.ground.read_manifests(&text).is_some_and(|read| read.len() == 1)
        };
        if !is_whole {
            tally.fail(format!("{} is broken:\n{text}", entry.path().display()));
        }
    }
}

/// What was resolved differs no more, unless others moved it.
pub fn what_is_resolved_differs_no_more(world: &World, folder: &'static str, rng: &mut Rng, tally: &mut Tally) {
    const TO: &str = "resolved";
    world.copy(folder, TO);
    let text =
        |world: &World| -> Vec<String> { world.items.iter().map(|item| file(world, TO, &item.file_name())).collect() };
    let before = text(world);
    let offered =
        *rng.pick(&[&["a"][..], &["p"], &["a", "i"], &["a", "p", "i"], &["a", "p", "i", "s"], &["p", "i", "q"]]);
    let answers = random(rng, offered);
    let kubeconfig = world.kubeconfig.display().to_string();
    let (resolve, requests) = world.ws.all_requests_during(|| {
        let caller = world.ws.env("KUBECONFIG", &kubeconfig).stdin(&answers).on_terminal();
        caller.reconcile(["resolve", "-f", TO, "--color=never"])
    });
    if !ends_with(&resolve, &[0, 1, 4], tally) {
        return;
    }
    files_are_whole(world, TO, tally);
    let writes = ours(world, &requests).filter(|request| request.is_write()).count();
    if resolve.stderr.contains("nothing was changed") {
        if writes > 0 || text(world) != before || world.ws.folder().join(TO).join(CONFIGURATION).exists() {
            tally.fail(format!("changed although the user quit: {writes} requests: {resolve}"));
        }
        return tally.count("laws: quit");
    }
    if resolve.code != 0 {
        return tally.count(&format!("laws: resolved in part, {}", resolve.code));
    }
    let (diff, more) = run(world, &["diff", "-f", TO, "--quiet"]);
    if !ends_with(&diff, &[0, 1, 4], tally) {
        return;
    }
    let touched: Vec<String> = [requests, more].iter().flat_map(|all| touched_by_others(world, all)).collect();
    for object in objects(&diff) {
        let Some(item) = world.items.iter().find(|item| item.is_called(&object)) else { continue };
        if touched.contains(&item.path()) {
            tally.count("laws: resolved, and moved");
        } else if object["action"] == "none" {
            tally.count("laws: resolved");
        } else if is_about_emptiness(&object) {
            tally.count("laws: resolved, but for what is empty");
        } else {
            let now = file(world, TO, &item.file_name());
            tally.fail(format!("still there after {offered:?}: {object}\nmanifest {now}\n{resolve}"));
        }
    }
}

fn file(world: &World, folder: &str, name: &str) -> String {
    fs::read_to_string(world.ws.folder().join(folder).join(name)).unwrap_or_default()
}
