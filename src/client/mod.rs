//! The edge to the cluster: kubeconfig, credentials, proxies, deadlines, retries and request counts.
//!
//! [`connect`] determines the server and the user exactly as kubectl does, and sends nothing. [`Cluster::send`] sends one
//! [`Request`] within its deadline, repeats it if that is safe, and counts it. [`Cluster::watch`] opens a watch.
//!
//! ```text
//! flags + environment ─kubeconfig─▶ ConnectionSettings ─auth─▶ Session ─transport─▶ answer
//!                                                         ▲               │
//!                                                         └────── 401 ────┤
//!                                                                retry ◀──┘ RequestError (connect_cause, status)
//! ```
//!
//! `kubeconfig` knows neither `auth` nor `transport`, and `transport` does not know `auth`: [`connect`] and [`Cluster`] put them
//! together.
//!
//! It is built on kube: `kubeconfig` fills a `kube::Config`, and `transport` sends every request with `kube::Client::send`, over
//! TLS of its own.

mod auth;
mod cluster;
mod connect;
mod download;
mod early;
mod error;
mod kubeconfig;
mod options;
mod request;
mod transport;
mod write_request;

#[cfg(test)]
mod tests;

pub use auth::exec::ExecError;
pub use cluster::Cluster;
pub use connect::{ConfigNames, Context, Contexts, config_names, connect, connect_if, target_of};
pub use download::{Bounds, download};
pub use early::MOST_EARLY;
pub(crate) use error::NO_CLUSTER;
pub use kubeconfig::settings::namespace_flag;
pub use options::{ConnectOptions, Environment, InvalidTimeout, Log, MAX_TIMEOUT, RequestTimeout};
pub use reconcile_core::request::{Address, Cause, RequestCounts, RequestError, StatusError, is_path_segment};
pub use request::{BodyReader, IN_FLIGHT, MOST_IN_FLIGHT, Request, RequestKind, Retry, Warnings};
pub use transport::watch::{Watch, WatchEvent};
pub use write_request::{Change, DryRun, Write, WriteRequest};
