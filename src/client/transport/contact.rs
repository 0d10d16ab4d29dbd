//! The contact with a server, as the answers so far show it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use reconcile_core::request::RequestError;

/// The contact that all requests of a connection share.
pub struct Contact {
    /// True once the server has answered.
    is_reached: AtomicBool,
    /// True if a connection was made, and the server was not given up since.
    is_connected: AtomicBool,
    /// The time of the quickest answer so far, in microseconds.
    quickest: AtomicU64,
}

impl Contact {
    /// No contact yet.
    pub fn new() -> Self {
        Self {
            is_reached: AtomicBool::new(false),
            is_connected: AtomicBool::new(false),
            quickest: AtomicU64::new(u64::MAX),
        }
    }

    /// Returns true if a connection was made, and the server was not given up since.
    pub fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Relaxed)
    }

    /// Notes that the server has not returned: other requests do not wait for it.
    pub fn give_up(&self) {
        self.is_connected.store(false, Ordering::Relaxed);
    }

    /// Notes that a connection was made.
    pub fn connect(&self) {
        self.is_connected.store(true, Ordering::Relaxed);
    }

    /// The error of a request. As long as the server has never answered, it says so.
    pub fn in_words(&self, error: RequestError) -> RequestError {
        if self.is_reached.load(Ordering::Relaxed) { error } else { RequestError::silent(error) }
    }

    /// Notes an answer, also if it refuses the credentials.
    pub fn answer(&self) {
        self.is_reached.store(true, Ordering::Relaxed);
    }

    /// Notes the time that an answer took.
    pub fn time(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.quickest.fetch_min(micros, Ordering::Relaxed);
    }

    /// The time that a round trip takes at least, as far as answers show it: the first one on a connection comes after three of them, for
    /// TCP, TLS and the request. Zero without an answer.
    pub fn round_trip(&self) -> Duration {
        match self.quickest.load(Ordering::Relaxed) {
            u64::MAX => Duration::ZERO,
            quickest => Duration::from_micros(quickest / 3),
        }
    }
}
