use crate::client::{ConnectError, RequestError};
use crate::desired::InputProblem;
use crate::report::Verdict;

/// Why a run ended before it compared anything.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What that means for the exit code.
    pub verdict: Verdict,
    /// What to tell.
    pub problems: Vec<InputProblem>,
}

impl Failure {
    /// The input, the command line or the configuration is no good.
    pub fn invalid(problem: InputProblem) -> Self {
        Self { verdict: Verdict::Invalid, problems: vec![problem] }
    }
}

impl From<Vec<InputProblem>> for Failure {
    fn from(problems: Vec<InputProblem>) -> Self {
        Self { verdict: Verdict::Invalid, problems }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        let verdict = if error.is_configuration() { Verdict::Invalid } else { Verdict::Unreachable };
        Self { verdict, problems: vec![advised(error.to_string(), error.hint())] }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        let verdict = if matches!(error, RequestError::Stopped) { Verdict::Interrupted } else { Verdict::Unreachable };
        Self { verdict, problems: vec![advised(error.in_full(), error.hint())] }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::invalid(InputProblem::general(format!("{error:#}")))
    }
}

fn advised(message: String, hint: Option<String>) -> InputProblem {
    InputProblem { hint, ..InputProblem::general(message) }
}
