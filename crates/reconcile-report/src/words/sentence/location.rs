//! Files of the input as other programs name them: paths in a repository, URIs, and standard input, which is no file;
//! and the locations of several objects: `kyverno.yaml:70, 92, 118 … 32 more`.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use reconcile_core::manifest::{Source, is_stream};

use crate::model::ObjectReport;
use crate::view::View;
use crate::words::value::number::grouped;

/// The path of a file relative to the root of the repository, or else to the working directory; `None` for what was read from no file,
/// which other tools cannot open.
pub(crate) fn path(file: &str, view: &View) -> Option<String> {
    if is_stream(file) {
        return None;
    }
    if is_url(file) {
        return Some(file.to_owned());
    }
    let from_root = view.folder.as_ref().zip(view.repository.as_ref()).and_then(|(folder, root)| {
        let path = straightened(&folder.join(file));
        path.strip_prefix(root).ok().map(|path| path.to_string_lossy().into_owned())
    });
    let path = from_root.unwrap_or_else(|| view.file(file).to_owned());
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path };
    (!path.is_empty()).then_some(path)
}

/// A path without `.` and `..`, by its names alone.
fn straightened(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut straight, component| {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(straight.pop()),
            other => straight.push(other),
        }
        straight
    })
}

/// Returns true if a file is read from a server.
pub(crate) fn is_url(file: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| file.starts_with(scheme))
}

/// A file as a URI reference (RFC 3986): a relative path, `file:///…` for an absolute one, or the URL that it is.
pub(crate) fn uri(path: &str) -> String {
    if is_url(path) {
        return encoded(path, "-._~:/?#[]@!$&'()*+,;=%");
    }
    let encoded = encoded(path, "-._~/!$&'()*+,;=@");
    match path.chars().next() {
        Some('/') => format!("file://{encoded}"),
        _ => encoded,
    }
}

/// Encodes everything but letters, digits and the characters that are kept.
pub(crate) fn encoded(text: &str, kept: &str) -> String {
    let mut uri = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || kept.contains(c) {
            uri.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// Names the locations of the first objects, at most this many, and counts the others. `place` is the name of a file, and the line if it
/// is known.
pub(crate) fn places(
    objects: &[&ObjectReport],
    most: usize,
    place: impl Fn(&Source) -> Option<(String, Option<u32>)>,
) -> String {
    let mut sources: Vec<&Source> = objects.iter().filter_map(|object| object.source.as_ref()).collect();
    sources.sort_by_key(|source| (&source.file, source.line));
    let mut all: Vec<(String, Option<u32>)> = sources.into_iter().filter_map(place).collect();
    // Several objects of a template, or of a line, have one location.
    all.dedup();
    let mut text = String::new();
    let mut before = None;
    for (file, line) in all.iter().take(most) {
        let gap = if text.is_empty() { "" } else { ", " };
        let shown = match line {
            Some(line) if before == Some(file) => line.to_string(),
            Some(line) => format!("{file}:{line}"),
            None => file.clone(),
        };
        text = format!("{text}{gap}{shown}");
        before = Some(file);
    }
    match all.len().checked_sub(most) {
        Some(more @ 1..) => format!("{text} … {} more", grouped(more)),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn paths_are_reported_from_the_root_of_the_repository() {
        let view = |repository: Option<&str>| View {
            folder: Some(Arc::from(Path::new("/srv/shop/deploy"))),
            repository: repository.map(|root| Arc::from(Path::new(root))),
            ..View::default()
        };
        let within = view(Some("/srv/shop"));
        let without = view(None);
        for (file, from_root, from_folder) in [
            ("././web.yaml", "deploy/web.yaml", "web.yaml"),
            ("/srv/shop/deploy/web.yaml", "deploy/web.yaml", "web.yaml"),
            ("../base/web.yaml", "base/web.yaml", "../base/web.yaml"),
            ("../../other/web.yaml", "../../other/web.yaml", "../../other/web.yaml"),
            ("/etc/web.yaml", "/etc/web.yaml", "/etc/web.yaml"),
            ("https://example.com/web.yaml", "https://example.com/web.yaml", "https://example.com/web.yaml"),
        ] {
            assert_eq!(path(file, &within).as_deref(), Some(from_root), "{file}");
            assert_eq!(path(file, &without).as_deref(), Some(from_folder), "{file}");
        }
        assert_eq!((path("stdin", &within), path("./stdin", &without).as_deref()), (None, Some("stdin")));
        assert_eq!((path("helm/pay@3", &within), path("last-applied", &within)), (None, None));
        assert_eq!(path("helm/pay@a/b@3", &without).as_deref(), Some("helm/pay@a/b@3"));
    }

    #[test]
    fn uris_hold_nothing_that_has_a_meaning_in_them() {
        assert_eq!(uri("deploy/a b#c?d%e:f.yaml"), "deploy/a%20b%23c%3Fd%25e%3Af.yaml");
        assert_eq!(uri("/srv/ü.yaml"), "file:///srv/%C3%BC.yaml");
        assert_eq!(uri("https://example.com/a b?x=1"), "https://example.com/a%20b?x=1");
    }
}
