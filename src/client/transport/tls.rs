//! TLS: whose certificates are accepted, the name that the server's must carry, and the certificate that we show.

use std::sync::Arc;

use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt as _;
use secrecy::ExposeSecret as _;

use crate::client::kubeconfig::credentials::ClientCertificate;
use crate::client::kubeconfig::settings::Trust;
use crate::diagnostic::Diagnostic;

/// What a TLS connection needs to know.
#[derive(Clone)]
pub struct Tls {
    config: ClientConfig,
    /// The name that the server's certificate must carry, where it is not that of the host.
    server_name: Option<ServerName<'static>>,
}

impl Tls {
    /// The authorities of the machine, the name of the host, and no certificate of our own.
    pub fn of_the_system() -> Result<Self, Diagnostic> {
        Self::new(&Trust::System, None, None)
    }

    /// Puts together what the kubeconfig and the flags say.
    pub fn new(
        trust: &Trust,
        server_name: Option<&str>,
        certificate: Option<&ClientCertificate>,
    ) -> Result<Self, Diagnostic> {
        let server_name = match server_name.map(|name| ServerName::try_from(name.to_owned())) {
            None => None,
            Some(Ok(name)) => Some(name),
            Some(Err(_)) => {
                return Err(Diagnostic::general("`tls-server-name` is neither a host name nor an address"));
            }
        };
        let builder = match trust {
            Trust::Authority(pem) => ClientConfig::builder().with_root_certificates(authorities(pem)?),
            Trust::System => ClientConfig::builder().with_platform_verifier().map_err(unusable)?,
            Trust::Anything => {
                ClientConfig::builder().dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate))
            }
        };
        let config = match certificate {
            None => builder.with_no_client_auth(),
            Some(certificate) => {
                let (chain, key) = identity(certificate)?;
                builder.with_client_auth_cert(chain, key).map_err(unusable)?
            }
        };
        Ok(Self { config, server_name })
    }

    /// Connects as `connector` does, and agrees on TLS where the scheme is `https`.
    pub fn over<C>(&self, connector: C) -> HttpsConnector<C> {
        let builder = HttpsConnectorBuilder::new().with_tls_config(self.config.clone()).https_or_http();
        let builder = match &self.server_name {
            Some(name) => builder.with_server_name_resolver(FixedServerNameResolver::new(name.clone())),
            None => builder,
        };
        builder.enable_http1().wrap_connector(connector)
    }
}

fn unusable(cause: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::general(format!("the certificates cannot be used: {cause}"))
}

/// The certificates in `pem`; other blocks and text between them do not count.
fn authorities(pem: &[u8]) -> Result<RootCertStore, Diagnostic> {
    let none = || Diagnostic::general("the certificate authority holds no certificate in PEM form");
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        roots.add(certificate.map_err(|_| none())?).map_err(unusable)?;
    }
    if roots.is_empty() { Err(none()) } else { Ok(roots) }
}

/// Our certificate with those of its authorities, and its key.
fn identity(
    certificate: &ClientCertificate,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Diagnostic> {
    let chain = CertificateDer::pem_slice_iter(&certificate.certificate).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| unusable(format!("the client certificate is not in PEM form: {error}")))?;
    if chain.is_empty() {
        return Err(unusable("the client certificate is not in PEM form"));
    }
    let key = PrivateKeyDer::from_pem_slice(certificate.key.expose_secret())
        .map_err(|_| unusable("the key of the client certificate is not in PEM form"))?;
    Ok((chain, key))
}

/// Accepts whatever the server shows: `insecure-skip-tls-verify`.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
