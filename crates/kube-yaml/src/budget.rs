//! The memory that the aliases of a whole run may take.

use std::sync::atomic::{AtomicUsize, Ordering};

/// What every run may spend, in bytes.
const BASE: usize = 64 << 20;
/// What it may spend beside for each byte of input.
const PER_BYTE: usize = 4;

/// Bounds the memory that copies of anchored values take in all documents of a run: 64 MiB and four times the size of the
/// input, by the rough count of the reader.
///
/// An alias is written in a few bytes and becomes a copy of a value of any size, so a bound for each document would
/// multiply with the number of documents. Readers on several threads share one budget. Whether it is exhausted in the end
/// depends on the input alone, but the document that meets the bound is a matter of timing: read the input again in order,
/// with a new budget, to report the place.
#[derive(Debug)]
pub struct AliasBudget {
    limit: usize,
    spent: AtomicUsize,
}

impl AliasBudget {
    /// A budget for inputs that have `size` bytes together.
    #[must_use]
    pub fn for_input(size: usize) -> Self {
        Self { limit: size.saturating_mul(PER_BYTE).saturating_add(BASE), spent: AtomicUsize::new(0) }
    }

    /// Returns true if the copies that were asked for need more than the budget. Documents of YAML are not read any more then.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.spent.load(Ordering::Relaxed) > self.limit
    }

    /// Spends memory for a copy, and returns whether it may be made.
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
