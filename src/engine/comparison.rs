//! Stages 2 and 3 for a set of targets: read the live objects, ask the server, and judge in the plan's order.

use std::collections::BTreeSet;
use std::path::Path;

use futures::StreamExt as _;

use crate::client::Cluster;
use crate::compare::{
    Action, CompareContext, ComparisonMachine, ComparisonResult, Evidence, Finding, Policy, Redactor, defines,
    leave_out_nulls, may_hold_refused_nulls, verdict,
};
use crate::engine::dry_run::drive;
use crate::engine::event::{Event, EventSink, Stage};
use crate::engine::interrupt::Interrupt;
use crate::engine::write::Decision;
use crate::live::fetch::{IN_FLIGHT, fetch};
use crate::live::types::Types;
use crate::live::{LiveState, Target, Trouble};

/// What all comparisons of one run share.
pub(crate) struct Comparison<'a> {
    /// The connection.
    pub cluster: &'a Cluster,
    /// Whose manager we are.
    pub policy: &'a Policy,
    /// Types of the kinds at hand.
    pub types: Types,
    /// Numbers for secrets.
    pub redactor: Redactor,
    /// Why objects were not proven in sync, a line each.
    pub doubts: Vec<String>,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    /// Who hears how far it is.
    pub events: &'a dyn EventSink,
}

impl<'a> Comparison<'a> {
    /// Nothing compared yet.
    pub fn new(
        cluster: &'a Cluster,
        policy: &'a Policy,
        cache: Option<&Path>,
        interrupt: Interrupt,
        events: &'a dyn EventSink,
    ) -> Self {
        let (types, redactor) = (Types::new(cache), Redactor::default());
        Self { cluster, policy, types, redactor, doubts: Vec::new(), interrupt, events }
    }

    /// Leaves out of custom resources the nulls that their types do not allow; types are read where there may be some.
    pub async fn leave_out_nulls(&mut self, targets: &mut [Target]) {
        let may_hold = |target: &&Target| may_hold_refused_nulls(target);
        let kinds: Vec<_> = targets.iter().filter(may_hold).map(|target| &target.key.gvk).collect();
        if !kinds.is_empty() {
            self.types.load(self.cluster, kinds).await;
            leave_out_nulls(targets, |gvk| self.types.of(gvk));
        }
    }

    /// Compares targets, which stand in the order of the plan: one decision for each.
    pub async fn compare(&mut self, targets: &[&Target]) -> Vec<Decision> {
        let kinds = targets.iter().filter(|target| target.resource.as_ref().is_ok_and(|found| !found.pending));
        let kinds: Vec<_> = kinds.map(|target| &target.key.gvk).collect();
        let (states, ()) = futures::join!(fetch(self.cluster, targets), self.types.load(self.cluster, kinds));
        let found = self.ask(targets, states).await;
        let mut decisions: Vec<Decision> = Vec::with_capacity(targets.len());
        let mut changing_crds: Vec<&Target> = Vec::new();
        for (target, ComparisonResult { finding, warnings, unproven }) in targets.iter().zip(found) {
            self.doubts.extend(unproven.map(|unproven| format!("not proven: {}: {unproven}", target.key)));
            let types_will_change = changing_crds.iter().any(|crd| defines(crd, target));
            let setting = CompareContext { of: self.types.of(&target.key.gvk), policy: self.policy, types_will_change };
            let mut diff = verdict(target, &finding, setting, &self.redactor);
            diff.warnings.extend(warnings);
            if target.key.gvk.is_crd() && diff.action != Action::None {
                changing_crds.push(target);
            }
            decisions.push(Decision { finding, diff });
        }
        decisions
    }

    /// Asks about all targets at once. Objects whose namespace or kind is only in this input can't be asked about yet.
    async fn ask(&self, targets: &[&Target], states: Vec<LiveState>) -> Vec<ComparisonResult> {
        let coming: BTreeSet<&str> = targets
            .iter()
            .zip(&states)
            .filter(|(target, state)| target.key.gvk.is_namespace() && matches!(state, LiveState::Absent))
            .map(|(target, _)| target.key.name.as_str())
            .collect();
        let is_coming = |target: &Target| target.key.namespace.as_deref().is_some_and(|name| coming.contains(name));
        let questions = targets.iter().zip(states).map(|(target, state)| {
            let too_early = matches!(state, LiveState::Absent) && is_coming(target);
            self.ask_one(target, state, too_early)
        });
        let mut found = Vec::with_capacity(targets.len());
        let mut answers = futures::stream::iter(questions).buffered(IN_FLIGHT);
        while let Some(answer) = answers.next().await {
            found.push(answer);
            self.events.receive(Event::Advanced(Stage::Compare, found.len()));
        }
        found
    }

    async fn ask_one(&self, target: &Target, state: LiveState, too_early: bool) -> ComparisonResult {
        let resource = match &target.resource {
            _ if self.interrupt.is_set() => {
                let message = "the run was interrupted before this object was compared";
                return Finding::Unknown(Trouble::new("Interrupted", message)).into();
            }
            Err(trouble) => return Finding::Unknown(trouble.clone()).into(),
            Ok(resource) if resource.pending || too_early => return Finding::Missing(Evidence::Local).into(),
            Ok(resource) => resource,
        };
        let of = self.types.of(&target.key.gvk);
        let mut machine = ComparisonMachine::new(target, state, of, self.policy);
        drive(self.cluster, target, resource, &self.policy.manager, &mut machine).await;
        machine.into_result()
    }
}
