//! The files that a kubeconfig names.

use std::path::Path;

use crate::client::error::unreadable;
use reconcile_core::diagnostic::Diagnostic;

/// Reads a file that the kubeconfig names; `what` names it in the error.
pub(super) fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, Diagnostic> {
    std::fs::read(path).map_err(|source| unreadable(what, path, &source))
}
