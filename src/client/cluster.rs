//! A connection to one cluster. Requests have a deadline, are repeated if that is safe, and are counted.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Response;
use kube::client::Body;
use reconcile_core::object::Projection;
use reconcile_core::request::{Address, RequestCounts, RequestError};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::auth::session::{Session, Sessions};
use super::early::EarlyReads;
use super::options::{ConnectOptions, Log, RequestTimeout};
use super::request::{BodyReader, Counters, Request, RequestKind, Warnings};
use super::transport::connector::Token;
use super::transport::endpoint::{Contact, Endpoint};
use super::transport::exchange::{Exchange, Parsed, Whole, parsed};
use super::transport::pace::{LoadSignal, Pace};
use super::transport::watch::Watch;
use super::transport::{exchange, retry};
use super::write_request::Change;
use crate::client::transport::retry::Deadline;

/// The verbosity from which repetitions are noted.
const NOTE_RETRIES: u8 = 1;
/// The verbosity from which every request is noted.
const NOTE_REQUESTS: u8 = 6;
/// The longest pause, whatever a server asks for.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// A connection to one cluster, shared by its clones.
#[derive(Clone)]
pub struct Cluster(Arc<Inner>, CancellationToken);

struct Inner {
    context: Option<String>,
    endpoint: Arc<Endpoint>,
    namespace: String,
    sessions: Sessions,
    timeout: RequestTimeout,
    verbose: u8,
    log: Log,
    counters: Counters,
    pace: Pace,
    /// The reads that were sent before they were needed.
    early: EarlyReads,
    /// The warnings in answers to reads of objects.
    warned_of_reads: Warnings,
    /// The warnings in answers to changes and their dry runs.
    warned_of_changes: Mutex<BTreeSet<String>>,
    contact: Contact,
}

impl Inner {
    /// The place for the warnings of a read: those about discovery, and about objects that a run only searches, are not about manifests.
    fn place_for_warnings(&self, request: &Request) -> Option<&Warnings> {
        let is_of_manifests = matches!(request.kind, RequestKind::Get | RequestKind::List) && !request.searches;
        is_of_manifests.then_some(&self.warned_of_reads)
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cluster")
            .field("context", &self.0.context)
            .field("server", &self.0.endpoint.server)
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// A connection over which no request was sent yet.
    pub(super) fn new(
        context: Option<String>,
        namespace: String,
        endpoint: Endpoint,
        sessions: Sessions,
        options: &ConnectOptions,
    ) -> Self {
        let inner = Inner {
            context,
            endpoint: Arc::new(endpoint),
            namespace,
            sessions,
            timeout: options.request_timeout,
            verbose: options.verbose,
            log: options.log.clone(),
            counters: Counters::default(),
            pace: Pace::new(),
            early: EarlyReads::default(),
            warned_of_reads: Warnings::default(),
            warned_of_changes: Mutex::default(),
            contact: Contact::new(),
        };
        Self(Arc::new(inner), CancellationToken::new())
    }

    /// The name of the context in use, if one is.
    pub fn context(&self) -> Option<&str> {
        self.0.context.as_deref()
    }

    /// The server's URL.
    pub fn server(&self) -> &str {
        &self.0.endpoint.server
    }

    /// The namespace of manifests without one: that of the flag, the context or the pod, or `default`.
    pub fn default_namespace(&self) -> &str {
        &self.0.namespace
    }

    /// A handle on this connection over which nothing more is sent once `stop` is cancelled. Then every new request fails, requests under way that
    /// change nothing fail as well, and pauses before a repetition end.
    pub fn stopped_by(self, stop: CancellationToken) -> Self {
        Self(self.0, stop)
    }

    /// The token that stops the run.
    pub fn stop(&self) -> &CancellationToken {
        &self.1
    }

    /// A handle on this connection for requests that are sent even if the run is stopped, so that nothing is left half done.
    pub fn until_done(&self) -> Self {
        Self(Arc::clone(&self.0), CancellationToken::new())
    }

    /// Returns true if nothing more may be sent.
    pub fn is_stopped(&self) -> bool {
        self.1.is_cancelled()
    }

    /// Waits this long, or until the run is stopped.
    pub async fn pause(&self, wait: Duration) {
        // The end of the time is no error here.
        let _ = tokio::time::timeout(wait.min(LONGEST_PAUSE), self.1.cancelled()).await;
    }

    /// The numbers of requests that were sent so far, repetitions included.
    pub fn counts(&self) -> RequestCounts {
        self.0.counters.now()
    }

    /// The warnings of the server in answers to reads of the manifests' objects, such as that a version is deprecated.
    pub fn warned_of_reads(&self) -> Vec<String> {
        self.0.warned_of_reads.texts()
    }

    /// The warnings of the server in answers to changes and their dry runs.
    pub fn warned_of_changes(&self) -> BTreeSet<String> {
        self.0.warned_of_changes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of requests that may be under way at the moment. An interrupted run finishes the writes that it has begun, so callers
    /// begin no more than this number at once.
    pub fn at_once(&self) -> usize {
        self.0.pace.limit()
    }

    /// The time that a round trip takes at least, as far as answers show it. Zero without an answer.
    pub fn round_trip(&self) -> Duration {
        self.0.contact.round_trip()
    }

    /// Opens connections that requests will probably need soon, so that they find the TLS handshake done.
    pub fn open_ahead(&self, connections: usize) {
        self.0.sessions.open_ahead(connections);
    }

    /// Sends one read, repeats it if that is safe, and reads the whole answer, all within the request timeout. After a 401, it renews
    /// the credentials once, if they can be renewed, and starts over. If the run is stopped, it does not wait for the answer.
    pub async fn send(&self, request: impl Into<Request>) -> Result<Response<Bytes>, RequestError> {
        let request = request.into();
        match self.0.early.answer(&request).await {
            Some(answer) => answer,
            None => self.answer(&request, &Whole(self.0.place_for_warnings(&request))).await,
        }
    }

    /// Sends a change, or a dry run of one, as [`Cluster::send`] does, and waits for the answer to a change even if the run is stopped.
    /// `warnings` takes what the server warns of, also if it refuses.
    pub async fn change(
        &self,
        change: impl Into<Change>,
        warnings: &Warnings,
    ) -> Result<Response<Bytes>, RequestError> {
        let reply = self.answer(&change.into().0, &Whole(Some(warnings))).await;
        let mut all = self.0.warned_of_changes.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(warnings.texts());
        reply
    }

    /// Sends a read that will probably be needed. The first equal request takes the answer, whatever it is, so that nothing is asked
    /// twice. An answer that is too large to keep until a request comes is left out.
    pub fn send_early(&self, read: Request) {
        let cluster = self.clone();
        let request = read.clone();
        self.0.early.begin(read, async move {
            let warnings = cluster.0.place_for_warnings(&request);
            cluster.answer(&request, &Whole(warnings)).await
        });
    }

    /// Ends the early reads for which `is_needed` returns false.
    pub fn keep_early(&self, is_needed: impl Fn(&Request) -> bool) {
        self.0.early.keep(is_needed);
    }

    /// Sends one request as [`Cluster::send`] does, and parses the answer while it arrives. Only what `parse` keeps of it is in memory, so
    /// that `limit`, its largest size in bytes, can be far above what is usual.
    pub async fn read<T: Send + 'static>(
        &self,
        request: Request,
        limit: usize,
        parse: impl Fn(BodyReader) -> serde_json::Result<T> + Send + Sync + 'static,
    ) -> Result<T, RequestError> {
        match self.0.early.answer(&request).await {
            Some(answer) => {
                let body = BodyReader::from(answer?.into_body());
                parsed(self.server(), spawn_blocking(move || parse(body)).await)
            }
            None => self.answer(&request, &Parsed { limit, parse: Arc::new(parse) }).await.map(Response::into_body),
        }
    }

    async fn answer<E: Exchange>(&self, request: &Request, exchange: &E) -> Result<Response<E::Answer>, RequestError> {
        if request.kind == RequestKind::Write {
            return self.deliver(request, exchange).await;
        }
        tokio::select! {
            biased;
            outcome = self.deliver(request, exchange) => outcome,
            () = self.1.cancelled() => Err(RequestError::Stopped),
        }
    }

    async fn deliver<E: Exchange>(&self, request: &Request, exchange: &E) -> Result<Response<E::Answer>, RequestError> {
        if self.is_stopped() {
            return Err(RequestError::Stopped);
        }
        let session = self.0.sessions.current().await?;
        match self.repeat(&session, request, exchange).await {
            Err(refused @ RequestError::Unauthorized { .. }) => {
                let Some(session) = self.0.sessions.after_refusal(&session).await? else {
                    return Err(refused);
                };
                self.note(NOTE_RETRIES, || format!("repeating {} with new credentials", name_of(request)));
                self.repeat(&session, request, exchange).await
            }
            outcome => outcome,
        }
    }

    async fn repeat<E: Exchange>(
        &self,
        session: &Session,
        request: &Request,
        exchange: &E,
    ) -> Result<Response<E::Answer>, RequestError> {
        // Kept until the answer has come, also during pauses, so that a server that asks for a pause gets one.
        let _permit = tokio::select! {
            biased;
            permit = self.0.pace.permit() => permit,
            () = self.1.cancelled() => return Err(RequestError::Stopped),
        };
        if self.is_stopped() {
            return Err(RequestError::Stopped);
        }
        let deadline = Deadline::new(self.0.timeout);
        let mut failures = 0_u32;
        loop {
            let error = match self.once(session, request, exchange, deadline).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            failures = failures.saturating_add(1);
            let is_gone = matches!(error, RequestError::Unreachable { .. });
            let left = deadline.remaining();
            let jitter = retry::jitter();
            let (wait, times) = match is_gone {
                true if !self.0.contact.is_connected() => (None, 0),
                true => (retry::wait_for_return(failures, left, jitter), retry::MAX_RETURNS),
                false => (retry::wait(request.retry, &error, failures, left, jitter), retry::MAX_RETRIES),
            };
            let Some(wait) = wait else {
                // One request has already waited for the server to return: the others do not wait.
                if is_gone {
                    self.0.contact.give_up();
                }
                return Err(error);
            };
            self.note(NOTE_RETRIES, || {
                let wait = wait.as_millis();
                format!("repeating {} in {wait} ms ({failures} of {times}): {error}", name_of(request))
            });
            self.pause(wait).await;
            if self.is_stopped() {
                return Err(RequestError::Stopped);
            }
        }
    }

    /// Opens a watch; the address names the collection and the resourceVersion to start from, and `kept` the fields of objects that are
    /// read. It is not repeated, because a watcher
    /// has to list again anyway before the next attempt. A 401 renews the credentials as in [`Cluster::send`].
    pub async fn watch(&self, address: impl Into<Address>, kept: Projection) -> Result<Watch, RequestError> {
        let request = Request::watch(address);
        tokio::select! {
            biased;
            outcome = self.begin_watch(request) => outcome.map(|opened| Watch::new(Arc::clone(&self.0.endpoint), opened, kept)),
            () = self.1.cancelled() => Err(RequestError::Stopped),
        }
    }

    async fn begin_watch(&self, request: Request) -> Result<(Body, Token), RequestError> {
        if self.is_stopped() {
            return Err(RequestError::Stopped);
        }
        let session = self.0.sessions.current().await?;
        match self.open(&session, &request).await {
            Err(refused @ RequestError::Unauthorized { .. }) => match self.0.sessions.after_refusal(&session).await? {
                Some(session) => self.open(&session, &request).await,
                None => Err(refused),
            },
            outcome => outcome,
        }
    }

    async fn open(&self, session: &Session, request: &Request) -> Result<(Body, Token), RequestError> {
        let deadline = Deadline::new(self.0.timeout);
        let opening = exchange::open(&session.client, &self.0.endpoint, request, deadline);
        let (_, body) = self.attempt(session, request, opening, |(head, _)| head.status.as_u16()).await?;
        Ok((body, session.client.token()))
    }

    async fn once<E: Exchange>(
        &self,
        session: &Session,
        request: &Request,
        exchange: &E,
        deadline: Deadline,
    ) -> Result<Response<E::Answer>, RequestError> {
        let start = Instant::now();
        let exchange = exchange.exchange(&session.client, &self.0.endpoint, request, deadline);
        let outcome = self.attempt(session, request, exchange, |answer| answer.status().as_u16()).await;
        self.0.pace.learn(request.kind, LoadSignal::of(&outcome), start.elapsed());
        outcome
    }

    /// Sends a request once, counts it, and logs its outcome.
    async fn attempt<T>(
        &self,
        session: &Session,
        request: &Request,
        exchange: impl Future<Output = Result<T, RequestError>>,
        code: impl Fn(&T) -> u16,
    ) -> Result<T, RequestError> {
        let start = Instant::now();
        self.0.counters.sent(request.kind);
        let outcome = exchange.await;
        if matches!(outcome, Err(RequestError::Unreachable { .. } | RequestError::Invalid { .. })) {
            self.0.counters.never_left(request.kind);
        } else {
            self.0.contact.connect();
        }
        let outcome = match outcome {
            Err(RequestError::Unauthorized { server, status, time, .. }) => {
                let is_anonymous = !session.client.has_credentials();
                Err(RequestError::Unauthorized { server, is_anonymous, status, time, why: session.why_refused(time) })
            }
            outcome => outcome.map_err(|error| self.0.contact.in_words(error, &self.0.endpoint)),
        };
        match &outcome {
            Ok(_) | Err(RequestError::Status(_)) => {
                self.0.contact.answer();
                self.0.contact.time(start.elapsed());
                session.was_accepted();
            }
            Err(RequestError::Unauthorized { .. }) => self.0.contact.answer(),
            Err(_) => {}
        }
        self.note(NOTE_REQUESTS, || {
            let millis = start.elapsed().as_millis();
            match &outcome {
                Ok(answer) => format!("{} {} in {millis} ms", name_of(request), code(answer)),
                Err(error) => match error.status() {
                    Some(status) => format!("{} {} in {millis} ms", name_of(request), status.code),
                    None => format!("{} failed after {millis} ms: {error}", name_of(request)),
                },
            }
        });
        outcome
    }

    fn note(&self, from: u8, line: impl FnOnce() -> String) {
        if self.0.verbose >= from {
            self.0.log.note(&line());
        }
    }
}

/// The name of a request in log lines.
fn name_of(request: &Request) -> String {
    format!("{} {}", request.method, request.text())
}
