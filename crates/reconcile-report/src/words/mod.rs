//! The words for a report: sentences, values, locations and comparisons that several formats share.

pub(crate) mod certificate;
pub(crate) mod conflict;
pub(crate) mod cut;
pub(crate) mod deletions;
pub(crate) mod describe;
pub(crate) mod effects;
pub mod excerpt;
pub(crate) mod findings;
pub(crate) mod grants;
pub mod label;
pub(crate) mod line_diff;
pub(crate) mod line_pairs;
pub(crate) mod location;
mod managed;
pub(crate) mod meaning;
pub(crate) mod number;
pub(crate) mod owned;
pub(crate) mod sentence;
pub(crate) mod shared_diagnostic;
mod structured;
pub mod styled;
pub(crate) mod summary;
pub(crate) mod users;
pub(crate) mod value;
pub mod why;
pub(crate) mod word_diff;
pub(crate) mod wrapped;
