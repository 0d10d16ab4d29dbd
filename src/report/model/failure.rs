use crate::diagnostic::Diagnostic;
use crate::report::Verdict;

/// Why a run ended before it compared anything.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What that means for the exit code.
    pub verdict: Verdict,
    /// What to tell.
    pub diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// The input, the command line or the configuration is invalid.
    pub fn invalid(diagnostic: Diagnostic) -> Self {
        Self { verdict: Verdict::Invalid, diagnostics: vec![diagnostic] }
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
