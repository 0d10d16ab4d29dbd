//! Which server to talk to and as whom: kubeconfig files, flags and the pod's service account, resolved as kubectl resolves them.
//!
//! ```text
//! files ─loader─▶ model ─┐
//! flags ─────────────────┴─overrides─▶ settings
//! service account ─in_cluster─▶ model ──▲
//! ```

mod in_cluster;
mod loader;
mod model;
mod overrides;
mod settings;

pub use loader::{Kubeconfig, KubeconfigError, first_document};
pub use model::{ClusterEntry, ExecEntry};
pub use settings::{Credentials, Identity, Impersonation, Settings, Trust, namespace_flag};
