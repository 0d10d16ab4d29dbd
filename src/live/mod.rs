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
pub mod discovery;
pub mod discreet;
pub mod fetch;
pub(crate) mod list;
mod page;
pub mod readiness;
pub mod resolve;
pub mod snapshot;
pub mod types;

use crate::diagnostic::Diagnostic;
use serde_json::Value;

use crate::client::{Cluster, Request};

pub use crate::client::{Cause, RequestCounts, RequestError, StatusError};
pub use discovery::{Discovery, Resolution, Resource};
pub use resolve::{InPart, Target};

/// What is known of the live object: forbidden is not absent.
#[derive(Clone, Debug)]
pub enum LiveState {
    /// It is there.
    Present(Value),
    /// The server says that there is none.
    Absent,
    /// It could not be read.
    Unreadable(Diagnostic),
}

/// Sends a request whose answer is JSON.
pub(crate) async fn json(cluster: &Cluster, request: Request) -> Result<Value, RequestError> {
    let reply = cluster.send(request).await?;
    parse(cluster, &reply.body)
}

/// Reads an answer.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(cluster: &Cluster, body: &[u8]) -> Result<T, RequestError> {
    serde_json::from_slice(body).map_err(|_| RequestError::Unreadable {
        server: cluster.server().to_owned(),
        cause: "it is not JSON".to_owned(),
    })
}
