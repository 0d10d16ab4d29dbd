//! From the settings of a connection to clients of kube.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Uri;
use http::header::InvalidHeaderName;
use kube::client::RustlsTlsError;
use kube::{Client, Config, Error};
use secrecy::{ExposeSecret as _, SecretString};

use super::connect_cause;
use super::http::client;
use crate::client::kubeconfig::credentials::ClientCertificate;
use crate::client::options::RequestTimeout;
use crate::diagnostic::Diagnostic;

/// How long connecting may take: name lookup, TCP, proxy and TLS together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Makes clients that differ in their certificate alone.
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

    /// A client that shows `certificate` to the server.
    pub fn client(&self, certificate: Option<&ClientCertificate>) -> Result<Client, Diagnostic> {
        let mut config = self.config.clone();
        if let Some(ClientCertificate { certificate, key }) = certificate {
            // kube joins the key and the certificate to one PEM text: the key must end its line.
            let key = [key.expose_secret(), b"\n"].concat();
            config.auth_info.client_certificate_data = Some(BASE64_STANDARD.encode(certificate));
            config.auth_info.client_key_data = Some(SecretString::from(BASE64_STANDARD.encode(key)));
        }
        client(&config).map_err(|error| Diagnostic::general(unusable(&error)))
    }
}

/// Why there is no client: what kube says about it may show what is in the files.
fn unusable(error: &Error) -> String {
    let certificates = match error {
        Error::RustlsTls(RustlsTlsError::InvalidServerName(_)) => {
            return "`tls-server-name` is neither a host name nor an address".to_owned();
        }
        Error::HttpError(error) if error.is::<InvalidHeaderName>() => {
            return "the extra fields of the user to impersonate cannot be sent".to_owned();
        }
        Error::HttpError(_) => return "the user to impersonate cannot be sent: it is not plain text".to_owned(),
        Error::RustlsTls(RustlsTlsError::MissingCertificate) => "the client certificate is not in PEM form".to_owned(),
        Error::RustlsTls(RustlsTlsError::MissingPrivateKey) => {
            "the key of the client certificate is not in PEM form".to_owned()
        }
        Error::RustlsTls(RustlsTlsError::InvalidIdentityPem(_) | RustlsTlsError::UnknownPrivateKeyFormat) => {
            "the client certificate or its key is not in PEM form".to_owned()
        }
        Error::RustlsTls(RustlsTlsError::InvalidPrivateKey(cause)) => cause.to_string(),
        Error::RustlsTls(RustlsTlsError::AddRootCertificate(cause)) => cause.to_string(),
        other => connect_cause::of(other).text,
    };
    format!("the certificates cannot be used: {certificates}")
}

/// The port of a plain HTTP server behind a proxy must be said, or the tunnel would lead to 443.
fn explicit_port(server: &Uri, proxied: bool) -> Uri {
    let host = match server.authority() {
        Some(authority) if proxied && server.scheme_str() == Some("http") && authority.port().is_none() => authority,
        _ => return server.clone(),
    };
    format!("http://{host}:80{}", server.path()).parse().unwrap_or_else(|_| server.clone())
}
