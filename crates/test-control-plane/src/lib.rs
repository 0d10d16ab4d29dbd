//! A real Kubernetes control plane for tests and benches: etcd, the API server, controllers and fake nodes, built from
//! Go modules.
//!
//! ```text
//! binaries ──▶ component (supervised process) ──▶ server: etcd + kube-apiserver ──▶ nodes: controllers, scheduler, fake node
//!                                                    │
//!                       workspace: a namespace, a folder of manifests, and callers that run kubectl and our program there
//! ```
//!
//! A scenario only needs a workspace:
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
mod calls;
mod component;
mod credentials;
mod definition;
mod fault;
mod gate;
mod gzip;
mod helm;
mod nodes;
mod pipeline;
mod port;
mod proxy;
mod reference;
mod relay;
mod replaced;
mod rng;
mod run;
mod running;
pub mod scripted;
mod secrets;
mod server;
mod target;
pub mod terminal;
mod wait;
mod workspace;

pub use api::{Api, Resource};
pub use audit::Request;
pub use binaries::is_before;
pub use caller::Caller;
pub use component::Component;
pub use definition::{ANY_FIELDS, definition, definition_with_status, resource};
pub use fault::{ConnectionFault, Fault};
pub use gate::Gate;
pub use gzip::gzip;
pub use pipeline::pipeline_commands;
pub use proxy::{PREFIX, Proxy};
pub use reference::{expanding_completion, structured_merge};
pub use relay::Relay;
pub use replaced::Replaced;
pub use rng::Rng;
pub use run::Run;
pub use running::{Running, peak_memory};
pub use secrets::{base64, leaked_secret};
pub use server::ControlPlane;
pub use target::program;
pub use wait::wait_until;
pub use workspace::Workspace;

use std::path::PathBuf;

/// `kubectl` of the version of the control plane, without starting one.
#[track_caller]
pub fn kubectl() -> PathBuf {
    binaries::Binaries::server().unwrap_or_else(|error| panic!("{error}")).program("kubectl")
}
