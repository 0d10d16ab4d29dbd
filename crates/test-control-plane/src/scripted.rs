//! A server in this process that answers each request by a script, correctly or not.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{HandshakeKind, ServerConfig},
};

/// A received request.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The number of its connection, from 0.
    pub connection: usize,
    /// Method, path and version.
    pub line: String,
    headers: Vec<(String, String)>,
    pub body: String,
    /// Number of requests that waited for an answer when it arrived, itself included.
    pub in_flight: usize,
    /// The TLS of its connection; `None` without TLS.
    pub tls: Option<Handshake>,
}

/// The TLS handshake of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handshake {
    /// True if the client presented a certificate.
    pub certified: bool,
    /// True if it resumed the session of an earlier connection.
    pub resumed: bool,
}

impl Seen {
    /// All values of a header, in order.
    pub fn header(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect()
    }
}

/// Action of the server for a request.
#[derive(Clone, Debug)]
pub enum Act {
    /// Writes these bytes, and waits for the next request.
    Answer(Vec<u8>),
    /// Writes these bytes after this time, and waits for the next request.
    AnswerLater(Duration, Vec<u8>),
    /// Writes these bytes this time after this number of requests were waiting for an answer at once, or after half a minute.
    AnswerAmong(usize, Duration, Vec<u8>),
    /// Writes these bytes and closes the connection.
    AnswerAndClose(Vec<u8>),
    /// Writes these bytes, then one byte every 20 ms without end.
    Trickle(Vec<u8>),
    /// Writes these bytes, then zeros without end.
    Flood(Vec<u8>),
    /// Resets the connection.
    Reset,
    /// Never answers.
    Silence,
}

/// An answer with a body.
pub fn answer(status: &str, headers: &[&str], body: &str) -> Act {
    let headers: String = headers.iter().flat_map(|header| [*header, "\r\n"]).collect();
    Act::Answer(format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).into_bytes())
}

/// The answer `200 OK` with an empty JSON object.
pub fn ok() -> Act {
    answer("200 OK", &["content-type: application/json"], "{}")
}

/// The server; it stops when dropped.
pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    in_flight: Arc<InFlight>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

/// Counts the requests that are not answered yet.
#[derive(Default)]
struct InFlight {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl InFlight {
    fn begin(self: &Arc<Self>) -> Pending {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        Pending(Arc::clone(self))
    }
}

/// A request in flight, until it is dropped.
struct Pending(Arc<InFlight>);

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Script = dyn Fn(usize, &Seen) -> Act + Send + Sync;

impl Server {
    /// Serves plain HTTP. The first argument of the script is the number of the request, from 0.
    pub async fn start(script: impl Fn(usize, &Seen) -> Act + Send + Sync + 'static) -> Self {
        Self::serve(None, script).await
    }

    /// Serves HTTPS.
    pub async fn start_tls(config: ServerConfig, script: impl Fn(usize, &Seen) -> Act + Send + Sync + 'static) -> Self {
        Self::serve(Some(TlsAcceptor::from(Arc::new(config))), script).await
    }

    async fn serve(tls: Option<TlsAcceptor>, script: impl Fn(usize, &Seen) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let in_flight = Arc::<InFlight>::default();
        let record = Arc::clone(&seen);
        let script: Arc<Script> = Arc::new(script);
        let gauge = Arc::clone(&in_flight);
        let connections = Arc::<AtomicUsize>::default();
        let opened = Arc::clone(&connections);
        let task = tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let tls = tls.clone();
                let record = Arc::clone(&record);
                let script = Arc::clone(&script);
                let gauge = Arc::clone(&gauge);
                let opened = Arc::clone(&opened);
                tokio::spawn(async move {
                    let Some(tls) = tls else {
                        opened.fetch_add(1, Ordering::SeqCst);
                        return converse(connection, stream, None, (&record, &gauge), &script).await;
                    };
                    let Ok(stream) = tls.accept(stream).await else { return };
                    opened.fetch_add(1, Ordering::SeqCst);
                    let session = stream.get_ref().1;
                    let handshake = Handshake {
                        certified: session.peer_certificates().is_some(),
                        resumed: session.handshake_kind() == Some(HandshakeKind::Resumed),
                    };
                    converse(connection, stream, Some(handshake), (&record, &gauge), &script).await;
                });
            }
        });
        Self { address, seen, in_flight, connections, task }
    }

    /// `127.0.0.1:port`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Largest number of requests that were waiting for an answer at the same time.
    pub fn most_in_flight(&self) -> usize {
        self.in_flight.most.load(Ordering::SeqCst)
    }

    /// The number of connections that clients have opened, with TLS if there is any.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The first lines of the requests so far.
    pub fn lines(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.line).collect()
    }
}

/// A stream that can be reset.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {
    fn tcp(&self) -> &TcpStream;
}

impl Stream for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Stream for tokio_rustls::server::TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

async fn converse(
    connection: usize,
    mut stream: impl Stream,
    tls: Option<Handshake>,
    (record, in_flight): (&Mutex<Vec<Seen>>, &Arc<InFlight>),
    script: &Arc<Script>,
) {
    while let Some(mut seen) = read(connection, &mut stream).await {
        seen.tls = tls;
        let pending = in_flight.begin();
        seen.in_flight = pending.0.now.load(Ordering::SeqCst);
        let number = {
            let mut record = record.lock().unwrap();
            record.push(seen.clone());
            record.len() - 1
        };
        let act = script(number, &seen);
        let written = match act {
            Act::Answer(bytes) => {
                drop(pending);
                stream.write_all(&bytes).await
            }
            Act::AnswerLater(wait, bytes) => {
                tokio::time::sleep(wait).await;
                drop(pending);
                stream.write_all(&bytes).await
            }
            Act::AnswerAmong(number, wait, bytes) => {
                let most = || in_flight.most.load(Ordering::SeqCst);
                let deadline = Instant::now() + Duration::from_secs(30);
                while most() < number && Instant::now() < deadline {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                tokio::time::sleep(wait).await;
                drop(pending);
                stream.write_all(&bytes).await
            }
            Act::AnswerAndClose(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
                return;
            }
            Act::Trickle(start) => {
                let mut written = stream.write_all(&start).await;
                while written.is_ok() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    written = stream.write_all(b" ").await;
                }
                written
            }
            Act::Flood(start) => {
                let mut written = stream.write_all(&start).await;
                let zeros = vec![b' '; 1 << 20];
                while written.is_ok() {
                    written = stream.write_all(&zeros).await;
                }
                written
            }
            Act::Reset => {
                stream.tcp().set_zero_linger().unwrap();
                return;
            }
            Act::Silence => std::future::pending().await,
        };
        if written.is_err() {
            return;
        }
    }
}

/// Reads the head and the body of the next request; `None` if the client closed the connection.
async fn read(connection: usize, stream: &mut (impl AsyncRead + Unpin)) -> Option<Seen> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let (line, fields) = head.split_once("\r\n").unwrap();
    let headers: Vec<(String, String)> = fields
        .lines()
        .filter_map(|field| field.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let body = String::from_utf8(body).unwrap();
    Some(Seen { connection, line: line.to_owned(), headers, body, in_flight: 0, tls: None })
}
