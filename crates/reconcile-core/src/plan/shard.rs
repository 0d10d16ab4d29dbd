//! The shard of a plan that one of several runs works on.

use super::dependency::{Dependency, DependencyKind};
use super::{Plan, PlanItem};
use crate::live::ShardMember;
use crate::object::Shard;

impl Plan {
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
        let (mut items, mut in_other_shards) = (Vec::with_capacity(next.start), self.in_other_shards);
        for (position, (mut item, holder)) in self.items.into_iter().zip(holders).enumerate() {
            item.target.shard_member = Some(ShardMember { position, other_shard: (holder != shard).then_some(holder) });
            if positions[position].is_none() {
                in_other_shards.push(item.target);
                continue;
            }
            // An object that is only read does not wait for what it needs.
            let needs = if holder == shard { item.needs } else { Vec::new() };
            let moved = |need: Dependency| Some(Dependency { on: positions[need.on]?, ..need });
            items.push(PlanItem { needs: needs.into_iter().filter_map(moved).collect(), ..item });
        }
        Self { items, in_other_shards }
    }
}
