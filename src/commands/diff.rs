//! `diff`: read desired, read current, compare, report.

use std::collections::BTreeSet;
use std::sync::Arc;

use structured_merge::ObjectKey;

use crate::cli::{ApplyArgs, DiffArgs, DryRun, EvidenceChoice};
use crate::client::namespace_flag;
use crate::compare::{Policy, Redactor, leave_out_nulls};
use crate::config::suggestion;
use crate::desired::files::Inputs;
use crate::engine::comparison::Comparison;
use crate::engine::judge::Judge;
use crate::engine::prune::{Planned, Requested};
use crate::engine::reconciliation::Reconciliation;
use crate::engine::unmanaged::Unmanaged;
use crate::live::{Discovery, admission::Admission, resolve::Namespaces, snapshot::Snapshot, types::Types};
use crate::object::{DNS_LABEL, is_dns_label};
use crate::report::{Command, FailOn, ObjectReport, Report, explained, text};
use crate::session::apply_set::requested;
use crate::session::configured::{Configured, Settings};
use crate::session::contexts::{Choice, chosen};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::{Manifests, Reading};
use crate::session::report_builder::ReportBuilder;
use crate::session::screen::Screen;
use crate::session::setup::{Connected, autoscalers, concluded, connected, planned, policy};
use crate::session::several::Show;
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

fn gate(args: &DiffArgs) -> FailOn {
    FailOn {
        exit_zero: args.exit_zero,
        strict_ownership: args.compare.strict_ownership,
        classes: args.compare.fail_on.clone(),
        show_unmanaged: args.compare.show_unmanaged,
    }
}

fn show(report: &Report, settings: &Settings, explains: bool, output: &Output) -> Result<(), Closed> {
    output.warn(report);
    output.text(&text::findings(report))?;
    if explains {
        output.text(&explained(report, &settings.ignore))?;
    }
    output.text(&text::summary(report))
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
    if args.suggest_ignores {
        suggests_on_stdout(args, output)?;
    }
    Ok((settings, policy, set))
}

/// One configuration goes to standard output, and nothing else does.
fn suggests_on_stdout(args: &DiffArgs, output: &Output) -> Result<(), Failure> {
    if !output.shows_text() {
        let message = "`--suggest-ignores` and a report cannot share standard output";
        return Err(Failure::refused(message, "send the report to a file, as in `-o json=report.json`"));
    }
    if matches!(chosen(&args.connection), Ok(Choice::Several(_))) {
        let message = "`--suggest-ignores` and several contexts exclude each other";
        return Err(Failure::refused(message, "run it for one context after the other"));
    }
    Ok(())
}

/// The namespaces that are named, or those that the objects of the run are in.
fn namespaces_of(named: &[String], wanted: &[&ObjectKey]) -> Result<BTreeSet<String>, Failure> {
    let named: BTreeSet<String> = named.iter().filter(|name| !name.is_empty()).cloned().collect();
    if let Some(wrong) = named.iter().find(|name| !is_dns_label(name)) {
        return Err(Failure::refused(format!("`{wrong}` cannot be a namespace"), DNS_LABEL));
    }
    if !named.is_empty() {
        return Ok(named);
    }
    let of = |key: &&ObjectKey| if key.gvk.is_namespace() { Some(key.name.clone()) } else { key.namespace.clone() };
    Ok(wanted.iter().filter_map(of).collect())
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

    let (screen, builder) = (Screen::new(output, false), ReportBuilder::default());
    let events = (&screen, &builder);
    let comparison = Comparison::new(&cluster, policy, cache.as_deref(), interrupt.clone(), &events);
    let comparison = comparison.respecting(autoscalers);
    let (pass, admission) = futures::join!(Reconciliation::compare(comparison, plan, prune), admission);
    output.details(verbosity, pass.unproven());

    let gate = gate(args);
    let mut report = builder.report(Command::Diff, &gate);
    report.warnings = admission.caveats(pass.proven().filter_map(|target| target.resource.as_ref().ok()));
    if let Some(named) = &args.report_unmanaged {
        let wanted: Vec<&ObjectKey> = report.objects.iter().map(|object| &object.key).collect();
        let namespaces = namespaces_of(named, &wanted)?;
        let unmanaged = Unmanaged::search(&cluster, &catalog, &namespaces, &wanted).await;
        report.warnings.extend(unmanaged.warnings);
        report = report.with_unmanaged(&unmanaged.objects, gate.fails_on_unmanaged_objects());
    }
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
    let mut plan = planned(desired, catalog.clone(), &Namespaces { required, default }, None)?;
    let mut policy = policy.clone();
    if let Some(source) = autoscalers(&args.compare, &catalog, &plan) {
        let known = Arc::make_mut(&mut policy.autoscalers);
        for autoscaler in source.captured(snapshot.objects()) {
            known.add(autoscaler);
        }
    }
    let types = Types::default();
    leave_out_nulls(&mut plan.targets_mut().collect::<Vec<_>>(), |gvk| types.of(gvk));
    let judge = Judge { policy: &policy, redactor: &Redactor::default() };
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
        let (apply, confirm, wait, exit_zero, suggest_ignores) = (false, false, false, false, false);
        let (timeout, live, report_unmanaged) = (None, None, None);
        Self {
            input,
            compare,
            prune,
            apply,
            confirm,
            wait,
            timeout,
            exit_zero,
            report_unmanaged,
            suggest_ignores,
            live,
            output,
            connection,
        }
    }
}
