//! The objects that a run reports without a manifest of their own: those that only the base has, and the former objects of new ones with a
//! hash of their content in the name, which the apply set deletes, to which live workloads refer, or which only the base has. These are
//! compared with the manifests of the new ones, so that both are shown as one object, with what changed on which side.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use reconcile_core::compare::{Action, Decision, Policy};
use reconcile_core::live::{LiveState, Target};
use reconcile_core::manifest::BaseObject;
use reconcile_core::object::Shard;
use reconcile_core::object::generated::Generated;
use reconcile_report::{DroppedObject, FormerObject, ObjectReport, Renaming, renamings};
use serde_json::Value;
use structured_merge::ObjectKey;

use crate::client::IN_FLIGHT;
use crate::engine::comparison::Comparison;
use crate::engine::reconciliation::Reconciliation;
use crate::live::fetch::{fetch, get};
use crate::output::report_builder::ReportBuilder;
use crate::run::invocation::{RestOfBase, Run};

/// Maximum number of objects that are read.
const MOST: usize = 200;

/// A former object with the manifest of the new one.
pub(crate) struct Former<'t> {
    /// The new object.
    pub new: &'t Target,
    /// The same manifest under the name of the former object, with what that had in the base.
    pub target: Target,
}

/// The former objects of these targets.
pub(crate) fn formers<'t>(
    renamings: Vec<Renaming>,
    targets: impl Iterator<Item = &'t Target>,
    dropped: &[Target],
) -> Vec<Former<'t>> {
    if renamings.is_empty() {
        return Vec::new();
    }
    let targets: BTreeMap<&ObjectKey, &Target> = targets.map(|target| (&target.key, target)).collect();
    let former = |Renaming { new, former }: Renaming| {
        let new = *targets.get(&new)?;
        let target = new.under_name(&former.name);
        if let Some(dropped) = dropped.iter().find(|dropped| dropped.key == former) {
            let _ = target.base.set(BaseObject::Differs(dropped.desired.to_tree().into()));
        }
        Some(Former { new, target })
    };
    renamings.into_iter().filter_map(former).take(MOST).collect()
}

/// The policy by which former objects are compared. The new object is created as a whole: no difference is left, and what others added to
/// the former one is not in it.
pub(crate) fn policy_of_formers(policy: &Policy) -> Policy {
    Policy { only: None, show_unmanaged: true, ..policy.clone() }
}

impl Run<'_> {
    /// Reads what no manifest of the run describes, and gives it to its report: the former objects of new ones, and the objects that are in
    /// the base, no longer in the manifests, and still in the cluster.
    pub async fn read_rest(&self, builder: &ReportBuilder, pass: &mut Reconciliation<'_>, shard: Option<Shard>) {
        self.read_formers(builder, pass).await;
        let RestOfBase { mut dropped, unchanged } = self.rest_of_base.take();
        dropped.retain(|target| target.resource.is_ok() && shard.is_none_or(|shard| shard.has(&target.key)));
        let targets: Vec<&Target> = dropped.iter().collect();
        let states = if self.interrupt.is_set() { Vec::new() } else { fetch(&self.server.cluster, &targets).await };
        let live = targets.iter().zip(states).filter(|(_, state)| matches!(state, LiveState::Present(_)));
        let live = live.map(|(target, _)| DroppedObject::new(&target.key, target.desired.origin.source.clone()));
        builder.know_rest_of_base(live.collect(), unchanged);
    }

    /// Compares the former objects, and gives them to the report of the run. What cannot be read is left out: both are shown on their own.
    /// An object is left if its creation would lose a difference of the former one that `--only` leaves.
    pub async fn read_formers(&self, builder: &ReportBuilder, pass: &mut Reconciliation<'_>) {
        let compared = self.report_formers(builder, pass).await;
        let chosen = pass.comparison().policy.only.as_ref();
        let loses = |(_, decision): &&(&Target, Decision)| {
            chosen.is_some_and(|chosen| !chosen.has_all_of_former(decision.verdict.changes()))
        };
        let left: Vec<ObjectKey> = compared.iter().filter(loses).map(|(new, _)| new.key.clone()).collect();
        pass.leave_renamed(&left);
    }

    /// Compares the former objects as the report of the run shows them, and gives them to it. Returns the decisions about them, each with
    /// the new object.
    pub async fn report_formers<'t>(
        &self,
        builder: &ReportBuilder,
        pass: &'t Reconciliation<'_>,
    ) -> Vec<(&'t Target, Decision)> {
        let comparison = pass.comparison();
        let found = self.formers(pass, |dropped| builder.renamings(dropped));
        let policy = policy_of_formers(&comparison.policy);
        let compared = self.compare_formers(&found, comparison, &policy).await;
        let mut objects = Vec::new();
        let mut decisions = Vec::new();
        for (former, live, decision) in compared {
            objects.push(FormerObject::new(&former.target, live, &decision, &comparison.redactor));
            decisions.push((former.new, decision));
        }
        builder.know_formers(objects);
        decisions
    }

    /// Compares the objects that are missing under their new names with the former ones. Returns those that could be compared, each with the
    /// decision about the former object.
    pub async fn decide_about_formers<'t>(&self, pass: &'t Reconciliation<'_>) -> Vec<(&'t Target, Decision)> {
        // Of what is in sync, only another object of the same stem counts.
        let counts = |(target, decision): &(&Target, &Decision)| {
            decision.verdict.action() != Action::None || Generated::of(&target.key).is_some()
        };
        let objects = pass.decided().filter(counts).map(|(target, decision)| ObjectReport::new(target, decision));
        let objects: Vec<ObjectReport> = objects.collect();
        let found = self.formers(pass, |dropped| renamings(&objects, dropped));
        let comparison = pass.comparison();
        let compared = self.compare_formers(&found, comparison, &comparison.policy).await;
        let known = compared.into_iter().filter(|(_, _, decision)| decision.verdict.action() != Action::Unknown);
        known.map(|(former, _, decision)| (former.new, decision)).collect()
    }

    /// The former objects of what a pass has compared; `renamings` gets the objects that only the base has.
    fn formers<'t>(
        &self,
        pass: &'t Reconciliation<'_>,
        renamings: impl FnOnce(&[ObjectKey]) -> Vec<Renaming>,
    ) -> Vec<Former<'t>> {
        self.with_dropped(|dropped| {
            let keys: Vec<ObjectKey> = dropped.iter().map(|target| target.key.clone()).collect();
            formers(renamings(&keys), pass.decided().map(|(target, _)| target), dropped)
        })
    }

    async fn compare_formers<'f, 't>(
        &self,
        formers: &'f [Former<'t>],
        comparison: &Comparison<'_>,
        policy: &Policy,
    ) -> Vec<(&'f Former<'t>, Value, Decision)> {
        if self.interrupt.is_set() {
            return Vec::new();
        }
        let compare = async |former: &'f Former<'t>| {
            let resource = former.target.resource.as_deref().ok()?;
            let LiveState::Present(live) = get(&self.server.cluster, &former.target, resource).await else {
                return None;
            };
            let state = LiveState::Present(live.clone());
            Some((former, live, comparison.decide_one(&former.target, state, policy).await))
        };
        let found: Vec<_> = futures::stream::iter(formers.iter().map(compare)).buffered(IN_FLIGHT).collect().await;
        found.into_iter().flatten().collect()
    }
}
