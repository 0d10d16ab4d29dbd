//! `apply`: read desired, read current, compare, show, act wave by wave, report.

use reconcile_report::formats::text::{self, explained, outcomes, readiness, summary};
use reconcile_report::{Command, FailOn, ObjectReport, Report, View};

use crate::cli::ApplyArgs;
use crate::engine::prune::{Planned, Requested};
use crate::engine::reconciliation::Reconciliation;
use crate::live::early::EarlySubject;
use crate::session::apply_set::requested;
use crate::session::configured::{Configured, Settings};
use crate::session::context_command::ContextCommand;
use crate::session::events::Events;
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::plan_file::{PlanToFollow, digests, flags};
use crate::session::run::{Invocation, Run};
use crate::session::setup::{early_reads, writing_policy};
use crate::session::stored::refuse_stored;
use crate::terminal::Closed;
use reconcile_core::compare::Policy;
use reconcile_core::manifest::DesiredSet;
use reconcile_core::plan::DependencyKind;

struct Apply<'a> {
    args: &'a ApplyArgs,
    settings: &'a Settings,
    policy: Policy,
    set: Option<Requested>,
    to_follow: Option<PlanToFollow>,
}

/// Runs the command to its exit code.
pub(super) async fn run(args: &ApplyArgs, configured: Configured) -> Result<u8, Failure> {
    let output = Output::new(&args.output)?.of_shard(args.shard).identifying_cluster(args.plan.is_some());
    let result = apply(args, configured, &output).await;
    Ok(result.unwrap_or_else(|failure| output.failed(Command::Apply, failure)))
}

async fn apply(args: &ApplyArgs, configured: Configured, output: &Output) -> Result<u8, Failure> {
    refuse_stored(&args.input, "apply")?;
    let settings = &Settings::of(configured?, output);
    let policy = Policy { keeps_versions: output.shows_versions(), ..writing_policy(args, settings)? };
    let set = requested(&args.prune, &args.input, args.shard.shard)?;
    if !args.compare.no_expect_applyset {
        settings.configuration.expect.allows_apply_set(&args.prune).map_err(Failure::invalid)?;
    }
    let invocation = Invocation { connection: &args.connection, input: &args.input, output, settings };
    let to_follow = args.plan.as_deref().map(|path| PlanToFollow::read(path, &args.connection)).transpose()?;
    invocation.in_contexts(&Apply { args, settings, policy, set, to_follow }).await
}

impl ContextCommand for Apply<'_> {
    const NAME: Command = Command::Apply;

    fn early_reads(&self) -> Vec<EarlySubject> {
        early_reads(&self.args.compare, self.args.shard, [])
    }

    async fn pass(&self, run: &Run<'_>, desired: DesiredSet) -> Result<Report, Failure> {
        let Self { args, policy, set, .. } = self;
        let Run { server, output, .. } = run;
        output.name_cluster(&run.info);
        let (gate, wait) = (FailOn::default(), args.wait.duration());
        let events = Events::new(output, wait.is_some_and(|timeout| !timeout.is_zero()));
        let apply_set = Planned::prepare(set.as_ref(), &policy.adopt, server, &desired).await?;
        let plan = run.plan_with(&args.compare, desired, apply_set.as_ref().map(Planned::set)).await?;
        if let Some(to_follow) = &self.to_follow {
            to_follow.check(&run.info, &flags(&args.compare, &args.prune, args.shard), &digests(plan.targets()))?;
        }
        let comparison = run.comparison(&args.compare, policy, &plan, &events);
        // Objects of this shard still come after the objects of other shards that they need.
        let plan = plan.shard(args.shard.shard, |need| need >= DependencyKind::Existence);
        let mut pass = Box::pin(Reconciliation::compare(comparison, plan, apply_set)).await;
        output.details(pass.unproven());
        if let Some(PlanToFollow { plan, .. }) = &self.to_follow {
            pass.keep_to_plan(&|target, decision| plan.has(&ObjectReport::new(target, decision)), &|key, verdict| {
                plan.has(&ObjectReport::unwanted(key, verdict.clone()))
            });
        }

        let would_be = events.builder.report(Command::Diff, &gate, &pass);
        // A reader that went away changes nothing about the pass.
        let _ = output.text(&text::differences(&would_be, &output.view));
        if !(args.confirm && pass.has_work()) {
            run.asks_nothing();
        } else if !run.confirmed(&would_be).await {
            return Ok(Report { command: Command::Apply, ..would_be });
        }
        if args.confirm {
            pass.hold_what_differs_from_what_was_shown();
        }
        drop(would_be);

        pass.act(wait).await;
        if let Some(timeout) = wait {
            pass.wait(timeout).await;
        }
        let report = events.builder.last_report(Command::Apply, &gate, &pass);
        pass.end();
        Ok(report)
    }

    fn show(&self, report: &Report, output: &Output) -> Result<(), Closed> {
        output.warn(report);
        if self.args.compare.explain_ignores {
            output.text(&explained(report, &self.settings.ignore, &output.view))?;
        }
        if !output.view.summary {
            output.text(&outcomes::left(report, &output.view))?;
            output.text(&readiness::left(report))?;
        }
        // The first line named the cluster.
        output.text(&summary::summary(report, &View { is_headed: true, ..output.view.clone() }))
    }
}
