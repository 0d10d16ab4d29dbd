//! Errors with their codes.

use reconcile_core::diagnostic::Diagnostic;

/// An error with its code: `namespace `x` does not exist (NotFound)`. A message that ends with the status has it already.
pub(crate) fn coded(error: &Diagnostic) -> String {
    let status = format!(" {})", error.code);
    if error.message.ends_with(&status) { error.message.clone() } else { format!("{} ({})", error.message, error.code) }
}
