//! The report of `pull`: which live values were taken into which files, and why others were not.

mod edited_file;
#[cfg(test)]
mod tests;

use reconcile_core::compare::FieldChange;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::manifest::Source;
use schemars::JsonSchema;
use serde::Serialize;
use structured_merge::ObjectKey;

use crate::model::diagnostic::{DiagnosticEntry, of_run};
use crate::model::identity::{self, KeyFields};
use crate::model::{
    ClusterInfo, EXIT_DRIFT, EXIT_INCOMPLETE, EXIT_INTERRUPTED, EXIT_INVALID, EXIT_SUCCESS, EXIT_UNREACHABLE, Failure,
};
use crate::words::styled::{Role, Styled};
use crate::words::value::number::counted;

pub use edited_file::{EditedFile, FileContent, question};
pub use edited_file::{OtherOverlay, OverlayChange};

/// All exit codes of `pull`.
const EXIT_CODES: [u8; 6] =
    [EXIT_SUCCESS, EXIT_DRIFT, EXIT_INVALID, EXIT_UNREACHABLE, EXIT_INCOMPLETE, EXIT_INTERRUPTED];

/// The report of `pull`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullReport {
    /// Always `kubectl-reconcile/v1`.
    #[schemars(extend("const" = "kubectl-reconcile/v1"))]
    api_version: &'static str,
    /// Always `PullReport`.
    #[schemars(extend("const" = "PullReport"))]
    kind: &'static str,
    /// Always `pull`.
    #[schemars(extend("const" = "pull"))]
    command: &'static str,
    /// The exit code of the process.
    #[schemars(extend("enum" = EXIT_CODES))]
    pub exit_code: u8,
    /// True if no file was to be written.
    dry_run: bool,
    /// The cluster; absent if it was not reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<ClusterInfo>,
    /// The result of the run.
    #[serde(flatten)]
    pub pulled: Pulled,
}

/// An object with its chosen changes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PulledObject {
    /// The object.
    #[serde(flatten, serialize_with = "identity::as_fields")]
    #[schemars(with = "KeyFields")]
    pub key: ObjectKey,
    /// Its location.
    pub source: Source,
    /// The changes.
    pub changes: Vec<PulledChange>,
}

/// An object of a manifest that does not exist.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MissingObject {
    /// The object.
    #[serde(flatten, serialize_with = "identity::as_fields")]
    #[schemars(with = "KeyFields")]
    pub key: ObjectKey,
    /// Its location.
    pub source: Source,
}

/// A change that was chosen.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PulledChange {
    /// The difference.
    #[serde(flatten)]
    pub change: FieldChange,
    /// True if the manifest has the live value now, or would have it.
    pub accepted: bool,
    /// The reason why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// True if somebody answered no.
    #[serde(skip)]
    pub is_declined: bool,
    /// The file of the kustomization that sets the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The part of the kustomization that sets the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<&'static str>,
}

/// The result of a run.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Pulled {
    /// The files that are edited.
    pub files: Vec<EditedFile>,
    /// The objects with chosen changes.
    pub objects: Vec<PulledObject>,
    /// The other overlays that an edited base is a part of, each with what changes in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<OtherOverlay>,
    /// The chosen objects that do not exist. Their manifests stay as they are.
    pub missing: Vec<MissingObject>,
    /// Values of Secrets that differ and were not chosen by name.
    pub secrets: usize,
    /// Warnings about the run, such as patterns that match nothing, and those of the server; those about an object begin with its name.
    pub warnings: Vec<String>,
    /// Errors in the input, of the run as a whole, or of objects that could not be compared.
    #[serde(serialize_with = "of_run")]
    #[schemars(with = "Vec<DiagnosticEntry<'static>>")]
    pub errors: Vec<Diagnostic>,
    /// True if the run is incomplete because of them.
    #[serde(skip)]
    pub is_incomplete: bool,
}

impl PullReport {
    /// The report, with the exit code that follows from it.
    pub fn new(pulled: Pulled, dry_run: bool, cluster: ClusterInfo) -> Self {
        let mut changes = pulled.objects.iter().flat_map(|object| &object.changes);
        let is_refused = changes.any(|change| !change.accepted && !change.is_declined);
        let exit_code = if pulled.is_incomplete || is_refused {
            EXIT_INCOMPLETE
        } else if dry_run && !pulled.files.is_empty() {
            EXIT_DRIFT
        } else {
            EXIT_SUCCESS
        };
        Self::with(exit_code, dry_run, Some(cluster), pulled)
    }

    /// The report of a run that ended before it compared anything.
    pub fn stopped(Failure { verdict, diagnostics }: Failure, dry_run: bool) -> Self {
        let pulled = Pulled { errors: diagnostics, ..Pulled::default() };
        Self::with(verdict.exit_code(false), dry_run, None, pulled)
    }

    fn with(exit_code: u8, dry_run: bool, cluster: Option<ClusterInfo>, pulled: Pulled) -> Self {
        let api_version = "kubectl-reconcile/v1";
        Self { api_version, kind: "PullReport", command: "pull", exit_code, dry_run, cluster, pulled }
    }

    /// The edits as a patch.
    pub fn patch(&self) -> Styled {
        let mut text = Styled::new();
        for file in &self.pulled.files {
            text.append(file.patch());
        }
        text
    }

    /// The changes that were not taken, and the counts.
    pub fn summary(&self) -> Styled {
        let mut text = Styled::new();
        let Pulled { files, objects, overlays, secrets, .. } = &self.pulled;
        for object in objects {
            for change in object.changes.iter().filter(|change| !change.accepted) {
                let reason = change.reason.clone().unwrap_or_default();
                text.push(Role::Error, "not pulled: ");
                text.push(Role::Name, object.key.to_string());
                text.push(Role::Plain, format!(" {}: {reason}", change.change.path));
                text.line(Role::Note, format!("  {}", object.source));
            }
        }
        for overlay in overlays {
            text.append(overlay.text(self.dry_run));
        }
        if *secrets > 0 {
            let values = counted(*secrets, "secret value differs", "secret values differ");
            text.line(Role::Note, format!("{values}, and secret values are not pulled"));
        }
        let (accepted, refused): (Vec<&PulledChange>, Vec<&PulledChange>) =
            objects.iter().flat_map(|object| &object.changes).partition(|change| change.accepted);
        let verb = if self.dry_run { "would pull" } else { "pulled" };
        let sentence = match (accepted.len(), refused.len()) {
            (0, 0) => "nothing to pull".to_owned(),
            (0, 1..) => format!("{verb} no change"),
            (changes, _) => {
                let files = counted(files.len(), "file", "files");
                format!("{verb} {} into {files}", counted(changes, "change", "changes"))
            }
        };
        text.line(Role::Plain, sentence);
        text
    }
}

/// `ConfigMap shop/settings does not exist in the cluster: its manifest stays  settings.yaml:1`
impl std::fmt::Display for MissingObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { key, source } = self;
        write!(f, "{key} does not exist in the cluster: its manifest stays  {source}")
    }
}
