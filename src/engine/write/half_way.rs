use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use structured_merge::ObjectKey;

/// How long an interrupted run still waits for finalizers, so that the object that they hold can be recreated.
pub const GRACE: Duration = Duration::from_secs(10);

/// The objects that are being replaced: deleted, and not created again yet. While there are any, the process must not end,
/// as nothing else knows what they were.
#[derive(Clone, Debug, Default)]
pub struct HalfWay(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    objects: Vec<ObjectKey>,
    /// When an interrupted run stops waiting.
    patience_ends: Option<Instant>,
}

/// One replacement that is under way; dropped when it is over.
#[derive(Debug)]
pub(super) struct UnderWay<'a> {
    all: &'a HalfWay,
    key: ObjectKey,
}

impl HalfWay {
    /// Begins the replacement of an object.
    pub(super) fn begin(&self, key: &ObjectKey) -> UnderWay<'_> {
        self.state().objects.push(key.clone());
        UnderWay { all: self, key: key.clone() }
    }

    /// Calls `end` where nothing is half-way, and answers with what is. No replacement begins while `end` runs.
    pub fn or_else_end(&self, end: impl FnOnce()) -> Vec<ObjectKey> {
        let state = self.state();
        if state.objects.is_empty() {
            end();
        }
        state.objects.clone()
    }

    /// The run was interrupted at this moment: for the first time, which leaves what is deleted some time to be gone, or again,
    /// which leaves none.
    pub fn interrupted(&self, now: Instant, is_repeated: bool) {
        self.state().patience_ends = if is_repeated { Some(now) } else { now.checked_add(GRACE) };
    }

    /// Returns true if nothing more is to be deleted.
    pub(super) fn is_interrupted(&self) -> bool {
        self.state().patience_ends.is_some()
    }

    /// Returns true if an object that is still being deleted is not waited for any longer.
    pub(super) fn is_out_of_patience(&self, now: Instant) -> bool {
        self.state().patience_ends.is_some_and(|end| end <= now)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut state = self.all.state();
        if let Some(index) = state.objects.iter().position(|key| *key == self.key) {
            state.objects.swap_remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use structured_merge::GroupVersionKind;

    #[test]
    fn the_process_ends_only_where_nothing_is_half_way() {
        let ends = |half_way: &HalfWay| {
            let mut has_ended = false;
            let busy = half_way.or_else_end(|| has_ended = true);
            assert_eq!(busy.is_empty(), has_ended);
            has_ended
        };
        let half_way = HalfWay::default();
        assert!(ends(&half_way));
        let key = |name: &str| ObjectKey {
            gvk: GroupVersionKind::new("batch/v1", "Job"),
            namespace: Some("shop".to_owned()),
            name: name.to_owned(),
        };
        let first = half_way.begin(&key("a"));
        let second = half_way.begin(&key("b"));
        assert!(!ends(&half_way.clone()));
        drop(first);
        assert_eq!(half_way.or_else_end(|| {}), [key("b")]);
        drop(second);
        assert!(ends(&half_way));
    }

    #[test]
    fn an_interrupt_leaves_some_time_and_a_second_one_none() {
        let (half_way, start) = (HalfWay::default(), Instant::now());
        let after = |time: Duration| half_way.is_out_of_patience(start + time);
        assert!(!after(Duration::from_hours(1)) && !half_way.is_interrupted());
        half_way.interrupted(start, false);
        assert!(half_way.is_interrupted());
        assert!(!after(Duration::from_millis(9999)) && after(GRACE));
        half_way.interrupted(start + Duration::from_secs(2), true);
        assert!(!after(Duration::from_secs(1)) && after(Duration::from_secs(2)));
    }
}
