//! Compares a set of targets: reads the live objects, sends dry runs, and decides in the order of the plan.

pub(crate) mod comparison_inputs;
pub mod dry_run;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::client::{Cluster, IN_FLIGHT, MOST_IN_FLIGHT};
use crate::engine::event::{Event, EventSink, Stage};
use crate::engine::interrupt::Interrupt;
use crate::engine::membership::Memberships;
use crate::engine::missing_owners::warn_of_missing_owners;
use crate::live::autoscalers::{AutoscalerSource, Unlisted};
use crate::live::discovery::Server;
use crate::live::fetch::{fetch, fetch_into, get};
use crate::live::release::release_base::{ComparedTarget, give_bases};
use crate::live::types::Types;
use apply_set::Member;
use comparison_inputs::{ComparisonInputs, only_has_to_exist};
use dry_run::drive;
use futures::StreamExt as _;
use serde_json::Value;
use structured_merge::{ObjectKey, defined_kind};

use reconcile_core::compare::{
    Action, ChangingKinds, ComparisonMachine, Decision, FieldChange, Patterns, Policy, Redactor, Replacement, Side,
    is_convertible, leave_out_nulls, may_hold_refused_nulls,
};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::effects;
use reconcile_core::live::resolve::resource_of;
use reconcile_core::live::{LiveState, ObjectsElsewhere, Resource, Target};
use reconcile_core::plan::Plan;
use reconcile_core::rules::{Autoscaler, ReadinessRules, Workload, workload};

/// A source of live objects, with which manifests are compared: a cluster or a snapshot.
pub(crate) trait LiveSource {
    /// Removes from custom resources the nulls that their types do not allow.
    async fn leave_out_nulls(&mut self, plan: &mut Plan);

    /// Compares targets, which must be in the order of the plan. Returns one decision for each.
    async fn compare(&mut self, targets: &[&Target]) -> Vec<Decision>;

    /// Names other objects in the decisions: the apply sets that objects do not leave and, if a server knows, owners that do not exist.
    async fn name_others(&mut self, targets: &[&Target], decisions: &mut [Decision]);

    /// Compares the objects of a plan, and finds the effects of their changes. Returns the decisions in the order of the plan.
    async fn decide(&mut self, plan: &mut Plan) -> Vec<Decision> {
        self.leave_out_nulls(plan).await;
        let targets: Vec<&Target> = plan.targets().collect();
        let mut decisions = self.compare(&targets).await;
        self.name_others(&targets, &mut decisions).await;
        effects::find(&targets, &mut decisions);
        decisions
    }

    /// Reads an object and compares it by a policy, apart from all others. `None` if it does not exist, if it or its values cannot be read,
    /// or once the run is interrupted.
    async fn compare_alone(&self, target: &Target, policy: &Policy) -> Option<(Value, Decision)>;

    /// The live states of these targets; none at all once the run is interrupted.
    async fn states(&self, targets: &[&Target]) -> Vec<LiveState>;
}

/// The inputs that all comparisons of one run share.
pub(crate) struct Comparison<'a> {
    /// The server, with its resources.
    server: &'a Server,
    /// The connection.
    pub cluster: &'a Cluster,
    /// True if the releases of Helm that the live objects name are their base.
    pub releases_are_base: bool,
    /// True if the run warns of the sets that objects stay in: its command has flags for apply sets, and none of them was given. With a set
    /// of its own, it has only the parent of that set to keep in another one.
    pub warns_of_sets: bool,
    /// The policy: our field manager, and the fields that others may own. It includes the autoscalers that were read.
    pub policy: Policy,
    /// Types of the kinds in the input.
    pub types: Types,
    /// The patterns of the definitions in the input.
    patterns: Arc<Patterns>,
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
    /// The objects that other shards compare.
    pub elsewhere: ObjectsElsewhere,
    /// The objects that only the base has, as it has them.
    pub only_in_base: Rc<[Target]>,
}

/// The Namespaces and CustomResourceDefinitions that are replaced: all objects in them are gone until they are applied again.
#[derive(Default)]
struct Replaced<'t> {
    namespaces: BTreeSet<&'t str>,
    kinds: BTreeSet<(&'t str, &'t str)>,
}

impl<'t> Replaced<'t> {
    fn add(&mut self, target: &'t Target) {
        let gvk = &target.key.gvk;
        if gvk.is_namespace() {
            self.namespaces.insert(&target.key.name);
        } else if gvk.is_crd() {
            self.kinds.extend(defined_kind(target.desired.object()));
        }
    }

    fn takes(&self, key: &ObjectKey) -> bool {
        key.namespace.as_deref().is_some_and(|namespace| self.namespaces.contains(namespace))
            || self.kinds.contains(&(key.gvk.group.as_str(), key.gvk.kind.as_str()))
    }
}

/// The live objects that no manifest names, as far as a base has them.
#[derive(Debug, Default)]
pub(crate) struct MembersOfBase {
    /// Those that the cluster changed since.
    pub changed: BTreeSet<ObjectKey>,
    /// Those that the base has encrypted, whose values are secret.
    pub encrypted: BTreeSet<ObjectKey>,
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
            warns_of_sets: true,
            policy: policy.clone(),
            types,
            patterns: Arc::default(),
            redactor,
            autoscalers: None,
            warnings: BTreeSet::new(),
            unproven: Vec::new(),
            interrupt,
            events,
            readiness: Arc::default(),
            elsewhere: ObjectsElsewhere::default(),
            only_in_base: Rc::default(),
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

    /// Makes the decisions, in the order of the plan.
    fn decided<'m>(&mut self, machines: impl ExactSizeIterator<Item = Box<ComparisonMachine<'m>>>) -> Vec<Decision> {
        let mut decisions = Vec::with_capacity(machines.len());
        let mut changing = ChangingKinds::matching(&self.patterns);
        let mut replaced = Replaced::default();
        for mut machine in machines {
            let target = machine.target();
            if replaced.takes(&target.key) {
                machine.end_as_gone();
            }
            let unproven = machine.unproven().filter(|_| target.other_shard().is_none());
            self.unproven.extend(unproven.map(|why| format!("not proven: {}: {why}", target.key)));
            let decision = machine.decide(changing.coming_type(&target.key.gvk), &self.redactor);
            let after = decision.prediction().map(|after| &after.object);
            changing.add_compared(target, &decision.diff, decision.live(), after);
            if decision.diff.replacement == Some(Replacement::Allowed) && decision.diff.conflicts.is_empty() {
                replaced.add(target);
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
        let decision = self.decide_one(crd, state, &self.policy, &self.redactor).await;
        matches!(decision.diff.action, Action::None | Action::Unknown)
    }

    /// Compares one object, apart from all others, by a policy.
    async fn decide_one(&self, target: &Target, state: LiveState, policy: &Policy, redactor: &Redactor) -> Decision {
        let mut machine = ComparisonMachine::new(target, state, self.types.of(&target.key.gvk), policy);
        self.ask_one(&mut machine, false, &ChangingKinds::default()).await;
        while machine.leave() {
            self.ask_one(&mut machine, false, &ChangingKinds::default()).await;
        }
        machine.decide(None, redactor)
    }

    /// Those of these live objects that only the base has. A size goes with its object, and is no change of it.
    pub async fn told_by_base(&mut self, live: impl Iterator<Item = &Member>) -> MembersOfBase {
        let bases = Rc::clone(&self.only_in_base);
        let base_of = |member: &Member| bases.iter().find(|base| base.key.is_of_same_object(&member.key));
        let known = |member| Some((base_of(member)?, member));
        let objects: Vec<(&Target, &Member)> = live.filter_map(known).collect();
        let encrypted = objects.iter().filter(|(base, _)| base.desired.origin.is_encrypted);
        let encrypted = encrypted.map(|(_, member)| member.key.clone()).collect();
        let resources = objects.iter().filter_map(|(base, _)| base.resource.as_deref().ok());
        self.types.load(self.cluster, resources).await;
        let policy = Policy { only: None, ..self.policy.clone() };
        let compare = async |(base, member): (&Target, &Member)| {
            // Nothing of it is shown: no secret value gets a number.
            let redactor = Redactor::default();
            let live = LiveState::Present(member.object.clone());
            let decision = self.decide_one(base, live, &policy, &redactor).await;
            let is_size = |change: &FieldChange| change.managers.iter().any(|owner| owner.subresource == "scale");
            let mut changes = decision.diff.changes.iter().filter(|change| !is_size(change));
            changes.any(|change| change.side.is_some_and(Side::is_of_cluster)).then(|| member.key.clone())
        };
        let found: Vec<_> =
            futures::stream::iter(objects.into_iter().map(compare)).buffer_unordered(IN_FLIGHT).collect().await;
        MembersOfBase { changed: found.into_iter().flatten().collect(), encrypted }
    }

    /// Sends the dry runs of all objects at once. Objects whose namespace or kind exists only in this input are not tried
    /// yet, except for manifests in which the server may find a mistake.
    async fn ask(&self, machines: &mut [Box<ComparisonMachine<'_>>], coming_kinds: &ChangingKinds<'_>) {
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

    /// Looks for the autoscalers of objects of which an apply would drop a field that an autoscaler may own, and compares those that have
    /// one again. That a manifest no longer has such a field only its comparison shows.
    async fn leave_to_autoscalers<'m>(
        &mut self,
        inputs: &'m ComparisonInputs,
        targets: &[&Target],
        machines: &mut [Box<ComparisonMachine<'m>>],
        coming: &ChangingKinds<'_>,
    ) {
        let (Some(source), Some(rules)) = (&self.autoscalers, inputs.rules()) else { return };
        let dropped = source.dropped(machines);
        if dropped.is_empty() || self.interrupt.is_set() {
            return;
        }
        let (found, unlisted) = source.read_of_dropped(self.cluster, targets, &dropped).await;
        let kinds = rules.unlisted.iter().chain(&unlisted);
        self.warnings.extend(kinds.filter_map(|kind| kind.warning_of_dropped(&dropped)));
        let Some(policy) = inputs.complete(&found) else { return };
        let scaled: BTreeSet<Workload<'_>> = found.iter().map(Autoscaler::workload).collect();
        let is_scaled = |target: &Target| workload(&target.key).is_some_and(|own| scaled.contains(&own));
        for machine in machines.iter_mut().filter(|machine| is_scaled(machine.target())) {
            machine.compare_by(policy);
        }
        self.ask(machines, coming).await;
    }

    /// Looks for records of owners that the server may have kept as they were, of objects that were compared without it.
    async fn check_records(&self, machines: &mut [Box<ComparisonMachine<'_>>], types: &mut Types) {
        let versions: BTreeSet<_> = machines.iter().flat_map(|machine| machine.recorded_versions()).collect();
        if versions.is_empty() {
            return;
        }
        let served = versions.iter().filter_map(|gvk| resource_of(gvk, &self.server.discovery).ok());
        types.load(self.cluster, &served.collect::<Vec<_>>()).await;
        for machine in machines {
            machine.check_records(|gvk, live| is_convertible(live, types.of(gvk)));
        }
    }

    async fn ask_one(&self, machine: &mut ComparisonMachine<'_>, too_early: bool, coming_kinds: &ChangingKinds<'_>) {
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
                    && is_absent(machine)
                    && let Some(coming) = coming_kinds.coming_type(&target.key.gvk)
                    && let Some(mistakes) = coming.refusal(target) =>
            {
                return machine.fail(mistakes);
            }
            Ok(resource) if resource.pending => return machine.end_as_pending(),
            Ok(resource) if too_early => {
                if machine.may_be_mistaken() {
                    drive(self.cluster, resource, machine).await;
                }
                return machine.end_as_missing_unless_mistaken();
            }
            Ok(resource) => resource,
        };
        drive(self.cluster, resource, machine).await;
    }
}

impl LiveSource for Comparison<'_> {
    // Types are read only if there may be such nulls.
    async fn leave_out_nulls(&mut self, plan: &mut Plan) {
        let may_hold = |target: &&Target| may_hold_refused_nulls(target);
        let resources: Vec<_> =
            plan.targets().filter(may_hold).filter_map(|target| target.resource.as_deref().ok()).collect();
        if !resources.is_empty() {
            self.types.load(self.cluster, resources.into_iter().filter(|found| !found.pending)).await;
            leave_out_nulls(&mut plan.targets_mut().collect::<Vec<_>>(), |gvk| self.types.of(gvk));
        }
    }

    async fn compare(&mut self, targets: &[&Target]) -> Vec<Decision> {
        let inputs = ComparisonInputs::default();
        let mut of_other_versions = self.types.emptied();
        let types = std::mem::take(&mut self.types);
        let policy = self.policy.clone();
        let coming = kinds_to_come(targets, &self.patterns);
        let read = inputs.read(self.cluster, targets, self.autoscalers.as_ref(), types, policy);
        // In boxes, as the results of ten thousand objects are moved from list to list.
        let take = async |index: usize, state| match targets.get(index) {
            Some(target) => Some(Box::new(inputs.compare(target, state, &coming).await)),
            None => None,
        };
        let ready = async |resource: &Resource| _ = inputs.of(&resource.gvk).await;
        // The requests of `read` leave before many objects are compared at once.
        let ((), begun) = futures::join!(read, fetch_into(self.cluster, targets, &self.elsewhere, &ready, &take));
        // From now on, objects are read because they may have changed.
        self.cluster.keep_early(|_| false);
        let mut machines: Vec<_> = begun.into_iter().flatten().collect();
        if let Some(rules) = inputs.rules() {
            let warning = |kind: &Unlisted| kind.warning(targets, machines.iter().map(|machine| machine.read_state()));
            self.warnings.extend(rules.unlisted.iter().filter_map(warning));
        }
        self.ask(&mut machines, &coming).await;
        self.leave_to_autoscalers(&inputs, targets, &mut machines, &coming).await;
        self.check_records(&mut machines, &mut of_other_versions).await;
        if self.releases_are_base {
            let compared: Vec<ComparedTarget<'_>> = machines
                .iter()
                .map(|machine| ComparedTarget {
                    target: machine.target(),
                    live: machine.live(),
                    is_missing: machine.is_missing(),
                })
                .collect();
            let (rest, warning) = give_bases(self.cluster, &self.server.discovery, &compared).await;
            self.only_in_base = rest.into();
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
        let decisions = self.decided(machines.into_iter());
        if let Some((types, policy)) = inputs.into_parts() {
            self.types = types;
            self.policy = policy;
        }
        decisions
    }

    async fn name_others(&mut self, targets: &[&Target], decisions: &mut [Decision]) {
        let warnings = Memberships::read(self.server, targets, decisions).await.name_in(targets, decisions);
        if self.warns_of_sets {
            self.warnings.extend(warnings);
        }
        warn_of_missing_owners(self.server, targets, decisions).await;
    }

    async fn compare_alone(&self, target: &Target, policy: &Policy) -> Option<(Value, Decision)> {
        let resource = target.resource.as_deref().ok().filter(|_| !self.interrupt.is_set())?;
        let LiveState::Present(live) = get(self.cluster, target, resource).await else { return None };
        let decision = self.decide_one(target, LiveState::Present(live.clone()), policy, &self.redactor).await;
        Some((live, decision))
    }

    async fn states(&self, targets: &[&Target]) -> Vec<LiveState> {
        if self.interrupt.is_set() { Vec::new() } else { fetch(self.cluster, targets).await }
    }
}

/// The kinds that this input defines, if it has objects of kinds that only its definitions define.
fn kinds_to_come<'t>(targets: &[&'t Target], patterns: &Arc<Patterns>) -> ChangingKinds<'t> {
    let mut kinds = ChangingKinds::matching(patterns);
    if targets.iter().any(|target| target.resource.as_deref().is_ok_and(|resource| resource.pending)) {
        for target in targets {
            kinds.add(target);
        }
    }
    kinds
}

fn is_absent(machine: &ComparisonMachine<'_>) -> bool {
    matches!(machine.read_state(), Some(LiveState::Absent))
}
