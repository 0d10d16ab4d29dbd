//! The floor: a client that sends requests as fast as the server answers, and only parses the answers.

use std::fs;
use std::path::Path;
use std::process::Command;

use futures::StreamExt as _;
use http::Request;
use serde_json::{Value, json};

/// Environment variable with the file of requests, in the process that only sends them.
const BARE: &str = "BENCH_BARE";
/// Number of concurrent requests, the same as that of the program.
const IN_FLIGHT: usize = 16;

/// A LIST of a collection.
pub fn list(path: &str) -> Value {
    json!({"method": "GET", "path": path})
}

/// A server-side apply.
pub fn apply(path: &str, object: &Value) -> Value {
    let path = format!("{path}?fieldManager=bare&force=true");
    json!({"method": "PATCH", "path": path, "type": "application/apply-patch+yaml", "body": object})
}

/// The same as a dry run.
pub fn dry_run(path: &str, object: &Value) -> Value {
    let path = format!("{path}?fieldManager=bare&force=true&dryRun=All");
    json!({"method": "PATCH", "path": path, "type": "application/apply-patch+yaml", "body": object})
}

/// A merge patch by somebody else.
pub fn edit(path: &str, change: &Value) -> Value {
    let path = format!("{path}?fieldManager=somebody");
    json!({"method": "PATCH", "path": path, "type": "application/merge-patch+json", "body": change})
}

/// A DELETE.
pub fn delete(path: &str) -> Value {
    json!({"method": "DELETE", "path": path})
}

/// The client that sends these requests, as a command.
pub fn client(requests: &[Value], file: &Path) -> Command {
    let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
    fs::write(file, lines.join("\n")).expect("a file for the requests");
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.env(BARE, file);
    command
}

/// Sends the requests and exits, if this process was started for that.
pub fn serve() {
    let Ok(file) = std::env::var(BARE) else { return };
    let text = fs::read_to_string(file).expect("the file of requests");
    let requests: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a request")).collect();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(send(requests));
    std::process::exit(0);
}

async fn send(requests: Vec<Value>) {
    // Whoever else chose a provider in this process chose the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = kube::Client::try_default().await.expect("a client");
    let answers = futures::stream::iter(requests).map(|request| {
        let client = client.clone();
        // Answers are parsed on all processors.
        let answer = tokio::spawn(async move { client.request::<Value>(message(&request)).await });
        async { answer.await.expect("an answer").unwrap_or_else(|error| panic!("{error}")) }
    });
    answers.buffer_unordered(IN_FLIGHT).for_each(|_| async {}).await;
}

fn message(request: &Value) -> Request<Vec<u8>> {
    let text = |name: &str| request[name].as_str().unwrap_or_default();
    let body = if request["body"].is_null() { Vec::new() } else { request["body"].to_string().into_bytes() };
    let mut builder = Request::builder().method(text("method")).uri(text("path"));
    if !body.is_empty() {
        builder = builder.header("Content-Type", text("type"));
    }
    builder.body(body).expect("a request")
}
