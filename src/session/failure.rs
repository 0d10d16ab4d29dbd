//! What an error of a stage means for the run as a whole.

use crate::client::RequestError;
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::prune::ApplySetError;
use crate::report::Verdict;

pub(crate) use crate::report::Failure;

/// No connection could be prepared. Without credentials, the cluster counts as one that cannot be reached; everything else is a
/// mistake of the command line or the kubeconfig.
pub(crate) fn not_connected(problem: Diagnostic) -> Failure {
    let verdict = if problem.code == Code::Unauthorized { Verdict::Unreachable } else { Verdict::Invalid };
    Failure { verdict, problems: vec![problem] }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        let verdict = if matches!(error, RequestError::Stopped) { Verdict::Interrupted } else { Verdict::Unreachable };
        Self { verdict, problems: vec![Diagnostic::from(&error)] }
    }
}

/// Without its apply set, nothing is compared. An interrupted run says that it was interrupted.
impl From<ApplySetError> for Failure {
    fn from(error: ApplySetError) -> Self {
        match error {
            ApplySetError::Refused(problems) => Self { verdict: Verdict::Invalid, problems },
            ApplySetError::Unreadable(problem) => {
                let is_interrupted = problem.code == Code::Interrupted;
                let verdict = if is_interrupted { Verdict::Interrupted } else { Verdict::Incomplete };
                Self { verdict, problems: vec![problem] }
            }
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::invalid(Diagnostic::general(format!("{error:#}")))
    }
}
