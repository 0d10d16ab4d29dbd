//! The replacements of a run, for the end of a run that is interrupted.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use structured_merge::ObjectKey;
use tokio::sync::watch;
use tokio::time::sleep_until;

/// The time for which an interrupted run still waits for finalizers, so that the deleted object can be recreated.
pub const GRACE: Duration = Duration::from_secs(10);

/// The objects that are being replaced: deleted, and not created again yet. While there are any, the process must not end, because it
/// alone knows their content.
#[derive(Clone, Debug, Default)]
pub struct Replacements {
    objects: Arc<Mutex<Vec<ObjectKey>>>,
    /// The moment at which an interrupted run stops waiting.
    grace_ends: Arc<watch::Sender<Option<Instant>>>,
}

/// One replacement that is under way, until it is dropped.
#[derive(Debug)]
pub(super) struct UnderWay<'a> {
    all: &'a Replacements,
    key: ObjectKey,
}

impl Replacements {
    /// Begins the replacement of an object.
    pub(super) fn begin(&self, key: &ObjectKey) -> UnderWay<'_> {
        self.objects().push(key.clone());
        UnderWay { all: self, key: key.clone() }
    }

    /// Calls `end` if no replacement is under way, and returns those that are. No replacement begins while `end` runs.
    pub fn end_if_none(&self, end: impl FnOnce()) -> Vec<ObjectKey> {
        let objects = self.objects();
        if objects.is_empty() {
            end();
        }
        objects.clone()
    }

    /// Records an interrupt at this moment. The first one leaves deleted objects some time to be gone, a repeated one leaves none.
    pub fn interrupted(&self, now: Instant, is_repeated: bool) {
        self.grace_ends.send_replace(if is_repeated { Some(now) } else { now.checked_add(GRACE) });
    }

    /// Returns true if nothing more may be deleted.
    pub(super) fn is_interrupted(&self) -> bool {
        self.grace_ends.borrow().is_some()
    }

    /// Returns true if the run no longer waits for objects that are being deleted.
    pub(super) fn is_grace_over(&self, now: Instant) -> bool {
        self.grace_ends.borrow().is_some_and(|end| end <= now)
    }

    /// Waits until the run no longer waits for objects that are being deleted, which may be never.
    pub(super) async fn grace_over(&self) {
        let mut ends = self.grace_ends.subscribe();
        loop {
            let end = *ends.borrow_and_update();
            let over = async {
                match end {
                    Some(end) => sleep_until(end.into()).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = over => return,
                _ = ends.changed() => {}
            }
        }
    }

    fn objects(&self) -> MutexGuard<'_, Vec<ObjectKey>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut objects = self.all.objects();
        if let Some(index) = objects.iter().position(|key| *key == self.key) {
            objects.swap_remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::FutureExt as _;
    use structured_merge::GroupVersionKind;

    use super::*;

    #[test]
    fn the_process_ends_only_where_nothing_is_half_way() {
        let ends = |replacements: &Replacements| {
            let mut has_ended = false;
            let busy = replacements.end_if_none(|| has_ended = true);
            assert_eq!(busy.is_empty(), has_ended);
            has_ended
        };
        let replacements = Replacements::default();
        assert!(ends(&replacements));
        let key = |name: &str| ObjectKey {
            gvk: GroupVersionKind::new("batch/v1", "Job"),
            namespace: Some("shop".to_owned()),
            name: name.to_owned(),
        };
        let first = replacements.begin(&key("a"));
        let second = replacements.begin(&key("b"));
        assert!(!ends(&replacements.clone()));
        drop(first);
        assert_eq!(replacements.end_if_none(|| {}), [key("b")]);
        drop(second);
        assert!(ends(&replacements));
    }

    #[test]
    fn an_interrupt_leaves_some_time_and_a_second_one_none() {
        let replacements = Replacements::default();
        let start = Instant::now();
        let after = |time: Duration| replacements.is_grace_over(start + time);
        assert!(!after(Duration::from_hours(1)) && !replacements.is_interrupted());
        replacements.interrupted(start, false);
        assert!(replacements.is_interrupted());
        assert!(!after(Duration::from_millis(9999)) && after(GRACE));
        replacements.interrupted(start + Duration::from_secs(2), true);
        assert!(!after(Duration::from_secs(1)) && after(Duration::from_secs(2)));
    }

    #[tokio::test]
    async fn a_second_interrupt_ends_a_wait_at_once() {
        let replacements = Replacements::default();
        let mut over = pin!(replacements.grace_over());
        assert!(over.as_mut().now_or_never().is_none());
        replacements.interrupted(Instant::now(), false);
        assert!(over.as_mut().now_or_never().is_none());
        replacements.interrupted(Instant::now(), true);
        tokio::time::timeout(Duration::from_secs(5), over).await.unwrap();
    }
}
