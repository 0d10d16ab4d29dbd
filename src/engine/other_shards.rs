//! Objects of other shards. A run of one shard reads them, waits for those on which its own objects depend, and never writes them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use apply_set::part_of;
use structured_merge::ObjectKey;
use tokio::sync::Semaphore;

use crate::client::{Cluster, IN_FLIGHT};
use crate::engine::backoff::Backoff;
use crate::engine::interrupt::Interrupt;
use crate::live::fetch::{fetch, find};
use reconcile_core::compare::Chosen;
use reconcile_core::live::{LiveState, Target};

/// The time for which one pass waits for objects of other shards, unless `--wait` has a timeout.
const DEFAULT_WAIT: Duration = Duration::from_mins(1);
/// The first and the longest pause between two reads of an object.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// A wait for objects of other shards, with one deadline for all of them.
#[derive(Clone)]
pub(crate) struct ShardWait {
    start: Instant,
    wait: Duration,
    interrupt: Interrupt,
    looks: Arc<Semaphore>,
}

impl ShardWait {
    /// A wait that begins now and takes the given time at most, or else a minute.
    pub fn from_now(wait: Option<Duration>, interrupt: &Interrupt) -> Self {
        let start = Instant::now();
        let wait = wait.unwrap_or(DEFAULT_WAIT);
        Self { start, wait, interrupt: interrupt.clone(), looks: Arc::new(Semaphore::new(IN_FLIGHT)) }
    }

    /// The remaining time.
    fn left(&self) -> Duration {
        self.wait.saturating_sub(self.start.elapsed())
    }

    /// Repeats the question until the answer is true or the time is over; asks at least once. Returns the last answer.
    pub async fn until<F: Future<Output = bool>>(&self, cluster: &Cluster, mut question: impl FnMut() -> F) -> bool {
        let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
        loop {
            let turn = self.looks.acquire().await;
            if question().await {
                return true;
            }
            drop(turn);
            let left = self.left();
            if left.is_zero() || self.interrupt.is_set() {
                return false;
            }
            cluster.pause(backoff.pause().min(left)).await;
        }
    }

    /// Waits until an object exists. One that cannot be read counts as existing: otherwise, writes of its dependents fail and say so.
    pub async fn exists(&self, cluster: &Cluster, target: &Target) -> bool {
        let Ok(resource) = &target.resource else { return true };
        self.until(cluster, async || !matches!(find(cluster, resource, &target.key).await, LiveState::Absent)).await
    }

    /// Waits until all of these are members of an apply set. Returns those that are not. What `--only` leaves, so that no shard creates it,
    /// is taken out of the targets.
    pub async fn members<'t>(
        &self,
        cluster: &Cluster,
        targets: &mut Vec<&'t Target>,
        id: &str,
        only: Option<&Chosen>,
    ) -> Vec<&'t ObjectKey> {
        let mut missing = targets.clone();
        let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
        loop {
            let states = read(cluster, &missing).await;
            let mut left = BTreeSet::new();
            let is_missing = |(target, state): &(&Target, &LiveState)| match state {
                LiveState::Present(object) => part_of(object) != Some(id),
                LiveState::Absent if only.is_some_and(|only| !only.creates(target)) => {
                    left.insert(target.key.clone());
                    false
                }
                LiveState::Absent | LiveState::Unreadable(_) => true,
            };
            let both = missing.into_iter().zip(&states);
            missing = both.filter(is_missing).map(|(target, _)| target).collect();
            targets.retain(|target| !left.contains(&target.key));
            let time = self.left();
            if missing.is_empty() || time.is_zero() || self.interrupt.is_set() {
                return missing.into_iter().map(|target| &target.key).collect();
            }
            cluster.pause(backoff.pause().min(time)).await;
        }
    }
}

/// Reads objects, including those of kinds that were not served when the run began.
async fn read(cluster: &Cluster, targets: &[&Target]) -> Vec<LiveState> {
    let mut states = fetch(cluster, targets).await;
    for (target, state) in targets.iter().zip(&mut states) {
        if let Ok(resource) = &target.resource
            && resource.pending
        {
            *state = find(cluster, resource, &target.key).await;
        }
    }
    states
}
