//! Sends one request once, and reads its answer within its deadline.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, DATE, USER_AGENT, WARNING};
use http::response::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::BodyExt as _;
use jiff::fmt::rfc2822;
use kube::client::Body;
use reconcile_core::request::{RequestError, StatusError};
use reconcile_core::text::one_line;
use tokio::task::JoinError;

use super::connect_cause::{self, CauseKind};
use super::connector::{AuthorizedClient, Token, received};
use super::endpoint::Endpoint;
use super::retry::Deadline;
use crate::client::options::RequestTimeout;
use crate::client::request::{BodyReader, Request, RequestKind, Warnings};

/// The size in bytes up to which the compression of an answer is not limited: more than one object has.
const SMALL: usize = 2 << 20;
/// The highest compression ratio of a larger answer: lists of similar objects stay below 100. If a list exceeds it, the objects are
/// read one by one.
const RATIO: usize = 200;
/// The longest URL that can be sent, in bytes (the limit of the crate `http`).
const LONGEST_URI: usize = u16::MAX as usize - 1;
/// The longest warning that is kept, in characters. The API server itself truncates them to 256.
const MAX_LENGTH: usize = 1000;

/// A way of reading answers.
pub trait Exchange: Sync {
    /// The answer as it is read.
    type Answer: Send;

    /// Sends `request` once, and reads the answer. A status outside 200–299 is an error.
    fn exchange(
        &self,
        client: &AuthorizedClient,
        endpoint: &Endpoint,
        request: &Request,
        deadline: Deadline,
    ) -> impl Future<Output = Result<Response<Self::Answer>, RequestError>> + Send;
}

/// Reads the whole answer, and passes its warnings on.
pub struct Whole<'w>(pub Option<&'w Warnings>);

impl Exchange for Whole<'_> {
    type Answer = Bytes;

    async fn exchange(
        &self,
        client: &AuthorizedClient,
        endpoint: &Endpoint,
        request: &Request,
        deadline: Deadline,
    ) -> Result<Response<Bytes>, RequestError> {
        let (head, body) = begin(client, endpoint, request, deadline).await?;
        if let Whole(Some(all)) = self {
            all.add(warnings_of(&head.headers, &client.token()));
        }
        let body = read(endpoint, request, &head, body, deadline).await?;
        if head.status.is_success() {
            return Ok(answered(head.status, body));
        }
        Err(refusal(client, endpoint, request, &head, &body))
    }
}

/// Parses the answer while it arrives.
pub struct Parsed<T> {
    /// The largest answer that is read, in bytes. Only what is kept of it is in memory.
    pub limit: usize,
    /// The parser.
    pub parse: Arc<dyn Fn(BodyReader) -> serde_json::Result<T> + Send + Sync>,
}

impl<T: Send + 'static> Exchange for Parsed<T> {
    type Answer = T;

    async fn exchange(
        &self,
        client: &AuthorizedClient,
        endpoint: &Endpoint,
        request: &Request,
        deadline: Deadline,
    ) -> Result<Response<T>, RequestError> {
        let (head, mut body) = open(client, endpoint, request, deadline).await?;
        let (frames, reader) = BodyReader::channel();
        let parse = Arc::clone(&self.parse);
        let parsing = tokio::task::spawn_blocking(move || parse(reader));
        let mut length = 0_usize;
        while let Some(data) = next_data(endpoint, &mut body, deadline).await? {
            length = length.saturating_add(data.len());
            if length > self.limit {
                return Err(RequestError::TooLarge { limit: self.limit });
            }
            // A parser that cannot read the body has ended before it.
            if deadline.spend(&endpoint.server, frames.send(data)).await?.is_err() {
                break;
            }
        }
        drop(frames);
        Ok(answered(head.status, parsed(&endpoint.server, parsing.await)?))
    }
}

/// The answer that a parser on another thread has read.
pub fn parsed<T>(server: &str, parsed: Result<serde_json::Result<T>, JoinError>) -> Result<T, RequestError> {
    let unreadable = |cause: &str| RequestError::Unreadable { server: server.to_owned(), cause: cause.to_owned() };
    parsed.map_err(|_| unreadable("its parser failed"))?.map_err(|_| unreadable("it is not JSON"))
}

/// An answer without its header.
fn answered<T>(status: StatusCode, body: T) -> Response<T> {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer
}

/// Reads the next bytes of a body within the deadline; `None` at its end.
async fn next_data(endpoint: &Endpoint, body: &mut Body, deadline: Deadline) -> Result<Option<Bytes>, RequestError> {
    // Without a time limit, a server that is silent in the middle of an answer counts as gone.
    let is_bounded = deadline.remaining().is_some();
    let late = |error: RequestError| if is_bounded { error.half_read() } else { error };
    while let Some(frame) = deadline.spend(&endpoint.server, body.frame()).await.map_err(late)? {
        let frame = frame.map_err(|error| interrupted(endpoint, &error))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// Sends `request` once. The caller reads the body, unless the status is an error.
pub async fn open(
    client: &AuthorizedClient,
    endpoint: &Endpoint,
    request: &Request,
    deadline: Deadline,
) -> Result<(Parts, Body), RequestError> {
    let (head, body) = begin(client, endpoint, request, deadline).await?;
    if head.status.is_success() {
        return Ok((head, body));
    }
    let body = read(endpoint, request, &head, body, deadline).await?;
    Err(refusal(client, endpoint, request, &head, &body))
}

/// Reads the next frame of a streamed body; `None` at its end. A server that is silent for too long counts as gone.
pub async fn next_part(endpoint: &Endpoint, body: &mut Body) -> Result<Option<Bytes>, RequestError> {
    next_data(endpoint, body, Deadline::new(RequestTimeout::Unbounded)).await
}

async fn begin(
    client: &AuthorizedClient,
    endpoint: &Endpoint,
    request: &Request,
    deadline: Deadline,
) -> Result<(Parts, Body), RequestError> {
    let message = message(client, endpoint, request)?;
    let response = deadline.spend(&endpoint.server, client.http.client.send(message)).await?;
    response.map(Response::into_parts).map_err(|error| failed(endpoint, &error))
}

/// Reads a whole body. Its limits are the size that the request allows, the memory for all answers together, and the compression ratio.
async fn read(
    endpoint: &Endpoint,
    request: &Request,
    head: &Parts,
    mut body: Body,
    deadline: Deadline,
) -> Result<Bytes, RequestError> {
    let limit = request.limit;
    let mut memory = endpoint.hold();
    let mut content = CollectedBody::default();
    while let Some(data) = next_data(endpoint, &mut body, deadline).await? {
        memory.add(data.len())?;
        content.add(data);
        if content.len() > limit {
            return Err(RequestError::TooLarge { limit });
        }
        if content.len() > SMALL && received(head).is_some_and(|received| content.len() / RATIO > received) {
            return Err(RequestError::TooDense { server: endpoint.server.clone(), ratio: RATIO });
        }
    }
    Ok(content.finish())
}

fn refusal(
    client: &AuthorizedClient,
    endpoint: &Endpoint,
    request: &Request,
    head: &Parts,
    body: &[u8],
) -> RequestError {
    // Part of a long text is taken: the token must not be cut before it is looked for.
    let token = client.token();
    let body = token.hidden_in(&String::from_utf8_lossy(body));
    let status = StatusError::parse(head.status, &head.headers, body.as_bytes()).answering(&request.address);
    let status = Box::new(status.with_texts(|text| token.hidden_in(text)));
    if head.status == StatusCode::UNAUTHORIZED {
        let date = head.headers.get(DATE).and_then(|date| date.to_str().ok());
        let time = date.and_then(|date| rfc2822::parse(date).ok()).map(|date| date.timestamp());
        let server = endpoint.server.clone();
        return RequestError::Unauthorized { server, is_anonymous: false, status, time, why: None };
    }
    RequestError::Status(status)
}

fn message(
    client: &AuthorizedClient,
    endpoint: &Endpoint,
    request: &Request,
) -> Result<http::Request<Body>, RequestError> {
    let uri = request.uri()?;
    // kube prepends the path of the server's URL, and relies on the result being a URI.
    if uri.to_string().len().saturating_add(endpoint.server.len()) > LONGEST_URI {
        return Err(RequestError::Invalid { cause: "its URL is too long".to_owned() });
    }
    let mut builder = http::Request::builder()
        .method(request.method.clone())
        .uri(uri)
        .header(ACCEPT, request.accept.unwrap_or("application/json"))
        .header(USER_AGENT, user_agent());
    if let Some(authorization) = &client.authorization {
        builder = builder.header(AUTHORIZATION, authorization);
    }
    if let Some(content_type) = request.content_type {
        builder = builder.header(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    // Kubernetes 1.37 compresses each event of a watch separately, and tower-http reads only the first of several gzip members.
    if request.kind == RequestKind::Watch {
        builder = builder.header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
    builder.body(Body::from(request.body.clone())).map_err(|error| RequestError::Invalid { cause: error.to_string() })
}

/// The `User-Agent` header.
pub fn user_agent() -> String {
    format!(
        "{}/{} ({}/{})",
        env!("CARGO_PKG_NAME"),
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}

/// The error if there was no answer.
fn failed(endpoint: &Endpoint, error: &kube::Error) -> RequestError {
    let cause = connect_cause::of(error);
    let server = endpoint.server.clone();
    match cause.kind {
        CauseKind::NoConnection => endpoint.unreachable(cause.text, cause.hint.map(str::to_owned)),
        CauseKind::Broken => RequestError::Interrupted { server, cause: cause.text },
        CauseKind::Unreadable => RequestError::Unreadable { server, cause: cause.text },
    }
}

/// The error if the answer broke off.
fn interrupted(endpoint: &Endpoint, error: &kube::Error) -> RequestError {
    match failed(endpoint, error) {
        RequestError::Unreachable { server, cause, .. } => RequestError::Interrupted { server, cause },
        other => other,
    }
}

/// The collected frames of a body. Most answers have only one frame, which is not copied.
#[derive(Default)]
struct CollectedBody {
    first: Bytes,
    all: BytesMut,
}

impl CollectedBody {
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

/// The texts of the `Warning` headers with code 299 (RFC 7234 §5.5, KEP-1693), the only one that the API server uses, on one line each
/// and without the token.
fn warnings_of(headers: &HeaderMap, token: &Token) -> Vec<String> {
    let mut texts = Vec::new();
    for header in headers.get_all(WARNING) {
        let text = String::from_utf8_lossy(header.as_bytes());
        let mut rest = text.as_ref();
        while let Some((code, warning, after)) = next(rest) {
            let warning = one_line(&token.hidden_in(&warning), MAX_LENGTH);
            if code == "299" && !warning.is_empty() {
                texts.push(warning);
            }
            rest = after;
        }
    }
    texts
}

/// Reads the first warning of a header: its code, its text, and the rest of the header. The form is
/// `code agent "text" ["date"]`, and several are separated by commas.
fn next(header: &str) -> Option<(&str, String, &str)> {
    let header = header.trim_start_matches([' ', '\t', ',']);
    let (code, rest) = header.split_once(' ')?;
    let (_agent, rest) = rest.trim_start().split_once(' ')?;
    let (text, rest) = quoted(rest.trim_start())?;
    let after_date = quoted(rest.trim_start()).map_or(rest, |(_, rest)| rest);
    Some((code, text, after_date))
}

/// Reads a quoted string, and returns it with the rest of the text.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut content = String::new();
    let mut characters = text.strip_prefix('"')?.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return Some((content, characters.as_str())),
            '\\' => content.push(characters.next()?),
            other => content.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(values: &[&str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WARNING, http::HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        warnings_of(&headers, &Token::default())
    }

    #[test]
    fn texts_are_unescaped_and_in_order() {
        assert_eq!(
            warnings(&[
                r#"299 - "unknown field \"spec.replica\"""#,
                r#"299 kube-apiserver:v1 "one, with \\ comma" "Fri, 20 Nov 2026 10:00:00 GMT", 299 - "two""#,
            ]),
            [r#"unknown field "spec.replica""#, r"one, with \ comma", "two"]
        );
    }

    #[test]
    fn other_codes_and_broken_headers_are_dropped() {
        assert!(
            warnings(&[r#"199 - "misc""#, "299", "299 -", r#"299 - "open"#, r#"299 - "a\"#, "", r#"299 - """#])
                .is_empty()
        );
    }

    #[test]
    fn warnings_are_one_line_of_bounded_length() {
        let long = format!("299 - \"ä\t{}\"", "x".repeat(5000));
        let found = warnings(&[&long]);
        assert!(found[0].starts_with("ä xxx") && found[0].chars().count() <= 1001);
    }
}
