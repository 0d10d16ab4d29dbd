//! Files of the input as other programs name them: paths of a repository as URIs, and what is no file at all.

use std::fmt::Write as _;

/// How standard input is named.
const STDIN: &str = "stdin";

/// A file's path without `./`; `None` for standard input, which others cannot open.
pub(super) fn path(file: &str) -> Option<&str> {
    let mut path = file;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    (file != STDIN && !path.is_empty()).then_some(path)
}

/// Returns true if a file is read from a server.
pub(super) fn is_url(file: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| file.starts_with(scheme))
}

/// A file as a URI reference (RFC 3986): a relative path, `file:///…` for an absolute one, or the URL that it is.
pub(super) fn uri(path: &str) -> String {
    if is_url(path) {
        return encoded(path, ":/?#[]@!$&'()*+,;=%");
    }
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    let encoded = encoded(&path, "/!$&'()*+,;=@");
    match path.chars().next() {
        Some('/') => format!("file://{encoded}"),
        _ => encoded,
    }
}

/// Encodes everything but letters, digits, `-._~` and the characters that are kept.
fn encoded(text: &str, kept: &str) -> String {
    let mut uri = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || "-._~".contains(c) || kept.contains(c) {
            uri.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_and_standard_input_is_none() {
        assert_eq!(path("././deploy/web.yaml"), Some("deploy/web.yaml"));
        assert_eq!(path("/srv/web.yaml"), Some("/srv/web.yaml"));
        assert_eq!((path("stdin"), path("./stdin"), path("./")), (None, Some("stdin"), None));
    }

    #[test]
    fn uris_hold_nothing_that_has_a_meaning_in_them() {
        assert_eq!(uri("deploy/a b#c?d%e:f.yaml"), "deploy/a%20b%23c%3Fd%25e%3Af.yaml");
        assert_eq!(uri("/srv/ü.yaml"), "file:///srv/%C3%BC.yaml");
        assert_eq!(uri("https://example.com/a b?x=1"), "https://example.com/a%20b?x=1");
    }
}
