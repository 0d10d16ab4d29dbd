//! The connection against servers that behave, and servers that do not.

mod bounds;
mod choices;
mod downloads;
mod failures;
mod plugins;
mod redirects;
mod secure;
mod watches;
mod wire;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use test_control_plane::scripted as server;

use super::*;
use reconcile_core::diagnostic::{Code, Diagnostic};

/// Options that lead to `server` without looking at any file of this machine.
fn to(server: &str) -> ConnectOptions {
    ConnectOptions { server: Some(server.to_owned()), ..ConnectOptions::default() }
}

/// A connection to a plain server.
async fn connected(server: &server::Server) -> Cluster {
    connect(&to(&format!("http://{}", server.address())), &Environment::default()).await.unwrap()
}

/// A write that is never repeated.
fn write(path: &'static str) -> Write {
    WriteRequest::new(http::Method::PATCH, path.into(), "application/merge-patch+json", "secret").write(Retry::Never)
}

/// Waits until a server has seen this number of requests.
async fn seen(server: &server::Server, requests: usize) {
    let end = Instant::now() + Duration::from_secs(20);
    while server.seen().len() < requests {
        assert!(Instant::now() < end, "{:?}", server.lines());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A log, and what it took.
fn log() -> (Log, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let sink = Arc::clone(&lines);
    (Log::to(move |line| sink.lock().unwrap().push(line.to_owned())), lines)
}

/// `lines` with every number of milliseconds as `N`.
fn without_times(lines: &Mutex<Vec<String>>) -> Vec<String> {
    let lines = lines.lock().unwrap();
    lines
        .iter()
        .map(|line| {
            let mut words: Vec<&str> = line.split(' ').collect();
            for index in 1..words.len() {
                if words[index].starts_with("ms") {
                    words[index - 1] = "N";
                }
            }
            words.join(" ")
        })
        .collect()
}
