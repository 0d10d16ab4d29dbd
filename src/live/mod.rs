//! Stage 2, read current: which resources the server knows, and the objects that live there.
//!
//! ```text
//! Manifest ─catalog─▶ Target ─fetch─▶ LiveState
//!                        └─ or snapshot (offline) ─▶ LiveState
//! ```

mod about;
pub mod access;
mod across;
pub mod admission;
pub(crate) mod answer;
pub(crate) mod autoscalers;
mod cache;
pub(crate) mod definitions;
pub mod discovery;
pub mod discreet;
pub mod fetch;
pub(crate) mod list;
mod live_state;
mod page;
pub mod readiness;
pub mod resolve;
mod resource;
mod sieve;
pub mod snapshot;
mod tidy;
pub mod types;

pub use crate::client::{Cause, RequestCounts, RequestError, StatusError};
pub(crate) use answer::{json, parse};
pub use discovery::{Discovery, Resolution};
pub use live_state::LiveState;
pub use resolve::{InPart, Target};
pub use resource::Resource;
