//! The comparison of one object as a state machine: it says what to ask the server next, takes the answer, and ends in a
//! [`Finding`]. It sends nothing itself: `engine::dry_run` does.
//!
//! ```text
//! live object ─prove─▶ Proven
//!       └─▶ Apply ─▶ answer for the version that was read ─▶ Predicted
//!             │        ├─ for another version ─▶ Read ─▶ start again
//!             │        └─ claims that pass to us would remove more ─▶ Patch ─▶ Predicted
//!             └─▶ rejected ─▶ Patch, as if claims had passed ─▶ Predicted
//!                        └─▶ Create under another name: is the manifest invalid, or a field immutable? ─▶ Refused
//! ```

mod rejected;

use std::borrow::Cow;

use serde_json::Value;
use structured_merge::{
    FieldSet, ObjectMeta as _, Ownership, Proof, TypeRef, Unproven, prove, prune, verbatim, with_live_spelling,
    with_node_ports, with_string_data,
};

use super::diff::Evidence;
use super::finding::{ComparisonResult, Finding};
use super::patch::{replacement, version};
use super::policy::{EvidenceMode, Policy};
use super::prediction::{Prediction, predict, unreadable_owners};
use super::refusal::Refusal;
use super::secrecy::is_secret;
use super::wanted::Wanted;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::{LiveState, Target, discreet};
use crate::request::RequestError;

/// How often an object that others keep changing is read and judged again, while it is compared, written or deleted.
pub const ROUNDS: usize = 5;

/// A question about one object. Nothing is written by asking it.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// Dry-run a server-side apply of this body, with force.
    Apply(Value),
    /// Dry-run this JSON patch.
    Patch(Value),
    /// Dry-run the creation of this object, which has another name.
    Create(Value),
    /// Read the object again.
    Read,
}

/// The answer to a question.
#[derive(Debug)]
pub enum Answer {
    /// The object as the write would leave it, with the server's warnings.
    Object(Value, Vec<String>),
    /// The object as it is.
    Live(LiveState),
    /// The request was rejected, or got no answer.
    Refused(RequestError),
}

/// Compares one object, question by question.
pub struct ComparisonMachine<'a> {
    target: &'a Target,
    /// What is sent over the object that was read.
    wanted: Cow<'a, Value>,
    of: TypeRef<'a>,
    policy: &'a Policy,
    state: State,
    rounds: usize,
    warnings: Vec<String>,
    unproven: Option<Unproven>,
}

/// What the machine waits for.
enum State {
    /// The live object is known; the answer to an apply of the manifest is not.
    Applying(Option<Value>),
    /// The object changed while the apply was tried: this answer belongs to a version that was not read yet.
    Reading(Value),
    /// The answer to the apply is known; the apply follows a transfer of claims, and so removes more than the answer shows.
    Pruning { live: Value, prediction: Prediction },
    /// The apply was rejected, but a transfer of manual claims would come first: the update is tried as if it had happened.
    Transferring { live: Value, prediction: Prediction, error: RequestError },
    /// The update was rejected, perhaps because a field is immutable or clashes with one that only the live object has: creations
    /// under another name tell, the last probe first.
    Probing { live: Value, probes: Vec<Probe>, accepted: Refusal },
    /// Everything is known.
    Done(Finding),
}

/// A creation under another name, and what its rejection means.
struct Probe {
    object: Value,
    refused: Diagnostic,
    /// Whether the rejection of the probe itself says better what is wrong: it is about the manifest alone.
    tells: bool,
}

impl<'a> ComparisonMachine<'a> {
    /// Starts from what was read.
    #[must_use]
    pub fn new(target: &'a Target, live: LiveState, of: TypeRef<'a>, policy: &'a Policy) -> Self {
        let state = State::Done(Finding::Missing(Evidence::Local));
        let wanted = Cow::Borrowed(target.desired.object());
        let mut machine =
            Self { target, wanted, of, policy, state, rounds: ROUNDS, warnings: Vec::new(), unproven: None };
        machine.state = machine.start(live);
        machine
    }

    /// Returns true if everything is known.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done(_))
    }

    /// The next question, or nothing when everything is known.
    #[must_use]
    pub fn question(&self) -> Option<Question> {
        let manifest = self.wanted.as_ref();
        match &self.state {
            State::Applying(Some(live)) => Some(Question::Apply(with_live_spelling(manifest, live, self.of))),
            State::Applying(None) => Some(Question::Apply(manifest.clone())),
            State::Reading(_) => Some(Question::Read),
            State::Pruning { live, prediction } => {
                Some(Question::Patch(replacement(live, &prediction.object, self.target.status_is_apart())))
            }
            State::Transferring { live, prediction, .. } => {
                let manifest = with_node_ports(Cow::Borrowed(manifest), live, self.of);
                let object = verbatim(&manifest, &prediction.object, self.of);
                Some(Question::Patch(replacement(live, &object, self.target.status_is_apart())))
            }
            State::Probing { probes, .. } => probes.last().map(|probe| Question::Create(probe.object.clone())),
            State::Done(_) => None,
        }
    }

    /// Takes the answer to the last question.
    pub fn answer(&mut self, answer: Answer) {
        if let Some(trouble) = self.bad_answer(&answer) {
            self.state = State::Done(Finding::Unknown(trouble));
            return;
        }
        let interrupted = Finding::Unknown(Diagnostic::new(Code::Interrupted, "the comparison was not finished"));
        let state = std::mem::replace(&mut self.state, State::Done(interrupted));
        self.state = match (state, answer) {
            (State::Applying(None), Answer::Object(_, warnings)) => {
                self.warnings = self.shown_warnings(None, warnings);
                State::Done(Finding::Missing(Evidence::Server))
            }
            (State::Applying(Some(live)), Answer::Object(object, warnings)) => {
                self.warnings = self.shown_warnings(Some(&live), warnings);
                if version(&live) == version(&object) || self.rounds == 0 {
                    self.predicted(live, object)
                } else {
                    self.rounds = self.rounds.saturating_sub(1);
                    State::Reading(object)
                }
            }
            (State::Applying(live), Answer::Refused(error)) => self.apply_rejected(live, error),
            (State::Transferring { live, mut prediction, .. }, Answer::Object(object, _)) => {
                (prediction.object, prediction.evidence) = (object, Evidence::Server);
                State::Done(Finding::Predicted { live, prediction })
            }
            (State::Transferring { live, error, .. }, Answer::Refused(trial)) => {
                self.transfer_rejected(live, &error, &trial)
            }
            (State::Reading(answer), Answer::Live(LiveState::Present(live)))
                if version(&live) == version(&answer) && self.is_wanted_over(&live) =>
            {
                self.predicted(live, answer)
            }
            (State::Reading(_), Answer::Live(live)) => self.start(live),
            (State::Pruning { live, mut prediction }, Answer::Object(object, _)) => {
                // The owners stay those of the apply: the patch was an update.
                prediction.object = object;
                State::Done(Finding::Predicted { live, prediction })
            }
            (State::Probing { live, probes, accepted }, answer) => self.probed(live, probes, accepted, answer),
            // The apply that follows the transfer would be rejected like this.
            (State::Pruning { live, .. }, Answer::Refused(error)) => self.pruning_rejected(live, &error),
            (_, _) => {
                State::Done(Finding::Unknown(Diagnostic::new(Code::Failed, "the server sent an unexpected answer")))
            }
        };
    }

    /// What was found.
    #[must_use]
    pub fn into_result(self) -> ComparisonResult {
        let finding = match self.state {
            State::Done(finding) => finding,
            State::Pruning { live, prediction } => Finding::Predicted { live, prediction },
            State::Applying(_) | State::Reading(_) | State::Transferring { .. } | State::Probing { .. } => {
                Finding::Unknown(Diagnostic::new(Code::Interrupted, "the run ended before this object was compared"))
            }
        };
        ComparisonResult { finding, warnings: self.warnings, unproven: self.unproven }
    }

    /// What can be said before anything is asked.
    fn start(&mut self, live: LiveState) -> State {
        let mut is_ruled = false;
        self.wanted = match &live {
            LiveState::Present(live) => {
                let wanted = Wanted::over(self.target, live, self.of, self.policy);
                is_ruled = !wanted.covering.is_empty();
                wanted.object
            }
            LiveState::Absent | LiveState::Unreadable(_) => Cow::Borrowed(self.target.desired.object()),
        };
        let read_only = self.policy.evidence == EvidenceMode::ReadOnly;
        match live {
            LiveState::Absent if read_only => State::Done(Finding::Missing(Evidence::Local)),
            LiveState::Absent if !self.policy.tries_creations => State::Done(Finding::Missing(Evidence::Server)),
            LiveState::Absent => State::Applying(None),
            LiveState::Unreadable(trouble) => State::Done(Finding::Unknown(trouble)),
            LiveState::Present(object) if object.is_terminating() => {
                let trouble =
                    Diagnostic::new(Code::Terminating, "it is being deleted").with_hint("run again when it is gone");
                State::Done(Finding::Unknown(trouble))
            }
            LiveState::Present(object) => match self.proof(&object) {
                Proof::Proven => {
                    let is_shown = is_ruled || self.policy.may_have_unmanaged_fields(&object);
                    State::Done(Finding::Proven(is_shown.then_some(object)))
                }
                Proof::Inconclusive(_)
                    if let Some(trouble) = unreadable_owners(&Ownership::of(&object, &self.policy.manager)) =>
                {
                    State::Done(Finding::Unknown(trouble))
                }
                Proof::Inconclusive(_) if read_only => self.predicted_locally(object),
                Proof::Inconclusive(_) => State::Applying(Some(object)),
            },
        }
    }

    /// Returns true if the same is sent over this object as over the one that was read before.
    fn is_wanted_over(&self, live: &Value) -> bool {
        Wanted::over(self.target, live, self.of, self.policy).object == self.wanted
    }

    fn proof(&mut self, live: &Value) -> Proof {
        let Some(kind) = self.target.kind() else { return Proof::Inconclusive(Unproven::NoEntry) };
        if self.policy.evidence == EvidenceMode::Server {
            return Proof::Inconclusive(Unproven::NoEntry);
        }
        let proof = prove(&self.wanted, live, self.of, &kind, self.policy);
        if let Proof::Inconclusive(unproven) = &proof {
            self.unproven = Some(unproven.clone());
        }
        proof
    }

    fn predicted_locally(&self, live: Value) -> State {
        let kind = self.target.kind();
        let prediction = predict(&self.wanted, &live, self.of, kind.as_ref(), self.policy);
        State::Done(Finding::Predicted { live, prediction })
    }

    /// Takes the answer to the apply, which belongs to the live object that was read.
    fn predicted(&mut self, live: Value, answer: Value) -> State {
        let manager = &self.policy.manager;
        let api_version = self.target.key.gvk.api_version();
        let owners = Ownership::of(&answer, manager);
        if let Some(trouble) = unreadable_owners(&owners) {
            return State::Done(Finding::Unknown(trouble));
        }
        let claims = owners.our_fields();
        let in_the_way = FieldSet::new();
        let mut prediction = Prediction { object: answer, owners, evidence: Evidence::Server, in_the_way };
        let settled =
            Ownership::of(&live, manager).with_claims_transferred(&live, self.of, &claims, &api_version, self.policy);
        let Some(settled) = settled else { return State::Done(Finding::Predicted { live, prediction }) };
        let stays = structured_merge::fields_of(&self.wanted, self.of);
        let stays = with_string_data(&self.target.key.gvk, stays, &[]);
        let kept = settled.fields_of_others().union(&stays);
        let pruned = prune(&prediction.object, self.of, &settled.our_fields(), &kept);
        let before = std::mem::replace(&mut prediction.object, pruned);
        if before == prediction.object {
            return State::Done(Finding::Predicted { live, prediction });
        }
        State::Pruning { live, prediction }
    }

    /// Says why an answer tells nothing about the object, if so. Under one resourceVersion there is one uid.
    fn bad_answer(&self, answer: &Answer) -> Option<Diagnostic> {
        match (&self.state, answer) {
            (_, Answer::Refused(error)) if error.is_bad_answer() => {
                Some(Diagnostic::about(&self.target.key.gvk, error))
            }
            (
                State::Applying(Some(live)) | State::Pruning { live, .. } | State::Transferring { live, .. },
                Answer::Object(object, _),
            )
            | (State::Reading(live), Answer::Live(LiveState::Present(object))) => {
                let is_other = version(live) == version(object) && live.uid() != object.uid();
                is_other
                    .then(|| Diagnostic::new(Code::Failed, "the server answered with another object of the same name"))
            }
            _ => None,
        }
    }

    /// Warnings as they may be shown: of a warning about a Secret, only who warns.
    fn shown_warnings(&self, live: Option<&Value>, mut warnings: Vec<String>) -> Vec<String> {
        if is_secret(self.target, live) {
            warnings = warnings.iter().map(|text| discreet::warning(text)).collect();
            warnings.dedup();
        }
        warnings
    }
}
