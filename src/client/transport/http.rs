//! The HTTP client: hyper's, over sockets that send at once, through proxies and TLS, with answers decompressed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::response::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::rt::{Read, Write};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::Builder;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::rt::TokioExecutor;
use percent_encoding::percent_decode_str;
use tower::util::{BoxCloneSyncService, ServiceExt as _};
use tower::{BoxError, Service, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

use super::tls::Tls;

/// The body of an answer, decompressed.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Where requests go, and how.
#[derive(Clone, Debug)]
pub struct Route {
    /// The server; its path comes before that of each request.
    pub server: Uri,
    /// The proxy on the way.
    pub proxy: Option<Uri>,
    /// How long connecting may take: name lookup, TCP, proxy and TLS together.
    pub connect_timeout: Duration,
    /// Whether answers may be compressed.
    pub compression: bool,
    /// What each request carries.
    pub headers: HeaderMap,
}

/// An HTTP client, and who its requests come from.
pub struct AuthorizedClient {
    /// The client, with its certificate.
    pub http: HttpClient,
    /// The header with a token.
    pub authorization: Option<HeaderValue>,
}

/// Sends requests to one server. Clones share its connections.
#[derive(Clone)]
pub struct HttpClient {
    service: BoxCloneSyncService<Request<Full<Bytes>>, Response<Body>, BoxError>,
    server: Uri,
    headers: HeaderMap,
}

impl HttpClient {
    /// A client that has no connection yet.
    pub fn new(route: &Route, tls: &Tls) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        // The first request follows the end of the TLS handshake. Held back by Nagle's algorithm it would wait for an
        // acknowledgement that the server delays, by 40 ms on Linux, and so would every new connection.
        tcp.set_nodelay(true);
        let service = match &route.proxy {
            None => over(tcp, route, tls),
            Some(proxy) if proxy.scheme_str() == Some("socks5") => over(SocksV5::new(proxy.clone(), tcp), route, tls),
            Some(proxy) if proxy.scheme_str() == Some("https") => over(tunnel(proxy, tls.over(tcp)), route, tls),
            Some(proxy) => over(tunnel(proxy, tcp), route, tls),
        };
        Self { service, server: route.server.clone(), headers: route.headers.clone() }
    }

    /// Sends a request for a path of the server, and returns when the answer begins.
    pub async fn send(&self, mut request: Request<Full<Bytes>>) -> Result<Response<Body>, BoxError> {
        *request.uri_mut() = below(&self.server, request.uri())?;
        request.headers_mut().extend(self.headers.clone());
        self.service.clone().oneshot(request).await
    }
}

/// The path and query of a request below a server's address.
fn below(server: &Uri, request: &Uri) -> Result<Uri, http::Error> {
    let path = request.path_and_query().map_or("/", |path| path.as_str());
    let mut whole = Uri::builder().path_and_query(format!("{}{path}", server.path().trim_end_matches('/')));
    if let Some(scheme) = server.scheme() {
        whole = whole.scheme(scheme.clone());
    }
    if let Some(authority) = server.authority() {
        whole = whole.authority(authority.clone());
    }
    whole.build()
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

/// How many bytes of an answer's body came over the wire so far.
#[derive(Clone, Debug, Default)]
struct Received(Arc<AtomicUsize>);

/// How many bytes of this answer's body came over the wire so far, compressed as they are.
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

fn over<C>(
    connector: C,
    route: &Route,
    tls: &Tls,
) -> BoxCloneSyncService<Request<Full<Bytes>>, Response<Body>, BoxError>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError> + Send + Sync + std::error::Error + 'static,
{
    let mut connector = TimeoutConnector::new(tls.over(connector));
    connector.set_connect_timeout(Some(route.connect_timeout));
    let service = ServiceBuilder::new()
        .map_response(|response: Response<_>| response.map(BodyExt::boxed_unsync))
        .layer(DecompressionLayer::new().gzip(route.compression))
        .map_response(counted)
        .map_err(BoxError::from)
        .service(Builder::new(TokioExecutor::new()).build::<_, Full<Bytes>>(connector));
    BoxCloneSyncService::new(service)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_server_comes_first() {
        let joined = |server: &str, path: &str| below(&server.parse().unwrap(), &path.parse().unwrap()).unwrap();
        assert_eq!(joined("https://host:6443", "/api/v1?limit=1"), "https://host:6443/api/v1?limit=1");
        assert_eq!(joined("https://host/k8s/clusters/c-1/", "/api"), "https://host/k8s/clusters/c-1/api");
        assert_eq!(joined("http://host", "/"), "http://host/");
    }
}
