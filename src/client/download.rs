//! Fetches a manifest by its URL, as kubectl does for `-f https://…`: with the certificate authorities of the machine and the proxies
//! of the environment, and without any credentials of a cluster.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, LOCATION, USER_AGENT};
use http::{HeaderValue, StatusCode, Uri};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::client::Body;
use kube::{Client, Config};

use super::options::{Environment, RequestTimeout};
use super::redirect::resolve;
use super::transport::connector::Connector;
use super::transport::exchange::user_agent;
use super::transport::{connect_cause, proxy};

/// The number of attempts if the server fails or cannot be reached (cli-runtime `readHttpWithRetries`).
const TRIES: usize = 3;
/// The number of redirections that are followed.
const MAX_REDIRECTIONS: usize = 10;

/// The limits of a download.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The time that one attempt may take as a whole.
    pub within: Duration,
    /// The pause before the next attempt.
    pub pause: Duration,
    /// The largest content, in bytes.
    pub size: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { within: Duration::from_mins(1), pause: Duration::from_secs(1), size: 64 << 20 }
    }
}

/// The reason why an attempt failed, and whether another one follows.
struct DownloadError {
    reason: String,
    is_final: bool,
}

impl DownloadError {
    fn finally(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_final: true }
    }

    fn now(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_final: false }
    }
}

/// Downloads the content of a URL; the error is the reason.
pub async fn download(url: &str, environment: &Environment, bounds: Bounds) -> Result<Vec<u8>, String> {
    let mut reason = String::new();
    for attempt in 0..TRIES {
        if attempt > 0 {
            tokio::time::sleep(bounds.pause).await;
        }
        let outcome = tokio::time::timeout(bounds.within, followed(url, environment, bounds.size)).await;
        match outcome.unwrap_or_else(|_| Err(DownloadError::now(format!("no answer within {:?}", bounds.within)))) {
            Ok(content) => return Ok(content),
            Err(error) if error.is_final => return Err(error.reason),
            Err(error) => reason = error.reason,
        }
    }
    Err(format!("{reason} ({TRIES} tries)"))
}

/// Makes one attempt, and follows redirections.
async fn followed(url: &str, environment: &Environment, limit: usize) -> Result<Vec<u8>, DownloadError> {
    let mut url = url.split('#').next().unwrap_or(url).to_owned();
    for _ in 0..=MAX_REDIRECTIONS {
        match fetched(&url, environment, limit).await? {
            Fetched::Content(content) => return Ok(content),
            Fetched::Redirect(location) => url = redirected(&url, &location).map_err(DownloadError::finally)?,
        }
    }
    Err(DownloadError::finally(format!("it redirects more than {MAX_REDIRECTIONS} times")))
}

/// The URL that a redirection leads to. The error is the reason not to follow it.
fn redirected(url: &str, location: &str) -> Result<String, &'static str> {
    let next = resolve(url, location).ok_or("it redirects to no URL")?;
    if is_https(url) && !is_https(&next) { Err("it redirects from https to http") } else { Ok(next) }
}

fn is_https(url: &str) -> bool {
    url.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("https"))
}

enum Fetched {
    Content(Vec<u8>),
    Redirect(String),
}

async fn fetched(url: &str, environment: &Environment, limit: usize) -> Result<Fetched, DownloadError> {
    let uri: Uri = without_user_info(url).parse().map_err(|_| DownloadError::finally("it is not a URL"))?;
    let client = client(&uri, environment)?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = http::Request::get(path).header(ACCEPT, "*/*").header(USER_AGENT, user_agent());
    if let Some(credentials) = credentials(url) {
        request = request.header(AUTHORIZATION, credentials);
    }
    let request = request.body(Body::empty()).map_err(|_| DownloadError::finally("it is not a URL"))?;
    let response = client.send(request).await.map_err(|error| DownloadError::now(connect_cause::of(&error).text))?;
    let (head, body) = response.into_parts();
    if head.status.is_redirection()
        && let Some(location) = head.headers.get(LOCATION).and_then(|location| location.to_str().ok())
    {
        return Ok(Fetched::Redirect(location.to_owned()));
    }
    if head.status != StatusCode::OK {
        let reason = format!("the server answered {}", head.status);
        return Err(DownloadError { reason, is_final: !head.status.is_server_error() });
    }
    let content = Limited::new(body, limit).collect().await.map_err(|error| {
        if error.is::<LengthLimitError>() {
            DownloadError::finally(format!("it is larger than {} MiB", limit >> 20))
        } else {
            DownloadError::now(connect_cause::of(&*error).text)
        }
    })?;
    Ok(Fetched::Content(content.to_bytes().into()))
}

/// A client for one host.
fn client(uri: &Uri, environment: &Environment) -> Result<Client, DownloadError> {
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(DownloadError::finally("it is not a URL"));
    };
    let proxy = proxy::from_environment(uri, environment).map_err(|error| {
        DownloadError::finally(format!("the address in `HTTPS_PROXY` or `HTTP_PROXY` cannot be used: {error}"))
    })?;
    let host = format!("{scheme}://{authority}").parse().map_err(|_| DownloadError::finally("it is not a URL"))?;
    let connector = Connector::new(Config::new(host), proxy, RequestTimeout::Unbounded);
    connector.client(None).map(|http| http.client).map_err(|error| DownloadError::finally(error.to_string()))
}

/// The URL without user name and password, which are sent in a header.
fn without_user_info(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// The `Authorization` header for `https://user:password@host/`, marked as sensitive.
fn credentials(url: &str) -> Option<HeaderValue> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let user = if user.contains(':') { user.to_owned() } else { format!("{user}:") };
    let mut header = HeaderValue::from_str(&format!("Basic {}", BASE64_STANDARD.encode(user))).ok()?;
    header.set_sensitive(true);
    Some(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirection_never_leaves_https() {
        for (url, location, next) in [
            ("https://a/b", "http://a/c", Err("it redirects from https to http")),
            ("HTTPS://a/b", "http://a/c", Err("it redirects from https to http")),
            ("https://a/b", "//c/d", Ok("https://c/d")),
            ("http://a/b", "https://c/d", Ok("https://c/d")),
            ("http://a/b", "http://c/d", Ok("http://c/d")),
            ("https://me:password@a/b", "https://c/d", Ok("https://c/d")),
            ("https://me:password@a/b", "//c/d", Ok("https://c/d")),
            ("https://a/b", "javascript:x", Err("it redirects to no URL")),
        ] {
            assert_eq!(redirected(url, location), next.map(ToOwned::to_owned), "{url} → {location}");
        }
    }

    #[test]
    fn credentials_of_a_url_go_into_a_header() {
        let url = "https://me:pass@word@host/a@b?c=d";
        assert_eq!(without_user_info(url), "https://host/a@b?c=d");
        let header = credentials(url).unwrap();
        assert_eq!(header.to_str().unwrap(), format!("Basic {}", BASE64_STANDARD.encode("me:pass@word")));
        assert!(header.is_sensitive());
        assert_eq!(credentials("https://host/a@b"), None);
    }
}
