//! The server of a connection, and the memory that its answers use.

use std::sync::atomic::{AtomicUsize, Ordering};

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
