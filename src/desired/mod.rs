//! Stage 1, read desired: find the files, read YAML as kubectl reads it, and name every object's place.
//!
//! ```text
//! -f PATH… -k DIR ─files─▶ Input{name, text} ─yaml─▶ documents ─structure─▶ Manifest… ─▶ DesiredSet
//!                                                └──── problems, with the lines of their places (excerpt)
//! ```
//! A manifest does not change once it is read; what is sent for it is a [`DesiredObject`].
//!
//! Only [`files`] touches the file system and starts programs; everything else is pure. URLs are fetched by the cluster's
//! side, which knows of TLS and proxies, and handed in.

mod chunk;
mod desired_object;
pub mod files;
mod manifest;
mod mismatch;
mod origin;
mod set;
mod source;
mod validate;

pub use chunk::{Chunk, ReadChunk, alias_budget};
pub use desired_object::{DesiredObject, LEFT_OUT, Placement};
pub use manifest::Manifest;
pub use mismatch::{Expected, advice, kind_of, mismatch};
pub use origin::Origin;
pub use set::{DesiredSet, ReadOptions, gather, read};
pub(crate) use set::{leave_out_copies, repeated};
pub use source::{Source, SourceText};

pub use crate::object::{Selector, SelectorError};
pub use kube_yaml as yaml;
