//! `apply`: read desired, read current, compare, show, act wave by wave, report.

use std::sync::Arc;

use crate::cli::ApplyArgs;
use crate::compare::Policy;
use crate::engine::comparison::Comparison;
use crate::engine::prune::{Planned, Requested};
use crate::engine::reconciliation::Reconciliation;
use crate::plan::DependencyKind;
use crate::report::formats::text::{self, explained, outcomes, readiness, summary};
use crate::report::{Command, FailOn, Report};
use crate::rules::ReadinessRules;
use crate::session::apply_set::requested;
use crate::session::configured::{Configured, Settings};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::Manifests;
use crate::session::report_builder::ReportBuilder;
use crate::session::screen::Screen;
use crate::session::setup::{Connected, autoscalers, concluded, connected, planned, writing_policy};
use crate::session::site::Site;
use crate::session::task::Task;
use crate::terminal::Closed;

/// Runs the command to its exit code.
pub(super) async fn run(args: ApplyArgs, configured: Configured) -> u8 {
    let output = match Output::new(&args.output) {
        Ok(output) => output.of_part(args.shard),
        Err(code) => return code,
    };
    match prepared(&args, configured, &output) {
        Ok((settings, policy, set)) => {
            let ApplyArgs { connection, input, .. } = &args;
            let task = Task { command: Command::Apply, connection, input, output: &output, settings: &settings };
            let work = async |site: Site<'_>, manifests| {
                let means = (&policy, &settings.readiness);
                Box::pin(pass(&args, &site, manifests, means, set.as_ref())).await
            };
            let show = |report: &Report, output: &Output| show(report, &settings, args.compare.explain_ignores, output);
            task.run(work, &show).await
        }
        Err(failure) => output.failed(Command::Apply, failure),
    }
}

/// What the flags and the configuration mean.
fn prepared(
    args: &ApplyArgs,
    configured: Configured,
    output: &Output,
) -> Result<(Settings, Policy, Option<Requested>), Failure> {
    let settings = Settings::of(configured?, args.output.console.verbosity, &output.terminal);
    let policy = Policy { keeps_versions: output.shows_versions(), ..writing_policy(args, &settings)? };
    let set = requested(&args.prune, &args.input, args.shard.shard)?;
    Ok((settings, policy, set))
}

fn show(report: &Report, settings: &Settings, explains: bool, output: &Output) -> Result<(), Closed> {
    output.warn(report);
    if explains {
        output.text(&explained(report, &settings.ignore, &output.view))?;
    }
    if !output.view.summary {
        output.text(&outcomes::left(report, &output.view))?;
        output.text(&readiness::left(report))?;
    }
    output.text(&summary::summary(report, &output.view))
}

async fn pass(
    args: &ApplyArgs,
    site: &Site<'_>,
    manifests: Manifests,
    (policy, rules): (&Policy, &Arc<ReadinessRules>),
    set: Option<&Requested>,
) -> Result<Report, Failure> {
    let Site { connection, output, interrupt, .. } = site;
    let verbosity = args.output.console.verbosity;
    let connecting = connected(connection, verbosity, &args.input, &output.terminal, interrupt);
    let (desired, connected) = Box::pin(manifests.beside(connecting)).await?;
    let Connected { cluster, catalog, info, namespaces, cache } = connected;
    let server = (&cluster, &catalog, &namespaces);
    let prune = Planned::prepare(set, &policy.adopt, server, &desired).await?;
    let plan = planned(desired, catalog.clone(), &namespaces, prune.as_ref().map(Planned::set))?;
    let autoscalers = autoscalers(&args.compare, &catalog, &plan);
    // What another part has comes first all the same.
    let plan = plan.part(args.shard.shard, |need| need >= DependencyKind::Existence);

    let wait = args.wait.duration();
    let (screen, builder) =
        (Screen::new(output, wait.is_some_and(|timeout| !timeout.is_zero())), ReportBuilder::default());
    let journal = output.journal();
    let events = (&screen, &(&builder, &journal));
    let comparison = Comparison::new(&cluster, policy, cache.as_deref(), interrupt.clone(), &events);
    let comparison = comparison.respecting(autoscalers).with_readiness(rules);
    let mut pass = Box::pin(Reconciliation::compare(comparison, plan, prune)).await;
    output.details(verbosity, pass.unproven());

    let would_be = pass.annotate(builder.report(Command::Diff, &FailOn::default()));
    // A reader that went away changes nothing about the pass.
    let _ = output.text(&text::differences(&would_be, &output.view));
    if args.confirm && pass.has_work() {
        if !site.confirmed(&would_be, &info).await {
            return Ok(concluded(Report { command: Command::Apply, ..would_be }, info, &cluster, interrupt));
        }
        pass.hold_what_differs_from_what_was_shown();
    } else {
        site.asks_nothing();
    }
    drop(would_be);

    pass.act(wait).await;
    if let Some(timeout) = wait {
        pass.wait(timeout).await;
    }
    let report = pass.annotate(builder.last_report(Command::Apply, &FailOn::default()));
    pass.end();
    Ok(concluded(report, info, &cluster, interrupt))
}
