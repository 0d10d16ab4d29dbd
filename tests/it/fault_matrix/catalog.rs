//! The faults: what a network, a load balancer, a captive portal or a server that is ill can answer.

use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use crate::control_plane::{ConnectionFault, Fault};

/// A fault, and what is known about it.
#[derive(Clone)]
pub struct Mishap {
    pub name: &'static str,
    pub fault: Fault,
    /// A read or a dry run that this happens to once has to succeed.
    pub is_passing: bool,
}

fn mishap(name: &'static str, fault: Fault) -> Mishap {
    Mishap { name, fault, is_passing: false }
}

fn passing(name: &'static str, fault: Fault) -> Mishap {
    Mishap { is_passing: true, ..mishap(name, fault) }
}

fn status(code: u16, reason: &str, retry_after: Option<&str>) -> Fault {
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": reason, "code": code,
        "message": "an injected refusal"});
    let mut headers = vec![("Content-Type", "application/json".to_owned())];
    headers.extend(retry_after.map(|seconds| ("Retry-After", seconds.to_owned())));
    Fault::Answer(code, headers, body.to_string())
}

fn page(code: u16, text: &str) -> Fault {
    let body = format!("<!DOCTYPE html><html><head><title>{text}</title></head><body><h1>{text}</h1></body></html>");
    Fault::Answer(code, vec![("Content-Type", "text/html".to_owned())], body)
}

fn redirect(code: u16, to: &str) -> Fault {
    Fault::Answer(code, vec![("Location", to.to_owned())], String::new())
}

fn document(body: &str) -> Fault {
    Fault::Answer(200, vec![("Content-Type", "application/json".to_owned())], body.to_owned())
}

/// The server's answer, with another body.
fn body(rewrite: fn(&[u8]) -> Vec<u8>) -> Fault {
    Fault::Rewritten(Arc::new(move |_, body| rewrite(body)))
}

/// The object of the answer under another name, as a cache that mixes up its keys would give it.
fn somebody_elses(body: &[u8]) -> Vec<u8> {
    let mut object: Value = serde_json::from_slice(body).unwrap_or_default();
    for pointer in ["/metadata/name", "/metadata/uid", "/items/0/metadata/namespace"] {
        if let Some(field) = object.pointer_mut(pointer) {
            *field = json!("somebody-elses");
        }
    }
    object.to_string().into_bytes()
}

/// What may happen to any one request; nothing of it concerns the run as a whole.
pub fn of_requests() -> Vec<Mishap> {
    let garbage = Fault::Answer(200, vec![("Content-Encoding", "gzip".to_owned())], "no gzip".to_owned());
    let mislabelled = Fault::Rewritten(Arc::new(|head, body| {
        head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        body.to_vec()
    }));
    vec![
        passing("429", status(429, "TooManyRequests", None)),
        passing("429 with Retry-After", status(429, "TooManyRequests", Some("0"))),
        mishap("429 with a Retry-After that nobody waits for", status(429, "TooManyRequests", Some("86400"))),
        mishap("429 with a date", status(429, "TooManyRequests", Some("Fri, 20 Nov 2026 10:00:00 GMT"))),
        mishap("500", status(500, "InternalError", None)),
        mishap("403 with a page", page(403, "Access denied")),
        mishap("404 with a page", page(404, "404 Not Found")),
        mishap("409 with a page", page(409, "Conflict")),
        mishap("410 with a page", page(410, "Gone")),
        mishap("422 with a page", page(422, "Unprocessable Entity")),
        mishap("502 with a page", page(502, "502 Bad Gateway")),
        mishap("503 with a page", page(503, "Service Unavailable")),
        passing("503 with Retry-After", status(503, "ServiceUnavailable", Some("0"))),
        mishap("504", status(504, "Timeout", None)),
        mishap("418", status(418, "Teapot", None)),
        passing("an answer that is cut", Fault::AnswerCut),
        mishap("half a document", body(|body| body[..body.len() / 2].to_vec())),
        mishap("not JSON", body(|_| b"{\"kind\": ".to_vec())),
        mishap("no document", document("")),
        mishap("null", document("null")),
        mishap("204", Fault::Answer(204, Vec::new(), String::new())),
        mishap("another object", body(somebody_elses)),
        mishap("a portal that wants a login", page(200, "Please log in")),
        mishap("a wrong content type", mislabelled),
        mishap("no gzip where gzip is said to be", garbage),
        mishap("a body without an end", Fault::Endless),
        passing("a connection that is closed", Fault::Refused),
        passing("a connection that is reset", Fault::Reset),
        passing("an answer that is lost", Fault::AnswerLost),
        mishap("silence", Fault::Silence),
        mishap("an answer that stops", Fault::AnswerStalled),
        mishap("302 to a login", redirect(302, "https://login.example.com/")),
        mishap("307 to nowhere", redirect(307, "/")),
    ]
}

/// What happens to the connection or the credentials, and so to the whole run when it goes on.
pub fn of_runs() -> Vec<Mishap> {
    let broken = |fault, times| Fault::Disconnected(fault, times);
    vec![
        mishap("one reset connection", broken(ConnectionFault::Reset, 1)),
        mishap("reset connections", broken(ConnectionFault::Reset, 99)),
        mishap("one handshake that is cut", broken(ConnectionFault::HandshakeCut, 1)),
        mishap("a server without TLS", broken(ConnectionFault::PlainText, 99)),
        mishap("a certificate of somebody else", broken(ConnectionFault::OtherCertificate, 99)),
        mishap("a refused credential", status(401, "Unauthorized", None)),
        mishap("a short outage", Fault::Outage(Duration::from_millis(700))),
        mishap("a long outage", Fault::Outage(Duration::from_secs(15))),
    ]
}
