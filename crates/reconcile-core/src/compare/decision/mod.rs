//! Turns the result of a comparison into the differences of the object and the action that it needs.

pub(crate) mod judge;
pub(crate) mod membership;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use structured_merge::{FieldPath, FieldSet, ManagedFieldsEntry, ManagedObject, PathElement, builtin_kind};

use crate::compare::diff::{Action, Class, Evidence, FieldChange, Replacement};
use crate::compare::live_object::{LiveObject, covering_new};
use crate::compare::object_diff::ObjectDiff;
use crate::compare::policy::Replace;
use crate::compare::prediction::{CompareContext, Prediction};
use crate::compare::rejection::refusal::{Refusal, missing_namespace};
use crate::compare::replacement::{cost, larger_claim, replace_guard, resize};
use crate::compare::secrecy::Secrecy;
use crate::compare::secrecy::redact::Redactor;
use crate::compare::secrecy::versions::Versions;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::Target;
use crate::owners::ObjectTimes;
use crate::rules::RuleRef;
use crate::text::listed;
use judge::judge;
use membership::Membership;

/// Most versions that a warning names.
const NAMED: usize = 3;

/// The differences of one object, and the objects that were compared.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The action that it needs and its differences, as reports show them.
    pub diff: ObjectDiff,
    /// The live object, if the comparison has kept it.
    live: Option<Box<LiveObject>>,
    /// The result of an apply, if the server or this program has predicted one.
    prediction: Option<Box<Prediction>>,
    /// True if other objects of this input may have to exist before the server can be asked.
    may_be_early: bool,
    /// Warnings, from this program and from the server.
    pub warnings: Vec<String>,
    /// The ignore rules that cover a field of the object, whether or not the field differs.
    pub rules: BTreeSet<RuleRef>,
    /// The apply set that the object does not leave, if its manifest does not name it.
    pub membership: Option<Membership>,
}

impl Decision {
    /// Decides about an object that is as its manifest says.
    pub fn in_sync(context: CompareContext<'_>, live: LiveObject, redactor: &Redactor) -> Self {
        decide(context, ComparisonResult::Proven(Some(Box::new(live))), redactor)
    }

    /// Returns true if it says nothing but that the object is in sync.
    pub fn is_plain(&self) -> bool {
        let Self { diff, live, prediction, may_be_early: _, warnings, rules, membership } = self;
        (live.is_none() && prediction.is_none())
            && *diff == ObjectDiff::in_sync(Evidence::Proven)
            && (warnings.is_empty() && rules.is_empty() && membership.is_none())
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
        self.live.as_deref()
    }

    /// Its differences, to be changed, and the live object.
    pub(super) fn diff_beside_live(&mut self) -> (&mut ObjectDiff, Option<&Value>) {
        (&mut self.diff, self.live.as_deref().map(|live| &live.current.object))
    }

    /// The differences with the paths that may be shown.
    pub fn shown_diff(&self, target: &Target) -> ObjectDiff {
        let mut diff = self.diff.clone();
        if diff.has_values_in_paths() {
            self.with_secrecy(target, |secrecy| diff.withhold_keys(secrecy));
        }
        diff
    }

    /// Looks at the secret parts of the versions that were compared.
    pub fn with_secrecy<T>(&self, target: &Target, look: impl FnOnce(&Secrecy<'_>) -> T) -> T {
        target.desired.with_object(|manifest| {
            let secrecy = Secrecy::of(&target.key.gvk, Some(manifest), self.live());
            let secrecy = match self.prediction() {
                Some(prediction) => secrecy.with_result(&prediction.object),
                None => secrecy,
            };
            look(&secrecy.of_encrypted(target.desired.origin.is_encrypted))
        })
    }

    /// The result of an apply, if the server or this program has predicted one.
    pub fn prediction(&self) -> Option<&Prediction> {
        self.prediction.as_deref()
    }

    /// Returns true if the server could not be asked yet, because other objects of this input have to exist first.
    pub fn is_provisional(&self) -> bool {
        let Self { diff, may_be_early, .. } = self;
        *may_be_early && diff.evidence == Some(Evidence::Local) && diff.action != Action::Replace
    }
}

/// Decides about one object. The order of the objects must be fixed, as it gives their secret values their numbers.
pub(super) fn decide(context: CompareContext<'_>, result: ComparisonResult, redactor: &Redactor) -> Decision {
    let mut builder = DiffBuilder::new(context, redactor);
    let diff = builder.diff(&result);
    let DiffBuilder { warnings, rules, .. } = builder;
    let may_be_early = matches!(result, ComparisonResult::Missing(_) | ComparisonResult::Refused { .. });
    let (live, prediction) = match result {
        ComparisonResult::Proven(live) | ComparisonResult::Refused { live, .. } => (live, None),
        ComparisonResult::Predicted { live, prediction } => (Some(live), Some(prediction)),
        ComparisonResult::Missing(_) | ComparisonResult::Unknown(_) => (None, None),
    };
    Decision { diff, live, prediction, may_be_early, warnings, rules, membership: None }
}

/// The comparison by the type that the kind is about to get, if that merges the object in another way: what an apply does now is not what it
/// does then. `left` are the differences that the pass leaves.
pub(super) fn by_coming_merge<'a>(
    context: CompareContext<'a>,
    result: ComparisonResult,
    left: &[FieldChange],
) -> (CompareContext<'a>, ComparisonResult) {
    let (Some(coming), ComparisonResult::Proven(Some(live)) | ComparisonResult::Predicted { live, .. }) =
        (context.coming_type, &result)
    else {
        return (context, result);
    };
    let object = &live.current.object;
    let Some(schema) = coming.merging_fields(&context.target.key.gvk, object) else { return (context, result) };
    let context = CompareContext { schema, ..context };
    let live = Box::new(LiveObject::leaving(left, context, object.clone()));
    let refusal = Refusal::Early(Diagnostic::new(Code::Failed, "its lists and maps merge in another way then"));
    (context, ComparisonResult::Refused { live: Some(live), refusal })
}

/// The differences that the result of a comparison has in another context.
pub(super) fn diff_in(context: CompareContext<'_>, result: &ComparisonResult) -> ObjectDiff {
    DiffBuilder::new(context, &Redactor::default()).diff(result)
}

/// The creation of an object that does not exist, with the evidence for that.
pub fn creation(context: CompareContext<'_>, evidence: Evidence, redactor: &Redactor) -> ObjectDiff {
    DiffBuilder::new(context, redactor).creation(evidence)
}

/// Finds the differences, and collects the warnings and rules that belong to them.
struct DiffBuilder<'a> {
    context: CompareContext<'a>,
    redactor: &'a Redactor,
    warnings: Vec<String>,
    rules: BTreeSet<RuleRef>,
}

impl<'a> DiffBuilder<'a> {
    fn new(context: CompareContext<'a>, redactor: &'a Redactor) -> Self {
        Self { context, redactor, warnings: Vec::new(), rules: BTreeSet::new() }
    }

    fn diff(&mut self, result: &ComparisonResult) -> ObjectDiff {
        if let Some(mistakes) = self.refused_then(result) {
            return ObjectDiff::unknown(mistakes);
        }
        match result {
            ComparisonResult::Missing(evidence) => self.creation(*evidence),
            ComparisonResult::Proven(None) => ObjectDiff::in_sync(Evidence::Proven),
            ComparisonResult::Proven(Some(live)) => {
                let object = live.current.object.clone();
                let owners = live.current.owners.clone();
                let evidence = Evidence::Proven;
                let in_the_way = FieldSet::new();
                let prediction = Prediction { object, owners, evidence, in_the_way, rewrites_records: false };
                self.fields(live, Some(&prediction))
            }
            ComparisonResult::Predicted { live, prediction } => self.fields(live, Some(prediction)),
            ComparisonResult::Refused { live, refusal } => self.refused(live.as_deref(), refusal),
            ComparisonResult::Unknown(diagnostic) => ObjectDiff::unknown(diagnostic.clone()),
        }
    }

    /// The mistakes for which the server will refuse what it takes now, by the type that the kind is about to get.
    fn refused_then(&self, result: &ComparisonResult) -> Option<Diagnostic> {
        let CompareContext { target, coming_type, policy, .. } = self.context;
        let coming = coming_type.filter(|coming| coming.is_to_write())?;
        match result {
            // Nobody tries to create it, so that its mistakes do not matter.
            ComparisonResult::Missing(_) if policy.only.as_ref().is_some_and(|chosen| !chosen.creates(target)) => None,
            ComparisonResult::Missing(_) => coming.refusal(target),
            ComparisonResult::Proven(None) => {
                coming.refusal_of_change(target, None, target.desired.object(), &FieldSet::new())
            }
            ComparisonResult::Proven(Some(live)) => {
                let object = &live.current.object;
                coming.refusal_of_change(target, Some(object), object, &live.ignored)
            }
            ComparisonResult::Predicted { live, prediction } => {
                coming.refusal_of_change(target, Some(&live.current.object), &prediction.object, &live.ignored)
            }
            ComparisonResult::Refused { .. } | ComparisonResult::Unknown(_) => None,
        }
    }

    fn creation(&mut self, evidence: Evidence) -> ObjectDiff {
        let target = self.context.target;
        self.rules = covering_new(self.context);
        let desired = target.desired.with_object(|manifest| {
            let secrecy = Secrecy::of(&target.key.gvk, Some(manifest), None);
            let secrecy = secrecy.of_encrypted(target.desired.origin.is_encrypted);
            self.redactor.value(&secrecy, &FieldPath::root(), manifest)
        });
        ObjectDiff::create(desired, evidence)
    }

    fn refused(&mut self, live: Option<&LiveObject>, refusal: &Refusal) -> ObjectDiff {
        match (refusal, live) {
            (Refusal::Immutable(reason), Some(live)) => self.replacement(live, reason),
            (
                Refusal::Typed(diagnostic)
                | Refusal::Early(diagnostic)
                | Refusal::Invalid(diagnostic, _)
                | Refusal::Other(diagnostic),
                live,
            ) if let Some(coming) = self.context.coming_type
                && coming.may_cure(&self.context.target.key.gvk, refusal) =>
            {
                let mistakes = match live {
                    Some(live) => {
                        let after = self.context.predict(live.sent(self.context.target), &live.current).object;
                        coming.refusal_of_change(self.context.target, Some(&live.current.object), &after, &live.ignored)
                    }
                    None => coming.refusal(self.context.target),
                };
                if let Some(mistakes) = mistakes {
                    return ObjectDiff::unknown(mistakes);
                }
                let diff = match live {
                    Some(live) => self.fields(live, None),
                    None => self.creation(Evidence::Local),
                };
                self.warnings.push(format!(
                    "compared locally, until its CustomResourceDefinition is changed: {}",
                    diagnostic.message
                ));
                diff
            }
            (Refusal::NoNamespace(name), _) => ObjectDiff::unknown(missing_namespace(name)),
            (Refusal::Immutable(reason), None) => ObjectDiff::unknown(Diagnostic::new(Code::Invalid, reason.clone())),
            (
                Refusal::Typed(diagnostic)
                | Refusal::NotTried(diagnostic)
                | Refusal::Early(diagnostic)
                | Refusal::Invalid(diagnostic, _)
                | Refusal::Other(diagnostic),
                _,
            ) => ObjectDiff::unknown(diagnostic.clone()),
        }
    }

    fn replacement(&mut self, live: &LiveObject, reason: &str) -> ObjectDiff {
        let CompareContext { target, policy, .. } = self.context;
        let object = &live.current.object;
        let diff = self.fields(live, None);
        // A size is no reason to replace a claim.
        if larger_claim(target, object).is_none() {
            self.warnings.extend(cost(&target.key.gvk, object));
        }
        let (replacement, hint) = match (replace_guard(target, object), policy.replace) {
            (Some(replace_guard), _) => (Replacement::Protected, Some(replace_guard)),
            (None, Replace::Never) => {
                let hint = "pass `--replace=immutable` to delete and recreate it";
                let hint = match resize(&target.key, diff.drift().map(|change| &change.path)) {
                    Some(resize) => format!("{hint}, or change the running Pod with {resize}"),
                    None => hint.to_owned(),
                };
                (Replacement::NeedsFlag, Some(hint))
            }
            (None, Replace::Immutable) => (Replacement::Allowed, None),
        };
        let mut diff = ObjectDiff { action: Action::Replace, replacement: Some(replacement), ..diff };
        if replacement == Replacement::Allowed {
            self.warnings.extend(diff.leave_nothing_alone());
        }
        diff.because(reason.to_owned(), hint)
    }

    /// Compares the fields of a live object with those that an apply would leave. Without a prediction, a local one is made.
    fn fields(&mut self, live: &LiveObject, prediction: Option<&Prediction>) -> ObjectDiff {
        let CompareContext { target, policy, .. } = self.context;
        let current = &live.current;
        let own = || self.context.predict(live.sent(target), current);
        let prediction = prediction.map_or_else(|| Cow::Owned(own()), Cow::Borrowed);
        let (mut diff, warnings) = judge(self.context, live, &prediction, self.redactor);
        if policy.updates(&current.owners) {
            // An update records no fields that are equal already.
            diff.changes.retain(|change| !matches!(change.class, Class::Adopted | Class::Released));
        }
        diff.ignored = live.hidden(self.context);
        // A changed definition is shown by its versions as a whole, not by each field of its schemas.
        if (policy.keeps_versions || target.key.gvk.is_crd()) && diff.has_drift() {
            let secrecy = Secrecy::of(&target.key.gvk, Some(target.desired.object()), Some(&current.object));
            let secrecy = secrecy.of_encrypted(target.desired.origin.is_encrypted);
            let versions = Versions::of(&current.object, &prediction.object, &secrecy, target.status_is_apart());
            diff.notes.versions = Some(Arc::new(versions));
        }
        self.warnings.extend(live.warnings.iter().cloned().chain(warnings));
        if diff.is_change() {
            self.warnings.extend(lost_in_version(self.context, current));
        }
        self.rules.clone_from(&live.covering);
        diff
    }
}

/// A warning about fields that managers recorded in another version of a custom resource, and that the version of the manifest does not have:
/// no answer in this version shows them, and without a webhook that converts them, each write in it loses them.
fn lost_in_version(context: CompareContext<'_>, ManagedObject { object, owners }: &ManagedObject) -> Option<String> {
    let CompareContext { target, schema, .. } = context;
    let version = target.key.gvk.api_version();
    let is_other = |entry: &&ManagedFieldsEntry| {
        entry.api_version != version && target.versions.contains(&entry.api_version) && entry.subresource.is_empty()
    };
    if builtin_kind(&target.key.gvk).is_some() || !schema.declares("kind") {
        return None;
    }
    let mut lost = FieldSet::new();
    let mut versions: BTreeSet<&str> = BTreeSet::new();
    for entry in owners.ours.iter().chain(&owners.others).filter(is_other) {
        entry.fields.visit(&mut |path, _| {
            if let Some((PathElement::Field(name), above)) = path.elements().split_last()
                && schema.at(above).lacks(name)
            {
                lost.insert(path);
                versions.insert(&entry.api_version);
            }
        });
    }
    let lost = lost.leaves();
    let (are, them) = if lost.len() == 1 { ("is no field", "it") } else { ("are no fields", "them") };
    (!lost.is_empty()).then(|| {
        let fields = Secrecy::of_target(target, Some(object)).listed(&lost);
        let others = listed(versions, NAMED);
        format!(
            "{fields} of {others} {are} of `{version}`: a write in this version loses {them}, unless a webhook converts {them}"
        )
    })
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
