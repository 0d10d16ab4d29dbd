use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::engine::write::Replacements;

/// The flag that Ctrl-C sets. Once it is set, nothing new is started, and work under way is finished and reported.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    flag: Arc<AtomicBool>,
    replacements: Replacements,
}

impl Interrupt {
    /// Sets the flag. Returns true if it was set before.
    pub fn set(&self) -> bool {
        let is_repeated = self.flag.swap(true, Ordering::Relaxed);
        self.replacements.interrupted(Instant::now(), is_repeated);
        is_repeated
    }

    /// The same flag, for the connection.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// Returns true if nothing new may be started.
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// The replacements that must be finished before the process may end.
    pub fn replacements(&self) -> &Replacements {
        &self.replacements
    }
}
