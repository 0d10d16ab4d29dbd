//! What comparisons rest on besides the objects. Each begins with it as soon as its object is read: most are in sync, which is proven
//! at once, and nothing of them has to stay in memory.

use std::sync::Arc;

use crate::client::Cluster;
use crate::compare::{ComparisonMachine, Finding, Policy};
use crate::live::autoscalers::{AutoscalerSource, Unlisted};
use crate::live::types::Types;
use crate::live::{LiveState, Target};

/// What comparisons rest on besides the objects.
pub struct Known {
    /// Types of the kinds at hand.
    pub types: Types,
    /// The policy, with the autoscalers that were read.
    pub policy: Policy,
    /// Kinds of autoscalers that cannot be listed.
    pub unlisted: Vec<Unlisted>,
}

impl Known {
    /// Adds to types and policy what has to be read for these targets.
    pub async fn read(
        cluster: &Cluster,
        targets: &[&Target],
        autoscalers: Option<&AutoscalerSource>,
        mut types: Types,
        mut policy: Policy,
    ) -> Self {
        let resources =
            targets.iter().filter_map(|target| target.resource.as_ref().ok()).filter(|found| !found.pending);
        let autoscalers = async {
            match autoscalers {
                Some(source) => source.read(cluster, targets).await,
                None => Default::default(),
            }
        };
        let ((), (autoscalers, unlisted)) = futures::join!(types.load(cluster, resources), autoscalers);
        let all = Arc::make_mut(&mut policy.autoscalers);
        for autoscaler in autoscalers {
            all.add(autoscaler);
        }
        Self { types, policy, unlisted }
    }

    /// A comparison with what was read of a target. It begins at once, unless there is no object, or all have to be read first.
    pub fn compare<'a>(&'a self, target: &'a Target, state: LiveState) -> ComparisonMachine<'a> {
        // What the autoscalers would explain is looked for in all objects.
        let begins = self.unlisted.is_empty() && matches!(state, LiveState::Present(_));
        let mut machine = ComparisonMachine::new(target, state, self.types.of(&target.key.gvk), &self.policy);
        if begins && is_only_looked_for(target) {
            machine.end(Finding::Proven(None));
        } else if begins {
            machine.start();
        }
        machine
    }
}

/// Returns true if an object of another part only has to be there: of those, definitions alone say more.
pub fn is_only_looked_for(target: &Target) -> bool {
    target.other_shard().is_some() && !target.key.gvk.is_crd()
}
