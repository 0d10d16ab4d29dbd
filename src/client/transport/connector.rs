//! From settings to a client: TLS, proxies, impersonation.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Uri;
use kube::config::AuthInfo;
use kube::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use secrecy::{ExposeSecret as _, SecretString};

use super::connect_cause;
use super::http::client;
use crate::client::kubeconfig::credentials::{ClientCertificate, Impersonation};
use crate::client::kubeconfig::settings::{Settings, Trust};
use crate::client::options::RequestTimeout;
use crate::diagnostic::Diagnostic;

/// How long connecting may take: name lookup, TCP, proxy and TLS together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Makes clients that differ in their certificate alone.
pub struct Connector {
    config: Config,
}

impl Connector {
    /// Takes from the settings what does not change during a run, and the proxy on the way.
    pub fn new(settings: &Settings, proxy: Option<&Uri>, timeout: RequestTimeout) -> Result<Self, Diagnostic> {
        let mut config = Config::new(explicit_port(&settings.server, proxy.is_some()));
        config.default_namespace.clone_from(&settings.namespace);
        config.root_cert = match &settings.trust {
            Trust::Authority(pem) => Some(authorities(pem)?),
            Trust::System | Trust::Anything => None,
        };
        config.accept_invalid_certs = settings.trust == Trust::Anything;
        config.tls_server_name.clone_from(&settings.tls_server_name);
        config.disable_compression = !settings.compression;
        config.proxy_url = proxy.cloned();
        config.connect_timeout = Some(match timeout {
            RequestTimeout::Within(timeout) => timeout.min(CONNECT_TIMEOUT),
            RequestTimeout::Unbounded => CONNECT_TIMEOUT,
        });
        if let Some(impersonation) = &settings.impersonation {
            config.auth_info = impersonated(impersonation);
        }
        Ok(Self { config })
    }

    /// A client that shows `certificate` to the server.
    pub fn client(&self, certificate: Option<&ClientCertificate>) -> Result<Client, Diagnostic> {
        let mut config = self.config.clone();
        if let Some(ClientCertificate { certificate, key }) = certificate {
            // The key is followed by the certificate in one PEM text: it must end its line.
            let mut key = key.expose_secret().to_vec();
            key.push(b'\n');
            config.auth_info.client_certificate_data = Some(BASE64_STANDARD.encode(certificate));
            config.auth_info.client_key_data = Some(SecretString::from(BASE64_STANDARD.encode(key)));
        }
        client(&config).map_err(|error| {
            let cause = connect_cause::of(&error).text;
            Diagnostic::general(match error {
                kube::Error::RustlsTls(_) => format!("the certificates cannot be used: {cause}"),
                _ => format!("the connection cannot be set up: {cause}"),
            })
        })
    }
}

/// The port of a plain HTTP server behind a proxy must be said, or the tunnel would lead to 443.
fn explicit_port(server: &Uri, proxied: bool) -> Uri {
    let host = match server.authority() {
        Some(authority) if proxied && server.scheme_str() == Some("http") && authority.port().is_none() => authority,
        _ => return server.clone(),
    };
    format!("http://{host}:80{}", server.path()).parse().unwrap_or_else(|_| server.clone())
}

/// The certificates in `pem`; other blocks and text between them do not count.
fn authorities(pem: &[u8]) -> Result<Vec<Vec<u8>>, Diagnostic> {
    let unusable = || Diagnostic::general("the certificate authority holds no certificate in PEM form");
    let certificates = CertificateDer::pem_slice_iter(pem)
        .map(|certificate| certificate.map(|certificate| certificate.to_vec()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| unusable())?;
    if certificates.is_empty() { Err(unusable()) } else { Ok(certificates) }
}

fn impersonated(impersonation: &Impersonation) -> AuthInfo {
    let Impersonation { user, uid, groups, extra } = impersonation.clone();
    AuthInfo {
        impersonate: Some(user),
        impersonate_uid: uid,
        impersonate_groups: Some(groups),
        impersonate_user_extra: Some(extra.into_iter().collect()),
        ..AuthInfo::default()
    }
}
