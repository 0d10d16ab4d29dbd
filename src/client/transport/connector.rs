//! From settings to a client: TLS, proxies, impersonation.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::http::{HttpClient, Route};
use super::tls::Tls;
use crate::client::kubeconfig::credentials::{ClientCertificate, Impersonation};
use crate::client::kubeconfig::settings::{Settings, Trust};
use crate::client::options::RequestTimeout;
use crate::diagnostic::Diagnostic;

/// How long connecting may take: name lookup, TCP, proxy and TLS together.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// What a header's name cannot hold (client-go `transport/round_trippers.go`, `headerKeyEscape`); `%` marks what was encoded.
const OUTSIDE_HEADER_NAMES: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'*')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// Makes clients that differ in their certificate alone.
pub struct Connector {
    route: Route,
    trust: Trust,
    tls_server_name: Option<String>,
}

impl Connector {
    /// Takes from the settings what does not change during a run, and the proxy on the way.
    pub fn new(settings: &Settings, proxy: Option<&Uri>, timeout: RequestTimeout) -> Result<Self, Diagnostic> {
        let headers = settings.impersonation.as_ref().map(impersonating).transpose()?.unwrap_or_default();
        let route = Route {
            server: explicit_port(&settings.server, proxy.is_some()),
            proxy: proxy.cloned(),
            connect_timeout: match timeout {
                RequestTimeout::Within(timeout) => timeout.min(CONNECT_TIMEOUT),
                RequestTimeout::Unbounded => CONNECT_TIMEOUT,
            },
            compression: settings.compression,
            headers,
        };
        Ok(Self { route, trust: settings.trust.clone(), tls_server_name: settings.tls_server_name.clone() })
    }

    /// A client that shows `certificate` to the server.
    pub fn client(&self, certificate: Option<&ClientCertificate>) -> Result<HttpClient, Diagnostic> {
        let tls = Tls::new(&self.trust, self.tls_server_name.as_deref(), certificate)?;
        Ok(HttpClient::new(&self.route, &tls))
    }
}

/// The port of a plain HTTP server behind a proxy must be said, or the tunnel would lead to 443.
pub fn explicit_port(server: &Uri, proxied: bool) -> Uri {
    let host = match server.authority() {
        Some(authority) if proxied && server.scheme_str() == Some("http") && authority.port().is_none() => authority,
        _ => return server.clone(),
    };
    format!("http://{host}:80{}", server.path()).parse().unwrap_or_else(|_| server.clone())
}

/// The headers that ask the server to act as somebody else.
fn impersonating(impersonation: &Impersonation) -> Result<HeaderMap, Diagnostic> {
    let unusable = |_| Diagnostic::general("the user to impersonate cannot be sent: it is not plain text");
    let Impersonation { user, uid, groups, extra } = impersonation;
    let mut headers = HeaderMap::new();
    let mut add = |name: HeaderName, value: &str| -> Result<(), Diagnostic> {
        headers.append(name, HeaderValue::from_str(value).map_err(unusable)?);
        Ok(())
    };
    add(HeaderName::from_static("impersonate-user"), user)?;
    if let Some(uid) = uid {
        add(HeaderName::from_static("impersonate-uid"), uid)?;
    }
    for group in groups {
        add(HeaderName::from_static("impersonate-group"), group)?;
    }
    for (key, values) in extra {
        let name = format!("impersonate-extra-{}", utf8_percent_encode(key, OUTSIDE_HEADER_NAMES));
        let name = HeaderName::try_from(name)
            .map_err(|_| Diagnostic::general("the extra fields of the user to impersonate cannot be sent"))?;
        for value in values {
            add(name.clone(), value)?;
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_extra_fields_are_encoded_as_client_go_does() {
        let extra = [("example.com/Team%2f".to_owned(), vec!["a".to_owned(), "b".to_owned()])].into();
        let impersonation = Impersonation { user: "jane".into(), extra, ..Impersonation::default() };
        let headers = impersonating(&impersonation).unwrap();
        let values: Vec<_> = headers.get_all("impersonate-extra-example.com%2fteam%252f").iter().collect();
        assert_eq!(values, ["a", "b"]);
        assert_eq!(headers["impersonate-user"], "jane");
    }
}
