//! `apply`: read desired, read current, compare, show, act wave by wave, report.

use crate::cli::{ApplyArgs, DiffArgs, WaitArgs};
use crate::compare::EvidenceMode;
use crate::desired::InputProblem;
use crate::engine::apply_run::ApplyRun;
use crate::engine::comparison::Comparison;
use crate::engine::interrupt::Interrupt;
use crate::engine::progress::News;
use crate::engine::prune::{Prune, requested};
use crate::engine::waiting::Waiting;
use crate::report::{FailOn, Report, outcomes, readiness, text};
use crate::session::confirm::{confirmed, somebody_to_ask};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::Reading;
use crate::session::setup::{Connected, connected, planned, policy};
use crate::terminal::Closed;

const COMMAND: &str = "apply";

/// Runs the command to its exit code.
pub(super) async fn run(args: ApplyArgs) -> u8 {
    let output = match Output::new(&args.output) {
        Ok(output) => output,
        Err(code) => return code,
    };
    match Box::pin(report(&args, &output)).await {
        Ok(report) => finish(&report, &output).unwrap_or(report.exit_code),
        Err(failure) => output.failed(COMMAND, failure),
    }
}

fn finish(report: &Report, output: &Output) -> Result<u8, Closed> {
    output.warn(report);
    output.text(&outcomes::left(report))?;
    output.text(&readiness::left(report))?;
    output.text(&text::summary(report))?;
    output.finish(report)
}

async fn report(args: &ApplyArgs, output: &Output) -> Result<Report, Failure> {
    let mut policy = policy(&args.compare, &args.input, &output.terminal)?;
    if policy.evidence == EvidenceMode::ReadOnly {
        let problem = InputProblem::general("`--evidence=read-only` forbids what `apply` is for: to write");
        return Err(Failure::invalid(problem.with_hint("compare with `diff --evidence=read-only`")));
    }
    if args.confirm {
        somebody_to_ask(&args.input)?;
    }
    // The creation itself tells as much, unless somebody is to see beforehand what comes of it.
    policy.tries_creations = args.confirm || policy.evidence == EvidenceMode::Server;
    let set = requested(&args.prune, &args.input)?;
    let reading = Reading::begin(&args.input, &output.terminal).await?;
    let interrupt = Interrupt::listen(&output.terminal);
    let verbosity = args.output.console.verbosity;
    let connecting = connected(&args.connection, verbosity, &args.input, &output.terminal, Some(&interrupt));
    let (mut desired, connected) = Box::pin(reading.beside(connecting)).await?;
    let Connected { cluster, catalog, info, namespaces, cache } = connected;
    let server = (&cluster, &catalog, &namespaces);
    let mut prune = Prune::prepare(set.as_ref(), &policy.adopt, server, &mut desired).await?;
    let plan = planned(desired, catalog, &namespaces)?;
    let comparison = Comparison::new(&cluster, &policy, cache.as_deref(), interrupt.clone())
        .showing(output.terminal.progress("compared", plan.targets.len()));
    let (mut pass, ()) = futures::join!(ApplyRun::compare(comparison, plan), prune.search(&cluster));
    prune.judge(&pass.targets().collect::<Vec<_>>(), &policy, pass.redactor());
    output.details(verbosity, pass.doubts());
    // A reader that went away changes nothing about the pass.
    let objects = [pass.objects(), prune.objects()].concat();
    let objects_to_do = objects.len();
    let would_be = prune.tell(Report::compared("diff", objects, FailOn::default()));
    let _ = output.text(&text::differences(&would_be));
    if args.confirm && (pass.has_work() || prune.has_work()) {
        if !confirmed(&would_be, &info, output, &interrupt).await {
            let report = Report { command: COMMAND, cluster: Some(info), requests: cluster.counts(), ..would_be };
            return Ok(if interrupt.is_set() { report.interrupted() } else { report });
        }
        pass.hold_what_differs_from_what_was_shown();
    }
    if let Some(namespace) = prune.new_namespace() {
        pass.create_namespace(namespace).await;
    }
    pass.wait_for_dependencies(args.wait.duration());
    let news = News::of_pass(output, objects_to_do);
    match prune.begin(&cluster, &interrupt).await {
        Ok(()) => pass.act(&news).await,
        Err(reason) => pass.hold(&reason),
    }
    prune.act(&cluster, &pass.objects(), (args.wait.duration(), &interrupt), &news).await;
    drop(news);
    let mut objects = pass.objects();
    if let Some(timeout) = args.wait.duration() {
        let waiting = Waiting { cluster: &cluster, timeout, interrupt: &interrupt, output };
        waiting.after(pass.targets(), &mut objects).await;
    }
    objects.extend(prune.objects());
    let mut report = prune.tell(Report::compared(COMMAND, objects, FailOn::default()));
    report.cluster = Some(info);
    report.requests = cluster.counts();
    Ok(if interrupt.is_set() { report.interrupted() } else { report })
}

impl From<DiffArgs> for ApplyArgs {
    /// `diff --apply` is `apply`.
    fn from(args: DiffArgs) -> Self {
        let DiffArgs { input, compare, prune, confirm, wait, timeout, output, connection, .. } = args;
        let wait = WaitArgs { wait, timeout };
        Self { input, compare, prune, dry_run: None, confirm, wait, output, connection }
    }
}
