use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::engine::write::Replacements;

/// The interrupt of a run by Ctrl-C. After it, nothing new is started, and work under way is finished and reported.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    token: CancellationToken,
    replacements: Replacements,
}

impl Interrupt {
    /// Interrupts the run, and so ends all waits. Returns true if it was interrupted before.
    pub fn set(&self) -> bool {
        let is_repeated = self.token.is_cancelled();
        self.token.cancel();
        self.replacements.interrupted(Instant::now(), is_repeated);
        is_repeated
    }

    /// The token that is cancelled by the interrupt.
    pub fn token(&self) -> &CancellationToken {
        &self.token
    }

    /// Returns true if nothing new may be started.
    pub fn is_set(&self) -> bool {
        self.token.is_cancelled()
    }

    /// The replacements that must be finished before the process may end.
    pub fn replacements(&self) -> &Replacements {
        &self.replacements
    }
}
