//! Work on the items of a page, on several processors: a page is parsed and compared while nothing else is to be done.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::thread;

/// The fewest items for which a thread is worth starting.
const ITEMS_OF_A_THREAD: usize = 32;
/// The most threads that work on a page.
const MOST_THREADS: usize = 8;

static THREADS: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get).clamp(1, MOST_THREADS));

/// The results of `work` for all items, in their order.
pub(super) fn map<I: Send, O: Send>(items: Vec<I>, work: impl Fn(I) -> O + Sync) -> Vec<O> {
    let threads = (items.len() / ITEMS_OF_A_THREAD).clamp(1, *THREADS);
    if threads == 1 {
        return items.into_iter().map(work).collect();
    }
    let work = &work;
    let in_order = |items: Vec<I>| items.into_iter().map(work).collect::<Vec<O>>();
    thread::scope(|scope| {
        let mut parts = parts(items, threads).into_iter();
        let first = parts.next().unwrap_or_default();
        let others: Vec<_> = parts.map(|part| scope.spawn(move || in_order(part))).collect();
        let mut all = in_order(first);
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    })
}

/// As many parts of about one size.
fn parts<I>(mut items: Vec<I>, count: usize) -> Vec<Vec<I>> {
    let mut parts = Vec::with_capacity(count);
    for left in (1..count).rev() {
        let size = items.len().div_ceil(left.saturating_add(1));
        parts.push(items.split_off(items.len().saturating_sub(size)));
    }
    parts.push(items);
    parts.reverse();
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        for length in [0, 1, 31, 32, 64, 65, 1000] {
            let items: Vec<usize> = (0..length).collect();
            assert_eq!(map(items.clone(), |item| item), items);
            for count in 1..=MOST_THREADS {
                let parts = parts(items.clone(), count);
                assert_eq!(parts.len(), count);
                assert_eq!(parts.concat(), items);
                let sizes = || parts.iter().map(Vec::len);
                assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1, "{length} {count}");
            }
        }
    }
}
