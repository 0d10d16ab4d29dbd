//! One request on the wire: sent once, its answer read to the end, within its time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::response::Parts;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::BodyExt as _;
use kube::client::Body;

use super::connect_cause::{self, CauseKind};
use super::http::received;
use super::warnings;
use crate::client::auth::Session;
use crate::client::error::RequestError;
use crate::client::options::RequestTimeout;
use crate::client::request::{Reply, Request};
use crate::client::status::StatusError;

/// How long the server may stay silent when the request as a whole is not bounded.
const IDLE: Duration = Duration::from_secs(90);

/// The most bytes that all answers which are being read may hold together.
const ALL_ANSWERS: usize = 512 << 20;
/// Up to this many bytes an answer may be compressed as well as it can be: more than one object holds.
const SMALL: usize = 2 << 20;
/// How many times smaller a larger answer may be on the wire: lists of alike objects reach less than 100. Objects of a list that
/// is not read are read one by one.
const RATIO: usize = 200;

/// Where requests go, as messages name it.
#[derive(Debug)]
pub struct Target {
    /// The server's URL.
    pub server: String,
    /// The proxy that leads there, if one does.
    pub proxy: Option<String>,
    /// The bytes of the answers that are being read.
    pub held: AtomicUsize,
}

/// The time that is left for a request.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    timeout: RequestTimeout,
    start: Instant,
}

impl Deadline {
    /// The clock starts now.
    pub fn new(timeout: RequestTimeout) -> Self {
        Self { timeout, start: Instant::now() }
    }

    /// What is left, when there is a bound.
    pub fn remaining(self) -> Option<Duration> {
        match self.timeout {
            RequestTimeout::Within(timeout) => Some(timeout.saturating_sub(self.start.elapsed())),
            RequestTimeout::Unbounded => None,
        }
    }

    /// Waits for `step` as long as there is time.
    async fn spend<T>(self, server: &str, step: impl Future<Output = T>) -> Result<T, RequestError> {
        let bound = self.remaining().unwrap_or(IDLE);
        tokio::time::timeout(bound, step).await.map_err(|_| {
            let after = if let RequestTimeout::Within(timeout) = self.timeout { timeout } else { IDLE };
            RequestError::TimedOut { server: server.to_owned(), after }
        })
    }
}

/// Sends `request` once, and reads the answer to its end. An answer outside 200–299 is an error.
pub async fn exchange(
    session: &Session,
    target: &Target,
    request: &Request,
    budget: Deadline,
) -> Result<Reply, RequestError> {
    let (head, body) = begin(session, target, request, budget).await?;
    let body = read(target, request, &head, body, budget).await?;
    if head.status.is_success() {
        return Ok(Reply { status: head.status.as_u16(), body, warnings: warnings::of(&head.headers) });
    }
    Err(refusal(target, &head, &body))
}

/// Sends `request` once. The answer's body is the caller's to read, unless it is a refusal.
pub async fn open(
    session: &Session,
    target: &Target,
    request: &Request,
    budget: Deadline,
) -> Result<Body, RequestError> {
    let (head, body) = begin(session, target, request, budget).await?;
    if head.status.is_success() {
        return Ok(body);
    }
    let body = read(target, request, &head, body, budget).await?;
    Err(refusal(target, &head, &body))
}

/// The next part of a body that is a stream, or nothing at its end. A server that is silent for too long counts as gone.
pub async fn next_part(target: &Target, body: &mut Body) -> Result<Option<Bytes>, RequestError> {
    let unbounded = Deadline::new(RequestTimeout::Unbounded);
    while let Some(frame) = unbounded.spend(&target.server, body.frame()).await? {
        let frame = frame.map_err(|error| interrupted(target, &error))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

async fn begin(
    session: &Session,
    target: &Target,
    request: &Request,
    budget: Deadline,
) -> Result<(Parts, Body), RequestError> {
    let message = message(session, request)?;
    let response = budget.spend(&target.server, session.client.send(message)).await?;
    response.map(Response::into_parts).map_err(|error| failed(target, &error))
}

/// Reads a body to its end: within the limit of its purpose, within what all answers may hold together, and as long as its
/// compression is in proportion.
async fn read(
    target: &Target,
    request: &Request,
    head: &Parts,
    mut body: Body,
    budget: Deadline,
) -> Result<Bytes, RequestError> {
    let limit = request.purpose.body_limit();
    let mut own = Held { all: &target.held, own: 0 };
    let mut content = Collected::default();
    while let Some(frame) = budget.spend(&target.server, body.frame()).await? {
        let frame = frame.map_err(|error| interrupted(target, &error))?;
        if let Ok(data) = frame.into_data() {
            let all = own.add(data.len());
            content.add(data);
            if content.len() > limit {
                return Err(RequestError::TooLarge { limit });
            }
            if all > ALL_ANSWERS {
                return Err(RequestError::TooLarge { limit: ALL_ANSWERS });
            }
            if content.len() > SMALL && received(head).is_some_and(|received| content.len() / RATIO > received) {
                let cause = format!("it is compressed more than {RATIO} times");
                return Err(RequestError::Unreadable { server: target.server.clone(), cause });
            }
        }
    }
    Ok(content.finish())
}

/// The part of one answer in what all hold.
struct Held<'a> {
    all: &'a AtomicUsize,
    own: usize,
}

impl Held<'_> {
    /// Adds to it; what all hold then.
    fn add(&mut self, bytes: usize) -> usize {
        self.own += bytes;
        self.all.fetch_add(bytes, Ordering::Relaxed) + bytes
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own, Ordering::Relaxed);
    }
}

fn refusal(target: &Target, head: &Parts, body: &[u8]) -> RequestError {
    let status = Box::new(StatusError::parse(head.status, &head.headers, body));
    if head.status == StatusCode::UNAUTHORIZED {
        return RequestError::Unauthorized { server: target.server.clone(), status };
    }
    RequestError::Status(status)
}

fn message(session: &Session, request: &Request) -> Result<http::Request<Body>, RequestError> {
    let mut builder = http::Request::builder()
        .method(request.method.clone())
        .uri(request.uri()?)
        .header(ACCEPT, request.accept.unwrap_or("application/json"))
        .header(USER_AGENT, user_agent());
    if let Some(authorization) = &session.authorization {
        builder = builder.header(AUTHORIZATION, authorization);
    }
    if let Some(content_type) = request.content_type {
        builder = builder.header(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    builder.body(Body::from(request.body.clone())).map_err(|error| RequestError::Invalid { cause: error.to_string() })
}

/// How we call ourselves.
pub fn user_agent() -> String {
    format!(
        "{}/{} ({}/{})",
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}

/// There was no answer at all.
fn failed(target: &Target, error: &kube::Error) -> RequestError {
    let cause = connect_cause::of(error);
    let server = target.server.clone();
    match (cause.kind, &target.proxy) {
        (CauseKind::NoConnection, Some(proxy)) => RequestError::Unreachable {
            server,
            cause: format!("{} (through the proxy `{proxy}`)", cause.text),
            hint: Some("is the proxy right? `NO_PROXY` lists hosts that are reached without one".to_owned()),
        },
        (CauseKind::NoConnection, None) => {
            RequestError::Unreachable { server, cause: cause.text, hint: cause.hint.map(str::to_owned) }
        }
        (CauseKind::Broken, _) => RequestError::Interrupted { server, cause: cause.text },
        (CauseKind::Unreadable, _) => RequestError::Unreadable { server, cause: cause.text },
    }
}

/// The answer began, and did not end well.
fn interrupted(target: &Target, error: &kube::Error) -> RequestError {
    match failed(target, error) {
        RequestError::Unreachable { server, cause, .. } => RequestError::Interrupted { server, cause },
        other => other,
    }
}

/// The parts of a body. Most answers come in one part, which is not copied.
#[derive(Default)]
struct Collected {
    first: Bytes,
    all: BytesMut,
}

impl Collected {
    fn len(&self) -> usize {
        if self.all.is_empty() { self.first.len() } else { self.all.len() }
    }

    fn add(&mut self, part: Bytes) {
        if self.len() == 0 {
            self.first = part;
            return;
        }
        if self.all.is_empty() {
            self.all.extend_from_slice(&self.first);
            self.first = Bytes::new();
        }
        self.all.extend_from_slice(&part);
    }

    fn finish(self) -> Bytes {
        if self.all.is_empty() { self.first } else { self.all.freeze() }
    }
}
