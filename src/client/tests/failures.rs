//! Servers that misbehave, and the errors that follow.

use std::time::Duration;

use super::server::{Act, Server, answer, ok};
use super::*;

fn safe() -> Request {
    Request::get("/api/v1/namespaces/shop")
}

fn unsafe_write() -> Request {
    write("/api/v1/namespaces/shop").into()
}

/// A connection with a short timeout.
async fn hasty(server: &Server) -> Cluster {
    let options = ConnectOptions {
        request_timeout: RequestTimeout::Within(Duration::from_secs(2)),
        ..to(&format!("http://{}", server.address()))
    };
    connect(&options, &Environment::default()).await.unwrap()
}

#[tokio::test]
async fn an_overloaded_server_is_asked_again() {
    let server = Server::start(|number, _| {
        if number == 0 { answer("429 Too Many Requests", &["retry-after: 1"], "slow down") } else { ok() }
    })
    .await;
    let (log, lines) = log();
    let options = ConnectOptions { verbose: 1, log, ..to(&format!("http://{}", server.address())) };
    let cluster = connect(&options, &Environment::default()).await.unwrap();

    let start = std::time::Instant::now();
    cluster.send(unsafe_write()).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1), "the server asked for a second");
    assert_eq!(cluster.counts().write, 2);
    let expected = "repeating PATCH /api/v1/namespaces/shop in N ms (1 of 4): \
                    the server answered 429 TooManyRequests";
    assert_eq!(without_times(&lines), [expected]);
}

#[tokio::test]
async fn refusals_that_would_come_again_are_final() {
    for status in ["500 Internal Server Error", "503 Service Unavailable", "403 Forbidden", "409 Conflict"] {
        let server = Server::start(move |_, _| answer(status, &[], "")).await;
        let cluster = connected(&server).await;
        let error = cluster.send(safe()).await.unwrap_err();
        assert_eq!(error.in_full(), format!("the server answered {status}"));
        assert!(!error.is_whole_run());
        assert_eq!(server.lines().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_broken_connection_is_used_again_only_for_what_may_be_repeated() {
    for act in [
        Act::Reset,
        Act::AnswerAndClose(Vec::new()),
        Act::AnswerAndClose(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_vec()),
        Act::AnswerAndClose(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\nhalf".to_vec()),
    ] {
        let script = act.clone();
        let server = Server::start(move |number, _| if number == 0 { script.clone() } else { ok() }).await;
        let cluster = connected(&server).await;
        cluster.send(safe()).await.unwrap();
        assert_eq!(cluster.counts().get, 2, "{act:?}");

        let script = act.clone();
        let server = Server::start(move |number, _| if number == 0 { script.clone() } else { ok() }).await;
        let cluster = connected(&server).await;
        let error = cluster.send(unsafe_write()).await.unwrap_err();
        assert!(matches!(error, RequestError::Interrupted { .. }), "{act:?}: {error:?}");
        assert!(!error.is_whole_run());
        assert_eq!(cluster.counts().write, 1, "{act:?}");
    }
}

#[tokio::test]
async fn attempts_come_to_an_end() {
    let server = Server::start(|_, _| Act::Reset).await;
    let cluster = connected(&server).await;
    let error = cluster.send(safe()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the connection to {} broke: connection reset by the server", cluster.server())
    );
    assert_eq!(cluster.counts().get, 5);
}

#[tokio::test]
async fn a_body_that_never_ends_runs_into_the_deadline() {
    let server =
        Server::start(|_, _| Act::Trickle(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n".to_vec())).await;
    let cluster = hasty(&server).await;
    let error = cluster.send(safe()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot connect to {}: no answer within 2s", cluster.server()),
        "the first answer was never complete"
    );
}

#[tokio::test]
async fn silence_means_unreachable_at_first_and_a_time_out_later() {
    let server = Server::start(|number, _| if number == 1 { ok() } else { Act::Silence }).await;
    let cluster = hasty(&server).await;
    let error = cluster.send(safe()).await.unwrap_err();
    assert!(matches!(error, RequestError::Unreachable { .. }) && error.is_whole_run(), "{error:?}");
    assert_eq!(cluster.counts().get, 1, "it was sent all the same");

    cluster.send(safe()).await.unwrap();
    let error = cluster.send(safe()).await.unwrap_err();
    assert!(matches!(error, RequestError::TimedOut { .. }) && !error.is_whole_run(), "{error:?}");
    assert_eq!(error.to_string(), format!("no answer from {} within 2s", cluster.server()));
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let server =
        Server::start(|_, _| Act::Flood(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n".to_vec())).await;
    let cluster = connected(&server).await;
    let error = cluster.send(safe()).await.unwrap_err();
    assert_eq!(error.to_string(), "the answer is larger than 16 MiB");
}

#[tokio::test]
async fn a_page_of_a_proxy_is_not_shown() {
    let page = "<html><head><title>Access denied</title></head><body><p>hunter2</p></body></html>";
    let server = Server::start(move |_, _| answer("502 Bad Gateway", &["content-type: text/html"], page)).await;
    let error = connected(&server).await.send(safe()).await.unwrap_err();
    assert_eq!(error.in_full(), "the server answered 502 Bad Gateway: Access denied");
    assert_eq!(error.to_string(), "the server answered 502 BadGateway");
    assert_eq!(error.status().unwrap().reason, "BadGateway");
}

#[tokio::test]
async fn a_server_that_does_not_speak_http() {
    let server = Server::start(|_, _| Act::AnswerAndClose(b"220 mail.example.com ESMTP\r\n\r\n".to_vec())).await;
    let cluster = connected(&server).await;
    let error = cluster.send(safe()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("the answer of {} cannot be read: it is not HTTP", cluster.server()));
}

#[tokio::test]
async fn nobody_listens() {
    let address = Server::start(|_, _| ok()).await.address();
    tokio::time::sleep(Duration::from_millis(20)).await;
    let cluster = connect(&to(&format!("http://{address}")), &Environment::default()).await.unwrap();
    let error = cluster.send(safe()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot connect to http://{address}: connection refused"));
    assert!(error.is_whole_run() && error.hint().is_some());
    assert_eq!(cluster.counts().get, 0, "nothing was sent");
}

#[tokio::test]
async fn a_name_that_does_not_exist() {
    let cluster = connect(&to("http://api.invalid"), &Environment::default()).await.unwrap();
    let error = cluster.send(safe()).await.unwrap_err();
    let RequestError::Unreachable { cause, hint, .. } = &error else { panic!("{error:?}") };
    assert!(cause.contains("name") && !cause.contains("lookup address"), "{cause}");
    assert!(hint.is_some());
}

#[tokio::test]
async fn a_path_that_is_none_is_an_error() {
    let server = Server::start(|_, _| ok()).await;
    let cluster = connected(&server).await;
    let error = cluster.send(Request::get(Address::from("/api/v1").join("a/b"))).await.unwrap_err();
    assert!(matches!(error, RequestError::Invalid { .. }), "{error:?}");
    assert_eq!(cluster.counts().get, 0);
}

#[tokio::test]
async fn a_proxy_that_is_not_there_is_reported() {
    for (scheme, cause) in [("http", "connection refused"), ("socks5", "the proxy cannot be reached")] {
        let proxy = format!("{scheme}://127.0.0.1:1");
        let environment = Environment { http_proxy: Some(proxy.clone()), ..Environment::default() };
        let cluster = connect(&to("http://api.invalid"), &environment).await.unwrap();
        let error = cluster.send(safe()).await.unwrap_err();
        let expected = format!("cannot connect to http://api.invalid: {cause} (through the proxy `{proxy}`)");
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn a_proxy_that_is_silent_is_named() {
    let proxy = Server::start(|_, _| Act::Silence).await;
    for scheme in ["http", "socks5"] {
        let proxy = format!("{scheme}://{}", proxy.address());
        let environment = Environment { http_proxy: Some(proxy.clone()), ..Environment::default() };
        let options = ConnectOptions {
            request_timeout: RequestTimeout::Within(Duration::from_secs(1)),
            ..to("http://api.invalid")
        };
        let error = connect(&options, &environment).await.unwrap().send(safe()).await.unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("cannot connect to http://api.invalid: "), "{text}");
        assert!(text.ends_with(&format!(" (through the proxy `{proxy}`)")), "{text}");
        assert!(error.hint().unwrap().starts_with("is the proxy right?"));
    }
}

#[tokio::test]
async fn an_answer_with_too_many_headers_says_so() {
    let text = format!("HTTP/1.1 200 OK\r\n{}content-length: 0\r\n\r\n", "x-note: a\r\n".repeat(200));
    let server = Server::start(move |_, _| Act::AnswerAndClose(text.clone().into_bytes())).await;
    let cluster = connected(&server).await;
    let error = cluster.send(safe()).await.unwrap_err();
    let cause = "it has too many headers, or they are too long";
    assert_eq!(error.to_string(), format!("the answer of {} cannot be read: {cause}", cluster.server()));
}

#[tokio::test]
async fn a_refusal_of_the_proxy_is_reported() {
    let proxy = Server::start(|_, _| answer("403 Forbidden", &[], "no")).await;
    let address = format!("user:hunter2@{}", proxy.address());
    let environment = Environment { http_proxy: Some(address), ..Environment::default() };
    let cluster = connect(&to("http://api.invalid"), &environment).await.unwrap();
    let error = cluster.send(safe()).await.unwrap_err();
    assert!(matches!(error, RequestError::Unreachable { .. }), "{error:?}");
    let proxy = proxy.address();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot connect to http://api.invalid: the proxy opens no tunnel: unsuccessful (through the proxy `http://{proxy}`)"
        )
    );
}

#[tokio::test]
async fn a_redirection_is_reported_with_where_it_leads_and_not_followed() {
    let other = Server::start(|_, _| ok()).await;
    let login = format!("location: http://me:hunter2@{}/login?state=hunter2", other.address());
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect"] {
        let login = login.clone();
        let server = Server::start(move |_, _| answer(status, &[&login], "<a href=/>")).await;
        for request in [safe(), unsafe_write()] {
            let error = connected(&server).await.send(request).await.unwrap_err();
            let to = other.address();
            let reported =
                format!("the server answered {status}, which leads to `http://{to}/login?…` and is not followed");
            assert_eq!(error.in_full(), reported);
            assert!(error.hint().unwrap().contains("a login in front of it"));
        }
    }
    let server = Server::start(|_, _| answer("302 Found", &[], "")).await;
    let error = connected(&server).await.send(safe()).await.unwrap_err();
    assert_eq!(error.in_full(), "the server answered 302 Found");
    assert!(other.lines().is_empty());
}
