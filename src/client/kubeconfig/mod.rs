//! Determines the server and the user from kubeconfig files, flags and the pod's service account, as kubectl does.
//!
//! ```text
//! kubeconfig files ─loader────▶ model ─┬─overrides (flags)─▶ settings, with credentials and plugin
//! service account ──in_cluster▶ model ─┘
//! ```

pub mod credentials;
mod files;
mod in_cluster;
pub(super) mod kuberc;
pub mod loader;
pub mod model;
mod overrides;
pub mod plugin;
pub mod settings;
