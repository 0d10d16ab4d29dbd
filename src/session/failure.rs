//! What an error of a stage means for the run as a whole.

use crate::client::{ConnectError, RequestError};
use crate::diagnostic::Diagnostic;
use crate::report::Verdict;

pub(crate) use crate::report::Failure;

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
