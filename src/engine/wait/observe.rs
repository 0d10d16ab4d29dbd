//! The loop: news in, readiness out, until the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::interval;

use super::stop_policy::{StopPolicy, View, WaitEnd};
use super::tracker::ReadinessTracker;
use super::watched::Watched;
use super::watcher::{Looks, Watcher};
use crate::client::Cluster;
use crate::live::readiness::Readiness;

/// Interval for checking the timeout and the interrupt flag.
const TICK: Duration = Duration::from_millis(100);
/// How often rules that depend on the time are asked again.
const REVIEW: Duration = Duration::from_secs(1);
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
    let mut policy = StopPolicy::new(until.timeout, Instant::now());
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
        let view = View { is_seen: scene.is_seen(), is_explained: scene.is_explained() };
        let ending = if (until.stopped)() {
            Some(WaitEnd::Stopped)
        } else {
            policy.ending(Instant::now(), view, &scene.readiness().collect::<Vec<_>>())
        };
        if let Some(ending) = ending {
            return Observation { readiness: scene.into_readiness(), ending };
        }
    }
}
