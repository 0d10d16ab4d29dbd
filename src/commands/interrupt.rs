use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::report::EXIT_INTERRUPTED;

/// Ctrl-C: once finishes the requests under way and reports, twice stops at once.
#[derive(Clone, Debug, Default)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on, also for the signal with which pipelines end a job.
    pub fn listen() -> Self {
        let interrupt = Self::default();
        let flag = interrupt.0.clone();
        tokio::spawn(async move {
            while signal().await.is_ok() {
                if flag.swap(true, Ordering::Relaxed) {
                    std::process::exit(i32::from(EXIT_INTERRUPTED));
                }
            }
        });
        interrupt
    }

    /// What is set with it, for the connection.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Whether nothing new is to be started.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
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
