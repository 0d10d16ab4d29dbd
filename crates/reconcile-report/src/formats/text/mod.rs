//! `-o text`: for people. Live on the left, desired on the right: what `apply` would do.
//!
//! Signs and names are at the left edge, paths and values below, owners beside these, and files at the right edge. What needs
//! attention comes last, nearest to the prompt.

mod change;
mod definition;
mod fields;
pub mod matrix;
mod notes;
mod object;
pub mod outcomes;
pub mod owned;
pub mod readiness;
mod sheet;
#[cfg(test)]
mod tests;
mod together;
mod whole;

pub(crate) use definition::summary as definition_summary;
pub(crate) use notes::is_shown;
pub use notes::{about, object_warnings};
pub(crate) use object::{foremost, object_error, object_text};
pub(crate) use sheet::MARGIN;
pub use whole::{cluster_line, differences, explained, findings, plan, summary, whole};
pub(crate) use whole::{dropped_lines, parent_text, unmanaged_lines};

use reconcile_core::diagnostic::Diagnostic;

use crate::model::{Report, Reports};
use crate::view::View;
use crate::words::sentence::excerpt;
use crate::words::styled::{Role, Styled};
use crate::words::summary::verdict_of;

/// The whole text at once: about the only context, or a section for each with a matrix at the end. The errors and warnings of the run are
/// beside it, on standard error.
pub fn render(reports: &Reports, view: &View) -> Styled {
    whole_with(reports, view, |_| Styled::new())
}

/// The whole text of a file, which has the errors and warnings of the run as well.
pub fn in_file(reports: &Reports, view: &View) -> Styled {
    let mut text = warnings(&reports.warnings);
    text.append(whole_with(reports, view, of_run));
    text
}

/// The whole text, with remarks before that of each context.
fn whole_with(reports: &Reports, view: &View, remarks: fn(&Report) -> Styled) -> Styled {
    let Some(report) = reports.only() else { return matrix::whole(reports, view, remarks) };
    let mut text = remarks(report);
    if matrix::is_stopped(report) {
        text.line(Role::Plain, verdict_of(report).sentence);
        report.cluster.iter().for_each(|cluster| text.append(cluster_line(cluster)));
    } else {
        text.append(whole(report, view));
    }
    text
}

/// The errors and warnings of a run as a whole.
fn of_run(report: &Report) -> Styled {
    let before = |diagnostic: &Diagnostic| format!("{}: ", diagnostic.severity);
    let mut text = excerpt::diagnostics(report.errors.iter(), "", None, before);
    text.append(warnings(&report.warnings));
    text
}

fn warnings(warnings: &[String]) -> Styled {
    let mut text = Styled::new();
    for warning in warnings {
        text.line(Role::Note, format!("warning: {warning}"));
    }
    text
}
