//! The real Kubernetes that scenarios run against.
//!
//! ```text
//! binaries ──▶ component (supervised process) ──▶ server: etcd + kube-apiserver ──▶ nodes: controllers, scheduler, fake node
//!                                                    │
//!                       workspace: a namespace, a folder of manifests, and callers that run kubectl and our program there
//! ```
//!
//! A scenario starts with a workspace and needs to know nothing else:
//!
//! ```text
//! let ws = Workspace::new();
//! ws.write("web.yaml", MANIFEST);
//! ws.reconcile(["diff", "-f", "web.yaml"]).exits_with(1);
//! ```

mod api;
mod audit;
mod binaries;
mod caller;
mod component;
mod credentials;
mod nodes;
mod proxy;
mod relay;
mod run;
mod running;
mod secrets;
mod server;
mod terminal;
mod workspace;

pub use audit::Request;
pub use caller::Caller;
pub use component::Component;
pub use proxy::{Fault, Proxy};
pub use relay::Relay;
pub use run::Run;
pub use running::Running;
pub use secrets::{base64, leaked_secret};
pub use server::ControlPlane;
pub use workspace::Workspace;

use std::path::PathBuf;

/// The folder for everything that lives as long as one test run, inside the build's own target folder.
fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}
