//! `KUBECTL_EXTERNAL_DIFF`: the program that shows the difference of two folders instead of `-o unified`.
//!
//! kubectl splits the variable at every blank, silently drops arguments with any other character than letters, digits, `-` and `=`,
//! and puts the remaining ones after the folders, which breaks programs with subcommands. Here it is split as a shell splits
//! words, with quotes and backslashes and nothing else; all arguments are kept, and the folders come last.

use std::ffi::OsStr;
use std::io::Result as IoResult;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::{io_reason, one_line};
use reconcile_report::formats::unified::FilePair;
use reconcile_report::{EXIT_INTERRUPTED, EXIT_SUCCESS};

use crate::private_folder::{self, PrivateFolder};
use crate::program;
use crate::terminal::signals;

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
        start(&mut command).map_err(|error| cannot(&format!("`{}` cannot be run", self.name), &error))?;
        let ended = wait(&stopped);
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
    let live = folder.folder("LIVE")?;
    let desired = folder.folder("MERGED")?;
    for FilePair { name, live: before, desired: after } in files {
        for (folder, content) in [(&live, before), (&desired, after)] {
            if let Some(content) = content {
                private_folder::write(&folder.join(name), content.as_bytes())?;
            }
        }
    }
    Ok([live, desired])
}

/// The interval at which the program is checked for its end.
const POLL: Duration = Duration::from_millis(10);
/// The time that the program has to end after an interrupt, which a terminal sends to it as well.
const GRACE: Duration = Duration::from_secs(2);

/// The program as long as it runs: a second Ctrl-C ends this process at once.
static RUNNING: Mutex<Option<Child>> = Mutex::new(None);

/// Starts the program.
fn start(command: &mut Command) -> IoResult<()> {
    let child = command.spawn()?;
    running().replace(child);
    Ok(())
}

/// Waits until the program ends, or until it has been killed because it did not end after an interrupt.
fn wait(stopped: &AtomicBool) -> IoResult<Option<ExitStatus>> {
    let ended = ended(stopped);
    running().take();
    ended
}

fn ended(stopped: &AtomicBool) -> IoResult<Option<ExitStatus>> {
    let mut interrupted = None;
    loop {
        match running().as_mut().map(Child::try_wait).transpose()? {
            Some(Some(status)) => return Ok(Some(status)),
            Some(None) => {}
            None => return Ok(None),
        }
        if stopped.load(Ordering::Relaxed) {
            let since = interrupted.get_or_insert_with(Instant::now);
            if since.elapsed() >= GRACE {
                kill();
                return Ok(None);
            }
        }
        std::thread::sleep(POLL);
    }
}

fn running() -> MutexGuard<'static, Option<Child>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill() {
    if let Some(mut child) = running().take() {
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Ends the program and removes its folder, before the process exits at once.
pub(crate) fn stop() {
    kill();
    private_folder::remove_all();
}
