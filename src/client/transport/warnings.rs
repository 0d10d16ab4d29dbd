//! `Warning` headers, in which the API server sends warnings for the user (RFC 7234 §5.5, KEP-1693).

use http::HeaderMap;
use http::header::WARNING;

use reconcile_core::text::one_line;

/// The longest warning that is kept, in characters. The API server itself truncates them to 256.
const MAX_LENGTH: usize = 1000;

/// The texts of the warnings with code 299, the only one that the API server uses, on one line each.
pub fn of(headers: &HeaderMap) -> Vec<String> {
    let mut texts = Vec::new();
    for header in headers.get_all(WARNING) {
        let text = String::from_utf8_lossy(header.as_bytes());
        let mut rest = text.as_ref();
        while let Some((code, warning, after)) = next(rest) {
            let warning = one_line(&warning, MAX_LENGTH);
            if code == "299" && !warning.is_empty() {
                texts.push(warning);
            }
            rest = after;
        }
    }
    texts
}

/// Reads the first warning of a header: its code, its text, and the rest of the header. The form is
/// `code agent "text" ["date"]`, and several are separated by commas.
fn next(header: &str) -> Option<(&str, String, &str)> {
    let header = header.trim_start_matches([' ', '\t', ',']);
    let (code, rest) = header.split_once(' ')?;
    let (_agent, rest) = rest.trim_start().split_once(' ')?;
    let (text, rest) = quoted(rest.trim_start())?;
    let after_date = quoted(rest.trim_start()).map_or(rest, |(_, rest)| rest);
    Some((code, text, after_date))
}

/// Reads a quoted string, and returns it with the rest of the text.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut content = String::new();
    let mut characters = text.strip_prefix('"')?.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return Some((content, characters.as_str())),
            '\\' => content.push(characters.next()?),
            other => content.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(values: &[&str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WARNING, http::HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        of(&headers)
    }

    #[test]
    fn texts_are_unescaped_and_in_order() {
        assert_eq!(
            warnings(&[
                r#"299 - "unknown field \"spec.replica\"""#,
                r#"299 kube-apiserver:v1 "one, with \\ comma" "Fri, 20 Nov 2026 10:00:00 GMT", 299 - "two""#,
            ]),
            [r#"unknown field "spec.replica""#, r"one, with \ comma", "two"]
        );
    }

    #[test]
    fn other_codes_and_broken_headers_are_dropped() {
        assert!(
            warnings(&[r#"199 - "misc""#, "299", "299 -", r#"299 - "open"#, r#"299 - "a\"#, "", r#"299 - """#])
                .is_empty()
        );
    }

    #[test]
    fn warnings_are_one_line_of_bounded_length() {
        let long = format!("299 - \"ä\t{}\"", "x".repeat(5000));
        let found = warnings(&[&long]);
        assert!(found[0].starts_with("ä xxx") && found[0].chars().count() <= 1001);
    }
}
