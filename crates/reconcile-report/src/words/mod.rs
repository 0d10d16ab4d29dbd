//! The words for a report: sentences, values, locations and comparisons that several formats share.

pub mod conflict;
pub(crate) mod deletions;
pub(crate) mod describe;
pub(crate) mod effects;
pub(crate) mod findings;
pub(crate) mod grants;
pub mod label;
pub(crate) mod owned;
pub(crate) mod parts;
pub(crate) mod sentence;
pub mod styled;
pub(crate) mod summary;
pub(crate) mod users;
pub(crate) mod value;
pub mod why;
