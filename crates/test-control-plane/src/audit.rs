//! The requests that the API server received, from its audit log: independent of the program's own counters.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::api::Api;

/// Audit policy: user, request and status, without bodies.
pub const POLICY: &str = r#"{"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
    "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}"#;

/// A request as the API server saw it.
#[derive(Debug, Clone)]
pub struct Request {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`
    pub verb: String,
    pub uri: String,
    pub code: u64,
    pub user: String,
    pub user_agent: String,
    namespace: String,
}

impl Request {
    /// Returns true if it could have changed something: it is not a dry run, and not a query in the form of a `create`
    /// (an access review).
    pub fn is_write(&self) -> bool {
        !["get", "list", "watch"].contains(&self.verb.as_str())
            && !self.is_dry_run()
            && !self.uri.contains("accessreviews")
    }

    pub fn is_dry_run(&self) -> bool {
        self.uri.contains("dryRun=All")
    }

    fn concerns(&self, user: &str, namespace: &str) -> bool {
        self.user == user || self.namespace == namespace
    }
}

/// The audit log of one API server.
pub struct Audit(pub PathBuf);

impl Audit {
    /// The result of `action`, and the requests during it by `user` or in `namespace`.
    pub fn during<T>(&self, api: &Api, user: &str, namespace: &str, action: impl FnOnce() -> T) -> (T, Vec<Request>) {
        let (result, mut requests) = self.all_during(api, action);
        requests.retain(|request| request.concerns(user, namespace));
        (result, requests)
    }

    /// The result of `action`, and all requests during it, including those of controllers.
    pub fn all_during<T>(&self, api: &Api, action: impl FnOnce() -> T) -> (T, Vec<Request>) {
        let (result, log) = self.log_during(api, action);
        (result, log.lines().map(parse).collect())
    }

    /// The result of `action`, and the lines of the log about all requests during it.
    pub fn log_during<T>(&self, api: &Api, action: impl FnOnce() -> T) -> (T, String) {
        let start = self.mark(api).1;
        let result = action();
        (result, self.since(api, start).0)
    }

    /// The lines of the log from a position on, and the position of the lines to come.
    pub fn since(&self, api: &Api, start: u64) -> (String, u64) {
        let (end, next) = self.mark(api);
        let mut log = String::new();
        let mut file = File::open(&self.0).expect("the audit log");
        file.seek(SeekFrom::Start(start)).expect("the audit log from a position on");
        file.take(end.saturating_sub(start)).read_to_string(&mut log).expect("the audit log");
        (log, next)
    }

    /// Makes a unique request and waits for its line in the log: all earlier answers are logged by then. Returns the
    /// positions where that line starts and ends.
    fn mark(&self, api: &Api) -> (u64, u64) {
        static MARKS: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("/version?mark={}.", MARKS.fetch_add(1, Ordering::Relaxed));
        let before = File::open(&self.0).and_then(|file| file.metadata()).map_or(0, |metadata| metadata.len());
        api.find(&mark);
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(10) {
            let mut log = Vec::new();
            let mut file = File::open(&self.0).expect("the audit log");
            file.seek(SeekFrom::Start(before)).and_then(|_| file.read_to_end(&mut log)).expect("the audit log");
            let mut position = before;
            for line in String::from_utf8_lossy(&log).split_inclusive('\n').filter(|line| line.ends_with('\n')) {
                let end = position + line.len() as u64;
                if line.contains(&mark) {
                    return (position, end);
                }
                position = end;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("the audit log does not show `{mark}`");
    }
}

fn parse(line: &str) -> Request {
    let event: Value = serde_json::from_str(line).expect("an audit event per line");
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    Request {
        verb: text("/verb"),
        uri: text("/requestURI"),
        code: event.pointer("/responseStatus/code").and_then(Value::as_u64).unwrap_or_default(),
        user: text("/user/username"),
        user_agent: text("/userAgent"),
        namespace: text("/objectRef/namespace"),
    }
}
