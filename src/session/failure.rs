//! Turns the errors of the stages into failures of the run, with the verdict for the exit code.

use reconcile_report::Verdict;

use crate::engine::prune::ApplySetError;
use reconcile_core::diagnostic::{Code, Diagnostic};

pub(crate) use reconcile_report::Failure;

/// The failure for a connection that could not be prepared. Without credentials, the cluster counts as unreachable; everything
/// else is an error in the command line or the kubeconfig.
pub(crate) fn not_connected(diagnostic: Diagnostic) -> Failure {
    let verdict = if diagnostic.code == Code::Unauthorized { Verdict::Unreachable } else { Verdict::Invalid };
    Failure { verdict, diagnostics: vec![diagnostic] }
}

/// Without its apply set, nothing is compared. An interrupted run says that it was interrupted.
impl From<ApplySetError> for Failure {
    fn from(error: ApplySetError) -> Self {
        match error {
            ApplySetError::Refused(diagnostics) => Self { verdict: Verdict::Invalid, diagnostics },
            ApplySetError::Unreadable(diagnostic) => {
                let is_interrupted = diagnostic.code == Code::Interrupted;
                let verdict = if is_interrupted { Verdict::Interrupted } else { Verdict::Incomplete };
                Self { verdict, diagnostics: vec![diagnostic] }
            }
        }
    }
}
