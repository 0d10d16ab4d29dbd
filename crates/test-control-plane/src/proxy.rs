//! An HTTP proxy before the API server that makes things go wrong, once or more often, for the requests that a test picks.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::client::Body;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::api::{Api, RUNTIME};
use super::credentials::ADMIN;
use super::workspace::Workspace;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;

/// What goes wrong with a request.
#[derive(Clone)]
pub enum Fault {
    /// It never reaches the server, and this is the answer: status, headers and body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// It never reaches the server, and no answer ever comes.
    Silence,
    /// It never reaches the server: the connection is closed.
    Refused,
    /// The server acts on it, but the connection is closed before an answer.
    AnswerLost,
    /// The server acts on it, but the connection is closed in the middle of the answer's body.
    AnswerCut,
    /// The answer's body comes as the server sends it, and the connection is closed after this long.
    AnswerCutAfter(Duration),
    /// Something happens just before the server sees it.
    After(Arc<dyn Fn() + Send + Sync>),
}

/// A proxy with the certificate of the API server. It passes tokens on, and asks as the administrator where there is none: who owns a
/// client certificate cannot be passed on.
pub struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
    accepting: JoinHandle<()>,
}

struct State {
    tls: TlsAcceptor,
    administrator: Api,
    anyone: Api,
    seen: Mutex<Vec<String>>,
    rules: Mutex<Vec<Rule>>,
}

struct Rule {
    method: String,
    pattern: String,
    times: usize,
    fault: Fault,
}

impl Proxy {
    /// A proxy before the API server of a workspace.
    pub fn new(workspace: &Workspace) -> Proxy {
        let plane = workspace.plane();
        let connect = |kubeconfig: &str| Api::new(kubeconfig).unwrap_or_else(|error| panic!("{error}"));
        let state = Arc::new(State {
            tls: acceptor(plane.server_identity()),
            administrator: connect(&plane.kubeconfig(ADMIN, plane.url(), workspace.namespace())),
            anyone: connect(&plane.anonymous_kubeconfig()),
            seen: Mutex::default(),
            rules: Mutex::default(),
        });
        let listener =
            RUNTIME.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).expect("a free port for the proxy");
        let address = listener.local_addr().expect("the address of the proxy");
        let accepting = RUNTIME.spawn(accept(listener, Arc::clone(&state)));
        Proxy { address, state, accepting }
    }

    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Lets the next `times` requests of `method` go wrong whose path and query hold all words of `pattern`, and none of its
    /// words that start with `!`: `configmaps/banner !dryRun`.
    pub fn inject(&self, times: usize, method: &str, pattern: &str, fault: Fault) {
        let rule = Rule { method: method.to_owned(), pattern: pattern.to_owned(), times, fault };
        self.state.rules.lock().unwrap_or_else(PoisonError::into_inner).push(rule);
    }

    /// All requests so far, as `METHOD path?query`.
    pub fn requests(&self) -> Vec<String> {
        self.state.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl State {
    /// Notes the request, and gives the fault that is meant for it.
    fn fault_for(&self, method: &str, uri: &str) -> Option<Fault> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{method} {uri}"));
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let rule = rules.iter_mut().find(|rule| rule.times > 0 && rule.matches(method, uri))?;
        rule.times -= 1;
        Some(rule.fault.clone())
    }

    async fn forward(&self, request: Request<Incoming>) -> Result<Response<Body>, BoxError> {
        let (mut parts, body) = request.into_parts();
        for name in [header::HOST, header::CONNECTION, header::TRANSFER_ENCODING, header::CONTENT_LENGTH] {
            parts.headers.remove(name);
        }
        let api = if parts.headers.contains_key(header::AUTHORIZATION) { &self.anyone } else { &self.administrator };
        let body = Body::from(body.collect().await?.to_bytes());
        let mut response = api.send(Request::from_parts(parts, body)).await?;
        response.headers_mut().remove(header::TRANSFER_ENCODING);
        response.headers_mut().remove(header::CONNECTION);
        Ok(response)
    }
}

impl Rule {
    fn matches(&self, method: &str, uri: &str) -> bool {
        let holds = |word: &str| word.strip_prefix('!').map_or_else(|| uri.contains(word), |word| !uri.contains(word));
        self.method == method && self.pattern.split(' ').all(holds)
    }
}

fn acceptor((certificate, key): (&str, &str)) -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).expect("the server's certificate");
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("the server's key");
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
    TlsAcceptor::from(Arc::new(config.expect("the server's certificate and key")))
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(serve(stream, Arc::clone(&state)));
    }
}

async fn serve(stream: TcpStream, state: Arc<State>) {
    let _ = stream.set_nodelay(true);
    let Ok(stream) = state.tls.accept(stream).await else { return };
    let service = service_fn(|request| answer(Arc::clone(&state), request));
    // A failing service closes the connection without an answer, which is what some faults are about.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(state: Arc<State>, request: Request<Incoming>) -> Result<Answer, BoxError> {
    let uri = request.uri().path_and_query().map_or("", |path| path.as_str());
    match state.fault_for(request.method().as_str(), uri) {
        None => Ok(state.forward(request).await?.map(|body| body.map_err(Into::into).boxed_unsync())),
        Some(Fault::Answer(status, headers, body)) => {
            let mut response = Response::builder().status(status);
            for (name, value) in headers {
                response = response.header(name, value);
            }
            Ok(response.body(Full::new(body.into()).map_err(|never| match never {}).boxed_unsync())?)
        }
        Some(Fault::Silence) => std::future::pending().await,
        Some(Fault::Refused) => Err(Injected.into()),
        Some(Fault::AnswerLost) => {
            state.forward(request).await?.into_body().collect().await?;
            Err(Injected.into())
        }
        Some(Fault::AnswerCut) => {
            let (parts, body) = state.forward(request).await?.into_parts();
            let whole = body.collect().await?.to_bytes();
            let half = Frame::data(whole.slice(..whole.len() / 2));
            let frames = futures::stream::iter([Ok(half), Err(Injected.into())]);
            Ok(Response::from_parts(parts, StreamBody::new(frames).boxed_unsync()))
        }
        Some(Fault::AnswerCutAfter(time)) => {
            let (parts, body) = state.forward(request).await?.into_parts();
            let frames = body.into_data_stream().map(|data| data.map(Frame::data).map_err(BoxError::from));
            let frames =
                frames.take_until(tokio::time::sleep(time)).chain(futures::stream::iter([Err(Injected.into())]));
            Ok(Response::from_parts(parts, StreamBody::new(frames).boxed_unsync()))
        }
        Some(Fault::After(event)) => {
            tokio::task::spawn_blocking(move || event()).await?;
            Ok(state.forward(request).await?.map(|body| body.map_err(Into::into).boxed_unsync()))
        }
    }
}

/// The reason why a connection is closed on purpose.
#[derive(Debug)]
struct Injected;

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fault was injected")
    }
}

impl std::error::Error for Injected {}
