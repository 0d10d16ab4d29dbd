//! The effects of an apply beyond the fields that it writes: Pods that restart or stop, Pods that keep an old value, and Services that
//! lose their Pods. They follow from what a comparison has read anyway.
//!
//! ```text
//! Compared (before, after) ─▶ workloads: rollout, recreate, scale, delete
//!                          ─▶ values:    stale, refresh      (ConfigMaps and Secrets, in the workloads of the input)
//!                          ─▶ selection: unselected          (Services, and the Pod templates of the input)
//! ```

mod compared;
mod selection;
mod values;
mod workloads;

use crate::compare::{Action, Decision, Effect};
use crate::live::Target;

use compared::Compared;
pub use workloads::of_deletion;

/// Finds the effects of all objects of a run, and puts them into their decisions.
pub fn find(targets: &[&Target], decisions: &mut [Decision]) {
    // Without a change there is no effect, and no tree of a manifest is made.
    if decisions.iter().all(|decision| decision.verdict.action() == Action::None) {
        return;
    }
    let found = effects(targets, decisions);
    for (decision, effects) in decisions.iter_mut().zip(found) {
        decision.effects = effects;
    }
}

/// The effects of each object.
fn effects(targets: &[&Target], decisions: &[Decision]) -> Vec<Vec<Effect>> {
    let objects: Vec<Compared<'_>> =
        targets.iter().zip(decisions).map(|(target, decision)| Compared::of(target, decision)).collect();
    let mut effects: Vec<Vec<Effect>> = objects.iter().map(workloads::of_write).collect();
    let restarts = |at: usize| effects.get(at).is_some_and(|found| found.iter().any(Effect::is_restart));
    let mut others = values::effects(&objects, &restarts);
    others.extend(selection::effects(&objects));
    for (at, effect) in others {
        if let Some(found) = effects.get_mut(at) {
            found.push(effect);
        }
    }
    effects
}
