//! `resolve`: read desired, read current, compare, ask about each difference, write the files, and apply the rest.

use std::sync::Arc;

use reconcile_core::compare::{Action, EvidenceMode, Policy};
use reconcile_core::manifest::DesiredSet;
use reconcile_core::resolve::{Choice, Decisions};
use reconcile_report::formats::text::{self, outcomes, summary};
use reconcile_report::resolve::questions;
use reconcile_report::{Command, EXIT_DRIFT, EXIT_SUCCESS, FailOn, Report, Role, View};

use crate::cli::{CompareArgs, ResolveArgs, ShardArgs};
use crate::session::configured::{Configured, Settings};
use crate::session::edits::decided::{agreed, drafts, write};
use crate::session::edits::resolve_pass::{Found, ResolvePass};
use crate::session::edits::resolve_questions::{Asking, can_resolve};
use crate::session::edits::rule_file::RuleFile;
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::question::interrupted;
use crate::session::run::{Invocation, Run};
use crate::session::setup::{early_reads, policy};
use crate::session::stored::refuse_stored;
use crate::terminal::Terminal;

/// Runs the command to its exit code.
pub(super) async fn run(args: &ResolveArgs, configured: Configured, terminal: &Terminal) -> Result<u8, Failure> {
    let output = &Output::of_console(terminal, &args.console);
    let settings = &Settings::of(configured?, output);
    refuse_stored(&args.input, "resolve")?;
    can_resolve(&args.input)?;
    let compare = &CompareArgs::only(&args.evidence, &args.writing);
    let policy = policy(compare, settings)?;
    if policy.evidence == EvidenceMode::ReadOnly {
        let message = "`resolve` writes, which `--evidence=read-only` forbids";
        return Err(Failure::refused(message, "compare with `diff --evidence=read-only`"));
    }
    let invocation = Invocation { connection: &args.connection, input: &args.input, output, settings };
    let (run, desired) = Box::pin(invocation.begin("resolve", early_reads(compare, ShardArgs::default(), []))).await?;
    output.name_cluster(&run.info);
    for warning in settings.warnings() {
        output.terminal.note(Role::Note, &format!("warning: {warning}"));
    }
    Box::pin(resolve(args, &run, ResolveInput { desired, compare, policy })).await
}

/// The inputs of both passes.
struct ResolveInput<'a> {
    desired: DesiredSet,
    compare: &'a CompareArgs,
    policy: Policy,
}

async fn resolve(args: &ResolveArgs, run: &Run<'_>, input: ResolveInput<'_>) -> Result<u8, Failure> {
    let ResolveInput { desired, compare, policy } = input;
    let pass = ResolvePass { run, desired, compare, policy, redactor: Arc::default() };
    let Found { report, mut pulling } = Box::pin(pass.found()).await?;
    let Run { output, interrupt, settings, .. } = run;
    if interrupt.is_set() {
        return Err(interrupted());
    }
    output.warn(&report);
    let questions = questions(&report);
    if questions.is_empty() {
        let _ = output.text(&text::findings(&report, &output.view));
        let _ = output.text(&summary::summary(&report, &View { is_headed: true, ..output.view.clone() }));
        return Ok(report.exit_code);
    }
    let compared = not_compared(report, output);
    let rule_file = RuleFile::of(&settings.configuration, &args.input);
    let expected_set = settings.configuration.expect.apply_set();
    let asking = Asking { output, interrupt, refusals: pulling.refusals(), rule_file: &rule_file, expected_set };
    let Some(mut decisions) = asking.decisions(&questions).await? else { return Ok(unchanged(output)) };
    let (drafts, refused) = drafts(&mut pulling, rule_file, &mut decisions, output);
    let before = compared.max(refused);
    if drafts.is_empty() && decisions.applied().next().is_none() {
        unchanged(output);
        return Ok(before.max(skipped(&decisions)));
    }
    if !agreed(&drafts, &decisions, run).await? {
        return Ok(unchanged(output));
    }
    let before = before.max(write(&drafts, &mut decisions, output));
    let after =
        if decisions.applied().next().is_some() { applied(&pass, &decisions, output).await? } else { EXIT_SUCCESS };
    Ok(before.max(after).max(skipped(&decisions)))
}

/// Shows the objects that could not be compared. Returns the exit code that follows from them.
fn not_compared(report: Report, output: &Output) -> u8 {
    let mut objects = report.objects;
    objects.retain(|object| object.diff.action == Action::Unknown);
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

/// Applies what was chosen, and shows the outcome. Returns the exit code of the pass.
async fn applied(pass: &ResolvePass<'_, '_>, decisions: &Decisions, output: &Output) -> Result<u8, Failure> {
    let report = Box::pin(pass.apply(decisions)).await?;
    let _ = output.text(&outcomes::left(&report, &output.view));
    let _ = output.text(&summary::summary(&report, &View { is_headed: true, ..output.view.clone() }));
    Ok(report.exit_code)
}
