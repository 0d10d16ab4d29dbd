use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::engine::write::HalfWay;

/// The wish to stop: nothing new is started once it is set, and what is under way is finished and reported.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    flag: Arc<AtomicBool>,
    half_way: HalfWay,
}

impl Interrupt {
    /// Sets it. Returns whether it was set before.
    pub fn set(&self) -> bool {
        let is_repeated = self.flag.swap(true, Ordering::Relaxed);
        self.half_way.interrupted(Instant::now(), is_repeated);
        is_repeated
    }

    /// What is set with it, for the connection.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// Returns true if nothing new is to be started.
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// What must be finished before the process may end.
    pub fn half_way(&self) -> &HalfWay {
        &self.half_way
    }
}
