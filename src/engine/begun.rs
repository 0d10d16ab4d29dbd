//! How the comparison of an object begins, as soon as the object is read: most are in sync, which is proven at once, and nothing of
//! them has to stay in memory.

use std::sync::Arc;

use crate::client::Cluster;
use crate::compare::{ComparisonMachine, ComparisonResult, Finding, Policy};
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

/// How far the comparison of an object is once it is read.
#[expect(clippy::large_enum_variant, reason = "most are finished")]
pub enum Begun<'a> {
    /// Finished.
    Found(ComparisonResult),
    /// The server is to be asked.
    Asking(Box<ComparisonMachine<'a>>),
    /// Not begun: there is no object, or all have to be read first.
    Read(LiveState),
}

impl Known {
    /// Adds to types and policy what has to be read for these targets.
    pub async fn read(
        cluster: &Cluster,
        targets: &[&Target],
        autoscalers: Option<&AutoscalerSource>,
        (mut types, mut policy): (Types, Policy),
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

    /// Begins the comparison of a target with what was read.
    pub fn begin<'a>(&'a self, target: &'a Target, state: LiveState) -> Begun<'a> {
        // What the autoscalers would explain is looked for in all objects.
        if !self.unlisted.is_empty() || !matches!(state, LiveState::Present(_)) {
            return Begun::Read(state);
        }
        if is_only_looked_for(target) {
            return Begun::Found(Finding::Proven(None).into());
        }
        let machine = ComparisonMachine::new(target, state, self.types.of(&target.key.gvk), &self.policy);
        if machine.is_done() { Begun::Found(machine.into_result()) } else { Begun::Asking(Box::new(machine)) }
    }
}

impl Begun<'_> {
    /// What was read, unless the comparison began with it.
    pub fn state(&self) -> Option<&LiveState> {
        if let Self::Read(state) = self { Some(state) } else { None }
    }

    /// Returns true if there is no object.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Read(LiveState::Absent))
    }
}

/// Returns true if an object of another part only has to be there: of those, definitions alone say more.
pub fn is_only_looked_for(target: &Target) -> bool {
    target.elsewhere().is_some() && !target.key.gvk.is_crd()
}
