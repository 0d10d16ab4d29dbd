//! The loop: news in, readiness out, until the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::interval;

use super::tracker::{ReadinessTracker, Watched};
use super::watcher::{Looks, Watcher};
use crate::client::Cluster;
use crate::live::readiness::{Readiness, State};

/// Interval for checking the timeout and the interrupt flag.
const TICK: Duration = Duration::from_millis(100);
/// How often rules that depend on the time are asked again.
const REVIEW: Duration = Duration::from_secs(1);
/// When nothing is under way any more, this long is given to failures that can pass: the kubelet starts a crashed container again
/// after 10 seconds.
const PATIENCE: Duration = Duration::from_secs(15);
/// So long a failure waits for what its Pods have to say about it.
const EXPLANATION: Duration = Duration::from_secs(2);
/// Streams of changes that are open at once.
const STREAMS: usize = 32;
/// News that are under way before who sends them waits.
const NEWS: usize = 256;

/// How long is waited.
pub struct WaitOptions<'s> {
    /// At most this long; zero for one look at everything.
    pub timeout: Duration,
    /// Or until this says so: it is asked ten times a second.
    pub stopped: &'s dyn Fn() -> bool,
}

/// Why the waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// Everything is ready.
    Ready,
    /// Something is not, and waiting does not help: it failed for good, nothing is under way any more, or one look was wanted.
    Settled,
    /// The time is over.
    TimedOut,
    /// Somebody wanted it to stop.
    Stopped,
}

/// What was seen last.
#[derive(Clone, Debug)]
pub struct Observation {
    /// One for each watched object, in order.
    pub readiness: Vec<Readiness>,
    /// Why nothing more was waited for.
    pub ending: WaitEnd,
}

/// Follows the readiness of objects. `on_change` hears of each object's readiness when it is first known, and whenever it is
/// another than before. The first failure for good ends the waiting, as it cannot come to a good end any more; a failure that can
/// pass ends it once nothing else is under way.
pub async fn observe(
    cluster: &Cluster,
    watched: &[Watched],
    until: &WaitOptions<'_>,
    mut on_change: impl FnMut(&Watched, &Readiness),
) -> Observation {
    let looks = if until.timeout.is_zero() { Looks::Once } else { Looks::Ongoing };
    let mut scene = ReadinessTracker::new(watched);
    let (sender, mut news) = mpsc::channel(NEWS);
    let streams = Arc::new(Semaphore::new(STREAMS));
    // Dropping the set ends all of them.
    let mut feeds = JoinSet::new();
    let mut patience = StopPolicy::new(until.timeout);
    let mut ticks = interval(TICK);
    let mut judged: Option<Instant> = None;
    loop {
        for (number, scope) in scene.unstarted() {
            let (cluster, news, streams) = (cluster.clone(), sender.clone(), Arc::clone(&streams));
            feeds.spawn(Watcher { cluster, scope, number, news, streams }.run(looks));
        }
        tokio::select! {
            Some((number, first)) = news.recv() => {
                scene.take(number, first);
                while let Ok((number, next)) = news.try_recv() {
                    scene.take(number, next);
                }
                judged = None;
            }
            _ = ticks.tick() => {}
        }
        if judged.is_none_or(|judged| judged.elapsed() >= REVIEW) {
            scene.judge(Timestamp::now(), &mut on_change);
            judged = Some(Instant::now());
        }
        let ending = if (until.stopped)() { Some(WaitEnd::Stopped) } else { patience.ending(&scene) };
        if let Some(ending) = ending {
            return Observation { readiness: scene.into_readiness(), ending };
        }
    }
}

/// Decides when it is enough.
struct StopPolicy {
    timeout: Duration,
    start: Instant,
    /// Since when something has failed for good.
    failed: Option<Instant>,
    /// Since when nothing has been under way, though something has failed.
    stuck: Option<Instant>,
}

impl StopPolicy {
    fn new(timeout: Duration) -> Self {
        Self { timeout, start: Instant::now(), failed: None, stuck: None }
    }

    fn ending(&mut self, scene: &ReadinessTracker<'_>) -> Option<WaitEnd> {
        if !scene.is_seen() {
            return self.time_is_over();
        }
        let any = |test: &dyn Fn(&Readiness) -> bool| scene.readiness().any(test);
        if !any(&|readiness| !readiness.is_current()) {
            return Some(WaitEnd::Ready);
        }
        if self.timeout.is_zero() {
            return scene.is_explained().then_some(WaitEnd::Settled);
        }
        let over = |since: Instant, bound: Duration| since.elapsed() >= bound;
        if any(&Readiness::is_final_failure) {
            let since = *self.failed.get_or_insert_with(Instant::now);
            if scene.is_explained() || over(since, EXPLANATION) {
                return Some(WaitEnd::Settled);
            }
        }
        if any(&Readiness::is_under_way) {
            self.stuck = None;
        } else if !any(&|readiness| readiness.state == State::Failed)
            || over(*self.stuck.get_or_insert_with(Instant::now), PATIENCE)
        {
            return Some(WaitEnd::Settled);
        }
        self.time_is_over()
    }

    fn time_is_over(&self) -> Option<WaitEnd> {
        let is_over = !self.timeout.is_zero() && self.start.elapsed() >= self.timeout;
        is_over.then_some(WaitEnd::TimedOut)
    }
}
