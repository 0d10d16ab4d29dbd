//! The deadline of a request, all its repetitions included.

use std::time::{Duration, Instant};

use crate::client::options::RequestTimeout;
use reconcile_core::request::RequestError;

/// The time that the server may stay silent if the request as a whole has no time limit.
const IDLE: Duration = Duration::from_secs(90);

/// The time that is left for a request.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    timeout: RequestTimeout,
    start: Instant,
}

impl Deadline {
    /// A deadline for a request that begins now.
    pub fn new(timeout: RequestTimeout) -> Self {
        Self { timeout, start: Instant::now() }
    }

    /// The remaining time, if there is a limit.
    pub fn remaining(self) -> Option<Duration> {
        match self.timeout {
            RequestTimeout::Within(timeout) => Some(timeout.saturating_sub(self.start.elapsed())),
            RequestTimeout::Unbounded => None,
        }
    }

    /// Waits for `step` until the deadline.
    pub async fn spend<T>(self, server: &str, step: impl Future<Output = T>) -> Result<T, RequestError> {
        let bound = self.remaining().unwrap_or(IDLE);
        tokio::time::timeout(bound, step).await.map_err(|_| {
            let after = if let RequestTimeout::Within(timeout) = self.timeout { timeout } else { IDLE };
            RequestError::TimedOut { server: server.to_owned(), after }
        })
    }
}
