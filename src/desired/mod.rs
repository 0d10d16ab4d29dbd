//! (under construction)
pub mod yaml;
