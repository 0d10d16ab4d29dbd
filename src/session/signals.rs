//! Ctrl-C: once finishes the writes under way and reports, twice stops at once, but for an object that is being replaced: it would
//! be lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use structured_merge::ObjectKey;

use crate::engine::interrupt::Interrupt;
use crate::engine::write::GRACE;
use crate::report::EXIT_INTERRUPTED;
use crate::report::styled::Role;
use crate::session::child_process;
use crate::terminal::Terminal;

/// Listens from now on, also for the signal with which pipelines end a job.
pub(crate) fn listen(terminal: &Terminal) -> Interrupt {
    let interrupt = Interrupt::default();
    let (to_set, terminal) = (interrupt.clone(), terminal.clone());
    tokio::spawn(async move {
        while signal().await.is_ok() {
            let is_repeated = to_set.set();
            let end = || {
                if is_repeated {
                    child_process::stop();
                    std::process::exit(i32::from(EXIT_INTERRUPTED));
                }
            };
            let objects = to_set.half_way().or_else_end(end);
            if !objects.is_empty() {
                terminal.note(Role::Problem, &waiting_for(&objects, is_repeated));
            }
        }
    });
    interrupt
}

fn waiting_for(objects: &[ObjectKey], is_repeated: bool) -> String {
    let names: Vec<String> = objects.iter().map(ToString::to_string).collect();
    let (verb, it) = if objects.len() == 1 { ("is", "it") } else { ("are", "they") };
    let names = names.join(", ");
    let told = format!("waiting for {names}: {it} {verb} being replaced, and would be lost if the run stopped now");
    if is_repeated {
        return told;
    }
    format!("{told}; finalizers get {} seconds more, or none after another Ctrl-C", GRACE.as_secs())
}

#[cfg(unix)]
async fn signal() -> std::io::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        result = tokio::signal::ctrl_c() => result,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn signal() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

/// Whether a signal came since: from now on, none ends the process by itself.
pub(crate) fn noticed() -> std::io::Result<Arc<AtomicBool>> {
    let noticed = Arc::new(AtomicBool::new(false));
    let to_set = Arc::clone(&noticed);
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        tokio::spawn(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            to_set.store(true, Ordering::Relaxed);
        });
    }
    #[cfg(not(unix))]
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            to_set.store(true, Ordering::Relaxed);
        }
    });
    Ok(noticed)
}
