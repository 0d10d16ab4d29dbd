//! `-o text`: for people. Live on the left, desired on the right: what `apply` would do.
//!
//! Signs and names are at the left edge, paths and values below, owners and files at the right. What needs attention comes last,
//! nearest to the prompt.

mod change;
mod definition;
mod explain_ignores;
mod fields;
mod hunks;
pub mod matrix;
mod notes;
mod object;
pub mod outcomes;
pub mod readiness;
mod sheet;
pub mod summary;
#[cfg(test)]
mod tests;
mod together;
pub(crate) mod unmanaged;
mod whole;

pub use explain_ignores::explained;
pub(crate) use notes::is_shown;
pub(crate) use object::{foremost, object_error, object_text};
pub(crate) use whole::parent_text;
pub use whole::{differences, findings, whole};

use crate::{Reports, Styled, View};

/// The whole text at once: about the only context, or a section for each with a matrix at the end.
pub fn render(reports: &Reports, view: &View) -> Styled {
    match reports.only() {
        Some(report) => whole(report, view),
        None => matrix::whole(reports, view),
    }
}
