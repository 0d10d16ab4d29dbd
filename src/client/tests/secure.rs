//! TLS: trusted authorities, and client certificates.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::Response;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use tokio::io::AsyncWriteExt as _;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::{WantsServerCert, WebPkiClientVerifier};
use tokio_rustls::rustls::{ConfigBuilder, RootCertStore, ServerConfig};

use super::server::{Act, Seen, Server, answer, ok};
use super::*;
use reconcile_core::object::Projection;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
const ALWAYS: RangeInclusive<i32> = 1975..=4000;

/// An authority, and files with what it issued.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pub(super) folder: tempfile::TempDir,
}

impl Authority {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.crt"), issuer.pem()).unwrap();
        Self { issuer, folder }
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn issue(&self, name: &str, years: RangeInclusive<i32>) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(*years.start(), 1, 1);
        params.not_after = date_time_ymd(*years.end(), 1, 1);
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }

    /// Writes `client.crt` and `client.key`, the latter without a last line end.
    pub(super) fn issue_client(&self) {
        self.issue_client_for(ALWAYS);
    }

    /// Issues a certificate that is valid in these years.
    fn issue_client_for(&self, years: RangeInclusive<i32>) {
        let (certificate, key) = self.issue("client", years);
        std::fs::write(self.file("client.crt"), certificate.pem()).unwrap();
        std::fs::write(self.file("client.key"), key.serialize_pem().trim_end()).unwrap();
    }

    /// The TLS configuration of a server named `name`. Clients may present a certificate of this authority.
    pub(super) fn server(&self, name: &str, client_certificate_required: bool) -> ServerConfig {
        self.server_for(ALWAYS, name, client_certificate_required)
    }

    /// The configuration of a server whose certificate is valid in these years.
    fn server_for(&self, years: RangeInclusive<i32>, name: &str, client_certificate_required: bool) -> ServerConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let verifier = WebPkiClientVerifier::builder(Arc::new(roots));
        let verifier = if client_certificate_required { verifier } else { verifier.allow_unauthenticated() };
        let builder = ServerConfig::builder().with_client_cert_verifier(verifier.build().unwrap());
        self.identified(builder, years, name)
    }

    /// The TLS configuration of a server that checks no client certificate during the handshake, as the API server does.
    fn unquestioning_server(&self) -> ServerConfig {
        self.identified(ServerConfig::builder().with_no_client_auth(), ALWAYS, "127.0.0.1")
    }

    fn identified(
        &self,
        builder: ConfigBuilder<ServerConfig, WantsServerCert>,
        years: RangeInclusive<i32>,
        name: &str,
    ) -> ServerConfig {
        let (certificate, key) = self.issue(name, years);
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        builder.with_single_cert(vec![certificate.der().clone()], key).unwrap()
    }

    /// Options that lead to `server` and trust this authority.
    pub(super) fn trusted(&self, server: &Server) -> ConnectOptions {
        ConnectOptions {
            certificate_authority: Some(self.file("ca.crt")),
            ..to(&format!("https://{}", server.address()))
        }
    }
}

async fn send(options: &ConnectOptions) -> Result<Response<Bytes>, RequestError> {
    connect(options, &Environment::default()).await.unwrap().send(Request::get("/api")).await
}

/// Greets those that carry the token `good`.
fn guarded(_: usize, seen: &Seen) -> Act {
    if seen.header("authorization") == ["Bearer good"] { ok() } else { answer("401 Unauthorized", &[], "") }
}

#[tokio::test]
async fn a_token_goes_over_tls_and_never_over_plain_http() {
    let authority = Authority::new();
    let server = Server::start_tls(authority.server("127.0.0.1", false), guarded).await;
    send(&ConnectOptions { token: Some("good".into()), ..authority.trusted(&server) }).await.unwrap();

    let plain = Server::start(|_, _| ok()).await;
    let (log, lines) = log();
    let options = ConnectOptions { token: Some("good".into()), log, ..to(&format!("http://{}", plain.address())) };
    send(&options).await.unwrap();
    assert!(plain.seen()[0].header("authorization").is_empty());
    assert_eq!(lines.lock().unwrap().len(), 1, "and it is said");
}

#[tokio::test]
async fn a_server_that_gets_no_credentials_refuses_none() {
    let plain = Server::start(guarded).await;
    let options = ConnectOptions { token: Some("good".into()), ..to(&format!("http://{}", plain.address())) };
    let error = send(&options).await.unwrap_err();
    let server = format!("http://{}", plain.address());
    let expected = format!("{server} requires credentials, and none were sent: the server answered 401 Unauthorized");
    assert_eq!(error.in_full(), expected);
    assert!(error.hint().unwrap().starts_with("credentials are sent over TLS only"));

    let authority = Authority::new();
    let secure = Server::start_tls(authority.server("127.0.0.1", false), guarded).await;
    let error = send(&authority.trusted(&secure)).await.unwrap_err();
    assert!(error.to_string().contains("requires credentials, and none were sent"), "{error}");
    assert!(error.hint().unwrap().starts_with("choose credentials with"));
}

#[tokio::test]
async fn a_refused_token_ends_the_run() {
    let authority = Authority::new();
    let server = Server::start_tls(authority.server("127.0.0.1", false), guarded).await;
    let error = send(&ConnectOptions { token: Some("bad".into()), ..authority.trusted(&server) }).await.unwrap_err();
    assert!(matches!(error, RequestError::Unauthorized { .. }) && error.is_whole_run());
    assert_eq!(
        error.to_string(),
        format!("https://{} refused the credentials: the server answered 401 Unauthorized", server.address())
    );
    assert_eq!(server.lines().len(), 1);
}

#[tokio::test]
async fn a_token_file_is_read_again_when_its_token_is_refused() {
    let authority = Authority::new();
    let server = Server::start_tls(authority.server("127.0.0.1", false), guarded).await;
    let token = authority.file("token");
    std::fs::write(&token, "old\n").unwrap();
    let kubeconfig = authority.file("config");
    std::fs::write(
        &kubeconfig,
        "users: [{name: u, user: {tokenFile: token}}]\ncontexts: [{name: c, context: {user: u}}]\ncurrent-context: c\n",
    )
    .unwrap();
    let options = ConnectOptions { kubeconfig: Some(kubeconfig), ..authority.trusted(&server) };
    let cluster = connect(&options, &Environment::default()).await.unwrap();
    assert!(matches!(cluster.send(Request::get("/")).await, Err(RequestError::Unauthorized { .. })));
    assert_eq!(server.lines().len(), 1, "the same token is not tried twice");
    std::fs::write(&token, "good\n").unwrap();
    cluster.send(Request::get("/")).await.unwrap();
    assert_eq!(server.lines().len(), 3);
    std::fs::remove_file(&token).unwrap();
    cluster.send(Request::get("/")).await.unwrap();
}

#[tokio::test]
async fn an_unknown_authority_is_not_trusted_unless_asked_for() {
    let authority = Authority::new();
    let other = Authority::new();
    let server = Server::start_tls(authority.server("127.0.0.1", false), |_, _| ok()).await;
    let url = format!("https://{}", server.address());
    for options in [to(&url), other.trusted(&server)] {
        let error = send(&options).await.unwrap_err();
        assert_eq!(error.to_string(), format!("cannot connect to {url}: certificate signed by unknown authority"));
        assert!(error.is_whole_run() && error.hint().unwrap().contains("--certificate-authority"));
    }
    send(&ConnectOptions { insecure_skip_tls_verify: Some(true), ..to(&url) }).await.unwrap();
}

#[tokio::test]
async fn the_name_in_the_certificate_counts() {
    let authority = Authority::new();
    let server = Server::start_tls(authority.server("api.example.com", false), |_, _| ok()).await;
    let error = send(&authority.trusted(&server)).await.unwrap_err();
    let expected = ": the server's certificate is for `api.example.com`, not for `127.0.0.1`";
    assert!(error.to_string().ends_with(expected), "{error}");
    assert!(error.hint().unwrap().contains("--tls-server-name"));

    let named = ConnectOptions { tls_server_name: Some("api.example.com".into()), ..authority.trusted(&server) };
    send(&named).await.unwrap();
}

#[tokio::test]
async fn a_client_certificate_is_shown() {
    let authority = Authority::new();
    authority.issue_client();
    let server = Server::start_tls(authority.server("127.0.0.1", true), |_, _| ok()).await;
    let options = ConnectOptions {
        client_certificate: Some(authority.file("client.crt")),
        client_key: Some(authority.file("client.key")),
        ..authority.trusted(&server)
    };
    send(&options).await.unwrap();
    assert!(server.seen()[0].tls.unwrap().certified);

    let error = send(&authority.trusted(&server)).await.unwrap_err();
    assert!(
        error.to_string().ends_with("the server ended the TLS handshake: it requires a client certificate"),
        "{error}"
    );
    assert!(error.is_whole_run());
}

/// Each answer closes its connection, so that each request opens another one, which finds the tickets of those before it.
#[tokio::test]
async fn later_connections_of_a_run_resume_the_tls_session() {
    let authority = Authority::new();
    let closing = |_: usize, _: &Seen| Act::AnswerAndClose(OK.to_vec());
    let server = Server::start_tls(authority.server("127.0.0.1", false), closing).await;
    let handshakes = || -> Vec<(usize, bool)> {
        server.seen().iter().map(|seen| (seen.connection, seen.tls.unwrap().resumed)).collect()
    };
    let cluster = connect(&authority.trusted(&server), &Environment::default()).await.unwrap();
    for _ in 0..3 {
        cluster.send(Request::get("/api")).await.unwrap();
    }
    assert_eq!(handshakes(), [(0, false), (1, true), (2, true)]);
    // Another run has no ticket.
    send(&authority.trusted(&server)).await.unwrap();
    assert_eq!(handshakes()[3..], [(3, false)]);
}

/// Requests take the connections that were opened ahead, in their order, and open more only when there are none left.
#[tokio::test]
async fn connections_are_opened_before_requests_need_them() {
    let authority = Authority::new();
    let slow = |_: usize, _: &Seen| Act::AnswerLater(Duration::from_millis(200), OK.to_vec());
    let server = Server::start_tls(authority.server("127.0.0.1", false), slow).await;
    let cluster = connect(&authority.trusted(&server), &Environment::default()).await.unwrap();
    cluster.open_ahead(3);
    while server.connections() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(server.seen().len(), 0, "no request yet");
    let all = (0..4).map(|_| cluster.send(Request::get("/api")));
    futures::future::try_join_all(all).await.unwrap();
    assert_eq!(server.connections(), 4, "three of them were open");
}

/// As in Go (`tls.X509KeyPair`), other blocks of the files are ignored.
#[tokio::test]
async fn a_certificate_request_in_the_same_file_is_ignored() {
    let authority = Authority::new();
    authority.issue_client();
    let other = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
    for name in ["client.crt", "client.key"] {
        let text = std::fs::read_to_string(authority.file(name)).unwrap();
        std::fs::write(authority.file(name), format!("{other}{text}\n{other}")).unwrap();
    }
    let server = Server::start_tls(authority.server("127.0.0.1", true), |_, _| ok()).await;
    let options = ConnectOptions {
        client_certificate: Some(authority.file("client.crt")),
        client_key: Some(authority.file("client.key")),
        ..authority.trusted(&server)
    };
    send(&options).await.unwrap();
    assert!(server.seen()[0].tls.unwrap().certified);
}

#[tokio::test]
async fn tls_where_there_is_none() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.0 400 Bad Request\r\n\r\n").await.unwrap();
        std::future::pending::<()>().await;
    });
    let error = send(&to(&url)).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot connect to {url}: the server does not speak TLS"));
    assert!(error.is_whole_run() && error.hint().is_some());
}

#[tokio::test]
async fn certificates_that_are_none_are_a_configuration_error() {
    let authority = Authority::new();
    authority.issue_client();
    std::fs::write(authority.file("text"), "hunter2").unwrap();
    let base = to("https://127.0.0.1:1");
    for options in [
        ConnectOptions { certificate_authority: Some(authority.file("text")), ..base.clone() },
        ConnectOptions {
            client_certificate: Some(authority.file("text")),
            client_key: Some(authority.file("client.key")),
            ..base.clone()
        },
        ConnectOptions {
            client_certificate: Some(authority.file("client.crt")),
            client_key: Some(authority.file("text")),
            ..base.clone()
        },
    ] {
        let error = connect(&options, &Environment::default()).await.unwrap_err();
        assert!(error.code == Code::Invalid && !error.to_string().contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn a_certificate_of_the_server_out_of_its_time_is_reported_with_both_times() {
    let authority = Authority::new();
    for (years, reported) in [
        (
            2001..=2002,
            "the server's certificate expired at 2002-01-01T00:00:00Z, and the clock of this machine shows 20",
        ),
        (
            3001..=3002,
            "the server's certificate is not valid before 3001-01-01T00:00:00Z, and the clock of this machine",
        ),
    ] {
        let server = Server::start_tls(authority.server_for(years, "127.0.0.1", false), |_, _| ok()).await;
        let error = send(&authority.trusted(&server)).await.unwrap_err();
        assert!(error.is_whole_run() && error.to_string().contains(reported), "{error}");
        assert!(error.hint().unwrap().contains("is the clock of this machine right?"));
    }
}

/// The beginning of the hint if a server whose clock shows this date refuses the credentials.
async fn why_refused(date: &'static str, years: RangeInclusive<i32>, token: Option<String>) -> String {
    let authority = Authority::new();
    authority.issue_client_for(years);
    let script = move |_: usize, _: &Seen| answer("401 Unauthorized", &[date], "");
    let server = Server::start_tls(authority.unquestioning_server(), script).await;
    let options = ConnectOptions {
        client_certificate: Some(authority.file("client.crt")),
        client_key: Some(authority.file("client.key")),
        token: token.map(Into::into),
        ..authority.trusted(&server)
    };
    let hint = send(&options).await.unwrap_err().hint().unwrap();
    hint.strip_suffix("log in again, or choose other credentials with `--context`, `--user` or `--token`")
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn credentials_that_have_expired_say_so_by_the_clock_of_the_server() {
    let now = "x-none: 1";
    let later = "date: Tue, 01 Feb 3003 10:00:00 GMT";
    assert_eq!(why_refused(now, ALWAYS, None).await, "");
    assert_eq!(why_refused(later, ALWAYS, None).await, "");
    let expired = why_refused(now, 2001..=2002, None).await;
    assert_eq!(expired, "the client certificate expired at 2002-01-01T00:00:00Z: ");
    let early = why_refused(now, 3001..=3002, None).await;
    assert_eq!(early, "the client certificate is not valid before 3001-01-01T00:00:00Z: ");
    let late = why_refused(later, 3001..=3002, None).await;
    assert_eq!(late, "the client certificate expired at 3002-01-01T00:00:00Z: ");

    let token = |claims: &str| Some(format!("e30.{}.c2ln", BASE64_URL_SAFE_NO_PAD.encode(claims)));
    let expired = why_refused(now, ALWAYS, token(r#"{"sub": "hunter2", "exp": 1000000000}"#)).await;
    assert_eq!(expired, "the token expired at 2001-09-09T01:46:40Z: ");
    for (date, claims) in [
        (now, r#"{"exp": 32503680000}"#),
        (now, r#"{"sub": "hunter2"}"#),
        (now, r#"{"exp": "soon"}"#),
        (now, r#"{"exp": 1e300}"#),
        (now, r#"{"exp": -1e300}"#),
        ("date: yesterday", "[]"),
        (now, "hunter2"),
    ] {
        assert_eq!(why_refused(date, 2001..=2002, token(claims)).await, "", "{claims}");
    }
    assert_eq!(why_refused(now, ALWAYS, Some("opaque".to_owned())).await, "");
}

/// A server or a gateway that repeats what it was sent, in every way in which texts of others are read.
#[tokio::test]
async fn a_token_that_an_answer_repeats_is_not_shown() {
    let token = "token-of-the-user";
    let status = r#"{"kind": "Status", "reason": "token-of-the-user", "message": "got Bearer token-of-the-user",
        "details": {"name": "token-of-the-user", "causes": [{"message": "token-of-the-user", "field": "token-of-the-user"}]}}"#;
    let plain = format!("{} got Bearer {token}", "x".repeat(180));
    for (line, body) in [
        ("403 Forbidden", status.to_owned()),
        ("401 Unauthorized", status.to_owned()),
        ("502 Bad Gateway", "got Bearer token-of-the-user".to_owned()),
        ("502 Bad Gateway", plain),
    ] {
        let authority = Authority::new();
        let warning = format!("warning: 299 - \"got {token}\"");
        let tls = authority.server("127.0.0.1", false);
        let server = Server::start_tls(tls, move |_, _| answer(line, &[&warning], &body)).await;
        let options = ConnectOptions { token: Some(token.into()), ..authority.trusted(&server) };
        let cluster = connect(&options, &Environment::default()).await.unwrap();
        let warnings = Warnings::default();
        let error = cluster.change(write("/api/v1/namespaces/shop"), &warnings).await.unwrap_err();
        assert_eq!(warnings.take(), ["got …"]);
        let shown = format!("{} {error:?}", error.in_full());
        assert!(!shown.contains("token-of"), "{shown}");
        let watch = cluster.watch(Address::from("/api/v1/pods").with("watch", "true"), Projection::Whole).await;
        assert!(!format!("{:?}", watch.err()).contains("token-of"));
    }
    let authority = Authority::new();
    let event = format!("{{\"type\": \"ERROR\", \"object\": {}}}\n", status.replace('\n', " "));
    let server =
        Server::start_tls(authority.server("127.0.0.1", false), move |_, _| answer("200 OK", &[], &event)).await;
    let options = ConnectOptions { token: Some(token.into()), ..authority.trusted(&server) };
    let cluster = connect(&options, &Environment::default()).await.unwrap();
    let pods = Address::from("/api/v1/pods").with("watch", "true");
    let mut watch = cluster.watch(pods, Projection::Whole).await.unwrap();
    let failed = format!("{:?}", watch.next().await.unwrap());
    assert!(failed.contains("got Bearer …") && !failed.contains("token-of"), "{failed}");
}
