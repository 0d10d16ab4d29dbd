//! The effects of an apply beyond the fields that it writes: Pods that restart or stop, Pods that keep an old value, and Services that
//! lose their Pods. They follow from what a comparison has read anyway.
//!
//! ```text
//! Compared (before, after) ─▶ workloads: rollout, recreate, scale, delete
//!                          ─▶ values:    stale, refresh      (ConfigMaps and Secrets, in the workloads of the input)
//!                          ─▶ selection: unselected          (Services, and the Pod templates of the input)
//! ```

mod checksums;
mod compared;
mod selection;
mod values;
mod workloads;

use serde_json::Value;

use crate::compare::{Action, Decision, Effect};
use crate::live::Target;

use compared::Compared;
pub use workloads::of_deletion;

/// Finds the effects of all objects of a run, and what follows from other objects, and puts them into their decisions.
pub fn find(targets: &[&Target], decisions: &mut [Decision]) {
    // Without a change nothing follows, and no tree of a manifest is made.
    if decisions.iter().all(|decision| decision.verdict.action() == Action::None) {
        return;
    }
    let pairs = || targets.iter().zip(&*decisions);
    let manifests: Vec<Value> = pairs().map(|(target, decision)| Compared::manifest(target, decision)).collect();
    let objects: Vec<Compared<'_>> = pairs()
        .zip(&manifests)
        .map(|((target, decision), manifest)| Compared::of(target, manifest, decision))
        .collect();
    let following = checksums::following(&objects);
    let found = effects(&objects);
    for (decision, effects) in decisions.iter_mut().zip(found) {
        decision.effects = effects;
    }
    for (at, following) in following {
        if let Some(decision) = decisions.get_mut(at) {
            decision.following.push(following);
        }
    }
}

/// The effects of each object.
fn effects(objects: &[Compared<'_>]) -> Vec<Vec<Effect>> {
    let mut effects: Vec<Vec<Effect>> = objects.iter().map(workloads::of_write).collect();
    let restarts = |at: usize| effects.get(at).is_some_and(|found| found.iter().any(Effect::is_restart));
    let mut others = values::effects(objects, &restarts);
    others.extend(selection::effects(objects));
    for (at, effect) in others {
        if let Some(found) = effects.get_mut(at) {
            found.push(effect);
        }
    }
    effects
}
