//! Counts of what occurs several times.

use std::collections::BTreeMap;

/// Counts how often each of these occurs.
pub(crate) fn tally<K: Ord>(items: impl IntoIterator<Item = K>) -> BTreeMap<K, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        let count: &mut usize = counts.entry(item).or_default();
        *count = count.saturating_add(1);
    }
    counts
}
