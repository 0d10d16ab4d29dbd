use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::write::HalfWay;
use crate::object::ObjectKey;
use crate::report::EXIT_INTERRUPTED;
use crate::report::styled::Role;
use crate::terminal::Terminal;

/// Ctrl-C: once finishes the requests under way and reports, twice stops at once, but for an object that is being replaced:
/// it would be lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    flag: Arc<AtomicBool>,
    half_way: HalfWay,
}

impl Interrupt {
    /// Listens from now on, also for the signal with which pipelines end a job.
    pub fn listen(terminal: &Terminal) -> Self {
        let interrupt = Self::default();
        let Self { flag, half_way } = interrupt.clone();
        let terminal = terminal.clone();
        tokio::spawn(async move {
            while signal().await.is_ok() {
                if flag.swap(true, Ordering::Relaxed) {
                    let objects = half_way.or_else_end(|| std::process::exit(i32::from(EXIT_INTERRUPTED)));
                    terminal.note(Role::Problem, &waiting_for(&objects));
                }
            }
        });
        interrupt
    }

    /// What is set with it, for the connection.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// Whether nothing new is to be started.
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// What must be finished before the process may end.
    pub fn half_way(&self) -> &HalfWay {
        &self.half_way
    }
}

fn waiting_for(objects: &[ObjectKey]) -> String {
    let names: Vec<String> = objects.iter().map(ToString::to_string).collect();
    let (verb, it) = if objects.len() == 1 { ("is", "it") } else { ("are", "they") };
    format!("waiting for {}: {it} {verb} being replaced, and would be lost if the run stopped now", names.join(", "))
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
