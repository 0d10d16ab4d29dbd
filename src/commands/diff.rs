//! `diff`: read desired, read current, compare, report.

use crate::cli::{ApplyArgs, DiffArgs, DryRun, EvidenceChoice};
use crate::client::namespace_flag;
use crate::compare::{Policy, Redactor, leave_out_nulls};
use crate::desired::DesiredSet;
use crate::desired::files::Inputs;
use crate::engine::comparison::Comparison;
use crate::engine::judge::Judge;
use crate::engine::prune::{Planned, Requested};
use crate::engine::reconciliation::Reconciliation;
use crate::live::{Discovery, admission::Admission, resolve::Namespaces, snapshot::Snapshot, types::Types};
use crate::report::{Command, FailOn, ObjectReport, Report, text};
use crate::session::apply_set::requested;
use crate::session::configured::{Configured, Settings};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::Reading;
use crate::session::report_builder::ReportBuilder;
use crate::session::screen::Screen;
use crate::session::setup::{Connected, concluded, connected, planned, policy};
use crate::session::signals::listen;

/// Runs the command to its exit code.
pub(super) async fn run(args: DiffArgs, configured: Configured) -> u8 {
    let output = match Output::new(&args.output) {
        Ok(output) => output,
        Err(code) => return code,
    };
    match report(&args, configured, &output).await {
        Ok(report) => show(&report, &output),
        Err(failure) => output.failed(Command::Diff, failure),
    }
}

fn gate(args: &DiffArgs) -> FailOn {
    FailOn {
        exit_zero: args.exit_zero,
        strict_ownership: args.compare.strict_ownership,
        classes: args.compare.fail_on.clone(),
        show_unmanaged: args.compare.show_unmanaged,
    }
}

/// A reader that went away ends the run quietly, with the verdict that was found.
fn show(report: &Report, output: &Output) -> u8 {
    output.warn(report);
    let shown = output.text(&text::whole(report)).and_then(|()| output.finish(report));
    shown.unwrap_or(report.exit_code)
}

async fn report(args: &DiffArgs, configured: Configured, output: &Output) -> Result<Report, Failure> {
    let settings = Settings::of(configured?, args.output.console.verbosity, &output.terminal);
    let policy = policy(&args.compare, &settings)?;
    let set = requested(&args.prune, &args.input)?;
    if args.live.is_some() && set.is_some() {
        let message = "`--prune` needs a cluster: a snapshot does not show the members of a set";
        return Err(Failure::refused(message, "leave `--live` out"));
    }
    let reading = Reading::begin(&args.input, &output.terminal).await?;
    let report = match &args.live {
        Some(file) => without_cluster(args, reading.desired().await?, file, &policy),
        None => Box::pin(with_cluster(args, reading, &policy, set.as_ref(), output)).await,
    };
    Ok(settings.named_in(report?))
}

async fn with_cluster(
    args: &DiffArgs,
    reading: Reading,
    policy: &Policy,
    set: Option<&Requested>,
    output: &Output,
) -> Result<Report, Failure> {
    let interrupt = listen(&output.terminal);
    let verbosity = args.output.console.verbosity;
    let connecting = connected(&args.connection, verbosity, &args.input, &output.terminal, &interrupt);
    let (desired, connected) = Box::pin(reading.beside(connecting)).await?;
    let Connected { cluster, catalog, info, namespaces, cache } = connected;
    let admission = Admission::load(&cluster, &catalog);
    let server = (&cluster, &catalog, &namespaces);
    let prune = Planned::prepare(set, &policy.adopt, server, &desired).await?;
    let plan = planned(desired, catalog.clone(), &namespaces, prune.as_ref().map(Planned::set))?;

    let (screen, builder) = (Screen::new(output, false), ReportBuilder::default());
    let events = (&screen, &builder);
    let comparison = Comparison::new(&cluster, policy, cache.as_deref(), interrupt.clone(), &events);
    let (pass, admission) = futures::join!(Reconciliation::compare(comparison, plan, prune), admission);
    output.details(verbosity, pass.unproven());

    let mut report = builder.report(Command::Diff, &gate(args));
    report.warnings = admission.caveats(pass.proven().filter_map(|target| target.resource.as_ref().ok()));
    Ok(concluded(pass.annotate(report), info, &cluster, &interrupt))
}

fn without_cluster(args: &DiffArgs, desired: DesiredSet, file: &str, policy: &Policy) -> Result<Report, Failure> {
    let mut captured = Inputs::default();
    captured.path(file.as_ref(), false);
    let snapshot = Snapshot::read(&captured.finish()?)?;
    let required = namespace_flag(args.connection.namespace.as_deref()).map_err(Failure::invalid)?;
    let default = required.clone().unwrap_or_else(|| "default".to_owned());
    let mut catalog = Discovery::builtin();
    snapshot.objects().for_each(|object| catalog.learn(object));
    let mut plan = planned(desired, catalog, &Namespaces { required, default }, None)?;
    let types = Types::default();
    leave_out_nulls(&mut plan.targets_mut().collect::<Vec<_>>(), |gvk| types.of(gvk));
    let judge = Judge { policy, redactor: &Redactor::default() };
    let judged = plan.targets().map(|target| {
        ObjectReport::new(target, judge.captured(target, &snapshot.state(&target.key), types.of(&target.key.gvk)))
    });
    Ok(Report::compared(Command::Diff, judged.collect(), &gate(args)))
}

impl From<ApplyArgs> for DiffArgs {
    /// `apply --dry-run` is `diff`.
    fn from(args: ApplyArgs) -> Self {
        let ApplyArgs { input, mut compare, prune, dry_run, output, connection, .. } = args;
        if dry_run == Some(DryRun::Client) {
            compare.evidence = EvidenceChoice::ReadOnly;
        }
        let (apply, confirm, wait, exit_zero) = (false, false, false, false);
        Self { input, compare, prune, apply, confirm, wait, timeout: None, exit_zero, live: None, output, connection }
    }
}
