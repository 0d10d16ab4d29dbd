//! The edge to the cluster: kubeconfig, credentials, proxies, deadlines, retries and request counts.
//!
//! [`connect`] finds out which server to talk to and as whom, exactly as kubectl does, and sends nothing. [`Cluster::send`] sends
//! one [`Request`]: within its deadline, again when that is harmless, and counted; [`Cluster::watch`] opens a stream of changes.
//!
//! ```text
//! flags + environment ─▶ kubeconfig ─▶ settings ─▶ session ─▶ transport ─▶ Reply
//!                        (document)    (selection,  (exec,  ▲           │
//!                                       pod, proxy)  token) └── 401 ────┤
//!                                                             retry ◀───┘ RequestError (cause, status)
//! ```

mod address;
mod auth;
mod change;
mod download;
mod error;
mod kubeconfig;
mod options;
mod request;
mod status;
mod transport;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;

pub use address::{Address, is_path_segment};
pub use auth::ExecError;
pub use change::{Change, DryRun, Write};
pub use download::{Bounds, download};
pub use error::{ConnectError, RequestError};
pub use kubeconfig::{KubeconfigError, namespace_flag};
pub use options::{ConnectOptions, Environment, InvalidTimeout, Log, MAX_TIMEOUT, RequestTimeout};
pub use request::{Reply, Request, RequestCounts, RequestKind, Retry};
pub use status::{Cause, StatusError};
pub use transport::{Watch, WatchEvent};

use auth::{Session, Sessions};
use kubeconfig::{Kubeconfig, Settings};
use request::Counters;
use transport::{Connector, Deadline, Target, proxy, retry};

/// From this verbosity on, repetitions are told.
const TELL_RETRIES: u8 = 1;
/// From this verbosity on, every request is told.
const TELL_REQUESTS: u8 = 6;

/// How often it is looked whether a pause is to end.
const GLANCE: Duration = Duration::from_millis(100);
/// No pause is longer, whatever a server asks for.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// Prepares the connection that flags, kubeconfig and environment describe. Nothing is sent yet; a credential plugin runs, once.
pub async fn connect(options: &ConnectOptions, environment: &Environment) -> Result<Cluster, ConnectError> {
    let kubeconfig = Kubeconfig::load(options.kubeconfig.as_deref(), environment)?;
    let settings = Settings::resolve(options, environment, &kubeconfig)?;
    for note in &settings.notes {
        options.log.note(note);
    }
    let connector = Connector::new(&settings, options.request_timeout)?;
    let Settings { context, server, namespace, identity, credentials, proxy, .. } = settings;
    let sessions = Sessions::open(connector, identity.as_ref(), credentials, options, environment).await?;
    let inner = Inner {
        context,
        target: Target {
            server: server.to_string().trim_end_matches('/').to_owned(),
            proxy: proxy.as_ref().map(proxy::without_password),
            held: AtomicUsize::new(0),
        },
        namespace,
        sessions,
        timeout: options.request_timeout,
        verbose: options.verbose,
        log: options.log.clone(),
        counters: Counters::default(),
        reached: AtomicBool::new(false),
    };
    Ok(Cluster(Arc::new(inner), None))
}

/// The names that a kubeconfig offers, for completion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigNames {
    /// Values for `--context`.
    pub contexts: Vec<String>,
    /// Values for `--cluster`.
    pub clusters: Vec<String>,
    /// Values for `--user`.
    pub users: Vec<String>,
}

/// Reads the names from the kubeconfig that [`connect`] would use.
pub fn config_names(
    kubeconfig: Option<&std::path::Path>,
    environment: &Environment,
) -> Result<ConfigNames, KubeconfigError> {
    let Kubeconfig { document, .. } = Kubeconfig::load(kubeconfig, environment)?;
    Ok(ConfigNames {
        contexts: document.contexts.into_keys().collect(),
        clusters: document.clusters.into_keys().collect(),
        users: document.users.into_keys().collect(),
    })
}

/// A connection to one cluster, shared by its clones.
#[derive(Clone)]
pub struct Cluster(Arc<Inner>, Option<Arc<AtomicBool>>);

struct Inner {
    context: Option<String>,
    target: Target,
    namespace: String,
    sessions: Sessions,
    timeout: RequestTimeout,
    verbose: u8,
    log: Log,
    counters: Counters,
    /// The server answered at least once.
    reached: AtomicBool,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Cluster")
            .field("context", &self.0.context)
            .field("server", &self.0.target.server)
            .finish_non_exhaustive()
    }
}

impl Cluster {
    /// The name of the context in use, if one is.
    #[must_use]
    pub fn context(&self) -> Option<&str> {
        self.0.context.as_deref()
    }

    /// The server's URL.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.0.target.server
    }

    /// The namespace of objects that name none: of the flag, the context, the pod, or `default`.
    #[must_use]
    pub fn default_namespace(&self) -> &str {
        &self.0.namespace
    }

    /// The same connection, over which nothing more is sent once `stop` is set: every request fails then, and no pause before
    /// a repetition is waited for to its end.
    #[must_use]
    pub fn stopped_by(self, stop: Arc<AtomicBool>) -> Self {
        Self(self.0, Some(stop))
    }

    /// The same connection for what is not to be left half-done.
    #[must_use]
    pub fn until_done(&self) -> Self {
        Self(Arc::clone(&self.0), None)
    }

    /// Whether nothing more is to be sent.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.1.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Waits this long, but not longer than something may be sent.
    pub async fn pause(&self, wait: Duration) {
        let end = tokio::time::Instant::now() + wait.min(LONGEST_PAUSE);
        while !self.is_stopped() && tokio::time::Instant::now() < end {
            tokio::time::sleep_until(end.min(tokio::time::Instant::now() + GLANCE)).await;
        }
    }

    /// How many requests were sent so far, repetitions included.
    #[must_use]
    pub fn counts(&self) -> RequestCounts {
        self.0.counters.now()
    }

    /// Sends one request, repeats it where that is harmless, and reads the answer to its end, all within the request timeout.
    /// A 401 renews credentials that can be renewed, once, and starts over.
    pub async fn send(&self, request: impl Into<Request>) -> Result<Reply, RequestError> {
        let request = request.into();
        if self.is_stopped() {
            return Err(RequestError::Stopped);
        }
        let session = self.0.sessions.current().await?;
        match self.repeat(&session, &request).await {
            Err(RequestError::Unauthorized { server, status }) => {
                let Some(session) = self.0.sessions.after_refusal(&session).await? else {
                    return Err(RequestError::Unauthorized { server, status });
                };
                self.tell(TELL_RETRIES, || format!("repeating {} with new credentials", name_of(&request)));
                self.repeat(&session, &request).await
            }
            outcome => outcome,
        }
    }

    async fn repeat(&self, session: &Session, request: &Request) -> Result<Reply, RequestError> {
        let budget = Deadline::new(self.0.timeout);
        let mut failures = 0;
        loop {
            let error = match self.once(session, request, budget).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            failures += 1;
            let Some(wait) = retry::wait(request.retry, &error, failures, budget.remaining(), retry::dice()) else {
                return Err(error);
            };
            self.tell(TELL_RETRIES, || {
                let (times, wait) = (retry::MAX_RETRIES, wait.as_millis());
                format!("repeating {} in {wait} ms ({failures} of {times}): {error}", name_of(request))
            });
            self.pause(wait).await;
            if self.is_stopped() {
                return Err(RequestError::Stopped);
            }
        }
    }

    /// Opens a stream of changes; the address says of what, and from which resourceVersion on. It is opened once: who watches
    /// has to read anew anyway before trying again. A 401 renews credentials as [`Cluster::send`] does.
    pub async fn watch(&self, address: impl Into<Address>) -> Result<Watch, RequestError> {
        if self.is_stopped() {
            return Err(RequestError::Stopped);
        }
        let request = Request::watch(address);
        let session = self.0.sessions.current().await?;
        match self.open(&session, &request).await {
            Err(RequestError::Unauthorized { server, status }) => {
                match self.0.sessions.after_refusal(&session).await? {
                    Some(session) => self.open(&session, &request).await,
                    None => Err(RequestError::Unauthorized { server, status }),
                }
            }
            outcome => outcome,
        }
    }

    async fn open(&self, session: &Session, request: &Request) -> Result<Watch, RequestError> {
        let budget = Deadline::new(self.0.timeout);
        let opening = transport::open(session, &self.0.target, request, budget);
        let body = self.attempt(session, request, opening, |_| StatusCode::OK.as_u16()).await?;
        Ok(Watch::new(self.clone(), body))
    }

    async fn once(&self, session: &Session, request: &Request, budget: Deadline) -> Result<Reply, RequestError> {
        let exchange = transport::exchange(session, &self.0.target, request, budget);
        self.attempt(session, request, exchange, |reply| reply.status).await
    }

    /// Counts a request, and notes what became of it.
    async fn attempt<T>(
        &self,
        session: &Session,
        request: &Request,
        exchange: impl Future<Output = Result<T, RequestError>>,
        code: impl Fn(&T) -> u16,
    ) -> Result<T, RequestError> {
        let start = Instant::now();
        self.0.counters.sent(request.purpose);
        let outcome = exchange.await;
        if matches!(outcome, Err(RequestError::Unreachable { .. } | RequestError::Invalid { .. })) {
            self.0.counters.never_left(request.purpose);
        }
        let outcome = match outcome {
            Err(error) if !self.0.reached.load(Ordering::Relaxed) => Err(RequestError::silent(error)),
            outcome => outcome,
        };
        match &outcome {
            Ok(_) | Err(RequestError::Status(_)) => {
                self.0.reached.store(true, Ordering::Relaxed);
                session.was_accepted();
            }
            Err(RequestError::Unauthorized { .. }) => self.0.reached.store(true, Ordering::Relaxed),
            Err(_) => {}
        }
        self.tell(TELL_REQUESTS, || {
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

    fn tell(&self, from: u8, line: impl FnOnce() -> String) {
        if self.0.verbose >= from {
            self.0.log.note(&line());
        }
    }
}

/// How a request is called in notes.
fn name_of(request: &Request) -> String {
    format!("{} {}", request.method, request.text())
}
