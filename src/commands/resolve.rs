//! `resolve`: read desired, read current, compare, ask about each difference, write the files, and apply the rest.

use std::sync::Arc;

use reconcile_core::compare::{Action, EvidenceMode, Policy};
use reconcile_core::manifest::DesiredSet;
use reconcile_core::resolve::{Answer, Decisions};
use reconcile_report::formats::text::{self, outcomes, summary};
use reconcile_report::resolve::{plan, questions};
use reconcile_report::{Command, EXIT_DRIFT, EXIT_INCOMPLETE, EXIT_SUCCESS, FailOn, Report, Role, Styled, View};
use structured_merge::ObjectKey;

use crate::cli::{CompareArgs, ResolveArgs};
use crate::session::configured::{Configured, Settings};
use crate::session::confirm::{answered, target_of};
use crate::session::edits::draft::Draft;
use crate::session::edits::pulling::Pulling;
use crate::session::edits::resolve_pass::{Found, ResolvePass};
use crate::session::edits::resolve_questions::{Asking, can_ask, interrupted};
use crate::session::edits::rule_file::RuleFile;
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::run::{Invocation, Run};
use crate::session::setup::policy;
use crate::session::stored::refuse_stored;
use crate::terminal::Terminal;

/// The files to write, each with the objects that depend on it.
type Drafts = Vec<(Draft, Vec<ObjectKey>)>;

/// Runs the command to its exit code.
pub(super) async fn run(args: &ResolveArgs, configured: Configured, terminal: &Terminal) -> Result<u8, Failure> {
    let output = &Output::of_console(terminal, &args.console);
    let settings = &Settings::of(configured?, output);
    refuse_stored(&args.input, "resolve")?;
    can_ask(&args.input)?;
    let compare = &compare_args(args);
    let policy = policy(compare, settings)?;
    if policy.evidence == EvidenceMode::ReadOnly {
        let message = "`resolve` writes, which `--evidence=read-only` forbids";
        return Err(Failure::refused(message, "compare with `diff --evidence=read-only`"));
    }
    let invocation = Invocation { connection: &args.connection, input: &args.input, output, settings };
    let (run, desired) = Box::pin(invocation.begin("resolve")).await?;
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
    let asking = Asking { output, interrupt, pulling: &pulling, rule_file: &rule_file, expected_set };
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
    let is_skipped = decisions.with(|answer| *answer == Answer::Skip).next().is_some();
    if is_skipped { EXIT_DRIFT } else { EXIT_SUCCESS }
}

/// Edits the files without writing them. What cannot be written is reported, and its objects are left alone. Also returns the exit code
/// that follows from that.
fn drafts(
    pulling: &mut Pulling,
    rule_file: Result<RuleFile, String>,
    decisions: &mut Decisions,
    output: &Output,
) -> (Drafts, u8) {
    pulling.keep(|key, change| decisions.pulls(key, change));
    let mut drafts = pulling.drafts();
    let mut refused = Vec::new();
    for (key, change, obstacle) in pulling.obstacles() {
        refused.push((vec![key.clone()], format!("{key} {} cannot be pulled: {obstacle}", change.path)));
    }
    let ignored = decisions.with(|answer| matches!(answer, Answer::Ignore(_))).map(|one| one.key.clone());
    let ignored: Vec<ObjectKey> = ignored.collect();
    if !ignored.is_empty() {
        match rule_file.and_then(|file| file.draft(&decisions.rules())) {
            Ok(draft) => drafts.push((draft, ignored)),
            Err(reason) => refused.push((ignored, reason)),
        }
    }
    let mut code = EXIT_SUCCESS;
    for (keys, reason) in refused {
        code = EXIT_INCOMPLETE;
        refuse(&keys, &reason, decisions, output);
    }
    (drafts, code)
}

/// Reports what cannot be written, and leaves the objects alone that depend on it.
fn refuse(keys: &[ObjectKey], reason: &str, decisions: &mut Decisions, output: &Output) {
    output.terminal.note(Role::Error, &format!("error: {reason}"));
    for key in keys {
        if decisions.withdraw(key) {
            output.terminal.note(Role::Note, &format!("{key} is not applied because of that"));
        }
    }
}

/// Shows what happens to the files and to the cluster, and asks. A run that is interrupted here changes nothing.
async fn agreed(drafts: &Drafts, decisions: &Decisions, run: &Run<'_>) -> Result<bool, Failure> {
    let Run { output, interrupt, info, .. } = run;
    let mut shown = Styled::new();
    for (draft, _) in drafts {
        shown.append(draft.shown(false).patch());
    }
    shown.append(plan(decisions));
    output.terminal.message(&shown);
    let target = target_of(&Report::compared(Command::Apply, Vec::new(), &FailOn::default()), info);
    let new = drafts.iter().filter(|(draft, _)| draft.is_new()).map(|(draft, _)| draft.name()).next();
    let new = new.map(|name| format!(" ({name} is new)")).unwrap_or_default();
    let question = match (drafts.len(), decisions.applied().next().is_some()) {
        (0, _) => format!("Apply this to {target}? [y/N] "),
        (files, applies) => {
            let noun = if files == 1 { "file" } else { "files" };
            let then = if applies { format!(", and apply the rest to {target}") } else { String::new() };
            format!("Write {files} {noun}{new}{then}? [y/N] ")
        }
    };
    let is_agreed = answered(question, output, interrupt).await;
    if interrupt.is_set() { Err(interrupted()) } else { Ok(is_agreed) }
}

/// Writes the files. Objects that depend on a file that cannot be written are left alone. Returns the exit code that follows.
fn write(drafts: &Drafts, decisions: &mut Decisions, output: &Output) -> u8 {
    let mut code = EXIT_SUCCESS;
    for (draft, keys) in drafts {
        match draft.write() {
            Ok(()) => {
                let verb = if draft.is_new() { "created" } else { "wrote" };
                output.terminal.note(Role::Plain, &format!("{verb} {}", draft.name()));
            }
            Err(reason) => {
                code = EXIT_INCOMPLETE;
                refuse(keys, &format!("{}: {reason}", draft.name()), decisions, output);
            }
        }
    }
    code
}

/// Applies what was chosen, and shows the outcome. Returns the exit code of the pass.
async fn applied(pass: &ResolvePass<'_, '_>, decisions: &Decisions, output: &Output) -> Result<u8, Failure> {
    let report = Box::pin(pass.apply(decisions)).await?;
    let _ = output.text(&outcomes::left(&report, &output.view));
    let _ = output.text(&summary::summary(&report, &View { is_headed: true, ..output.view.clone() }));
    Ok(report.exit_code)
}

/// The flags of both comparisons.
fn compare_args(args: &ResolveArgs) -> CompareArgs {
    CompareArgs {
        field_manager: args.field_manager.clone(),
        evidence: args.evidence,
        autoscalers: args.autoscalers,
        show_unmanaged: false,
        explain_ignores: false,
        strict_ownership: false,
        fail_on: Vec::new(),
        force_conflicts: args.force_conflicts,
        replace: args.replace,
        adopt: Vec::new(),
        leave_applyset: false,
        no_expect_applyset: true,
        create_namespace: args.create_namespace,
    }
}
