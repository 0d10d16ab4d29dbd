//! The edits of files: of the manifests by `pull` and `resolve`, and of the configuration by `resolve`.
//!
//! ```text
//! objects that were compared ─ Pulling ─▶ proposals ─ questions ─▶ Draft ─ ManifestFile ─▶ file
//! ```

pub(crate) mod decided;
pub(crate) mod draft;
mod manifest_file;
pub(crate) mod patch_questions;
mod proposed;
pub(crate) mod pulling;
pub(crate) mod resolve_pass;
pub(crate) mod resolve_questions;
pub(crate) mod rule_file;
