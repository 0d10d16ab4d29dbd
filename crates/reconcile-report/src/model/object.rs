use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reconcile_core::compare::{
    Action, Class, Conflict, Decision, Evidence, FieldChange, FieldDiff, IgnoredFields, ObjectVerdict, Reason,
    UnmanagedCount, Versions, paths_of,
};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::Target;
use reconcile_core::live::readiness::{ObjectReadiness, ReadinessState};
use reconcile_core::manifest::Source;
use reconcile_core::rules::RuleRef;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use structured_merge::{FieldPath, GroupVersionKind, ObjectKey};

use super::diagnostic::ObjectError;
use super::{diagnostic, read_diagnostic};

/// Largest number of changed fields of an object that are looked up in its manifest: each costs a search.
const LINES: usize = 1_000;

/// The outcome of `apply` for one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It was created.
    Created,
    /// Its fields were changed to those of the manifest.
    Updated,
    /// Its values already matched, and are now recorded as owned by our field manager.
    Adopted,
    /// It was deleted and recreated.
    Replaced,
    /// It was deleted.
    Deleted,
    /// It is being deleted, but was not gone in time.
    Terminating,
    /// It needed no change.
    Unchanged,
    /// Not written, because other managers own fields of the manifest.
    Conflict,
    /// It could not be written.
    Failed,
    /// It was not attempted.
    Skipped,
}

/// One object of the report.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectReport {
    /// As in the manifest.
    pub api_version: String,
    /// As in the manifest.
    pub kind: String,
    /// Absent for a cluster-scoped object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its location; absent for a member of an apply set that is in no manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// Its position in the order of all objects, with `--shard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    /// The action that `apply` has to take.
    pub action: Action,
    /// The evidence for the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The differences.
    pub changes: Vec<FieldChange>,
    /// Fields of the manifest that other managers own.
    pub conflicts: Vec<Conflict>,
    /// Items that manual changes added to lists of the manifest.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "as_texts",
        deserialize_with = "paths_of"
    )]
    #[schemars(with = "Vec<String>")]
    pub beside: Vec<FieldPath>,
    /// Differences that rules ignore, by rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<IgnoredFields>,
    /// Warnings for the author of the manifest.
    pub warnings: Vec<String>,
    /// The error for which it could not be compared or written.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "diagnostic::of_object",
        deserialize_with = "read_diagnostic::error"
    )]
    #[schemars(with = "Option<ObjectError<'static>>")]
    pub error: Option<Diagnostic>,
    /// The reason for which it is to be replaced or deleted, is kept, or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The action to take about the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The outcome of `apply`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Its readiness, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readiness: Option<ObjectReadiness>,
    /// True if it changed during the run, so that its differences are no longer those that were shown.
    #[serde(rename = "moved", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_moved: bool,
    /// The facts that decide the output of some formats, and are not part of the JSON.
    #[serde(skip)]
    pub details: Details,
}

/// The facts about an object that are not part of its JSON: formats show some of them.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// The number of fields that other managers added.
    pub unmanaged: UnmanagedCount,
    /// The warnings that only the write returned.
    pub notes: Vec<String>,
    /// True if its manifest names fields to ignore.
    pub is_annotated: bool,
    /// The lines of the changed fields in the manifest.
    pub lines: BTreeMap<FieldPath, u32>,
    /// The live object and the object that an apply would leave: for a definition, and for a format that shows whole objects.
    pub versions: Option<Arc<Versions>>,
    /// The ignore rules that cover a field of it, whether or not the field differs.
    pub rules: BTreeSet<RuleRef>,
}

fn as_texts<S: Serializer>(paths: &[FieldPath], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(ToString::to_string))
}

impl ObjectReport {
    /// The report of the decision about one target.
    #[must_use]
    pub fn new(target: &Target, decision: &Decision) -> Self {
        let mut report = Self::about(target, decision.verdict.clone());
        report.warnings = target.desired.warnings().iter().chain(&decision.warnings).cloned().collect();
        report.details.rules.clone_from(&decision.rules);
        report
    }

    fn about(target: &Target, verdict: ObjectVerdict) -> Self {
        let mut report = Self::unwanted(&target.key, verdict);
        report.source = Some(target.desired.origin.source.clone());
        report.details.is_annotated = !target.desired.ignored().is_empty();
        report.find_lines(target);
        report.place = target.shard_member.map(|member| member.position);
        report
    }

    /// The report of a verdict alone, for a member of an apply set that no manifest names.
    #[must_use]
    pub fn unwanted(key: &ObjectKey, verdict: ObjectVerdict) -> Self {
        let mut report = Self {
            api_version: key.gvk.api_version(),
            kind: key.gvk.kind.clone(),
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            source: None,
            place: None,
            action: verdict.action(),
            evidence: verdict.evidence(),
            changes: Vec::new(),
            conflicts: Vec::new(),
            beside: Vec::new(),
            ignored: Vec::new(),
            warnings: Vec::new(),
            error: None,
            reason: None,
            hint: None,
            outcome: None,
            is_moved: false,
            readiness: None,
            details: Details::default(),
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
            ObjectVerdict::Unknown(diagnostic) => report.error = Some(diagnostic),
        }
        report
    }

    /// Returns the key of the object.
    #[must_use]
    pub fn key(&self) -> ObjectKey {
        let gvk = GroupVersionKind::new(&self.api_version, &self.kind);
        ObjectKey { gvk, namespace: self.namespace.clone(), name: self.name.clone() }
    }

    /// Returns the API group, empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Finds the lines of the changed fields.
    fn find_lines(&mut self, target: &Target) {
        let paths = self.changes.iter().map(|change| &change.path).filter(|path| !path.elements().is_empty());
        self.details.lines = paths.take(LINES).map(|path| (path.clone(), target.desired.line_of(path))).collect();
    }

    /// The line of a changed field in the manifest, or of the nearest parent that is written there, if it is known.
    #[must_use]
    pub fn line_of(&self, path: &FieldPath) -> Option<u32> {
        self.details.lines.get(path).copied()
    }

    fn fill(&mut self, fields: FieldDiff, reason: Option<Reason>) {
        (self.changes, self.conflicts, self.details.versions) = (fields.changes, fields.conflicts, fields.versions);
        (self.beside, self.ignored, self.details.unmanaged) = (fields.added_items, fields.ignored, fields.unmanaged);
        (self.reason, self.hint) = reason.map_or((None, None), |Reason { text, hint }| (Some(text), hint));
    }

    /// Replaces its differences after it changed during the run.
    pub fn move_to(&mut self, verdict: ObjectVerdict) {
        let now = Self::unwanted(&self.key(), verdict);
        (self.action, self.changes, self.conflicts) = (now.action, now.changes, now.conflicts);
        self.details.versions = now.details.versions;
        self.is_moved = true;
    }

    /// The report of the readiness of one target, without a comparison.
    #[must_use]
    pub fn observed(target: &Target, readiness: ObjectReadiness) -> Self {
        let diagnostic = readiness.diagnostic.clone();
        let unknown = diagnostic.clone().unwrap_or_else(|| Diagnostic::new(Code::Unknown, ""));
        let mut report = Self::about(target, ObjectVerdict::Unknown(unknown));
        if diagnostic.is_none() {
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
        self.details.notes.push(warning);
    }

    /// Records that a member is kept although it was to be deleted.
    pub fn spare(&mut self, reason: &str) {
        *self =
            Self { is_moved: true, ..Self::unwanted(&self.key(), ObjectVerdict::Kept { reason: reason.to_owned() }) };
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

    /// Returns true if something was done to it.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.is_done() && self.outcome != Some(Outcome::Unchanged)
    }

    /// Returns true if only the ownership of fields would change.
    #[must_use]
    pub fn is_ownership_only(&self) -> bool {
        let ownership = |change: &FieldChange| matches!(change.class, Class::Adopted | Class::Released);
        self.action == Action::None && self.changes.iter().any(ownership)
    }

    pub(crate) fn is_incomplete(&self) -> bool {
        self.action == Action::Unknown
            || self.outcome.is_some() && !self.is_done()
            || self.readiness.as_ref().is_some_and(|readiness| readiness.state == ReadinessState::Unknown)
    }

    /// Returns true if its readiness was checked and it is not ready.
    #[must_use]
    pub fn is_unready(&self) -> bool {
        self.readiness.as_ref().is_some_and(|readiness| !readiness.is_current())
    }
}
