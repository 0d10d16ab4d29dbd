//! `resolve`: read desired, read current, compare, ask about each difference, write the files, and apply the rest.

mod decided;
mod pass;
mod questions;
mod rule_file;

use std::sync::Arc;

use clap::{Args, Command as Program};
use reconcile_core::compare::{Action, EvidenceMode, Policy, RemoveAdded};
use reconcile_core::resolve::{Choice, Decisions};
use reconcile_report::formats::text::{self, outcomes};
use reconcile_report::resolve::questions;
use reconcile_report::{Command, EXIT_DRIFT, EXIT_SUCCESS, FailOn, Failure, ObjectReport, Report, Role, View};

use self::decided::{LastAnswer, agreed, drafts, write};
use self::pass::{Both, ResolvePass};
use self::questions::{Answers, Asking, can_resolve};
use self::rule_file::RuleFile;
use crate::cli::{
    CompareArgs, ConnectOptions, ConsoleArgs, EvidenceArgs, InputArgs, OverlayArgs, ShardArgs, WritingArgs, hint_for,
};
use crate::output::Output;
use crate::run::base::Base;
use crate::run::edits::overlay::OverlayTarget;
use crate::run::invocation::{Invocation, Run};
use crate::run::question::interrupted;
use crate::run::reading::stored::refuse_stored;
use crate::run::settings::{Configured, Settings};
use crate::run::setup::{early_reads, policy};
use crate::terminal::Terminal;

pub(super) const AFTER_HELP: &str = "\
Each question is about one difference; one that several objects have in common comes once. The answers: apply it to the cluster, \
pull it into the manifest, ignore it from now on by a rule in the configuration, or skip it; what was added by hand, and the \
manifest does not have, is removed (`r`) instead of applied; `b` goes back to the last answer, also from the last question, and `A` \
gives the same answer to all later differences of the same kind. Nothing is written before the last question, which shows the \
changes of files and of the cluster. Files are written first. `resolve` deletes nothing that is no longer in the manifests.

Exit codes:
  0    everything was resolved, or nothing differs
  1    something was skipped; or nothing was changed, because the user quit or the last answer was no
  2    invalid flags, configuration or input, or there is no terminal to ask on
  3    the cluster cannot be reached, or rejected the credentials
  4    some of it could not be written, compared or applied; the rest was
  130  interrupted; before the last question, nothing was changed

Examples:
  # Decide about each difference between a directory of manifests and the cluster
  kubectl reconcile resolve -f deploy/

  # Decide, and pull into an overlay and its patches
  kubectl reconcile resolve -k overlays/prod --add-patches

  # Offer to take fields from other appliers and controllers, too
  kubectl reconcile resolve -f deploy/ --force-conflicts";

/// `resolve`
#[derive(Debug, Args)]
pub struct ResolveArgs {
    /// Flags that select the manifests
    #[command(flatten)]
    pub input: InputArgs,
    /// Flags that select places in a kustomization
    #[command(flatten)]
    pub overlay: OverlayArgs,
    /// Flags of the comparison
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    /// Flags that decide what is written
    #[command(flatten)]
    pub writing: WritingArgs,
    /// Colours and verbosity
    #[command(flatten)]
    pub console: ConsoleArgs,
    /// Flags that select the cluster
    #[command(flatten)]
    pub connection: ConnectOptions,
}

/// Runs the command to its exit code.
pub(super) async fn run(
    args: &ResolveArgs,
    program: &Program,
    configured: Configured,
    terminal: &Terminal,
) -> Result<u8, Failure> {
    let output = &Output::of_console(terminal, &args.console);
    let settings = &Settings::of(configured?, output);
    refuse_stored(&args.input, "resolve")?;
    can_resolve(&args.input)?;
    let allowed = args.overlay.allowed(args.input.kustomize.as_deref())?;
    let compare = &CompareArgs::only(&args.evidence, &args.writing);
    let policy = Policy { remove_added: RemoveAdded::Offered, ..policy(compare, settings)? };
    if policy.evidence == EvidenceMode::ReadOnly {
        let message = "`resolve` writes, which `--evidence=read-only` forbids";
        return Err(Failure::refused(message, "compare with `diff --evidence=read-only`"));
    }
    let base = Base::of(compare, &args.input, &output.terminal).await?;
    let invocation = Invocation::new(&args.connection, &args.input, output, settings);
    let invocation = Invocation { base: base.as_ref(), ..invocation };
    let (run, desired) = Box::pin(invocation.begin("resolve", early_reads(compare, ShardArgs::default(), []))).await?;
    output.name_cluster(&run.info);
    output.terminal.warn(settings.warnings());
    let target = args.input.kustomize.as_deref().map(|directory| OverlayTarget { directory, allowed });
    let pass = ResolvePass { run: &run, desired, compare, policy, target, redactor: Arc::default() };
    Box::pin(resolve(args, program, &pass)).await
}

async fn resolve(args: &ResolveArgs, program: &Program, pass: &ResolvePass<'_, '_>) -> Result<u8, Failure> {
    let run = pass.run;
    let both = Both::new(run.output);
    let (report, mut pulling, compared_objects) = Box::pin(pass.found(&both)).await?;
    let Run { output, interrupt, settings, .. } = run;
    if interrupt.is_set() {
        return Err(interrupted());
    }
    let cluster = &run.server.cluster;
    let report = report.with_server_warnings(&cluster.warned_of_changes(), cluster.warned_of_reads());
    output.warn(&report);
    let questions = questions(&report);
    if questions.is_empty() {
        let _ = output.text(&text::findings(&report, &output.view));
        let _ = output.text(&text::summary(&report, &View { is_headed: true, ..output.view.clone() }));
        return Ok(report.exit_code);
    }
    let mut said = report.warnings.clone();
    let warnings = warnings_of_compared(&report, output);
    output.terminal.warn(&warnings);
    said.extend(warnings);
    let compared = not_compared(report, program, output);
    let rule_file = RuleFile::of(program, &settings.configuration, &args.input);
    let expected_set = settings.configuration.expect.apply_set();
    let refusals = pulling.refusals();
    let switches = pulling.switches();
    let asking = Asking { output, interrupt, refusals, switches, rule_file: &rule_file, expected_set };
    let proposals = pulling.proposals();
    let mut answers = Answers::default();
    let (mut decisions, drafts, before) = loop {
        let Some(mut decisions) = asking.decisions(&questions, &mut answers).await? else {
            return Ok(unchanged(output));
        };
        pulling.keep(|key, change| decisions.pulls(key, change));
        pulling.try_on_server(&compared_objects).await;
        if interrupt.is_set() {
            return Err(interrupted());
        }
        let (drafts, refused) = drafts(&mut pulling, &rule_file, &mut decisions, output);
        let before = compared.max(refused);
        if drafts.is_empty() && decisions.applied().next().is_none() {
            unchanged(output);
            return Ok(before.max(skipped(&decisions)));
        }
        match agreed(&drafts, &pulling.others, &decisions, run).await? {
            LastAnswer::Yes => break (decisions, drafts, before),
            LastAnswer::No => return Ok(unchanged(output)),
            LastAnswer::Back => {
                answers.back();
                pulling.propose_again(&proposals);
            }
        }
    };
    compared_objects.end();
    let before = before.max(write(&drafts, &mut decisions, output));
    let after = if decisions.applied().next().is_some() {
        applied(pass, &decisions, &said, output).await?
    } else {
        EXIT_SUCCESS
    };
    Ok(before.max(after).max(skipped(&decisions)))
}

/// The warnings about objects that were compared, and are shown by their differences alone.
fn warnings_of_compared(report: &Report, output: &Output) -> Vec<String> {
    let is_compared = |object: &&ObjectReport| object.diff.action != Action::Unknown;
    text::object_warnings(report.objects.iter().filter(is_compared), &output.view)
}

/// Shows the objects that could not be compared. Returns the exit code that follows from them.
fn not_compared(report: Report, program: &Program, output: &Output) -> u8 {
    let mut objects = report.objects;
    objects.retain(|object| object.diff.action == Action::Unknown);
    if let Some(own) = program.find_subcommand("resolve") {
        let errors = objects.iter_mut().filter_map(|object| object.messages.error.as_mut());
        errors.filter_map(|error| error.hint.as_mut()).for_each(|hint| *hint = hint_for(hint, own));
    }
    let report = Report::compared(Command::Diff, objects, &FailOn::default());
    output.terminal.message(&text::findings(&report, &output.view));
    report.exit_code
}

/// Reports that nothing was changed. Returns the exit code for it.
fn unchanged(output: &Output) -> u8 {
    output.terminal.note(Role::Plain, "nothing was changed");
    EXIT_DRIFT
}

/// The exit code that follows from the differences that were skipped.
fn skipped(decisions: &Decisions) -> u8 {
    let is_skipped = decisions.with(|answer| *answer == Choice::Skip).next().is_some();
    if is_skipped { EXIT_DRIFT } else { EXIT_SUCCESS }
}

/// Applies what was chosen, and shows the outcome, with the warnings that were not `said` before. Returns the exit code of the pass.
async fn applied(
    pass: &ResolvePass<'_, '_>,
    decisions: &Decisions,
    said: &[String],
    output: &Output,
) -> Result<u8, Failure> {
    let report = Box::pin(pass.apply(decisions)).await?;
    let is_new = |warning: &String| !said.iter().any(|said| said.ends_with(warning.as_str()));
    output.terminal.warn(report.warnings.iter().cloned().chain(warnings_of_compared(&report, output)).filter(is_new));
    let _ = output.text(&outcomes::left(&report, &output.view));
    let _ = output.text(&text::summary(&report, &View { is_headed: true, ..output.view.clone() }));
    Ok(report.exit_code)
}
