//! The address of a request: its unencoded path segments and query pairs. They are encoded here and nowhere else, so that
//! no name of a manifest or of the server can end a path early, add a parameter, or lead to another object.

use std::borrow::Cow;

use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use thiserror::Error;

/// The characters that are encoded in a query: all but the unreserved ones of RFC 3986.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The characters that are encoded in a path segment. `:` and `@` have no meaning there, and names such as `system:node` have them.
const SEGMENT: &AsciiSet = &QUERY.remove(b':').remove(b'@');

/// The parameter that makes a write a dry run.
const DRY_RUN: &str = "dryRun";

/// The path of a request from the server's root, and its query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    segments: Vec<Cow<'static, str>>,
    query: Vec<(Cow<'static, str>, String)>,
}

impl Address {
    /// Makes a path of these segments. An invalid segment is refused when the request is sent.
    pub fn new<S: Into<Cow<'static, str>>>(segments: impl IntoIterator<Item = S>) -> Self {
        Self { segments: segments.into_iter().map(Into::into).collect(), query: Vec::new() }
    }

    /// Appends a segment to the path.
    pub fn join(mut self, segment: impl Into<Cow<'static, str>>) -> Self {
        self.segments.push(segment.into());
        self
    }

    /// Appends a query parameter.
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// Returns true if this is one of the segments of the path.
    pub fn has_segment(&self, segment: &str) -> bool {
        self.segments.iter().any(|own| own == segment)
    }

    /// The path as it is sent.
    fn path(&self) -> String {
        let segments = self.segments.iter().flat_map(|segment| ["/".into(), encoded(segment, SEGMENT)]);
        if self.segments.is_empty() { "/".to_owned() } else { segments.collect() }
    }

    /// The query as it is sent. That of a dry run begins with `dryRun=All`.
    fn query(&self, is_dry_run: bool) -> String {
        let pairs = self.query.iter().map(|(name, value)| (name.as_ref(), value.as_str()));
        let pairs = is_dry_run.then_some((DRY_RUN, "All")).into_iter().chain(pairs);
        let pairs: Vec<String> =
            pairs.map(|(name, value)| format!("{}={}", encoded(name, QUERY), encoded(value, QUERY))).collect();
        pairs.join("&")
    }

    /// Path and query as text, even if the address is invalid.
    pub fn text(&self, is_dry_run: bool) -> String {
        match self.query(is_dry_run) {
            query if query.is_empty() => self.path(),
            query => format!("{}?{query}", self.path()),
        }
    }

    /// Path and query for the wire. The parsed URI is compared with this address.
    pub fn uri(&self, is_dry_run: bool) -> Result<Uri, InvalidAddress> {
        if let Some(segment) = self.segments.iter().find(|segment| !is_path_segment(segment)) {
            return Err(InvalidAddress(format!("`{}` cannot be a part of a URL's path", segment.escape_debug())));
        }
        if self.query.iter().any(|(name, _)| name == DRY_RUN) {
            return Err(InvalidAddress("only a dry run asks for one".to_owned()));
        }
        let uri: Uri =
            self.text(is_dry_run).parse().map_err(|error: http::uri::InvalidUri| InvalidAddress(error.to_string()))?;
        let is_as_meant = uri.authority().is_none()
            && uri.path() == self.path()
            && uri.query().unwrap_or_default() == self.query(is_dry_run)
            && is_dry_run == asks_for_dry_run(&uri);
        if is_as_meant { Ok(uri) } else { Err(InvalidAddress("its URL is not what it was made of".to_owned())) }
    }
}

/// An address that cannot be sent: its path or its query would make another URL.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct InvalidAddress(String);

/// A fixed path of the program, such as `/openapi/v3`.
impl From<&'static str> for Address {
    fn from(path: &'static str) -> Self {
        Self::new(path.trim_start_matches('/').split('/').filter(|_| path != "/"))
    }
}

/// Returns true if text can be one segment of the API's paths: apimachinery's `path.IsValidPathSegmentName`, and in addition no
/// empty segment, and no control character that a terminal or a proxy would act on.
pub fn is_path_segment(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && !text.contains(['/', '%']) && !text.contains(char::is_control)
}

/// Returns true if the server takes a write to this URI as a dry run.
pub fn asks_for_dry_run(uri: &Uri) -> bool {
    uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "dryRun=All"))
}

fn encoded<'t>(text: &'t str, set: &'static AsciiSet) -> Cow<'t, str> {
    utf8_percent_encode(text, set).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn uri(address: &Address) -> String {
        address.uri(false).unwrap().to_string()
    }

    #[test]
    fn paths_and_queries_are_those_of_the_api() {
        assert_eq!(uri(&Address::from("/")), "/");
        assert_eq!(uri(&Address::from("/openapi/v3")), "/openapi/v3");
        let role = Address::new(["apis", "rbac.authorization.k8s.io", "v1", "clusterroles"]).join("system:node@x");
        assert_eq!(uri(&role), "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node@x");
        let list =
            Address::from("/api/v1/pods").with("labelSelector", "app=web,tier in (a,b)").with("continue", "a+b==");
        assert_eq!(uri(&list), "/api/v1/pods?labelSelector=app%3Dweb%2Ctier%20in%20%28a%2Cb%29&continue=a%2Bb%3D%3D");
    }

    #[test]
    fn what_no_path_can_hold_is_refused() {
        for segment in ["", ".", "..", "a/b", "a%2Fb", "a\0", "a\nb"] {
            let address = Address::from("/api/v1").join(segment).join("pods");
            assert!(address.uri(false).is_err(), "{segment:?}");
        }
        assert!(Address::from("/api").with("dryRun", "All").uri(false).is_err());
        assert!(Address::from("/api").with("dryRun", "").uri(true).is_err());
    }

    #[test]
    fn a_dry_run_says_so_first() {
        let address = Address::from("/api/v1").with("fieldManager", "a&dryRun=#?");
        assert_eq!(address.uri(true).unwrap(), "/api/v1?dryRun=All&fieldManager=a%26dryRun%3D%23%3F");
        assert!(asks_for_dry_run(&address.uri(true).unwrap()) && !asks_for_dry_run(&address.uri(false).unwrap()));
    }

    proptest! {
        #[test]
        fn a_path_leads_where_its_segments_say_or_nowhere(
            segments in prop::collection::vec(r"[a-z#?%&/.;+ :@\\\u{0}\u{e9}]{0,6}", 1..6),
            value in r"[a-z#?%&/.;+ =\u{0}]{0,8}",
            is_dry_run: bool,
        ) {
            let address = Address::new(segments.clone()).with("fieldManager", value.clone());
            let Ok(uri) = address.uri(is_dry_run) else {
                prop_assert!(!segments.iter().all(|segment| is_path_segment(segment)));
                return Ok(());
            };
            let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8().unwrap().into_owned();
            let sent: Vec<String> = uri.path().split('/').skip(1).map(decode).collect();
            prop_assert_eq!(sent, segments);
            prop_assert_eq!(asks_for_dry_run(&uri), is_dry_run);
            let pairs: Vec<&str> = uri.query().unwrap_or_default().split('&').skip(usize::from(is_dry_run)).collect();
            prop_assert_eq!(pairs.len(), 1);
            prop_assert_eq!(decode(pairs[0]), format!("fieldManager={value}"));
        }
    }
}
