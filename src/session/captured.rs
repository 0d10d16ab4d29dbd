//! `diff --live FILE`: a comparison with captured objects, without a cluster.

use std::sync::Arc;

use reconcile_report::{Command, KnownDifferences, Report};
use serde_json::Value;

use crate::cli::DiffArgs;
use crate::client::namespace_flag;
use crate::desired::files::Inputs;
use crate::engine::event::{Event, EventSink as _};
use crate::engine::membership::Memberships;
use crate::live::types::Types;
use crate::session::audit_log::{PluralNames, usual_plural_names};
use crate::session::configured::Settings;
use crate::session::diff_flags::gate;
use crate::session::events::Events;
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::Reading;
use crate::session::setup::{autoscalers, resolved};
use reconcile_core::compare::{CompareContext, Policy, Redactor, leave_out_nulls, offline};
use reconcile_core::live::{Discovery, LiveState, resolve::Namespaces, snapshot::Snapshot};
use reconcile_core::plan::Plan;

/// Compares the input with the objects of a file. Also returns the plural names of its resources, as far as they are known.
pub(crate) async fn without_cluster(
    args: &DiffArgs,
    file: &str,
    policy: &Policy,
    settings: &Settings,
    known: Option<KnownDifferences>,
    output: &Output,
) -> Result<(Report, PluralNames), Failure> {
    let desired = Reading::begin(&args.input, &output.terminal).await?.desired().await?;
    let mut captured = Inputs::default();
    captured.path(file.as_ref(), false);
    let snapshot = Snapshot::read(&captured.finish()?)?;
    let required = namespace_flag(args.connection.namespace.as_deref()).map_err(Failure::invalid)?;
    let default = required.as_deref().or(snapshot.namespace()).unwrap_or("default").to_owned();
    let (mut discovery, mut defined) = (Discovery::builtin(), Discovery::default());
    snapshot.definitions().for_each(|definition| defined.learn_defined(definition));
    snapshot.definitions().for_each(|definition| discovery.learn_defined(definition));
    snapshot.objects().for_each(|object| discovery.learn(object));
    let hooks = desired.hooks_left_out();
    let (namespaces, expect) = (Namespaces { required, default }, &settings.configuration.expect);
    let plan = Plan::of(resolved(desired, discovery.clone(), &namespaces, None, expect)?)?;
    let mut policy = policy.clone();
    if let Some(source) = autoscalers(&args.compare, &discovery, &plan) {
        let known = Arc::make_mut(&mut policy.autoscalers);
        for autoscaler in source.captured(snapshot.objects()) {
            known.add(autoscaler);
        }
    }
    let mut plan = plan.shard(args.shard.shard, |_| false);
    let kinds = plan.targets().map(|target| &target.key.gvk);
    let definitions = plan.targets().filter(|target| target.key.gvk.is_crd());
    let wanted: Vec<&Value> = definitions.map(|target| target.desired.object()).collect();
    let types = Types::defined(kinds, snapshot.definitions().chain(wanted.iter().copied()));
    for definition in wanted {
        defined.learn_defined(definition);
    }
    let plurals = usual_plural_names(plan.targets(), &defined);
    leave_out_nulls(&mut plan.targets_mut().collect::<Vec<_>>(), |gvk| types.of(gvk));
    let redactor = Redactor::default();
    let events = Events::new(output, false).beside(known);
    let parents = Memberships::among(snapshot.objects(), &discovery, &namespaces.default);
    let mut memberships = Vec::new();
    for target in plan.targets() {
        let (state, gvk) = (snapshot.state(&target.key), &target.key.gvk);
        let is_present = matches!(state, LiveState::Present(_));
        let context = CompareContext { schema: types.of(gvk), policy: &policy, types_will_change: false };
        let mut decision = offline(target, state, context, &redactor);
        if is_present && types.is_untyped(gvk) {
            let kind = &gvk.kind;
            decision.warnings.push(format!(
                "compared without its type, because the snapshot has no CustomResourceDefinition of {kind}: each list is compared as a whole"
            ));
        }
        parents.name_in(&mut decision);
        events.receive(Event::Compared(target, &decision));
        memberships.extend(decision.membership);
    }
    let mut report = events.builder.report_without_pass(Command::Diff, &gate(args)).with_hooks(hooks);
    report.warnings.extend(parents.warnings(&memberships));
    Ok((report, plurals))
}
