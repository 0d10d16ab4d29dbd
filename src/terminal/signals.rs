//! The signals that ask the process to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns a flag that the first signal sets. From now on, no signal ends the process by itself.
pub(crate) fn noticed() -> std::io::Result<Arc<AtomicBool>> {
    let noticed = Arc::new(AtomicBool::new(false));
    let to_set = Arc::clone(&noticed);
    let mut signals = Signals::new()?;
    tokio::spawn(async move {
        if signals.next().await.is_some() {
            to_set.store(true, Ordering::Relaxed);
        }
    });
    Ok(noticed)
}

/// A signal that asks the process to end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Signal {
    /// Ctrl-C, or the signal with which pipelines end a job.
    End,
    /// The terminal was closed, or the connection to it.
    HangUp,
}

/// The signals, none of which is lost between two of them.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// Not for a process that is to outlive its terminal.
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    pub fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hang_up = if outlives_terminal() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())?, hang_up })
    }

    /// The next one. `None` when none will come.
    pub async fn next(&mut self) -> Option<Signal> {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            signal = self.interrupt.recv() => signal.map(|()| Signal::End),
            signal = self.terminate.recv() => signal.map(|()| Signal::End),
            signal = hang_up => signal.map(|()| Signal::HangUp),
        }
    }
}

#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
    pub fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    pub async fn next(&mut self) -> Option<Signal> {
        tokio::signal::ctrl_c().await.is_ok().then_some(Signal::End)
    }
}

/// Returns true if the process was started with the signal of a closed terminal ignored, as `nohup` does. Listening for it
/// would undo that.
#[cfg(unix)]
fn outlives_terminal() -> bool {
    use std::io::IsTerminal as _;
    match std::fs::read_to_string("/proc/self/status") {
        Ok(status) => ignores_hang_up(&status),
        // `nohup` leaves no terminal to write to.
        Err(_) => !std::io::stdout().is_terminal() && !std::io::stderr().is_terminal(),
    }
}

/// Reads the mask of ignored signals from Linux's `/proc/PID/status`: signal 1 is its lowest bit.
#[cfg(unix)]
fn ignores_hang_up(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        let status = |mask: &str| {
            format!("Name:\tkubectl\nSigBlk:\t0000000000000001\nSigIgn:\t{mask}\nSigCgt:\t0000000000000001\n")
        };
        assert!(ignores_hang_up(&status("0000000000001001")));
        assert!(!ignores_hang_up(&status("0000000000001002")));
        assert!(!ignores_hang_up(&status("x")) && !ignores_hang_up(""));
    }
}
