//! Manifests: YAML read as kubectl reads it, each object with the position of its fields, and what is sent for it.
//!
//! ```text
//! Input{name, text} ─yaml─▶ documents ─structure─▶ Manifest… ─▶ DesiredSet
//!                   └──── mistakes, with the lines of their positions (excerpt)
//! ```
//! A manifest does not change once it is read; what is sent for it is a [`DesiredObject`].

mod built;
mod chunk;
mod desired_object;
mod encrypted;
#[expect(clippy::module_inception, reason = "the type `Manifest` is what the module is about")]
mod manifest;
mod mismatch;
mod packed;
mod release;
mod set;
mod source;
mod validate;

pub use built::{Built, BuiltDocument, BuiltFrom, BuiltPlace, Files};
pub use chunk::{Chunk, Hooks, Input, ReadChunk, alias_budget};
pub use desired_object::{BaseObject, BaseState, DesiredObject, LEFT_OUT};
pub use encrypted::{Decrypted, Place, Undecrypted, authentication_code, is_encrypted};
pub use manifest::{Manifest, Origin};
pub use mismatch::{Expected, advice, kind_of, mismatch};
pub use packed::Packed;
pub use release::{ApplyMethod, NewerRevision, Record, ReleaseInfo, ReleaseMark, ReleaseName, Releases};
pub use set::{DesiredSet, ReadOptions, gather, leave_out_copies, read, read_alone, repeated};
pub(crate) use source::template as template_of;
pub use source::{
    CHART, COMMAND_LINE, LAST_APPLIED_NAME, STDIN, Source, SourceText, is_stdin, is_stream, rendered_by_helm,
    stored_name,
};
pub use validate::KUSTOMIZE;

pub use kube_yaml as yaml;
