use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::request::RequestError;

use crate::Verdict;

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
