//! The loop that turns updates of the watchers into readiness, until the wait is over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::interval;
use tokio_util::sync::CancellationToken;

use super::stop_policy::{ReadProgress, StopPolicy, WaitEnd};
use super::tracker::ReadinessTracker;
use super::watched::Watched;
use super::watcher::{Looks, Watcher};
use crate::client::Cluster;
use crate::engine::event::{Event, EventSink, Stage};
use crate::engine::interrupt::Interrupt;
use reconcile_core::live::readiness::ObjectReadiness;

/// Interval for checking the timeout.
const TICK: Duration = Duration::from_millis(100);
/// Interval for evaluating rules that depend on the time.
const REVIEW: Duration = Duration::from_secs(1);
/// The number of watches that may be open at once.
const STREAMS: usize = 32;
/// The number of updates in the channel before a watcher has to wait.
const UPDATES: usize = 32;

/// The limits of a wait.
pub struct WaitOptions<'s> {
    /// The longest wait; zero for one look at everything.
    pub timeout: Duration,
    /// Ends the wait when it is cancelled.
    pub stopped: &'s CancellationToken,
}

/// The result of a wait.
#[derive(Clone, Debug)]
pub struct Observation {
    /// The readiness of each watched object, in order.
    pub readiness: Vec<ObjectReadiness>,
    /// The reason why the wait ended.
    pub ending: WaitEnd,
}

/// Follows the readiness of objects. Calls `on_change` with each object's readiness when it is first known, and whenever it changes.
/// The first final failure ends the wait, because it can no longer succeed; a temporary failure ends it once nothing else is in
/// progress.
pub async fn observe(
    cluster: &Cluster,
    watched: &[Watched],
    until: &WaitOptions<'_>,
    mut on_change: impl FnMut(&Watched, &ObjectReadiness),
) -> Observation {
    let looks = if until.timeout.is_zero() { Looks::Once } else { Looks::Ongoing };
    let mut tracker = ReadinessTracker::new(watched);
    let (sender, mut updates) = mpsc::channel(UPDATES);
    let streams = Arc::new(Semaphore::new(STREAMS));
    // Dropping the set ends all watchers.
    let mut watchers = JoinSet::new();
    let mut handles = Vec::new();
    let mut policy = StopPolicy::new(until.timeout, Instant::now());
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
            () = until.stopped.cancelled() => {}
        }
        if judged.is_none_or(|judged| judged.elapsed() >= REVIEW) {
            tracker.judge(Timestamp::now(), &mut on_change);
            judged = Some(Instant::now());
        }
        let progress = ReadProgress { is_seen: tracker.is_seen(), is_explained: tracker.is_explained() };
        let ending = if until.stopped.is_cancelled() {
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
        let until = WaitOptions { timeout: self.timeout, stopped: self.interrupt.token() };
        let changed =
            |one: &Watched, readiness: &ObjectReadiness| events.receive(Event::ReadinessChanged(&one.key, readiness));
        let observation = observe(self.cluster, watched, &until, changed).await;
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
}
