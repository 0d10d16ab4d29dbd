//! structured merge

#![forbid(unsafe_code)]

pub mod object;
pub mod schema;
