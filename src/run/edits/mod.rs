//! The edits of files: of the manifests by `pull` and `resolve`, and of the configuration by `resolve`.
//!
//! ```text
//! objects that were compared ─ Pulling ─▶ proposals ─ questions ─▶ Draft ─ ManifestFile ─▶ file
//! ```

pub(crate) mod draft;
pub(crate) mod manifest_file;
pub(crate) mod on_server;
pub(crate) mod overlay;
pub(crate) mod proposed;
pub(crate) mod pulling;
pub(crate) mod switches;
