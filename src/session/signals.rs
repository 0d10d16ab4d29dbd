//! Ctrl-C: once finishes the writes under way and reports, twice stops at once, but for an object that is being replaced: it would
//! be lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reconcile_report::EXIT_INTERRUPTED;
use reconcile_report::Role;
use structured_merge::ObjectKey;

use crate::engine::interrupt::Interrupt;
use crate::engine::write::GRACE;
use crate::session::child_process;
use crate::terminal::Terminal;

/// Listens from now on, also for the signals with which pipelines end a job and a closed terminal ends its processes.
pub(crate) fn listen(terminal: &Terminal) -> Interrupt {
    let interrupt = Interrupt::default();
    let (to_set, terminal) = (interrupt.clone(), terminal.clone());
    let Ok(mut signals) = Signals::new() else { return interrupt };
    tokio::spawn(async move {
        while let Some(signal) = signals.next().await {
            // The kernel and the shell each send one when a terminal is closed.
            if signal == Signal::HangUp && to_set.is_set() {
                continue;
            }
            let is_repeated = to_set.set();
            let end = || {
                if is_repeated {
                    child_process::stop();
                    std::process::exit(i32::from(EXIT_INTERRUPTED));
                }
            };
            let objects = to_set.replacements().end_if_none(end);
            if !objects.is_empty() {
                terminal.note(Role::Error, &waiting_for(&objects, is_repeated));
            }
        }
    });
    interrupt
}

fn waiting_for(objects: &[ObjectKey], is_repeated: bool) -> String {
    let names: Vec<String> = objects.iter().map(ToString::to_string).collect();
    let (verb, it) = if objects.len() == 1 { ("is", "it") } else { ("are", "they") };
    let names = names.join(", ");
    let sentence = format!("waiting for {names}: {it} {verb} being replaced, and would be lost if the run stopped now");
    if is_repeated {
        return sentence;
    }
    format!("{sentence}; finalizers get {} seconds more, or none after another Ctrl-C", GRACE.as_secs())
}

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
enum Signal {
    /// Ctrl-C, or the signal with which pipelines end a job.
    End,
    /// The terminal was closed, or the connection to it.
    HangUp,
}

/// The signals, none of which is lost between two of them.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// Not for a process that is to outlive its terminal.
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hang_up = if outlives_terminal() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())?, hang_up })
    }

    /// The next one. `None` when none will come.
    async fn next(&mut self) -> Option<Signal> {
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
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> Option<Signal> {
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
