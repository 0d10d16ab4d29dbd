use std::collections::BTreeSet;

use serde::{Serialize, Serializer};
use structured_merge::{FieldPath, ObjectKey};

use super::apply_set::ApplySetInfo;
use super::command::Command;
use super::diagnostic;
use super::exit::Verdict;
use crate::compare::{
    Action, Assessment, Class, Conflict, Evidence, FieldChange, FieldDiff, IgnoredFields, ObjectVerdict, Reason,
};
use crate::desired::Source;
use crate::diagnostic::{Code, Diagnostic};
use crate::live::readiness::{Readiness, State};
use crate::live::{RequestCounts, Target};
use crate::rules::RuleRef;

/// Everything that a run found and did: the contract behind `-o json`, and what every format shows.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Always `kubectl-reconcile/v1`.
    pub api_version: &'static str,
    /// Always `Report`.
    pub kind: &'static str,
    /// The command.
    pub command: Command,
    /// The result.
    pub verdict: Verdict,
    /// The exit code of the process.
    pub exit_code: u8,
    /// The cluster; none offline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterInfo>,
    /// The apply set, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apply_set: Option<ApplySetInfo>,
    /// Counts.
    pub summary: Summary,
    /// Requests sent, by kind.
    pub requests: RequestCounts,
    /// The objects, in the order of the plan.
    pub objects: Vec<ObjectReport>,
    /// Warnings about the run as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Problems of the input or of the run as a whole.
    #[serde(serialize_with = "diagnostic::of_run")]
    pub errors: Vec<Diagnostic>,
}

/// The cluster of the run.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterInfo {
    /// The context of the kubeconfig, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The server's URL.
    pub server: String,
    /// Its version, if it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// Counts of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// All of them.
    pub objects: usize,
    /// Nothing to do.
    pub in_sync: usize,
    /// To be created.
    pub create: usize,
    /// To be updated.
    pub update: usize,
    /// To be replaced.
    pub replace: usize,
    /// To be deleted.
    pub delete: usize,
    /// Not compared.
    pub unknown: usize,
    /// In sync, proven without asking the server.
    pub proven: usize,
    /// With fields in conflict with other managers.
    pub conflict: usize,
    /// In sync, but with fields that are not yet owned by our field manager.
    pub adopted: usize,
    /// Items that manual changes added to lists of the manifests, and that stay.
    pub beside: usize,
    /// Differences that a rule ignores.
    pub ignored: usize,
    /// Members of the apply set that are no longer in the manifests and stay; `None` without an apply set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<usize>,
    /// Readiness of the objects, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readiness: Option<ReadinessCounts>,
}

/// Counts of objects by readiness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadinessCounts {
    /// Ready.
    pub current: usize,
    /// In progress.
    pub in_progress: usize,
    /// Failed.
    pub failed: usize,
    /// Being deleted.
    pub terminating: usize,
    /// Not found.
    pub not_found: usize,
    /// Could not be read.
    pub unknown: usize,
}

/// What `apply` did with one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It exists now.
    Created,
    /// Its fields are as wanted now.
    Updated,
    /// Its values were right, and are recorded as ours now.
    Adopted,
    /// It was deleted and recreated.
    Replaced,
    /// It is gone.
    Deleted,
    /// It is being deleted, but was not gone in time.
    Terminating,
    /// There was nothing to do.
    Unchanged,
    /// Not written, because other managers own fields of the manifest.
    Conflict,
    /// It could not be written.
    Failed,
    /// It was not attempted.
    Skipped,
}

/// One object of the report.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReport {
    /// `apps/v1`
    pub api_version: String,
    /// `Deployment`
    pub kind: String,
    /// None for a cluster-scoped object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its place in the manifests; `None` for a member of an apply set that is no longer in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// What `apply` has to do.
    pub action: Action,
    /// How that was determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// What differs.
    pub changes: Vec<FieldChange>,
    /// Fields of the manifest that other managers own.
    pub conflicts: Vec<Conflict>,
    /// Items that manual changes added to lists of the manifest.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_texts")]
    pub beside: Vec<FieldPath>,
    /// Differences that rules ignore, by rule.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<IgnoredFields>,
    /// Warnings for the author of the manifest.
    pub warnings: Vec<String>,
    /// Why it could not be compared or written.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "diagnostic::of_object")]
    pub error: Option<Diagnostic>,
    /// Why it is to be replaced, or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What to do about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What `apply` did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Its readiness, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readiness: Option<Readiness>,
    /// Whether it changed during the run, so that its differences are no longer those that were shown.
    #[serde(skip)]
    pub is_moved: bool,
    /// The warnings that only the write returned.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// The ignore rules that cover a field of it, whether or not the field differs.
    #[serde(skip)]
    pub rules: BTreeSet<RuleRef>,
    /// The key in full, for sorting and display.
    #[serde(skip)]
    pub key: ObjectKey,
}

fn as_texts<S: Serializer>(paths: &[FieldPath], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(ToString::to_string))
}

impl ObjectReport {
    /// From the verdict on one target.
    #[must_use]
    pub fn new(target: &Target, assessment: Assessment) -> Self {
        let mut report = Self::of(&target.key, assessment);
        report.warnings.splice(..0, target.desired.warnings().iter().cloned());
        report.source = Some(target.desired.origin.source.clone());
        report
    }

    /// From the verdict on a member of an apply set that no manifest names.
    #[must_use]
    pub fn unwanted(key: &ObjectKey, verdict: ObjectVerdict) -> Self {
        Self::of(key, verdict.into())
    }

    fn of(key: &ObjectKey, Assessment { verdict, warnings, rules }: Assessment) -> Self {
        let mut report = Self {
            api_version: key.gvk.api_version(),
            kind: key.gvk.kind.clone(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            source: None,
            action: verdict.action(),
            evidence: verdict.evidence(),
            changes: Vec::new(),
            conflicts: Vec::new(),
            beside: Vec::new(),
            ignored: Vec::new(),
            rules,
            warnings,
            error: None,
            reason: None,
            hint: None,
            outcome: None,
            is_moved: false,
            notes: Vec::new(),
            readiness: None,
            key: key.clone(),
        };
        match verdict {
            ObjectVerdict::InSync(mut fields) | ObjectVerdict::Update(mut fields) => {
                let held = fields.held.take();
                report.fill(fields, held);
            }
            ObjectVerdict::Replace { fields, reason } => report.fill(fields, Some(reason)),
            ObjectVerdict::Create { desired, .. } => report.changes = vec![FieldChange::missing(desired)],
            ObjectVerdict::Delete { live, reason } => {
                (report.changes, report.reason) = (vec![FieldChange::pruned(live)], Some(reason));
            }
            ObjectVerdict::Kept { reason } => report.reason = Some(reason),
            ObjectVerdict::Unknown(trouble) => report.error = Some(trouble),
        }
        report
    }

    fn fill(&mut self, fields: FieldDiff, reason: Option<Reason>) {
        (self.changes, self.conflicts) = (fields.changes, fields.conflicts);
        (self.beside, self.ignored) = (fields.beside, fields.ignored);
        (self.reason, self.hint) = reason.map_or((None, None), |Reason { text, hint }| (Some(text), hint));
    }

    /// Records that it differs in another way by now than was shown.
    pub fn move_to(&mut self, verdict: ObjectVerdict) {
        let now = Self::of(&self.key, verdict.into());
        (self.action, self.changes, self.conflicts) = (now.action, now.changes, now.conflicts);
        self.is_moved = true;
    }

    /// From the readiness of one target, without a comparison.
    #[must_use]
    pub fn observed(target: &Target, readiness: Readiness) -> Self {
        let trouble = readiness.trouble.clone();
        let unknown = trouble.clone().unwrap_or_else(|| Diagnostic::new(Code::Unknown, ""));
        let mut report = Self { warnings: Vec::new(), ..Self::new(target, ObjectVerdict::Unknown(unknown).into()) };
        if trouble.is_none() {
            (report.action, report.error) = (Action::None, None);
        }
        report.readiness = Some(readiness);
        report
    }

    /// Returns true if it is a member of an apply set that is no longer in the manifests and is kept.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.source.is_none() && self.action == Action::None
    }

    /// Adds a warning that the write returned.
    pub fn note(&mut self, warning: String) {
        self.warnings.push(warning.clone());
        self.notes.push(warning);
    }

    /// Records that a member is kept after all.
    pub fn spare(&mut self, reason: &str) {
        *self = Self {
            is_moved: true,
            ..Self::of(&self.key.clone(), ObjectVerdict::Kept { reason: reason.to_owned() }.into())
        };
    }

    /// Returns true if it is or will be deleted.
    #[must_use]
    pub fn is_deletion(&self) -> bool {
        let is_done = matches!(self.outcome, None | Some(Outcome::Deleted | Outcome::Terminating));
        self.action == Action::Delete && is_done
    }

    /// Returns true if it now matches the manifest.
    #[must_use]
    pub fn is_done(&self) -> bool {
        use Outcome::{Adopted, Created, Deleted, Replaced, Unchanged, Updated};
        matches!(self.outcome, Some(Created | Updated | Adopted | Replaced | Deleted | Unchanged))
    }

    /// Returns true if only the ownership of fields would change.
    #[must_use]
    pub fn is_ownership_only(&self) -> bool {
        let ownership = |change: &FieldChange| matches!(change.class, Class::Adopted | Class::Released);
        self.action == Action::None && self.changes.iter().any(ownership)
    }

    fn is_incomplete(&self) -> bool {
        self.action == Action::Unknown
            || self.outcome.is_some() && !self.is_done()
            || self.readiness.as_ref().is_some_and(|readiness| readiness.state == State::Unknown)
    }

    /// Returns true if its readiness was checked and it is not ready.
    #[must_use]
    pub fn is_unready(&self) -> bool {
        self.readiness.as_ref().is_some_and(|readiness| !readiness.is_current())
    }
}

/// What makes a `diff` fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailOn {
    /// Drift does not (`--exit-zero`).
    pub exit_zero: bool,
    /// Fields that are not yet owned by our field manager do, too (`--strict-ownership`).
    pub strict_ownership: bool,
}

impl FailOn {
    fn is_drift(self, object: &ObjectReport) -> bool {
        object.action != Action::None || self.strict_ownership && object.is_ownership_only()
    }
}

impl Report {
    /// The report of a run that got as far as comparing.
    #[must_use]
    pub fn compared(command: Command, objects: Vec<ObjectReport>, gate: FailOn) -> Self {
        let verdict = if objects.iter().any(ObjectReport::is_incomplete) {
            Verdict::Incomplete
        } else if objects.iter().any(ObjectReport::is_unready) {
            Verdict::NotReady
        } else if command == Command::Apply {
            Verdict::Applied
        } else if objects.iter().any(|object| gate.is_drift(object)) {
            Verdict::Drift
        } else {
            Verdict::InSync
        };
        Self { summary: Summary::of(&objects), objects, ..Self::stopped(command, verdict, Vec::new(), gate) }
    }

    /// The report of a run that checked the readiness of objects and compared nothing.
    #[must_use]
    pub fn observed(command: Command, objects: Vec<ObjectReport>) -> Self {
        let mut report = Self::compared(command, objects, FailOn::default());
        report.summary.in_sync = 0;
        report
    }

    /// The report of a run that ended before it compared anything.
    #[must_use]
    pub fn stopped(command: Command, verdict: Verdict, errors: Vec<Diagnostic>, gate: FailOn) -> Self {
        Self {
            api_version: "kubectl-reconcile/v1",
            kind: "Report",
            command,
            verdict,
            exit_code: verdict.exit_code(gate.exit_zero),
            cluster: None,
            apply_set: None,
            summary: Summary::default(),
            requests: RequestCounts::default(),
            objects: Vec::new(),
            warnings: Vec::new(),
            errors,
        }
    }

    /// The same, with its apply set.
    #[must_use]
    pub fn with_apply_set(mut self, set: ApplySetInfo) -> Self {
        self.summary.kept = Some(self.objects.iter().filter(|object| object.is_kept()).count());
        self.apply_set = Some(set);
        self
    }

    /// The same, with problems that concern no single object; with any of them, the run is incomplete.
    #[must_use]
    pub fn with_errors(mut self, errors: Vec<Diagnostic>) -> Self {
        if !errors.is_empty() {
            self.verdict = Verdict::Incomplete;
            self.exit_code = self.verdict.exit_code(false);
            self.errors.extend(errors);
        }
        self
    }

    /// The same, interrupted.
    #[must_use]
    pub fn interrupted(mut self) -> Self {
        self.verdict = Verdict::Interrupted;
        self.exit_code = self.verdict.exit_code(false);
        self
    }
}

impl Summary {
    fn of(objects: &[ObjectReport]) -> Self {
        let count = |test: &dyn Fn(&ObjectReport) -> bool| objects.iter().filter(|object| test(object)).count();
        let with = |action: Action| count(&|object| object.action == action);
        Self {
            objects: objects.len(),
            in_sync: count(&|object| object.action == Action::None && !object.is_kept()),
            create: with(Action::Create),
            update: with(Action::Update),
            replace: with(Action::Replace),
            delete: with(Action::Delete),
            unknown: with(Action::Unknown),
            proven: count(&|object| object.evidence == Some(Evidence::Proven)),
            conflict: count(&|object| !object.conflicts.is_empty()),
            adopted: count(&ObjectReport::is_ownership_only),
            beside: objects.iter().map(|object| object.beside.len()).sum(),
            ignored: objects.iter().flat_map(|object| &object.ignored).map(|ignored| ignored.paths.len()).sum(),
            kept: None,
            readiness: ReadinessCounts::of(objects),
        }
    }
}

impl ReadinessCounts {
    /// Returns `None` if readiness was not requested.
    fn of(objects: &[ObjectReport]) -> Option<Self> {
        let states = objects.iter().filter_map(|object| object.readiness.as_ref()).map(|readiness| readiness.state);
        states.fold(None, |counts, state| {
            let mut counts: Self = counts.unwrap_or_default();
            *match state {
                State::Current => &mut counts.current,
                State::InProgress => &mut counts.in_progress,
                State::Failed => &mut counts.failed,
                State::Terminating => &mut counts.terminating,
                State::NotFound => &mut counts.not_found,
                State::Unknown => &mut counts.unknown,
            } += 1;
            Some(counts)
        })
    }
}
