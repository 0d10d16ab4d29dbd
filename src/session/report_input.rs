//! Reports of earlier runs, as input.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use reconcile_report::Baseline;

use crate::session::failure::Failure;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::io_reason;

/// The largest report that is read, in bytes.
pub(crate) const LARGEST: u64 = 256 << 20;

/// Reads the report that `--baseline` names.
pub(crate) fn baseline(path: &Path) -> Result<Baseline, Failure> {
    let file = path.to_string_lossy();
    let text = content(path, LARGEST).map_err(|message| Failure::invalid(Diagnostic::of_file(&file, message)))?;
    Baseline::read(&file, &text).map_err(Failure::invalid)
}

/// Reads a file of at most `most` bytes.
pub(crate) fn content(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {}", io_reason(&error));
    let file = File::open(path).map_err(unreadable)?;
    let mut text = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() as u64 > most {
        return Err(format!("larger than {most} bytes, the most that is read"));
    }
    Ok(text)
}
