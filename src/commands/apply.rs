//! `apply`: read desired, read current, compare, show, act wave by wave, report.

use crate::cli::{ApplyArgs, DiffArgs, WaitArgs};
use crate::compare::{EvidenceMode, Policy};
use crate::engine::comparison::Comparison;
use crate::engine::prune::Planned;
use crate::engine::reconciliation::Reconciliation;
use crate::report::{Command, FailOn, Report, outcomes, readiness, text};
use crate::session::apply_set::requested;
use crate::session::configured::{Configured, Settings};
use crate::session::confirm::{confirmed, somebody_to_ask};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::Reading;
use crate::session::report_builder::ReportBuilder;
use crate::session::screen::Screen;
use crate::session::setup::{Connected, concluded, connected, planned, policy};
use crate::session::signals::listen;
use crate::terminal::Closed;

/// Runs the command to its exit code.
pub(super) async fn run(args: ApplyArgs, configured: Configured) -> u8 {
    let output = match Output::new(&args.output) {
        Ok(output) => output,
        Err(code) => return code,
    };
    match Box::pin(report(&args, configured, &output)).await {
        Ok(report) => finish(&report, &output).unwrap_or(report.exit_code),
        Err(failure) => output.failed(Command::Apply, failure),
    }
}

fn finish(report: &Report, output: &Output) -> Result<u8, Closed> {
    output.warn(report);
    output.text(&outcomes::left(report))?;
    output.text(&readiness::left(report))?;
    output.text(&text::summary(report))?;
    output.finish(report)
}

async fn report(args: &ApplyArgs, configured: Configured, output: &Output) -> Result<Report, Failure> {
    let settings = Settings::of(configured?, args.output.console.verbosity, &output.terminal);
    let report = Box::pin(pass(args, &settings, output)).await?;
    Ok(settings.named_in(report))
}

async fn pass(args: &ApplyArgs, settings: &Settings, output: &Output) -> Result<Report, Failure> {
    let policy = may_write(args, settings)?;
    let set = requested(&args.prune, &args.input)?;

    let reading = Reading::begin(&args.input, &output.terminal).await?;
    let interrupt = listen(&output.terminal);
    let verbosity = args.output.console.verbosity;
    let connecting = connected(&args.connection, verbosity, &args.input, &output.terminal, &interrupt);
    let (desired, connected) = Box::pin(reading.beside(connecting)).await?;
    let Connected { cluster, catalog, info, namespaces, cache } = connected;
    let server = (&cluster, &catalog, &namespaces);
    let prune = Planned::prepare(set.as_ref(), &policy.adopt, server, &desired).await?;
    let plan = planned(desired, catalog, &namespaces, prune.as_ref().map(Planned::set))?;

    let wait = args.wait.duration();
    let (screen, builder) =
        (Screen::new(output, wait.is_some_and(|timeout| !timeout.is_zero())), ReportBuilder::default());
    let events = (&screen, &builder);
    let comparison = Comparison::new(&cluster, &policy, cache.as_deref(), interrupt.clone(), &events);
    let mut pass = Reconciliation::compare(comparison, plan, prune).await;
    output.details(verbosity, pass.unproven());

    let would_be = pass.annotate(builder.report(Command::Diff, &FailOn::default()));
    // A reader that went away changes nothing about the pass.
    let _ = output.text(&text::differences(&would_be));
    if args.confirm && pass.has_work() {
        if !confirmed(&would_be, &info, output, &interrupt).await {
            return Ok(concluded(Report { command: Command::Apply, ..would_be }, info, &cluster, &interrupt));
        }
        pass.hold_what_differs_from_what_was_shown();
    }

    pass.act(wait).await;
    if let Some(timeout) = wait {
        pass.wait(timeout).await;
    }
    let report = pass.annotate(builder.report(Command::Apply, &FailOn::default()));
    Ok(concluded(report, info, &cluster, &interrupt))
}

/// The policy of a run that writes, and somebody to ask where that is wanted.
fn may_write(args: &ApplyArgs, settings: &Settings) -> Result<Policy, Failure> {
    let mut policy = policy(&args.compare, settings)?;
    if policy.evidence == EvidenceMode::ReadOnly {
        let message = "`apply` writes, which `--evidence=read-only` forbids";
        return Err(Failure::refused(message, "compare with `diff --evidence=read-only`"));
    }
    if args.confirm {
        somebody_to_ask(&args.input)?;
    }
    // The creation itself tells as much, unless somebody is to see beforehand what comes of it.
    policy.tries_creations = args.confirm || policy.evidence == EvidenceMode::Server;
    Ok(policy)
}

impl From<DiffArgs> for ApplyArgs {
    /// `diff --apply` is `apply`.
    fn from(args: DiffArgs) -> Self {
        let DiffArgs { input, compare, prune, confirm, wait, timeout, output, connection, .. } = args;
        let wait = WaitArgs { wait, timeout };
        Self { input, compare, prune, dry_run: None, confirm, wait, output, connection }
    }
}
