//! `--confirm`: nothing is written before the answer at the terminal is yes.

use reconcile_report::formats::text::{self, summary};
use reconcile_report::{ApplySetInfo, ClusterInfo, Report};

use crate::cli::InputArgs;
use crate::engine::interrupt::Interrupt;
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::question::{can_ask, yes};

/// Refuses `--confirm` if there is no terminal to ask on.
pub(crate) fn can_confirm(input: &InputArgs) -> Result<(), Failure> {
    let hint = "leave it out in a pipeline, where `diff` and `apply` are two steps";
    can_ask("`--confirm` asks on a terminal, and there is none", input, hint)
}

/// Shows the changes, unless they are on the screen already, and asks. Every answer but yes counts as no.
pub(crate) async fn confirmed(report: &Report, cluster: &ClusterInfo, output: &Output, interrupt: &Interrupt) -> bool {
    if !output.shows_text() {
        output.terminal.message(&text::differences(report, &output.view));
    }
    output.terminal.message(&summary::plan(report, &output.view));
    yes(format!("Apply this to {}? [y/N] ", target_of(report, cluster)), output, interrupt).await
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
