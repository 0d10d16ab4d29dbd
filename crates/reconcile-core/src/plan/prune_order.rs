//! In which order the members of an apply set are deleted.

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::cmp::Reverse;

use serde_json::Value;
use structured_merge::ObjectKey;

use super::dependency::Node;
use super::graph::Order;
use super::wave::Wave;

/// When an object is deleted: the reverse of the order in which it would be created. The last wave first, and within a wave what
/// others of the set need after those.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PruneStep {
    wave: Reverse<Wave>,
    /// How many others have to go before it, one after the other.
    height: usize,
}

/// The step of each object. Where the objects make no plan, as when an annotation in the cluster names nothing, their kinds
/// alone decide.
#[must_use]
pub fn prune_order(objects: &[(&ObjectKey, &Value)]) -> Vec<PruneStep> {
    let nodes: Vec<Node<'_>> = objects.iter().map(|(key, object)| Node { key, object }).collect();
    let by_kind = objects.iter().map(|(key, _)| PruneStep { wave: Reverse(Wave::of(&key.gvk)), height: 0 });
    let mut steps: Vec<PruneStep> = by_kind.collect();
    if let Ok(order) = Order::of(&nodes) {
        let heights = heights(&order);
        for (step, height) in order.steps.iter().zip(heights) {
            steps[step.index] = PruneStep { wave: Reverse(step.wave), height };
        }
    }
    steps
}

/// For each step, how many others of its wave need it, one after the other.
fn heights(order: &Order) -> Vec<usize> {
    let steps = &order.steps;
    let mut heights = vec![0_usize; steps.len()];
    // What an object needs comes before it, so that all that need an object have their height before it.
    for index in (0..steps.len()).rev() {
        for need in steps[index].needs.iter().filter(|need| steps[need.on].wave == steps[index].wave) {
            heights[need.on] = heights[need.on].max(heights[index] + 1);
        }
    }
    heights
}
