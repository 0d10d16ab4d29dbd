//! Writes and deletions whose answer was lost.

use reconcile_core::diagnostic::Diagnostic;

use crate::client::RequestError;

/// Returns true if it is unknown whether the write was done: there was no valid answer, or the server or a proxy failed.
pub fn is_open(error: &RequestError) -> bool {
    error
        .status()
        .map_or(!error.is_whole_run() && !matches!(error, RequestError::Invalid { .. }), |status| status.code >= 500)
}

/// Returns true if the server may still do a write that it has not done by now: there was no answer, or that of a gateway.
pub fn may_be_done(error: &RequestError) -> bool {
    is_open(error) && error.status().is_none_or(|status| matches!(status.code, 502 | 504))
}

/// The error of a change whose answer was lost: the server may have done it, or may still do it.
pub fn unknown_end(diagnostic: Diagnostic, done: &str) -> Diagnostic {
    let message = format!("it is not known whether it was {done}: {}", diagnostic.message);
    Diagnostic { message, ..diagnostic }.with_hint("run `diff` to see what is left, then run again")
}
