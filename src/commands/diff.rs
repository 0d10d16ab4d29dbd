//! `diff`: read desired, read current, compare, report.

use structured_merge::ObjectKey;

use crate::cli::DiffArgs;
use crate::compare::Policy;
use crate::config::suggestion;
use crate::engine::comparison::Comparison;
use crate::engine::prune::{Planned, Requested};
use crate::engine::reconciliation::Reconciliation;
use crate::live::admission::Admission;
use crate::plan::{DependencyKind, Plan};
use crate::report::formats::text::{self, explained, summary};
use crate::report::{Command, Report};
use crate::session::apply_set::requested;
use crate::session::captured::without_cluster;
use crate::session::configured::{Configured, Settings};
use crate::session::diff_flags::{excluded, gate};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::Manifests;
use crate::session::report_builder::ReportBuilder;
use crate::session::screen::Screen;
use crate::session::setup::{Connected, autoscalers, concluded, connected, planned, policy};
use crate::session::site::Site;
use crate::session::task::Show;
use crate::session::task::Task;
use crate::session::unmanaged::with_unmanaged;
use crate::terminal::Closed;

/// Runs the command to its exit code.
pub(super) async fn run(args: DiffArgs, configured: Configured) -> u8 {
    let output = match Output::new(&args.output) {
        Ok(output) => output.paged(&args.output).of_part(args.shard),
        Err(code) => return code,
    };
    match prepared(&args, configured, &output) {
        Ok((settings, policy, set)) => {
            let DiffArgs { connection, input, .. } = &args;
            let task = Task { command: Command::Diff, connection, input, output: &output, settings: &settings };
            let suggest = |report: &Report, output: &Output| suggest(report, &settings, output);
            let explain =
                |report: &Report, output: &Output| show(report, &settings, args.compare.explain_ignores, output);
            let show: Show<'_> = if args.suggest_ignores { &suggest } else { &explain };
            if let Some(file) = &args.live {
                return task.ended(without_cluster(&args, file, &policy, &output).await, show);
            }
            let work = async |site: Site<'_>, manifests| {
                Box::pin(with_cluster(&args, &site, manifests, &policy, set.as_ref())).await
            };
            task.run(work, show).await
        }
        Err(failure) => output.failed(Command::Diff, failure),
    }
}

fn show(report: &Report, settings: &Settings, explains: bool, output: &Output) -> Result<(), Closed> {
    output.warn(report);
    output.text(&text::findings(report, &output.view))?;
    if explains {
        output.text(&explained(report, &settings.ignore, &output.view))?;
    }
    output.text(&summary::summary(report, &output.view))
}

/// Prints a configuration in the place of the differences.
fn suggest(report: &Report, settings: &Settings, output: &Output) -> Result<(), Closed> {
    output.warn(report);
    output.terminal.data(&suggestion(&settings.configuration, &settings.ignore, report))
}

/// What the flags and the configuration mean.
fn prepared(
    args: &DiffArgs,
    configured: Configured,
    output: &Output,
) -> Result<(Settings, Policy, Option<Requested>), Failure> {
    let settings = Settings::of(configured?, args.output.console.verbosity, &output.terminal);
    let policy = Policy { keeps_versions: output.shows_versions(), ..policy(&args.compare, &settings)? };
    let set = requested(&args.prune, &args.input, args.shard.shard)?;
    excluded(args, set.is_some(), output)?;
    Ok((settings, policy, set))
}

async fn with_cluster(
    args: &DiffArgs,
    Site { connection, output, interrupt, .. }: &Site<'_>,
    manifests: Manifests,
    policy: &Policy,
    set: Option<&Requested>,
) -> Result<Report, Failure> {
    let verbosity = args.output.console.verbosity;
    let connecting = connected(connection, verbosity, &args.input, &output.terminal, interrupt);
    let (desired, connected) = Box::pin(manifests.beside(connecting)).await?;
    let Connected { cluster, catalog, info, namespaces, cache } = connected;
    let admission = Admission::load(&cluster, &catalog);
    let server = (&cluster, &catalog, &namespaces);
    let prune = Planned::prepare(set, &policy.adopt, server, &desired).await?;
    let plan = planned(desired, catalog.clone(), &namespaces, prune.as_ref().map(Planned::set))?;
    let autoscalers = autoscalers(&args.compare, &catalog, &plan);
    // Whether a namespace or a definition is there, and what becomes of it, matters to what is in another part.
    let plan = plan.part(args.shard.shard, |need| need >= DependencyKind::Inside);

    let gate = gate(args);
    let unmanaged = match &args.report_unmanaged {
        None if !gate.fails_on_unmanaged_objects() => None,
        named => Some((named.as_deref().unwrap_or_default(), keys(&plan))),
    };

    let (screen, builder, journal) = (Screen::new(output, false), ReportBuilder::default(), output.journal());
    let events = (&screen, &(&builder, &journal));
    let comparison = Comparison::new(&cluster, policy, cache.as_deref(), interrupt.clone(), &events);
    let comparison = comparison.respecting(autoscalers);
    let (pass, admission) = futures::join!(Reconciliation::compare(comparison, plan, prune), admission);
    output.details(verbosity, pass.unproven());

    let mut report = builder.last_report(Command::Diff, &gate);
    report.warnings = admission.caveats(pass.proven().filter_map(|target| target.resource.as_ref().ok()));
    if let Some((named, wanted)) = unmanaged {
        report = with_unmanaged(report, named, (&cluster, &catalog), (&wanted, args.shard.shard, &gate)).await?;
    }
    let report = pass.annotate(report);
    pass.end();
    Ok(concluded(report, info, &cluster, interrupt))
}

/// The objects of the whole input.
fn keys(plan: &Plan) -> Vec<ObjectKey> {
    plan.all().map(|target| target.key.clone()).collect()
}
