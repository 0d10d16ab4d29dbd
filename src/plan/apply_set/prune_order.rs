use std::cmp::Reverse;

use super::decision::Member;
use crate::plan::Wave;
use crate::plan::graph::{Node, Order};

/// When a member goes: the reverse of the order in which it would come. The last wave first, and within a wave what others
/// of the set need after those.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PruneStep {
    wave: Reverse<Wave>,
    /// How many others have to go before it, one after the other.
    height: usize,
}

/// The turn of each member. Where the members make no plan, as when an annotation in the cluster names nothing, their kinds
/// alone decide.
pub(super) fn turns(members: &[Member]) -> Vec<PruneStep> {
    let nodes: Vec<Node<'_>> = members.iter().map(|member| Node { key: &member.key, object: &member.object }).collect();
    let by_kind = members.iter().map(|member| PruneStep { wave: Reverse(Wave::of(&member.key.gvk)), height: 0 });
    let mut turns: Vec<PruneStep> = by_kind.collect();
    if let Ok(order) = Order::of(&nodes) {
        let heights = heights(&order);
        for (step, height) in order.steps.iter().zip(heights) {
            turns[step.index] = PruneStep { wave: Reverse(step.wave), height };
        }
    }
    turns
}

/// For each step, how many others of its wave need it, one after the other.
fn heights(order: &Order) -> Vec<usize> {
    let steps = &order.steps;
    let mut heights = vec![0; steps.len()];
    // What an object needs comes before it, so that all that need an object have their height before it.
    for index in (0..steps.len()).rev() {
        for need in steps[index].needs.iter().filter(|need| steps[need.on].wave == steps[index].wave) {
            heights[need.on] = heights[need.on].max(heights[index] + 1);
        }
    }
    heights
}
