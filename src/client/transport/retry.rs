//! Decides whether a request is sent again, and after which wait. Pure: the caller passes the time and the jitter.

use std::time::{Duration, Instant};

use reconcile_core::request::RequestError;

use crate::client::options::RequestTimeout;
use crate::client::request::Retry;

/// The maximum number of repetitions of a request.
pub const MAX_RETRIES: u32 = 4;
/// The longest wait that a server may ask for. If it asks for more, the failure is reported at once.
pub const MAX_WAIT: Duration = Duration::from_secs(30);
/// The maximum number of attempts to reach a server that is gone: for a dozen seconds, which is about the time of a restart.
pub const MAX_RETURNS: u32 = 8;
/// The longest wait between these attempts.
const LONGEST_RETURN: Duration = Duration::from_secs(2);
/// The first wait; each further one doubles.
const BASE: Duration = Duration::from_millis(250);

/// Kinds of failures, by the state in which they leave the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureKind {
    /// The server did not process the request.
    NotProcessed,
    /// It is unknown whether the server processed it. It is repeated only if that is safe.
    Unknown,
    /// A repetition would fail in the same way.
    Final,
}

/// Returns the wait before a repetition after the failure number `failures` (from 1). Returns `None` if the failure is final, if there
/// were enough attempts, or if the wait would be longer than `remaining`. `jitter` is from 0 to 1.
///
/// Requests are repeated after 429, 503 with `Retry-After`, 504, and a connection that broke or closed before the whole answer came.
/// A request that is not [`Retry::Safe`] is repeated only after 429 with `Retry-After`, which says that it was not processed. Every
/// other refusal is final, 500 included: a repetition would fail in the same way.
pub fn wait(
    retry: Retry,
    error: &RequestError,
    failures: u32,
    remaining: Option<Duration>,
    jitter: f64,
) -> Option<Duration> {
    if failures > MAX_RETRIES {
        return None;
    }
    let (kind, asked) = judge(error);
    match (kind, retry) {
        (FailureKind::NotProcessed, _) | (FailureKind::Unknown, Retry::Safe) => {}
        (FailureKind::Unknown, Retry::Never) | (FailureKind::Final, _) => return None,
    }
    within(backoff(failures, jitter).max(asked.unwrap_or_default()), remaining)
}

/// Returns the wait before another attempt to connect to a server that was reachable before, and may be restarting. No request was
/// sent, so every kind of request may wait.
pub fn wait_for_return(failures: u32, remaining: Option<Duration>, jitter: f64) -> Option<Duration> {
    let wait = backoff(failures, jitter).min(LONGEST_RETURN);
    if failures > MAX_RETURNS { None } else { within(wait, remaining) }
}

fn within(wait: Duration, remaining: Option<Duration>) -> Option<Duration> {
    let bound = remaining.map_or(MAX_WAIT, |remaining| remaining.min(MAX_WAIT));
    (wait < bound).then_some(wait)
}

fn judge(error: &RequestError) -> (FailureKind, Option<Duration>) {
    match error {
        RequestError::Status(status) => {
            let kind = match (status.code, status.retry_after) {
                (429, Some(_)) => FailureKind::NotProcessed,
                (429 | 504, _) | (503, Some(_)) => FailureKind::Unknown,
                _ => FailureKind::Final,
            };
            (kind, status.retry_after)
        }
        RequestError::Interrupted { .. } => (FailureKind::Unknown, None),
        _ => (FailureKind::Final, None),
    }
}

/// 250 ms, 500 ms, 1 s, 2 s, each multiplied by 0.75 to 1.25, so that many clients do not return at once.
fn backoff(failures: u32, jitter: f64) -> Duration {
    let doubled = BASE.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
    doubled.mul_f64(0.75 + jitter.clamp(0.0, 1.0) / 2.0)
}

/// A random number from 0 to 1.
pub fn jitter() -> f64 {
    fastrand::f64()
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use reconcile_core::request::StatusError;

    fn refusal(code: u16, retry_after: Option<u64>) -> RequestError {
        RequestError::Status(Box::new(StatusError {
            code,
            from_server: true,
            reason: String::new(),
            message: String::new(),
            causes: Vec::new(),
            more_causes: 0,
            details_kind: None,
            details_name: None,
            retry_after: retry_after.map(Duration::from_secs),
            missing: None,
        }))
    }

    fn broken() -> RequestError {
        RequestError::Interrupted { server: "https://x".into(), cause: "connection reset by the server".into() }
    }

    #[test]
    fn what_is_sent_again_depends_on_what_is_known_about_the_first_time() {
        let safe = |error: &RequestError| wait(Retry::Safe, error, 1, None, 0.5).is_some();
        let never = |error: &RequestError| wait(Retry::Never, error, 1, None, 0.5).is_some();

        for (error, when_safe, when_never) in [
            (refusal(429, None), true, false),
            (refusal(429, Some(1)), true, true),
            (refusal(503, None), false, false),
            (refusal(503, Some(1)), true, false),
            (refusal(504, None), true, false),
            (refusal(500, None), false, false),
            (refusal(500, Some(1)), false, false),
            (refusal(409, Some(1)), false, false),
            (broken(), true, false),
            (RequestError::TimedOut { server: String::new(), after: Duration::ZERO }, false, false),
        ] {
            assert_eq!((safe(&error), never(&error)), (when_safe, when_never), "{error:?}");
        }
    }

    #[test]
    fn waits_double_and_are_spread() {
        let waits = |jitter| (1..=5).map(|n| wait(Retry::Safe, &broken(), n, None, jitter)).collect::<Vec<_>>();
        let millis = |values: [u64; 4]| values.map(|value| Some(Duration::from_millis(value)));
        assert_eq!(waits(0.5)[..4], millis([250, 500, 1000, 2000]));
        assert_eq!(waits(0.5)[4], None, "four times is enough");
        assert_eq!(waits(1.0)[0], Some(Duration::from_micros(312_500)));
        assert_eq!(waits(0.0)[0], Some(Duration::from_micros(187_500)));
    }

    #[test]
    fn the_server_is_listened_to_as_far_as_the_deadline_allows() {
        let after = |seconds, remaining: Option<u64>| {
            wait(Retry::Safe, &refusal(429, Some(seconds)), 1, remaining.map(Duration::from_secs), 0.5)
        };
        assert_eq!(after(3, None), Some(Duration::from_secs(3)));
        assert_eq!(after(0, None), Some(Duration::from_millis(250)), "never at once");
        assert_eq!(after(3, Some(10)), Some(Duration::from_secs(3)));
        assert_eq!(after(10, Some(10)), None, "there would be no time left");
        assert_eq!(after(3600, None), None, "nobody waits an hour");
    }

    #[test]
    fn a_server_that_is_restarted_is_waited_for_a_while() {
        let waits: Vec<_> = (1..).map_while(|failures| wait_for_return(failures, None, 0.5)).collect();
        assert_eq!(waits.len(), 8);
        assert_eq!(waits[..4], [250, 500, 1000, 2000].map(Duration::from_millis));
        assert_eq!(waits.iter().sum::<Duration>(), Duration::from_millis(11_750));
        assert_eq!(wait_for_return(1, Some(Duration::from_millis(100)), 0.5), None, "there would be no time left");
    }

    #[test]
    fn jitter_is_random() {
        let values: Vec<_> = (0..100).map(|_| jitter()).collect();
        assert!(values.iter().all(|value| (0.0..=1.0).contains(value)));
        assert!(values.iter().any(|value| *value < 0.5) && values.iter().any(|value| *value > 0.5));
    }
}
