use crate::diagnostic::{Code, Diagnostic};
use crate::report::Verdict;

/// Why a run ended before it compared anything.
#[derive(Debug)]
pub(crate) struct Failure {
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

    /// The command line asks for what is not possible; the hint says what is.
    pub fn refused(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::invalid(Diagnostic::general(message).with_hint(hint))
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self { verdict: Verdict::Invalid, diagnostics }
    }
}
