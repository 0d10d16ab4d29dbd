//! A stream of changes: one JSON event per line, read as they come.

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use kube::client::Body;
use serde::Deserialize;
use serde_json::Value;

use std::sync::Arc;

use super::endpoint::Endpoint;
use super::exchange::next_part;
use crate::client::request::RequestKind;
use reconcile_core::request::RequestError;
use reconcile_core::request::StatusError;

/// What a watch tells (apimachinery `pkg/watch/watch.go`).
#[derive(Clone, Debug, PartialEq)]
pub enum WatchEvent {
    /// An object was added or changed; this is how it is now.
    Set(Value),
    /// An object is gone; this is how it was.
    Deleted(Value),
    /// Nothing happened, and the server is still there.
    Bookmark,
    /// The server cannot go on, most often as the resourceVersion is too old (410): everything has to be read again.
    Failed(StatusError),
}

/// An open stream of changes; dropping it closes it.
pub struct Watch {
    endpoint: Arc<Endpoint>,
    body: Body,
    /// What came of the line that is not complete yet.
    line: BytesMut,
    /// Up to here the line was searched for its end.
    searched: usize,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    object: Value,
}

impl Watch {
    pub(in crate::client) fn new(endpoint: Arc<Endpoint>, body: Body) -> Self {
        Self { endpoint, body, line: BytesMut::new(), searched: 0 }
    }

    /// The next event; nothing when the server ended the stream in good order. The server is silent for a minute at most where
    /// it sends bookmarks: after longer silence the connection counts as lost.
    pub async fn next(&mut self) -> Result<Option<WatchEvent>, RequestError> {
        loop {
            while let Some(line) = self.whole_line() {
                if !line.trim_ascii().is_empty() {
                    return self.read(&line).map(Some);
                }
            }
            let limit = RequestKind::Watch.body_limit();
            if self.line.len() > limit {
                return Err(RequestError::TooLarge { limit });
            }
            match next_part(&self.endpoint, &mut self.body).await? {
                Some(part) => self.line.extend_from_slice(&part),
                None if self.line.is_empty() => return Ok(None),
                None => return Err(self.unreadable("it ends in the middle of an event")),
            }
        }
    }

    fn whole_line(&mut self) -> Option<Bytes> {
        let mut new = self.line.iter().enumerate().skip(self.searched);
        let end = new.find(|(_, byte)| **byte == b'\n').map(|(at, _)| at.saturating_add(1));
        self.searched = if end.is_some() { 0 } else { self.line.len() };
        Some(self.line.split_to(end?).freeze())
    }

    fn read(&self, line: &[u8]) -> Result<WatchEvent, RequestError> {
        let event: Event = serde_json::from_slice(line).map_err(|_| self.unreadable("it is not an event"))?;
        match event.kind.as_str() {
            "ADDED" | "MODIFIED" => Ok(WatchEvent::Set(event.object)),
            "DELETED" => Ok(WatchEvent::Deleted(event.object)),
            "BOOKMARK" => Ok(WatchEvent::Bookmark),
            "ERROR" => Ok(WatchEvent::Failed(failure(&event.object))),
            _ => Err(self.unreadable("it is not an event")),
        }
    }

    fn unreadable(&self, cause: &str) -> RequestError {
        RequestError::Unreadable { server: self.endpoint.server.clone(), cause: cause.to_owned() }
    }
}

fn failure(status: &Value) -> StatusError {
    let code = status.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let code = code.and_then(|code| StatusCode::from_u16(code).ok()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    StatusError::parse(code, &HeaderMap::new(), status.to_string().as_bytes())
}
