//! Where requests go, and how much of the answers is in memory.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Where requests go, as messages name it.
#[derive(Debug)]
pub struct Endpoint {
    /// The server's URL.
    pub server: String,
    /// The proxy that leads there, if one does.
    pub proxy: Option<String>,
    /// The bytes of the answers that are being read.
    held: AtomicUsize,
}

impl Endpoint {
    /// An endpoint of which no answer is being read.
    pub fn new(server: String, proxy: Option<String>) -> Self {
        Self { server, proxy, held: AtomicUsize::new(0) }
    }

    /// The part of one more answer in what all hold.
    pub fn hold(&self) -> Held<'_> {
        Held { all: &self.held, own: 0 }
    }
}

/// The part of one answer in what all hold.
pub struct Held<'a> {
    all: &'a AtomicUsize,
    own: usize,
}

impl Held<'_> {
    /// Adds to it; what all hold then.
    pub fn add(&mut self, bytes: usize) -> usize {
        self.own += bytes;
        self.all.fetch_add(bytes, Ordering::Relaxed) + bytes
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own, Ordering::Relaxed);
    }
}
