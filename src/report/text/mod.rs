//! `-o text`: for people. Live on the left, desired on the right: what `apply` would do.
//!
//! Signs and names are at the left edge, paths and values below, owners and files at the right. What needs attention comes last,
//! nearest to the prompt.

mod certificate;
mod change;
mod contrast;
mod definition;
mod difference;
mod fields;
mod hunks;
mod notes;
mod object;
mod sheet;
mod structured;
#[cfg(test)]
mod tests;
mod together;
mod whole;
mod why;

pub(super) use notes::is_shown;
pub(super) use object::{conflict_hint, foremost, object_text, problem};
pub(super) use together::{alike, places};
pub(super) use whole::parent_text;
pub use whole::{differences, findings, whole};
pub(super) use why::{owner_text, why};
