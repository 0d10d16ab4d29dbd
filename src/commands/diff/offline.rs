//! `diff --live`: compares with the objects of a file instead of a cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use reconcile_core::compare::{
    ChangingKinds, CompareContext, Decision, Patterns, Policy, Redactor, holds_redacted, leave_out_nulls, offline,
};
use reconcile_core::live::resolve::Namespaces;
use reconcile_core::live::snapshot::Snapshot;
use reconcile_core::live::{LiveState, Target};
use reconcile_core::plan::Plan;
use reconcile_report::{Command, Failure, RenamingsElsewhere, Report};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Diff, DiffArgs, gate, shard_to_compare};
use crate::engine::comparison::LiveSource;
use crate::engine::event::{Event, EventSink as _};
use crate::engine::item::warn_of_skips;
use crate::engine::membership::Memberships;
use crate::live::definitions::Definitions;
use crate::live::types::Types;
use crate::output::Output;
use crate::output::events::Events;
use crate::run::audit_log::usual_plural_names;
use crate::run::base::Base;
use crate::run::former::referred_elsewhere;
use crate::run::reading::Reading;
use crate::run::reading::captured::Captured;
use crate::run::setup::{Resolved, autoscalers, resolved};

impl Diff<'_> {
    /// Compares the input with the objects of a file.
    pub(super) async fn without_cluster(
        &self,
        file: &str,
        base: Option<&Base>,
        output: &Output,
    ) -> Result<Report, Failure> {
        let DiffArgs { input, shard, compare, connection, .. } = self.args;
        let shard = shard.shard;
        let known = self.known(None, base)?;
        let desired = Reading::begin(input, &output.terminal).await?.desired().await?;
        let Captured { snapshot, discovery, mut defined, namespaces, .. } = Captured::read(file, connection)?;
        let hooks = desired.hooks_left_out();
        let expect = &self.settings.configuration.expect;
        let Resolved { targets, rest } = resolved(desired, discovery.clone(), &namespaces, None, expect, base)?;
        let plan = Plan::of(targets)?;
        let mut policy = self.policy.clone();
        if let Some(source) = autoscalers(compare, &discovery, &plan) {
            let known = Arc::make_mut(&mut policy.autoscalers);
            for autoscaler in source.captured(snapshot.objects()) {
                known.add(autoscaler);
            }
        }
        let mut plan = shard_to_compare(plan, shard);
        for definition in plan.targets().filter_map(definition) {
            defined.learn_defined(definition);
        }
        let plurals = usual_plural_names(plan.targets(), &defined);
        let kinds = plan.targets().map(|target| &target.key.gvk);
        let types = Types::defined(kinds, snapshot.definitions().chain(plan.targets().filter_map(definition)));
        let parents = Memberships::among(snapshot.objects(), &discovery, &namespaces.default);
        let redactor = Redactor::default();
        let warnings = BTreeSet::new();
        let mut source = SnapshotSource {
            snapshot: &snapshot,
            types,
            policy,
            patterns: Arc::default(),
            redactor,
            parents,
            warnings,
        };
        let decisions = source.decide(&mut plan).await;
        let events = Events::new(output, false).with_flags(compare).beside(known);
        let own = || plan.targets().zip(&decisions).filter(|(target, _)| target.other_shard().is_none());
        for (target, decision) in own() {
            events.receive(Event::Compared(target, decision));
        }
        if source.policy.only.is_some() {
            let compared = plan.items.iter().zip(&decisions);
            let compared = compared.map(|(planned, decision)| (Arc::clone(planned), Arc::new(decision.clone())));
            warn_of_skips(compared, &events);
        }
        let targets = own().map(|(target, _)| target);
        let others = plan.targets().filter(|target| target.other_shard().is_some());
        let others: Vec<&Target> = others.chain(plan.in_other_shards.iter().map(|item| &item.target)).collect();
        let referred = referred_elsewhere(&source, &events.builder.created(), &others).await;
        let elsewhere = RenamingsElsewhere { referred, ..RenamingsElsewhere::default() };
        let builder = &events.builder;
        rest.report_formers(&source, &source.policy, &source.redactor, targets, elsewhere, builder).await;
        rest.report_dropped(&source, shard, &events.builder).await;
        let mut report = events.builder.report_without_pass(Command::Diff, &gate(self.args));
        report.summary.hooks = hooks;
        report.warnings.extend(source.warnings);
        report.warnings.extend(missed_namespace(&snapshot, &namespaces, &plan));
        if let Some(base) = base {
            report = base.named_in(report);
        }
        self.name_users(&mut report, &plurals, &CancellationToken::new()).await;
        Ok(report)
    }
}

/// A warning if the objects of a file that does not say which namespace was the default one are in another namespace than these.
fn missed_namespace(snapshot: &Snapshot, namespaces: &Namespaces, plan: &Plan) -> Option<String> {
    if namespaces.required.is_some() || snapshot.namespace().is_some() {
        return None;
    }
    let Namespaces { default, .. } = namespaces;
    let keys: Vec<_> = plan.targets().map(|target| &target.key).collect();
    let instead = snapshot.namespace_instead_of(default, &keys)?;
    Some(format!(
        "the file of `--live` has objects with these names in the namespace `{instead}` and none in `{default}`: if they are meant, add `-n {instead}`"
    ))
}

/// The object of a target, if it is a CustomResourceDefinition.
fn definition(target: &Target) -> Option<&Value> {
    target.key.gvk.is_crd().then(|| target.desired.object())
}

/// A snapshot, with which manifests are compared without a server.
struct SnapshotSource<'a> {
    snapshot: &'a Snapshot,
    /// The types of what is compared with it.
    types: Types,
    policy: Policy,
    /// The patterns of the definitions.
    patterns: Arc<Patterns>,
    redactor: Redactor,
    /// The parents of apply sets in the snapshot.
    parents: Memberships,
    /// Warnings about the run as a whole.
    warnings: BTreeSet<String>,
}

impl LiveSource for SnapshotSource<'_> {
    async fn leave_out_nulls(&mut self, plan: &mut Plan) {
        leave_out_nulls(&mut plan.targets_mut().collect::<Vec<_>>(), |gvk| self.types.of(gvk));
    }

    async fn compare(&mut self, targets: &[&Target]) -> Vec<Decision> {
        let wanted = targets.iter().filter_map(|target| definition(target));
        let definitions = Definitions::of(self.snapshot.definitions().chain(wanted));
        let mut changing = ChangingKinds::matching(&self.patterns);
        let decisions = targets.iter().copied().map(|target| {
            let gvk = &target.key.gvk;
            let state = self.snapshot.state(&target.key);
            let is_present = matches!(state, LiveState::Present(_));
            let coming_type = changing.coming_type(gvk);
            let context =
                CompareContext { coming_type, ..CompareContext::new(target, self.types.of(gvk), &self.policy) };
            let mut decision = offline(context, state, definitions.get(gvk), &self.patterns, &self.redactor);
            if is_present && self.types.is_untyped(gvk) {
                decision.warnings.push(format!(
                    "compared without its type, because the snapshot has no CustomResourceDefinition of {}: each list is compared as a whole",
                    gvk.kind
                ));
            }
            // Without a definition in the snapshot, the type of a kind is that of the input already.
            if is_present {
                let after = decision.prediction().map(|after| &after.object);
                changing.add_compared(target, &decision.diff, decision.live(), after);
            }
            decision
        });
        decisions.collect()
    }

    async fn name_others(&mut self, targets: &[&Target], decisions: &mut [Decision]) {
        self.warnings.extend(self.parents.name_in(targets, decisions));
    }

    async fn compare_alone(&self, target: &Target, policy: &Policy) -> Option<(Value, Decision)> {
        let LiveState::Present(live) = self.snapshot.state(&target.key) else { return None };
        if holds_redacted(&live) {
            return None;
        }
        let context = CompareContext::new(target, self.types.of(&target.key.gvk), policy);
        let decision = offline(context, LiveState::Present(live.clone()), None, &self.patterns, &self.redactor);
        Some((live, decision))
    }

    async fn states(&self, targets: &[&Target]) -> Vec<LiveState> {
        targets.iter().map(|target| self.snapshot.state(&target.key)).collect()
    }
}
