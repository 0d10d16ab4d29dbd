//! Stage 2, read current: which resources the server knows, the objects that live there, and what the server says an
//! apply would make of them.
//!
//! ```text
//! Manifest ─catalog─▶ Target ─fetch─▶ LiveState ─ask─▶ Answer
//!                        └─ or snapshot (offline) ─▶ LiveState
//! ```

pub mod admission;
pub(crate) mod answer;
pub mod apply_set;
pub mod ask;
mod cache;
pub mod catalog;
pub mod fetch;
pub(crate) mod list;
mod page;
pub mod resolve;
pub mod snapshot;
pub mod types;

use serde_json::Value;

use crate::cluster::{Cluster, Request};
use crate::desired::InputProblem;

pub use crate::cluster::{Cause, RequestCounts, RequestError, StatusError};
pub use catalog::{Catalog, Resolution, Resource};
pub use resolve::Target;

/// What is known of the live object: forbidden is not absent.
#[derive(Clone, Debug)]
pub enum LiveState {
    /// It is there.
    Present(Value),
    /// The server says that there is none.
    Absent,
    /// It could not be read.
    Unreadable(Trouble),
}

/// Why an object could not be read, compared or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// A short name in the API's style: `Forbidden`, `Invalid`, `UnknownKind`, `Terminating`.
    pub reason: String,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What is wrong in the manifest, each at its place.
    pub mistakes: Vec<InputProblem>,
}

impl Trouble {
    /// Trouble without advice.
    #[must_use]
    pub fn new(reason: &str, message: impl Into<String>) -> Self {
        Self { reason: reason.to_owned(), message: message.into(), hint: None, mistakes: Vec::new() }
    }

    /// The same, with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
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

impl From<&RequestError> for Trouble {
    /// The reason of a refusal is the server's; what never got an answer is named after what happened.
    fn from(error: &RequestError) -> Self {
        let reason = match error {
            RequestError::Status(status) | RequestError::Unauthorized { status, .. } => status.reason.clone(),
            RequestError::TimedOut { .. } => "Timeout".to_owned(),
            RequestError::Stopped => "Interrupted".to_owned(),
            RequestError::Unreachable { .. } | RequestError::Interrupted { .. } => "ConnectionLost".to_owned(),
            _ => "Failed".to_owned(),
        };
        Self { hint: error.hint(), ..Self::new(&reason, error.to_string()) }
    }
}
