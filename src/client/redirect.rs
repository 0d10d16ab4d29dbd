//! Resolves the `Location` of a redirection against the URL that answered with it (RFC 3986, section 5.2).

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
pub(super) fn resolve(base: &str, location: &str) -> Option<String> {
    let (base, to) = (Parts::of(base), Parts::of(location));
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
