//! Stage 1, read desired: find the files, read YAML as kubectl reads it, and name every object's place.
//!
//! ```text
//! -f PATH… ─files─▶ Input{name, bytes} ─yaml─▶ documents ─manifest─▶ DesiredSet
//! ```
//! Only [`files`] touches the file system; everything else is pure.

mod excerpt;
pub mod files;
mod manifest;
mod mismatch;
mod names;
mod problem;
mod selector;
mod set;
mod source;
mod structure;
pub mod yaml;

pub use excerpt::{Excerpt, Line, Underline};
pub use manifest::Manifest;
pub use mismatch::{Expected, advice, kind_of, mismatch};
pub use problem::InputProblem;
pub use selector::{Selector, SelectorError};
pub(crate) use set::twice;
pub use set::{DesiredSet, ReadOptions, read};
pub use source::{Source, SourceText};
