//! Watches, complete and broken.

use serde_json::json;

use super::server::{Act, Server, answer, ok};
use super::*;
use reconcile_core::object::Projection;

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";

async fn watch(act: Act) -> (Cluster, Watch) {
    let server = Server::start(move |_, _| act.clone()).await;
    let cluster = connected(&server).await;
    // The server ends with this scope; its open connections do not.
    let watch = cluster.watch(Address::from("/api/v1/pods").with("watch", "true"), Projection::Whole).await.unwrap();
    (cluster, watch)
}

fn stream(lines: &str) -> Act {
    Act::AnswerAndClose(format!("{HEAD}{lines}").into_bytes())
}

#[tokio::test]
async fn events_are_reported_in_order_until_the_server_ends_the_stream() {
    let lines = concat!(
        r#"{"type":"ADDED","object":{"a":1}}"#,
        "\n\n",
        r#"{"type":"MODIFIED","object":{"a":2}}"#,
        "\n",
        r#"{"type":"BOOKMARK","object":{}}"#,
        "\n",
        r#"{"type":"DELETED","object":{"a":2}}"#,
        "\n",
        r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}"#,
        "\n",
    );
    let (cluster, mut watch) = watch(stream(lines)).await;
    let mut reported = Vec::new();
    while let Some(event) = watch.next().await.unwrap() {
        reported.push(event);
    }
    let [added, modified, bookmark, deleted, WatchEvent::Failed(failed)] = &reported[..] else {
        panic!("{reported:?}")
    };
    assert_eq!((added, modified), (&WatchEvent::Set(json!({"a": 1})), &WatchEvent::Set(json!({"a": 2}))));
    assert_eq!((bookmark, deleted), (&WatchEvent::Bookmark, &WatchEvent::Deleted(json!({"a": 2}))));
    assert_eq!((failed.code, failed.reason.as_str()), (410, "Expired"));
    assert_eq!(cluster.counts(), RequestCounts { watch: 1, ..RequestCounts::default() });
}

/// Kubernetes 1.37 compresses each event separately, and a reader of one compressed body takes the end of the first for the end of all.
#[tokio::test]
async fn a_watch_asks_for_events_that_are_not_compressed() {
    let server = Server::start(|_, _| stream("{\"type\":\"BOOKMARK\",\"object\":{}}\n")).await;
    let cluster = connected(&server).await;
    let mut watch =
        cluster.watch(Address::from("/api/v1/pods").with("watch", "true"), Projection::Whole).await.unwrap();
    assert_eq!(watch.next().await.unwrap(), Some(WatchEvent::Bookmark));
    let _ = cluster.send(Request::list("/api/v1/pods")).await;
    let seen = server.seen();
    assert_eq!(seen[0].header("accept-encoding"), ["identity"]);
    assert_eq!(seen[1].header("accept-encoding"), ["gzip"]);
}

#[tokio::test]
async fn a_stream_that_ends_in_the_middle_of_an_event_is_broken() {
    let (_, mut watch) = watch(stream("{\"type\":\"ADDED\",\"object\":{}}\n{\"type\":\"MODI")).await;
    assert_eq!(watch.next().await.unwrap(), Some(WatchEvent::Set(json!({}))));
    assert!(matches!(watch.next().await, Err(RequestError::Unreadable { .. })));
}

#[tokio::test]
async fn what_is_no_event_is_reported_as_that() {
    for lines in ["<html>\n", "{\"type\":\"SURPRISE\"}\n", "[1]\n"] {
        let (_, mut watch) = watch(stream(lines)).await;
        assert!(matches!(watch.next().await, Err(RequestError::Unreadable { .. })), "{lines}");
    }
}

#[tokio::test]
async fn an_event_without_end_is_not_read_for_ever() {
    let (_, mut watch) = watch(Act::Flood(format!("{HEAD}{{").into_bytes())).await;
    assert!(matches!(watch.next().await, Err(RequestError::TooLarge { .. })));
}

#[tokio::test]
async fn a_refused_watch_is_not_tried_again() {
    let refusal = r#"{"kind":"Status","code":403,"reason":"Forbidden","message":"no"}"#;
    let server = Server::start(move |_, _| answer("403 Forbidden", &[], refusal)).await;
    let cluster = connected(&server).await;
    let error =
        cluster.watch(Address::from("/api/v1/pods").with("watch", "true"), Projection::Whole).await.err().unwrap();
    assert_eq!(error.status().map(|status| status.code), Some(403));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_watch_leaves_other_requests_their_connections() {
    let server = Server::start(|number, _| match number {
        0 => Act::Trickle(HEAD.as_bytes().to_vec()),
        _ => ok(),
    })
    .await;
    let cluster = connected(&server).await;
    let _watch = cluster.watch(Address::from("/api/v1/pods").with("watch", "true"), Projection::Whole).await.unwrap();
    cluster.send(Request::get("/api")).await.unwrap();
    assert_eq!(server.seen().len(), 2);
}
