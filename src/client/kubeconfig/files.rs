//! The files that a kubeconfig names.

use std::path::Path;

use crate::client::error::ConnectError;

/// Reads a file that the kubeconfig names; `what` it is goes into the error.
pub(super) fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, ConnectError> {
    std::fs::read(path).map_err(|source| ConnectError::File { what, path: path.to_owned(), source })
}
