use std::collections::{BTreeSet, HashMap};

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::live::discreet::is_withheld;
use reconcile_core::manifest::{ReleaseInfo, Releases, Source};
use reconcile_core::object::Shard;
use reconcile_core::request::RequestCounts;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use structured_merge::ObjectKey;

use super::apply_set::ApplySetInfo;
use super::diagnostic;
use super::diagnostic::DiagnosticEntry;
use super::identity::{Command, ConfigurationInfo, KeyFields, StartTime, ToolInfo, key};
use super::object::renamed::{FormerObject, paired};
use super::object::{ObjectFields, ObjectMessages, ObjectReport};
use super::summary::Summary;
use super::unmanaged::UnmanagedObject;
use super::verdict::{EXIT_CODES, EXIT_SUCCESS, FailClass, FailOn, Verdict, class_names, classes};

/// The report of a run in one cluster.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Report {
    /// Always `kubectl-reconcile/v1`.
    #[serde(deserialize_with = "api_version")]
    #[schemars(extend("const" = "kubectl-reconcile/v1"))]
    pub api_version: Fixed,
    /// Always `Report`.
    #[serde(deserialize_with = "kind")]
    #[schemars(extend("const" = "Report"))]
    pub kind: Fixed,
    /// The program that made the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolInfo>,
    /// The time at which the run began. The report of several shards has the earliest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<StartTime>,
    /// The command.
    pub command: Command,
    /// The result.
    pub verdict: Verdict,
    /// The exit code of the process.
    #[schemars(extend("enum" = EXIT_CODES))]
    pub exit_code: u8,
    /// The differences that make it fail, if they were chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "classes")]
    #[schemars(schema_with = "class_names")]
    pub fail_on: Vec<&'static str>,
    /// The differences that the run resolves, if they were chosen (`--only`). It leaves the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "classes")]
    #[schemars(schema_with = "class_names")]
    pub only: Vec<&'static str>,
    /// The field managers whose additions the run removes (`--remove-added`); an empty list for those of manual changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove_added: Option<BTreeSet<String>>,
    /// The base, if the differences were compared with what was applied last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<BaseInfo>,
    /// The release of Helm that the manifests come from, with `--from helm/RELEASE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseInfo>,
    /// The releases that the manifests come from, with `--from helm`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub releases: Vec<ReleaseInfo>,
    /// The cluster; absent offline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterInfo>,
    /// The shard of the run, with `--shard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The configuration in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<ConfigurationInfo>,
    /// The apply set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apply_set: Option<ApplySetInfo>,
    /// Counts of objects.
    pub summary: Summary,
    /// Requests sent, by kind.
    pub requests: RequestCounts,
    /// The objects, in the order of the plan.
    pub objects: Vec<ObjectReport>,
    /// Objects that are in the base and no longer in the manifests, and that exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<DroppedObject>,
    /// Objects that no manifest, owner or apply set explains, if they were searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmanaged: Option<Vec<UnmanagedObject>>,
    /// Warnings about the run as a whole. Those of the server come last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Errors in the input or of the run as a whole.
    #[serde(serialize_with = "diagnostic::of_run", deserialize_with = "diagnostic::read_of_run")]
    #[schemars(with = "Vec<DiagnosticEntry<'static>>")]
    pub errors: Vec<Diagnostic>,
}

/// The base of a run: what was applied last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BaseInfo {
    /// As it was given: paths, a revision of git, `helm`, or the source of `--from`.
    pub from: String,
    /// The commit, with `--since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// An object that is in the base and no longer in the manifests. Without pruning, it stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DroppedObject {
    /// As in the base.
    api_version: String,
    /// As in the base.
    kind: String,
    /// Absent for a cluster-scoped object.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// Its name.
    name: String,
    /// Its location in the base.
    source: Source,
}

impl DroppedObject {
    /// The object of a target that only the base has.
    pub fn new(key: &ObjectKey, source: Source) -> Self {
        let KeyFields { api_version, kind, namespace, name } = key.into();
        Self { api_version, kind, namespace, name, source }
    }

    /// The identity of the object.
    pub fn key(&self) -> ObjectKey {
        key(&self.api_version, &self.kind, self.namespace.clone(), self.name.clone())
    }
}

/// Returns true if the server gave this warning about an object. It warned of these when it was asked for changes and their dry runs.
pub fn is_of_server(warning: &str, of_changes: &BTreeSet<String>) -> bool {
    of_changes.contains(warning) || is_withheld(warning)
}

/// A text that is always the same.
pub type Fixed = &'static str;

/// Reads a text that can only be this one.
pub(crate) fn exactly<'de, D: Deserializer<'de>>(deserializer: D, only: Fixed) -> Result<Fixed, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text == only { Ok(only) } else { Err(D::Error::custom(format!("`{text}` is not `{only}`"))) }
}

pub(crate) fn api_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Fixed, D::Error> {
    exactly(deserializer, "kubectl-reconcile/v1")
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Fixed, D::Error> {
    exactly(deserializer, "Report")
}

/// The cluster of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterInfo {
    /// The context of the kubeconfig, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The server's URL.
    pub server: String,
    /// Its version, if it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The uid of its namespace `kube-system`, if the command needs or reports it and it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

impl ClusterInfo {
    /// Returns true if both are one cluster: by its uid, or else by the URL of its server.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.uid, &other.uid) {
            (Some(one), Some(other)) => one == other,
            _ => self.server == other.server,
        }
    }
}

impl Report {
    /// The report of a run that compared its objects.
    pub fn compared(command: Command, mut objects: Vec<ObjectReport>, gate: &FailOn) -> Self {
        gate.leave_out_unmanaged(&mut objects);
        let fails = objects.iter().any(|object| gate.fails(object));
        let verdict = if objects.iter().any(ObjectReport::is_incomplete) {
            Verdict::Incomplete
        } else if objects.iter().any(ObjectReport::waits) {
            Verdict::NotReady
        } else if command == Command::Apply && objects.iter().all(ObjectReport::is_settled) {
            Verdict::Applied
        } else if fails || objects.iter().any(ObjectReport::differs) {
            Verdict::Drift
        } else {
            Verdict::InSync
        };
        let mut report = Self::stopped(command, verdict, Vec::new());
        report.exit_code = verdict.exit_code(gate.exit_zero || !fails);
        let fail_on = gate.classes.iter().map(|class| class.name()).collect();
        Self { fail_on, summary: Summary::of(&objects), objects, ..report }
    }

    /// The report of a comparison, in which a generated object and its former one of another name are one; `formers` are those that stay.
    /// `mark` marks the differences of an object of this kind that a baseline has.
    pub fn compared_paired(
        command: Command,
        objects: Vec<ObjectReport>,
        formers: &[FormerObject],
        mark: impl Fn(&mut ObjectReport),
        gate: &FailOn,
    ) -> Self {
        let mut objects = paired(objects, formers);
        let is_paired = |object: &&mut ObjectReport| {
            object.renamed_from.is_some() || object.diff.changes.iter().any(|change| !change.follows.is_empty())
        };
        objects.iter_mut().filter(is_paired).for_each(mark);
        Self::compared(command, objects, gate)
    }

    /// The report of a run that checked the readiness of objects and compared nothing.
    pub fn observed(command: Command, objects: Vec<ObjectReport>) -> Self {
        let mut report = Self::compared(command, objects, &FailOn::default());
        report.summary = Summary::of_observed(&report.objects);
        if report.verdict == Verdict::InSync {
            report.verdict = Verdict::Ready;
        }
        report
    }

    /// The report of a run that gave fields to a manager, or of one that only shows which (`has_written`). A field that differs could
    /// not be given.
    pub fn handed_over(objects: Vec<ObjectReport>, has_written: bool) -> Self {
        let differs = |object: &ObjectReport| object.diff.has_drift();
        let verdict = if objects.iter().any(|object| object.is_incomplete() || differs(object)) {
            Verdict::Incomplete
        } else if has_written {
            Verdict::Applied
        } else if objects.iter().any(ObjectReport::has_transfers) {
            Verdict::Drift
        } else {
            Verdict::InSync
        };
        let report = Self::stopped(Command::Own, verdict, Vec::new());
        Self { summary: Summary::of(&objects), objects, ..report }
    }

    /// Takes the users whom an audit log names in an earlier report of the same run, for the objects whose owners change as it says.
    pub fn name_users_of(&mut self, former: Self) {
        let mut former: HashMap<ObjectKey, ObjectReport> =
            former.objects.into_iter().map(|object| (object.key.clone(), object)).collect();
        for object in &mut self.objects {
            let Some(named) = former.remove(&object.key).filter(|_| !object.run.changed_during_run) else { continue };
            let ObjectFields { diff: named, .. } = named.into_fields();
            object.diff.transfers = named.transfers;
            object.diff.changes = named.changes;
        }
    }

    /// The report of a run that ended before it compared anything.
    pub fn stopped(command: Command, verdict: Verdict, errors: Vec<Diagnostic>) -> Self {
        Self {
            api_version: "kubectl-reconcile/v1",
            kind: "Report",
            tool: Some(ToolInfo::own()),
            time: None,
            command,
            verdict,
            exit_code: verdict.exit_code(false),
            fail_on: Vec::new(),
            only: Vec::new(),
            remove_added: None,
            base: None,
            release: None,
            releases: Vec::new(),
            cluster: None,
            shard: None,
            configuration: None,
            apply_set: None,
            summary: Summary::of_stopped(command),
            requests: RequestCounts::default(),
            objects: Vec::new(),
            dropped: Vec::new(),
            unmanaged: None,
            warnings: Vec::new(),
            errors,
        }
    }

    /// Sets the apply set, and counts the members that stay.
    pub fn with_apply_set(mut self, set: ApplySetInfo) -> Self {
        self.summary.kept = Some(self.objects.iter().filter(|object| object.is_kept()).count());
        self.apply_set = Some(set);
        self
    }

    /// Counts the differences that its baseline has, and those that only the baseline has: this number.
    pub fn with_baseline(mut self, resolved: usize) -> Self {
        let changes = self.objects.iter().flat_map(|object| &object.diff.changes);
        let known = changes.filter(|change| change.known && change.is_drift()).count();
        (self.summary.known, self.summary.resolved) = (Some(known), Some(resolved));
        self
    }

    /// Returns true if it has differences that its baseline has as well.
    pub fn has_known(&self) -> bool {
        self.summary.known.is_some_and(|known| known > 0)
    }

    /// Returns true if its baseline has all differences, so that none makes it fail.
    pub(crate) fn has_only_known(&self) -> bool {
        let is_known = |object: &ObjectReport| !object.differs() || object.is_known();
        self.verdict == Verdict::Drift
            && self.exit_code == EXIT_SUCCESS
            && self.has_known()
            && self.objects.iter().all(is_known)
    }

    /// Leaves out the differences that are known. The counts are still those of all objects.
    pub(crate) fn without_known(mut self) -> Self {
        self.objects.iter_mut().for_each(ObjectReport::leave_out_known);
        self
    }

    /// Adds unmanaged objects. They fail a `diff` only if that was chosen.
    pub fn with_unmanaged(mut self, objects: Vec<UnmanagedObject>, fails: bool) -> Self {
        let is_found = !objects.is_empty();
        self.unmanaged = Some(objects);
        if fails && is_found && matches!(self.verdict, Verdict::InSync | Verdict::Drift) {
            self.verdict = Verdict::Drift;
            self.exit_code = self.verdict.exit_code(false);
        }
        self
    }

    /// Names the differences that the run resolves, if they were chosen, and counts the others; and the field managers whose additions it
    /// removes.
    pub fn with_only(mut self, classes: Vec<&'static str>, remove_added: Option<BTreeSet<String>>) -> Self {
        self.remove_added = remove_added;
        if !classes.is_empty() {
            self.only = classes;
            self.summary.left = Some(self.objects.iter().map(|object| object.diff.left.len()).sum());
        }
        self
    }

    /// Tells which warnings about objects are those of the server, adds those that it gave when objects were read, and counts all. They
    /// make it fail if that was chosen.
    pub fn with_server_warnings(mut self, of_changes: &BTreeSet<String>, mut of_reads: Vec<String>) -> Self {
        let mut count = 0_usize;
        for object in self.objects.iter_mut().filter(|object| !object.messages.warnings.is_empty()) {
            let ObjectMessages { warnings, server_warnings, .. } = &mut *object.messages;
            of_reads.retain(|text| !warnings.contains(text));
            *server_warnings = warnings.iter().filter(|text| is_of_server(text, of_changes)).count();
            count = count.saturating_add(*server_warnings);
        }
        of_reads.retain(|text| !self.warnings.contains(text));
        // The parent of an apply set is named before what the server says of it.
        let is_general = |warning: &mut String| of_changes.iter().any(|text| warning.ends_with(text.as_str()));
        let general: Vec<String> = self.warnings.extract_if(.., is_general).collect();
        self.summary.warnings = count.saturating_add(general.len()).saturating_add(of_reads.len());
        self.warnings.extend(general.into_iter().chain(of_reads));
        let is_chosen = self.fail_on.contains(&FailClass::Warnings.name());
        if is_chosen && self.summary.warnings > 0 && self.verdict <= Verdict::Drift {
            self.verdict = Verdict::Drift;
            self.exit_code = self.verdict.exit_code(false);
        }
        self
    }

    /// The warnings of the server about the run as a whole.
    pub(crate) fn general_server_warnings(&self) -> &[String] {
        let of_objects: usize = self.objects.iter().map(|object| object.messages.server_warnings).sum();
        let count = self.summary.warnings.saturating_sub(of_objects);
        self.warnings.get(self.warnings.len().saturating_sub(count)..).unwrap_or_default()
    }

    /// The class of `--fail-on` that makes it fail although no object differs; `None` if objects differ, or it does not fail.
    pub(crate) fn fails_without_differences(&self) -> Option<FailClass> {
        let is_applied = self.command == Command::Apply && self.objects.iter().all(ObjectReport::is_settled);
        let differs = !is_applied && self.objects.iter().any(ObjectReport::differs);
        let is_chosen = |class: &FailClass| self.fail_on.contains(&class.name());
        let is_found = |class: &FailClass| match class {
            FailClass::UnmanagedObjects => self.unmanaged.as_ref().is_some_and(|found| !found.is_empty()),
            _ => self.summary.warnings > 0,
        };
        let mut classes = [FailClass::UnmanagedObjects, FailClass::Warnings].into_iter();
        classes.find(|class| self.verdict == Verdict::Drift && !differs && is_chosen(class) && is_found(class))
    }

    /// The objects of the report, with the former ones of those that have new names.
    pub(crate) fn keys_and_formers(&self) -> BTreeSet<ObjectKey> {
        let former = self.objects.iter().filter_map(ObjectReport::former);
        self.objects.iter().map(|object| object.key.clone()).chain(former).collect()
    }

    /// Adds the objects that only the base has and that exist, and the number of objects that were left out because their manifests are
    /// those of the base.
    pub fn with_rest_of_base(mut self, dropped: Vec<DroppedObject>, unchanged: Option<usize>) -> Self {
        if !dropped.is_empty() {
            let keys = self.keys_and_formers();
            self.dropped.extend(dropped.into_iter().filter(|one| !keys.contains(&one.key())));
        }
        self.summary.dropped = self.dropped.len();
        self.summary.unchanged = unchanged;
        self
    }

    /// Adds the releases of Helm that the manifests come from.
    pub fn with_releases(mut self, releases: Releases) -> Self {
        let Releases { found, is_all, not_deployed, methods: _ } = releases;
        self.summary.not_deployed = not_deployed;
        if is_all {
            self.releases = found;
        } else {
            self.release = found.into_iter().next();
        }
        self
    }

    /// Adds errors that concern no single object; any of them makes the run incomplete.
    pub fn with_errors(mut self, errors: Vec<Diagnostic>) -> Self {
        if !errors.is_empty() {
            self.verdict = self.verdict.max(Verdict::Incomplete);
            self.exit_code = self.verdict.exit_code(false);
            self.errors.extend(errors);
        }
        self
    }

    /// Makes it the report of an interrupted run.
    pub fn interrupted(mut self) -> Self {
        self.verdict = Verdict::Interrupted;
        self.exit_code = self.verdict.exit_code(false);
        self
    }
}
