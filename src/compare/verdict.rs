//! From what was found to the verdict on one object.

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, ObjectMeta as _, Ownership, Proof, TypeRef, prove};

use super::classify::{ObjectPair, judge};
use super::diff::{Evidence, FieldDiff, Reason};
use super::finding::Finding;
use super::object_verdict::{Assessment, ObjectVerdict};
use super::policy::{Policy, Replace};
use super::prediction::{Prediction, predict, unreadable_owners};
use super::redact::{Redactor, is_withheld};
use super::refusal::Refusal;
use super::replacement::{cost, replace_guard};
use super::secrecy::Secrecy;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::{LiveState, Target};

/// What a verdict needs beside the finding.
#[derive(Clone, Copy)]
pub struct CompareContext<'a> {
    /// The type's fields.
    pub of: TypeRef<'a>,
    /// Whose manager we are.
    pub policy: &'a Policy,
    /// Whether the kind's CustomResourceDefinition changes in this input, so that the server's types are not the last word.
    pub types_will_change: bool,
}

/// The verdict. Objects must come in a fixed order, for the numbers of their secrets.
#[must_use]
pub fn verdict(target: &Target, finding: &Finding, setting: CompareContext<'_>, redactor: &Redactor) -> Assessment {
    match finding {
        Finding::Missing(evidence) => create(target, *evidence, redactor).into(),
        Finding::Proven(None) => FieldDiff::none(Evidence::Proven).into(),
        Finding::Proven(Some(live)) => {
            let owners = Ownership::of(live, &setting.policy.manager);
            let prediction =
                Prediction { object: live.clone(), owners, evidence: Evidence::Proven, in_the_way: FieldSet::new() };
            compared(judge(subject(target, live, setting.of), &prediction, setting.policy, redactor))
        }
        Finding::Predicted { live, prediction } => {
            compared(judge(subject(target, live, setting.of), prediction, setting.policy, redactor))
        }
        Finding::Unknown(trouble) => unknown(trouble.clone()),
        Finding::Refused { live, refusal } => match (refusal, live) {
            (Refusal::Immutable(reason), Some(live)) => {
                let (fields, mut warnings) = local(target, live, setting, redactor);
                warnings.extend(cost(&target.key.gvk, live));
                let hint = match (replace_guard(target), setting.policy.replace) {
                    (Some(replace_guard), _) => Some(replace_guard),
                    (None, Replace::Never) => Some("pass `--replace=immutable` to delete and recreate it".to_owned()),
                    (None, Replace::Immutable) => None,
                };
                let reason = Reason { text: reason.clone(), hint };
                Assessment { verdict: ObjectVerdict::Replace { fields, reason }, warnings }
            }
            (Refusal::Typed(trouble) | Refusal::Other(trouble), live) if setting.types_will_change => {
                let mut assessment = match live {
                    Some(live) => compared(local(target, live, setting, redactor)),
                    None => create(target, Evidence::Local, redactor).into(),
                };
                assessment.warnings.push(format!(
                    "compared locally, because the server does not accept it before its CustomResourceDefinition is changed: {}",
                    trouble.message
                ));
                assessment
            }
            (Refusal::NoNamespace(name), _) => {
                let message = format!("namespace `{name}` does not exist");
                let hint = format!("add a manifest for it, or run `kubectl create namespace {name}`");
                unknown(Diagnostic::new(Code::NotFound, message).with_hint(hint))
            }
            (Refusal::Immutable(reason), None) => unknown(Diagnostic::new(Code::Invalid, reason.clone())),
            (Refusal::Typed(trouble) | Refusal::NotTried(trouble) | Refusal::Other(trouble), _) => {
                unknown(trouble.clone())
            }
        },
    }
}

/// The verdict without a server.
#[must_use]
pub fn offline(target: &Target, live: &LiveState, setting: CompareContext<'_>, redactor: &Redactor) -> Assessment {
    match live {
        _ if let (true, Err(trouble)) = (target.desired.is_refused(), &target.resource) => unknown(trouble.clone()),
        LiveState::Absent => create(target, Evidence::Local, redactor).into(),
        LiveState::Unreadable(trouble) => unknown(trouble.clone()),
        LiveState::Present(live) if is_withheld(live) => {
            let message = "its values are not in the snapshot";
            let hint = "take the snapshot with `--include-secrets`";
            unknown(Diagnostic::new(Code::ValuesWithheld, message).with_hint(hint))
        }
        LiveState::Present(live) if live.is_terminating() => {
            unknown(Diagnostic::new(Code::Terminating, "it was being deleted").with_hint("take a new snapshot"))
        }
        LiveState::Present(live) => {
            let proof =
                target.kind().map(|kind| prove(target.desired.object(), live, setting.of, &kind, setting.policy));
            if proof == Some(Proof::Proven) {
                let is_shown = setting.policy.show_unmanaged || setting.policy.may_have_manual_fields(live);
                let finding = Finding::Proven(is_shown.then(|| live.clone()));
                return verdict(target, &finding, setting, redactor);
            }
            if let Some(trouble) = unreadable_owners(&Ownership::of(live, &setting.policy.manager)) {
                return unknown(trouble);
            }
            compared(local(target, live, setting, redactor))
        }
    }
}

fn create(target: &Target, evidence: Evidence, redactor: &Redactor) -> ObjectVerdict {
    let manifest = target.desired.object();
    let secrecy = Secrecy::of(&target.key.gvk, Some(manifest), None);
    ObjectVerdict::Create { desired: redactor.value(&secrecy, &FieldPath::root(), manifest), evidence }
}

fn unknown(trouble: Diagnostic) -> Assessment {
    ObjectVerdict::Unknown(trouble).into()
}

fn compared((fields, warnings): (FieldDiff, Vec<String>)) -> Assessment {
    Assessment { verdict: fields.into(), warnings }
}

fn local(target: &Target, live: &Value, setting: CompareContext<'_>, redactor: &Redactor) -> (FieldDiff, Vec<String>) {
    let kind = target.kind();
    let prediction = predict(target.desired.object(), live, setting.of, kind.as_ref(), setting.policy);
    judge(subject(target, live, setting.of), &prediction, setting.policy, redactor)
}

fn subject<'a>(target: &'a Target, live: &'a Value, of: TypeRef<'a>) -> ObjectPair<'a> {
    // A kind of which nothing is known keeps its status to itself, as nearly all do.
    let status_is_apart = target.resource.as_ref().map_or(true, |resource| resource.status);
    ObjectPair { gvk: &target.key.gvk, manifest: target.desired.object(), live, of, status_is_apart }
}
