//! The loop that turns updates of the watchers into readiness, until the wait is over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use reconcile_core::live::readiness::{ObjectReadiness, ReadinessState};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};
use tokio_util::sync::CancellationToken;

use super::tracker::ReadinessTracker;
use super::watched::Watched;
use super::watcher::{Looks, Watcher};
use crate::client::Cluster;
use crate::engine::event::{Event, EventSink, Stage};
use crate::engine::interrupt::Interrupt;

/// Interval for checking the timeout.
const TICK: Duration = Duration::from_millis(100);
/// Interval for evaluating rules that depend on the time.
const REVIEW: Duration = Duration::from_secs(1);
/// The number of watches that may be open at once.
const STREAMS: usize = 32;
/// The number of updates in the channel before a watcher has to wait.
const UPDATES: usize = 32;
/// The time that temporary failures get to recover when nothing else is in progress: the kubelet restarts a crashed container after
/// 10 seconds.
const PATIENCE: Duration = Duration::from_secs(15);
/// The time that a final failure waits for an explanation by its Pods.
const EXPLANATION: Duration = Duration::from_secs(2);
/// The longest time of the last look after a time-out.
const LAST_LOOK: Duration = Duration::from_secs(5);

/// The result of a wait.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The readiness of each watched object, in order.
    pub readiness: Vec<ObjectReadiness>,
    /// The reason why the wait ended.
    pub ending: WaitEnd,
}

/// Follows the readiness of objects for this time at most, or looks once at everything if it is zero, until `stopped` is cancelled. Calls `on_change` with each object's readiness when it is first known, and whenever it changes.
/// The first final failure ends the wait, because it can no longer succeed; a temporary failure ends it once nothing else is in
/// progress.
pub async fn observe(
    cluster: &Cluster,
    watched: &[Watched],
    timeout: Duration,
    stopped: &CancellationToken,
    mut on_change: impl FnMut(&Watched, &ObjectReadiness),
) -> Observation {
    let looks = if timeout.is_zero() { Looks::Once } else { Looks::Ongoing };
    let mut tracker = ReadinessTracker::new(watched);
    let (sender, mut updates) = mpsc::channel(UPDATES);
    let streams = Arc::new(Semaphore::new(STREAMS));
    // Dropping the set ends all watchers.
    let mut watchers = JoinSet::new();
    let mut handles = Vec::new();
    let mut policy = StopPolicy::new(timeout, Instant::now());
    let mut ticks = interval(TICK);
    let mut judged: Option<Instant> = None;
    loop {
        for (index, scope) in tracker.unstarted() {
            let cluster = cluster.clone();
            let updates = sender.clone();
            let streams = Arc::clone(&streams);
            handles.push(watchers.spawn(Watcher { cluster, scope, index, updates, streams }.run(looks)));
        }
        tokio::select! {
            Some((index, first)) = updates.recv() => {
                // No more than the channel holds, as others may send faster than they are read.
                let more = std::iter::from_fn(|| updates.try_recv().ok()).take(UPDATES);
                for (index, update) in std::iter::once((index, first)).chain(more) {
                    tracker.apply(index, update);
                    if let Some(handle) = handles.get(index).filter(|_| tracker.has_given_up(index)) {
                        handle.abort();
                    }
                }
                judged = None;
            }
            _ = ticks.tick() => {}
            () = stopped.cancelled() => {}
        }
        if judged.is_none_or(|judged| judged.elapsed() >= REVIEW) {
            tracker.judge(Timestamp::now(), &mut on_change);
            judged = Some(Instant::now());
        }
        let progress = ReadProgress { is_seen: tracker.is_seen(), is_explained: tracker.is_explained() };
        let ending = if stopped.is_cancelled() {
            Some(WaitEnd::Stopped)
        } else {
            policy.ending(Instant::now(), progress, &tracker.readiness().collect::<Vec<_>>())
        };
        if let Some(ending) = ending {
            return Observation { readiness: tracker.into_readiness(), ending };
        }
    }
}

/// A wait for readiness that sends events: after the pass of `apply --wait`, and for `status`.
pub(crate) struct Waiting<'a> {
    /// The connection.
    pub cluster: &'a Cluster,
    /// The longest wait; zero for one look.
    pub timeout: Duration,
    /// Ctrl-C ends the waiting.
    pub interrupt: &'a Interrupt,
    /// Receives each object's readiness.
    pub events: &'a dyn EventSink,
}

impl Waiting<'_> {
    /// Waits for these objects, and returns their readiness in the same order; nothing if the run was interrupted already.
    pub async fn after_pass(&self, watched: &[Watched]) -> Vec<ObjectReadiness> {
        if self.interrupt.is_set() { Vec::new() } else { self.observe(watched).await }
    }

    /// Waits for these objects, and returns their readiness in the same order.
    pub async fn observe(&self, watched: &[Watched]) -> Vec<ObjectReadiness> {
        let events = self.events;
        events.receive(Event::Began(Stage::Wait, watched.len()));
        let changed =
            |one: &Watched, readiness: &ObjectReadiness| events.receive(Event::ReadinessChanged(&one.key, readiness));
        let mut observation = observe(self.cluster, watched, self.timeout, self.interrupt.token(), changed).await;
        if observation.ending == WaitEnd::TimedOut {
            self.look_again(watched, &mut observation).await;
        }
        events.receive(Event::Ended(Stage::Wait));
        if observation.ending == WaitEnd::TimedOut {
            let unready = observation.readiness.iter().filter(|readiness| !readiness.is_current()).count();
            events.receive(Event::TimedOut { unready, after: self.timeout });
        }
        for (one, readiness) in watched.iter().zip(&observation.readiness) {
            events.receive(Event::Ready(&one.key, readiness));
        }
        observation.readiness
    }

    /// Looks once more at what was not ready when the time was over: a proxy may have held back the changes that a watch should have told.
    async fn look_again(&self, watched: &[Watched], observation: &mut Observation) {
        let Observation { readiness, ending } = observation;
        // What is gone by now says nothing of how it ended.
        let alive = watched.iter().map(|one| Watched { expires: false, ..one.clone() });
        let (unready, last): (Vec<_>, Vec<_>) =
            alive.zip(readiness.iter_mut()).filter(|(_, readiness)| !readiness.is_current()).unzip();
        let look = observe(self.cluster, &unready, Duration::ZERO, self.interrupt.token(), |_, _| ());
        let Ok(seen) = timeout(LAST_LOOK, look).await else { return };
        for (last, seen) in last.into_iter().zip(seen.readiness) {
            let is_known = !matches!(seen.state, ReadinessState::Unknown | ReadinessState::NotFound);
            // In the same state, what was read before may explain more.
            if is_known && seen.state != last.state {
                *last = seen;
            }
        }
        if readiness.iter().all(ObjectReadiness::is_current) {
            *ending = WaitEnd::Ready;
        }
    }
}

/// The progress of reading.
#[derive(Clone, Copy, Debug)]
struct ReadProgress {
    /// True if every watched object was read, or certainly cannot be.
    is_seen: bool,
    /// True if the same holds for the Pods that can explain them.
    is_explained: bool,
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

/// Decides when a wait is over. Pure: the caller passes the time.
struct StopPolicy {
    timeout: Duration,
    start: Instant,
    /// The time since which something has failed for good.
    failed: Option<Instant>,
    /// The time since which nothing has been in progress, while something has failed.
    stuck: Option<Instant>,
}

impl StopPolicy {
    /// A wait that begins now and takes this long at most; zero for one look.
    fn new(timeout: Duration, now: Instant) -> Self {
        Self { timeout, start: now, failed: None, stuck: None }
    }

    /// Returns the reason why the wait is over at this moment, if it is.
    fn ending(&mut self, now: Instant, progress: ReadProgress, readiness: &[&ObjectReadiness]) -> Option<WaitEnd> {
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
    use reconcile_core::live::readiness::Outlook;

    use super::*;

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
