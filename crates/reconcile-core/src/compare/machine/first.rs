//! The first question about an object that was read, or the end of its comparison without one.

use serde_json::Value;
use structured_merge::{FieldSet, ObjectMeta as _, Proof, Unproven, builtin_kind, prove};

use super::{ComparisonMachine, State};
use crate::compare::additions::without_defaults;
use crate::compare::decision::ComparisonResult;
use crate::compare::decision::membership::Membership;
use crate::compare::diff::Evidence;
use crate::compare::immutable_fields::immutable_change;
use crate::compare::live_object::LiveObject;
use crate::compare::policy::EvidenceMode;
use crate::compare::prediction::{CompareContext, unreadable_owners};
use crate::compare::rejection::refusal::{Refusal, wrong_types};
use crate::compare::rejection::{RejectedObject, fits};
use crate::compare::secrecy::Secrecy;
use crate::compare::secrecy::paths::has_values;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::LiveState;

impl ComparisonMachine<'_> {
    /// Begins with the object that was read: ends the comparison, or asks the first question.
    pub(super) fn begin(&mut self, live: LiveState) -> State {
        self.left.clear();
        self.made.clear();
        self.is_half = false;
        self.was_predicted = false;
        match live {
            LiveState::Absent if self.context.policy.evidence == EvidenceMode::ReadOnly => self.missing_locally(),
            LiveState::Absent if !self.context.policy.tries_creations => {
                State::Done(ComparisonResult::Missing(Evidence::Server))
            }
            LiveState::Absent => State::Applying(None),
            LiveState::Unreadable(diagnostic) => State::Done(ComparisonResult::Unknown(diagnostic)),
            LiveState::Present(object) => {
                let live = self.live_object(object);
                self.compare(live)
            }
        }
    }

    /// Ends with an object that the server does not serve in the version of the manifest yet.
    pub(super) fn pending(&mut self, live: LiveState) -> State {
        State::Done(match live {
            LiveState::Absent => ComparisonResult::Missing(Evidence::Local),
            LiveState::Unreadable(diagnostic) => ComparisonResult::Unknown(diagnostic),
            LiveState::Present(object) => {
                let live = Box::new(self.live_object(object));
                match self.untouchable(&live) {
                    Some(diagnostic) => ComparisonResult::Unknown(diagnostic),
                    None => ComparisonResult::Refused { live: Some(live), refusal: self.unserved() },
                }
            }
        })
    }

    /// The reason why nothing is asked about an object in a version that the server does not serve yet.
    fn unserved(&self) -> Refusal {
        let version = self.context.target.key.gvk.api_version();
        Refusal::Early(Diagnostic::new(Code::UnknownKind, format!("`{version}` is not served yet")))
    }

    pub(super) fn live_object(&mut self, object: Value) -> LiveObject {
        let live = LiveObject::leaving(&self.left, self.context, object);
        self.membership.clone_from(&live.membership);
        live
    }

    /// Tries to finish the comparison of a live object without a question.
    pub(super) fn compare(&mut self, live: LiveObject) -> State {
        if let Some(diagnostic) = self.untouchable(&live) {
            return State::Done(ComparisonResult::Unknown(diagnostic));
        }
        match self.proof(&live) {
            Proof::Proven if !live.removed.is_empty() || self.may_be_refused(&live) => self.ask(live),
            Proof::Proven => {
                // The report counts and shows the fields that others added.
                let others = &mut live.current.owners.others.iter();
                let is_shown = !live.covering.is_empty() || others.any(|entry| entry.subresource != "status");
                State::Done(ComparisonResult::Proven(is_shown.then(|| Box::new(live))))
            }
            Proof::Inconclusive(_) => self.ask(live),
        }
    }

    /// Returns true if the server may refuse an apply that changes nothing: the definition of a custom resource has changed since, and a value
    /// no longer fits its type, or the object lacks what it has to have.
    fn may_be_refused(&self, live: &LiveObject) -> bool {
        let CompareContext { target, schema, .. } = self.context;
        let object = &live.current.object;
        let is_fit = || {
            let has = |name: &str| object.get(name).is_some();
            [live.sent(target), object].iter().all(|value| fits(value, schema, false)) && schema.required().all(has)
        };
        builtin_kind(&target.key.gvk).is_none() && !is_fit()
    }

    /// The reason why the object is not compared, whatever its fields are.
    fn untouchable(&self, live: &LiveObject) -> Option<Diagnostic> {
        let object = &live.current.object;
        let terminating = object.is_terminating().then(|| terminating(object));
        terminating.or_else(|| self.membership.as_ref().and_then(Membership::refusal))
    }

    /// Asks the server about an object that is not proven to be in sync, if it may be asked.
    fn ask(&mut self, live: LiveObject) -> State {
        if let Some(diagnostic) = unreadable_owners(&live.current.owners) {
            return State::Done(ComparisonResult::Unknown(diagnostic));
        }
        if self.context.policy.evidence == EvidenceMode::ReadOnly {
            return self.compared_locally(Box::new(live));
        }
        State::Applying(Some(Box::new(live)))
    }

    fn proof(&mut self, live: &LiveObject) -> Proof {
        let Some(kind) = self.context.target.kind() else { return Proof::Inconclusive(Unproven::NoEntry) };
        if self.context.policy.evidence == EvidenceMode::Server {
            return Proof::Inconclusive(Unproven::NoEntry);
        }
        let proof =
            prove(live.sent(self.context.target), &live.current, self.context.schema, &kind, self.context.policy);
        if let Proof::Inconclusive(unproven) = &proof {
            let mut unproven = unproven.clone();
            if let Some(path) = unproven.path_mut().filter(|path| has_values(path)) {
                *path = Secrecy::of_target(self.context.target, Some(&live.current.object)).shown_path(path);
            }
            self.unproven = Some(unproven);
        }
        proof
    }

    /// An object to create, about which no server is asked.
    pub(super) fn missing_locally(&self) -> State {
        State::Done(match self.wrong_types(None) {
            Some(mistakes) => ComparisonResult::Refused { live: None, refusal: Refusal::Typed(mistakes) },
            None => ComparisonResult::Missing(Evidence::Local),
        })
    }

    /// The mistakes of the manifest that its type alone shows.
    fn wrong_types(&self, live: Option<&LiveObject>) -> Option<Diagnostic> {
        let CompareContext { target, schema, .. } = self.context;
        let nothing = FieldSet::new();
        let (object, ignored) = live.map_or((None, &nothing), |live| (Some(&live.current.object), &live.ignored));
        wrong_types(&RejectedObject::of_manifest(target, object, schema), ignored)
    }

    /// An object that exists, about which no server is asked.
    pub(super) fn compared_locally(&mut self, live: Box<LiveObject>) -> State {
        match self.wrong_types(Some(&live)) {
            Some(mistakes) => {
                State::Done(ComparisonResult::Refused { live: Some(live), refusal: Refusal::Typed(mistakes) })
            }
            None => self.predicted_locally(live),
        }
    }

    /// Ends with the object that an apply would leave, unless it is known that the server refuses it.
    pub(super) fn predicted_locally(&mut self, live: Box<LiveObject>) -> State {
        let context = self.context;
        let manifest = live.sent(context.target);
        let removed = without_defaults(&live.removed, &live.current.object);
        let prediction = Box::new(context.predict_displacing(manifest, &live.current, removed));
        if let Some(refusal) = self.nulled(&live, &prediction.object) {
            return State::Done(ComparisonResult::Refused { live: Some(live), refusal });
        }
        let Some(reason) = immutable_change(context, &live, &prediction.object) else {
            return State::Done(ComparisonResult::Predicted { live, prediction });
        };
        let with_additions = || immutable_change(context, &live, &context.predict(manifest, &live.current).object);
        if !live.removed.is_empty() && with_additions().is_none() {
            return self.removal_refused(live, &reason);
        }
        State::Done(ComparisonResult::Refused { live: Some(live), refusal: Refusal::Immutable(reason) })
    }
}

/// The diagnostic for an object that is being deleted, with the finalizers that hold it, maybe for ever.
fn terminating(object: &Value) -> Diagnostic {
    let finalizers: Vec<&str> = object.finalizers().collect();
    let (waits, hint) = match finalizers.as_slice() {
        [] => (String::new(), "run again when it is gone"),
        [one] => (format!(", and waits for its finalizer `{one}`"), HELD),
        several => (format!(", and waits for its finalizers `{}`", several.join("`, `")), HELD),
    };
    Diagnostic::new(Code::Terminating, format!("it is being deleted{waits}")).with_hint(hint)
}

/// The hint about an object that finalizers hold.
const HELD: &str = "run again when it is gone; if the controller of a finalizer no longer exists, nothing else removes it from `metadata.finalizers`";
