//! Turns the finding about one object into a verdict.

pub(crate) mod judge;
pub(crate) mod membership;
pub(crate) mod object_verdict;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, ManagedObject, ObjectKey, TypeRef};

use crate::compare::additions::to_remove;
use crate::compare::diff::{Class, Evidence, FieldChange, FieldDiff, Reason, Replacement};
use crate::compare::effect::Effect;
use crate::compare::policy::{Policy, Replace};
use crate::compare::prediction::{ObjectPair, Prediction, predict};
use crate::compare::rejection::refusal::{Refusal, missing_namespace};
use crate::compare::replacement::{cost, larger_claim, replace_guard};
use crate::compare::secrecy::Secrecy;
use crate::compare::secrecy::redact::Redactor;
use crate::compare::secrecy::versions::Versions;
use crate::compare::wanted::Wanted;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::Target;
use crate::owners::ObjectTimes;
use crate::rules::RuleRef;
use judge::judge;
use membership::Membership;
use object_verdict::ObjectVerdict;

/// The finding about one object, and the verdict that follows from it.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The result of the comparison.
    pub finding: ComparisonResult,
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
        Some(match &self.finding {
            ComparisonResult::Proven(live) | ComparisonResult::Refused { live, .. } => live.as_deref()?,
            ComparisonResult::Predicted { live, .. } => live,
            ComparisonResult::Missing(_) | ComparisonResult::Unknown(_) => return None,
        })
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

/// The type and the policy by which an object is compared.
#[derive(Clone, Copy)]
pub struct CompareContext<'a> {
    /// The type's fields.
    pub schema: TypeRef<'a>,
    /// The policy of the run.
    pub policy: &'a Policy,
    /// True if the kind's CustomResourceDefinition changes in this input, so that the server's types are about to change.
    pub types_will_change: bool,
}

/// Decides about one object. The order of the objects must be fixed, as it gives their secret values their numbers.
pub fn decide(
    target: &Target,
    finding: ComparisonResult,
    context: CompareContext<'_>,
    redactor: &Redactor,
) -> Decision {
    let mut builder = VerdictBuilder { target, context, redactor, warnings: Vec::new(), rules: BTreeSet::new() };
    let verdict = builder.verdict(&finding);
    let VerdictBuilder { warnings, rules, .. } = builder;
    Decision { finding, verdict, warnings, rules, membership: None, effects: Vec::new(), following: Vec::new() }
}

/// Builds a verdict, and collects the warnings and rules that belong to it.
struct VerdictBuilder<'a> {
    target: &'a Target,
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
        let CompareContext { schema, policy, .. } = self.context;
        let target = self.target;
        self.rules = Wanted::covering_new(target, schema, policy);
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
        let fields = self.fields(live, None);
        // A size is no reason to replace a claim.
        if larger_claim(self.target, &live.current.object).is_none() {
            self.warnings.extend(cost(&self.target.key.gvk, &live.current.object));
        }
        let (replacement, hint) = match (replace_guard(self.target, &live.current.object), self.context.policy.replace)
        {
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
        let CompareContext { schema, policy, .. } = self.context;
        let target = self.target;
        let LiveObject { current, wanted, removed } = live;
        let manifest = wanted.object(target);
        let own = || predict(manifest, current, schema, target.kind().as_ref(), policy);
        let prediction = prediction.map_or_else(|| Cow::Owned(own()), Cow::Borrowed);
        let pair = ObjectPair {
            gvk: &target.key.gvk,
            versions: &target.versions,
            manifest,
            written: target.desired.object(),
            ignored: &wanted.ignored,
            partly_ignored: &wanted.partly_ignored,
            kept_by_owners: &wanted.kept_by_owners,
            is_encrypted: target.desired.origin.is_encrypted,
            live: current,
            removed,
            base: target.base.get(),
            schema,
            // Nearly every kind has its status in a subresource, so an unknown kind is taken to have one.
            status_is_apart: target.status_is_apart(),
        };
        let (mut fields, warnings) = judge(pair, &prediction, policy, self.redactor);
        if policy.updates(&current.owners) {
            // An update records no fields that are equal already.
            fields.changes.retain(|change| !matches!(change.class, Class::Adopted | Class::Released));
        }
        fields.ignored = wanted.hidden(target, current, schema, policy);
        // A changed definition is shown by its versions as a whole, not by each field of its schemas.
        if (policy.keeps_versions || target.key.gvk.is_crd()) && fields.has_drift() {
            let secrecy = Secrecy::of(&target.key.gvk, Some(target.desired.object()), Some(&current.object));
            let secrecy = secrecy.of_encrypted(pair.is_encrypted);
            let versions = Versions::of(&current.object, &prediction.object, &secrecy, pair.status_is_apart);
            fields.versions = Some(Arc::new(versions));
        }
        self.warnings.extend(wanted.warnings.iter().cloned().chain(warnings));
        self.rules.clone_from(&wanted.covering);
        fields
    }
}

/// A live object, and the values that are computed once each time it is read.
#[derive(Clone, Debug)]
pub struct LiveObject {
    /// The object and its owners.
    pub current: ManagedObject,
    /// The object that an apply sends over it.
    pub wanted: Wanted,
    /// The claims on the fields that others added, and that the apply takes out.
    pub removed: FieldSet,
}

impl LiveObject {
    /// Reads the owners of an object, and applies the ignore rules to it.
    pub fn new(target: &Target, object: Value, schema: TypeRef<'_>, policy: &Policy) -> Self {
        Self::leaving(&[], target, object, schema, policy)
    }

    /// Reads the object for a pass that leaves these differences.
    pub(crate) fn leaving(
        left: &[FieldChange],
        target: &Target,
        object: Value,
        schema: TypeRef<'_>,
        policy: &Policy,
    ) -> Self {
        let current = ManagedObject::new(object, &policy.manager);
        let wanted = Wanted::leaving(left, target, &current, schema, policy);
        let removed = to_remove(&target.key.gvk, &current, &wanted, wanted.object(target), schema, policy);
        Self { current, wanted, removed }
    }
}

/// The result of the comparison of one object, once the server has answered all questions.
#[derive(Clone, Debug)]
pub enum ComparisonResult {
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
