//! All formats over one rich report, and over one whose every text comes from an attacker.

mod formats;
mod grouped;
mod hostile;
mod parsers;
mod scenario;
pub mod schema;
mod visible;
