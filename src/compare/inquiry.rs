//! What has to be asked about one object, step by step. Pure: [`crate::live::ask`] sends the questions.

use std::borrow::Cow;

use serde_json::Value;

use super::diff::Evidence;
use super::merge::{Prediction, predict, predict_without, verbatim, with_live_spelling};
use super::node_ports::with_node_ports;
use super::nulls::holds_null;
use super::owners::{Owners, Policy, with_string_data};
use super::patch::{replacement, version};
use super::prove::{Proof, Unproven, prove};
use super::prune::prune;
use super::refusal::{Refusal, is_secret, refusal, unchangeable};
use super::rejection::{Blame, RejectedObject, blame, in_the_way, refused_result};
use super::replacement::{may_be_immutable, probe_object};
use crate::live::ask::{Answer, Inquiry, Step};
use crate::live::{LiveState, RequestError, StatusError, Target, Trouble, discreet};
use crate::object::{FieldSet, without_system_fields};
use crate::schema::{self, TypeRef};

/// How a verdict may be come by (`--evidence`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EvidenceMode {
    /// Prove; where that fails, ask; where that isn't possible, compare here.
    #[default]
    Auto,
    /// Ask for every object.
    Server,
    /// Never send a PATCH: prove, else compare here.
    ReadOnly,
}

/// How often an object that changes between reading and asking is read again.
const ROUNDS: usize = 5;

/// What is known of an object when nothing is left to ask.
#[derive(Clone, Debug)]
pub enum Finding {
    /// It doesn't exist, and is to be created; the evidence says whether that is the server's word.
    Missing(Evidence),
    /// It exists, and an apply would change nothing; the live object is kept where it is to be shown.
    Proven(Option<Value>),
    /// It exists, and an apply would make this of it.
    Predicted {
        /// The object as it is.
        live: Value,
        /// The object as it would be.
        prediction: Prediction,
    },
    /// The server refuses the manifest.
    Refused {
        /// The object as it is, where it exists.
        live: Option<Value>,
        /// Why.
        refusal: Refusal,
    },
    /// Nothing can be said.
    Unknown(Trouble),
}

/// The questions about one object.
pub struct Questions<'a> {
    target: &'a Target,
    of: TypeRef<'a>,
    policy: &'a Policy,
    state: State,
    rounds: usize,
    warnings: Vec<String>,
    doubt: Option<Unproven>,
}

/// What was found about one object.
#[derive(Clone, Debug)]
pub struct Found {
    /// The finding.
    pub finding: Finding,
    /// What the server warned of.
    pub warnings: Vec<String>,
    /// Why nothing could be proven, where that was tried.
    pub doubt: Option<Unproven>,
}

impl From<Finding> for Found {
    fn from(finding: Finding) -> Self {
        Self { finding, warnings: Vec::new(), doubt: None }
    }
}

enum State {
    /// The live object is known; the apply is to be asked about.
    Asking(Option<Value>),
    /// The object moved while it was asked about: the answer is for another version.
    Reading(Value),
    /// The answer is there, and taking over the hands' claims would remove more than it shows.
    Pruning { live: Value, prediction: Prediction },
    /// The server refuses the apply beside the hands' claims, which are to pass to us first: what stands there then may be fine.
    Succeeding { live: Value, prediction: Prediction, error: RequestError },
    /// The server refuses the change for reasons that may be about fields which can't be changed, or about what only the live
    /// object has: creations under another name tell, the last of the trials first.
    Trying { live: Value, trials: Vec<Trial>, accepted: Refusal },
    /// All is known.
    Done(Finding),
}

/// A creation under another name, and what it means when the server refuses that as well.
struct Trial {
    object: Value,
    refused: Trouble,
    /// Whether the refusal of the trial itself tells better what is wrong: it is about the manifest alone.
    tells: bool,
}

impl<'a> Questions<'a> {
    /// Starts from what was read.
    #[must_use]
    pub fn new(target: &'a Target, live: LiveState, of: TypeRef<'a>, policy: &'a Policy) -> Self {
        let state = State::Done(Finding::Missing(Evidence::Local));
        let mut questions = Self { target, of, policy, state, rounds: ROUNDS, warnings: Vec::new(), doubt: None };
        questions.state = questions.start(live);
        questions
    }

    /// What was found.
    #[must_use]
    pub fn found(self) -> Found {
        let finding = match self.state {
            State::Done(finding) => finding,
            State::Pruning { live, prediction } => Finding::Predicted { live, prediction },
            State::Asking(_) | State::Reading(_) | State::Succeeding { .. } | State::Trying { .. } => {
                Finding::Unknown(Trouble::new("Interrupted", "the run ended before this object was compared"))
            }
        };
        Found { finding, warnings: self.warnings, doubt: self.doubt }
    }

    /// What can be said before anything is asked.
    fn start(&mut self, live: LiveState) -> State {
        let read_only = self.policy.evidence == EvidenceMode::ReadOnly;
        match live {
            LiveState::Absent if read_only => State::Done(Finding::Missing(Evidence::Local)),
            LiveState::Absent if !self.policy.tries_creations => State::Done(Finding::Missing(Evidence::Server)),
            LiveState::Absent => State::Asking(None),
            LiveState::Unreadable(trouble) => State::Done(Finding::Unknown(trouble)),
            LiveState::Present(object) if object.pointer("/metadata/deletionTimestamp").is_some() => {
                let trouble = Trouble::new("Terminating", "it is being deleted").with_hint("run again when it is gone");
                State::Done(Finding::Unknown(trouble))
            }
            LiveState::Present(object) => match self.proof(&object) {
                Proof::Proven => {
                    let is_shown = self.policy.show_unmanaged || self.policy.may_be_handled(&object);
                    State::Done(Finding::Proven(is_shown.then_some(object)))
                }
                Proof::Inconclusive(_) if let Some(trouble) = Owners::of(&object, &self.policy.manager).trouble() => {
                    State::Done(Finding::Unknown(trouble))
                }
                Proof::Inconclusive(_) if read_only => self.compared_here(object),
                Proof::Inconclusive(_) => State::Asking(Some(object)),
            },
        }
    }

    fn proof(&mut self, live: &Value) -> Proof {
        let Some(kind) = self.target.kind() else { return Proof::Inconclusive(Unproven::NoEntry) };
        if self.policy.evidence == EvidenceMode::Server {
            return Proof::Inconclusive(Unproven::NoEntry);
        }
        let proof = prove(&self.target.manifest.value, live, self.of, &kind, self.policy);
        if let Proof::Inconclusive(doubt) = &proof {
            self.doubt = Some(doubt.clone());
        }
        proof
    }

    fn compared_here(&self, live: Value) -> State {
        let kind = self.target.kind();
        let prediction = predict(&self.target.manifest.value, &live, self.of, kind.as_ref(), self.policy);
        State::Done(Finding::Predicted { live, prediction })
    }

    /// The answer belongs to the live object that was read.
    fn predicted(&mut self, live: Value, answer: Value) -> State {
        let manager = &self.policy.manager;
        let api_version = self.target.key.gvk.api_version();
        let owners = Owners::of(&answer, manager);
        if let Some(trouble) = owners.trouble() {
            return State::Done(Finding::Unknown(trouble));
        }
        let claims = owners.our_fields();
        let in_the_way = FieldSet::new();
        let mut prediction = Prediction { object: answer, owners, evidence: Evidence::Server, in_the_way };
        let before = Owners::of(&live, manager);
        let settled = before.with_manual_claims_transferred(&live, self.of, &claims, &api_version, self.policy);
        let Some(settled) = settled else { return State::Done(Finding::Predicted { live, prediction }) };
        let stays = schema::fields_of(&self.target.manifest.value, self.of);
        let stays = with_string_data(&self.target.key.gvk, stays, &Owners::default());
        let kept = settled.fields_of_others().union(&stays);
        let pruned = prune(&prediction.object, self.of, &settled.our_fields(), &kept);
        let before = std::mem::replace(&mut prediction.object, pruned);
        if before == prediction.object {
            return State::Done(Finding::Predicted { live, prediction });
        }
        State::Pruning { live, prediction }
    }

    /// Why an answer says nothing about the object, if it does not. Under one resourceVersion there is one uid.
    fn bad_answer(&self, answer: &Answer) -> Option<Trouble> {
        match (&self.state, answer) {
            (_, Answer::Refused(error)) if error.is_bad_answer() => Some(Trouble::about(&self.target.key.gvk, error)),
            (
                State::Asking(Some(live)) | State::Pruning { live, .. } | State::Succeeding { live, .. },
                Answer::Object(object, _),
            )
            | (State::Reading(live), Answer::Live(LiveState::Present(object))) => {
                let is_other = version(live) == version(object) && uid(live) != uid(object);
                is_other.then(|| Trouble::new("Failed", "the server answered with another object of the same name"))
            }
            _ => None,
        }
    }

    /// What is left to ask when the apply is refused.
    fn refused(&mut self, live: Option<Value>, error: RequestError) -> State {
        let is_clash = error.status().is_some_and(|status| status.code == 422);
        match live {
            Some(live) if is_clash => match self.succeeded(&live, &error) {
                Some(prediction) => State::Succeeding { live, prediction, error },
                None => self.judged(Some(live), &error),
            },
            live => self.judged(live, &error),
        }
    }

    /// What an apply would leave once hands' claims have passed to us, also those on what is in the way; none where they have none.
    fn succeeded(&self, live: &Value, error: &RequestError) -> Option<Prediction> {
        let (manifest, kind) = (&self.target.manifest.value, self.target.kind());
        // A patch loses nulls that an apply is refused for. Where the types are known, none of those is left.
        if !self.of.declares("kind") && holds_null(manifest) {
            return None;
        }
        let in_the_way = in_the_way(&self.subject(Some(live)), error.status()?, self.policy);
        let claims = schema::field_set(manifest, self.of, kind.as_ref()).union(&in_the_way);
        let api_version = self.target.key.gvk.api_version();
        let before = Owners::of(live, &self.policy.manager);
        before.with_manual_claims_transferred(live, self.of, &claims, &api_version, self.policy)?;
        Some(predict_without(manifest, live, self.of, kind.as_ref(), self.policy, in_the_way))
    }

    fn subject<'s>(&'s self, live: Option<&'s Value>) -> RejectedObject<'s> {
        RejectedObject { target: self.target, live, of: self.of }
    }

    /// The server refuses what is left once hands' claims have passed, or the object has moved meanwhile.
    fn refused_beside_hands(&mut self, live: Value, error: &RequestError) -> State {
        if error.status().is_some_and(|status| status.code == 409) && self.rounds > 0 {
            self.rounds -= 1;
            return State::Reading(Value::Null);
        }
        self.judged(Some(live), error)
    }

    /// What a refused trial says.
    fn trouble_of(&self, trial: Trial, error: &RequestError) -> Trouble {
        let refusal = error.status().filter(|_| trial.tells).map(|status| refusal(self.target, None, self.of, status));
        match refusal {
            Some(Refusal::Other(trouble)) if !trouble.mistakes.is_empty() => trouble,
            _ => trial.refused,
        }
    }

    fn judged(&mut self, live: Option<Value>, error: &RequestError) -> State {
        let Some(status) = error.status() else {
            return State::Done(Finding::Unknown(Trouble::about(&self.target.key.gvk, error)));
        };
        match (refusal(self.target, live.as_ref(), self.of, status), live) {
            (Refusal::NotTried(trouble), live) if self.policy.evidence == EvidenceMode::Auto => {
                self.warnings.push(format!("compared without the server, which can't be asked: {}", trouble.message));
                match live {
                    Some(live) => self.compared_here(live),
                    None => State::Done(Finding::Missing(Evidence::Local)),
                }
            }
            (Refusal::Other(trouble), Some(live)) => match self.trials(&live, status, &trouble) {
                Some((trials, accepted)) => State::Trying { live, trials, accepted },
                None => State::Done(Finding::Refused { live: Some(live), refusal: Refusal::Other(trouble) }),
            },
            (refusal, live) => State::Done(Finding::Refused { live, refusal }),
        }
    }

    /// Warnings as they may be told: one about a Secret says no more than who warns.
    fn warned(&self, live: Option<&Value>, mut warnings: Vec<String>) -> Vec<String> {
        if is_secret(self.target, live) {
            warnings = warnings.iter().map(|text| discreet::warning(text)).collect();
            warnings.dedup();
        }
        warnings
    }

    /// What the server has to accept as a creation, and what its refusal of the change means then. The manifest, or its values are
    /// bad; then it is about what only the live object has, as far as the paths tell. And for fields that can't be changed, what
    /// the apply would make of the live object, or what stays of it there clashes with the manifest. None where nothing is to be
    /// learnt from that.
    fn trials(&self, live: &Value, status: &StatusError, trouble: &Trouble) -> Option<(Vec<Trial>, Refusal)> {
        let gvk = &self.target.key.gvk;
        let manifest = &self.target.manifest.value;
        let subject = self.subject(Some(live));
        let own = |tells| Some(Trial { object: probe_object(gvk, manifest, live)?, refused: trouble.clone(), tells });
        let refused = refused_result(&subject, status);
        if may_be_immutable(status) {
            let merged = predict(manifest, live, self.of, self.target.kind().as_ref(), self.policy).object;
            let object = probe_object(gvk, &without_system_fields(&merged), live)?;
            let accepted = Refusal::Immutable(unchangeable(self.target, live, status));
            return Some((vec![Trial { object, refused, tells: false }, own(false)?], accepted));
        }
        (blame(&subject, status) == Blame::Both).then(|| Some((vec![own(true)?], Refusal::Other(refused))))?
    }
}

fn uid(object: &Value) -> Option<&str> {
    object.pointer("/metadata/uid").and_then(Value::as_str)
}

impl Inquiry for Questions<'_> {
    fn next(&mut self) -> Option<Step> {
        match &self.state {
            State::Asking(Some(live)) => {
                Some(Step::Apply(with_live_spelling(&self.target.manifest.value, live, self.of)))
            }
            State::Asking(None) => Some(Step::Apply(self.target.manifest.value.clone())),
            State::Reading(_) => Some(Step::Read),
            State::Pruning { live, prediction } => Some(Step::Patch(replacement(live, &prediction.object))),
            State::Succeeding { live, prediction, .. } => {
                let manifest = with_node_ports(Cow::Borrowed(&self.target.manifest.value), live, self.of);
                let object = verbatim(&manifest, &prediction.object, self.of);
                Some(Step::Patch(replacement(live, &object)))
            }
            State::Trying { trials, .. } => trials.last().map(|trial| Step::Create(trial.object.clone())),
            State::Done(_) => None,
        }
    }

    fn answered(&mut self, answer: Answer) {
        if let Some(trouble) = self.bad_answer(&answer) {
            self.state = State::Done(Finding::Unknown(trouble));
            return;
        }
        let interrupted = Finding::Unknown(Trouble::new("Interrupted", "the comparison was not finished"));
        let state = std::mem::replace(&mut self.state, State::Done(interrupted));
        self.state = match (state, answer) {
            (State::Asking(None), Answer::Object(_, warnings)) => {
                self.warnings = self.warned(None, warnings);
                State::Done(Finding::Missing(Evidence::Server))
            }
            (State::Asking(Some(live)), Answer::Object(object, warnings)) => {
                self.warnings = self.warned(Some(&live), warnings);
                if version(&live) == version(&object) || self.rounds == 0 {
                    self.predicted(live, object)
                } else {
                    self.rounds -= 1;
                    State::Reading(object)
                }
            }
            (State::Asking(live), Answer::Refused(error)) => self.refused(live, error),
            (State::Succeeding { live, mut prediction, .. }, Answer::Object(object, _)) => {
                (prediction.object, prediction.evidence) = (object, Evidence::Server);
                State::Done(Finding::Predicted { live, prediction })
            }
            (State::Succeeding { live, error, .. }, _) => self.judged(Some(live), &error),
            (State::Reading(answer), Answer::Live(LiveState::Present(live))) if version(&live) == version(&answer) => {
                self.predicted(live, answer)
            }
            (State::Reading(_), Answer::Live(live)) => self.start(live),
            (State::Pruning { live, mut prediction }, Answer::Object(object, _)) => {
                // The owners stay those of the apply; the patch was somebody's update.
                prediction.object = object;
                State::Done(Finding::Predicted { live, prediction })
            }
            (State::Trying { live, mut trials, accepted }, answer) => {
                let refusal = match (trials.pop(), answer) {
                    (Some(trial), Answer::Refused(error)) => Some(Refusal::Other(self.trouble_of(trial, &error))),
                    _ if trials.is_empty() => Some(accepted.clone()),
                    _ => None,
                };
                match refusal {
                    Some(refusal) => State::Done(Finding::Refused { live: Some(live), refusal }),
                    None => State::Trying { live, trials, accepted },
                }
            }
            // The apply that follows the takeover would be refused like this.
            (State::Pruning { live, .. }, Answer::Refused(error)) => self.refused_beside_hands(live, &error),
            (_, _) => State::Done(Finding::Unknown(Trouble::new("Failed", "the answer doesn't fit the question"))),
        };
    }
}
