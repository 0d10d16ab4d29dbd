//! The memory limit for all answers together, and requests that are under way when the run is stopped.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::Config;
use tokio_util::sync::CancellationToken;

use super::server::{Act, Server, answer, ok};
use super::transport::connector::{AuthorizedClient, Connector};
use super::transport::endpoint::Endpoint;
use super::transport::exchange::{Exchange as _, Whole};
use super::transport::retry::Deadline;
use super::*;
use reconcile_core::object::Projection;

#[tokio::test]
async fn answers_that_are_read_at_once_share_one_bound() {
    const BOUND: usize = 1000;
    let body = "x".repeat(600);
    let server = Server::start(move |_, seen| {
        if seen.line.contains("/slow") {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n{body}");
            return Act::Trickle(head.into_bytes());
        }
        answer("200 OK", &[], &body)
    })
    .await;
    let url = format!("http://{}", server.address());
    let connector = Connector::new(Config::new(url.parse().unwrap()), None, RequestTimeout::Unbounded);
    let http = connector.client(None).unwrap();
    let (authorized, endpoint) =
        (AuthorizedClient { http, authorization: None }, Endpoint::bounded(url.clone(), BOUND));
    let deadline = Deadline::new(RequestTimeout::Unbounded);
    let slow = Request::get("/slow");
    let quick = Request::get("/quick");

    let read = Whole(None).exchange(&authorized, &endpoint, &quick, deadline).await.unwrap();
    assert_eq!(read.body().len(), 600, "one alone is within it");
    {
        let mut slow = std::pin::pin!(Whole(None).exchange(&authorized, &endpoint, &slow, deadline));
        let mut refused = None;
        // Until enough of it has arrived.
        for _ in 0..25 {
            let begun = tokio::time::timeout(Duration::from_millis(200), &mut slow).await;
            assert!(begun.is_err(), "it goes on");
            refused = Whole(None).exchange(&authorized, &endpoint, &quick, deadline).await.err();
            if refused.is_some() {
                break;
            }
        }
        assert!(matches!(refused, Some(RequestError::TooLarge { limit: BOUND })), "{refused:?}");
    }
    let read = Whole(None).exchange(&authorized, &endpoint, &quick, deadline).await;
    assert!(read.is_ok(), "the answer that was given up holds nothing any more");
}

#[tokio::test]
async fn a_stop_ends_what_is_read_and_leaves_a_write_its_answer() {
    let server = Server::start(|_, seen| match seen.line.split(' ').next() {
        Some("PATCH") if !seen.line.contains("dryRun") => {
            Act::AnswerLater(Duration::from_millis(700), b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}".to_vec())
        }
        _ => Act::Silence,
    })
    .await;
    let server = Arc::new(server);
    let dry_run =
        WriteRequest::apply(Address::from("/api/v1/namespaces/a/configmaps/b"), "me", true, &serde_json::json!({}));
    for request in [Request::get("/api"), Request::list("/api"), Request::read("/api"), dry_run.dry_run().into()] {
        let (cluster, stop) = stopping(&server).await;
        let start = Instant::now();
        let error = cluster.send(request).await.unwrap_err();
        assert!(matches!(error, RequestError::Stopped), "{error:?}");
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
        assert!(stop.is_cancelled());
    }
    let (cluster, _) = stopping(&server).await;
    assert!(matches!(cluster.watch("/api", Projection::Whole).await, Err(RequestError::Stopped)));

    let (cluster, stop) = stopping(&server).await;
    assert!(cluster.send(write("/api")).await.is_ok(), "its outcome is known");
    assert!(stop.is_cancelled(), "it was answered after the stop");
}

/// A connection that is stopped soon after its first request has arrived.
async fn stopping(server: &Arc<Server>) -> (Cluster, CancellationToken) {
    let stop = CancellationToken::new();
    let cluster = connected(server).await.stopped_by(stop.clone());
    let (token, asked) = (stop.clone(), Arc::clone(server));
    let first = server.seen().len() + 1;
    tokio::spawn(async move {
        seen(&asked, first).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        token.cancel();
    });
    (cluster, stop)
}

#[tokio::test]
async fn an_answer_that_begins_and_does_not_end_is_slow() {
    let server = Server::start(|number, _| match number {
        0 => ok(),
        _ => Act::Trickle(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n".to_vec()),
    })
    .await;
    let options = ConnectOptions {
        request_timeout: RequestTimeout::Within(Duration::from_secs(2)),
        ..to(&format!("http://{}", server.address()))
    };
    let cluster = connect(&options, &Environment::default()).await.unwrap();
    cluster.send(Request::get("/api")).await.unwrap();
    let error = cluster.send(Request::list("/api")).await.unwrap_err();
    assert!(matches!(error, RequestError::TooSlow { .. }) && error.hint().is_some(), "{error:?}");
    assert_eq!(error.to_string(), format!("the answer of {} was not complete within 2s", cluster.server()));
}

#[tokio::test]
async fn a_document_is_parsed_while_it_arrives() {
    let server = Server::start(|_, seen| match seen.line.split(' ').nth(1) {
        Some("/whole") => answer("200 OK", &[], r#"{"a": [1, 2], "b": "c"}"#),
        Some("/cut") => Act::AnswerAndClose(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"a\": 1".to_vec()),
        Some("/html") => answer("200 OK", &[], "<html>"),
        Some("/endless") => Act::Flood(b"HTTP/1.1 200 OK\r\n\r\n{".to_vec()),
        Some("/broken") => Act::Flood(b"HTTP/1.1 200 OK\r\n\r\n<".to_vec()),
        _ => answer("403 Forbidden", &[], r#"{"kind":"Status","code":403,"reason":"Forbidden"}"#),
    })
    .await;
    let cluster = connected(&server).await;
    let read = async |path: &'static str| {
        cluster
            .read(Request::read(path), 8 << 20, |body| Projection::Fields(&[("a", Projection::Whole)]).read_from(body))
            .await
    };
    assert_eq!(read("/whole").await.unwrap(), serde_json::json!({"a": [1, 2]}));
    for path in ["/html", "/broken"] {
        let error = read(path).await.unwrap_err();
        assert!(matches!(error, RequestError::Unreadable { .. }), "{path}: {error:?}");
    }
    assert!(matches!(read("/endless").await, Err(RequestError::TooLarge { limit }) if limit == 8 << 20));
    assert!(matches!(read("/other").await, Err(RequestError::Status(status)) if status.code == 403));
    let error = read("/cut").await.unwrap_err();
    assert!(matches!(error, RequestError::Interrupted { .. }), "{error:?}");
}
