//! Anchors and the cost of their aliases.
//!
//! An anchored value is copied for each alias, so that a few lines can grow without limit. go-yaml counts its decoding steps
//! and refuses a document in which too many of them come from aliases; the same count is kept here, and a bound on the size
//! of the copies beside it.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::mapping::Kinds;
use super::scalar::{KeyKind, Scalar};

/// The most that aliases may add to a document, in bytes of memory by a rough count.
const MAX_COPIES: usize = 64 << 20;
/// What a value takes beside its text, roughly.
const VALUE_SIZE: usize = 256;

/// A node with an anchor, complete.
#[derive(Clone)]
pub(super) struct Anchored {
    pub value: Value,
    /// The key that the node makes if it is a scalar.
    pub key: Option<(String, KeyKind)>,
    pub kinds: Kinds,
    pub node: u32,
    /// How many levels of collections are in it.
    pub height: usize,
    /// go-yaml's steps to decode it.
    pub steps: usize,
    /// Its size by the count of [`Cost`].
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

/// The anchors of a document.
#[derive(Default)]
pub(super) struct Anchors {
    /// Those that an alias refers to. The others are not kept.
    used: HashSet<usize>,
    complete: HashMap<usize, Anchored>,
}

impl Anchors {
    pub(super) fn new(used: HashSet<usize>) -> Self {
        Self { used, complete: HashMap::new() }
    }

    pub(super) fn is_used(&self, anchor: usize) -> bool {
        anchor != 0 && self.used.contains(&anchor)
    }

    pub(super) fn define(&mut self, anchor: usize, anchored: Anchored) {
        self.complete.insert(anchor, anchored);
    }

    /// The node of an anchor; nothing while the node is still open, which is where an alias would contain itself.
    pub(super) fn get(&self, anchor: usize) -> Option<&Anchored> {
        self.complete.get(&anchor)
    }
}

/// The work and memory that a document took so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cost {
    pub steps: usize,
    alias_steps: usize,
    pub size: usize,
    copies: usize,
}

impl Cost {
    /// The cost of a document before its first node, which go-yaml counts too.
    pub(super) fn new() -> Self {
        Self { steps: 1, ..Self::default() }
    }

    /// Counts a node with a text of some length.
    pub(super) fn node(&mut self, length: usize) {
        self.steps += 1;
        self.size += VALUE_SIZE + length;
    }

    /// Counts a copy of an anchored node, for an alias or to be kept for one, and tells whether it may be made.
    pub(super) fn copy(&mut self, steps: usize, size: usize) -> bool {
        self.steps += steps;
        self.alias_steps += steps;
        self.copies = self.copies.saturating_add(size);
        if steps > 0 {
            self.size += size;
        }
        self.copies <= MAX_COPIES
    }

    /// Whether aliases grew the document too much: above the bound on copies, or by go-yaml's rule (`decode.go`), which
    /// allows from 99 % of the steps in small documents down to 10 % in large ones.
    pub(super) fn is_excessive(&self) -> bool {
        const LOW: f64 = 400_000.0;
        const HIGH: f64 = 4_000_000.0;
        if self.copies > MAX_COPIES {
            return true;
        }
        #[expect(clippy::cast_precision_loss, reason = "documents are bounded, and so are their steps")]
        let (steps, alias_steps) = (self.steps as f64, self.alias_steps as f64);
        let allowed = 0.99 - 0.89 * ((steps.clamp(LOW, HIGH) - LOW) / (HIGH - LOW));
        self.alias_steps > 100 && self.steps > 1000 && alias_steps / steps > allowed
    }
}
