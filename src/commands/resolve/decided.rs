//! The files that follow from the decisions of `resolve`: shown with what happens to the cluster, and written after the last question.

use reconcile_core::resolve::{Choice, Decisions};
use reconcile_report::pull::OtherOverlay;
use reconcile_report::resolve::plan;
use reconcile_report::{Command, EXIT_INCOMPLETE, EXIT_SUCCESS, FailOn, Report, Role, Styled};
use structured_merge::ObjectKey;

use super::rule_file::RuleFile;
use crate::output::Output;
use crate::run::edits::draft::Draft;
use crate::run::edits::pulling::Pulling;
use crate::run::invocation::Run;
use crate::run::question::target_of;
use crate::run::question::{answer, interrupted, is_yes};
use reconcile_report::Failure;

/// The files to write, each with the objects that depend on it.
pub(crate) type Drafts = Vec<(Draft, Vec<ObjectKey>)>;

/// Edits the files without writing them, with the changes that are kept. What cannot be written is reported, and its objects are left alone. Also returns the exit code
/// that follows from that.
pub(crate) fn drafts(
    pulling: &mut Pulling,
    rule_file: &Result<RuleFile, String>,
    decisions: &mut Decisions,
    output: &Output,
) -> (Drafts, u8) {
    let mut drafts = pulling.drafts();
    let mut refused = Vec::new();
    for (key, change, obstacle) in pulling.obstacles() {
        refused.push((vec![key.clone()], format!("{key} {} cannot be pulled: {obstacle}", change.path)));
    }
    let ignored = decisions.with(|answer| matches!(answer, Choice::Ignore(_))).map(|one| one.key.clone());
    let ignored: Vec<ObjectKey> = ignored.collect();
    if !ignored.is_empty() {
        match rule_file.as_ref().map_err(Clone::clone).and_then(|file| file.draft(&decisions.rules())) {
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

/// The answer to the last question.
pub(crate) enum LastAnswer {
    /// Everything is to be done.
    Yes,
    /// Back to the last answer.
    Back,
    /// Nothing is to be done.
    No,
}

/// Shows what happens to the files and to the cluster, and asks. A run that is interrupted here changes nothing.
pub(crate) async fn agreed(
    drafts: &Drafts,
    others: &[OtherOverlay],
    decisions: &Decisions,
    run: &Run<'_>,
) -> Result<LastAnswer, Failure> {
    let Run { output, interrupt, info, .. } = run;
    let mut shown = Styled::new();
    for (draft, _) in drafts {
        shown.append(draft.shown(false).patch());
    }
    for other in others {
        shown.append(other.text(true));
    }
    shown.append(plan(decisions));
    output.terminal.message(&shown);
    let target = target_of(&Report::compared(Command::Apply, Vec::new(), &FailOn::default()), info);
    let new = drafts.iter().filter(|(draft, _)| draft.is_new()).map(|(draft, _)| draft.name()).next();
    let new = new.map(|name| format!(" ({name} is new)")).unwrap_or_default();
    let question = match (drafts.len(), decisions.applied().next().is_some()) {
        (0, _) => format!("Apply this to {target}? [y/N] (b: back) "),
        (files, applies) => {
            let noun = if files == 1 { "file" } else { "files" };
            let then = if applies { format!(", and apply the rest to {target}") } else { String::new() };
            format!("Write {files} {noun}{new}{then}? [y/N] (b: back) ")
        }
    };
    output.terminal.message(&Styled::new().with(Role::Name, question));
    let typed = answer(interrupt).await?.unwrap_or_default();
    if interrupt.is_set() {
        return Err(interrupted());
    }
    Ok(match typed.trim() {
        "b" => LastAnswer::Back,
        other if is_yes(other) => LastAnswer::Yes,
        _ => LastAnswer::No,
    })
}

/// Writes the files. Objects that depend on a file that cannot be written are left alone. Returns the exit code that follows.
pub(crate) fn write(drafts: &Drafts, decisions: &mut Decisions, output: &Output) -> u8 {
    let mut code = EXIT_SUCCESS;
    let mut failed: Vec<&ObjectKey> = Vec::new();
    for (draft, keys) in drafts {
        // New files come first, and others name them.
        let is_without = !draft.is_new() && keys.iter().any(|key| failed.contains(&key));
        let without = || Err("another file that it needs cannot be written".to_owned());
        match if is_without { without() } else { draft.write() } {
            Ok(()) => {
                let verb = if draft.is_new() { "created" } else { "wrote" };
                output.terminal.note(Role::Plain, &format!("{verb} {}", draft.name()));
            }
            Err(reason) => {
                code = EXIT_INCOMPLETE;
                failed.extend(keys);
                refuse(keys, &format!("{}: {reason}", draft.name()), decisions, output);
            }
        }
    }
    code
}
