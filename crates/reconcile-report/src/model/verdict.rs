use reconcile_core::compare::{Action, Class, FieldChange, Side};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::request::RequestError;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::classes::ClassInfo;
use super::object::ObjectReport;

/// In sync (`diff`), everything applied (`apply`), everything ready (`status`), all permissions held (`access`), or all fields given (`own`).
pub const EXIT_SUCCESS: u8 = 0;
/// `diff` found drift, `access` a permission that is missing, `pull --dry-run` or `own --dry-run` something to do; the answer to
/// `apply --confirm` was no and nothing was written; or `resolve` skipped something or changed nothing.
pub const EXIT_DRIFT: u8 = 1;
/// Invalid flags, configuration or input, and nothing was compared or changed; or a report could not be written.
pub const EXIT_INVALID: u8 = 2;
/// The cluster cannot be reached, or rejected the credentials: nothing was compared.
pub const EXIT_UNREACHABLE: u8 = 3;
/// At least one object could not be compared or applied, a deletion was not allowed, or a field could not be given; the others were.
pub const EXIT_INCOMPLETE: u8 = 4;
/// Applied, but not ready; or not ready (`status`).
pub const EXIT_NOT_READY: u8 = 5;
/// Interrupted; the report shows what was done.
pub const EXIT_INTERRUPTED: u8 = 130;
/// All exit codes of a run.
pub(crate) const EXIT_CODES: [u8; 7] =
    [EXIT_SUCCESS, EXIT_DRIFT, EXIT_INVALID, EXIT_UNREACHABLE, EXIT_INCOMPLETE, EXIT_NOT_READY, EXIT_INTERRUPTED];

/// The result of a run.
// The greatest of several results is the worst. The first ones are complete results; with each later one, more is unknown or not
// done, or somebody has to act first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// `diff`: nothing differs.
    InSync,
    /// `status`: everything is ready.
    Ready,
    /// `apply`: everything was applied.
    Applied,
    /// `diff`: something differs, and everything was compared. Also if nothing differs, and `--fail-on` names what was found: unmanaged
    /// objects, or warnings of the server (those of `apply`, too).
    Drift,
    /// Applied, but not ready; or not ready (`status`).
    NotReady,
    /// The cluster cannot be reached, or rejected the credentials.
    Unreachable,
    /// At least one object could not be compared or applied.
    Incomplete,
    /// The input, the configuration or the command line is invalid.
    Invalid,
    /// Interrupted.
    Interrupted,
}

impl Verdict {
    /// Returns the name that reports write.
    pub(crate) fn name(self) -> String {
        // Its variants have no fields, so that each is a text.
        serde_json::to_value(self).ok().as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
    }

    /// Returns the exit code. With `exit_zero`, drift exits with 0.
    pub fn exit_code(self, exit_zero: bool) -> u8 {
        match self {
            Self::Drift if exit_zero => EXIT_SUCCESS,
            Self::InSync | Self::Ready | Self::Applied => EXIT_SUCCESS,
            Self::Drift => EXIT_DRIFT,
            Self::Incomplete => EXIT_INCOMPLETE,
            Self::NotReady => EXIT_NOT_READY,
            Self::Invalid => EXIT_INVALID,
            Self::Unreachable => EXIT_UNREACHABLE,
            Self::Interrupted => EXIT_INTERRUPTED,
        }
    }
}

/// The failure of a run that ended before it compared anything.
#[derive(Debug)]
pub struct Failure {
    /// The verdict, which decides the exit code.
    pub verdict: Verdict,
    /// The errors.
    pub diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// The input, the command line or the configuration is invalid.
    pub fn invalid(diagnostic: Diagnostic) -> Self {
        Self { verdict: Verdict::Invalid, diagnostics: vec![diagnostic] }
    }

    /// The run was interrupted before it had a result.
    pub fn interrupted(message: &str) -> Self {
        Self { verdict: Verdict::Interrupted, diagnostics: vec![Diagnostic::new(Code::Interrupted, message)] }
    }

    /// The server refused or did not answer a request on which the whole run depends.
    pub fn unanswered(server: &str, error: &RequestError) -> Self {
        let is_stopped = matches!(error, RequestError::Stopped);
        let verdict = if is_stopped { Verdict::Interrupted } else { Verdict::Unreachable };
        let diagnostic = Diagnostic { message: error.of_run(server), ..Diagnostic::from(error) };
        Self { verdict, diagnostics: vec![diagnostic] }
    }

    /// The command line asks for something impossible; the hint names a possible way.
    pub fn refused(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::invalid(Diagnostic::general(message).with_hint(hint))
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self { verdict: Verdict::Invalid, diagnostics }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        let verdict = if matches!(error, RequestError::Stopped) { Verdict::Interrupted } else { Verdict::Unreachable };
        Self { verdict, diagnostics: vec![Diagnostic::from(&error)] }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::invalid(Diagnostic::general(format!("{error:#}")))
    }
}

/// A kind of difference that can make a `diff` fail, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailClass {
    /// Every object that does not match its manifest.
    Drift,
    /// Changes and additions by hand.
    Manual,
    /// Objects that would have to be replaced.
    Replace,
    /// Objects whose apply ends running Pods.
    Restart,
    /// Warnings of the server.
    Warnings,
    /// Objects that no manifest, owner or apply set explains.
    UnmanagedObjects,
    /// Changes of this class.
    Of(Class),
    /// Changes of this side.
    From(Side),
}

/// All kinds of differences that can be named.
pub static FAIL_CLASSES: [FailClass; 23] = [
    FailClass::Drift,
    FailClass::From(Side::Manifest),
    FailClass::From(Side::Cluster),
    FailClass::From(Side::Either),
    FailClass::From(Side::Both),
    FailClass::Manual,
    FailClass::Of(Class::Missing),
    FailClass::Of(Class::Pending),
    FailClass::Of(Class::ChangedByOther),
    FailClass::Of(Class::Absent),
    FailClass::Of(Class::Unrecorded),
    FailClass::Of(Class::Pruned),
    FailClass::Of(Class::Reordered),
    FailClass::Of(Class::Conflict),
    FailClass::Replace,
    FailClass::Restart,
    FailClass::Warnings,
    FailClass::Of(Class::Unmanaged),
    FailClass::UnmanagedObjects,
    FailClass::Of(Class::Adopted),
    FailClass::Of(Class::Released),
    FailClass::Of(Class::Consequence),
    FailClass::Of(Class::Overridden),
];

impl FailClass {
    /// Finds a kind of difference by its name.
    pub fn named(name: &str) -> Option<Self> {
        FAIL_CLASSES.iter().find(|class| class.name() == name).copied()
    }

    /// Returns its name; for a class of changes that of the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Drift => "drift",
            Self::Manual => "manual",
            Self::Replace => "replace",
            Self::Restart => "restart",
            Self::Warnings => "warnings",
            Self::UnmanagedObjects => "unmanagedObjects",
            Self::Of(class) => ClassInfo::of(class).id,
            Self::From(Side::Manifest) => "manifest",
            Self::From(Side::Cluster) => "cluster",
            Self::From(Side::Either) => "either",
            Self::From(Side::Both) => "both",
        }
    }

    /// Returns a description of the matching objects, for the help.
    pub fn help(self) -> &'static str {
        match self {
            Self::Drift => "Every object that does not match its manifest, conflicts included (the default)",
            Self::Manual => "Changes and additions by kubectl or a manager listed in `manualManagers`",
            Self::Replace => "Objects that would have to be replaced",
            Self::Restart => "Objects whose apply restarts or deletes running Pods",
            Self::Warnings => {
                "Warnings of the server, such as deprecated versions and what PodSecurity or a policy says"
            }
            Self::UnmanagedObjects => "Objects that `--report-unmanaged` finds",
            Self::Of(class) => ClassInfo::of(class).fields,
            Self::From(Side::Manifest) => "Changes of the manifests: by the base, or else pending and pruned",
            Self::From(Side::Cluster) => "Changes in the cluster: by the base, or else changedByOther and conflict",
            Self::From(Side::Either) => {
                "Differences without a record of the side that changed: missing, absent, unrecorded, reordered; with a base, only what it cannot tell, such as the label of an apply set"
            }
            Self::From(Side::Both) => {
                "Changes in the cluster that an apply overwrites, as the manifest changed as well; needs a base"
            }
        }
    }

    /// Returns true if such a difference can be found only in the fields that other managers added.
    pub fn needs_unmanaged(&self) -> bool {
        matches!(self, Self::Manual | Self::Of(Class::Unmanaged))
    }

    /// Returns true if an object has such a difference.
    pub(crate) fn is_in(self, object: &ObjectReport) -> bool {
        let mut new = object.diff.changes.iter().filter(|change| !change.known);
        match self {
            Self::Drift => object.differs() && !object.is_known(),
            Self::Manual => {
                object.diff.added_items.len() > object.diff.known_added_items || new.any(FieldChange::is_manual)
            }
            Self::Replace => object.diff.action == Action::Replace && !object.is_known(),
            Self::Restart => object.restarts() && !object.is_known() && !object.is_known_left_out(),
            Self::Warnings => object.messages.server_warnings > 0,
            // These are not objects of the manifests.
            Self::UnmanagedObjects => false,
            Self::Of(class) => new.any(|change| change.class == class),
            // What an apply overwrites has changed on each side.
            Self::From(side @ (Side::Manifest | Side::Cluster)) => {
                new.any(|change| change.side == Some(side) || change.side == Some(Side::Both))
            }
            Self::From(side) => new.any(|change| change.side == Some(side)),
        }
    }
}

/// The differences that make a `diff` fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailOn {
    /// True if none does (`--exit-zero`).
    pub exit_zero: bool,
    /// True if fields that are not yet owned by our field manager do, too (`--strict-ownership`).
    pub strict_ownership: bool,
    /// The only differences that do (`--fail-on`); empty for every drift.
    pub classes: Vec<FailClass>,
    /// True if fields that other managers added are shown (`--show-unmanaged`), and not only looked at.
    pub show_unmanaged: bool,
}

impl FailOn {
    /// Returns true if an object makes the `diff` fail, but for `--exit-zero`.
    pub(crate) fn fails(&self, object: &ObjectReport) -> bool {
        let is_drift = self.classes.is_empty() && FailClass::Drift.is_in(object);
        is_drift
            || self.chooses(object)
            || self.strict_ownership && object.is_ownership_only() && !object.is_known_ownership()
    }

    /// Returns true if an object has a difference that was chosen (`--fail-on`).
    pub(crate) fn chooses(&self, object: &ObjectReport) -> bool {
        self.classes.iter().any(|class| class.is_in(object))
    }

    /// Returns true if unmanaged objects make it fail.
    pub fn fails_on_unmanaged_objects(&self) -> bool {
        self.classes.contains(&FailClass::UnmanagedObjects)
    }

    /// The differences that a report names, which has only the fields that were to be shown.
    pub(crate) fn reported(names: &[&'static str]) -> Self {
        let classes = names.iter().filter_map(|name| FailClass::named(name)).collect();
        Self { classes, show_unmanaged: true, ..Self::default() }
    }

    /// Leaves out the fields that other managers added, if only manual changes were asked for.
    pub(crate) fn leave_out_unmanaged(&self, objects: &mut [ObjectReport]) {
        let all = self.show_unmanaged || self.classes.contains(&FailClass::Of(Class::Unmanaged));
        let manual = self.classes.contains(&FailClass::Manual);
        if manual && !all {
            for object in objects.iter_mut().filter(|object| !object.diff.changes.is_empty()) {
                object.diff.changes.retain(|change| !change.is_addition() || change.is_manual());
            }
        }
    }
}

/// The JSON Schema of a list of such names.
pub(crate) fn class_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {"enum": FAIL_CLASSES.map(FailClass::name)}})
}

/// Reads names of classes that make a run fail.
pub(crate) fn classes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<&'static str>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let class = |name: &String| {
        let class = FailClass::named(name).map(FailClass::name);
        class.ok_or_else(|| D::Error::custom(format!("`{name}` is not a class of differences")))
    };
    names.iter().map(class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::classes::CLASSES;

    #[test]
    fn every_class_of_the_report_can_be_named_as_it_is_written_there() {
        for class in FAIL_CLASSES {
            if let FailClass::Of(class) = class {
                assert_eq!(serde_json::to_value(class).unwrap(), FailClass::Of(class).name());
            }
            assert_eq!(FailClass::named(class.name()), Some(class));
        }
        assert!(CLASSES.iter().all(|row| FailClass::named(row.id) == Some(FailClass::Of(row.class))));
        assert_eq!(FailClass::named("drft"), None);
    }
}
