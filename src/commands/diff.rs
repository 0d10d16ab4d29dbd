//! `diff`: read desired, read current, compare, report.

use crate::cli::{ApplyArgs, DiffArgs, DryRun, EvidenceChoice};
use crate::client::namespace_flag;
use crate::compare::{Policy, Redactor, leave_out_nulls};
use crate::desired::files::Inputs;
use crate::engine::comparison::Comparison;
use crate::engine::judge::Judge;
use crate::engine::prune::{Planned, Requested};
use crate::engine::reconciliation::Reconciliation;
use crate::live::{Discovery, admission::Admission, resolve::Namespaces, snapshot::Snapshot, types::Types};
use crate::report::{Command, FailOn, ObjectReport, Report, text};
use crate::session::apply_set::requested;
use crate::session::configured::{Configured, Settings};
use crate::session::contexts::{Choice, chosen};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::{Manifests, Reading};
use crate::session::report_builder::ReportBuilder;
use crate::session::screen::Screen;
use crate::session::setup::{Connected, concluded, connected, planned, policy};
use crate::session::site::Site;
use crate::session::task::Task;
use crate::terminal::Closed;

/// Runs the command to its exit code.
pub(super) async fn run(args: DiffArgs, configured: Configured) -> u8 {
    let output = match Output::new(&args.output) {
        Ok(output) => output,
        Err(code) => return code,
    };
    match prepared(&args, configured, &output) {
        Ok((settings, policy, set)) => {
            let DiffArgs { connection, input, .. } = &args;
            let task = Task { command: Command::Diff, connection, input, output: &output, settings: &settings };
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

fn gate(args: &DiffArgs) -> FailOn {
    FailOn {
        exit_zero: args.exit_zero,
        strict_ownership: args.compare.strict_ownership,
        classes: args.compare.fail_on.clone(),
        show_unmanaged: args.compare.show_unmanaged,
    }
}

fn show(report: &Report, output: &Output) -> Result<(), Closed> {
    output.warn(report);
    output.text(&text::whole(report))
}

/// What the flags and the configuration mean.
fn prepared(
    args: &DiffArgs,
    configured: Configured,
    output: &Output,
) -> Result<(Settings, Policy, Option<Requested>), Failure> {
    let settings = Settings::of(configured?, args.output.console.verbosity, &output.terminal);
    let policy = policy(&args.compare, &settings)?;
    let set = requested(&args.prune, &args.input)?;
    if args.live.is_some() && set.is_some() {
        let message = "`--prune` needs a cluster: a snapshot does not show the members of a set";
        return Err(Failure::refused(message, "leave `--live` out"));
    }
    // A snapshot is compared without any kubeconfig, so that one that cannot be read is no problem.
    if args.live.is_some() && matches!(chosen(&args.connection), Ok(Choice::Several(_))) {
        let message = "`--live` and several contexts exclude each other: a snapshot is compared without a cluster";
        return Err(Failure::refused(message, "leave `--context` out, or `--live`"));
    }
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

    let (screen, builder) = (Screen::new(output, false), ReportBuilder::default());
    let events = (&screen, &builder);
    let comparison = Comparison::new(&cluster, policy, cache.as_deref(), interrupt.clone(), &events);
    let (pass, admission) = futures::join!(Reconciliation::compare(comparison, plan, prune), admission);
    output.details(verbosity, pass.unproven());

    let mut report = builder.report(Command::Diff, &gate(args));
    report.warnings = admission.caveats(pass.proven().filter_map(|target| target.resource.as_ref().ok()));
    Ok(concluded(pass.annotate(report), info, &cluster, interrupt))
}

async fn without_cluster(args: &DiffArgs, file: &str, policy: &Policy, output: &Output) -> Result<Report, Failure> {
    let desired = Reading::begin(&args.input, &output.terminal).await?.desired().await?;
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
