use std::sync::{Arc, Mutex, PoisonError};

use structured_merge::ObjectKey;

/// The objects that are being replaced: deleted, and not created again yet. While there are any, the process must not end,
/// as nothing else knows what they were.
#[derive(Clone, Debug, Default)]
pub struct HalfWay(Arc<Mutex<Vec<ObjectKey>>>);

/// One replacement that is under way; dropped when it is over.
#[derive(Debug)]
pub(super) struct UnderWay<'a> {
    all: &'a HalfWay,
    key: ObjectKey,
}

impl HalfWay {
    /// Begins the replacement of an object.
    pub(super) fn begin(&self, key: &ObjectKey) -> UnderWay<'_> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(key.clone());
        UnderWay { all: self, key: key.clone() }
    }

    /// Calls `end` where nothing is half-way, and answers with what is. No replacement begins while `end` runs.
    pub fn or_else_end(&self, end: impl FnOnce()) -> Vec<ObjectKey> {
        let objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if objects.is_empty() {
            end();
        }
        objects.clone()
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut objects = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = objects.iter().position(|key| *key == self.key) {
            objects.swap_remove(index);
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
}
