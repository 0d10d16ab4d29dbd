//! Questions to a person at the terminal.

use reconcile_report::{ApplySetInfo, ClusterInfo, Failure, Report, Role, Styled};

use crate::cli::InputArgs;
use crate::engine::interrupt::Interrupt;
use crate::output::Output;
use crate::terminal;

/// Refuses a command or a flag that asks if there is no terminal to ask on, with this message; `hint` says what to do without one.
pub(crate) fn can_ask(message: &str, input: &InputArgs, hint: &str) -> Result<(), Failure> {
    let hint = match (input.reads_stdin(), terminal::can_ask()) {
        (true, _) => "standard input is taken by `-f -`: read the manifests from a file",
        (false, false) => hint,
        (false, true) => return Ok(()),
    };
    Err(Failure::refused(message, hint))
}

/// Reads a line of the terminal; `None` at its end. Ctrl-C ends the run before anything is written.
pub(crate) async fn answer(interrupt: &Interrupt) -> Result<Option<String>, Failure> {
    tokio::select! {
        biased;
        line = terminal::read_line() => Ok(line.ok()),
        () = interrupt.token().cancelled() => Err(interrupted()),
    }
}

/// Asks a question. Every answer but yes counts as no, and so does Ctrl-C.
pub(crate) async fn yes(question: String, output: &Output, interrupt: &Interrupt) -> bool {
    output.terminal.message(&Styled::new().with(Role::Name, question));
    let answer = answer(interrupt).await.ok().flatten().unwrap_or_default();
    is_yes(answer.trim())
}

/// Returns true if an answer is yes.
pub(crate) fn is_yes(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.to_ascii_lowercase().as_str())
}

/// The failure of a run that ended at a question.
pub(crate) fn interrupted() -> Failure {
    Failure::interrupted("the run was interrupted: nothing was written")
}

/// Refuses `--confirm` if there is no terminal to ask on.
pub(crate) fn can_confirm(input: &InputArgs) -> Result<(), Failure> {
    let hint = "leave it out in a pipeline, where `diff` and `apply` are two steps";
    can_ask("`--confirm` asks on a terminal, and there is none", input, hint)
}

/// The context and the server of a report, and the namespaces with deletions that no manifest names.
pub(crate) fn target_of(report: &Report, cluster: &ClusterInfo) -> String {
    let target = match &cluster.context {
        Some(context) => format!("`{context}` ({})", cluster.server),
        None => cluster.server.clone(),
    };
    let namespaces = report.apply_set.as_ref().and_then(ApplySetInfo::unnamed_namespaces);
    let deletions = namespaces.map(|namespaces| format!(", with deletions in {namespaces}")).unwrap_or_default();
    format!("{target}{deletions}")
}
