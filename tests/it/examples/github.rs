//! A server that answers like the API of GitHub for the comments of pull request 12, for issues and for code scanning.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::control_plane::scripted::{Act, Seen, Server, answer};

/// Longest body of a comment or an issue that GitHub takes, in characters.
const LONGEST: usize = 65_536;

/// The server, as long as it is held.
pub struct GitHub {
    server: Server,
    state: Arc<Mutex<State>>,
    _runtime: Runtime,
}

#[derive(Default)]
struct State {
    /// The comments of the pull request: their authors' types and their texts. Their ids are their positions.
    comments: Vec<(&'static str, String)>,
    /// The only issue, if it is open: its title and its text.
    issue: Option<(String, String)>,
    uploads: Vec<Value>,
    is_forbidden: bool,
}

impl GitHub {
    /// With comments of other people, of whom one has copied the mark of a comment.
    pub fn with_comments(comments: Vec<(&'static str, String)>) -> Self {
        let state = Arc::new(Mutex::new(State { comments, ..State::default() }));
        let runtime = Runtime::new().expect("a runtime");
        let of_server = Arc::clone(&state);
        let server = runtime.block_on(Server::start(move |_, seen| of_server.lock().unwrap().answer(seen)));
        Self { server, state, _runtime: runtime }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// Refuses everything from now on, as for a token without permissions.
    pub fn forbid(&self) {
        self.state.lock().unwrap().is_forbidden = true;
    }

    pub fn comments(&self) -> Vec<String> {
        self.state.lock().unwrap().comments.iter().map(|(_, text)| text.clone()).collect()
    }

    /// The title and the text of the open issue.
    pub fn issue(&self) -> Option<(String, String)> {
        self.state.lock().unwrap().issue.clone()
    }

    pub fn uploads(&self) -> Vec<Value> {
        self.state.lock().unwrap().uploads.clone()
    }

    /// The method and the path of each request so far.
    pub fn requests(&self) -> Vec<String> {
        let line = |seen: &Seen| seen.line.rsplit_once(' ').unwrap().0.to_owned();
        self.server.seen().iter().map(line).collect()
    }
}

impl State {
    fn answer(&mut self, seen: &Seen) -> Act {
        let (status, body) = self.outcome(seen);
        answer(status, &["content-type: application/json"], &body.to_string())
    }

    fn outcome(&mut self, seen: &Seen) -> (&'static str, Value) {
        let mut words = seen.line.split(' ');
        let method = words.next().unwrap();
        let path = words.next().unwrap();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        if seen.header("authorization") != ["Bearer token-of-the-job"] {
            return ("401 Unauthorized", json!({"message": "Bad credentials"}));
        }
        if self.is_forbidden {
            return ("403 Forbidden", json!({"message": "Resource not accessible by integration"}));
        }
        let body: Value = serde_json::from_str(&seen.body).unwrap_or_default();
        let text = || body["body"].as_str().unwrap_or_default().to_owned();
        if text().chars().count() > LONGEST {
            return ("422 Unprocessable Entity", json!({"message": "Body is too long (maximum is 65536 characters)"}));
        }
        let rest = path.strip_prefix("/repos/example/shop/").unwrap_or_default();
        match (method, rest) {
            ("GET", "issues/12/comments") => ("200 OK", self.page(query)),
            ("POST", "issues/12/comments") => {
                self.comments.push(("Bot", text()));
                ("201 Created", json!({}))
            }
            ("PATCH", comment) if comment.starts_with("issues/comments/") => {
                let id: usize = comment.rsplit('/').next().unwrap().parse().unwrap();
                self.comments[id].1 = text();
                ("200 OK", json!({}))
            }
            ("GET", "issues") => {
                let other = json!({"number": 9, "title": "Drift in deploy", "pull_request": {}});
                let ours = self.issue.iter().map(|(title, _)| json!({"number": 3, "title": title}));
                ("200 OK", std::iter::once(other).chain(ours).collect())
            }
            ("POST", "issues") if body["labels"] == json!(["drift"]) => {
                self.issue = Some((body["title"].as_str().unwrap().to_owned(), text()));
                ("201 Created", json!({}))
            }
            ("PATCH", "issues/3") if body["state"] == "closed" => {
                self.issue = None;
                ("200 OK", json!({}))
            }
            ("PATCH", "issues/3") => {
                self.issue = Some((body["title"].as_str().unwrap().to_owned(), text()));
                ("200 OK", json!({}))
            }
            ("POST", "issues/3/comments") => ("201 Created", json!({})),
            ("POST", "code-scanning/sarifs") => {
                self.uploads.push(body);
                ("202 Accepted", json!({"id": "1"}))
            }
            _ => ("404 Not Found", json!({"message": "Not Found"})),
        }
    }

    fn page(&self, query: &str) -> Value {
        let number = |name: &str| {
            let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            value.map_or(1, |value| value.parse::<usize>().unwrap())
        };
        let comment =
            |(id, (author, text)): (usize, &(&str, String))| json!({"id": id, "user": {"type": author}, "body": text});
        let first = (number("page") - 1) * number("per_page");
        self.comments.iter().enumerate().skip(first).take(number("per_page")).map(comment).collect()
    }
}
