//! Makes kube clients from the settings of a connection, on our own stack: sockets without Nagle's algorithm, proxies, TLS, and
//! answers that are counted and decompressed.
//!
//! kube's default stack (kube-client `client/builder.rs`) has no options for sockets. Layers that kube has are used from there.
//!
//! Connections may be opened before a request needs them (`Ahead`), because TCP and TLS take two round trips.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::InvalidHeaderName;
use http::response::Parts;
use http::{HeaderValue, Uri};
use http_body_util::BodyExt as _;
use hyper::rt::{Read, Write};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::Builder;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ConfigExt as _};
use kube::{Client, Config, Error};
use percent_encoding::percent_decode_str;
use reconcile_core::diagnostic::Diagnostic;
use tokio::task::JoinHandle;
use tower::{BoxError, Service, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

use super::tls::Tls;
use crate::client::kubeconfig::credentials::ClientCertificate;
use crate::client::options::RequestTimeout;

/// The time that connecting may take: name lookup, TCP, proxy and TLS together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// The time for which a connection without a request is used. The API server closes one after 32 seconds (apiserver
/// `pkg/server/secure_serving.go`, `ReadHeaderTimeout`).
const FRESH: Duration = Duration::from_secs(10);

/// Makes clients that differ only in their certificate.
pub struct Connector {
    config: Config,
}

impl Connector {
    /// A connector for the server of `config`, through `proxy` and no other.
    pub fn new(mut config: Config, proxy: Option<Uri>, timeout: RequestTimeout) -> Self {
        config.cluster_url = explicit_port(&config.cluster_url, proxy.is_some());
        config.proxy_url = proxy;
        config.connect_timeout = Some(match timeout {
            RequestTimeout::Within(timeout) => timeout.min(CONNECT_TIMEOUT),
            RequestTimeout::Unbounded => CONNECT_TIMEOUT,
        });
        Self { config }
    }

    /// A client that presents `certificate` to the server.
    pub fn client(&self, certificate: Option<&ClientCertificate>) -> Result<HttpClient, Diagnostic> {
        let tls = Tls::new(&self.config, certificate)?;
        let client = client(&self.config, &tls).map_err(|error| no_impersonation(&error))?;
        Ok(HttpClient { has_certificate: certificate.is_some(), ..client })
    }
}

/// The reason why there is no client: kube could not make the headers that impersonate a user, whose own message may show them.
fn no_impersonation(error: &Error) -> Diagnostic {
    Diagnostic::general(match error {
        Error::HttpError(error) if error.is::<InvalidHeaderName>() => {
            "the extra fields of the user to impersonate cannot be sent"
        }
        _ => "the user to impersonate cannot be sent: it is not plain text",
    })
}

/// Makes the port of a plain HTTP server behind a proxy explicit, because the tunnel would lead to 443 otherwise.
fn explicit_port(server: &Uri, proxied: bool) -> Uri {
    let host = match server.authority() {
        Some(authority) if proxied && server.scheme_str() == Some("http") && authority.port().is_none() => authority,
        _ => return server.clone(),
    };
    format!("http://{host}:80{}", server.path()).parse().unwrap_or_else(|_| server.clone())
}

/// An HTTP client, with its certificate.
#[derive(Clone)]
pub struct HttpClient {
    /// The client.
    pub client: Client,
    /// Opens connections before requests need them.
    pub open_ahead: OpenAhead,
    /// True if it presents a certificate.
    has_certificate: bool,
}

/// An HTTP client, with the credentials of its requests.
pub struct AuthorizedClient {
    /// The client.
    pub http: HttpClient,
    /// The header with a token.
    pub authorization: Option<HeaderValue>,
}

impl AuthorizedClient {
    /// Returns true if its requests are those of a user.
    pub fn has_credentials(&self) -> bool {
        self.authorization.is_some() || self.http.has_certificate
    }

    /// The token that is sent.
    pub fn token(&self) -> Token {
        Token(self.authorization.clone())
    }
}

/// The length of the shortest token that is looked for in texts, in bytes.
const SHORTEST_TOKEN: usize = 8;

/// The token of a client, which a text of others may repeat.
#[derive(Default)]
pub struct Token(Option<HeaderValue>);

impl Token {
    /// A text without the token.
    pub fn hidden_in(&self, text: &str) -> String {
        let token = self.0.as_ref().and_then(|header| str::from_utf8(header.as_bytes()).ok()?.strip_prefix("Bearer "));
        match token.map(str::trim).filter(|token| token.len() >= SHORTEST_TOKEN) {
            Some(token) => text.replace(token, "…"),
            None => text.to_owned(),
        }
    }
}

/// A client without a connection yet, for the server, proxy, user to impersonate and connect timeout of `config`. It fails if the
/// user cannot be put into headers.
pub fn client(config: &Config, tls: &Tls) -> kube::Result<HttpClient> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    // The first request follows the end of the TLS handshake. With Nagle's algorithm it would wait for an acknowledgement, which the
    // server delays by 40 ms on Linux, on every new connection.
    tcp.set_nodelay(true);
    match &config.proxy_url {
        None => over(tcp, config, tls),
        Some(proxy) if proxy.scheme_str() == Some("socks5") => over(SocksV5::new(proxy.clone(), tcp), config, tls),
        Some(proxy) if proxy.scheme_str() == Some("https") => over(tunnel(proxy, tls.over(tcp)), config, tls),
        Some(proxy) => over(tunnel(proxy, tcp), config, tls),
    }
}

fn tunnel<C>(proxy: &Uri, connector: C) -> Tunnel<C> {
    let tunnel = Tunnel::new(proxy.clone(), connector);
    let user_info = proxy.authority().and_then(|authority| authority.as_str().rsplit_once('@'));
    let credentials = user_info.map(|(user, _)| BASE64_STANDARD.encode(percent_decode_str(user).collect::<Vec<u8>>()));
    match credentials.and_then(|credentials| HeaderValue::from_str(&format!("Basic {credentials}")).ok()) {
        Some(header) => tunnel.with_auth(header),
        None => tunnel,
    }
}

fn over<C>(connector: C, config: &Config, tls: &Tls) -> kube::Result<HttpClient>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError> + Send + Sync + std::error::Error + 'static,
{
    let mut connector = TimeoutConnector::new(tls.over(connector));
    connector.set_connect_timeout(config.connect_timeout);
    let connector = Ahead::new(connector);
    let open_ahead = connector.opener(config.cluster_url.clone());
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(DecompressionLayer::new().gzip(!config.disable_compression))
        .layer(config.extra_headers_layer()?)
        .map_response(counted)
        .service(Builder::new(TokioExecutor::new()).build::<_, Body>(connector));
    let client = Client::new(service, config.default_namespace.as_str());
    Ok(HttpClient { client, open_ahead, has_certificate: false })
}

/// The number of bytes of an answer's body that were received so far.
#[derive(Clone, Debug, Default)]
struct Received(Arc<AtomicUsize>);

/// Returns the number of bytes of this answer's body that were received so far, before decompression.
pub fn received(head: &Parts) -> Option<usize> {
    head.extensions.get::<Received>().map(|received| received.0.load(Ordering::Relaxed))
}

/// Counts the bytes of a body below its decompression.
fn counted<B: hyper::body::Body<Data = Bytes>>(
    response: http::Response<B>,
) -> http::Response<impl hyper::body::Body<Data = Bytes, Error = B::Error>> {
    let (mut head, body) = response.into_parts();
    let received = Received::default();
    head.extensions.insert(received.clone());
    let body = body.map_frame(move |frame| {
        received.0.fetch_add(frame.data_ref().map_or(0, Bytes::len), Ordering::Relaxed);
        frame
    });
    http::Response::from_parts(head, body)
}

/// Opens this number of connections.
type OpenAhead = Arc<dyn Fn(usize) + Send + Sync>;

/// A connector that takes connections that were opened ahead, and else opens one. All of them lead to one server.
struct Ahead<C: Service<Uri>> {
    connector: C,
    opened: Arc<Mutex<Vec<Opening<C>>>>,
}

struct Opening<C: Service<Uri>> {
    since: Instant,
    connection: JoinHandle<Result<C::Response, C::Error>>,
}

/// One that no request has taken ends.
impl<C: Service<Uri>> Drop for Opening<C> {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl<C: Service<Uri> + Clone> Clone for Ahead<C> {
    fn clone(&self) -> Self {
        Self { connector: self.connector.clone(), opened: Arc::clone(&self.opened) }
    }
}

impl<C> Ahead<C>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Send + 'static,
    C::Error: Send + 'static,
    C::Future: Send + 'static,
{
    /// A connector that has opened nothing yet.
    fn new(connector: C) -> Self {
        Self { connector, opened: Arc::default() }
    }

    /// Opens connections to a server.
    fn opener(&self, server: Uri) -> OpenAhead {
        let ahead = self.clone();
        Arc::new(move |number| {
            let openings = std::iter::repeat_with(|| Opening {
                since: Instant::now(),
                connection: tokio::spawn(connect(ahead.connector.clone(), server.clone())),
            });
            ahead.opened.lock().unwrap_or_else(PoisonError::into_inner).extend(openings.take(number));
        })
    }

    /// The oldest connection that is under way or open, if the server has not closed it meanwhile.
    fn take(&self) -> Option<Opening<C>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.retain(|opening| opening.since.elapsed() < FRESH);
        (!opened.is_empty()).then(|| opened.remove(0))
    }
}

async fn connect<C: Service<Uri>>(mut connector: C, server: Uri) -> Result<C::Response, C::Error> {
    poll_fn(|context| connector.poll_ready(context)).await?;
    connector.call(server).await
}

impl<C> Service<Uri> for Ahead<C>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Send + 'static,
    C::Error: Send + 'static,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = C::Error;
    type Future = BoxFuture<'static, Result<C::Response, C::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), C::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let opening = self.take();
        let connector = self.connector.clone();
        Box::pin(async move {
            if let Some(mut opening) = opening
                && let Ok(connection) = (&mut opening.connection).await
            {
                return connection;
            }
            connect(connector, server).await
        })
    }
}
