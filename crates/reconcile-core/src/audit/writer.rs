use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::owners::MAX_MANAGER;
use crate::text::is_hidden;

/// The value of a parameter in the query of a URI, decoded; the first one counts.
pub(super) fn parameter<'u>(uri: &'u str, name: &str) -> Option<Cow<'u, str>> {
    let (_, query) = uri.split_once('?')?;
    query.split('&').find_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(key) == name).then(|| decoded(value))
    })
}

fn decoded(text: &str) -> Cow<'_, str> {
    if text.contains('+') {
        let text = text.replace('+', " ");
        return Cow::Owned(percent_decode_str(&text).decode_utf8_lossy().into_owned());
    }
    percent_decode_str(text).decode_utf8_lossy()
}

/// The name of the field manager of a request: the parameter `fieldManager`, or else the start of the user agent (apiserver
/// `pkg/endpoints/handlers`, `managerOrUserAgent`).
pub(super) fn manager<'e>(uri: &'e str, user_agent: &'e str) -> Cow<'e, str> {
    match parameter(uri, "fieldManager").filter(|name| !name.is_empty()) {
        Some(name) => name,
        None => program(user_agent),
    }
}

/// The printable characters of a user agent up to its first slash, as many as a name may have.
fn program(user_agent: &str) -> Cow<'_, str> {
    let name = user_agent.split('/').next().unwrap_or_default();
    if name.len() <= MAX_MANAGER && name.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(name);
    }
    let mut kept = String::new();
    let is_printable = |c: &char| !is_hidden(*c) && (*c == ' ' || !c.is_whitespace());
    for c in name.chars().filter(is_printable) {
        if kept.len().saturating_add(c.len_utf8()) > MAX_MANAGER {
            break;
        }
        kept.push(c);
    }
    Cow::Owned(kept)
}
