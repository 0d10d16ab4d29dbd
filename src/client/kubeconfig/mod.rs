//! Determines the server and the user from kubeconfig files, flags and the pod's service account, as kubectl does.
//!
//! ```text
//! kubeconfig files ─loader────▶ model ─┬─overrides (flags)─▶ settings, with credentials and plugin
//! service account ───settings─▶ model ─┘
//! ```

pub mod credentials;
pub(super) mod kuberc;
pub mod loader;
pub mod model;
mod overrides;
pub mod settings;

/// The most that is read of a kubeconfig or a kuberc, in bytes: what one document may have.
const LARGEST: u64 = kube_yaml::MAX_DOCUMENT as u64;
