//! `--patch`: one question for each change, as `git add -p` asks.

use std::sync::mpsc::TryRecvError;
use std::time::Duration;

use reconcile_core::pull::{Obstacle, Proposal};
use reconcile_core::text::one_line;
use reconcile_report::{Role, Styled};
use serde_json::Value;

use crate::engine::interrupt::Interrupt;
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::terminal;

/// The interval at which the answer and Ctrl-C are checked for.
const LOOK: Duration = Duration::from_millis(50);
/// Longest value in a question, in characters.
const VALUE: usize = 200;

const HELP: &str = "\
y - write this change into the manifest
n - leave it out
a - write this change and all later ones of the file
d - leave out this change and all later ones of the file
q - quit: leave out this change and all later ones
? - show this help";

/// Refuses `--patch` if there is no terminal to ask on.
pub(crate) fn can_ask(reads_stdin: bool) -> Result<(), Failure> {
    match (reads_stdin, terminal::can_ask()) {
        (true, _) => {
            let hint = "standard input is taken by `-f -`: read the manifests from a file";
            Err(Failure::refused("`--patch` asks on a terminal, and there is none", hint))
        }
        (false, false) => {
            let hint = "choose with `--class`, `--manager`, `--field` and `--object` instead";
            Err(Failure::refused("`--patch` asks on a terminal, and there is none", hint))
        }
        (false, true) => Ok(()),
    }
}

/// The answers for the rest of a file, or of the run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Ask,
    TakeFile,
    LeaveFile,
    Leave,
}

/// Asks about each change that can be made. The others keep their obstacle, and those that are left out get one.
pub(crate) async fn ask<'p>(
    proposals: impl Iterator<Item = (&'p str, &'p mut Proposal)>,
    output: &Output,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    let (mut rest, mut current) = (Rest::Ask, None);
    for (file, proposal) in proposals.filter(|(_, proposal)| proposal.edit.is_ok()) {
        if current.replace(file) != Some(file) && rest != Rest::Leave {
            rest = Rest::Ask;
        }
        let is_taken = loop {
            match rest {
                Rest::TakeFile => break true,
                Rest::LeaveFile | Rest::Leave => break false,
                Rest::Ask => {}
            }
            output.terminal.message(&question(file, proposal));
            match answer(interrupt).await?.as_deref().map(str::trim) {
                Some("y") => break true,
                Some("n") => break false,
                Some("a") => rest = Rest::TakeFile,
                Some("d") => rest = Rest::LeaveFile,
                Some("q") | None => rest = Rest::Leave,
                Some(_) => output.terminal.message(&Styled::new().with(Role::Hint, HELP)),
            }
        };
        if !is_taken {
            proposal.edit = Err(Obstacle::Declined);
        }
    }
    Ok(())
}

fn question(file: &str, proposal: &Proposal) -> Styled {
    let shown = |value: &Option<Value>| match value {
        Some(value) => one_line(&value.to_string(), VALUE),
        None => "nothing".to_owned(),
    };
    let change = &proposal.change;
    let values = format!(" {}: {} → {}", change.path, shown(&change.desired), shown(&change.live));
    let mut question = Styled::new().with(Role::Name, proposal.key.to_string()).with(Role::Plain, values);
    question.line_end();
    question.with(Role::Note, format!("Write this into {file}? [y,n,a,d,q,?] "))
}

/// The answer; `None` at the end of standard input.
pub(crate) async fn answer(interrupt: &Interrupt) -> Result<Option<String>, Failure> {
    let answer = terminal::line();
    loop {
        match answer.try_recv() {
            Ok(line) => return Ok(Some(line)),
            Err(TryRecvError::Disconnected) => return Ok(None),
            Err(TryRecvError::Empty) if interrupt.is_set() => return Err(interrupted()),
            Err(TryRecvError::Empty) => tokio::time::sleep(LOOK).await,
        }
    }
}

/// The failure of a run that ended before it wrote a file.
pub(crate) fn interrupted() -> Failure {
    Failure::interrupted("the run was interrupted: no file was written")
}
