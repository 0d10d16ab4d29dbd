//! The types and the policy that comparisons need. With them, each comparison begins as soon as its object is read: most objects are
//! in sync, which is proven at once, and need not stay in memory.

use std::sync::Arc;

use structured_merge::{GroupVersionKind, TypeRef};
use tokio::sync::SetOnce;

use crate::client::Cluster;
use crate::live::autoscalers::{AutoscalerSource, Unlisted};
use crate::live::types::Types;
use reconcile_core::compare::{ChangingKinds, ComparisonMachine, Policy};
use reconcile_core::live::{LiveState, Target};
use reconcile_core::rules::Autoscaler;

/// The inputs of comparisons that are read from the server once for all objects. Each comparison waits for its own: those of built-in
/// kinds do not need the types of custom resources.
#[derive(Default)]
pub struct ComparisonInputs {
    types: SetOnce<Types>,
    rules: SetOnce<Rules>,
    /// The policy with the autoscalers that only a comparison showed to be needed.
    completed: SetOnce<Policy>,
}

/// The rules of comparisons.
pub struct Rules {
    /// The policy, with the autoscalers that were read.
    pub policy: Policy,
    /// Kinds of autoscalers that cannot be listed.
    pub unlisted: Vec<Unlisted>,
}

impl ComparisonInputs {
    /// Reads the types and autoscalers for these targets, and adds them to `types` and `policy`.
    pub async fn read(
        &self,
        cluster: &Cluster,
        targets: &[&Target],
        autoscalers: Option<&AutoscalerSource>,
        mut types: Types,
        mut policy: Policy,
    ) {
        let resources =
            targets.iter().filter_map(|target| target.resource.as_deref().ok()).filter(|found| !found.pending);
        let types = async {
            types.load(cluster, resources).await;
            self.types.set(types).is_ok()
        };
        let autoscalers = async {
            let (autoscalers, unlisted) = match autoscalers {
                Some(source) => source.read(cluster, targets).await,
                None => (Vec::new(), Vec::new()),
            };
            let all = Arc::make_mut(&mut policy.autoscalers);
            for autoscaler in autoscalers {
                all.add(autoscaler);
            }
            self.rules.set(Rules { policy, unlisted }).is_ok()
        };
        futures::join!(types, autoscalers);
    }

    /// The rules, once they are read.
    pub fn rules(&self) -> Option<&Rules> {
        self.rules.get()
    }

    /// The policy with more autoscalers, which are found once. `None` if there are none, or before the rules are read.
    pub fn complete(&self, autoscalers: &[Autoscaler]) -> Option<&Policy> {
        let rules = self.rules.get()?;
        if !autoscalers.is_empty() {
            let mut policy = rules.policy.clone();
            let all = Arc::make_mut(&mut policy.autoscalers);
            for autoscaler in autoscalers {
                all.add(autoscaler.clone());
            }
            self.completed.set(policy).ok()?;
        }
        self.completed.get()
    }

    /// The types and the policy, once they are read.
    pub fn into_parts(self) -> Option<(Types, Policy)> {
        let policy = self.rules.into_inner()?.policy;
        Some((self.types.into_inner()?, self.completed.into_inner().unwrap_or(policy)))
    }

    /// Waits for the rules, and for the type of a kind.
    pub async fn of(&self, kind: &GroupVersionKind) -> (&Rules, TypeRef<'_>) {
        let rules = self.rules.wait().await;
        let schema = match structured_merge::builtin().object(kind) {
            Some(builtin) => builtin,
            None => self.types.wait().await.of(kind),
        };
        (rules, schema)
    }

    /// Returns the comparison of a target with its live state. It begins at once, unless the object does not exist or is not served in this
    /// version yet, or all objects have to be read first.
    pub async fn compare<'a>(
        &'a self,
        target: &'a Target,
        state: LiveState,
        coming: &'a ChangingKinds<'a>,
    ) -> ComparisonMachine<'a> {
        let gvk = &target.key.gvk;
        let (Rules { policy, unlisted }, schema) = self.of(gvk).await;
        if target.is_pending() {
            let schema = coming.coming_type(gvk).and_then(|coming| coming.fields(gvk)).unwrap_or(schema);
            return ComparisonMachine::new(target, state, schema, policy);
        }
        // If autoscalers cannot be listed, all objects have to be read before it is known which fields they may have changed.
        let begins = unlisted.is_empty() && matches!(state, LiveState::Present(_));
        if !begins {
            return ComparisonMachine::new(target, state, schema, policy);
        }
        if only_has_to_exist(target) {
            let mut machine = ComparisonMachine::new(target, state, schema, policy);
            machine.end_as_read();
            return machine;
        }
        ComparisonMachine::begun(target, state, schema, policy)
    }
}

/// Returns true if the object only has to exist: it belongs to another shard and is no CustomResourceDefinition.
pub fn only_has_to_exist(target: &Target) -> bool {
    target.other_shard().is_some() && !target.key.gvk.is_crd()
}
