//! TLS: whom we trust, and what we show.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::AsyncWriteExt as _;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::server::{Act, Seen, Server, answer, ok};
use super::*;

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

    fn issue(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap();
        (certificate, key)
    }

    /// Writes `client.crt` and `client.key`, the latter without a last line end.
    pub(super) fn issue_client(&self) {
        let (certificate, key) = self.issue("client");
        std::fs::write(self.file("client.crt"), certificate.pem()).unwrap();
        std::fs::write(self.file("client.key"), key.serialize_pem().trim_end()).unwrap();
    }

    /// What a server named `name` serves with. Clients may show a certificate of this authority.
    pub(super) fn server(&self, name: &str, client_certificate_required: bool) -> ServerConfig {
        let (certificate, key) = self.issue(name);
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let verifier = WebPkiClientVerifier::builder(Arc::new(roots));
        let verifier = if client_certificate_required { verifier } else { verifier.allow_unauthenticated() };
        ServerConfig::builder()
            .with_client_cert_verifier(verifier.build().unwrap())
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )
            .unwrap()
    }

    /// Options that lead to `server` and trust this authority.
    pub(super) fn trusted(&self, server: &Server) -> ConnectOptions {
        ConnectOptions {
            certificate_authority: Some(self.file("ca.crt")),
            ..to(&format!("https://{}", server.address()))
        }
    }
}

async fn send(options: &ConnectOptions) -> Result<Reply, RequestError> {
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
async fn an_unknown_authority_is_not_trusted_unless_told_so() {
    let (authority, other) = (Authority::new(), Authority::new());
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
    assert!(server.seen()[0].certified);

    let error = send(&authority.trusted(&server)).await.unwrap_err();
    assert!(
        error.to_string().ends_with("the server ended the TLS handshake: it wants a client certificate"),
        "{error}"
    );
    assert!(error.is_whole_run());
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
