//! Requests to the API server, and their answers.

use std::io;
use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::{Buf as _, Bytes};
use http::{Method, Uri};
use reconcile_core::request::{Address, RequestCounts, RequestError, asks_for_dry_run};
use tokio::sync::mpsc;

/// The number of requests under way at once, until the server turns out to answer more as quickly. HTTP/1.1 needs a connection for
/// each.
pub const IN_FLIGHT: usize = 16;

/// The largest number of requests under way at once. Callers may run this many tasks that send one small request each; the client
/// holds back those that are too many at the moment.
pub const MOST_IN_FLIGHT: usize = 64;

/// The purpose of a request. A report counts each kind separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// One object is read.
    Get,
    /// A page of a collection is read.
    List,
    /// A dry run (`dryRun=All`).
    DryRun,
    /// A write.
    Write,
    /// A stream of changes is opened.
    Watch,
    /// Everything else: discovery, schemas, versions.
    Other,
}

impl RequestKind {
    /// The largest answer that is read, in bytes after decompression. It protects against a faulty server, and is far above the
    /// answers of the API: etcd holds objects of 1.5 MiB, and only a page of a collection can be larger, which can be requested in
    /// smaller pages. For a watch it limits a single event.
    pub(super) fn body_limit(self) -> usize {
        match self {
            Self::List => 64 << 20,
            Self::Get | Self::DryRun | Self::Write | Self::Watch | Self::Other => 16 << 20,
        }
    }
}

/// Permission to send a request again if its outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It is idempotent: a read, a dry run, an apply, or a change that names the uid or the resourceVersion that it was made for.
    Safe,
    /// It is sent again only when the server says that it did not process it.
    Never,
}

/// One request to the API server. Requests that change objects are made from a [`super::WriteRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The kind as which it is counted.
    pub(super) kind: RequestKind,
    /// The HTTP method.
    pub(super) method: Method,
    /// The path and query.
    pub(super) address: Address,
    /// The `Accept` header; `application/json` when there is none.
    pub(super) accept: Option<&'static str>,
    /// The `Content-Type` header of the body.
    pub(super) content_type: Option<&'static str>,
    /// The body, empty for none.
    pub(super) body: Bytes,
    /// Permission to send it again.
    pub(super) retry: Retry,
    /// The largest answer that is read, in bytes after decompression.
    pub(super) limit: usize,
    /// True if it searches objects, which no manifest has to name.
    pub(super) searches: bool,
}

impl Request {
    fn reading(kind: RequestKind, address: impl Into<Address>, retry: Retry) -> Self {
        let address = address.into();
        let limit = kind.body_limit();
        Self {
            kind,
            method: Method::GET,
            address,
            accept: None,
            content_type: None,
            body: Bytes::new(),
            retry,
            limit,
            searches: false,
        }
    }

    /// Reads one object.
    pub fn get(address: impl Into<Address>) -> Self {
        Self::reading(RequestKind::Get, address, Retry::Safe)
    }

    /// Reads a page of a collection.
    pub fn list(address: impl Into<Address>) -> Self {
        Self::reading(RequestKind::List, address, Retry::Safe)
    }

    /// Opens a watch; callers use [`super::Cluster::watch`].
    pub(super) fn watch(address: impl Into<Address>) -> Self {
        Self::reading(RequestKind::Watch, address, Retry::Never)
    }

    /// Reads anything that is neither an object nor a collection: discovery, schemas, the version.
    pub fn read(address: impl Into<Address>) -> Self {
        Self::reading(RequestKind::Other, address, Retry::Safe)
    }

    /// Sets the `Accept` header.
    pub fn with_accept(mut self, accept: &'static str) -> Self {
        self.accept = Some(accept);
        self
    }

    /// Marks it as a search: what the server warns of is not about manifests.
    pub fn searching(mut self) -> Self {
        self.searches = true;
        self
    }

    /// Returns true if both read the same, in the same format.
    pub(crate) fn is_same_read(&self, other: &Self) -> bool {
        let reads = |request: &Self| (request.kind, request.method == Method::GET, request.accept);
        self.method == Method::GET && reads(self) == reads(other) && self.address == other.address
    }

    /// Path and query, for notes.
    pub(super) fn text(&self) -> String {
        self.address.text(self.kind == RequestKind::DryRun)
    }

    /// Path and query as they are sent. Checks that only dry runs and writes have another method than GET, and that every dry run has
    /// `dryRun=All`.
    pub(super) fn uri(&self) -> Result<Uri, RequestError> {
        let uri = self.address.uri(self.kind == RequestKind::DryRun)?;
        let is_right = match self.kind {
            RequestKind::DryRun => self.method != Method::GET && asks_for_dry_run(&uri),
            RequestKind::Write => self.method != Method::GET,
            RequestKind::Get | RequestKind::List | RequestKind::Watch | RequestKind::Other => {
                self.method == Method::GET
            }
        };
        if is_right { Ok(uri) } else { Err(RequestError::Invalid { cause: "it is not what it counts as".to_owned() }) }
    }
}

/// Takes the server's warnings about changes: those of each answer, refusals included, each text once. Every change is sent with a
/// place for them, so that no path can lose what the server says about an object.
#[derive(Debug, Default)]
pub struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    /// Adds the warnings of an answer.
    pub(super) fn add(&self, texts: Vec<String>) {
        let mut all = self.all();
        for text in texts {
            if !all.contains(&text) {
                all.push(text);
            }
        }
    }

    /// Takes all warnings so far.
    #[must_use = "the reader of the report has to see them"]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.all())
    }

    /// All warnings so far.
    pub fn texts(&self) -> Vec<String> {
        self.all().clone()
    }

    fn all(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The counters behind [`RequestCounts`].
#[derive(Debug, Default)]
pub(super) struct Counters(Mutex<RequestCounts>);

impl Counters {
    fn update(&self, kind: RequestKind, next: fn(u64) -> u64) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = match kind {
            RequestKind::Get => &mut counts.get,
            RequestKind::List => &mut counts.list,
            RequestKind::DryRun => &mut counts.dry_run,
            RequestKind::Write => &mut counts.write,
            RequestKind::Watch => &mut counts.watch,
            RequestKind::Other => &mut counts.other,
        };
        *count = next(*count);
    }

    /// Counts a request when it is passed to the connection, so that an interrupted run counts it too.
    pub(super) fn sent(&self, kind: RequestKind) {
        self.update(kind, |count| count.saturating_add(1));
    }

    /// Takes one back that could not be sent, because there was no connection.
    pub(super) fn never_left(&self, kind: RequestKind) {
        self.update(kind, |count| count.saturating_sub(1));
    }

    /// The counts at this moment.
    pub(super) fn now(&self) -> RequestCounts {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of frames that wait for the parser.
const WAITING: usize = 4;

/// A body that arrives in frames. Reading blocks the thread until the next frame is there; the body ends when its sender is dropped.
pub struct BodyReader {
    frames: mpsc::Receiver<Bytes>,
    frame: Bytes,
}

impl BodyReader {
    /// A reader, and the sender of its frames.
    pub fn channel() -> (mpsc::Sender<Bytes>, Self) {
        let (sender, frames) = mpsc::channel(WAITING);
        (sender, Self { frames, frame: Bytes::new() })
    }
}

/// A body that has arrived.
impl From<Bytes> for BodyReader {
    fn from(body: Bytes) -> Self {
        let (_, reader) = Self::channel();
        Self { frame: body, ..reader }
    }
}

impl Read for BodyReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.frame.is_empty() {
            match self.frames.blocking_recv() {
                Some(frame) => self.frame = frame,
                None => return Ok(0),
            }
        }
        let read = self.frame.as_ref().read(buffer)?;
        self.frame.advance(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_kept_by_purpose_and_named_as_the_report_names_them() {
        let counters = Counters::default();
        for kind in [
            RequestKind::Get,
            RequestKind::List,
            RequestKind::DryRun,
            RequestKind::DryRun,
            RequestKind::Write,
            RequestKind::Other,
        ] {
            counters.sent(kind);
        }
        counters.sent(RequestKind::Write);
        counters.never_left(RequestKind::Write);

        let json = serde_json::to_value(counters.now()).unwrap();
        assert_eq!(json, serde_json::json!({"get": 1, "list": 1, "dryRun": 2, "write": 1, "other": 1}));
    }

    #[test]
    fn reads_are_safe_to_repeat_and_streams_are_opened_once() {
        assert_eq!(Request::get("/").retry, Retry::Safe);
        assert_eq!(Request::list("/").retry, Retry::Safe);
        assert_eq!(Request::watch("/").retry, Retry::Never);
    }

    #[test]
    fn a_request_that_is_not_what_it_counts_as_never_leaves() {
        let request = |kind, method| Request { kind, method, ..Request::get("/api") };
        for kind in [RequestKind::Get, RequestKind::List, RequestKind::Watch, RequestKind::Other] {
            assert!(request(kind, Method::GET).uri().is_ok());
            assert!(request(kind, Method::PATCH).uri().is_err());
        }
        assert!(request(RequestKind::Write, Method::GET).uri().is_err());
        assert_eq!(request(RequestKind::DryRun, Method::PATCH).uri().unwrap(), "/api?dryRun=All");
    }
}
