//! From what was found to the verdict on one object.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, ObjectMeta as _, Ownership, Proof, TypeRef, prove};

use super::diff::{Evidence, FieldDiff, Reason};
use super::finding::Finding;
use super::judge::judge;
use super::object_pair::ObjectPair;
use super::object_verdict::{Assessment, ObjectVerdict};
use super::policy::{Policy, Replace};
use super::prediction::{Prediction, predict, unreadable_owners};
use super::redact::{Redactor, is_withheld};
use super::refusal::Refusal;
use super::replacement::{cost, replace_guard};
use super::secrecy::Secrecy;
use super::versions::Versions;
use super::wanted::Wanted;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::{LiveState, Target};
use crate::rules::RuleRef;

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
        Finding::Missing(evidence) => create(target, *evidence, setting, redactor),
        Finding::Proven(None) => FieldDiff::none(Evidence::Proven).into(),
        Finding::Proven(Some(live)) => {
            let owners = Ownership::of(live, &setting.policy.manager);
            let prediction =
                Prediction { object: live.clone(), owners, evidence: Evidence::Proven, in_the_way: FieldSet::new() };
            Compared::of(target, live, Some(&prediction), setting, redactor).into()
        }
        Finding::Predicted { live, prediction } => {
            Compared::of(target, live, Some(prediction), setting, redactor).into()
        }
        Finding::Unknown(trouble) => unknown(trouble.clone()),
        Finding::Refused { live, refusal } => match (refusal, live) {
            (Refusal::Immutable(reason), Some(live)) => {
                let Compared { fields, mut warnings, rules } = Compared::of(target, live, None, setting, redactor);
                warnings.extend(cost(&target.key.gvk, live));
                let hint = match (replace_guard(target), setting.policy.replace) {
                    (Some(replace_guard), _) => Some(replace_guard),
                    (None, Replace::Never) => Some("pass `--replace=immutable` to delete and recreate it".to_owned()),
                    (None, Replace::Immutable) => None,
                };
                let reason = Reason { text: reason.clone(), hint };
                Assessment { verdict: ObjectVerdict::Replace { fields, reason }, warnings, rules }
            }
            (Refusal::Typed(trouble) | Refusal::Other(trouble), live) if setting.types_will_change => {
                let mut assessment = match live {
                    Some(live) => Compared::of(target, live, None, setting, redactor).into(),
                    None => create(target, Evidence::Local, setting, redactor),
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
        LiveState::Absent => create(target, Evidence::Local, setting, redactor),
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
            let wanted = Wanted::over(target, live, setting.of, setting.policy);
            let proof = target.kind().map(|kind| prove(&wanted.object, live, setting.of, &kind, setting.policy));
            if proof == Some(Proof::Proven) {
                let is_shown = !wanted.covering.is_empty() || setting.policy.may_have_unmanaged_fields(live);
                let finding = Finding::Proven(is_shown.then(|| live.clone()));
                return verdict(target, &finding, setting, redactor);
            }
            if let Some(trouble) = unreadable_owners(&Ownership::of(live, &setting.policy.manager)) {
                return unknown(trouble);
            }
            Compared::of(target, live, None, setting, redactor).into()
        }
    }
}

fn create(target: &Target, evidence: Evidence, setting: CompareContext<'_>, redactor: &Redactor) -> Assessment {
    let manifest = target.desired.object();
    let secrecy = Secrecy::of(&target.key.gvk, Some(manifest), None);
    let verdict = ObjectVerdict::Create { desired: redactor.value(&secrecy, &FieldPath::root(), manifest), evidence };
    let rules = Wanted::covering_new(target, setting.of, setting.policy);
    Assessment { verdict, warnings: Vec::new(), rules }
}

fn unknown(trouble: Diagnostic) -> Assessment {
    ObjectVerdict::Unknown(trouble).into()
}

/// The fields of a live object, compared with those that an apply would leave.
struct Compared {
    fields: FieldDiff,
    warnings: Vec<String>,
    rules: BTreeSet<RuleRef>,
}

impl Compared {
    /// Compares with the prediction, or with our own where there is none.
    fn of(
        target: &Target,
        live: &Value,
        prediction: Option<&Prediction>,
        CompareContext { of, policy, .. }: CompareContext<'_>,
        redactor: &Redactor,
    ) -> Self {
        let wanted = Wanted::over(target, live, of, policy);
        let own = || predict(&wanted.object, live, of, target.kind().as_ref(), policy);
        let prediction = prediction.map_or_else(|| Cow::Owned(own()), Cow::Borrowed);
        let subject = ObjectPair {
            gvk: &target.key.gvk,
            versions: &target.versions,
            manifest: &wanted.object,
            written: target.desired.object(),
            ignored: &wanted.ignored,
            live,
            of,
            // A kind of which nothing is known keeps its status to itself, as nearly all do.
            status_is_apart: target.status_is_apart(),
        };
        let (mut fields, warnings) = judge(subject, &prediction, policy, redactor);
        fields.ignored = wanted.hidden(target, live, of, policy);
        // What changes in a definition is told by its versions as a whole, not field by field of its schema.
        if (policy.keeps_versions || target.key.gvk.is_crd()) && fields.has_drift() {
            let secrecy = Secrecy::of(&target.key.gvk, Some(target.desired.object()), Some(live));
            let versions = Versions::of(live, &prediction.object, &secrecy, subject.status_is_apart);
            fields.versions = Some(Arc::new(versions));
        }
        Self { fields, warnings, rules: wanted.covering }
    }
}

impl From<Compared> for Assessment {
    fn from(Compared { fields, warnings, rules }: Compared) -> Self {
        Self { verdict: fields.into(), warnings, rules }
    }
}
