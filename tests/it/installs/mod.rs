//! Whole installs, of the shape that real projects have: definitions with their resources, webhooks, policies, workloads, and
//! the habits of Helm, Kustomize and the generators of operators. See [`set`] for how a set is written; a new folder is a new set.
//!
//! `cargo test --test it installs -- --nocapture` shows the figures; `INSTALLS_SEED` changes the random drift.

mod adoption;
mod both_ways;
mod drift;
mod figures;
mod fresh;
mod owned;
mod reported;
mod set;
mod upgrade;

use std::panic;
use std::thread;

use crate::control_plane::{ControlPlane, Workspace, is_before};
use crate::generated::Rng;
use figures::Figures;
use set::Set;

/// The drifts that end in one of both directions, and those of them that end in the manifests, at least.
const ENDED: usize = 200;
const PULLED: usize = 80;

/// How many of 1000 objects are proven in sync right after they were applied, at least. Before the port of an Ingress's backend became
/// one claim as a whole, the record of its owner is another one, and the server is asked.
fn proven_of_thousand() -> usize {
    if is_before(31, "an Ingress with a port is not proven in sync") { 990 } else { 995 }
}

#[test]
fn sets_are_installed_heal_from_drift_and_are_upgraded() {
    let seed = std::env::var("INSTALLS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let plane = ControlPlane::private_full();
    let all = on_each_set(|set, number| {
        let mut figures = Figures::new(&set.name);
        let ws = Workspace::on(&plane);
        let files = set.write(&ws);
        let wanted = fresh::install(&ws, &files, &mut figures);
        let rng = &mut Rng::new(seed + number);
        reported::drift_and_heal(&ws, &files, &wanted, rng, &mut figures);
        both_ways::end_both_ways(&ws, &wanted, rng, &mut figures);
        if set.has_second_release() {
            upgrade::upgrade(set, &ws, &mut figures);
        }
        figures
    });
    figures::report(&format!("fresh installs, drift with seed {seed}, upgrades"), &all);
    let sum = |count: fn(&Figures) -> usize| all.iter().map(count).sum::<usize>();
    let pulled = sum(|figures| figures.pulled);
    let applied = sum(|figures| figures.applied);
    // Older versions have fewer of the kinds.
    let wanted = if is_before(36, "kinds that came later") { PULLED / 2 } else { PULLED };
    assert!(
        pulled + applied >= ENDED * wanted / PULLED && pulled >= wanted,
        "only {pulled} drifts were pulled and {applied} applied"
    );
    let (proven, objects) = all.iter().fold((0, 0), |(p, o), figures| (p + figures.proven, o + figures.objects));
    assert!(
        proven * 1000 >= objects * proven_of_thousand(),
        "only {proven} of {objects} objects are proven after an apply"
    );
}

#[test]
fn sets_that_kubectl_applied_are_adopted() {
    let plane = ControlPlane::private();
    let all = on_each_set(|set, _| {
        let mut figures = Figures::new(&set.name);
        let ws = Workspace::on(&plane);
        let files = set.write(&ws);
        adoption::adopt(&ws, &files, &mut figures);
        figures
    });
    figures::report("adopted from kubectl apply", &all);
}

/// The figures of each set, with its number; the sets take their turns at once.
fn on_each_set(scenario: impl Fn(&Set, u64) -> Figures + Sync) -> Vec<Figures> {
    let mut sets = Set::all();
    if is_before(36, "there is no MutatingAdmissionPolicy in `admissionregistration.k8s.io/v1`") {
        sets.retain(|set| set.name != "policies");
    }
    if is_before(31, "definitions have no `selectableFields`") {
        sets.retain(|set| set.name != "operator");
    }
    let scenario = &scenario;
    thread::scope(|scope| {
        let running: Vec<_> =
            sets.iter().zip(1..).map(|(set, number)| scope.spawn(move || scenario(set, number))).collect();
        running.into_iter().map(|one| one.join().unwrap_or_else(|error| panic::resume_unwind(error))).collect()
    })
}
