//! `KUBECTL_EXTERNAL_DIFF`: the program that shows the difference of two folders instead of `-o unified`.
//!
//! kubectl splits the variable at every blank, silently drops arguments with any other character than letters, digits, `-` and `=`,
//! and puts the remaining ones after the folders, which breaks programs with subcommands. Here it is split as a shell splits
//! words, with quotes and backslashes and nothing else; all arguments are kept, and the folders come last.

use std::ffi::OsStr;
use std::io::Result as IoResult;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::Ordering;

use reconcile_report::formats::unified::FilePair;
use reconcile_report::{EXIT_INTERRUPTED, EXIT_SUCCESS};

use crate::program;
use crate::session::child_process;
use crate::session::private_folder::{self, PrivateFolder};
use crate::session::signals;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::{io_reason, one_line};

/// The variable.
const VARIABLE: &str = "KUBECTL_EXTERNAL_DIFF";
/// The program and its arguments.
#[derive(Debug)]
pub(crate) struct ExternalDiff {
    name: String,
    program: PathBuf,
    arguments: Vec<String>,
}

impl ExternalDiff {
    /// The program that the environment names; `None` if it names none.
    pub fn from_environment() -> Result<Option<Self>, Diagnostic> {
        let invalid = |text: String| Diagnostic::general(format!("`{VARIABLE}`: {text}"));
        let Some(value) = std::env::var_os(VARIABLE) else { return Ok(None) };
        let value = value.into_string().map_err(|_| invalid("it is not valid UTF-8".to_owned()))?;
        let mut words = program::words(&value).map_err(|text| invalid(text.to_owned()))?.into_iter();
        let Some(name) = words.next() else { return Ok(None) };
        let program = program::find(OsStr::new(&name)).map_err(|error| {
            let name = one_line(&name, 200);
            invalid(format!("`{name}` cannot be run: {error}")).with_hint(format!("install it, or unset {VARIABLE}"))
        })?;
        Ok(Some(Self { name: one_line(&name, 200), program, arguments: words.collect() }))
    }

    /// Shows the objects that differ. Like `diff`, the program may end with 0 or 1. Returns the exit code.
    pub fn show(&self, files: &[FilePair]) -> Result<u8, Diagnostic> {
        if files.is_empty() {
            return Ok(EXIT_SUCCESS);
        }
        let cannot = |what: &str, error: &std::io::Error| {
            Diagnostic::general(format!("`{VARIABLE}`: {what}: {}", io_reason(error)))
        };
        // From here on, a signal does not end the process before the folder is removed.
        let stopped = signals::noticed().map_err(|error| cannot("signals cannot be received", &error))?;
        let folder = PrivateFolder::new().map_err(|error| cannot("a temporary folder cannot be made", &error))?;
        let [live, desired] =
            written(&folder, files).map_err(|error| cannot("temporary files cannot be written", &error))?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(live).arg(desired);
        child_process::start(&mut command)
            .map_err(|error| cannot(&format!("`{}` cannot be run", self.name), &error))?;
        let ended = child_process::wait(&stopped);
        match ended.map_err(|error| cannot(&format!("`{}` failed", self.name), &error))? {
            _ if stopped.load(Ordering::Relaxed) => Ok(EXIT_INTERRUPTED),
            Some(status) if matches!(status.code(), Some(0 | 1)) => Ok(EXIT_SUCCESS),
            Some(status) => Err(Diagnostic::general(format!("`{VARIABLE}`: `{}` failed: {status}", self.name))),
            None => Ok(EXIT_INTERRUPTED),
        }
    }
}

/// Writes the live objects to one folder, and the objects that an apply would leave to another.
fn written(folder: &PrivateFolder, files: &[FilePair]) -> IoResult<[PathBuf; 2]> {
    let (live, desired) = (folder.folder("LIVE")?, folder.folder("MERGED")?);
    for FilePair { name, live: before, desired: after } in files {
        for (folder, content) in [(&live, before), (&desired, after)] {
            if let Some(content) = content {
                private_folder::write(&folder.join(name), content)?;
            }
        }
    }
    Ok([live, desired])
}
