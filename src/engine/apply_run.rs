//! The pass of `apply`: writes the objects wave by wave, and in a wave each object once its dependencies are done.

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;

use crate::client::{IN_FLIGHT, RequestError};
use crate::engine::comparison::{Comparison, LiveSource as _};
use crate::engine::event::{Event, Stage};
use crate::engine::item::{self, Item, Skip, blocked};
use crate::engine::other_shards::ShardWait;
use crate::engine::wait::Watched;
use crate::engine::write::{
    DEFAULT_DELETE_TIMEOUT, NotEstablished, Writes, Written, wait_for_discovery, wait_until_established,
};
use reconcile_core::compare::{Action, CompareContext, Decision, DefinedKinds, Evidence, ObjectDiff, creation};
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::live::resolve::{Target, resource_of};
use reconcile_core::object::generated::{Generated, names_in_place_of_others};
use reconcile_core::plan::{Plan, PlanItem, ReadySet};
use reconcile_core::resolve::Consent;
use structured_merge::ObjectKey;

/// All objects of one run, which are compared and then written.
pub(crate) struct ApplyRun<'a> {
    comparison: Comparison<'a>,
    /// The objects, in the order of the plan.
    items: Vec<Item>,
    /// Timeout for each `depends-on` target to become ready; `None` if it is not waited for.
    wait: Option<Duration>,
    /// True if the user confirmed the differences that were shown, so that no others may be written.
    agreed: bool,
}

impl<'a> ApplyRun<'a> {
    /// Compares the objects of a plan.
    pub async fn compare(mut comparison: Comparison<'a>, mut plan: Plan) -> Self {
        let events = comparison.events;
        events.receive(Event::Began(Stage::Compare, plan.items.len()));
        let decisions = comparison.decide(&mut plan).await;
        // Nearly all objects are in sync, and share one decision.
        let in_sync = decisions.iter().find(|decision| decision.is_plain()).cloned().map(Arc::new);
        let shared = |decision: Decision| match &in_sync {
            Some(in_sync) if decision.is_plain() => Arc::clone(in_sync),
            _ => Arc::new(decision),
        };
        let items = plan.items.into_iter().zip(decisions);
        let items: Vec<Item> = items.map(|(planned, decision)| Item::new(planned, shared(decision))).collect();
        for item in items.iter().filter(|item| !item.is_in_other_shard()) {
            events.receive(Event::Compared(item.target(), &item.decision));
        }
        events.receive(Event::Ended(Stage::Compare));
        Self { comparison, items, wait: None, agreed: false }
    }

    /// The objects with generated names that do not exist, whether or not this pass creates them.
    pub fn new_generated(&self) -> BTreeSet<Generated> {
        let is_new = |item: &&Item| item.diff().action == Action::Create || item.diff().leaves_missing();
        self.own().filter(is_new).filter_map(|item| Generated::of(&item.target().key)).collect()
    }

    /// The objects with generated names that this pass leaves, and to which it lets others refer instead of a former one.
    fn referred(&self) -> BTreeSet<Generated> {
        let left = self.own().filter(|item| item.diff().leaves_missing()).map(|item| &item.target().key);
        let left: BTreeMap<(Option<&str>, &str), Generated> =
            left.filter_map(|key| Some(((key.namespace.as_deref(), key.name.as_str()), Generated::of(key)?))).collect();
        let mut referred = BTreeSet::new();
        if left.is_empty() {
            return referred;
        }
        for item in self.own().filter(|item| item.diff().action == Action::Update) {
            let changes = &item.diff().changes;
            let before = changes.iter().filter_map(|change| change.live.as_deref());
            let after = changes.iter().filter_map(|change| change.desired.as_deref());
            let new = names_in_place_of_others(before, after).into_keys();
            referred.extend(new.filter_map(|name| left.get(&(item.target().key.namespace.as_deref(), name)).cloned()));
        }
        referred
    }

    /// Creates or leaves the objects of which a former one is deleted or kept with them, or loses references to them: both are one change.
    pub fn choose_renamed(&mut self, renamed: Option<&BTreeSet<Generated>>) {
        let Some(chosen) = self.comparison.policy.only.clone() else { return };
        let mut renamed = renamed.cloned().unwrap_or_default();
        renamed.extend(self.referred());
        let Self { comparison, items, .. } = self;
        let Comparison { policy, types, redactor, events, .. } = comparison;
        let is_renamed = |item: &&mut Item| {
            !item.is_in_other_shard() && Generated::of(&item.target().key).is_some_and(|one| renamed.contains(&one))
        };
        for item in items.iter_mut().filter(is_renamed) {
            let diff = match (item.diff(), chosen.has_renamed(item.target().is_same_in_base())) {
                (diff, false) if diff.action == Action::Create => diff.leaving_missing(),
                (diff, true) if diff.leaves_missing() => {
                    let schema = types.of(&item.target().key.gvk);
                    let context = CompareContext::new(item.target(), schema, policy);
                    creation(context, diff.evidence.unwrap_or(Evidence::Local), redactor)
                }
                _ => continue,
            };
            item.compared_again(diff);
            events.receive(Event::Compared(item.target(), &item.decision));
        }
    }

    /// Leaves objects that do not exist.
    pub fn leave_new(&mut self, keys: &[ObjectKey]) {
        let own = self.items.iter_mut().filter(|item| !item.is_in_other_shard());
        for item in own.filter(|item| keys.contains(&item.target().key)) {
            if item.diff().action == Action::Create {
                item.compared_again(item.diff().leaving_missing());
                self.comparison.events.receive(Event::Compared(item.target(), &item.decision));
            }
        }
    }

    /// Warns of the objects that a pass skips because they need one that `--only` leaves.
    pub fn warn_of_skips(&self) {
        if self.comparison.policy.only.is_none() {
            return;
        }
        let compared = self.items.iter().map(|item| (Arc::clone(&item.planned), Arc::clone(&item.decision)));
        item::warn_of_skips(compared, self.comparison.events);
    }

    /// The objects, in the order of the plan.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The objects, without the rest of the run.
    pub fn into_items(self) -> Vec<Item> {
        self.items
    }

    /// The objects of this shard, in the order of the plan.
    pub fn own(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| !item.is_in_other_shard())
    }

    /// The number of objects that do not match their manifests yet.
    pub fn left(&self) -> usize {
        self.own().filter(|item| !item.is_done()).count()
    }

    /// The inputs that all comparisons of the run share.
    pub fn comparison(&self) -> &Comparison<'a> {
        &self.comparison
    }

    /// The comparison, for questions that change it.
    pub fn comparison_mut(&mut self) -> &mut Comparison<'a> {
        &mut self.comparison
    }

    /// Creates a Namespace of this input before everything else, if it does not exist.
    pub async fn create_namespace(&mut self, name: &str) {
        let Self { comparison, items, wait, agreed } = self;
        let is_it = |item: &&mut Item| {
            item.target().key.gvk.is_namespace() && item.target().key.name == name && !item.is_in_other_shard()
        };
        let Some(item) = items.iter_mut().find(is_it) else { return };
        if item.diff().action != Action::Create || comparison.interrupt.is_set() {
            return;
        }
        let schema = comparison.types.of(&item.target().key.gvk);
        let written = writes(comparison, *wait, *agreed).write(item.target(), &item.decision, schema).await;
        let result = item.settle(Ok(written));
        comparison.events.receive(Event::Written(&item.target().key, &result));
    }

    /// Writes nothing, for a reason that concerns all objects.
    pub fn hold(&mut self, reason: &str) {
        let own = self.items.iter_mut().filter(|item| !item.is_in_other_shard());
        for item in own.filter(|item| item.outcome.is_none()) {
            let result = item.hold(reason);
            self.comparison.events.receive(Event::Revised(&item.target().key, &result));
        }
    }

    /// From now on, waits for each target of a `depends-on` annotation to become ready, for this time at most.
    pub fn wait_for_dependencies(&mut self, timeout: Option<Duration>) {
        self.wait = timeout;
    }

    /// Returns true if there is something to write.
    pub fn has_work(&self) -> bool {
        self.own().any(|item| item.outcome.is_none() && item.is_to_write())
    }

    /// Leaves objects alone unless somebody agreed to their differences.
    pub fn keep_to_consent(&mut self, consent: &dyn Fn(&Target, &Decision) -> Consent) {
        let own = self.items.iter_mut().filter(|item| !item.is_in_other_shard());
        let differs = |item: &&mut Item| !item.diff().is_done() && item.diff().action != Action::Unknown;
        for item in own.filter(differs) {
            let consent = consent(item.target(), &item.decision);
            if let Some(result) = item.keep_to(consent) {
                self.comparison.events.receive(Event::Revised(&item.target().key, &result));
            }
        }
    }

    /// From now on, leaves objects alone whose differences turn out to be others than those that were shown.
    pub fn hold_what_differs_from_what_was_shown(&mut self) {
        self.agreed = true;
    }

    /// Writes what differs.
    pub async fn act(&mut self) {
        let shard_wait = ShardWait::from_now(self.wait, &self.comparison.interrupt);
        let mut start = 0;
        while let Some(wave) = self.items.get(start).map(|item| item.planned.wave) {
            let same = self.items[start..].iter().take_while(|item| item.planned.wave == wave).count();
            let end = start + same;
            self.write(start..end, &shard_wait).await;
            self.build_on(start..end).await;
            start = end;
        }
    }

    /// Writes one wave: objects that do not depend on each other in parallel. Waits for objects that other shards write.
    async fn write(&mut self, wave: Range<usize>, shard_wait: &ShardWait) {
        let Self { comparison, items, wait, agreed } = self;
        let comparison: &Comparison<'_> = comparison;
        let writes = writes(comparison, *wait, *agreed);
        let mut queue = ReadySet::of(|index| &items[index].planned.needs, wave);
        let mut under_way = FuturesUnordered::new();
        // The number of turns that only wait for other shards. They take no place of the others, which may be what those shards wait for.
        let mut looking = 0_usize;
        loop {
            while under_way.len() < comparison.cluster.at_once() + looking
                && let Some(index) = queue.take()
            {
                let item = &mut items[index];
                if item.outcome.is_none() && item.is_in_other_shard() && !item.is_awaited() {
                    item.looked_at(true);
                }
                // `create_namespace` may have written one Namespace already.
                if item.outcome.is_some() {
                    queue.done(index);
                    continue;
                }
                let turn = Turn::of(items, &items[index], comparison, *wait);
                looking += usize::from(turn.is_awaited);
                under_way.push(async move { (index, turn.take(comparison, writes, shard_wait).await) });
            }
            let Some((index, end)) = under_way.next().await else { break };
            match end {
                TurnOutcome::Looked(is_there) => {
                    looking -= 1;
                    items[index].looked_at(is_there);
                }
                TurnOutcome::Tried(result) => {
                    if let Err(Skip::Unready { what, .. }) = &result {
                        let planned = Arc::clone(&items[index].planned);
                        for need in &planned.needs {
                            items[need.on].was_unready |= items[need.on].target().key == *what;
                        }
                    }
                    let was_tried = result.is_ok();
                    let item = &mut items[index];
                    let result = item.settle(result);
                    let event = if was_tried { Event::Written } else { Event::Skipped };
                    comparison.events.receive(event(&item.target().key, &result));
                }
            }
            queue.done(index);
        }
    }

    /// After a wave with Namespaces or definitions: waits for new kinds, reads discovery again, and compares the objects about which the
    /// server could not be asked before.
    async fn build_on(&mut self, wave: Range<usize>) {
        if !self.items[wave.clone()].iter().any(Item::is_new_foundation) {
            return;
        }
        self.learn_kinds(&wave).await;
        let is_open = |item: &Item| {
            let is_to_ask = item.outcome.is_none() && item.is_provisional() && !item.is_in_other_shard();
            is_to_ask && blocked(&self.items, item).is_none()
        };
        let again: Vec<usize> = (wave.end..self.items.len()).filter(|index| is_open(&self.items[*index])).collect();
        let targets: Vec<&Target> = again.iter().map(|index| self.items[*index].target()).collect();
        let decisions = self.comparison.compare(&targets).await;
        for (index, mut decision) in again.into_iter().zip(decisions) {
            let item = &mut self.items[index];
            if self.agreed && !decision.diff.same_difference(item.diff()) {
                decision.diff = ObjectDiff::unknown(item::changed_since_shown());
                decision.warnings.clear();
                decision.rules.clear();
            }
            item.decision = Arc::new(decision);
            self.comparison.events.receive(Event::Compared(item.target(), &item.decision));
        }
    }

    /// Waits until the kinds that a wave just defined are served, and finds the resources of later objects.
    async fn learn_kinds(&mut self, wave: &Range<usize>) {
        let Self { comparison, items, .. } = self;
        let (earlier, later) = items.split_at_mut(wave.end);
        let new = earlier[wave.start..].iter_mut().filter(|item| item.is_new_foundation());
        let new: Vec<&mut Item> = new.filter(|item| item.target().key.gvk.is_crd()).collect();
        let waits = new.iter().map(|item| wait_until_established(comparison.cluster, item.target()));
        let ends: Vec<_> = futures::stream::iter(waits).buffered(IN_FLIGHT).collect().await;
        let mut crds: Vec<Arc<PlanItem>> = Vec::new();
        for (item, end) in new.into_iter().zip(ends) {
            match end {
                Ok(()) => crds.push(Arc::clone(&item.planned)),
                Err(NotEstablished::Held(reason)) => {
                    let kinds = DefinedKinds::in_list(std::iter::once(item.target()));
                    for other in later.iter_mut().filter(|other| kinds.place_of(&other.target().key.gvk).is_some()) {
                        let diagnostic =
                            Diagnostic::new(Code::UnknownKind, format!("its kind is not served: {reason}"));
                        Arc::make_mut(&mut other.planned).target.resource = Err(Box::new(diagnostic));
                    }
                    let key = &item.target().key;
                    comparison.warnings.insert(format!("the kind that {key} defines is not served: {reason}"));
                }
                Err(NotEstablished::Failed(diagnostic)) => {
                    let result = item.fail(diagnostic);
                    if !item.is_in_other_shard() {
                        comparison.events.receive(Event::Revised(&item.target().key, &result));
                    }
                }
            }
        }
        if crds.is_empty() {
            return;
        }
        let kinds = DefinedKinds::in_list(crds.iter().map(|crd| &crd.target));
        let is_defined = |target: &Target| kinds.place_of(&target.key.gvk).is_some();
        let provisional = || later.iter().filter(|item| item.is_provisional()).map(Item::target);
        let awaited: Vec<_> =
            provisional().filter(|target| is_defined(target)).map(|target| target.key.gvk.clone()).collect();
        let discovery = match wait_for_discovery(comparison.cluster, &awaited).await {
            Ok(discovery) => discovery,
            Err(RequestError::Stopped) => return,
            Err(error) => {
                let reason = Diagnostic::from(&error).message;
                comparison.warnings.insert(format!("the kinds of the server could not be read again: {reason}"));
                return;
            }
        };
        comparison.types.forget(&awaited, crds.iter().map(|crd| crd.target.desired.object()));
        for item in later.iter_mut().filter(|item| item.is_provisional()) {
            let target = &mut Arc::make_mut(&mut item.planned).target;
            let before = target.resource.as_deref().ok().map(|resource| resource.namespaced);
            target.resource = match resource_of(&target.key.gvk, &discovery) {
                Ok(now) if before.is_some_and(|before| before != now.namespaced) => Err(Box::new(other_scope(target))),
                now => now.map(Arc::new).map_err(Box::new),
            };
        }
    }
}

/// The diagnostic for an object whose kind has another scope by now, so that the object has another name.
fn other_scope(target: &Target) -> Diagnostic {
    let message =
        format!("its kind has another scope since its definition was replaced: {} was not applied", target.key);
    Diagnostic::new(Code::Conflict, message).with_hint("run again")
}

/// One object's turn, with the state of its dependencies when it begins.
struct Turn {
    planned: Arc<PlanItem>,
    decision: Arc<Decision>,
    /// True if another shard still has to write it.
    is_awaited: bool,
    skip: Option<Skip>,
    /// The dependencies that have to be ready first, with the timeout for each.
    first: Option<(Duration, Vec<Watched>)>,
}

/// The outcome of one object's turn.
enum TurnOutcome {
    /// It was written, or skipped for a reason.
    Tried(Result<Option<Written>, Skip>),
    /// It belongs to another shard; true if that shard has written it by now.
    Looked(bool),
}

impl Turn {
    fn of(items: &[Item], item: &Item, comparison: &Comparison<'_>, wait: Option<Duration>) -> Self {
        let timeout = wait.filter(|_| item.is_change());
        Self {
            planned: Arc::clone(&item.planned),
            decision: Arc::clone(&item.decision),
            is_awaited: item.is_awaited(),
            skip: item::skipped(items, item, comparison.interrupt.is_set()),
            first: timeout.map(|timeout| (timeout, item::explicit(items, item, &comparison.readiness))),
        }
    }

    async fn take(self, comparison: &Comparison<'_>, writes: Writes<'_>, shard_wait: &ShardWait) -> TurnOutcome {
        let target = &self.planned.target;
        if self.is_awaited {
            return TurnOutcome::Looked(is_there(comparison, target, shard_wait).await);
        }
        let skip = match (self.skip, self.first) {
            (None, Some((timeout, first))) => {
                item::unready(comparison.cluster, &first, timeout, &comparison.interrupt).await
            }
            (skip, _) => skip,
        };
        TurnOutcome::Tried(match skip {
            Some(skip) => Err(skip),
            None => Ok(writes.write(target, &self.decision, comparison.types.of(&target.key.gvk)).await),
        })
    }
}

/// Waits until another shard has written an object. A definition must match its manifest; any other object only has to exist.
async fn is_there(comparison: &Comparison<'_>, target: &Target, shard_wait: &ShardWait) -> bool {
    if target.key.gvk.is_crd() {
        return shard_wait.until(comparison.cluster, || comparison.is_settled(target)).await;
    }
    shard_wait.exists(comparison.cluster, target).await
}

/// The options for writes of this run. A deletion for a replacement may take [`DEFAULT_DELETE_TIMEOUT`] even if `wait` is shorter, so
/// that no replacement is left half done.
fn writes<'a>(comparison: &'a Comparison<'_>, wait: Option<Duration>, agreed: bool) -> Writes<'a> {
    let Comparison { cluster, policy, redactor, interrupt, .. } = comparison;
    let deletion = wait.unwrap_or_default().max(DEFAULT_DELETE_TIMEOUT);
    Writes { cluster, policy, redactor, deletion, agreed, replacements: interrupt.replacements() }
}
