//! The order in which members of an apply set are deleted.

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::cmp::Reverse;

use serde_json::Value;
use structured_merge::ObjectKey;

use super::dependency::{PlannedObject, PlannedTree};
use super::graph::Order;
use super::wave::Wave;

/// The step in which an object is deleted, in the reverse of the order of creation: the last wave first, and within a wave each
/// object before its dependencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PruneStep {
    wave: Reverse<Wave>,
    /// Length of the longest chain of objects that have to be deleted before it.
    height: usize,
}

/// The step of each object. If the objects have no order, because an annotation in the cluster names nothing, for example, only
/// their kinds decide.
pub fn prune_order(objects: &[(&ObjectKey, &Value)]) -> Vec<PruneStep> {
    let nodes: Vec<PlannedObject<'_>> = objects
        .iter()
        .map(|(key, object)| PlannedObject { key, object: PlannedTree::Live(object), is_bound: true })
        .collect();
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

/// For each step, the length of the longest chain of objects of its wave that depend on it.
fn heights(order: &Order) -> Vec<usize> {
    let steps = &order.steps;
    let mut heights = vec![0_usize; steps.len()];
    // An object comes after its dependencies, so that all its dependents have their height when it gets its own.
    for index in (0..steps.len()).rev() {
        for need in steps[index].needs.iter().filter(|need| steps[need.on].wave == steps[index].wave) {
            heights[need.on] = heights[need.on].max(heights[index] + 1);
        }
    }
    heights
}
