//! Limits the requests under way at once: more while the server answers as quickly as at its best, fewer if it is overloaded.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::client::request::{IN_FLIGHT, MOST_IN_FLIGHT, RequestKind};
use reconcile_core::request::RequestError;

/// The limit does not fall below this number because of slow answers, only if the server says that there are too many requests.
const LEAST_WHEN_SLOW: usize = 8;
/// An answer is slow if it took this multiple of the quickest of its kind, and at least [`SLOW`].
const SLOW_TIMES: u32 = 4;
/// An answer that took less time is not slow.
const SLOW: Duration = Duration::from_millis(100);
/// An answer is quick if it took at most this multiple of the quickest of its kind.
const QUICK_TIMES: u32 = 2;

/// The limit of requests under way at once, which adapts to the server.
#[derive(Debug)]
pub struct Pace {
    permits: Semaphore,
    gauge: Mutex<Gauge>,
}

impl Pace {
    /// The pace at which every run begins.
    pub fn new() -> Self {
        Self { permits: Semaphore::new(IN_FLIGHT), gauge: Mutex::new(Gauge::new()) }
    }

    /// Waits until one more request may be under way. It counts as under way until the permit is dropped.
    pub async fn permit(&self) -> Permit<'_> {
        // The semaphore is never closed.
        Permit { pace: self, permit: self.permits.acquire().await.ok() }
    }

    /// The number of requests that may be under way at the moment.
    pub fn limit(&self) -> usize {
        self.gauge.lock().unwrap_or_else(PoisonError::into_inner).limit
    }

    /// Adapts the limit to an answer and the time that it took.
    pub fn learn(&self, kind: RequestKind, answer: LoadSignal, took: Duration) {
        let is_full = self.permits.available_permits() == 0;
        let mut gauge = self.gauge.lock().unwrap_or_else(PoisonError::into_inner);
        let before = gauge.limit;
        gauge.learn(kind, answer, took, is_full);
        let more = gauge.limit.saturating_sub(before);
        let paid = more.min(gauge.excess);
        gauge.excess = gauge.excess.saturating_sub(paid).saturating_add(before.saturating_sub(gauge.limit));
        self.permits.add_permits(more.saturating_sub(paid));
        gauge.excess = gauge.excess.saturating_sub(self.permits.forget_permits(gauge.excess));
    }

    /// Returns true if a permit has to be dropped, because there are more than the limit.
    fn is_in_excess(&self) -> bool {
        let mut gauge = self.gauge.lock().unwrap_or_else(PoisonError::into_inner);
        let is_in_excess = gauge.excess > 0;
        gauge.excess = gauge.excess.saturating_sub(1);
        is_in_excess
    }
}

/// One request that is under way.
pub struct Permit<'p> {
    pace: &'p Pace,
    permit: Option<SemaphorePermit<'p>>,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take()
            && self.pace.is_in_excess()
        {
            permit.forget();
        }
    }
}

/// The load of the server, as an answer shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadSignal {
    /// The request succeeded, or there is no such object.
    Done,
    /// The server said that there are too many requests.
    TooMany,
    /// Nothing is known of the load: the request was wrong, or the connection broke.
    Other,
}

impl LoadSignal {
    /// Reads it from the outcome of a request.
    pub fn of<T>(outcome: &Result<T, RequestError>) -> Self {
        match outcome {
            Ok(_) => Self::Done,
            Err(RequestError::Status(status)) if status.code == 429 => Self::TooMany,
            Err(RequestError::Status(status)) if status.code == 404 => Self::Done,
            Err(_) => Self::Other,
        }
    }
}

/// Evaluates answers in windows; each window has as many answers as requests may be under way.
#[derive(Debug)]
struct Gauge {
    limit: usize,
    /// Permits above the limit that are still in use.
    excess: usize,
    /// The quickest answers so far: to a GET, a dry run and a write. The answers of other kinds differ too much in size.
    quickest: [Option<Duration>; 3],
    answers: usize,
    quick: usize,
    slow: usize,
    /// The number of coming answers in which another 429 does not lower the limit again: their requests were sent before it was lowered.
    ignored: usize,
}

impl Gauge {
    fn new() -> Self {
        Self { limit: IN_FLIGHT, excess: 0, quickest: [None; 3], answers: 0, quick: 0, slow: 0, ignored: 0 }
    }

    fn learn(&mut self, kind: RequestKind, answer: LoadSignal, took: Duration, is_full: bool) {
        if answer == LoadSignal::TooMany && self.ignored == 0 {
            self.ignored = self.limit;
            self.begin((self.limit / 2).max(1));
        }
        self.ignored = self.ignored.saturating_sub(1);
        let quickest = match kind {
            RequestKind::Get => self.quickest.first_mut(),
            RequestKind::DryRun => self.quickest.get_mut(1),
            RequestKind::Write => self.quickest.get_mut(2),
            RequestKind::List | RequestKind::Watch | RequestKind::Other => None,
        };
        let (LoadSignal::Done, Some(quickest)) = (answer, quickest) else { return };
        let best = quickest.map_or(took, |best| best.min(took));
        *quickest = Some(best);
        self.answers = self.answers.saturating_add(1);
        self.quick = self.quick.saturating_add(usize::from(is_full && took <= best.saturating_mul(QUICK_TIMES)));
        self.slow = self.slow.saturating_add(usize::from(took > best.saturating_mul(SLOW_TIMES).max(SLOW)));
        if self.answers < self.limit {
            return;
        }
        let half = self.answers / 2;
        if self.slow > half {
            self.begin(self.limit.saturating_sub(self.limit / 4).max(self.limit.min(LEAST_WHEN_SLOW)));
        } else if self.quick > half {
            self.begin(self.limit.saturating_add(self.limit.div_ceil(4)).min(MOST_IN_FLIGHT));
        } else {
            self.begin(self.limit);
        }
    }

    /// Begins a window with this limit.
    fn begin(&mut self, limit: usize) {
        self.limit = limit;
        self.answers = 0;
        self.quick = 0;
        self.slow = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_millis(20);

    fn answers(gauge: &mut Gauge, count: usize, took: Duration) -> usize {
        for _ in 0..count {
            gauge.learn(RequestKind::DryRun, LoadSignal::Done, took, true);
        }
        gauge.limit
    }

    #[test]
    fn quick_answers_allow_more_requests_up_to_a_bound() {
        let mut gauge = Gauge::new();
        assert_eq!(answers(&mut gauge, 15, QUICK), 16);
        assert_eq!(answers(&mut gauge, 1, QUICK), 20);
        assert_eq!(answers(&mut gauge, 20, QUICK * 2), 25);
        assert_eq!(answers(&mut gauge, 1_000, QUICK), 64);
    }

    #[test]
    fn nothing_is_learned_from_requests_that_nothing_waited_for() {
        let mut gauge = Gauge::new();
        for _ in 0..100 {
            gauge.learn(RequestKind::Get, LoadSignal::Done, QUICK, false);
        }
        assert_eq!(gauge.limit, 16);
    }

    #[test]
    fn answers_that_take_longer_hold_the_pace_and_slow_ones_lower_it() {
        let mut gauge = Gauge::new();
        answers(&mut gauge, 1, QUICK);
        assert_eq!(answers(&mut gauge, 16 * 50 - 1, QUICK * 3), 16, "a busy server works on all of them");
        assert_eq!(answers(&mut gauge, 16, QUICK * 6), 12);
        assert_eq!(answers(&mut gauge, 1_000, QUICK * 6), 8);
        assert_eq!(answers(&mut gauge, 8, QUICK), 10, "it has recovered");

        let mut gauge = Gauge::new();
        answers(&mut gauge, 1, Duration::from_millis(1));
        assert_eq!(answers(&mut gauge, 1_000, Duration::from_millis(90)), 16, "that is not slow");
    }

    #[test]
    fn too_many_requests_halve_the_pace_once_for_those_that_were_under_way() {
        let mut gauge = Gauge::new();
        let refuse = |gauge: &mut Gauge| gauge.learn(RequestKind::List, LoadSignal::TooMany, QUICK, true);
        for (refused, limit) in [(16, 8), (8, 4), (4, 2), (2, 1), (1, 1)] {
            for _ in 0..refused {
                refuse(&mut gauge);
                assert_eq!(gauge.limit, limit);
            }
        }
        assert!(answers(&mut gauge, 100, QUICK) > 16, "the server has room again");
    }

    #[tokio::test]
    async fn permits_follow_the_limit() {
        let pace = Pace::new();
        let mut held = Vec::new();
        for _ in 0..IN_FLIGHT {
            held.push(pace.permit().await);
        }
        pace.learn(RequestKind::Get, LoadSignal::TooMany, QUICK);
        held.truncate(8);
        assert_eq!(pace.permits.available_permits(), 0, "eight of sixteen are under way, and no more may be");
        held.pop();
        assert_eq!(pace.permits.available_permits(), 1);
        held.push(pace.permit().await);
        for _ in 0..8 {
            pace.learn(RequestKind::Get, LoadSignal::Done, QUICK);
        }
        assert_eq!(pace.permits.available_permits(), 2, "ten may be under way");
        held.clear();
        assert_eq!(pace.permits.available_permits(), 10);
    }
}
