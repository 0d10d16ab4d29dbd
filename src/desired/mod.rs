//! Stage 1, read desired: find the files, read YAML as kubectl reads it, and name every object's place.
//!
//! ```text
//! -f PATH… ─files─▶ Input{name, bytes} ─yaml─▶ documents ─manifest─▶ DesiredSet
//! ```
//! Only [`files`] touches the file system; everything else is pure.

pub mod files;
mod manifest;
mod selector;
mod set;
pub mod yaml;

pub use manifest::{Manifest, Source};
pub use selector::{Selector, SelectorError};
pub(crate) use set::twice;
pub use set::{DesiredSet, InputProblem, ReadOptions, read};
