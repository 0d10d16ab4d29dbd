//! The words for a report: sentences, values, locations and comparisons that several formats share.

pub(crate) mod added_items;
mod certificate;
pub mod cluster;
pub(crate) mod coded;
pub(crate) mod cut;
pub(crate) mod describe;
mod difference;
pub mod excerpt;
pub(crate) mod findings;
pub(crate) mod fingerprint;
pub(crate) mod grants;
pub(crate) mod installer;
pub mod label;
pub(crate) mod line_diff;
pub(crate) mod location;
mod managed;
pub(crate) mod meaning;
pub(crate) mod number;
pub(crate) mod sentence;
pub(crate) mod shared_diagnostic;
mod structured;
pub mod styled;
pub(crate) mod summary;
pub(crate) mod value;
pub(crate) mod verdict;
pub mod why;
pub(crate) mod word_diff;
