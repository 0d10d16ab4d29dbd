//! Stage 2, read current: discovers the resources of the server and fetches the live objects.
//!
//! ```text
//! Manifest ─discovery─▶ Target ─fetch─▶ LiveState
//!                          └─ or snapshot (offline) ─▶ LiveState
//! ```
//! The values are those of [`reconcile_core::live`]; this module sends the requests that fill them.

pub(crate) mod admission;
mod all_namespaces;
pub(crate) mod answer;
pub(crate) mod autoscalers;
mod cache;
pub(crate) mod definitions;
pub mod discovery;
pub(crate) mod early;
pub mod fetch;
pub(crate) mod last_applied;
pub(crate) mod list;
mod openapi;
mod parallel;
pub(crate) mod release;
pub mod types;

pub(crate) use answer::{json, parse};
pub use discovery::discover;
