//! Limit of the memory that the aliases of a whole run may take.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Budget of every run, in bytes.
const BASE: usize = 64 << 20;
/// Additional budget for each byte of input.
const PER_BYTE: usize = 4;

/// Bounds the memory that copies of anchored values take in all documents of a run: 64 MiB and four times the size of
/// the input, as the reader roughly counts them.
///
/// An alias is written in a few bytes and becomes a copy of a value of any size, so a bound for each document would
/// multiply with the number of documents. Readers on several threads share one budget. Only the input decides if it is
/// exhausted in the end, but the document that exceeds it depends on timing: to report the position, read the input
/// again in order, with a new budget.
#[derive(Debug)]
pub struct AliasBudget {
    limit: usize,
    spent: AtomicUsize,
}

impl AliasBudget {
    /// Creates a budget for inputs of `size` bytes in total.
    pub fn for_input(size: usize) -> Self {
        Self { limit: size.saturating_mul(PER_BYTE).saturating_add(BASE), spent: AtomicUsize::new(0) }
    }

    /// Returns true if the copies need more than the budget. Then no more YAML documents are read.
    pub fn is_exhausted(&self) -> bool {
        self.spent.load(Ordering::Relaxed) > self.limit
    }

    /// Charges the memory of a copy. Returns true if the copy is allowed.
    pub(super) fn spend(&self, size: usize) -> bool {
        let add = |spent: usize| Some(spent.saturating_add(size));
        let before = self.spent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).unwrap_or_else(|spent| spent);
        before.saturating_add(size) <= self.limit
    }

    /// The whole budget in MiB.
    pub(super) fn mebibytes(&self) -> usize {
        self.limit >> 20
    }
}
