//! Stage 4, decide: the order of the objects, and their dependencies.
//!
//! ```text
//! Target ─references, depends-on─▶ needs ─▶ waves ─▶ Plan of PlanItem { target, wave, needs }
//! ```
//! A wave is a phase of the pass. The kind of an object decides its wave; inside a wave, only dependencies decide.
//!
//! - [`Plan`] orders manifests.
//! - [`deletion`] names the deletions that somebody has to allow, and orders those of the members of an apply set.
//! - [`ReadySet`] hands out objects once their dependencies are done.
//! - [`access`] computes the permissions that a command needs.
//! - [`unexplained`] finds objects of the cluster that no manifest, owner or apply set explains.

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]
pub mod access;
pub mod deletion;
mod dependency;
mod graph;
mod references;
mod unexplained;

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::live::{ShardMember, Target};
use crate::object::Shard;
pub use dependency::{Dependency, DependencyKind, ReadySet, Wave};
use dependency::{PlannedObject, PlannedTree};
pub use graph::{DEPENDS_ON, wrong_dependency};
use graph::{Order, OrderedNode};
pub use references::pod_spec;
pub use unexplained::{
    EXPLAINING_FIELDS, Explanations, FalseClaim, NamedOwner, TOKEN_TYPE, Unexplained, UnexplainedObject, is_transient,
    may_be_token, unexplained,
};

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
    pub items: Vec<Arc<PlanItem>>,
    /// In a run over one shard: the objects of other shards that no object of this one needs.
    pub in_other_shards: Vec<Arc<PlanItem>>,
}

impl Plan {
    /// Orders targets. Errors are annotations that cannot be read, and cycles.
    pub fn of(mut targets: Vec<Target>) -> Result<Self, Vec<Diagnostic>> {
        let nodes: Vec<PlannedObject<'_>> = targets
            .iter()
            .map(|Target { key, desired, .. }| {
                let is_bound = desired.origin.record.as_ref().is_none_or(|record| !record.orders_nothing());
                PlannedObject { key, object: PlannedTree::Desired(desired), is_bound }
            })
            .collect();
        let Order { steps, warnings } = Order::of(&nodes).map_err(|unplannable| {
            let diagnostics =
                unplannable.into_iter().map(|one| graph::diagnostic(&targets[one.at].desired.origin, one));
            diagnostics.collect::<Vec<_>>()
        })?;
        for (at, warning) in warnings {
            targets[at].desired.warn(warning);
        }
        let mut targets: Vec<Option<Target>> = targets.into_iter().map(Some).collect();
        let items = steps.into_iter().filter_map(|OrderedNode { index, wave, needs }| {
            let target = targets[index].take()?;
            Some(Arc::new(PlanItem { target, wave, needs }))
        });
        Ok(Self { items: items.collect(), in_other_shards: Vec::new() })
    }

    /// The objects, in the order of the plan.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.items.iter().map(|item| &item.target)
    }

    /// All objects of the input, those of other shards included.
    pub fn all(&self) -> impl Iterator<Item = &Target> {
        self.targets().chain(self.in_other_shards.iter().map(|item| &item.target))
    }

    /// The objects, in the order of the plan.
    pub fn targets_mut(&mut self) -> impl Iterator<Item = &mut Target> {
        self.items.iter_mut().map(|item| &mut Arc::make_mut(item).target)
    }

    /// Keeps the objects of one shard; all of them without a shard. An object of another shard stays, to be read only, if an object of
    /// this shard needs it in a way that `needed` accepts. The order of all objects does not change.
    pub fn shard(self, shard: Option<Shard>, needed: impl Fn(DependencyKind) -> bool) -> Self {
        let Some(shard) = shard else { return self };
        let holders: Vec<Shard> = self.items.iter().map(|item| shard.holding(&item.target.key)).collect();
        let is_ours = |at: usize| holders.get(at) == Some(&shard);
        let mut stays: Vec<bool> = (0..holders.len()).map(is_ours).collect();
        for item in self.items.iter().zip(&holders).filter(|(_, holder)| **holder == shard).map(|(item, _)| item) {
            for need in item.needs.iter().filter(|need| needed(need.strength)) {
                stays[need.on] = true;
            }
        }
        // The new position of each object of the whole plan; those that do not stay have none.
        let mut next = 0..;
        let positions: Vec<Option<usize>> = stays.iter().map(|stays| if *stays { next.next() } else { None }).collect();
        let mut items = Vec::with_capacity(next.start);
        let mut in_other_shards = self.in_other_shards;
        for (position, (mut planned, holder)) in self.items.into_iter().zip(holders).enumerate() {
            let item = Arc::make_mut(&mut planned);
            item.target.shard_member = Some(ShardMember { position, other_shard: (holder != shard).then_some(holder) });
            if positions[position].is_none() {
                in_other_shards.push(planned);
                continue;
            }
            // An object that is only read does not wait for what it needs.
            let needs = if holder == shard { std::mem::take(&mut item.needs) } else { Vec::new() };
            let moved = |need: Dependency| Some(Dependency { on: positions[need.on]?, ..need });
            item.needs = needs.into_iter().filter_map(moved).collect();
            items.push(planned);
        }
        Self { items, in_other_shards }
    }
}
