//! Decides when a wait is over. Pure: the caller passes the time.

use std::time::{Duration, Instant};

use reconcile_core::live::readiness::{ObjectReadiness, ReadinessState};

/// The time that temporary failures get to recover when nothing else is in progress: the kubelet restarts a crashed container after
/// 10 seconds.
const PATIENCE: Duration = Duration::from_secs(15);
/// The time that a final failure waits for an explanation by its Pods.
const EXPLANATION: Duration = Duration::from_secs(2);

/// The progress of reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadProgress {
    /// True if every watched object was read, or certainly cannot be.
    pub is_seen: bool,
    /// True if the same holds for the Pods that can explain them.
    pub is_explained: bool,
}

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// Everything is ready.
    Ready,
    /// Something is not ready, and waiting does not help: it failed for good, nothing is in progress any more, or only one look was wanted.
    Settled,
    /// The time is over.
    TimedOut,
    /// The caller stopped it.
    Stopped,
}

/// Decides when a wait is over.
pub(super) struct StopPolicy {
    timeout: Duration,
    start: Instant,
    /// The time since which something has failed for good.
    failed: Option<Instant>,
    /// The time since which nothing has been in progress, while something has failed.
    stuck: Option<Instant>,
}

impl StopPolicy {
    /// A wait that begins now and takes this long at most; zero for one look.
    pub fn new(timeout: Duration, now: Instant) -> Self {
        Self { timeout, start: now, failed: None, stuck: None }
    }

    /// Returns the reason why the wait is over at this moment, if it is.
    pub fn ending(&mut self, now: Instant, progress: ReadProgress, readiness: &[&ObjectReadiness]) -> Option<WaitEnd> {
        if !progress.is_seen {
            return self.time_is_over(now);
        }
        let any = |test: &dyn Fn(&ObjectReadiness) -> bool| readiness.iter().any(|readiness| test(readiness));
        if !any(&|readiness| !readiness.is_current()) {
            return Some(WaitEnd::Ready);
        }
        if self.timeout.is_zero() {
            return progress.is_explained.then_some(WaitEnd::Settled);
        }
        let over = |since: Instant, bound: Duration| now.saturating_duration_since(since) >= bound;
        if any(&ObjectReadiness::is_final_failure) {
            let since = *self.failed.get_or_insert(now);
            if progress.is_explained || over(since, EXPLANATION) {
                return Some(WaitEnd::Settled);
            }
        }
        if any(&ObjectReadiness::is_under_way) {
            self.stuck = None;
        } else if !any(&|readiness| readiness.state == ReadinessState::Failed)
            || over(*self.stuck.get_or_insert(now), PATIENCE)
        {
            return Some(WaitEnd::Settled);
        }
        self.time_is_over(now)
    }

    fn time_is_over(&self, now: Instant) -> Option<WaitEnd> {
        let is_over = !self.timeout.is_zero() && now.saturating_duration_since(self.start) >= self.timeout;
        is_over.then_some(WaitEnd::TimedOut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reconcile_core::live::readiness::Outlook;

    const KNOWN: ReadProgress = ReadProgress { is_seen: true, is_explained: true };

    fn crashing() -> ObjectReadiness {
        ObjectReadiness::new(ReadinessState::Failed, "CrashLoopBackOff")
    }

    fn broken() -> ObjectReadiness {
        ObjectReadiness { outlook: Outlook::Final, ..crashing() }
    }

    fn coming() -> ObjectReadiness {
        ObjectReadiness::new(ReadinessState::InProgress, "")
    }

    fn ready() -> ObjectReadiness {
        ObjectReadiness::current("")
    }

    /// The state of the wait at these seconds after its beginning, if the objects are in these states all the time.
    fn endings(
        timeout: u64,
        progress: ReadProgress,
        objects: &[ObjectReadiness],
        seconds: &[u64],
    ) -> Vec<Option<WaitEnd>> {
        let start = Instant::now();
        let mut policy = StopPolicy::new(Duration::from_secs(timeout), start);
        let objects: Vec<&ObjectReadiness> = objects.iter().collect();
        let at = |seconds: &u64| policy.ending(start + Duration::from_secs(*seconds), progress, &objects);
        seconds.iter().map(at).collect()
    }

    #[test]
    fn a_failure_that_can_pass_is_given_some_time_when_nothing_is_under_way() {
        let endings = endings(300, KNOWN, &[crashing(), ready()], &[0, 10, 14, 15]);
        assert_eq!(endings, [None, None, None, Some(WaitEnd::Settled)]);
    }

    #[test]
    fn while_something_is_under_way_a_failure_may_pass() {
        let start = Instant::now();
        let mut policy = StopPolicy::new(Duration::from_mins(5), start);
        let mut at = |seconds, objects: &[ObjectReadiness]| {
            policy.ending(start + Duration::from_secs(seconds), KNOWN, &objects.iter().collect::<Vec<_>>())
        };
        let both = [crashing(), coming()];
        assert_eq!((at(0, &both), at(18, &both), at(200, &both)), (None, None, None), "the time is not over");
        // Everything in progress is done: from now on, only the failure remains.
        let failed = [crashing(), ready()];
        assert_eq!((at(201, &failed), at(215, &failed)), (None, None));
        // Something is in progress again: the time starts again.
        assert_eq!(at(216, &both), None);
        assert_eq!((at(217, &failed), at(231, &failed), at(232, &failed)), (None, None, Some(WaitEnd::Settled)));
    }

    #[test]
    fn a_failure_for_good_ends_the_wait_once_it_is_explained() {
        let objects = [broken(), coming()];
        assert_eq!(endings(300, KNOWN, &objects, &[0]), [Some(WaitEnd::Settled)]);
        let unexplained = ReadProgress { is_explained: false, ..KNOWN };
        assert_eq!(endings(300, unexplained, &objects, &[0, 1, 2]), [None, None, Some(WaitEnd::Settled)]);
    }

    #[test]
    fn time_and_readiness_end_the_wait() {
        let unseen = ReadProgress { is_seen: false, ..KNOWN };
        assert_eq!(endings(5, unseen, &[], &[4, 5]), [None, Some(WaitEnd::TimedOut)]);
        assert_eq!(endings(5, KNOWN, &[coming()], &[4, 5]), [None, Some(WaitEnd::TimedOut)]);
        assert_eq!(endings(5, KNOWN, &[ready()], &[0]), [Some(WaitEnd::Ready)]);
        let unknown = ObjectReadiness::new(ReadinessState::Unknown, "");
        assert_eq!(endings(5, KNOWN, &[unknown], &[0]), [Some(WaitEnd::Settled)], "nothing is under way");
        assert_eq!(endings(0, KNOWN, &[coming()], &[0]), [Some(WaitEnd::Settled)], "one look");
        let unexplained = ReadProgress { is_explained: false, ..KNOWN };
        assert_eq!(endings(0, unexplained, &[coming()], &[0]), [None]);
    }
}
