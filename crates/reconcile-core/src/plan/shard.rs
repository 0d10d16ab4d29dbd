//! The part of a plan that one of several runs works on.

use super::dependency::{Dependency, DependencyKind};
use super::{Plan, PlanItem};
use crate::live::InPart;
use crate::object::Shard;

impl Plan {
    /// What one part has of a plan; all of it where there are no parts. What other parts have stays as something to look at where an
    /// object of this part needs it in one of these ways. The order stays what it is for all objects.
    #[must_use]
    pub fn part(self, shard: Option<Shard>, needed: impl Fn(DependencyKind) -> bool) -> Self {
        let Some(shard) = shard else { return self };
        let holders: Vec<Shard> = self.items.iter().map(|item| shard.holding(&item.target.key)).collect();
        let is_ours = |at: usize| holders.get(at) == Some(&shard);
        let mut stays: Vec<bool> = (0..holders.len()).map(is_ours).collect();
        for item in self.items.iter().zip(&holders).filter(|(_, holder)| **holder == shard).map(|(item, _)| item) {
            for need in item.needs.iter().filter(|need| needed(need.strength)) {
                stays[need.on] = true;
            }
        }
        // Where each object of the whole plan is now; those that do not stay have no place.
        let mut next = 0..;
        let places: Vec<Option<usize>> = stays.iter().map(|stays| if *stays { next.next() } else { None }).collect();
        let (mut items, mut others) = (Vec::with_capacity(next.start), self.others);
        for (place, (mut item, holder)) in self.items.into_iter().zip(holders).enumerate() {
            item.target.part = Some(InPart { place, elsewhere: (holder != shard).then_some(holder) });
            if places[place].is_none() {
                others.push(item.target);
                continue;
            }
            // What is only looked at is not held up by what it needs itself.
            let needs = if holder == shard { item.needs } else { Vec::new() };
            let moved = |need: Dependency| Some(Dependency { on: places[need.on]?, ..need });
            items.push(PlanItem { needs: needs.into_iter().filter_map(moved).collect(), ..item });
        }
        Self { items, others }
    }
}
