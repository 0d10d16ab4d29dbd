//! The output formats: a file or folder for each, and the table of them.

mod format;
mod github;
mod gitlab;
pub mod html;
pub mod json;
pub mod jsonl;
mod junit;
mod markdown;
pub mod name;
mod prometheus;
mod sarif;
pub mod text;
pub mod unified;
mod yaml;

pub use format::{FORMATS, Format, Render};
