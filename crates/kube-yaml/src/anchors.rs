//! Anchors and the cost of their aliases.
//!
//! An anchored value is copied for each alias, so that a few lines can grow without limit. go-yaml counts its decoding
//! steps and rejects a document if too many of them come from aliases. This module keeps the same count, and charges
//! the size of the copies to the budget of the run.
//! [`AliasBudget`] limits the memory that the aliases of a whole run may take.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::mapping::Kinds;
use super::scalar::{KeyKind, Scalar};
use crate::text::Advance as _;

/// Approximate memory of a value without its text, in bytes.
const VALUE_SIZE: usize = 256;

/// A complete node with an anchor.
#[derive(Clone)]
pub(super) struct Anchored {
    pub value: Value,
    /// The key that the node is as a mapping key, if it is a scalar.
    pub key: Option<(String, KeyKind)>,
    pub kinds: Kinds,
    pub node: u32,
    /// Number of levels of collections in it.
    pub height: usize,
    /// Number of steps in which go-yaml decodes it.
    pub steps: usize,
    /// Its size as [`Cost`] counts it.
    pub size: usize,
}

impl Anchored {
    pub(super) fn scalar(scalar: &Scalar, node: u32) -> Self {
        let value = scalar.clone().into_value().unwrap_or(Value::Null);
        Self { key: scalar.clone().into_key(), ..Self::collection(value, Kinds::new(), node, 0) }
    }

    pub(super) fn collection(value: Value, kinds: Kinds, node: u32, height: usize) -> Self {
        Self { value, key: None, kinds, node, height, steps: 0, size: 0 }
    }
}

/// The work and memory that a document has taken so far.
#[derive(Debug)]
pub(super) struct Cost<'b> {
    pub steps: usize,
    alias_steps: usize,
    pub size: usize,
    budget: &'b AliasBudget,
    /// True if the budget did not allow a copy.
    is_refused: bool,
}

/// Limit that the aliases exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excess {
    /// The limit of go-yaml for one document.
    Document,
    /// The budget of the run for the copies of all documents, in MiB.
    Run { mebibytes: usize },
}

impl<'b> Cost<'b> {
    /// The cost of a document before its first node, which go-yaml counts as well.
    pub(super) fn new(budget: &'b AliasBudget) -> Self {
        Self { steps: 1, alias_steps: 0, size: 0, budget, is_refused: false }
    }

    /// Counts a node with a text of this length.
    pub(super) fn node(&mut self, length: usize) {
        self.steps.advance(1);
        self.size.advance(length.saturating_add(VALUE_SIZE));
    }

    /// Counts a copy of an anchored node, for an alias or to be kept for one. Returns true if the copy is allowed.
    pub(super) fn copy(&mut self, steps: usize, size: usize) -> bool {
        self.steps.advance(steps);
        self.alias_steps.advance(steps);
        if steps > 0 {
            self.size.advance(size);
        }
        self.is_refused |= !self.budget.spend(size);
        !self.is_refused
    }

    /// The limit that the aliases exceed, if any: the budget is exhausted, or go-yaml (`decode.go`) rejects the
    /// document, because aliases take more than 99 % of the steps in a small document, or more than 10 % in a large
    /// one.
    pub(super) fn excess(&self) -> Option<Excess> {
        const LOW: f64 = 400_000.0;
        const HIGH: f64 = 4_000_000.0;
        if self.is_refused {
            return Some(Excess::Run { mebibytes: self.budget.mebibytes() });
        }
        let [steps, alias_steps] = [self.steps, self.alias_steps].map(as_float);
        let allowed = 0.99 - 0.89 * ((steps.clamp(LOW, HIGH) - LOW) / (HIGH - LOW));
        let is_excessive = self.alias_steps > 100 && self.steps > 1000 && alias_steps / steps > allowed;
        is_excessive.then_some(Excess::Document)
    }
}

#[expect(clippy::cast_precision_loss, reason = "documents are bounded, and so are their steps")]
fn as_float(steps: usize) -> f64 {
    steps as f64
}

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
