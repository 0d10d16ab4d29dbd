//! Manifests by their URL.

use std::time::Duration;

use super::server::{Act, Server, answer};
use crate::client::{Bounds, Environment, download};

/// A server that does these things one after the other, and the last of them from then on.
async fn scripted(acts: impl IntoIterator<Item = Act>) -> Server {
    let acts: Vec<Act> = acts.into_iter().collect();
    Server::start(move |index, _| acts[index.min(acts.len() - 1)].clone()).await
}

async fn fetch(server: &Server, path: &str) -> Result<Vec<u8>, String> {
    fetch_within(server, path, Duration::from_mins(1)).await
}

async fn fetch_within(server: &Server, path: &str, within: Duration) -> Result<Vec<u8>, String> {
    let bounds = Bounds { within, pause: Duration::from_millis(1), size: 2 << 20 };
    download(&format!("http://{}{path}", server.address()), &Environment::default(), bounds).await
}

#[tokio::test]
async fn the_content_is_read_with_the_query_and_without_credentials_of_a_cluster() {
    let server = scripted([answer("200 OK", &[], "kind: x")]).await;
    assert_eq!(fetch(&server, "/a.yaml?ref=main#top").await.unwrap(), b"kind: x");
    let seen = server.seen();
    assert_eq!(seen[0].line, "GET /a.yaml?ref=main HTTP/1.1");
    assert_eq!(seen[0].header("authorization"), [""; 0]);
}

#[tokio::test]
async fn failures_of_the_server_are_tried_three_times() {
    let server =
        scripted([answer("503 Service Unavailable", &[], ""), Act::Reset, answer("200 OK", &[], "kind: x")]).await;
    assert_eq!(fetch(&server, "/").await.unwrap(), b"kind: x");
    let server = scripted([answer("500 Internal Server Error", &[], "")]).await;
    assert_eq!(fetch(&server, "/").await.unwrap_err(), "the server answered 500 Internal Server Error (3 tries)");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn refusals_are_final() {
    let server = scripted([answer("404 Not Found", &[], "no such page")]).await;
    assert_eq!(fetch(&server, "/").await.unwrap_err(), "the server answered 404 Not Found");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn redirections_are_followed_but_not_in_circles() {
    let server = scripted([
        answer("302 Found", &["location: /b/c.yaml"], ""),
        answer("307 Temporary Redirect", &["location: d.yaml"], ""),
        answer("307 Temporary Redirect", &["location: ?raw=true"], ""),
        answer("301 Moved Permanently", &["location: ../e/./f.yaml"], ""),
        answer("200 OK", &[], "kind: x"),
    ])
    .await;
    assert_eq!(fetch(&server, "/a").await.unwrap(), b"kind: x");
    let lines: Vec<String> = server.seen().into_iter().map(|seen| seen.line).collect();
    let paths = ["/a", "/b/c.yaml", "/b/d.yaml", "/b/d.yaml?raw=true", "/e/f.yaml"];
    assert_eq!(lines, paths.map(|path| format!("GET {path} HTTP/1.1")));
    let server = scripted([answer("302 Found", &["location: /a"], "")]).await;
    assert_eq!(fetch(&server, "/a").await.unwrap_err(), "it redirects more than 10 times");
}

/// As Go's client: the user and the password in a URL are for its host.
#[tokio::test]
async fn a_redirect_to_another_host_gets_no_credentials() {
    let other = scripted([answer("200 OK", &[], "kind: x")]).await;
    let location = format!("location: http://{}/b.yaml", other.address());
    let server = scripted([
        answer("302 Found", &["location: /a.yaml", "set-cookie: session=1"], ""),
        answer("302 Found", &[&location, "set-cookie: session=1"], ""),
    ])
    .await;
    let bounds = Bounds { within: Duration::from_mins(1), pause: Duration::from_millis(1), size: 2 << 20 };
    let url = format!("http://me:password@{}/", server.address());
    assert_eq!(download(&url, &Environment::default(), bounds).await.unwrap(), b"kind: x");
    let own = server.seen();
    assert_eq!(own.len(), 2);
    assert!(own.iter().all(|seen| seen.header("authorization") == ["Basic bWU6cGFzc3dvcmQ="]));
    for seen in other.seen().iter().chain(&own[1..]) {
        assert_eq!((seen.header("cookie"), seen.header("referer")), (vec![], vec![]));
    }
    assert_eq!(other.seen()[0].header("authorization"), [""; 0]);
}

#[tokio::test]
async fn a_redirect_leads_to_an_http_server_or_nowhere() {
    for location in ["file:///etc/passwd", "unix:///run/docker.sock", "ftp://127.0.0.1/a", "https://"] {
        let header = format!("location: {location}");
        let server = scripted([answer("302 Found", &[&header], "")]).await;
        assert_eq!(fetch(&server, "/").await.unwrap_err(), "it redirects to no URL", "{location}");
        assert_eq!(server.lines().len(), 1, "{location}");
    }
}

#[tokio::test]
async fn time_and_size_are_bounded() {
    let server = scripted([Act::Silence]).await;
    let within = Duration::from_millis(200);
    assert_eq!(fetch_within(&server, "/", within).await.unwrap_err(), "no answer within 200ms (3 tries)");
    let server = scripted([Act::Flood(b"HTTP/1.1 200 OK\r\n\r\n".to_vec())]).await;
    assert_eq!(fetch(&server, "/").await.unwrap_err(), "it is larger than 2 MiB");
}
