//! Which server to talk to and as whom: kubeconfig files, flags and the pod's service account, resolved as kubectl resolves them.
//!
//! ```text
//! kubeconfig files ─loader────▶ model ─┬─overrides (flags)─▶ settings, with credentials and plugin
//! service account ──in_cluster▶ model ─┘
//! ```

pub mod credentials;
mod files;
mod in_cluster;
pub mod loader;
pub mod model;
mod overrides;
pub mod plugin;
pub mod settings;
