//! The types and the policy that comparisons need. With them, each comparison begins as soon as its object is read: most objects are
//! in sync, which is proven at once, and need not stay in memory.

use std::sync::Arc;

use crate::client::Cluster;
use crate::live::autoscalers::{AutoscalerSource, Unlisted};
use crate::live::types::Types;
use reconcile_core::compare::{ComparisonMachine, ComparisonResult, Policy};
use reconcile_core::live::{LiveState, Target};

/// The inputs of comparisons that are read from the server once for all objects.
pub struct ComparisonInputs {
    /// Types of the kinds in the input.
    pub types: Types,
    /// The policy, with the autoscalers that were read.
    pub policy: Policy,
    /// Kinds of autoscalers that cannot be listed.
    pub unlisted: Vec<Unlisted>,
}

impl ComparisonInputs {
    /// Reads the types and autoscalers for these targets, and adds them to `types` and `policy`.
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

    /// Returns the comparison of a target with its live state. It begins at once, unless the object does not exist, or all objects have
    /// to be read first.
    pub fn compare<'a>(&'a self, target: &'a Target, state: LiveState) -> ComparisonMachine<'a> {
        // If autoscalers cannot be listed, all objects have to be read before it is known which fields they may have changed.
        let begins = self.unlisted.is_empty() && matches!(state, LiveState::Present(_));
        let mut machine = ComparisonMachine::new(target, state, self.types.of(&target.key.gvk), &self.policy);
        if begins && only_has_to_exist(target) {
            machine.end(ComparisonResult::Proven(None));
        } else if begins {
            machine.start();
        }
        machine
    }
}

/// Returns true if the object only has to exist: it belongs to another shard and is no CustomResourceDefinition.
pub fn only_has_to_exist(target: &Target) -> bool {
    target.other_shard().is_some() && !target.key.gvk.is_crd()
}
