//! The objects that a run reports without a manifest of their own: those that only the base has, and the former objects of new ones with a
//! hash of their content in the name, which the apply set deletes, to which live workloads refer, or which only the base has. These are
//! compared with the manifests of the new ones, so that both are shown as one object, with what changed on which side.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use futures::StreamExt as _;
use reconcile_core::compare::{Action, Decision, Ignored, Policy, Redactor};
use reconcile_core::live::{LiveState, Target};
use reconcile_core::manifest::BaseObject;
use reconcile_core::object::Shard;
use reconcile_core::object::generated::{Generated, generated_names, names_in_place_of_others};
use reconcile_report::{DroppedObject, FormerObject, ObjectReport, Renaming, RenamingsElsewhere, renamings};
use serde_json::Value;
use structured_merge::ObjectKey;

use crate::client::IN_FLIGHT;
use crate::engine::comparison::{Comparison, LiveSource};
use crate::engine::reconciliation::Reconciliation;
use crate::output::report_builder::ReportBuilder;
use crate::run::invocation::Run;
use crate::run::setup::RestOfBase;

/// Maximum number of objects that are read.
const MOST: usize = 200;

/// A former object with the manifest of the new one.
struct Former<'t> {
    /// The new object.
    new: &'t Target,
    /// The same manifest under the name of the former object, with what that had in the base.
    target: Target,
}

impl RestOfBase {
    /// Compares the former objects of these targets as the report shows them, and gives them to it. Returns the decisions about them, each
    /// with the new object.
    pub async fn report_formers<'t>(
        &self,
        source: &impl LiveSource,
        policy: &Policy,
        redactor: &Redactor,
        targets: impl Iterator<Item = &'t Target>,
        elsewhere: RenamingsElsewhere,
        builder: &ReportBuilder,
    ) -> Vec<(&'t Target, Decision)> {
        let formers = self.formers(targets, |dropped| builder.renamings(dropped, elsewhere));
        // The new object is created as a whole: no difference is left, and what others added to the former one, or what a rule ignores
        // there, is not in it.
        let policy = Policy { only: None, show_unmanaged: true, ignored: Ignored::Compare, ..policy.clone() };
        let mut objects = Vec::new();
        let mut decisions = Vec::new();
        for (former, live, decision) in compare(source, &policy, formers).await {
            objects.push(FormerObject::new(&former.target, live, &decision, redactor));
            decisions.push((former.new, decision));
        }
        builder.know_formers(objects);
        decisions
    }

    /// Gives the report the objects of a shard that are in the base, no longer in the manifests, and still live.
    pub async fn report_dropped(&self, source: &impl LiveSource, shard: Option<Shard>, builder: &ReportBuilder) {
        let is_own = |target: &&Target| shard.is_none_or(|shard| shard.has(&target.key));
        let targets: Vec<&Target> = self.dropped.iter().filter(is_own).collect();
        let states = source.states(&targets).await;
        let live = targets.iter().zip(states).filter(|(_, state)| matches!(state, LiveState::Present(_)));
        let live = live.map(|(target, _)| DroppedObject::new(&target.key, target.desired.origin.source.clone()));
        builder.know_rest_of_base(live.collect(), self.unchanged);
    }

    /// The former objects of these targets. `renamings` gets the objects that only the base has.
    fn formers<'t>(
        &self,
        targets: impl Iterator<Item = &'t Target>,
        renamings: impl FnOnce(&[ObjectKey]) -> Vec<Renaming>,
    ) -> Vec<Former<'t>> {
        let dropped: Vec<ObjectKey> = self.dropped.iter().map(|target| target.key.clone()).collect();
        let renamings = renamings(&dropped);
        if renamings.is_empty() {
            return Vec::new();
        }
        let targets: BTreeMap<&ObjectKey, &Target> = targets.map(|target| (&target.key, target)).collect();
        let former = |Renaming { new, former }: Renaming| {
            let new = *targets.get(&new)?;
            let target = new.under_name(&former.name);
            if let Some(dropped) = self.dropped.iter().find(|dropped| dropped.key == former) {
                let _ = target.base.set(BaseObject::Differs(dropped.desired.to_tree().into()));
            } else if new.is_same_in_base() {
                // The base has the new one as well: nothing about it is a change of the manifests.
                let _ = target.base.set(BaseObject::Same);
            }
            Some(Former { new, target })
        };
        renamings.into_iter().filter_map(former).take(MOST).collect()
    }
}

/// The objects to which live objects of other shards refer where their manifests refer to these new ones.
pub(crate) async fn referred_elsewhere(
    source: &impl LiveSource,
    new: &BTreeSet<ObjectKey>,
    others: &[&Target],
) -> Vec<Renaming> {
    let mut named: BTreeMap<(Option<&str>, &str), Vec<&ObjectKey>> = BTreeMap::new();
    for key in new {
        named.entry((key.namespace.as_deref(), &key.name)).or_default().push(key);
    }
    let refers = |target: &&&Target| {
        let namespace = target.key.namespace.as_deref();
        let is_new = |name: &str| named.contains_key(&(namespace, name));
        target.desired.with_object(|object| generated_names([object]).into_iter().any(is_new))
    };
    let referring: Vec<&Target> = others.iter().filter(|_| !named.is_empty()).filter(refers).copied().collect();
    if referring.is_empty() {
        return Vec::new();
    }
    let known: BTreeSet<&ObjectKey> = others.iter().map(|other| &other.key).collect();
    let mut found = Vec::new();
    for (target, state) in referring.iter().zip(source.states(&referring).await) {
        let LiveState::Present(Value::Object(live)) = state else { continue };
        let namespace = target.key.namespace.as_deref();
        target.desired.with_object(|manifest| {
            let live = live.iter().filter(|(field, _)| *field != "status").map(|(_, value)| value);
            for (name, formers) in names_in_place_of_others(live, [manifest]) {
                for new in named.get(&(namespace, name)).into_iter().flatten() {
                    let formers = formers.iter().map(|name| ObjectKey { name: (*name).to_owned(), ..(*new).clone() });
                    let formers = formers.filter(|former| !known.contains(former));
                    found.extend(formers.map(|former| Renaming { new: (*new).clone(), former }));
                }
            }
        });
    }
    found
}

/// Compares former objects. Those that cannot be read are left out.
async fn compare<'t>(
    source: &impl LiveSource,
    policy: &Policy,
    formers: Vec<Former<'t>>,
) -> Vec<(Former<'t>, Value, Decision)> {
    let compare = async |former: Former<'t>| {
        let (live, decision) = source.compare_alone(&former.target, policy).await?;
        Some((former, live, decision))
    };
    let found: Vec<_> = futures::stream::iter(formers.into_iter().map(compare)).buffered(IN_FLIGHT).collect().await;
    found.into_iter().flatten().collect()
}

impl Run<'_> {
    /// The parts of the base that are not compared. Those of releases are known only once the objects that name them were read.
    fn rest_of_base(&self, comparison: &Comparison<'_>) -> RestOfBase {
        let dropped = match self.base {
            Some(base) if base.is_of_releases() => {
                comparison.only_in_base.iter().filter(|target| base.selects(target)).cloned().collect()
            }
            _ => Rc::clone(&comparison.only_in_base),
        };
        RestOfBase { dropped, unchanged: self.rest_of_base.borrow().unchanged }
    }

    /// Reads what no manifest of the run describes, and gives it to its report: the former objects of new ones, and the objects that are in
    /// the base, no longer in the manifests, and still in the cluster. What cannot be read is left out: both are shown on their own. An
    /// object is left if its creation would lose a difference of the former one that `--only` leaves.
    pub async fn read_rest(&self, builder: &ReportBuilder, pass: &mut Reconciliation<'_>, shard: Option<Shard>) {
        let formers = self.report_formers(builder, pass).await;
        let chosen = pass.comparison().policy.only.as_ref();
        let loses = |(_, decision): &&(&Target, Decision)| {
            chosen.is_some_and(|chosen| !chosen.has_all_of_former(&decision.diff.changes))
        };
        let left: Vec<ObjectKey> = formers.iter().filter(loses).map(|(new, _)| new.key.clone()).collect();
        pass.leave_renamed(&left);
        let comparison = pass.comparison();
        self.rest_of_base(comparison).report_dropped(comparison, shard, builder).await;
    }

    /// Compares the former objects as the report of the run shows them, and gives them to it. Returns the decisions about them, each with
    /// the new object.
    pub async fn report_formers<'t>(
        &self,
        builder: &ReportBuilder,
        pass: &'t Reconciliation<'_>,
    ) -> Vec<(&'t Target, Decision)> {
        let comparison = pass.comparison();
        let targets = pass.decided().map(|(target, _)| target);
        let rest = self.rest_of_base(comparison);
        let mut elsewhere = RenamingsElsewhere::default();
        let new = builder.created();
        if !new.is_empty() {
            let deleted = pass.deleted_elsewhere(&new).await;
            elsewhere.deleted = deleted.into_iter().map(|(new, former)| Renaming { new, former }).collect();
            elsewhere.referred = referred_elsewhere(comparison, &new, &pass.elsewhere()).await;
        }
        rest.report_formers(comparison, &comparison.policy, &comparison.redactor, targets, elsewhere, builder).await
    }

    /// Compares the objects that are missing under their new names with the former ones. Returns those that could be compared, each with the
    /// decision about the former object.
    pub async fn decide_about_formers<'t>(&self, pass: &'t Reconciliation<'_>) -> Vec<(&'t Target, Decision)> {
        // Of what is in sync, only another object of the same stem counts.
        let counts = |(target, decision): &(&Target, &Decision)| {
            decision.diff.action != Action::None || Generated::of(&target.key).is_some()
        };
        let objects = pass.decided().filter(counts).map(|(target, decision)| ObjectReport::new(target, decision));
        let objects: Vec<ObjectReport> = objects.collect();
        let targets = pass.decided().map(|(target, _)| target);
        let comparison = pass.comparison();
        let formers = self
            .rest_of_base(comparison)
            .formers(targets, |dropped| renamings(&objects, dropped, RenamingsElsewhere::default()));
        let compared = compare(comparison, &comparison.policy, formers).await;
        let known = compared.into_iter().filter(|(_, _, decision)| decision.diff.action != Action::Unknown);
        known.map(|(former, _, decision)| (former.new, decision)).collect()
    }
}
