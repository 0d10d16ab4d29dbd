//! `--confirm`: nothing is written before the answer at the terminal is yes.

use std::sync::mpsc::TryRecvError;
use std::time::Duration;

use reconcile_report::formats::text::{self, summary};
use reconcile_report::{ApplySetInfo, ClusterInfo, Report};
use reconcile_report::{Role, Styled};

use crate::cli::InputArgs;
use crate::engine::interrupt::Interrupt;
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::terminal;
use reconcile_core::diagnostic::Diagnostic;

/// The interval at which the answer and Ctrl-C are checked for.
const LOOK: Duration = Duration::from_millis(50);

/// Refuses `--confirm` if there is no terminal to ask on.
pub(crate) fn can_confirm(input: &InputArgs) -> Result<(), Failure> {
    let refused = |hint: &str| {
        let diagnostic = Diagnostic::general("`--confirm` asks on a terminal, and there is none");
        Err(Failure::invalid(diagnostic.with_hint(hint)))
    };
    if input.filename.iter().any(|path| path == "-") {
        return refused("standard input is taken by `-f -`: read the manifests from a file");
    }
    if terminal::can_ask() {
        Ok(())
    } else {
        refused("leave it out in a pipeline, where `diff` and `apply` are two steps")
    }
}

/// Shows the changes, unless they are on the screen already, and asks. Every answer but yes counts as no.
pub(crate) async fn confirmed(report: &Report, cluster: &ClusterInfo, output: &Output, interrupt: &Interrupt) -> bool {
    if !output.shows_text() {
        output.terminal.message(&text::differences(report, &output.view));
    }
    output.terminal.message(&summary::plan(report, &output.view));
    answered(format!("Apply this to {}? [y/N] ", target_of(report, cluster)), output, interrupt).await
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

/// Asks a question; returns true for yes.
pub(crate) async fn answered(question: String, output: &Output, interrupt: &Interrupt) -> bool {
    output.terminal.message(&Styled::new().with(Role::Name, question));
    let answer = terminal::line();
    loop {
        match answer.try_recv() {
            Ok(line) => return ["y", "yes"].contains(&line.trim().to_ascii_lowercase().as_str()),
            Err(TryRecvError::Disconnected) => return false,
            Err(TryRecvError::Empty) if interrupt.is_set() => return false,
            Err(TryRecvError::Empty) => tokio::time::sleep(LOOK).await,
        }
    }
}
