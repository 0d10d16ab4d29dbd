//! `--patch`: one question for each change, as `git add -p` asks.

use reconcile_core::pull::Obstacle;
use reconcile_report::{Role, Styled};

use crate::engine::interrupt::Interrupt;
use crate::output::Output;
use crate::run::edits::pulling::Pulling;
use crate::run::question::answer;
use reconcile_report::Failure;

/// The answers, and what they do.
const ANSWERS: [&str; 6] = [
    "y - write this change into the manifest",
    "n - leave it out",
    "a - write this change and all later ones of the file",
    "d - leave out this change and all later ones of the file",
    "q - quit: leave out this change and all later ones",
    "? - show this help",
];

/// The answers for the rest of a file, or of the run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Ask,
    TakeFile,
    LeaveFile,
    Leave,
}

/// Asks about each change that can be made. The others keep their obstacle, and those that are left out get one.
pub(crate) async fn ask(pulling: &mut Pulling, output: &Output, interrupt: &Interrupt) -> Result<(), Failure> {
    let mut rest = Rest::Ask;
    let mut current = None;
    for proposed in pulling.proposed() {
        let file = proposed.edited_file().to_owned();
        if current.as_ref() != Some(&file) && rest != Rest::Leave {
            rest = Rest::Ask;
        }
        current = Some(file);
        if rest == Rest::Ask && !proposed.try_alone() {
            continue;
        }
        let mut is_asked = false;
        let is_taken = loop {
            match rest {
                Rest::TakeFile => break true,
                Rest::LeaveFile | Rest::Leave => break false,
                Rest::Ask => {}
            }
            is_asked = true;
            output.terminal.message(&proposed.question(&output.view));
            match answer(interrupt).await?.as_deref().map(str::trim) {
                Some("y") => break true,
                Some("n") => break false,
                Some("a") => rest = Rest::TakeFile,
                Some("d") => rest = Rest::LeaveFile,
                Some("q") | None => rest = Rest::Leave,
                Some(_) => output.terminal.message(&help()),
            }
        };
        if !is_taken {
            proposed.leave_out(if is_asked { Obstacle::Declined } else { Obstacle::NotAsked });
        }
    }
    Ok(())
}

fn help() -> Styled {
    let mut text = Styled::new();
    for answer in ANSWERS {
        text.push(Role::Hint, answer);
        text.line_end();
    }
    text
}
