//! A watch: a stream of JSON events, one per line.

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use kube::client::Body;
use serde::Deserialize;
use serde_json::Value;

use std::sync::Arc;

use super::connector::Token;
use super::endpoint::Endpoint;
use super::exchange::next_part;
use crate::client::request::RequestKind;
use reconcile_core::exact;
use reconcile_core::object::Projection;
use reconcile_core::request::RequestError;
use reconcile_core::request::StatusError;

/// An event of a watch (apimachinery `pkg/watch/watch.go`).
#[derive(Clone, Debug, PartialEq)]
pub enum WatchEvent {
    /// An object was added or changed; this is its new state.
    Set(Value),
    /// An object was deleted; this is its last state.
    Deleted(Value),
    /// Nothing changed, and the server is still there.
    Bookmark,
    /// The server cannot continue, most often because the resourceVersion is too old (410): everything has to be listed again.
    Failed(StatusError),
}

/// An open watch; dropping it closes the connection.
pub struct Watch {
    endpoint: Arc<Endpoint>,
    body: Body,
    /// The token that was sent.
    token: Token,
    /// The fields of objects that are kept.
    kept: Projection,
    /// The part of an incomplete line that was received.
    line: BytesMut,
    /// The number of bytes of the line that were searched for its end.
    searched: usize,
}

/// The type of an event; its object is read once it is known which fields are kept.
#[derive(Deserialize)]
struct EventType {
    #[serde(rename = "type")]
    name: String,
}

impl Watch {
    pub(in crate::client) fn new(endpoint: Arc<Endpoint>, (body, token): (Body, Token), kept: Projection) -> Self {
        Self { endpoint, body, token, kept, line: BytesMut::new(), searched: 0 }
    }

    /// Reads the next event; `None` if the server ended the stream properly. A server that sends bookmarks is silent for a minute at
    /// most: after a longer silence, the connection counts as lost.
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
        let no_event = || self.unreadable("it is not an event");
        let object = |kept: Projection| kept.read_at("object", line).map_err(|_| no_event());
        let event: EventType = exact::from_slice(line).map_err(|_| no_event())?;
        match event.name.as_str() {
            "ADDED" | "MODIFIED" => Ok(WatchEvent::Set(object(self.kept)?)),
            "DELETED" => Ok(WatchEvent::Deleted(object(self.kept)?)),
            "BOOKMARK" => Ok(WatchEvent::Bookmark),
            "ERROR" => {
                let status = failure(&object(Projection::Whole)?);
                Ok(WatchEvent::Failed(status.with_texts(|text| self.token.hidden_in(text))))
            }
            _ => Err(no_event()),
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
