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

use crate::model::Reports;
use crate::view::View;
use crate::words::styled::Styled;

/// The whole text at once: about the only context, or a section for each with a matrix at the end.
pub fn render(reports: &Reports, view: &View) -> Styled {
    match reports.only() {
        Some(report) => whole(report, view),
        None => matrix::whole(reports, view),
    }
}
