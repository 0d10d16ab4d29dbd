//! The trials that follow when the server rejects the apply over a live object: what the manifest does not have and the server rejects
//! together with it is taken away, a little more each time, until the server accepts the result; then less again, as long as it does.
//!
//! ```text
//! rejected ─▶ what the causes name, of manual changes ─▶ … below the values that they name ─▶ defaults
//!               └─────────────── the causes change: from the start ◀───────────────────────────┘
//! accepted ─▶ the same update without anything taken away ─┬─ refused as the apply was ─▶ the trial counts
//!                                                          └─ accepted ─▶ it shows nothing about an apply: rejected
//! ```

use structured_merge::ManagedObject;

use super::{Attempt, ComparisonMachine, State, Trial};
use crate::compare::diff::Evidence;
use crate::compare::live_object::LiveObject;
use crate::compare::nulls::holds_null;
use crate::compare::prediction::{CompareContext, Prediction};
use crate::compare::rejection::refusal::is_about_immutable_fields;
use crate::compare::rejection::{InTheWay, Reach, in_the_way, is_unconvertible};
use crate::request::{Cause, RequestError};
use serde_json::Value;

/// Maximum number of trials that take more away.
const MOST_TRIALS: usize = 8;

/// Maximum number of fields of which it is found out whether they have to go.
const MOST_SPARED: usize = 16;

impl ComparisonMachine<'_> {
    /// Takes the rejection of the apply.
    pub(super) fn apply_rejected(&mut self, live: Option<Box<LiveObject>>, error: RequestError) -> State {
        let Some(live) = live else { return self.rejected(None, &error) };
        let status = error.status();
        if status.is_some_and(is_unconvertible) {
            return match self.attempt(&live, Vec::new(), true) {
                Some(attempt) => first(live, attempt, error),
                None => self.rejected(Some(live), &error),
            };
        }
        if status.is_none_or(|status| status.code != 422) {
            return self.rejected(Some(live), &error);
        }
        match self.next_attempt(&live, None, &error) {
            Some(attempt) => first(live, attempt, error),
            None => self.rejected(Some(live), &error),
        }
    }

    /// Takes an update that the server accepts. It may accept it with some of the fields that were taken away.
    pub(super) fn trial_accepted(&self, live: Box<LiveObject>, mut trial: Box<Trial>, object: Value) -> State {
        trial.attempt.prediction.object = object;
        trial.attempt.prediction.evidence = Evidence::Server;
        // The records of owners are no part of an update, and it may take out a null that an apply is refused for.
        let has_null = || {
            let plain = self.context.predict_without_transfer(live.sent(self.context.target), &live.current);
            self.nulled(&live, &plain).is_some()
        };
        if trial.accepted.is_none() && !trial.attempt.prediction.rewrites_records && !has_null() {
            return State::Controlling { live, trial };
        }
        let Trial { attempt, error, accepted, earlier, spared } = *trial;
        // What was spared need not go: the field at its position is another one now.
        let next = if accepted.is_some() { spared } else { 0 };
        self.spare(live, attempt, error, earlier, next)
    }

    /// Takes the rejection of an update that takes nothing away: what was taken away was in the way, unless the apply was rejected for more.
    pub(super) fn control_rejected(&mut self, live: Box<LiveObject>, trial: Box<Trial>, error: &RequestError) -> State {
        match error.status() {
            Some(status) if status.code == 409 => self.pruning_rejected(live, error),
            Some(status) if status.code == 422 => {
                let is_same =
                    |one: &Cause, other: &Cause| without_positions(&one.field) == without_positions(&other.field);
                let is_said = |cause: &Cause| status.causes.iter().any(|other| is_same(other, cause));
                let are_all = trial.error.status().is_some_and(|first| first.causes.iter().all(is_said));
                let Trial { attempt, error, earlier, .. } = *trial;
                if are_all { self.spare(live, attempt, error, earlier, 0) } else { self.rejected(Some(live), &error) }
            }
            // It is the update that is refused so.
            Some(status) if status.code != 429 && (400..500).contains(&status.code) => {
                self.rejected(Some(live), &trial.error)
            }
            _ => self.rejected(Some(live), error),
        }
    }

    /// Takes the rejection of an update: more is in the way, or the field that was spared is.
    pub(super) fn trial_rejected(&mut self, live: Box<LiveObject>, trial: Box<Trial>, error: &RequestError) -> State {
        let Trial { attempt, error: first, accepted, earlier, spared } = *trial;
        let code = error.status().map(|status| status.code);
        if code == Some(409) {
            return self.pruning_rejected(live, error);
        }
        if let Some(accepted) = accepted {
            return self.spare(live, accepted, first, earlier, spared + 1);
        }
        if code == Some(422)
            && !attempt.prediction.rewrites_records
            && earlier < MOST_TRIALS
            && let Some(attempt) = self.next_attempt(&live, Some(&attempt.taken), error)
        {
            let trial = Trial { attempt, error: first, accepted: None, earlier: earlier + 1, spared: 0 };
            return State::Transferring { live, trial: Box::new(trial) };
        }
        match code {
            Some(429) => self.rejected(Some(live), error),
            Some(400..=499) => self.rejected(Some(live), &first),
            _ => self.rejected(Some(live), error),
        }
    }

    /// Asks whether a field that was taken away for its position alone may stay, from a position on; ends if there is none.
    fn spare(
        &self,
        mut live: Box<LiveObject>,
        accepted: Attempt,
        error: RequestError,
        earlier: usize,
        from: usize,
    ) -> State {
        let wide = (from..accepted.taken.len().min(MOST_SPARED))
            .find(|at| accepted.taken.get(*at).is_some_and(|one| one.is_guessed));
        let smaller = wide.filter(|_| accepted.taken.len() > 1).and_then(|at| {
            let mut taken = accepted.taken.clone();
            taken.remove(at);
            Some((at, self.attempt(&live, taken, false)?))
        });
        if let Some((spared, attempt)) = smaller {
            let trial = Trial { attempt, error, accepted: Some(accepted), earlier, spared };
            return State::Transferring { live, trial: Box::new(trial) };
        }
        live.sent = accepted.sent.or(live.sent.take());
        if accepted.prediction.rewrites_records {
            live.current.owners = live.current.owners.under(&self.context.target.key.gvk.api_version());
        }
        self.settled(live, Box::new(accepted.prediction))
    }

    /// The attempt that follows a rejection: it takes away what is in the way by the nearest guess that adds something to what an earlier
    /// attempt has taken.
    fn next_attempt(&self, live: &LiveObject, earlier: Option<&[InTheWay]>, error: &RequestError) -> Option<Attempt> {
        let taken = earlier.unwrap_or_default();
        let status = error.status()?;
        let subject = self.subject(&live.current.object, status);
        let reaches: &[Reach] = if is_about_immutable_fields(status) { &[Reach::Named] } else { &Reach::ALL };
        reaches.iter().find_map(|reach| {
            let found = in_the_way(&subject, status, &live.current.owners, self.context.policy, *reach);
            // What a rule or the pass leaves stays, but for what nobody owns.
            let stays = |one: &InTheWay| *reach != Reach::Defaults && live.ignores(&one.path);
            let is_new = |one: &InTheWay| !stays(one) && !taken.iter().any(|other| other.path == one.path);
            let new: Vec<InTheWay> = found.into_iter().filter(is_new).collect();
            // Even without a field in the way, claims on those of the manifest may have to pass.
            let adds = !new.is_empty() || earlier.is_none() && *reach == Reach::Named;
            adds.then(|| self.attempt(live, [taken, &new].concat(), false))?
        })
    }

    /// Predicts the apply after claims have been transferred to us: manual ones on fields of the manifest, and all on those in the way.
    /// `None` if there are none.
    fn attempt(&self, live: &LiveObject, taken: Vec<InTheWay>, rewrites_records: bool) -> Option<Attempt> {
        let CompareContext { target, schema, policy, .. } = self.context;
        let current = &live.current;
        let in_the_way = taken.iter().fold(live.removed.clone(), |all, one| all.union(&one.fields));
        let sent = live.sent_without_nulls_at(&in_the_way, self.context);
        let manifest = sent.as_ref().unwrap_or_else(|| live.sent(target));
        // A patch drops nulls for which the server refuses an apply. If the types are known, such nulls have already been removed.
        if !schema.declares("kind") && holds_null(manifest) {
            return None;
        }
        let claims = structured_merge::field_set(manifest, schema, target.kind().as_ref());
        let api_version = target.key.gvk.api_version();
        let object = current.object.clone();
        let owners = if rewrites_records { current.owners.under(&api_version) } else { current.owners.clone() };
        if rewrites_records && owners == current.owners {
            return None;
        }
        let settled = owners.with_fields_displaced(&object, schema, &claims, &in_the_way, &api_version, policy);
        if settled.is_none() && !rewrites_records {
            return None;
        }
        let current = ManagedObject { object, owners };
        let prediction = self.context.predict_displacing(manifest, &current, in_the_way);
        // An update takes the empty map of the manifest, where the apply leaves null.
        if self.nulled(live, &prediction.object).is_some() {
            return None;
        }
        let prediction = Prediction { rewrites_records, ..prediction };
        Some(Attempt { sent, prediction, taken })
    }
}

/// The field of a cause without the positions of items: the server and a prediction may have them in another order.
fn without_positions(field: &str) -> String {
    let name = |part: &str| match part.split_once(']') {
        Some((position, rest)) if position.bytes().all(|digit| digit.is_ascii_digit()) => rest.to_owned(),
        _ => format!("[{part}"),
    };
    let mut parts = field.split('[');
    let root = parts.next().unwrap_or_default().to_owned();
    parts.map(name).fold(root, |all, part| all + &part)
}

fn first(live: Box<LiveObject>, attempt: Attempt, error: RequestError) -> State {
    let trial = Trial { attempt, error, accepted: None, earlier: 0, spared: 0 };
    State::Transferring { live, trial: Box::new(trial) }
}
