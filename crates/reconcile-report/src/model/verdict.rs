use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::request::RequestError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In sync (`diff`), everything applied (`apply`), or everything ready (`status`).
pub const EXIT_SUCCESS: u8 = 0;
/// `diff` found drift, `access` a permission that is missing, or the answer to `apply --confirm` was no and nothing was written.
pub const EXIT_DRIFT: u8 = 1;
/// Invalid flags, configuration or input, and nothing was compared or changed; or a report could not be written.
pub const EXIT_INVALID: u8 = 2;
/// The cluster cannot be reached, or rejected the credentials: nothing was compared.
pub const EXIT_UNREACHABLE: u8 = 3;
/// At least one object could not be compared or applied; the others were.
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
    /// `diff`: something differs, and everything was compared.
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
