//! Stage 4, decide: the order of the objects, and their dependencies.
//!
//! ```text
//! Target ─references, depends-on─▶ needs ─▶ waves ─▶ Plan of PlanItem { target, wave, needs }
//! ```
//! A wave is a phase of the pass. The kind of an object decides its wave; inside a wave, only dependencies decide.
//!
//! - [`Plan`] orders manifests, and [`prune_order`] the members of an apply set that are deleted.
//! - [`ReadySet`] hands out objects once their dependencies are done.
//! - [`access`] computes the permissions that a command needs.
//! - [`unexplained`] finds objects of the cluster that no manifest, owner or apply set explains.

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

pub mod access;
mod dependency;
mod depends_on;
mod graph;
mod object_index;
pub mod prune_order;
mod ready_set;
mod references;
mod shard;
mod unexplained;
mod wave;

use crate::diagnostic::Diagnostic;
use crate::live::Target;
use dependency::PlannedObject;
pub use dependency::{Dependency, DependencyKind};
pub use depends_on::DEPENDS_ON;
use graph::{Order, OrderedNode};
pub use ready_set::ReadySet;
pub use unexplained::{
    EXPLAINING_FIELDS, Explanations, FalseClaim, NamedOwner, Unexplained, UnexplainedObject, is_transient, unexplained,
};
pub use wave::Wave;

/// One object of a plan.
#[derive(Clone, Debug)]
pub struct PlanItem {
    /// The object.
    pub target: Target,
    /// The wave of its kind, or a later one if a dependency is in that one.
    pub wave: Wave,
    /// Its dependencies, by index in the plan: always an earlier one.
    pub needs: Vec<Dependency>,
}

/// The objects in the order of `apply`: by wave, dependencies first, then by kind, namespace and name.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// One item for each object.
    pub items: Vec<PlanItem>,
    /// In a run over one shard: the objects of other shards that no object of this one needs.
    pub in_other_shards: Vec<Target>,
}

impl Plan {
    /// Orders targets. Errors are annotations that cannot be read, and cycles.
    pub fn of(mut targets: Vec<Target>) -> Result<Self, Vec<Diagnostic>> {
        let nodes: Vec<PlannedObject<'_>> =
            targets.iter().map(|target| PlannedObject { key: &target.key, object: target.desired.object() }).collect();
        let Order { steps, warnings } = Order::of(&nodes).map_err(|unplannable| {
            let diagnostics =
                unplannable.into_iter().map(|one| depends_on::diagnostic(&targets[one.at].desired.origin, one));
            diagnostics.collect::<Vec<_>>()
        })?;
        for (at, warning) in warnings {
            targets[at].desired.warn(warning);
        }
        let mut targets: Vec<Option<Target>> = targets.into_iter().map(Some).collect();
        let items = steps.into_iter().filter_map(|OrderedNode { index, wave, needs }| {
            let target = targets[index].take()?;
            Some(PlanItem { target, wave, needs })
        });
        Ok(Self { items: items.collect(), in_other_shards: Vec::new() })
    }

    /// The objects, in the order of the plan.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.items.iter().map(|item| &item.target)
    }

    /// All objects of the input, those of other shards included.
    pub fn all(&self) -> impl Iterator<Item = &Target> {
        self.targets().chain(&self.in_other_shards)
    }

    /// The objects, in the order of the plan.
    pub fn targets_mut(&mut self) -> impl Iterator<Item = &mut Target> {
        self.items.iter_mut().map(|item| &mut item.target)
    }
}
