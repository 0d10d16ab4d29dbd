//! Chooses the proxy to the API server by the rules of Go's `golang.org/x/net/http/httpproxy`, which kubectl follows.

use std::net::IpAddr;

use http::Uri;
use ipnet::IpNet;

use crate::client::options::Environment;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::without_credentials;

const NOT_URL: &str = "it is not a URL";

/// The proxy to `server`: `proxy-url` of the cluster, else that of the environment.
pub fn choose(proxy_url: Option<&str>, server: &Uri, environment: &Environment) -> Result<Option<Uri>, Diagnostic> {
    let unusable = |what: &str, reason: &str| Diagnostic::general(format!("{what} cannot be used: {reason}"));
    match proxy_url {
        Some(address) => parse(address).map(Some).map_err(|reason| unusable("`proxy-url` of the cluster", reason)),
        None => from_environment(server, environment)
            .map_err(|reason| unusable("the address in `HTTPS_PROXY` or `HTTP_PROXY`", reason)),
    }
}

/// The proxy of the environment for `server`, if any. `NO_PROXY` is matched against the host of the server.
///
/// An address without a scheme means `http://`.
pub fn from_environment(server: &Uri, environment: &Environment) -> Result<Option<Uri>, &'static str> {
    let address = match server.scheme_str() {
        Some("https") => environment.https_proxy.as_deref(),
        _ => environment.http_proxy.as_deref(),
    };
    let Some(address) = address else { return Ok(None) };
    let (host, port) = host_and_port(server);
    if exempt(&host, port, environment.no_proxy.as_deref().unwrap_or_default()) {
        return Ok(None);
    }
    let with_scheme = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    parse(&with_scheme).map(Some)
}

/// Reads the address of a proxy, and makes its port explicit. The error is the reason why it cannot be used, without the address: that may
/// hold a password.
fn parse(address: &str) -> Result<Uri, &'static str> {
    let uri: Uri = address.trim_end_matches('/').parse().map_err(|_| NOT_URL)?;
    let (scheme, default_port) = match uri.scheme_str() {
        Some("http") => ("http", 80),
        Some("https") => ("https", 443),
        Some("socks5" | "socks5h") => ("socks5", 1080),
        Some(_) => return Err("its scheme must be `http`, `https` or `socks5`"),
        None => return Err(NOT_URL),
    };
    let authority = uri.authority().ok_or(NOT_URL)?.as_str();
    if scheme == "socks5" && authority.contains('@') {
        return Err("user names and passwords are supported for `http` and `https` proxies only");
    }
    let port = if uri.port().is_some() { String::new() } else { format!(":{default_port}") };
    format!("{scheme}://{authority}{port}").parse().map_err(|_| NOT_URL)
}

/// The address of a proxy without user name and password, for messages.
pub fn without_password(proxy: &Uri) -> String {
    without_credentials(&proxy.to_string()).trim_end_matches('/').to_owned()
}

/// The host of a server, without the brackets of IPv6, and its port.
fn host_and_port(server: &Uri) -> (String, u16) {
    let host = server.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_lowercase();
    let default_port = if server.scheme_str() == Some("https") { 443 } else { 80 };
    (host, server.port_u16().unwrap_or(default_port))
}

/// Returns true if a host is reached without a proxy, because it is local or in `NO_PROXY`.
///
/// Entries are separated by commas, and empty ones are ignored. An entry is `*`; an IP address with an optional port; a range
/// (`10.0.0.0/8`); or a name with an optional port. A name matches itself and its subdomains; with a leading `.` or `*.` it matches
/// only the subdomains.
fn exempt(host: &str, port: u16, no_proxy: &str) -> bool {
    let ip: Option<IpAddr> = host.parse().ok();
    if host == "localhost" || ip.is_some_and(|ip| unmapped(ip).is_loopback()) {
        return true;
    }
    no_proxy.split(',').map(|entry| entry.trim().to_lowercase()).any(|entry| matches(&entry, host, ip, port))
}

fn matches(entry: &str, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Some(inside) = in_range(entry, ip) {
        return inside;
    }
    let (name, entry_port) = split_port(entry);
    if name.is_empty() || entry_port.is_some_and(|entry_port| entry_port != port.to_string()) {
        return false;
    }
    if let Ok(entry_ip) = name.parse::<IpAddr>() {
        return ip.is_some_and(|ip| unmapped(ip) == unmapped(entry_ip));
    }
    if ip.is_some() {
        return false;
    }
    let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
    if name.starts_with('.') {
        host.ends_with(name)
    } else {
        host == name || host.strip_suffix(name).is_some_and(|start| start.ends_with('.'))
    }
}

/// Returns true if `ip` is in the range `entry`, and `None` if `entry` is not a range.
fn in_range(entry: &str, ip: Option<IpAddr>) -> Option<bool> {
    let range: IpNet = entry.parse().ok()?;
    Some(ip.is_some_and(|ip| range.contains(&unmapped(ip))))
}

/// Splits `name:port` or `[v6]:port`; anything else has no port.
fn split_port(entry: &str) -> (&str, Option<&str>) {
    if let Some(rest) = entry.strip_prefix('[') {
        return match rest.split_once("]:") {
            Some((host, port)) => (host, Some(port)),
            None => (entry, None),
        };
    }
    match entry.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port).filter(|port| !port.is_empty())),
        _ => (entry, None),
    }
}

/// Converts an IPv4-mapped IPv6 address to the IPv4 address.
fn unmapped(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(ip, IpAddr::V4),
        IpAddr::V4(_) => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxied(server: &str, no_proxy: &str) -> bool {
        let environment = Environment {
            https_proxy: Some("http://proxy:3128".into()),
            http_proxy: Some("http://plain:3128".into()),
            no_proxy: Some(no_proxy.into()),
            ..Environment::default()
        };
        from_environment(&server.parse().unwrap(), &environment).unwrap().is_some()
    }

    /// Expected values from the documentation and the tests of Go's `httpproxy`.
    #[test]
    fn no_proxy_is_matched_against_the_server_as_go_does_it() {
        for (server, no_proxy, expected) in [
            ("https://api.example.com", "", true),
            ("https://localhost:6443", "", false),
            ("https://127.0.0.1:6443", "", false),
            ("https://127.3.2.1", "", false),
            ("https://[::1]:6443", "", false),
            ("https://api.example.com", "*", false),
            ("https://api.example.com", "example.com", false),
            ("https://example.com", "example.com", false),
            ("https://API.Example.com", "EXAMPLE.com", false),
            ("https://badexample.com", "example.com", true),
            ("https://example.com", ".example.com", true),
            ("https://api.example.com", ".example.com", false),
            ("https://api.example.com", "*.example.com", false),
            ("https://example.com", "*.example.com", true),
            ("https://api.example.com", "  example.com , ", false),
            ("https://api.example.com", ",,", true),
            ("https://api.example.com", "other.com,example.com,", false),
            ("https://api.example.com:6443", "example.com:6443", false),
            ("https://api.example.com:6443", "example.com:443", true),
            ("https://api.example.com", "example.com:443", false),
            ("https://10.1.2.3", "10.0.0.0/8", false),
            ("https://11.1.2.3", "10.0.0.0/8", true),
            ("https://11.1.2.3", "0.0.0.0/0", false),
            ("https://10.1.2.3", "10.9.9.9/8", false),
            ("https://10.1.2.3", "10.1.2.3/32", false),
            ("https://10.1.2.3", "10.0.0.0/33", true),
            ("https://[::ffff:10.1.2.3]", "10.0.0.0/8", false),
            ("https://10.1.2.3", "::/0", true),
            ("https://[fd00::5]", "0.0.0.0/0", true),
            ("https://[fd00::5]", "::/0", false),
            ("https://10.1.2.3", "10.1.2.3", false),
            ("https://10.1.2.3:6443", "10.1.2.3:443", true),
            ("https://10.1.2.3:6443", "10.1.2.3:6443", false),
            ("https://10.1.2.3", "2.3", true),
            ("https://[fd00::5]:6443", "fd00::/8", false),
            ("https://[fd00::5]:6443", "fd00::5", false),
            ("https://[fd00::5]:6443", "[fd00::5]:6443", false),
            ("https://[fd00::5]:6443", "[fd00::5]:443", true),
            ("https://api.example.com", "10.0.0.0/99", true),
            ("https://api.example.com", ":443", true),
        ] {
            assert_eq!(proxied(server, no_proxy), expected, "{server} with NO_PROXY={no_proxy:?}");
        }
    }

    #[test]
    fn the_scheme_of_the_server_chooses_the_variable() {
        let environment = Environment { https_proxy: Some("secure:1".into()), ..Environment::default() };
        let proxy = |server: &str| from_environment(&server.parse().unwrap(), &environment).unwrap();
        assert_eq!(proxy("https://x"), Some("http://secure:1".parse().unwrap()), "without a scheme it is http");
        assert_eq!(proxy("http://x"), None);
    }

    #[test]
    fn addresses_get_their_default_port() {
        for (address, expected) in [
            ("http://p", "http://p:80/"),
            ("https://user:p%40ss@p/", "https://user:p%40ss@p:443/"),
            ("socks5://p", "socks5://p:1080/"),
            ("socks5h://p:9050", "socks5://p:9050/"),
            ("http://[fd00::1]", "http://[fd00::1]:80/"),
        ] {
            assert_eq!(parse(address).unwrap().to_string(), expected);
        }
        assert_eq!(parse("ftp://p"), Err("its scheme must be `http`, `https` or `socks5`"));
        let only = "user names and passwords are supported for `http` and `https` proxies only";
        assert_eq!(parse("socks5://u:p@p"), Err(only));
        assert_eq!(parse("p:80:80"), Err(NOT_URL));
    }
}
