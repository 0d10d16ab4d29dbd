//! One reconcile pass over the objects of the manifests and the members of their apply set.
//!
//! ```text
//! compare ─▶ (shown, agreed to) ─▶ act: parent lists a superset ─▶ waves ─▶ wait ─▶ prune ─▶ parent lists the other members
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use structured_merge::ObjectKey;
use tokio::task::spawn_blocking;

use crate::engine::apply_run::ApplyRun;
use crate::engine::comparison::{Comparison, MembersOfBase};
use crate::engine::event::{Event, Stage};
use crate::engine::item::Item;
use crate::engine::other_shards::ShardWait;
use crate::engine::prune::{AfterPass, Judged, Planned};
use crate::engine::wait::Waiting;
use crate::engine::wait::Watched;
use reconcile_core::compare::{Decision, Evidence, Membership, ObjectDiff, Replace};
use reconcile_core::live::{ObjectsElsewhere, Target};
use reconcile_core::object::generated::Generated;
use reconcile_core::plan::{Plan, PlanItem};
use reconcile_core::resolve::Consent;

/// The compared objects of one run, which it writes, prunes and waits for.
pub(crate) struct Reconciliation<'a> {
    run: ApplyRun<'a>,
    /// The apply set, if there is one.
    prune: Option<Judged>,
    /// The objects of other shards.
    others: Vec<Arc<PlanItem>>,
}

impl<'a> Reconciliation<'a> {
    /// Compares the objects of the plan, while the members of the set are listed, and decides which of those are deleted.
    pub async fn compare(mut comparison: Comparison<'a>, mut plan: Plan, prune: Option<Planned>) -> Self {
        comparison.warns_of_sets &= prune.is_none();
        let mut others = std::mem::take(&mut plan.in_other_shards);
        comparison.elsewhere = ObjectsElsewhere::of(others.iter().map(|item| &item.target.key));
        if prune.is_none() && plan.items.iter().all(|item| Generated::of(&item.target.key).is_none()) {
            // Only deletions wait for them, and only new names of generated objects are looked for in them.
            others = Vec::new();
        }
        let Comparison { cluster, events, .. } = comparison;
        let listing = async {
            match prune {
                Some(planned) => Some(planned.list(cluster).await),
                None => None,
            }
        };
        // The first requests of the list leave before many objects are compared at once.
        let (listed, mut run) = futures::join!(listing, ApplyRun::compare(comparison, plan));
        let base = match &listed {
            Some(listed) => run.comparison_mut().told_by_base(listed.members()).await,
            None => MembersOfBase::default(),
        };
        // Objects of other shards are in the manifests as well.
        let targets: Vec<&Target> =
            run.items().iter().map(Item::target).chain(others.iter().map(|item| &item.target)).collect();
        let Comparison { policy, redactor, .. } = run.comparison();
        let new = run.new_generated();
        let is_of_other_set = |item: &&Item| matches!(item.decision.membership, Some(Membership::Refused(_)));
        let outside = run.items().iter().filter(is_of_other_set).map(|item| item.target().key.clone()).collect();
        let listed = listed.map(|listed| listed.without(outside));
        let prune = listed.map(|listed| listed.judge(&targets, &new, &base, policy, redactor, events));
        run.choose_renamed(prune.as_ref().map(|prune| &prune.renamed));
        Self { run, prune, others }
    }

    /// Leaves new objects with generated names, and their former ones.
    pub fn leave_renamed(&mut self, new: &[ObjectKey]) {
        if new.is_empty() {
            return;
        }
        self.run.leave_new(new);
        let Comparison { redactor, events, .. } = self.run.comparison();
        if let Some(prune) = &mut self.prune {
            prune.keep_formers(new, redactor, *events);
        }
    }

    /// Warns of the objects that a pass skips because they need one that `--only` leaves.
    pub fn warn_of_skips(&self) {
        self.run.warn_of_skips();
    }

    /// The objects that were proven in sync.
    pub fn proven(&self) -> impl Iterator<Item = &Target> {
        let proven = |item: &Item| item.diff().evidence == Some(Evidence::Proven);
        self.run.own().filter(move |item| proven(item)).map(Item::target)
    }

    /// The objects of this shard, with the decisions about them.
    pub fn decided(&self) -> impl Iterator<Item = (&Target, &Decision)> {
        self.run.own().map(|item| (item.target(), &*item.decision))
    }

    /// The objects of other shards.
    pub fn elsewhere(&self) -> Vec<&Target> {
        in_other_shards(&self.run, &self.others).collect()
    }

    /// The members that another shard deletes because these objects come under new names: for each, the newest.
    pub async fn deleted_elsewhere(&self, new: &BTreeSet<ObjectKey>) -> BTreeMap<ObjectKey, ObjectKey> {
        let Some(prune) = &self.prune else { return BTreeMap::new() };
        let new: Vec<&Target> = self.run.own().map(Item::target).filter(|target| new.contains(&target.key)).collect();
        prune.deleted_elsewhere(self.run.comparison().cluster, &new).await
    }

    /// The inputs that all comparisons of the run share.
    pub fn comparison(&self) -> &Comparison<'a> {
        self.run.comparison()
    }

    /// The objects that were not proven in sync, each with the reason.
    pub fn unproven(&self) -> &[String] {
        &self.run.comparison().unproven
    }

    /// Returns true if there is something to write or to delete.
    pub fn has_work(&self) -> bool {
        self.run.has_work() || self.prune.as_ref().is_some_and(Judged::has_work)
    }

    /// From now on, leaves objects alone whose differences turn out to be others than those that were shown.
    pub fn hold_what_differs_from_what_was_shown(&mut self) {
        self.run.hold_what_differs_from_what_was_shown();
    }

    /// Leaves objects and members alone whose differences were not planned.
    pub fn keep_to_plan(
        &mut self,
        consent: &dyn Fn(&Target, &Decision) -> Consent,
        is_deletion_planned: &dyn Fn(&ObjectKey, &ObjectDiff) -> bool,
    ) {
        self.keep_to_consent(consent);
        let Comparison { redactor, events, .. } = self.run.comparison();
        if let Some(prune) = &mut self.prune {
            prune.keep_to_plan(redactor, *events, is_deletion_planned);
        }
    }

    /// Leaves objects alone unless somebody agreed to their differences.
    pub fn keep_to_consent(&mut self, consent: &dyn Fn(&Target, &Decision) -> Consent) {
        self.run.keep_to_consent(consent);
        self.run.hold_what_differs_from_what_was_shown();
    }

    /// Allows the deletions that were shown, because somebody agreed to them.
    pub fn allow_deletions(&mut self) {
        let Comparison { redactor, events, .. } = self.run.comparison();
        if let Some(prune) = &mut self.prune {
            prune.allow_all(redactor, *events);
        }
    }

    /// Writes what differs, and prunes. With `wait`, each target of a `depends-on` annotation has to become ready in this time, all
    /// objects have to be ready before anything is deleted, and deletions may take as long.
    pub async fn act(&mut self, wait: Option<Duration>) {
        let Self { run, prune, others } = self;
        let Comparison { cluster, events, interrupt, .. } = run.comparison();
        let cluster = *cluster;
        let events = *events;
        let interrupt = interrupt.clone();
        events.receive(Event::Began(Stage::Apply, run.items().len()));
        // The parent of the set is written first, and it may live in a namespace of this input.
        if let Some(namespace) = prune.as_ref().and_then(Judged::new_namespace) {
            run.create_namespace(namespace).await;
            let is_it = |target: &&Target| target.key.gvk.is_namespace() && target.key.name == namespace;
            if let Some(coming) = in_other_shards(run, others).find(is_it) {
                ShardWait::from_now(wait, &interrupt).exists(cluster, coming).await;
            }
        }
        run.wait_for_dependencies(wait);
        let begun = match prune {
            Some(prune) => prune.begin(cluster, &interrupt).await,
            None => Ok(()),
        };
        match begun {
            Ok(()) => run.act().await,
            Err(reason) => run.hold(&reason),
        }
        events.receive(Event::Ended(Stage::Apply));
        let own = run.left();
        // The objects of other shards stand in the way of deletions, if there are any.
        let deletes = own == 0 && prune.as_ref().is_some_and(Judged::deletes);
        let mut others: Vec<&Target> = in_other_shards(run, others).filter(|_| deletes).collect();
        let mut other_shards = Vec::new();
        if let Some(prune) = prune.as_ref().filter(|_| deletes) {
            let shard_wait = ShardWait::from_now(wait, &interrupt);
            let only = run.comparison().policy.only.as_deref();
            other_shards = shard_wait.members(cluster, &mut others, &prune.set().id, only).await;
        }
        let mut unready = Vec::new();
        if let Some(timeout) = wait {
            if !other_shards.is_empty() {
                others.clear();
            }
            unready = ready(run, &others, timeout).await;
        }
        if let Some(prune) = prune {
            let has_joined = run.own().any(|item| item.has_joined(prune.set()));
            let after = AfterPass { unapplied: own, other_shards: &other_shards, unready: &unready, has_joined };
            prune.act(cluster, after, wait, &interrupt, events).await;
        }
    }

    /// Ends the run. The objects are freed while the report is printed, because freeing many takes a while.
    pub fn end(self) {
        let Self { run, others, .. } = self;
        let items = run.into_items();
        spawn_blocking(move || drop((items, others)));
    }

    /// Warnings about the comparison as a whole.
    pub fn warnings(&self) -> &BTreeSet<String> {
        &self.run.comparison().warnings
    }

    /// The apply set, if there is one.
    pub fn apply_set(&self) -> Option<&Judged> {
        self.prune.as_ref()
    }

    /// Returns true if objects are replaced whose immutable fields differ.
    pub fn replaces(&self) -> bool {
        self.run.comparison().policy.replace == Replace::Immutable
    }
}

/// Waits until the objects of the pass, and these of other shards, are ready, for this time at most. Returns those that are not.
async fn ready(run: &ApplyRun<'_>, others: &[&Target], timeout: Duration) -> Vec<ObjectKey> {
    let Comparison { cluster, events, interrupt, readiness, .. } = run.comparison();
    let own = run.own().filter(|item| item.exists()).map(|item| {
        // One that another object waited for in vain is not gone because it was done.
        let watch = if item.was_unready { Watched::of } else { Watched::existing };
        watch(item.target(), readiness)
    });
    let watched: Vec<Watched> = own.chain(others.iter().map(|target| Watched::existing(target, readiness))).collect();
    let seen = Waiting { cluster, timeout, interrupt, events: *events }.after_pass(&watched).await;
    let unready = watched.iter().zip(&seen).filter(|(_, readiness)| !readiness.is_current());
    unready.map(|(one, _)| one.key.clone()).collect()
}

/// The objects of the input that belong to other shards.
fn in_other_shards<'t>(run: &'t ApplyRun<'_>, others: &'t [Arc<PlanItem>]) -> impl Iterator<Item = &'t Target> {
    run.items()
        .iter()
        .filter(|item| item.is_in_other_shard())
        .map(Item::target)
        .chain(others.iter().map(|item| &item.target))
}
