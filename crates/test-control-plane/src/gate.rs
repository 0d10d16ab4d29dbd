//! A gate in front of the API server.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::fault::Fault;

/// Longest time for which a gate holds a request.
const DEADLINE: Duration = Duration::from_mins(1);

/// A gate that holds requests until a test opens it, or for a minute. Copies are the same gate.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// The fault of a request that does not reach the server before the gate is open.
    pub fn fault(&self) -> Fault {
        let gate = self.clone();
        Fault::After(Arc::new(move || gate.pass()))
    }

    /// Lets all requests pass, those to come as well.
    pub fn open(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    /// Waits until it is open.
    pub fn pass(&self) {
        let is_open = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.0.1.wait_timeout_while(is_open, DEADLINE, |is_open| !*is_open);
    }
}
