//! Requests and answers on the wire, without failures.

use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use super::server::{Act, Server, answer, ok};
use super::*;
use reconcile_core::object::Projection;

#[tokio::test]
async fn a_request_and_its_answer() {
    let server = Server::start(|_, _| {
        answer(
            "201 Created",
            &[r#"warning: 299 - "deprecated \"thing\"""#, r#"warning: 299 - "second""#],
            r#"{"kind":"X"}"#,
        )
    })
    .await;
    let cluster = connected(&server).await;
    assert_eq!(cluster.counts(), RequestCounts::default(), "connecting sends nothing");

    let object = Address::from("/api/v1/namespaces/shop/configmaps/web");
    let change = WriteRequest::apply(object, "me", true, &serde_json::json!({"a": 1}));
    let warnings = Warnings::default();
    let change = Change(Request::from(change.dry_run()).with_accept("application/json;as=PartialObjectMetadata"));
    let reply = cluster.change(change.clone(), &warnings).await.unwrap();
    assert_eq!((reply.status().as_u16(), &reply.body()[..]), (201, &br#"{"kind":"X"}"#[..]));
    cluster.change(change, &warnings).await.unwrap();
    assert_eq!(warnings.take(), [r#"deprecated "thing""#, "second"], "each once");

    let seen = &server.seen()[0];
    assert_eq!(
        seen.line,
        "PATCH /api/v1/namespaces/shop/configmaps/web?dryRun=All&fieldManager=me&fieldValidation=Ignore&force=true HTTP/1.1"
    );
    assert_eq!(seen.body, r#"{"a":1}"#);
    assert_eq!(seen.header("content-type"), ["application/apply-patch+yaml"]);
    assert_eq!(seen.header("accept"), ["application/json;as=PartialObjectMetadata"]);
    assert_eq!(seen.header("accept-encoding"), ["gzip"]);
    let agent = format!("kubectl-reconcile/{} (", env!("CARGO_PKG_VERSION"));
    assert!(seen.header("user-agent")[0].starts_with(&agent), "{seen:?}");
    assert_eq!(cluster.counts(), RequestCounts { dry_run: 2, ..RequestCounts::default() });
}

#[tokio::test]
async fn connections_are_used_again_once_their_answer_is_read() {
    let server = Server::start(|number, _| if number == 1 { answer("404 Not Found", &[], "{}") } else { ok() }).await;
    let cluster = connected(&server).await;
    for _ in 0..5 {
        let _ = cluster.send(Request::get("/api")).await;
    }
    assert_eq!(server.seen().iter().map(|seen| seen.connection).max(), Some(0));
}

#[tokio::test]
async fn many_requests_are_in_flight_at_once() {
    let server = Server::start(|_, _| ok()).await;
    let cluster = connected(&server).await;
    let replies =
        join_all((0..200).map(|number| cluster.send(Request::list(Address::from("/api").join(number.to_string())))))
            .await;
    assert!(replies.iter().all(Result::is_ok));
    assert_eq!(cluster.counts().list, 200);
}

/// 4 MiB of blanks as gzip writes them.
fn blanks() -> Vec<u8> {
    const HEAD: [u8; 27] = [
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff, 0xed, 0xc1, 0x81, 0, 0, 0, 0, 0xc3, 0x20, 0x95, 0xf9, 0x53, 0x1e, 0xe4,
        0x55, 0x01, 0,
    ];
    const TAIL: [u8; 10] = [0x7c, 0x1b, 0x15, 0x3e, 0xfa, 0xfc, 0, 0, 0x40, 0];
    [&HEAD[..], &[0; 4062], &TAIL].concat()
}

#[tokio::test]
async fn an_answer_that_is_compressed_beyond_measure_is_not_read() {
    let server = Server::start(|_, _| {
        let body = blanks();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", body.len());
        Act::Answer([head.into_bytes(), body].concat())
    })
    .await;
    let cluster = connected(&server).await;
    let error = cluster.send(Request::list("/api")).await.unwrap_err();
    assert!(matches!(error, RequestError::TooDense { ratio: 200, .. }), "{error:?}");
}

#[tokio::test]
async fn a_stop_ends_pauses_and_sends_nothing_more_but_what_is_begun() {
    let server =
        Server::start(|_, _| answer("429 Too Many Requests", &["retry-after: 25"], r#"{"kind":"Status"}"#)).await;
    let server = Arc::new(server);
    let stop = CancellationToken::new();
    let cluster = connected(&server).await.stopped_by(stop.clone());
    let (token, asked) = (stop.clone(), Arc::clone(&server));
    tokio::spawn(async move {
        seen(&asked, 1).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        token.cancel();
    });
    let start = Instant::now();
    assert!(matches!(cluster.send(Request::get("/api")).await, Err(RequestError::Stopped)));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(matches!(cluster.send(Request::list("/api")).await, Err(RequestError::Stopped)));
    assert!(matches!(cluster.watch("/api", Projection::Whole).await, Err(RequestError::Stopped)));
    assert_eq!(server.seen().len(), 1);

    let started = cluster.until_done();
    let write = tokio::spawn(async move { started.send(write("/api")).await });
    seen(&server, 2).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!write.is_finished(), "it is repeated after the pause");
    assert_eq!(server.seen().len(), 2);
    write.abort();
}

#[tokio::test]
async fn compressed_answers_are_read_and_compression_can_be_switched_off() {
    /// `hello` as gzip writes it.
    const HELLO: [u8; 25] =
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0];
    let server = Server::start(|_, seen| {
        if seen.header("accept-encoding").is_empty() {
            return answer("200 OK", &[], "plain");
        }
        let mut bytes = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 25\r\n\r\n".to_vec();
        bytes.extend(HELLO);
        Act::Answer(bytes)
    })
    .await;
    let cluster = connected(&server).await;
    assert_eq!(cluster.send(Request::get("/")).await.unwrap().into_body(), "hello");

    let options = ConnectOptions { disable_compression: Some(true), ..to(&format!("http://{}", server.address())) };
    let cluster = connect(&options, &Environment::default()).await.unwrap();
    assert_eq!(cluster.send(Request::get("/")).await.unwrap().into_body(), "plain");
}

#[tokio::test]
async fn the_path_of_the_server_comes_first_and_impersonation_goes_along() {
    let server = Server::start(|_, _| ok()).await;
    let options = ConnectOptions {
        as_user: Some("jane".into()),
        as_uid: Some("42".into()),
        as_group: vec!["a".into(), "b".into()],
        as_user_extra: vec![
            "Scopes=view".into(),
            "Scopes=edit=all".into(),
            "acme.com/x y=1".into(),
            "Team%2f=2".into(),
        ],
        ..to(&format!("http://{}/k8s/clusters/c-1/", server.address()))
    };
    let cluster = connect(&options, &Environment::default()).await.unwrap();
    cluster.send(Request::get(Address::from("/api/v1").with("limit", "1"))).await.unwrap();

    let seen = &server.seen()[0];
    assert_eq!(seen.line, "GET /k8s/clusters/c-1/api/v1?limit=1 HTTP/1.1");
    assert_eq!(seen.header("impersonate-user"), ["jane"]);
    assert_eq!(seen.header("impersonate-uid"), ["42"]);
    assert_eq!(seen.header("impersonate-group"), ["a", "b"]);
    assert_eq!(seen.header("impersonate-extra-scopes"), ["view", "edit=all"]);
    assert_eq!(seen.header("impersonate-extra-acme.com%2fx%20y"), ["1"]);
    assert_eq!(seen.header("impersonate-extra-team%252f"), ["2"]);
}

#[tokio::test]
async fn a_url_that_is_too_long_with_the_path_of_the_server_is_not_sent() {
    let server = Server::start(|_, _| ok()).await;
    let options = to(&format!("http://{}/k8s/clusters/c-1", server.address()));
    let cluster = connect(&options, &Environment::default()).await.unwrap();
    let after = |length| Request::list(Address::from("/api").with("continue", "x".repeat(length)));
    let error = cluster.send(after(usize::from(u16::MAX) - 30)).await.unwrap_err();
    assert!(matches!(error, RequestError::Invalid { .. }), "{error:?}");
    assert_eq!(server.seen().len(), 0);
    cluster.send(after(100)).await.unwrap();
}

#[tokio::test]
async fn an_http_proxy_is_asked_for_a_tunnel() {
    let proxy = Server::start(|number, _| {
        if number == 0 { Act::Answer(b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec()) } else { ok() }
    })
    .await;
    let environment =
        Environment { http_proxy: Some(format!("user:p%40ss@{}", proxy.address())), ..Environment::default() };
    let cluster = connect(&to("http://api.invalid"), &environment).await.unwrap();
    cluster.send(Request::get("/api")).await.unwrap();
    assert_eq!(proxy.lines(), ["CONNECT api.invalid:80 HTTP/1.1", "GET /api HTTP/1.1"]);
    assert_eq!(proxy.seen()[0].header("proxy-authorization"), ["Basic dXNlcjpwQHNz"]);
}

/// A SOCKS5 proxy (RFC 1928) that plays the server itself.
#[tokio::test]
async fn a_socks_proxy_resolves_the_name() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let proxy = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut greeting = [0; 3];
        stream.read_exact(&mut greeting).await.unwrap();
        stream.write_all(&[5, 0]).await.unwrap();
        let mut head = [0; 5];
        stream.read_exact(&mut head).await.unwrap();
        let mut name = vec![0; usize::from(head[4]) + 2];
        stream.read_exact(&mut name).await.unwrap();
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
        (greeting, head, name)
    });
    let environment = Environment { http_proxy: Some(format!("socks5h://{address}")), ..Environment::default() };
    let cluster = connect(&to("http://api.invalid:8080"), &environment).await.unwrap();
    cluster.send(Request::get("/api")).await.unwrap();
    let (greeting, head, name) = proxy.await.unwrap();
    assert_eq!((greeting, head), ([5, 1, 0], [5, 1, 0, 3, 11]), "no password, connect to a name");
    assert_eq!(name, [b"api.invalid", &8080_u16.to_be_bytes()[..]].concat());
}

#[tokio::test]
async fn requests_are_reported_when_asked_for_and_never_what_they_carry() {
    let server = Server::start(|number, _| match number {
        0 => ok(),
        1 => answer("404 Not Found", &[], "secret"),
        _ => Act::AnswerAndClose(Vec::new()),
    })
    .await;
    let (log, lines) = log();
    let options = ConnectOptions { verbose: 6, log, ..to(&format!("http://{}", server.address())) };
    let cluster = connect(&options, &Environment::default()).await.unwrap();
    cluster.send(Request::get(Address::from("/a").with("x", "1"))).await.unwrap();
    cluster.send(write("/b")).await.unwrap_err();
    cluster.send(write("/c")).await.unwrap_err();

    let server = cluster.server();
    assert_eq!(
        without_times(&lines),
        [
            "GET /a?x=1 200 in N ms".to_owned(),
            "PATCH /b 404 in N ms".to_owned(),
            format!(
                "PATCH /c failed after N ms: the connection to {server} broke: it was closed before the answer was complete"
            ),
        ]
    );
}
