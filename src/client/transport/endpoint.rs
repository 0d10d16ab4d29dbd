//! The server of a connection, and the memory that its answers use.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use reconcile_core::request::RequestError;

/// The most bytes that all answers being read may use together.
const ALL_ANSWERS: usize = 512 << 20;

/// The server of a connection, as messages name it.
#[derive(Debug)]
pub struct Endpoint {
    /// The server's URL.
    pub server: String,
    /// The proxy on the way to the server, if there is one.
    pub proxy: Option<String>,
    /// The bytes of all answers that are being read.
    held: AtomicUsize,
    /// The limit for these bytes.
    bound: usize,
}

impl Endpoint {
    /// An endpoint without answers that are being read.
    pub fn new(server: String, proxy: Option<String>) -> Self {
        Self { server, proxy, held: AtomicUsize::new(0), bound: ALL_ANSWERS }
    }

    /// The error if there is no connection. Through a proxy, the proxy may be what is wrong.
    pub fn unreachable(&self, cause: String, hint: Option<String>) -> RequestError {
        let server = self.server.clone();
        match &self.proxy {
            Some(proxy) => RequestError::Unreachable {
                server,
                cause: format!("{cause} (through the proxy `{proxy}`)"),
                hint: Some("is the proxy right? `NO_PROXY` lists hosts that are reached without one".to_owned()),
            },
            None => RequestError::Unreachable { server, cause, hint },
        }
    }

    /// Begins to count the bytes of one more answer.
    pub fn hold(&self) -> Held<'_> {
        Held { all: &self.held, bound: self.bound, own: 0 }
    }
}

/// The bytes of one answer, which are released on drop.
pub struct Held<'a> {
    all: &'a AtomicUsize,
    bound: usize,
    own: usize,
}

impl Held<'_> {
    /// Adds bytes of the answer; an error if all answers together exceed the limit.
    pub fn add(&mut self, bytes: usize) -> Result<(), RequestError> {
        self.own = self.own.saturating_add(bytes);
        let all = self.all.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if all > self.bound { Err(RequestError::TooLarge { limit: self.bound }) } else { Ok(()) }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own, Ordering::Relaxed);
    }
}

#[cfg(test)]
impl Endpoint {
    /// An endpoint whose answers hold at most `bound` bytes together.
    pub fn bounded(server: String, bound: usize) -> Self {
        Self { bound, ..Self::new(server, None) }
    }
}

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

    /// The error of a request. As long as the server has never answered, silence means that it cannot be reached.
    pub fn in_words(&self, error: RequestError, endpoint: &Endpoint) -> RequestError {
        match error.silence() {
            Some((cause, hint)) if !self.is_reached.load(Ordering::Relaxed) => endpoint.unreachable(cause, Some(hint)),
            _ => error,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_share_one_bound_until_they_are_read() {
        let endpoint = Endpoint::bounded(String::new(), 1000);
        let mut first = endpoint.hold();
        let mut second = endpoint.hold();
        assert!(first.add(600).is_ok());
        assert!(second.add(400).is_ok());
        assert!(matches!(second.add(1), Err(RequestError::TooLarge { limit: 1000 })));
        drop(second);
        assert!(endpoint.hold().add(400).is_ok());
        drop(first);
        assert!(endpoint.hold().add(1000).is_ok(), "nothing is held any more");
        assert_eq!(Endpoint::new(String::new(), None).bound, 512 << 20);
    }
}
