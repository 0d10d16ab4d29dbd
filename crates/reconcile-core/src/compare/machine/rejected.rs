//! The questions that follow when the server rejects the apply.

use serde_json::Value;
use structured_merge::without_system_fields;

use super::{Answer, ComparisonMachine, Probe, State};
use crate::compare::comparison_result::ComparisonResult;
use crate::compare::live_object::LiveObject;
use crate::compare::nulls::holds_null;
use crate::compare::policy::EvidenceMode;
use crate::compare::prediction::{Prediction, predict, predict_displacing};
use crate::compare::refusal::{Refusal, refusal, unchangeable};
use crate::compare::rejection::{Blame, RejectedObject, blame, in_the_way, refused_result};
use crate::compare::replacement::{may_be_immutable, probe_object};
use crate::diagnostic::Diagnostic;
use crate::request::{RequestError, StatusError};

impl ComparisonMachine<'_> {
    /// Takes the rejection of the apply.
    pub(super) fn apply_rejected(&mut self, live: Option<Box<LiveObject>>, error: RequestError) -> State {
        let is_clash = error.status().is_some_and(|status| status.code == 422);
        match live {
            Some(live) if is_clash => match self.after_transfer(&live, &error) {
                Some(prediction) => State::Transferring { live, prediction: Box::new(prediction), error },
                None => self.rejected(Some(live), &error),
            },
            live => self.rejected(live, &error),
        }
    }

    /// Predicts the apply after manual claims, also on fields that conflict with the manifest, have been transferred to us. `None` if
    /// there are no such claims.
    fn after_transfer(&self, live: &LiveObject, error: &RequestError) -> Option<Prediction> {
        let LiveObject { current, wanted } = live;
        let (manifest, kind) = (wanted.object(self.target), self.target.kind());
        // A patch drops nulls for which the server refuses an apply. If the types are known, such nulls have already been removed.
        if !self.schema.declares("kind") && holds_null(manifest) {
            return None;
        }
        let status = error.status()?;
        let in_the_way = in_the_way(&self.subject(&current.object, status), status, &current.owners, self.policy);
        let claims = structured_merge::field_set(manifest, self.schema, kind.as_ref()).union(&in_the_way);
        let api_version = self.target.key.gvk.api_version();
        current.owners.with_claims_transferred(&current.object, self.schema, &claims, &api_version, self.policy)?;
        Some(predict_displacing(manifest, current, self.schema, kind.as_ref(), self.policy, in_the_way))
    }

    /// Takes the rejection of the patch that tries the apply with the manual claims: the server rejects that too, cannot be asked, or
    /// the object has changed.
    pub(super) fn transfer_rejected(
        &mut self,
        live: Box<LiveObject>,
        apply: &RequestError,
        trial: &RequestError,
    ) -> State {
        match trial.status().map(|status| status.code) {
            Some(409) => self.pruning_rejected(live, trial),
            Some(429) => self.rejected(Some(live), trial),
            Some(400..=499) => self.rejected(Some(live), apply),
            _ => self.rejected(Some(live), trial),
        }
    }

    /// Takes the rejection of the object that remains after a transfer of claims; the reason may be that the object has changed.
    pub(super) fn pruning_rejected(&mut self, live: Box<LiveObject>, error: &RequestError) -> State {
        if error.status().is_some_and(|status| status.code == 409) && self.rounds > 0 {
            self.rounds -= 1;
            return State::Reading { answer: Value::Null, wanted: live.wanted };
        }
        self.rejected(Some(live), error)
    }

    /// Reads the rejection. If a probe can give a better diagnostic, asks if the server accepts the manifest alone.
    pub(super) fn rejected(&mut self, live: Option<Box<LiveObject>>, error: &RequestError) -> State {
        let Some(status) = error.refusal() else {
            return State::Done(ComparisonResult::Unknown(
                self.failure(live.as_ref().map(|live| &live.current.object), error),
            ));
        };
        let object = live.as_ref().map(|live| &live.current.object);
        match (refusal(self.target, object, self.schema, status), live) {
            (Refusal::NotTried(diagnostic), live) if self.policy.evidence == EvidenceMode::Auto => {
                self.warnings
                    .push(format!("compared locally, because the server cannot be asked: {}", diagnostic.message));
                match live {
                    Some(live) => self.predicted_locally(live),
                    None => self.missing_locally(),
                }
            }
            (Refusal::Other(diagnostic), Some(live)) => match self.probes(&live, status, &diagnostic) {
                Some((probes, accepted)) => State::Probing { live, probes, accepted },
                None => {
                    State::Done(ComparisonResult::Refused { live: Some(live), refusal: Refusal::Other(diagnostic) })
                }
            },
            (refusal, live) => State::Done(ComparisonResult::Refused { live, refusal }),
        }
    }

    /// The objects whose creation is tried before immutable fields are blamed, and the meaning of the rejection if the server accepts
    /// them all. If it rejects the manifest itself, its values are invalid; if it rejects only the merged object, live fields clash
    /// with the manifest. `None` if a probe shows nothing.
    fn probes(&self, live: &LiveObject, status: &StatusError, refused: &Diagnostic) -> Option<(Vec<Probe>, Refusal)> {
        let gvk = &self.target.key.gvk;
        let manifest = self.target.desired.object();
        let (object, sent) = (&live.current.object, live.wanted.object(self.target));
        let subject = self.subject(object, status);
        let own = |is_specific| {
            Some(Probe { object: probe_object(gvk, manifest, object)?, refused: refused.clone(), is_specific })
        };
        let refused = refused_result(&subject, status);
        if may_be_immutable(status) {
            let kind = self.target.kind();
            let merged = predict(sent, &live.current, self.schema, kind.as_ref(), self.policy).object;
            let accepted = Refusal::Immutable(unchangeable(self.target, object, status));
            let object = probe_object(gvk, &without_system_fields(&merged), object)?;
            return Some((vec![Probe { object, refused, is_specific: false }, own(false)?], accepted));
        }
        (blame(&subject, status) == Blame::Both).then(|| Some((vec![own(true)?], Refusal::Other(refused))))?
    }

    /// Takes the answer to the last probe.
    pub(super) fn probed(
        &self,
        live: Box<LiveObject>,
        mut probes: Vec<Probe>,
        accepted: Refusal,
        answer: Answer,
    ) -> State {
        let refusal = match (probes.pop(), answer) {
            (Some(probe), Answer::Refused(error)) => Refusal::Other(self.diagnostic_of(probe, &error)),
            _ if probes.is_empty() => accepted,
            _ => return State::Probing { live, probes, accepted },
        };
        State::Done(ComparisonResult::Refused { live: Some(live), refusal })
    }

    /// The diagnostic for the rejection of a probe.
    fn diagnostic_of(&self, probe: Probe, error: &RequestError) -> Diagnostic {
        let refusal =
            error.status().filter(|_| probe.is_specific).map(|status| refusal(self.target, None, self.schema, status));
        match refusal {
            Some(Refusal::Other(diagnostic)) if !diagnostic.details.is_empty() => diagnostic,
            _ => probe.refused,
        }
    }

    fn subject<'s>(&'s self, live: &'s Value, status: &StatusError) -> RejectedObject<'s> {
        RejectedObject::new(self.target, Some(live), self.schema, status)
    }
}
