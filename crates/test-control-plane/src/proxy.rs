//! An HTTP proxy in front of the API server, which injects faults into the requests that a test selects.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::{HeaderValue, Request, Response, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::client::Body;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::api::{Api, RUNTIME};
use super::credentials::ADMIN;
use super::fault::{self, Answer, BoxError, ConnectionFault, End, Fault, Injected};
use super::port::Port;
use super::wait::wait_until;
use super::workspace::Workspace;

/// A path prefix under which the same server is available, as behind a gateway for several clusters.
pub const PREFIX: &str = "/k8s/clusters/c-1";

/// A proxy with the certificate of the API server. It forwards tokens. Requests without a token are sent as the
/// administrator, because a client certificate cannot be forwarded.
pub struct Proxy {
    address: SocketAddr,
    state: Arc<ProxyState>,
    accepting: JoinHandle<()>,
    /// Its port, which stays reserved during an outage.
    _port: Port,
}

struct ProxyState {
    tls: TlsAcceptor,
    administrator: Api,
    anyone: Api,
    seen: Mutex<Vec<String>>,
    refusals: Mutex<Vec<Refusal>>,
    rules: Mutex<Vec<Rule>>,
    /// Faults of the next connections.
    connections: Mutex<Vec<ConnectionFault>>,
    /// Duration of the next outage; each change is an outage.
    outages: watch::Sender<Duration>,
}

/// An answer of the server with an error.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The request, as `METHOD path?query`.
    pub request: String,
    pub code: u16,
    pub body: String,
}

struct Rule {
    method: String,
    pattern: String,
    times: usize,
    hits: usize,
    fault: Fault,
}

impl Proxy {
    /// Starts a proxy in front of the API server of a workspace.
    pub fn new(workspace: &Workspace) -> Proxy {
        let plane = workspace.plane();
        let connect = |kubeconfig: &str| Api::new(kubeconfig).unwrap_or_else(|error| panic!("{error}"));
        let state = Arc::new(ProxyState {
            tls: acceptor(plane.server_identity()),
            administrator: connect(&plane.kubeconfig(ADMIN, plane.url(), workspace.namespace())),
            anyone: connect(&plane.anonymous_kubeconfig()),
            seen: Mutex::default(),
            refusals: Mutex::default(),
            rules: Mutex::default(),
            connections: Mutex::default(),
            outages: watch::Sender::new(Duration::ZERO),
        });
        let port = Port::reserve().unwrap_or_else(|error| panic!("{error}"));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.number()));
        let listener = RUNTIME.block_on(async { listen(address) }).expect("the port reserved for the proxy");
        let accepting = RUNTIME.spawn(accept(listener, address, Arc::clone(&state)));
        Proxy { address, state, accepting, _port: port }
    }

    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Injects a fault into the next `times` requests with this `method` (`*` for any) whose path and query contain all
    /// words of `pattern`, and none of those after a `!`: `configmaps/banner !dryRun`.
    pub fn inject(&self, times: usize, method: &str, pattern: &str, fault: Fault) {
        let rule = Rule { method: method.to_owned(), pattern: pattern.to_owned(), times, hits: 0, fault };
        lock(&self.state.rules).push(rule);
    }

    /// Removes all faults, also those of connections. Returns those that did not occur, as `METHOD pattern`.
    pub fn clear(&self) -> Vec<String> {
        lock(&self.state.connections).clear();
        let rules = std::mem::take(&mut *lock(&self.state.rules));
        let missed = rules.into_iter().filter(|rule| rule.hits == 0);
        missed.map(|rule| format!("{} {}", rule.method, rule.pattern)).collect()
    }

    /// Number of requests so far that had a fault.
    pub fn hits(&self) -> usize {
        lock(&self.state.rules).iter().map(|rule| rule.hits).sum()
    }

    /// Waits until a request has arrived whose `METHOD path?query` contains all of these parts.
    #[track_caller]
    pub fn wait_for(&self, parts: &[&str]) {
        wait_until(&format!("a request with {parts:?} arrives"), || {
            lock(&self.state.seen).iter().any(|request| parts.iter().all(|part| request.contains(part)))
        });
    }

    /// All requests so far, as `METHOD path?query`.
    pub fn requests(&self) -> Vec<String> {
        lock(&self.state.seen).clone()
    }

    /// All answers of the server so far that were errors.
    pub fn refusals(&self) -> Vec<Refusal> {
        lock(&self.state.refusals).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl ProxyState {
    /// Records the request, and returns its fault.
    fn fault_for(&self, method: &str, uri: &str) -> Option<Fault> {
        lock(&self.seen).push(format!("{method} {uri}"));
        let mut rules = lock(&self.rules);
        let rule = rules.iter_mut().find(|rule| rule.times > 0 && rule.matches(method, uri))?;
        rule.times -= 1;
        rule.hits += 1;
        Some(rule.fault.clone())
    }

    async fn forward(&self, request: Request<Incoming>) -> Result<Response<Body>, BoxError> {
        let (mut parts, body) = request.into_parts();
        for name in [header::HOST, header::CONNECTION, header::TRANSFER_ENCODING, header::CONTENT_LENGTH] {
            parts.headers.remove(name);
        }
        if let Some(path) = parts.uri.path_and_query().and_then(|path| path.as_str().strip_prefix(PREFIX)) {
            parts.uri = path.parse()?;
        }
        let api = if parts.headers.contains_key(header::AUTHORIZATION) { &self.anyone } else { &self.administrator };
        let body = Body::from(body.collect().await?.to_bytes());
        let path = parts.uri.path_and_query().map_or("", |path| path.as_str());
        let request = format!("{} {path}", parts.method);
        let mut response = api.send(Request::from_parts(parts, body)).await?;
        response.headers_mut().remove(header::TRANSFER_ENCODING);
        response.headers_mut().remove(header::CONNECTION);
        let code = response.status();
        if code.is_success() || code.is_informational() || code.is_redirection() {
            return Ok(response);
        }
        let (head, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        let refusal = Refusal { request, code: code.as_u16(), body: String::from_utf8_lossy(&body).into_owned() };
        lock(&self.refusals).push(refusal);
        Ok(Response::from_parts(head, Body::from(body)))
    }
}

impl Rule {
    fn matches(&self, method: &str, uri: &str) -> bool {
        let holds = |word: &str| word.strip_prefix('!').map_or_else(|| uri.contains(word), |word| !uri.contains(word));
        (self.method == "*" || self.method == method) && self.pattern.split(' ').all(holds)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn acceptor((certificate, key): (&str, &str)) -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).expect("the server's certificate");
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("the server's key");
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
    TlsAcceptor::from(Arc::new(config.expect("the server's certificate and key")))
}

/// Listens on a port that is reserved.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseport(true)?;
    socket.bind(address)?;
    socket.listen(1024)
}

async fn accept(mut listener: TcpListener, address: SocketAddr, state: Arc<ProxyState>) {
    let mut outages = state.outages.subscribe();
    loop {
        tokio::select! {
            Ok((stream, _)) = listener.accept() => drop(tokio::spawn(serve(stream, Arc::clone(&state)))),
            Ok(()) = outages.changed() => {
                drop(listener);
                let outage = *outages.borrow_and_update();
                tokio::time::sleep(outage).await;
                listener = listen(address).expect("the port reserved for the proxy");
            }
        }
    }
}

async fn serve(stream: TcpStream, state: Arc<ProxyState>) {
    let _ = stream.set_nodelay(true);
    let mut outages = state.outages.subscribe();
    let fault = lock(&state.connections).pop();
    match fault {
        None => {
            let tls = state.tls.clone();
            tokio::select! {
                () = converse(stream, tls, state) => {}
                _ = outages.changed() => {}
            }
        }
        Some(ConnectionFault::Reset) => drop(stream.set_zero_linger()),
        Some(ConnectionFault::PlainText) => drop(speak_plainly(stream).await),
        Some(ConnectionFault::HandshakeCut) => drop(stream.readable().await),
        Some(ConnectionFault::OtherCertificate) => {
            let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
            let tls = acceptor((&other.cert.pem(), &other.signing_key.serialize_pem()));
            converse(stream, tls, state).await;
        }
    }
}

async fn speak_plainly(mut stream: TcpStream) -> io::Result<()> {
    stream.readable().await?;
    stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await?;
    stream.shutdown().await
}

async fn converse(stream: TcpStream, tls: TlsAcceptor, state: Arc<ProxyState>) {
    let Ok(stream) = tls.accept(stream).await else { return };
    let resets = Arc::<AtomicBool>::default();
    let service = service_fn(|request| Box::pin(answer(Arc::clone(&state), Arc::clone(&resets), request)));
    // A failing service closes the connection without an answer, as some faults require.
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let _ = std::future::poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let mut stream = connection.into_parts().io.into_inner();
    if resets.load(Ordering::Relaxed) {
        let _ = stream.get_ref().0.set_zero_linger();
    } else {
        let _ = stream.shutdown().await;
    }
}

async fn answer(
    state: Arc<ProxyState>,
    resets: Arc<AtomicBool>,
    request: Request<Incoming>,
) -> Result<Answer, BoxError> {
    let uri = request.uri().path_and_query().map_or("", |path| path.as_str());
    let fault = state.fault_for(request.method().as_str(), uri);
    answer_with(fault, state, resets, request).await
}

async fn answer_with(
    fault: Option<Fault>,
    state: Arc<ProxyState>,
    resets: Arc<AtomicBool>,
    request: Request<Incoming>,
) -> Result<Answer, BoxError> {
    match fault {
        None => Ok(fault::whole(state.forward(request).await?)),
        Some(Fault::Answer(status, headers, body)) => fault::made_up(status, headers, body),
        Some(Fault::Endless) => fault::endless(),
        Some(Fault::Stream(part)) => fault::stream(part),
        Some(Fault::Silence) => std::future::pending().await,
        Some(Fault::Refused) => Err(Injected.into()),
        Some(Fault::Reset) => {
            resets.store(true, Ordering::Relaxed);
            Err(Injected.into())
        }
        Some(Fault::Disconnected(fault, times)) => {
            lock(&state.connections).extend(std::iter::repeat_n(fault, times));
            Err(Injected.into())
        }
        Some(Fault::Outage(time)) => {
            state.outages.send_replace(time);
            std::future::pending().await
        }
        Some(Fault::AnswerLost) => {
            state.forward(request).await?.into_body().collect().await?;
            Err(Injected.into())
        }
        Some(Fault::AnswerCut) => fault::half(state.forward(request).await?, End::Cut).await,
        Some(Fault::AnswerStalled) => fault::half(state.forward(request).await?, End::Stall).await,
        Some(Fault::AnswerCutAfter(time)) => Ok(fault::cut_after(state.forward(request).await?, time)),
        Some(Fault::Rewritten(rewrite)) => fault::rewritten(state.forward(request).await?, &rewrite).await,
        Some(Fault::PlainJson) => {
            let (mut parts, body) = request.into_parts();
            parts.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
            Ok(fault::whole(state.forward(Request::from_parts(parts, body)).await?))
        }
        Some(Fault::After(event)) => {
            tokio::task::spawn_blocking(move || event()).await?;
            Ok(fault::whole(state.forward(request).await?))
        }
        Some(Fault::AfterThat(event, then)) => {
            tokio::task::spawn_blocking(move || event()).await?;
            Box::pin(answer_with(Some(*then), state, resets, request)).await
        }
    }
}
