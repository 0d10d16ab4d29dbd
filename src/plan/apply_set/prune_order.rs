use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::decision::Member;
use crate::desired::yaml::Positions;
use crate::desired::{Manifest, Source, SourceText};
use crate::live::Target;
use crate::object::ObjectKey;
use crate::plan::{Plan, Wave};

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
    let by_kind = |key: &ObjectKey| PruneStep { wave: Reverse(Wave::of(&key.gvk)), height: 0 };
    let planned = Plan::of(members.iter().map(target).collect()).map(|plan| turns_of(&plan)).unwrap_or_default();
    members.iter().map(|member| planned.get(&member.key).copied().unwrap_or_else(|| by_kind(&member.key))).collect()
}

fn turns_of(plan: &Plan) -> BTreeMap<ObjectKey, PruneStep> {
    let mut heights = vec![0; plan.targets.len()];
    // What an object needs stands before it, so that all who need an object have their height before it.
    for index in (0..heights.len()).rev() {
        for need in plan.needs[index].iter().filter(|need| plan.waves[need.on] == plan.waves[index]) {
            heights[need.on] = heights[need.on].max(heights[index] + 1);
        }
    }
    let turns = plan.waves.iter().zip(heights).map(|(wave, height)| PruneStep { wave: Reverse(*wave), height });
    plan.targets.iter().map(|target| target.key.clone()).zip(turns).collect()
}

/// A live object in the place of a manifest.
fn target(member: &Member) -> Target {
    let ObjectKey { gvk, namespace, name } = member.key.clone();
    let manifest = Manifest {
        gvk,
        namespace,
        name,
        value: member.object.clone(),
        source: Source { file: "".into(), line: 1, document: 1 },
        positions: Positions::default(),
        text: SourceText::from(Vec::new()),
        left_out: Vec::new(),
        warnings: Vec::new(),
        refused: Vec::new(),
    };
    Target { key: member.key.clone(), resource: Ok(member.resource.clone()), manifest }
}
