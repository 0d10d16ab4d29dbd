//! The questions that follow when the server rejects the apply.

use serde_json::Value;
use structured_merge::{FieldSet, without_system_fields};

use super::{Answer, ComparisonMachine, Probe, State};
use crate::compare::decision::ComparisonResult;
use crate::compare::diff::Evidence;
use crate::compare::live_object::LiveObject;
use crate::compare::policy::{EvidenceMode, RemoveAdded};
use crate::compare::rejection::refusal::{Refusal, refusal, unchangeable};
use crate::compare::rejection::{Blame, Reach, RejectedObject, blame, in_the_way, refused_result};
use crate::compare::replacement::{accepts_values, may_be_immutable, probe_object};
use crate::compare::secrecy::Secrecy;
use crate::diagnostic::{Code, Diagnostic};
use crate::request::{RequestError, StatusError};

impl ComparisonMachine<'_> {
    /// Takes the rejection of the object that remains after a transfer of claims; the reason may be that the object has changed.
    pub(super) fn pruning_rejected(&mut self, live: Box<LiveObject>, error: &RequestError) -> State {
        if error.is_conflict() && self.rounds > 0 {
            self.rounds -= 1;
            return State::Reading { answer: Value::Null, live };
        }
        if !live.removed.is_empty()
            && let Some(status) = error.refusal().filter(|status| matches!(status.code, 400 | 403 | 422))
            && let Some(reason) =
                refusal(self.context.target, Some(&live.current.object), self.context.schema, status).reason()
        {
            return self.removal_refused(live, &reason);
        }
        self.rejected(Some(live), error)
    }

    /// Ends with an object of which nothing is applied, as the server refuses it without what others added; or compares it with that.
    pub(super) fn removal_refused(&mut self, mut live: Box<LiveObject>, reason: &str) -> State {
        if self.context.policy.remove_added == RemoveAdded::Offered {
            live.removed = FieldSet::new();
            return self.compare(*live);
        }
        let message = format!("what was added in the cluster cannot be removed: {reason}");
        let hint = "leave the object out of this run, name other managers with `--remove-added`, or keep the field with an ignore rule";
        let refusal = Refusal::Other(Diagnostic::new(Code::Invalid, message).with_hint(hint));
        State::Done(ComparisonResult::Refused { live: Some(live), refusal })
    }

    /// Reads the rejection. If a probe can give a better diagnostic, asks if the server accepts the manifest alone.
    pub(super) fn rejected(&mut self, live: Option<Box<LiveObject>>, error: &RequestError) -> State {
        let Some(status) = error.refusal() else {
            return State::Done(ComparisonResult::Unknown(
                self.failure(live.as_ref().map(|live| &live.current.object), error),
            ));
        };
        let object = live.as_ref().map(|live| &live.current.object);
        match (refusal(self.context.target, object, self.context.schema, status), live) {
            (Refusal::NotTried(diagnostic), live) if self.context.policy.evidence == EvidenceMode::Auto => {
                // Without the name of the object, so that all objects of a kind have the same warning.
                let missing = status.missing.as_ref().map(|missing| missing.denial());
                let why = missing.unwrap_or(diagnostic.message);
                self.warnings.push(format!("compared locally, because the server cannot be asked: {why}"));
                // Before a webhook refuses a dry run, the server has found that the manifest fits its type, which may be newer than ours.
                let is_typed = status.code != 403;
                match live {
                    Some(live) if is_typed => self.predicted_locally(live),
                    Some(live) => self.compared_locally(live),
                    None if is_typed => State::Done(ComparisonResult::Missing(Evidence::Local)),
                    None => self.missing_locally(),
                }
            }
            (refusal @ (Refusal::Invalid(..) | Refusal::Other(_)), Some(live)) => {
                if let Some((probes, accepted)) = self.probes(&live, status, &refusal) {
                    return State::Probing { live, probes, accepted };
                }
                let refusal = refusal.with_diagnostic(|diagnostic| self.naming_ignored(&live, status, diagnostic));
                State::Done(ComparisonResult::Refused { live: Some(live), refusal })
            }
            (refusal, live) => State::Done(ComparisonResult::Refused { live, refusal }),
        }
    }

    /// The diagnostic, with the field in its hint that is in the way and that a rule leaves alone.
    fn naming_ignored(&self, live: &LiveObject, status: &StatusError, diagnostic: Diagnostic) -> Diagnostic {
        let subject = self.subject(&live.current.object, status);
        let named = in_the_way(&subject, status, &live.current.owners, self.context.policy, Reach::Named);
        match named.into_iter().map(|one| one.path).find(|path| live.ignores(path)) {
            Some(path) => {
                let path = Secrecy::of_target(self.context.target, Some(&live.current.object)).shown_path(&path);
                diagnostic.with_hint(format!(
                    "the live object has `{path}`, which is to be left alone, and the server refuses it together with the manifest"
                ))
            }
            None => diagnostic,
        }
    }

    /// The objects whose creation is tried before immutable fields are blamed, and the meaning of the rejection if the server accepts
    /// them all. If it rejects the manifest itself, its values are invalid; if it rejects only the merged object, live fields clash
    /// with the manifest. `None` if a probe shows nothing.
    fn probes(&self, live: &LiveObject, status: &StatusError, refused: &Refusal) -> Option<(Vec<Probe>, Refusal)> {
        let gvk = &self.context.target.key.gvk;
        let manifest = self.context.target.desired.object();
        let object = &live.current.object;
        let sent = live.sent(self.context.target);
        let subject = self.subject(object, status);
        let own = |is_specific| {
            Some(Probe { object: probe_object(gvk, manifest, object)?, refused: refused.clone(), is_specific })
        };
        let of_result = self.naming_ignored(live, status, refused_result(&subject, status, Some(&live.current.owners)));
        let refused = Refusal::Invalid(of_result, status.causes.clone());
        if may_be_immutable(status) {
            let merged = self.context.predict(sent, &live.current).object;
            let accepted = Refusal::Immutable(unchangeable(self.context.target, object, status));
            let object = probe_object(gvk, &without_system_fields(&merged), object)?;
            return Some((vec![Probe { object, refused, is_specific: false }, own(false)?], accepted));
        }
        (blame(&subject, status) == Blame::Both).then(|| Some((vec![own(true)?], refused)))?
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
            (Some(probe), Answer::Refused(error)) if !error.status().is_some_and(accepts_values) => {
                self.refusal_of(probe, &error)
            }
            _ if probes.is_empty() => accepted,
            _ => return State::Probing { live, probes, accepted },
        };
        State::Done(ComparisonResult::Refused { live: Some(live), refusal })
    }

    /// The refusal that the rejection of a probe means.
    fn refusal_of(&self, probe: Probe, error: &RequestError) -> Refusal {
        let refusal = error
            .status()
            .filter(|_| probe.is_specific)
            .map(|status| refusal(self.context.target, None, self.context.schema, status));
        match refusal {
            Some(Refusal::Invalid(diagnostic, causes)) if !diagnostic.details.is_empty() => {
                Refusal::Invalid(diagnostic, causes)
            }
            _ => probe.refused,
        }
    }

    pub(super) fn subject<'s>(&'s self, live: &'s Value, status: &StatusError) -> RejectedObject<'s> {
        RejectedObject::new(self.context.target, Some(live), self.context.schema, status)
    }
}
