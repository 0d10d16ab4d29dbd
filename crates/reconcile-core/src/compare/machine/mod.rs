//! The comparison of one object as a state machine: it returns the next question for the server, takes the answer, and ends in a
//! [`Decision`]. It does no I/O: `engine::dry_run` sends the questions.
//!
//! ```text
//! live object ─prove─▶ Proven
//!       └─▶ Apply ─▶ answer for the version that was read ─▶ Predicted
//!             │        ├─ for another version ─▶ Read ─▶ start again
//!             │        ├─ claims transferred to us would remove more ─▶ Patch ─▶ Predicted
//!             │        └─ takes out what the manifest has ─▶ Patch that puts it back ─▶ Predicted, or Refused
//!             └─▶ rejected ─▶ Patch, as if claims were transferred and what is in the way removed ─▶ Predicted
//!                        └─▶ Create, although it exists: is the manifest invalid, or a field immutable? ─▶ Refused
//! ```

mod accepted;
mod dropped;
mod first;
mod question;
mod records;
mod rejected;
mod trial;

pub use accepted::takes_out;
pub use question::{Answer, Question};
pub use records::is_convertible;

use std::collections::BTreeSet;

use serde_json::Value;
use structured_merge::{FieldPath, ObjectMeta as _, TypeRef, Unproven, changes};

use super::changing_kinds::ComingType;
use super::classify::only::{half_renamed, inseparable, is_lost, torn_value};
use super::decision::membership::Membership;
use super::decision::{ComparisonResult, Decision, by_coming_merge, decide, diff_in};
use super::diff::{Action, Evidence, FieldChange};
use super::live_object::LiveObject;
use super::patch::version;
use super::policy::{EvidenceMode, Policy};
use super::prediction::{CompareContext, Prediction};
use super::rejection::refusal::Refusal;
use super::rejection::{InTheWay, fits};
use super::secrecy::redact::Redactor;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::discreet::shown_warning_about;
use crate::live::{LiveState, Target, failed_request};
use crate::request::RequestError;

/// Maximum number of times that an object is read and compared again because others keep changing it, in a comparison, write or
/// deletion.
pub const ROUNDS: usize = 5;

/// Compares one object, question by question.
pub struct ComparisonMachine<'a> {
    context: CompareContext<'a>,
    state: State,
    rounds: usize,
    warnings: Vec<String>,
    unproven: Option<Unproven>,
    membership: Option<Membership>,
    /// The differences without which it is compared again, as the pass leaves them.
    left: Vec<FieldChange>,
    /// The other differences, which the pass has to make.
    made: Vec<FieldPath>,
    /// True if one of them is half of a change.
    is_half: bool,
    /// The differences that it leaves in values of which it has to make others, and that the API writes as a whole.
    torn: BTreeSet<FieldPath>,
    /// True if an apply of all of them, with those that are chosen, would have been accepted.
    was_predicted: bool,
    /// The number of times that it may be compared without more differences.
    selections: usize,
}

/// The progress of a comparison.
enum State {
    /// The object was read; the comparison has not begun.
    Read(LiveState),
    /// Waits for the answer to an apply of the manifest; without a live object, the apply creates it.
    Applying(Option<Box<LiveObject>>),
    /// Waits for the new version of an object that changed during the dry run. The answer belongs to that version, and counts if the
    /// same body would be sent over it.
    Reading { answer: Value, live: Box<LiveObject> },
    /// Waits for the answer to a patch: claims are transferred before the apply, so that it removes more than its answer shows.
    Pruning { live: Box<LiveObject>, prediction: Box<Prediction> },
    /// Waits for the answer to a patch: the apply takes out a part of the manifest, and the next apply puts it back. If the patch was refused,
    /// waits for the answer to a creation of the result: only what is invalid in itself is refused then as well, as the value that it had
    /// before goes in between.
    Filling { live: Box<LiveObject>, prediction: Box<Prediction>, refused: Option<Refusal> },
    /// Waits for the answer to a patch after the apply was rejected: claims are transferred before the apply, and the patch tries the
    /// update as if that had happened.
    Transferring { live: Box<LiveObject>, trial: Box<Trial> },
    /// Waits for the answer to a patch that takes nothing away, after one that took something away was accepted. If it is accepted as well,
    /// the server takes by an update what it refuses in an apply, as an invalid value that stays as it is, and the trial shows nothing.
    Controlling { live: Box<LiveObject>, trial: Box<Trial> },
    /// Waits for the answers to creations of what exists, the last probe first. They show if the update was rejected because of
    /// an immutable field, or because of a clash with a field that only the live object has.
    Probing { live: Box<LiveObject>, probes: Vec<Probe>, accepted: Refusal },
    /// The comparison is done.
    Done(ComparisonResult),
}

/// A creation of an object that exists, and the meaning of its rejection for any other reason.
struct Probe {
    object: Value,
    refused: Refusal,
    /// True if the rejection of the probe is the better diagnostic, because it is about the manifest alone.
    is_specific: bool,
}

/// A trial under way.
struct Trial {
    /// The attempt that the server is asked about.
    attempt: Attempt,
    /// The rejection of the apply itself.
    error: RequestError,
    /// The last attempt that the server accepted.
    accepted: Option<Attempt>,
    /// The number of trials before this one.
    earlier: usize,
    /// The position of the field that this attempt spares, of an accepted one.
    spared: usize,
}

/// An update without the fields that are in the way.
#[derive(Clone)]
struct Attempt {
    /// The object to send, if it is not that of the live object.
    sent: Option<Value>,
    /// Its result.
    prediction: Prediction,
    taken: Vec<InTheWay>,
}

impl<'a> ComparisonMachine<'a> {
    /// Creates a comparison with the object that was read. [`Self::start`] begins it.
    pub fn new(target: &'a Target, live: LiveState, schema: TypeRef<'a>, policy: &'a Policy) -> Self {
        Self {
            context: CompareContext::new(target, schema, policy),
            state: State::Read(live),
            rounds: ROUNDS,
            warnings: Vec::new(),
            unproven: None,
            membership: None,
            left: Vec::new(),
            made: Vec::new(),
            torn: BTreeSet::new(),
            is_half: false,
            was_predicted: false,
            selections: ROUNDS,
        }
    }

    /// Begins a comparison. Most objects are proven in sync here, and no tree is kept of their manifests.
    pub fn begun(target: &'a Target, live: LiveState, schema: TypeRef<'a>, policy: &'a Policy) -> Self {
        let unpacked = target.unpacked();
        let mut machine = ComparisonMachine::new(&unpacked, live, schema, policy);
        machine.start();
        let ComparisonMachine { state, rounds, warnings, unproven, membership, .. } = machine;
        Self { state, rounds, warnings, unproven, membership, ..Self::new(target, LiveState::Absent, schema, policy) }
    }

    /// The target that is compared.
    pub fn target(&self) -> &'a Target {
        self.context.target
    }

    /// The policy of the comparison.
    pub fn policy(&self) -> &'a Policy {
        self.context.policy
    }

    /// The object that was read, as long as the comparison has not begun.
    pub fn read_state(&self) -> Option<&LiveState> {
        if let State::Read(live) = &self.state { Some(live) } else { None }
    }

    /// Returns true if the comparison is done.
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done(_))
    }

    /// The reason why the object was not proven to be in sync, if a proof was tried.
    pub fn unproven(&self) -> Option<&Unproven> {
        self.unproven.as_ref()
    }

    /// The apply set that the object does not leave, if its manifest does not name it.
    pub fn membership(&self) -> Option<&Membership> {
        self.membership.as_ref()
    }

    /// The live object of a comparison that is done, as far as it was kept.
    pub fn live(&self) -> Option<&Value> {
        if let State::Done(result) = &self.state { Some(&result.live()?.current.object) } else { None }
    }

    /// Returns true if the comparison has found that the object does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self.state, State::Done(ComparisonResult::Missing(_)))
    }

    /// Begins the comparison, unless it has begun.
    pub fn start(&mut self) {
        if let Some(live) = self.take_read() {
            self.state = self.begin(live);
        }
    }

    /// Begins and ends the comparison of an object whose version the server does not serve yet. It may exist in another version.
    pub fn end_as_pending(&mut self) {
        if let Some(live) = self.take_read() {
            self.state = self.pending(live);
        }
    }

    fn take_read(&mut self) -> Option<LiveState> {
        if !matches!(self.state, State::Read(_)) {
            return None;
        }
        let state = std::mem::replace(&mut self.state, State::Done(unfinished()));
        if let State::Read(live) = state { Some(live) } else { None }
    }

    /// Ends the comparison for a reason that concerns the whole object.
    pub fn fail(&mut self, reason: Diagnostic) {
        self.end(ComparisonResult::Unknown(reason));
    }

    /// Ends the comparison of an object that cannot exist yet.
    pub fn end_as_missing(&mut self) {
        self.end(ComparisonResult::Missing(Evidence::Local));
    }

    /// Returns true if the server may find mistakes in the manifest of an object that cannot exist yet: it reads a manifest before it looks
    /// for the Namespace. A manifest that fits the types that are known has none.
    pub fn may_be_mistaken(&self) -> bool {
        let CompareContext { target, schema, policy, .. } = self.context;
        policy.tries_creations
            && policy.evidence != EvidenceMode::ReadOnly
            && !target.desired.with_object(|manifest| fits(manifest, schema, true))
    }

    /// Ends the comparison of such an object, unless the server has found a mistake.
    pub fn end_as_missing_unless_mistaken(&mut self) {
        if !matches!(self.state, State::Done(ComparisonResult::Refused { refusal: Refusal::Typed(_), .. })) {
            self.end_as_missing();
        }
    }

    /// Ends the comparison of an object that will be gone, as its definition or its Namespace is replaced. What cannot be applied stays so.
    pub fn end_as_gone(&mut self) {
        if matches!(self.state, State::Done(ComparisonResult::Proven(_) | ComparisonResult::Predicted { .. })) {
            self.end_as_missing();
        }
    }

    /// Ends the comparison of an object that only has to exist.
    pub fn end_as_read(&mut self) {
        let State::Read(live) = &self.state else { return };
        let result = match live {
            LiveState::Present(_) => ComparisonResult::Proven(None),
            LiveState::Absent => ComparisonResult::Missing(Evidence::Local),
            LiveState::Unreadable(diagnostic) => ComparisonResult::Unknown(diagnostic.clone()),
        };
        self.end(result);
    }

    /// Ends the comparison.
    pub(in crate::compare) fn end(&mut self, result: ComparisonResult) {
        self.state = State::Done(result);
        self.unproven = None;
        self.warnings.clear();
    }

    /// Compares the object again without the differences that the pass leaves, if it leaves some and resolves others. Returns false if
    /// there are none. The base has to be known.
    pub fn leave(&mut self) -> bool {
        let Some(chosen) = &self.context.policy.only else { return false };
        let State::Done(result) = &self.state else { return false };
        let (ComparisonResult::Predicted { live, .. } | ComparisonResult::Refused { live: Some(live), .. }) = result
        else {
            return false;
        };
        if self.selections == 0 {
            return false;
        }
        // What the server refuses may be what is left.
        let context = CompareContext { coming_type: Some(ComingType::anything()), ..self.context };
        let diff = diff_in(context, result);
        let left = chosen.to_leave(&diff);
        if left.is_empty() {
            return false;
        }
        let object = live.current.object.clone();
        self.was_predicted |= matches!(result, ComparisonResult::Predicted { .. });
        if self.left.is_empty() {
            self.made = chosen.made(&diff);
            self.is_half = chosen.halves_a_rename(&diff);
        }
        self.torn.extend(chosen.torn(&diff));
        self.selections = self.selections.saturating_sub(1);
        self.left.extend(left);
        self.compare_again(object);
        true
    }

    /// Compares the object that was read once more.
    fn compare_again(&mut self, object: Value) {
        self.warnings.clear();
        let live = self.live_object(object);
        self.state = self.compare(live);
    }

    /// Takes the answer to the last question, and the server's warnings in it.
    pub fn answer(&mut self, answer: Answer, warnings: Vec<String>) {
        self.add_warnings(warnings);
        if let Some(diagnostic) = self.bad_answer(&answer) {
            self.state = State::Done(ComparisonResult::Unknown(diagnostic));
            return;
        }
        let state = std::mem::replace(&mut self.state, State::Done(unfinished()));
        self.state = match (state, answer) {
            (State::Applying(live), Answer::Object(object)) => self.applied(live, object),
            (State::Applying(live), Answer::Refused(error)) => self.apply_rejected(live, error),
            (State::Transferring { live, trial }, Answer::Object(object)) => self.trial_accepted(live, trial, object),
            (State::Transferring { live, trial }, Answer::Refused(error)) => self.trial_rejected(live, trial, &error),
            (State::Controlling { live, trial }, Answer::Object(_)) => self.rejected(Some(live), &trial.error),
            (State::Controlling { live, trial }, Answer::Refused(error)) => self.control_rejected(live, trial, &error),
            (State::Reading { answer, live: before }, Answer::Live(LiveState::Present(object)))
                if self.left.is_empty() && version(&object) == version(&answer) =>
            {
                let live = self.live_object(object);
                let target = self.context.target;
                let is_same = live.sent(target) == before.sent(target) && live.membership == before.membership;
                if is_same { self.predicted(live, answer) } else { self.compare(live) }
            }
            (State::Reading { .. }, Answer::Live(live)) => self.begin(live),
            (State::Pruning { live, mut prediction }, Answer::Object(object)) => {
                // The owners stay those of the apply: the patch was an update.
                prediction.object = object;
                self.settled(live, prediction)
            }
            (State::Filling { live, prediction, .. }, Answer::Object(_)) => {
                State::Done(ComparisonResult::Predicted { live, prediction })
            }
            (State::Filling { live, prediction, refused }, Answer::Refused(error)) => {
                self.filling_rejected(live, prediction, refused, &error)
            }
            (State::Probing { live, probes, accepted }, answer) => self.probed(live, probes, accepted, answer),
            // The apply after the transfer would be rejected like this.
            (State::Pruning { live, .. }, Answer::Refused(error)) => self.pruning_rejected(live, &error),
            (_, _) => State::Done(ComparisonResult::Unknown(Diagnostic::new(
                Code::Failed,
                "the server sent an unexpected answer",
            ))),
        };
    }

    fn into_result(self) -> ComparisonResult {
        match self.state {
            State::Done(result) => result,
            State::Pruning { live, prediction } | State::Filling { live, prediction, .. } => {
                ComparisonResult::Predicted { live, prediction }
            }
            _ => ComparisonResult::Unknown(Diagnostic::new(
                Code::Interrupted,
                "the run ended before this object was compared",
            )),
        }
    }

    /// Decides by the result. The order of the objects must be fixed, as it gives their secret values their numbers.
    /// `coming_type` is the type that the kind is about to get, if its CustomResourceDefinition changes in this input.
    pub fn decide(mut self, coming_type: Option<ComingType<'_>>, redactor: &Redactor) -> Decision {
        let warnings = std::mem::take(&mut self.warnings);
        let membership = self.membership.take();
        let context = CompareContext { coming_type, ..self.context };
        let left = std::mem::take(&mut self.left);
        let made = std::mem::take(&mut self.made);
        let torn = std::mem::take(&mut self.torn);
        let (was_predicted, is_half) = (self.was_predicted, self.is_half);
        let result = self.into_result();
        let result = match coming_type.and_then(|coming| coming.no_longer_served(&context.target.key.gvk)) {
            Some(error) if !matches!(result, ComparisonResult::Unknown(_)) => ComparisonResult::Unknown(error),
            _ => result,
        };
        let refusal = match &result {
            ComparisonResult::Refused { refusal, .. } if was_predicted && !left.is_empty() => refusal.reason(),
            _ => None,
        };
        let (context, result) = by_coming_merge(context, result, &left);
        let result = match (&context.policy.only, result) {
            // Nobody tries to create it, so that its mistakes do not matter.
            (Some(chosen), ComparisonResult::Refused { live: None, .. }) if !chosen.creates(context.target) => {
                ComparisonResult::Missing(Evidence::Local)
            }
            (_, result) => result,
        };
        let mut decision = decide(context, result, redactor);
        if let Some(chosen) = &context.policy.only {
            let left_paths = || left.iter().map(|change| &change.path);
            let is_missed = |made: &FieldPath| !decision.diff.drift().any(|change| change.path.overlaps(made));
            if !torn.is_empty() {
                decision.diff = torn_value(context.target, decision.live(), torn.iter());
            } else if refusal.is_some() || decision.diff.has_drift() && loses_left(context, &decision, &left) {
                decision.diff = inseparable(context.target, decision.live(), left_paths(), refusal.as_deref());
            } else if is_half {
                decision.diff = half_renamed();
            } else if decision.diff.action != Action::Unknown && made.iter().any(is_missed) {
                decision.diff = inseparable(context.target, decision.live(), left_paths(), None);
            }
            let (diff, live) = decision.diff_beside_live();
            chosen.settle(diff, context.target, live, &left);
        }
        decision.warnings.extend(warnings);
        decision.membership = membership;
        decision
    }

    /// The diagnostic for an answer that is not about this object: one resourceVersion has one uid.
    fn bad_answer(&self, answer: &Answer) -> Option<Diagnostic> {
        let (known, object) = match (&self.state, answer) {
            (_, Answer::Refused(error)) if error.is_bad_answer() => {
                return Some(self.failure(None, error));
            }
            (
                State::Applying(Some(live))
                | State::Pruning { live, .. }
                | State::Filling { live, .. }
                | State::Transferring { live, .. }
                | State::Controlling { live, .. },
                Answer::Object(object),
            ) => (&live.current.object, object),
            (State::Reading { answer, .. }, Answer::Live(LiveState::Present(object))) => (answer, object),
            _ => return None,
        };
        let is_other = version(known) == version(object) && known.uid() != object.uid();
        is_other.then(|| Diagnostic::new(Code::Failed, "the server answered with another object of the same name"))
    }

    /// The diagnostic for a request that failed.
    fn failure(&self, live: Option<&Value>, error: &RequestError) -> Diagnostic {
        failed_request(self.context.target, live, error)
    }

    /// Adds the warnings of an answer as they may be shown, each once: several questions are about the same object.
    fn add_warnings(&mut self, warnings: Vec<String>) {
        let live = match &self.state {
            State::Applying(Some(live))
            | State::Pruning { live, .. }
            | State::Filling { live, .. }
            | State::Transferring { live, .. }
            | State::Controlling { live, .. }
            | State::Probing { live, .. } => Some(&live.current.object),
            State::Applying(None) | State::Reading { .. } | State::Read(_) | State::Done(_) => None,
        };
        for text in warnings.into_iter().map(|text| shown_warning_about(self.context.target, live, text)) {
            if !self.warnings.contains(&text) {
                self.warnings.push(text);
            }
        }
    }
}

/// Returns true if the apply would change what the pass leaves.
fn loses_left(context: CompareContext<'_>, decision: &Decision, left: &[FieldChange]) -> bool {
    let (Some(live), Some(prediction)) = (decision.live_object(), decision.prediction()) else { return false };
    if left.is_empty() {
        return false;
    }
    let of_result = changes(&live.current.object, &prediction.object, context.schema, context.target.status_is_apart());
    left.iter().any(|one| is_lost(one, &live.current, &prediction.object, &of_result))
}

/// The placeholder while the machine takes an answer.
fn unfinished() -> ComparisonResult {
    ComparisonResult::Unknown(Diagnostic::new(Code::Interrupted, "the comparison was not finished"))
}
