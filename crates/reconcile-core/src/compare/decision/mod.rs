//! Turns the finding about one object into a verdict.

pub(crate) mod judge;
pub(crate) mod membership;
pub(crate) mod object_verdict;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, ObjectKey};

use crate::compare::diff::{Action, Class, Evidence, FieldDiff, Reason, Replacement};
use crate::compare::effect::Effect;
use crate::compare::live_object::{LiveObject, covering_new};
use crate::compare::policy::Replace;
use crate::compare::prediction::{CompareContext, Prediction};
use crate::compare::rejection::refusal::{Refusal, missing_namespace};
use crate::compare::replacement::{cost, larger_claim, replace_guard};
use crate::compare::secrecy::Secrecy;
use crate::compare::secrecy::redact::Redactor;
use crate::compare::secrecy::versions::Versions;
use crate::diagnostic::{Code, Diagnostic};
use crate::owners::ObjectTimes;
use crate::rules::RuleRef;
use judge::judge;
use membership::Membership;
use object_verdict::ObjectVerdict;

/// The finding about one object, and the verdict that follows from it.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The result of the comparison.
    finding: ComparisonResult,
    /// The verdict that reports show.
    pub verdict: ObjectVerdict,
    /// Warnings, from this program and from the server.
    pub warnings: Vec<String>,
    /// The ignore rules that cover a field of the object, whether or not the field differs.
    pub rules: BTreeSet<RuleRef>,
    /// The apply set that the object does not leave, if its manifest does not name it.
    pub membership: Option<Membership>,
    /// The effects of an apply beyond the fields, once they are found.
    pub effects: Vec<Effect>,
    /// The differences that follow from those of other objects, once they are found.
    pub following: Vec<Following>,
}

impl Decision {
    /// Decides about an object that is as its manifest says.
    pub fn in_sync(context: CompareContext<'_>, live: LiveObject, redactor: &Redactor) -> Self {
        decide(context, ComparisonResult::Proven(Some(Box::new(live))), redactor)
    }

    /// Returns true if it says nothing but that the object is in sync.
    pub fn is_plain(&self) -> bool {
        let Self { finding, verdict, warnings, rules, membership, effects, following } = self;
        matches!(finding, ComparisonResult::Proven(None))
            && *verdict == ObjectVerdict::InSync(FieldDiff::none(Evidence::Proven))
            && (warnings.is_empty() && rules.is_empty() && membership.is_none())
            && (effects.is_empty() && following.is_empty())
    }

    /// The verdict of the same comparison in another context.
    pub fn verdict_in(&self, context: CompareContext<'_>, redactor: &Redactor) -> ObjectVerdict {
        decide(context, self.finding.clone(), redactor).verdict
    }

    /// The live object that was compared, if the comparison has kept it.
    pub fn live(&self) -> Option<&Value> {
        self.live_object().map(|live| &live.current.object)
    }

    /// The times of the live object that bound the writes of others.
    pub fn times(&self) -> ObjectTimes {
        let applied = |live: &LiveObject| live.current.owners.ours.as_ref().and_then(|ours| ours.time.clone());
        let times = |live: &LiveObject| ObjectTimes::of(&live.current.object, applied(live).as_deref());
        self.live_object().map(times).unwrap_or_default()
    }

    /// The live object that was compared, with its owners, if the comparison has kept it.
    pub fn live_object(&self) -> Option<&LiveObject> {
        self.finding.live()
    }

    /// The result of an apply, if the server or this program has predicted one.
    pub fn prediction(&self) -> Option<&Prediction> {
        if let ComparisonResult::Predicted { prediction, .. } = &self.finding { Some(prediction) } else { None }
    }

    /// Returns true if the server could not be asked yet, because other objects of this input have to exist first.
    pub fn is_provisional(&self) -> bool {
        match &self.finding {
            ComparisonResult::Missing(evidence) => *evidence == Evidence::Local,
            ComparisonResult::Refused { .. } => {
                self.verdict.evidence() == Some(Evidence::Local) && self.verdict.action() != Action::Replace
            }
            ComparisonResult::Proven(_) | ComparisonResult::Predicted { .. } | ComparisonResult::Unknown(_) => false,
        }
    }
}

/// A difference that follows from those of other objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Following {
    /// The field.
    pub path: FieldPath,
    /// The other objects.
    pub of: Vec<ObjectKey>,
}

/// Decides about one object. The order of the objects must be fixed, as it gives their secret values their numbers.
pub(super) fn decide(context: CompareContext<'_>, finding: ComparisonResult, redactor: &Redactor) -> Decision {
    let mut builder = VerdictBuilder { context, redactor, warnings: Vec::new(), rules: BTreeSet::new() };
    let verdict = builder.verdict(&finding);
    let VerdictBuilder { warnings, rules, .. } = builder;
    Decision { finding, verdict, warnings, rules, membership: None, effects: Vec::new(), following: Vec::new() }
}

/// Builds a verdict, and collects the warnings and rules that belong to it.
struct VerdictBuilder<'a> {
    context: CompareContext<'a>,
    redactor: &'a Redactor,
    warnings: Vec<String>,
    rules: BTreeSet<RuleRef>,
}

impl VerdictBuilder<'_> {
    fn verdict(&mut self, finding: &ComparisonResult) -> ObjectVerdict {
        match finding {
            ComparisonResult::Missing(evidence) => self.creation(*evidence),
            ComparisonResult::Proven(None) => FieldDiff::none(Evidence::Proven).into(),
            ComparisonResult::Proven(Some(live)) => {
                let object = live.current.object.clone();
                let owners = live.current.owners.clone();
                let evidence = Evidence::Proven;
                let in_the_way = FieldSet::new();
                let prediction = Prediction { object, owners, evidence, in_the_way, rewrites_records: false };
                self.fields(live, Some(&prediction)).into()
            }
            ComparisonResult::Predicted { live, prediction } => self.fields(live, Some(prediction)).into(),
            ComparisonResult::Refused { live, refusal } => self.refused(live.as_deref(), refusal),
            ComparisonResult::Unknown(diagnostic) => ObjectVerdict::Unknown(diagnostic.clone()),
        }
    }

    fn creation(&mut self, evidence: Evidence) -> ObjectVerdict {
        let target = self.context.target;
        self.rules = covering_new(self.context);
        let desired = target.desired.with_object(|manifest| {
            let secrecy = Secrecy::of(&target.key.gvk, Some(manifest), None);
            let secrecy = secrecy.of_encrypted(target.desired.origin.is_encrypted);
            self.redactor.value(&secrecy, &FieldPath::root(), manifest)
        });
        ObjectVerdict::Create { desired: desired.into(), evidence }
    }

    fn refused(&mut self, live: Option<&LiveObject>, refusal: &Refusal) -> ObjectVerdict {
        match (refusal, live) {
            (Refusal::Immutable(reason), Some(live)) => self.replacement(live, reason),
            (Refusal::Typed(diagnostic) | Refusal::Other(diagnostic), live) if self.context.types_will_change => {
                let verdict = match live {
                    Some(live) => self.fields(live, None).into(),
                    None => self.creation(Evidence::Local),
                };
                self.warnings.push(format!(
                    "compared locally, because the server does not accept it before its CustomResourceDefinition is changed: {}",
                    diagnostic.message
                ));
                verdict
            }
            (Refusal::NoNamespace(name), _) => ObjectVerdict::Unknown(missing_namespace(name)),
            (Refusal::Immutable(reason), None) => {
                ObjectVerdict::Unknown(Diagnostic::new(Code::Invalid, reason.clone()))
            }
            (Refusal::Typed(diagnostic) | Refusal::NotTried(diagnostic) | Refusal::Other(diagnostic), _) => {
                ObjectVerdict::Unknown(diagnostic.clone())
            }
        }
    }

    fn replacement(&mut self, live: &LiveObject, reason: &str) -> ObjectVerdict {
        let CompareContext { target, policy, .. } = self.context;
        let object = &live.current.object;
        let fields = self.fields(live, None);
        // A size is no reason to replace a claim.
        if larger_claim(target, object).is_none() {
            self.warnings.extend(cost(&target.key.gvk, object));
        }
        let (replacement, hint) = match (replace_guard(target, object), policy.replace) {
            (Some(replace_guard), _) => (Replacement::Protected, Some(replace_guard)),
            (None, Replace::Never) => {
                (Replacement::NeedsFlag, Some("pass `--replace=immutable` to delete and recreate it".to_owned()))
            }
            (None, Replace::Immutable) => (Replacement::Allowed, None),
        };
        ObjectVerdict::Replace { fields, reason: Reason { replacement, text: reason.to_owned(), hint } }
    }

    /// Compares the fields of a live object with those that an apply would leave. Without a prediction, a local one is made.
    fn fields(&mut self, live: &LiveObject, prediction: Option<&Prediction>) -> FieldDiff {
        let CompareContext { target, policy, .. } = self.context;
        let current = &live.current;
        let own = || self.context.predict(live.sent(target), current);
        let prediction = prediction.map_or_else(|| Cow::Owned(own()), Cow::Borrowed);
        let (mut fields, warnings) = judge(self.context, live, &prediction, self.redactor);
        if policy.updates(&current.owners) {
            // An update records no fields that are equal already.
            fields.changes.retain(|change| !matches!(change.class, Class::Adopted | Class::Released));
        }
        fields.ignored = live.hidden(self.context);
        // A changed definition is shown by its versions as a whole, not by each field of its schemas.
        if (policy.keeps_versions || target.key.gvk.is_crd()) && fields.has_drift() {
            let secrecy = Secrecy::of(&target.key.gvk, Some(target.desired.object()), Some(&current.object));
            let secrecy = secrecy.of_encrypted(target.desired.origin.is_encrypted);
            let versions = Versions::of(&current.object, &prediction.object, &secrecy, target.status_is_apart());
            fields.versions = Some(Arc::new(versions));
        }
        self.warnings.extend(live.warnings.iter().cloned().chain(warnings));
        self.rules.clone_from(&live.covering);
        fields
    }
}

/// The result of the comparison of one object, once the server has answered all questions.
#[derive(Clone, Debug)]
pub(super) enum ComparisonResult {
    /// The object does not exist and has to be created; the evidence shows if the server was asked.
    Missing(Evidence),
    /// The object exists, and an apply would change nothing; the live object is kept if a report shows it.
    Proven(Option<Box<LiveObject>>),
    /// The object exists, and an apply would turn it into the prediction.
    Predicted {
        /// The live object.
        live: Box<LiveObject>,
        /// The object after the apply.
        prediction: Box<Prediction>,
    },
    /// The server rejects the manifest.
    Refused {
        /// The live object, if it exists.
        live: Option<Box<LiveObject>>,
        /// The reason.
        refusal: Refusal,
    },
    /// The object could not be compared.
    Unknown(Diagnostic),
}

impl ComparisonResult {
    /// The live object, as far as it was kept.
    pub fn live(&self) -> Option<&LiveObject> {
        Some(match self {
            Self::Proven(live) | Self::Refused { live, .. } => live.as_deref()?,
            Self::Predicted { live, .. } => live,
            Self::Missing(_) | Self::Unknown(_) => return None,
        })
    }
}
