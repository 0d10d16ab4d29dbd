use crate::client::{ConnectError, RequestError};
use crate::diagnostic::Diagnostic;
use crate::report::Verdict;

/// Why a run ended before it compared anything.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What that means for the exit code.
    pub verdict: Verdict,
    /// What to tell.
    pub problems: Vec<Diagnostic>,
}

impl Failure {
    /// The input, the command line or the configuration is no good.
    pub fn invalid(problem: Diagnostic) -> Self {
        Self { verdict: Verdict::Invalid, problems: vec![problem] }
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(problems: Vec<Diagnostic>) -> Self {
        Self { verdict: Verdict::Invalid, problems }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        let verdict = if error.is_configuration() { Verdict::Invalid } else { Verdict::Unreachable };
        Self { verdict, problems: vec![Diagnostic::from(&error)] }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        let verdict = if matches!(error, RequestError::Stopped) { Verdict::Interrupted } else { Verdict::Unreachable };
        Self { verdict, problems: vec![Diagnostic::from(&error)] }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::invalid(Diagnostic::general(format!("{error:#}")))
    }
}
