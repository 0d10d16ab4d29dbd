use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use structured_merge::ObjectKey;

/// The time for which an interrupted run still waits for finalizers, so that the deleted object can be recreated.
pub const GRACE: Duration = Duration::from_secs(10);

/// The objects that are being replaced: deleted, and not created again yet. While there are any, the process must not end, because it
/// alone knows their content.
#[derive(Clone, Debug, Default)]
pub struct Replacements(Arc<Mutex<OpenReplacements>>);

#[derive(Debug, Default)]
struct OpenReplacements {
    objects: Vec<ObjectKey>,
    /// The moment at which an interrupted run stops waiting.
    grace_ends: Option<Instant>,
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
        self.state().objects.push(key.clone());
        UnderWay { all: self, key: key.clone() }
    }

    /// Calls `end` if no replacement is under way, and returns those that are. No replacement begins while `end` runs.
    pub fn end_if_none(&self, end: impl FnOnce()) -> Vec<ObjectKey> {
        let state = self.state();
        if state.objects.is_empty() {
            end();
        }
        state.objects.clone()
    }

    /// Records an interrupt at this moment. The first one leaves deleted objects some time to be gone, a repeated one leaves none.
    pub fn interrupted(&self, now: Instant, is_repeated: bool) {
        self.state().grace_ends = if is_repeated { Some(now) } else { now.checked_add(GRACE) };
    }

    /// Returns true if nothing more may be deleted.
    pub(super) fn is_interrupted(&self) -> bool {
        self.state().grace_ends.is_some()
    }

    /// Returns true if the run no longer waits for objects that are being deleted.
    pub(super) fn is_grace_over(&self, now: Instant) -> bool {
        self.state().grace_ends.is_some_and(|end| end <= now)
    }

    fn state(&self) -> MutexGuard<'_, OpenReplacements> {
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
}
