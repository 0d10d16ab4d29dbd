//! Faults between a client and the API server, and the resulting answers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http::response::Parts;
use http::{Response, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use kube::client::Body;

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub(super) type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;

/// Replaces an answer of the server: changes the head, and returns the new body.
pub type Rewrite = Arc<dyn Fn(&mut Parts, &[u8]) -> Vec<u8> + Send + Sync>;

/// A fault of a request.
#[derive(Clone)]
pub enum Fault {
    /// The request does not reach the server, and this is the answer: status, headers and body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// The request does not reach the server, and the answer is an endless body.
    Endless,
    /// The request does not reach the server, and the answer is JSON that this closure writes part by part, by their numbers; it has
    /// no end.
    Stream(Arc<dyn Fn(usize) -> Vec<u8> + Send + Sync>),
    /// The request does not reach the server, and there is no answer.
    Silence,
    /// The request does not reach the server: the connection is closed.
    Refused,
    /// The request does not reach the server: the connection is reset.
    Reset,
    /// The request does not reach the server: its connection is closed, and this number of following connections have
    /// the fault.
    Disconnected(ConnectionFault, usize),
    /// The request does not reach the server: all connections are closed, and new ones are refused for this time, as
    /// when the server is restarted.
    Outage(Duration),
    /// The server handles the request, but the connection is closed before the answer.
    AnswerLost,
    /// The server handles the request, but the connection is closed in the middle of the answer's body.
    AnswerCut,
    /// The answer's body arrives as the server sends it, and the connection is closed after this time.
    AnswerCutAfter(Duration),
    /// The server handles the request, but the answer stops in the middle of its body, and the connection stays open.
    AnswerStalled,
    /// The server handles the request, but another answer arrives.
    Rewritten(Rewrite),
    /// The server is asked for plain JSON, regardless of what the client accepts: older servers have no other
    /// documents.
    PlainJson,
    /// This closure runs just before the server receives the request.
    After(Arc<dyn Fn() + Send + Sync>),
    /// This closure runs, and then the request has another fault.
    AfterThat(Arc<dyn Fn() + Send + Sync>, Box<Fault>),
}

/// A fault of a new connection, before its first request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConnectionFault {
    /// It is reset at once.
    Reset,
    /// It is closed in the middle of the TLS handshake.
    HandshakeCut,
    /// It does not speak TLS.
    PlainText,
    /// Its certificate is for another server.
    OtherCertificate,
}

/// An answer without the server.
pub(super) fn made_up(status: u16, headers: Vec<(&'static str, String)>, body: String) -> Result<Answer, BoxError> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    Ok(response.body(full(body.into()))?)
}

/// An endless body.
pub(super) fn endless() -> Result<Answer, BoxError> {
    let spaces = Bytes::from(vec![b' '; 256 << 10]);
    let frames = futures::stream::repeat_with(move || Ok(Frame::data(spaces.clone())));
    Ok(Response::builder()
        .header(header::CONTENT_TYPE, "application/json")
        .body(StreamBody::new(frames).boxed_unsync())?)
}

/// An answer of parts without end.
pub(super) fn stream(part: Arc<dyn Fn(usize) -> Vec<u8> + Send + Sync>) -> Result<Answer, BoxError> {
    let frames = futures::stream::iter(0..).map(move |number| Ok(Frame::data(part(number).into())));
    Ok(Response::builder()
        .header(header::CONTENT_TYPE, "application/json")
        .body(StreamBody::new(frames).boxed_unsync())?)
}

/// The unchanged answer.
pub(super) fn whole(response: Response<Body>) -> Answer {
    response.map(|body| body.map_err(Into::into).boxed_unsync())
}

/// Half of the answer, with this end.
pub(super) async fn half(response: Response<Body>, end: End) -> Result<Answer, BoxError> {
    let (parts, body) = response.into_parts();
    let whole = body.collect().await?.to_bytes();
    let half = futures::stream::iter([Ok(Frame::data(whole.slice(..whole.len() / 2)))]);
    let body = match end {
        End::Cut => StreamBody::new(half.chain(futures::stream::iter([Err(Injected.into())]))).boxed_unsync(),
        End::Stall => StreamBody::new(half.chain(futures::stream::pending())).boxed_unsync(),
    };
    Ok(Response::from_parts(parts, body))
}

/// End of half an answer.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// The connection is closed.
    Cut,
    /// No more bytes arrive.
    Stall,
}

/// The answer for this time; then the connection is closed.
pub(super) fn cut_after(response: Response<Body>, time: Duration) -> Answer {
    let (parts, body) = response.into_parts();
    let frames = body.into_data_stream().map(|data| data.map(Frame::data).map_err(BoxError::from));
    let frames = frames.take_until(tokio::time::sleep(time)).chain(futures::stream::iter([Err(Injected.into())]));
    Response::from_parts(parts, StreamBody::new(frames).boxed_unsync())
}

/// The rewritten answer, with its own length.
pub(super) async fn rewritten(response: Response<Body>, rewrite: &Rewrite) -> Result<Answer, BoxError> {
    let (mut parts, body) = response.into_parts();
    let body = body.collect().await?.to_bytes();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_ENCODING);
    let body = rewrite(&mut parts, &body);
    Ok(Response::from_parts(parts, full(body)))
}

fn full(body: Vec<u8>) -> UnsyncBoxBody<Bytes, BoxError> {
    Full::new(body.into()).map_err(|never| match never {}).boxed_unsync()
}

/// The reason why a connection is closed on purpose.
#[derive(Debug)]
pub(super) struct Injected;

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fault was injected")
    }
}

impl std::error::Error for Injected {}
