//! The HTTP client below kube's: layered as kube layers its own (kube-client `client/builder.rs`), over sockets that send at once.

use base64::{Engine, prelude::BASE64_STANDARD};
use http::{HeaderValue, Uri};
use hyper::rt::{Read, Write};
use hyper_timeout::TimeoutConnector;
use hyper_util::{
    client::legacy::{
        Builder,
        connect::{
            Connection, HttpConnector,
            proxy::{SocksV5, Tunnel},
        },
    },
    rt::TokioExecutor,
};
use kube::{
    Client, Config,
    client::{Body, ConfigExt},
};
use percent_encoding::percent_decode_str;
use tower::{BoxError, Service, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

/// A client for the server, through the proxy, with the certificates and within the time to connect that `config` names.
pub(super) fn client(config: &Config) -> kube::Result<Client> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    // The first request follows the end of the TLS handshake. Held back by Nagle's algorithm it would wait for an acknowledgement
    // that the server delays, by 40 ms on Linux, and so would every new connection.
    tcp.set_nodelay(true);
    match &config.proxy_url {
        None => over(tcp, config),
        Some(proxy) if proxy.scheme_str() == Some("socks5") => over(SocksV5::new(proxy.clone(), tcp), config),
        Some(proxy) if proxy.scheme_str() == Some("https") => {
            over(tunnel(proxy, config.rustls_https_connector_with_connector(tcp)?), config)
        }
        Some(proxy) => over(tunnel(proxy, tcp), config),
    }
}

fn tunnel<C>(proxy: &Uri, connector: C) -> Tunnel<C> {
    let tunnel = Tunnel::new(proxy.clone(), connector);
    let user_info = proxy.authority().and_then(|authority| authority.as_str().rsplit_once('@'));
    let credentials = user_info.map(|(user, _)| BASE64_STANDARD.encode(percent_decode_str(user).collect::<Vec<u8>>()));
    match credentials.and_then(|credentials| HeaderValue::from_str(&format!("Basic {credentials}")).ok()) {
        Some(header) => tunnel.with_auth(header),
        None => tunnel,
    }
}

fn over<C>(connector: C, config: &Config) -> kube::Result<Client>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: Into<BoxError> + Send + Sync + std::error::Error + 'static,
{
    let mut connector = TimeoutConnector::new(config.rustls_https_connector_with_connector(connector)?);
    connector.set_connect_timeout(config.connect_timeout);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(DecompressionLayer::new().gzip(!config.disable_compression))
        .layer(config.extra_headers_layer()?)
        .service(Builder::new(TokioExecutor::new()).build::<_, Body>(connector));
    Ok(Client::new(service, config.default_namespace.as_str()))
}
