//! Fetches a manifest by its URL, as kubectl does for `-f https://…`: with the certificate authorities of the machine and the proxies
//! of the environment, and without any credentials of a cluster. The `Location` of a redirection is resolved against the URL that
//! answered with it (RFC 3986, section 5.2).

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, LOCATION, USER_AGENT};
use http::{HeaderValue, StatusCode, Uri};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::client::Body;
use kube::{Client, Config};

use super::options::{Environment, RequestTimeout};
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

/// The parts of a URL, or of a reference to one, without the fragment.
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let text = text.split('#').next().unwrap_or_default();
        let (text, query) = text.split_once('?').map_or((text, None), |(text, query)| (text, Some(query)));
        let (scheme, rest) = match text.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, text),
        };
        let Some(rest) = rest.strip_prefix("//") else { return Self { scheme, authority: None, path: rest, query } };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        Self { scheme, authority: Some(authority), path, query }
    }
}

/// Resolves `location` against the URL `base`. Returns `None` if the result is no HTTP or HTTPS URL.
///
/// The user name and password of `base` are kept if the location names no host.
fn resolve(base: &str, location: &str) -> Option<String> {
    let base = Parts::of(base);
    let to = Parts::of(location);
    let (scheme, authority, path, query) = match (to.scheme, to.authority, to.path) {
        (Some(_), authority, path) => (to.scheme, authority, without_dot_segments(path), to.query),
        (None, Some(_), path) => (base.scheme, to.authority, without_dot_segments(path), to.query),
        (None, None, "") => (base.scheme, base.authority, base.path.to_owned(), to.query.or(base.query)),
        (None, None, path) if path.starts_with('/') => {
            (base.scheme, base.authority, without_dot_segments(path), to.query)
        }
        (None, None, path) => {
            let folder = base.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            (base.scheme, base.authority, without_dot_segments(&format!("{folder}/{path}")), to.query)
        }
    };
    let scheme = scheme?.to_ascii_lowercase();
    let authority = authority.filter(|authority| !authority.is_empty())?;
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    matches!(scheme.as_str(), "http" | "https").then(|| format!("{scheme}://{authority}{path}{query}"))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Removes the segments `.` and `..` from an absolute path (section 5.2.4).
fn without_dot_segments(path: &str) -> String {
    let Some(path) = path.strip_prefix('/') else { return path.to_owned() };
    let mut segments = Vec::new();
    for segment in path.split('/') {
        if segment == ".." {
            segments.pop();
        } else if segment != "." {
            segments.push(segment);
        }
    }
    // A path that ends in a dot segment names a folder.
    let is_folder = matches!(path.rsplit('/').next(), Some("." | ".."));
    let end = if is_folder && !segments.is_empty() { "/" } else { "" };
    format!("/{}{end}", segments.join("/"))
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

    /// The examples of RFC 3986, sections 5.4.1 and 5.4.2; the fragments are dropped.
    #[test]
    fn the_examples_of_the_standard() {
        for (location, url) in [
            ("g", "/b/c/g"),
            ("./g", "/b/c/g"),
            ("g/", "/b/c/g/"),
            ("/g", "/g"),
            ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"),
            ("#s", "/b/c/d;p?q"),
            ("g#s", "/b/c/g"),
            ("g?y#s", "/b/c/g?y"),
            (";x", "/b/c/;x"),
            ("g;x", "/b/c/g;x"),
            ("g;x?y#s", "/b/c/g;x?y"),
            ("", "/b/c/d;p?q"),
            (".", "/b/c/"),
            ("./", "/b/c/"),
            ("..", "/b/"),
            ("../", "/b/"),
            ("../g", "/b/g"),
            ("../..", "/"),
            ("../../", "/"),
            ("../../g", "/g"),
            ("../../../g", "/g"),
            ("../../../../g", "/g"),
            ("/./g", "/g"),
            ("/../g", "/g"),
            ("g.", "/b/c/g."),
            (".g", "/b/c/.g"),
            ("g..", "/b/c/g.."),
            ("..g", "/b/c/..g"),
            ("./../g", "/b/g"),
            ("./g/.", "/b/c/g/"),
            ("g/./h", "/b/c/g/h"),
            ("g/../h", "/b/c/h"),
            ("g;x=1/./y", "/b/c/g;x=1/y"),
            ("g;x=1/../y", "/b/c/y"),
            ("g?y/./x", "/b/c/g?y/./x"),
            ("g?y/../x", "/b/c/g?y/../x"),
            ("g#s/../x", "/b/c/g"),
        ] {
            assert_eq!(resolve("http://a/b/c/d;p?q", location), Some(format!("http://a{url}")), "{location}");
        }
        assert_eq!(resolve("http://a/b/c/d;p?q", "//g").as_deref(), Some("http://g"));
    }

    #[test]
    fn a_location_leads_to_an_http_server_or_nowhere() {
        let from = "https://me:pass@host:1/a/b.yaml?x=/1";
        for (location, url) in [
            ("https://other/c", Some("https://other/c")),
            ("HTTP://other/../c?d#e", Some("http://other/c?d")),
            ("//other/c", Some("https://other/c")),
            ("/c.yaml#x", Some("https://me:pass@host:1/c.yaml")),
            ("c.yaml?u=https://other/", Some("https://me:pass@host:1/a/c.yaml?u=https://other/")),
            ("a/b:c", Some("https://me:pass@host:1/a/a/b:c")),
            ("ftp://other/c", None),
            ("https:c", None),
            ("https:///c", None),
            ("//", None),
        ] {
            assert_eq!(resolve(from, location).as_deref(), url, "{location}");
        }
        assert_eq!(resolve("http://host", "c").as_deref(), Some("http://host/c"));
        assert_eq!(resolve("no url", "c"), None);
    }
}
