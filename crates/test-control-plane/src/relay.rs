//! A network with latency between client and server.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Largest number of chunks of 64 KiB in transit in one direction: the delay must not limit the bandwidth.
const CHUNKS_UNDER_WAY: usize = 1024;

/// A TCP relay with a delay in each direction, as between distant places.
pub struct Relay {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    bytes: Arc<AtomicU64>,
    closed: Arc<AtomicBool>,
}

impl Relay {
    /// Starts a relay to `upstream`, an `https://` URL without a path. Each direction takes `delay`, so a round trip
    /// takes twice that.
    pub fn new(upstream: &str, delay: Duration) -> Relay {
        let upstream = upstream.strip_prefix("https://").expect("the URL of an API server").to_owned();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port for the relay");
        let address = listener.local_addr().expect("the address of the relay");
        let relay = Relay { address, connections: Arc::default(), bytes: Arc::default(), closed: Arc::default() };
        let connections = Arc::clone(&relay.connections);
        let closed = Arc::clone(&relay.closed);
        let bytes = Arc::clone(&relay.bytes);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if closed.load(Ordering::Relaxed) {
                    break;
                }
                connections.fetch_add(1, Ordering::Relaxed);
                let upstream = upstream.clone();
                let bytes = Arc::clone(&bytes);
                // If the server cannot be reached, the client's connection is closed.
                thread::spawn(move || connect(client, &upstream, delay, &bytes));
            }
        });
        relay
    }

    /// The URL for clients.
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// Number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Number of bytes from both sides so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        // Wakes the accepting thread; connections end when either side closes them.
        let _ = TcpStream::connect(self.address);
    }
}

fn connect(client: TcpStream, upstream: &str, delay: Duration, bytes: &Arc<AtomicU64>) -> io::Result<()> {
    let server = TcpStream::connect(upstream)?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    // The local handshake took no time; over a real network it takes a round trip.
    thread::sleep(2 * delay);
    relay(client.try_clone()?, server.try_clone()?, delay, Arc::clone(bytes));
    relay(server, client, delay, Arc::clone(bytes));
    Ok(())
}

/// Starts one direction.
fn relay(from: TcpStream, to: TcpStream, delay: Duration, bytes: Arc<AtomicU64>) {
    let (sender, receiver) = sync_channel(CHUNKS_UNDER_WAY);
    thread::spawn(move || receive(from, &sender, delay, &bytes));
    thread::spawn(move || deliver(to, &receiver));
}

/// Reads chunks and sends them with the time at which they are due at the other end. An empty chunk is the end.
fn receive(mut from: TcpStream, sender: &SyncSender<(Instant, Vec<u8>)>, delay: Duration, bytes: &AtomicU64) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = from.read(&mut buffer).unwrap_or(0);
        bytes.fetch_add(length as u64, Ordering::Relaxed);
        if sender.send((Instant::now() + delay, buffer[..length].to_vec())).is_err() || length == 0 {
            return;
        }
    }
}

fn deliver(mut to: TcpStream, receiver: &Receiver<(Instant, Vec<u8>)>) {
    while let Ok((due, chunk)) = receiver.recv() {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        if chunk.is_empty() || to.write_all(&chunk).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
