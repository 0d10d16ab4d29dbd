//! The program that shows a difference, while it runs: it does not outlive this one, and neither do the folders that it reads.

use std::io::Result as IoResult;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::session::private_folder;

/// The interval at which the program is checked for its end.
const POLL: Duration = Duration::from_millis(10);
/// The time that the program has to end after an interrupt, which a terminal sends to it as well.
const GRACE: Duration = Duration::from_secs(2);

/// The program as long as it runs: a second Ctrl-C ends this process at once.
static RUNNING: Mutex<Option<Child>> = Mutex::new(None);

/// Starts the program.
pub(super) fn start(command: &mut Command) -> IoResult<()> {
    let child = command.spawn()?;
    running().replace(child);
    Ok(())
}

/// Waits until the program ends, or until it has been killed because it did not end after an interrupt.
pub(super) fn wait(stopped: &AtomicBool) -> IoResult<Option<ExitStatus>> {
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
pub(super) fn stop() {
    kill();
    private_folder::remove_all();
}
