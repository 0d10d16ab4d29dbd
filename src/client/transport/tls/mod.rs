//! TLS: which certificates of the server are accepted, and which certificate is presented to it.

mod identity;
mod public_key;
pub(super) mod trust;

use std::net::IpAddr;
use std::sync::Arc;

use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use kube::Config;
use rustls::client::Resumption;
use rustls::client::WantsClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ConfigBuilder, DigitallySignedStruct, SignatureScheme, WantsVerifier};

use identity::{identity, unusable};
use trust::Bundle;

use crate::client::kubeconfig::credentials::ClientCertificate;
use reconcile_core::diagnostic::Diagnostic;

/// The settings of TLS for connections to one server.
pub struct Tls {
    config: ClientConfig,
    /// The name that the server's certificate has to be for, if it is not the one in its address.
    server_name: Option<ServerName<'static>>,
}

impl Tls {
    /// Connections whose server is checked as `config` says, and to which `certificate` is presented.
    pub fn new(config: &Config, certificate: Option<&ClientCertificate>) -> Result<Self, Diagnostic> {
        let identity = certificate.map(identity).transpose()?;
        let builder = ClientConfig::builder();
        let builder = if config.accept_invalid_certs {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate))
        } else if let Some(authorities) = &config.root_cert {
            let certificates = authorities.iter().map(|authority| CertificateDer::from(authority.clone()));
            let bundle = Bundle::new(certificates).ok_or_else(|| unusable("none of the trusted ones can be read"))?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(bundle))
        } else {
            trusting_the_system(builder)?
        };
        let tls = match identity {
            Some(identity) => builder.with_client_cert_resolver(Arc::new(identity)),
            None => builder.with_no_client_auth(),
        };
        let server_name = config.tls_server_name.clone().map(server_name).transpose()?;
        Ok(Self { config: tls, server_name })
    }

    /// A connector that speaks TLS with `https://` servers over the connections of `connector`.
    pub fn over<C>(&self, connector: C) -> HttpsConnector<C> {
        let mut config = self.config.clone();
        // A proxy must not use up the tickets of the server, which may have the same name.
        config.resumption = Resumption::default();
        let mut builder = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http();
        if let Some(name) = &self.server_name {
            builder = builder.with_server_name_resolver(FixedServerNameResolver::new(name.clone()));
        }
        builder.enable_http1().wrap_connector(connector)
    }
}

/// Reads `tls-server-name`. As in Go, an address may have brackets (`Certificate.VerifyHostname`).
fn server_name(text: String) -> Result<ServerName<'static>, Diagnostic> {
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if let Some(address) = inside.and_then(|inside| inside.parse::<IpAddr>().ok()) {
        return Ok(ServerName::from(address));
    }
    ServerName::try_from(text)
        .map_err(|_| Diagnostic::general("`tls-server-name` is neither a host name nor an address"))
}

/// Trusts what the system trusts, through its own verifier.
#[cfg(any(windows, target_vendor = "apple"))]
fn trusting_the_system(
    builder: ConfigBuilder<ClientConfig, WantsVerifier>,
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, Diagnostic> {
    rustls_platform_verifier::BuilderVerifierExt::with_platform_verifier(builder).map_err(unusable)
}

/// Trusts the certificates of the system, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name.
#[cfg(not(any(windows, target_vendor = "apple")))]
fn trusting_the_system(
    builder: ConfigBuilder<ClientConfig, WantsVerifier>,
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, Diagnostic> {
    let found = rustls_native_certs::load_native_certs();
    let bundle = Bundle::new(found.certs).ok_or_else(|| match found.errors.first() {
        Some(error) => unusable(format_args!("the system has none that can be read: {error}")),
        None => unusable("the system has none to trust"),
    })?;
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(bundle)))
}

/// The verifier of `insecure-skip-tls-verify`.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![
            SignatureScheme::RSA_PKCS1_SHA1,
            SignatureScheme::ECDSA_SHA1_Legacy,
            SignatureScheme::RSA_PKCS1_SHA256,
            SignatureScheme::ECDSA_NISTP256_SHA256,
            SignatureScheme::RSA_PKCS1_SHA384,
            SignatureScheme::ECDSA_NISTP384_SHA384,
            SignatureScheme::RSA_PKCS1_SHA512,
            SignatureScheme::ECDSA_NISTP521_SHA512,
            SignatureScheme::RSA_PSS_SHA256,
            SignatureScheme::RSA_PSS_SHA384,
            SignatureScheme::RSA_PSS_SHA512,
            SignatureScheme::ED25519,
            SignatureScheme::ED448,
        ]
    }
}
