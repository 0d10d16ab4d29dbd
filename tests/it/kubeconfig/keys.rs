//! Keys and signatures of certificates that kubectl takes, and those of them that this program cannot use, which `docs/connection.md` lists.
//!
//! The certificates are those of `testdata/certificates`, which OpenSSL made: the library of the other tests has no keys of these kinds.
//! Those of clients are signed with their own keys, and the servers take any.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use test_control_plane::scripted::{Server, ok};
use tokio_rustls::rustls::client::danger::HandshakeSignatureValid;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::{DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme};

use super::trust::ask;
use crate::control_plane::ControlPlane;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/certificates").join(name)
}

/// The certificate of a server, and those behind it.
fn chain(name: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_file_iter(file(name)).unwrap().map(Result::unwrap).collect()
}

async fn kubectl() -> PathBuf {
    tokio::task::spawn_blocking(|| ControlPlane::shared().kubectl()).await.unwrap()
}

/// Asks clients for a certificate, and takes any.
#[derive(Debug)]
struct AnyClient;

impl ClientCertVerifier for AnyClient {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let mut schemes = default_provider().signature_verification_algorithms.supported_schemes();
        schemes.push(SignatureScheme::ECDSA_NISTP521_SHA512);
        schemes
    }
}

/// What kubectl does, and what this program says that it does not do.
type Expected = (bool, Option<&'static str>);

fn check(
    name: &str,
    (kubectl, refusal): Expected,
    [theirs, ours]: &[(bool, String); 2],
    differences: &mut Vec<String>,
) {
    let is_as_said = match refusal {
        None => ours.0,
        Some(words) => !ours.0 && ours.1.contains(words) && !ours.1.contains("unknown authority"),
    };
    if theirs.0 != kubectl || !is_as_said {
        differences.push(format!("{name}:\n  kubectl: {theirs:?}\n  we:      {ours:?}"));
    }
}

#[tokio::test]
async fn a_server_whose_certificate_cannot_be_verified_is_told_from_one_of_an_unknown_authority() {
    let kubectl = kubectl().await;
    let mut differences = Vec::new();
    for (name, expected) in [
        ("signed-by-p224.pem", (true, Some("cannot be verified: it is signed by a P-224 key"))),
        ("signed-by-p521.pem", (true, Some("cannot be verified: it is signed by a P-521 key"))),
        ("signed-by-rsa-1024.pem", (true, Some("cannot be verified: it is signed by an RSA key of 1024 bits"))),
        (
            "signed-by-p256-with-sha512.pem",
            (true, Some("cannot be verified: it is signed with ECDSA and SHA-512 by a P-256 key")),
        ),
        (
            "signed-by-rsa-2048-with-sha1.pem",
            (false, Some("cannot be verified: it is signed with RSA and SHA-1 by an RSA key of 2048 bits")),
        ),
    ] {
        let certificates = chain(name);
        let bundle = std::fs::read_to_string(file(name)).unwrap();
        // The authority is the last one.
        let (_, authority) = bundle.split_once("-----END CERTIFICATE-----\n").unwrap();
        let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
        let config = ServerConfig::builder().with_no_client_auth();
        let config = config.with_single_cert(certificates[..1].to_vec(), key).unwrap();
        let server = Server::start_tls(config, |_, _| ok()).await;
        check(name, expected, &ask(&kubectl, &server, authority, None).await, &mut differences);
    }
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
}

#[tokio::test]
async fn a_certificate_of_a_client_is_presented_as_kubectl_does_or_refused_with_the_reason() {
    let kubectl = kubectl().await;
    let mut differences = Vec::new();
    let passphrase = Some("is protected with a passphrase");
    for (name, expected) in [
        ("client-version-1.pem", (true, None)),
        ("client-ed25519.pem", (true, None)),
        ("client-p384-sec1.pem", (true, None)),
        ("client-parameters.pem", (true, None)),
        ("client-rsa-pkcs1.pem", (true, None)),
        ("client-rsa-pkcs8.pem", (true, None)),
        ("client-mislabelled.pem", (true, None)),
        ("client-broken-block.pem", (true, None)),
        ("client-p521.pem", (true, Some("has a P-521 key, which cannot be used here"))),
        ("client-rsa-1024.pem", (true, Some("has an RSA key of 1024 bits, which cannot be used here"))),
        ("client-rsa-5120.pem", (true, Some("has an RSA key of 5120 bits, which cannot be used here"))),
        ("client-passphrase.pem", (false, passphrase)),
        ("client-passphrase-pkcs1.pem", (false, passphrase)),
        ("client-passphrase-sec1.pem", (false, passphrase)),
        ("client-other-key.pem", (false, Some("belongs to another certificate"))),
        ("client-malformed.pem", (false, Some("client-malformed.pem` is malformed"))),
    ] {
        let certificates = chain("signed-by-p224.pem");
        let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
        let config = ServerConfig::builder().with_client_cert_verifier(Arc::new(AnyClient));
        let config = config.with_single_cert(certificates[..1].to_vec(), key).unwrap();
        let server = Server::start_tls(config, |_, _| ok()).await;
        // The server's own certificate is trusted.
        let bundle = std::fs::read_to_string(file("signed-by-p224.pem")).unwrap();
        check(name, expected, &ask(&kubectl, &server, &bundle, Some(&file(name))).await, &mut differences);
        assert!(server.seen().iter().all(|seen| seen.tls.unwrap().certified), "{name}: it was presented");
    }
    assert!(differences.is_empty(), "\n{}\n", differences.join("\n"));
}
