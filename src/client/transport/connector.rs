//! Makes kube clients from the settings of a connection.

use std::time::Duration;

use http::Uri;
use http::header::InvalidHeaderName;
use kube::{Config, Error};

use super::http::{HttpClient, client};
use super::tls::Tls;
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
        let tls = Tls::new(&self.config, certificate)?;
        client(&self.config, &tls).map_err(|error| no_impersonation(&error))
    }
}

/// The reason why there is no client: kube could not make the headers that impersonate a user, whose own message may show them.
fn no_impersonation(error: &Error) -> Diagnostic {
    Diagnostic::general(match error {
        Error::HttpError(error) if error.is::<InvalidHeaderName>() => {
            "the extra fields of the user to impersonate cannot be sent"
        }
        _ => "the user to impersonate cannot be sent: it is not plain text",
    })
}

/// Makes the port of a plain HTTP server behind a proxy explicit, because the tunnel would lead to 443 otherwise.
fn explicit_port(server: &Uri, proxied: bool) -> Uri {
    let host = match server.authority() {
        Some(authority) if proxied && server.scheme_str() == Some("http") && authority.port().is_none() => authority,
        _ => return server.clone(),
    };
    format!("http://{host}:80{}", server.path()).parse().unwrap_or_else(|_| server.clone())
}
