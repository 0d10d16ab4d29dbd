//! Compares a set of targets: reads the live objects, sends dry runs, and decides in the order of the plan.

pub(crate) mod comparison_inputs;
pub mod dry_run;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::client::{Cluster, MOST_IN_FLIGHT};
use crate::engine::event::{Event, EventSink, Stage};
use crate::engine::interrupt::Interrupt;
use crate::engine::membership::Memberships;
use crate::engine::missing_owners::warn_of_missing_owners;
use crate::live::autoscalers::{AutoscalerSource, Unlisted};
use crate::live::definitions::Definitions;
use crate::live::discovery::Server;
use crate::live::fetch::{fetch_into, get};
use crate::live::release::release_base::{ComparedTarget, give_bases};
use crate::live::types::Types;
use comparison_inputs::{ComparisonInputs, only_has_to_exist};
use dry_run::drive;
use futures::StreamExt as _;
use structured_merge::GroupVersionKind;

use reconcile_core::compare::{
    Action, ComparisonMachine, Decision, DefinedKinds, Policy, Redactor, leave_out_nulls, may_hold_refused_nulls,
    refused_by_definition,
};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::{LiveState, Resource, Target};
use reconcile_core::plan::Plan;
use reconcile_core::rules::ReadinessRules;

/// The inputs that all comparisons of one run share.
pub(crate) struct Comparison<'a> {
    /// The server, with its resources.
    server: &'a Server,
    /// The connection.
    pub cluster: &'a Cluster,
    /// True if the releases of Helm that the live objects name are their base.
    pub releases_are_base: bool,
    /// True if the objects join an apply set.
    pub joins_apply_set: bool,
    /// The policy: our field manager, and the fields that others may own. It includes the autoscalers that were read.
    pub policy: Policy,
    /// Types of the kinds in the input.
    pub types: Types,
    /// Replaces secret values by numbers. Comparisons that share it give equal values the same number.
    pub redactor: Arc<Redactor>,
    /// The source of autoscalers, unless their changes count as drift.
    autoscalers: Option<AutoscalerSource>,
    /// Warnings about the run as a whole.
    pub warnings: BTreeSet<String>,
    /// The reasons why objects were not proven in sync, one line each.
    pub unproven: Vec<String>,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    /// Receives the progress.
    pub events: &'a dyn EventSink,
    /// The readiness rules of the configuration.
    pub readiness: Arc<ReadinessRules>,
}

impl<'a> Comparison<'a> {
    /// A comparison with these inputs.
    pub fn new(
        server: &'a Server,
        policy: &'a Policy,
        types: Types,
        interrupt: Interrupt,
        events: &'a dyn EventSink,
    ) -> Self {
        let redactor = Arc::default();
        Self {
            server,
            cluster: &server.cluster,
            releases_are_base: false,
            joins_apply_set: false,
            policy: policy.clone(),
            types,
            redactor,
            autoscalers: None,
            warnings: BTreeSet::new(),
            unproven: Vec::new(),
            interrupt,
            events,
            readiness: Arc::default(),
        }
    }

    /// Sets the autoscalers whose changes do not count as drift.
    pub fn respecting(mut self, autoscalers: Option<AutoscalerSource>) -> Self {
        self.autoscalers = autoscalers;
        self
    }

    /// Sets the readiness rules of the configuration.
    pub fn with_readiness(self, readiness: &Arc<ReadinessRules>) -> Self {
        Self { readiness: Arc::clone(readiness), ..self }
    }

    /// Removes from custom resources the nulls that their types do not allow. Types are read only if there may be such nulls.
    pub async fn leave_out_nulls(&mut self, plan: &mut Plan) {
        let may_hold = |target: &&Target| may_hold_refused_nulls(target);
        let resources: Vec<_> =
            plan.targets().filter(may_hold).filter_map(|target| target.resource.as_deref().ok()).collect();
        if !resources.is_empty() {
            self.types.load(self.cluster, resources.into_iter().filter(|found| !found.pending)).await;
            leave_out_nulls(&mut plan.targets_mut().collect::<Vec<_>>(), |gvk| self.types.of(gvk));
        }
    }

    /// Compares targets, which must be in the order of the plan. Returns one decision for each.
    pub async fn compare(&mut self, targets: &[&Target]) -> Vec<Decision> {
        let inputs = ComparisonInputs::default();
        let types = std::mem::take(&mut self.types);
        let policy = self.policy.clone();
        let read = inputs.read(self.cluster, targets, self.autoscalers.as_ref(), types, policy);
        // In boxes, as the results of ten thousand objects are moved from list to list.
        let take = async |index: usize, state| match targets.get(index) {
            Some(target) => Some(Box::new(inputs.compare(target, state).await)),
            None => None,
        };
        let ready = async |resource: &Resource| _ = inputs.of(&resource.gvk).await;
        // The requests of `read` leave before many objects are compared at once.
        let ((), begun) = futures::join!(read, fetch_into(self.cluster, targets, &ready, &take));
        // From now on, objects are read because they may have changed.
        self.cluster.keep_early(|_| false);
        let mut machines: Vec<_> = begun.into_iter().flatten().collect();
        if let Some(rules) = inputs.rules() {
            let warning = |kind: &Unlisted| kind.warning(targets, machines.iter().map(|machine| machine.read_state()));
            self.warnings.extend(rules.unlisted.iter().filter_map(warning));
        }
        let coming = ComingKinds::of(targets);
        self.ask(&mut machines, &coming).await;
        if self.releases_are_base {
            let compared: Vec<ComparedTarget<'_>> = machines
                .iter()
                .map(|machine| ComparedTarget {
                    target: machine.target(),
                    live: machine.live(),
                    is_missing: machine.is_missing(),
                })
                .collect();
            let warning = give_bases(self.cluster, &self.server.discovery, &compared).await;
            self.warnings.extend(warning);
        }
        loop {
            let mut leaves_some = false;
            for machine in &mut machines {
                leaves_some |= machine.leave();
            }
            if !leaves_some {
                break;
            }
            self.ask(&mut machines, &coming).await;
        }
        let decisions = self.decide(machines.into_iter());
        if let Some((types, policy)) = inputs.into_parts() {
            self.types = types;
            self.policy = policy;
        }
        decisions
    }

    /// Names the apply sets that objects do not leave: in a warning or, for an object that is refused, in the verdict.
    pub async fn name_apply_sets(&mut self, targets: &[&Target], decisions: &mut [Decision]) {
        let memberships = Memberships::read(self.server, targets, decisions).await;
        for decision in &mut *decisions {
            memberships.name_in(decision);
        }
        // With a set of its own, the run has only the parent of that set to keep in another one.
        if !self.joins_apply_set {
            let all = decisions.iter().filter_map(|decision| decision.membership.as_ref());
            self.warnings.extend(memberships.warnings(all));
        }
    }

    /// Warns of objects that the garbage collector would delete.
    pub async fn warn_of_missing_owners(&self, targets: &[&Target], decisions: &mut [Decision]) {
        warn_of_missing_owners(self.server, targets, decisions).await;
    }

    /// Makes the decisions, in the order of the plan.
    fn decide<'m>(&mut self, machines: impl ExactSizeIterator<Item = Box<ComparisonMachine<'m>>>) -> Vec<Decision> {
        let mut decisions = Vec::with_capacity(machines.len());
        let mut changing = DefinedKinds::default();
        for (index, machine) in machines.enumerate() {
            let target = machine.target();
            let unproven = machine.unproven().filter(|_| target.other_shard().is_none());
            self.unproven.extend(unproven.map(|why| format!("not proven: {}: {why}", target.key)));
            let types_will_change = changing.place_of(&target.key.gvk).is_some();
            let decision = machine.decide(types_will_change, &self.redactor);
            if decision.verdict.action() != Action::None {
                changing.add(index, target);
            }
            decisions.push(decision);
        }
        decisions
    }

    /// Returns true if a definition of another shard matches its manifest, as far as this run can see.
    pub async fn is_settled(&self, crd: &Target) -> bool {
        let Ok(resource) = &crd.resource else { return true };
        let state = get(self.cluster, crd, resource).await;
        if matches!(state, LiveState::Absent) {
            return false;
        }
        let verdict = self.decide_one(crd, state, &self.policy).await.verdict;
        matches!(verdict.action(), Action::None | Action::Unknown)
    }

    /// Compares one object, apart from all others, by a policy.
    pub async fn decide_one(&self, target: &Target, state: LiveState, policy: &Policy) -> Decision {
        let mut machine = ComparisonMachine::new(target, state, self.types.of(&target.key.gvk), policy);
        self.ask_one(&mut machine, false, &ComingKinds::default()).await;
        while machine.leave() {
            self.ask_one(&mut machine, false, &ComingKinds::default()).await;
        }
        machine.decide(false, &self.redactor)
    }

    /// Sends the dry runs of all objects at once. Objects whose namespace or kind exists only in this input are not tried yet.
    async fn ask(&self, machines: &mut [Box<ComparisonMachine<'_>>], coming_kinds: &ComingKinds<'_>) {
        let all = machines.len();
        let namespaces = machines.iter().filter(|machine| is_absent(machine));
        let coming: BTreeSet<&str> = namespaces
            .map(|machine| &machine.target().key)
            .filter(|key| key.gvk.is_namespace())
            .map(|key| key.name.as_str())
            .collect();
        let is_coming = |target: &Target| target.key.namespace.as_deref().is_some_and(|name| coming.contains(name));
        // Finished machines are left out first: of ten thousand objects a few may need a dry run, and these run at the same time.
        let open: Vec<_> = machines.iter_mut().filter(|machine| !machine.is_done()).collect();
        let mut finished = all - open.len();
        self.events.receive(Event::Advanced(Stage::Compare, finished));
        let questions = open.into_iter().map(async |machine| {
            let too_early = is_absent(machine) && is_coming(machine.target());
            self.ask_one(machine, too_early, coming_kinds).await;
        });
        let mut answers = futures::stream::iter(questions).buffer_unordered(MOST_IN_FLIGHT);
        while answers.next().await.is_some() {
            finished += 1;
            self.events.receive(Event::Advanced(Stage::Compare, finished));
        }
    }

    async fn ask_one(&self, machine: &mut ComparisonMachine<'_>, too_early: bool, coming_kinds: &ComingKinds<'_>) {
        let target = machine.target();
        if only_has_to_exist(target) && machine.read_state().is_some() {
            return machine.end_as_read();
        }
        let resource = match &target.resource {
            _ if self.interrupt.is_set() => {
                let message = "the run was interrupted before this object was compared";
                return machine.fail(Diagnostic::new(Code::Interrupted, message));
            }
            Err(diagnostic) => return machine.fail(Diagnostic::clone(diagnostic)),
            Ok(resource)
                if resource.pending
                    && let Some(mistakes) = coming_kinds.refusal(target) =>
            {
                return machine.fail(mistakes);
            }
            Ok(resource) if resource.pending || too_early => return machine.end_as_missing(),
            Ok(resource) => resource,
        };
        drive(self.cluster, resource, machine).await;
    }
}

/// The kinds that only the definitions of this input define.
#[derive(Default)]
struct ComingKinds<'t> {
    types: Types,
    definitions: Definitions<'t>,
}

impl<'t> ComingKinds<'t> {
    fn of(targets: &'t [&'t Target]) -> Self {
        let is_pending = |target: &&&Target| target.resource.as_deref().is_ok_and(|resource| resource.pending);
        let kinds: BTreeSet<&GroupVersionKind> =
            targets.iter().filter(is_pending).map(|target| &target.key.gvk).collect();
        if kinds.is_empty() {
            return Self::default();
        }
        let definitions = targets.iter().filter(|target| target.key.gvk.is_crd()).map(|target| target.desired.object());
        let definitions = Definitions::of(definitions);
        Self { types: Types::defined_by(kinds, &definitions), definitions }
    }

    /// The mistakes for which the server would refuse an object of such a kind.
    fn refusal(&self, target: &Target) -> Option<Diagnostic> {
        let gvk = &target.key.gvk;
        refused_by_definition(target, self.types.of(gvk), self.definitions.get(gvk))
    }
}

fn is_absent(machine: &ComparisonMachine<'_>) -> bool {
    matches!(machine.read_state(), Some(LiveState::Absent))
}
