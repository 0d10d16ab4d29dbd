//! Makes kube clients from the settings of a connection.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Uri;
use http::header::InvalidHeaderName;
use kube::client::RustlsTlsError;
use kube::{Config, Error};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use secrecy::{ExposeSecret as _, SecretString};

use super::connect_cause;
use super::http::{HttpClient, client};
use crate::client::kubeconfig::credentials::ClientCertificate;
use crate::client::options::RequestTimeout;
use reconcile_core::diagnostic::Diagnostic;

/// The time that connecting may take: name lookup, TCP, proxy and TLS together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Makes clients that differ only in their certificate.
pub struct Connector {
    config: Config,
}

impl Connector {
    /// A connector for the server of `config`, through `proxy` and no other.
    pub fn new(mut config: Config, proxy: Option<Uri>, timeout: RequestTimeout) -> Self {
        config.cluster_url = explicit_port(&config.cluster_url, proxy.is_some());
        config.proxy_url = proxy;
        config.connect_timeout = Some(match timeout {
            RequestTimeout::Within(timeout) => timeout.min(CONNECT_TIMEOUT),
            RequestTimeout::Unbounded => CONNECT_TIMEOUT,
        });
        Self { config }
    }

    /// A client that presents `certificate` to the server.
    pub fn client(&self, certificate: Option<&ClientCertificate>) -> Result<HttpClient, Diagnostic> {
        let mut config = self.config.clone();
        if let Some(certificate) = certificate {
            let (chain, key) = identity(certificate)?;
            config.auth_info.client_certificate_data = Some(BASE64_STANDARD.encode(chain));
            config.auth_info.client_key_data = Some(SecretString::from(BASE64_STANDARD.encode(key)));
        }
        client(&config).map_err(|error| Diagnostic::general(unusable(&error)))
    }
}

/// The certificates and the first key as PEM, without other blocks: kube refuses files with other blocks, which Go ignores
/// (`tls.X509KeyPair`).
fn identity(ClientCertificate { certificate, key }: &ClientCertificate) -> Result<(String, String), Diagnostic> {
    let unusable = |what: &str| Diagnostic::general(format!("the certificates cannot be used: {what}"));
    let chain: Result<Vec<CertificateDer<'_>>, _> = CertificateDer::pem_slice_iter(certificate).collect();
    let chain = chain.map_err(|error| unusable(&format!("the client certificate is not in PEM form: {error}")))?;
    if chain.is_empty() {
        return Err(unusable("the client certificate is not in PEM form"));
    }
    let key = PrivateKeyDer::from_pem_slice(key.expose_secret())
        .map_err(|_| unusable("the key of the client certificate is not in PEM form"))?;
    let label = match &key {
        PrivateKeyDer::Pkcs1(_) => "RSA PRIVATE KEY",
        PrivateKeyDer::Sec1(_) => "EC PRIVATE KEY",
        _ => "PRIVATE KEY",
    };
    Ok((chain.iter().map(|der| pem("CERTIFICATE", der)).collect(), pem(label, key.secret_der())))
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", BASE64_STANDARD.encode(der))
}

/// The reason why there is no client. kube's own message is not used, because it may show the content of the files.
fn unusable(error: &Error) -> String {
    let certificates = match error {
        Error::RustlsTls(RustlsTlsError::InvalidServerName(_)) => {
            return "`tls-server-name` is neither a host name nor an address".to_owned();
        }
        Error::HttpError(error) if error.is::<InvalidHeaderName>() => {
            return "the extra fields of the user to impersonate cannot be sent".to_owned();
        }
        Error::HttpError(_) => return "the user to impersonate cannot be sent: it is not plain text".to_owned(),
        Error::RustlsTls(RustlsTlsError::InvalidPrivateKey(cause)) => cause.to_string(),
        Error::RustlsTls(RustlsTlsError::AddRootCertificate(cause)) => cause.to_string(),
        other => connect_cause::of(other).text,
    };
    format!("the certificates cannot be used: {certificates}")
}

/// Makes the port of a plain HTTP server behind a proxy explicit, because the tunnel would lead to 443 otherwise.
fn explicit_port(server: &Uri, proxied: bool) -> Uri {
    let host = match server.authority() {
        Some(authority) if proxied && server.scheme_str() == Some("http") && authority.port().is_none() => authority,
        _ => return server.clone(),
    };
    format!("http://{host}:80{}", server.path()).parse().unwrap_or_else(|_| server.clone())
}
