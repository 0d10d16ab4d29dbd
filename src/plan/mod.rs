//! Stage 4, decide: in which order the objects are acted on, and what each of them needs to be done before.
//!
//! ```text
//! Target ─references, depends-on─▶ needs ─▶ waves ─▶ Plan
//! ```
//! A wave is a phase of the pass that all of its objects share by their kinds; inside it, needs alone decide.

pub mod apply_set;
mod depends_on;
mod graph;
mod object_index;
mod ready_set;
mod references;
mod wave;

use crate::desired::InputProblem;
use crate::live::Target;
pub use depends_on::DEPENDS_ON;
pub use graph::{Dependency, DependencyKind};
pub use ready_set::ReadySet;
pub use wave::Wave;

/// Targets in the order in which `apply` acts.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The objects: by wave, what is needed first, then by kind, namespace and name.
    pub targets: Vec<Target>,
    /// What each of them needs, by place in the plan: always an earlier one.
    pub needs: Vec<Vec<Dependency>>,
    /// The wave of each: that of its kind, or a later one that something it needs is in.
    pub waves: Vec<Wave>,
}

impl Plan {
    /// Orders targets. Annotations that can't be read, and objects that depend on themselves in the end, are problems of
    /// the input.
    pub fn of(mut targets: Vec<Target>) -> Result<Self, Vec<InputProblem>> {
        let graph = graph::Graph::of(&mut targets)?;
        let order = graph.order(&targets);
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, index)| place[*index] = at);
        let placed = |need: &Dependency| Dependency { on: place[need.on], strength: need.strength };
        let needs = order.iter().map(|index| graph.needs[*index].iter().map(placed).collect()).collect();
        let waves = order.iter().map(|index| graph.waves[*index]).collect();
        let mut targets: Vec<Option<Target>> = targets.into_iter().map(Some).collect();
        let targets = order.iter().filter_map(|index| targets[*index].take()).collect();
        Ok(Self { targets, needs, waves })
    }
}
