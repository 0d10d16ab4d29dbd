use std::io;

use serde_json::Value;

use super::visible::{is_hidden, show, visible};

/// Most characters of a name.
const NAME: usize = 100;

/// Puts text on one line: runs of blanks become one, everything becomes visible, and a text of more than `limit` characters ends in
/// an ellipsis.
pub fn one_line(text: &str, limit: usize) -> String {
    visible(&cut(text, limit)).into_owned()
}

fn cut(text: &str, limit: usize) -> String {
    let mut line = String::with_capacity(text.len().min(limit.saturating_mul(4)));
    let mut length = 0_usize;
    let mut gap = false;
    for character in text.chars() {
        if character.is_whitespace() {
            gap = length > 0;
            continue;
        }
        if length.saturating_add(usize::from(gap)) >= limit {
            line.push('…');
            return line;
        }
        if gap {
            line.push(' ');
            length = length.saturating_add(1);
            gap = false;
        }
        if is_hidden(character) {
            show(character, &mut line);
        } else {
            line.push(character);
        }
        length = length.saturating_add(1);
    }
    line
}

/// The message of the operating system in lower case and without its number, or our own as it is.
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    // A library may add its own words to what the system says.
    match text.split_once(" (os error ") {
        Some((said, _)) => one_line(said, 200).to_lowercase(),
        None if error.get_ref().is_some() => one_line(&text, 200),
        None => one_line(&text, 200).to_lowercase(),
    }
}

/// A name that others chose, as code in a message: in backquotes, or in quotes and without its backquotes, which would end the code.
pub fn coded(name: &str) -> String {
    let name = one_line(name, NAME);
    if name.contains('`') { Value::from(name).to_string().replace('`', "\\u0060") } else { format!("`{name}`") }
}

/// Returns true if a name that others chose may be a word of a command in a message, which somebody may run: no shell reads more in it (zsh
/// looks for a program behind `=`), and it is no flag.
pub fn is_word(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(['-', '=']) && name.chars().all(is_plain)
}

/// Returns true for a character that has no meaning in any shell.
pub fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._:/@=,+-".contains(c)
}

/// Lists at most `limit` names for a message.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>, limit: usize) -> String {
    let names: Vec<_> = names.into_iter().collect();
    let list = names.iter().take(limit).copied().map(coded).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(limit) {
        Some(more @ 1..) => format!("{list} and {} more", grouped(more)),
        _ => list,
    }
}

/// A number as people read it: `19,900`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && digits.len().saturating_sub(at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in lowercase hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// A URL that may be shown: without user name and password, and with `…` instead of its query or fragment, which may hold a
/// token. An invalid URL loses everything between `//` and its last `@`.
pub fn without_credentials(url: &str) -> String {
    let rest = url.split_once("://").map(|(_, rest)| rest).or_else(|| url.strip_prefix("//")).unwrap_or(url);
    let scheme = url.strip_suffix(rest).unwrap_or_default();
    let (authority, path) = split_at_any(rest, &['/', '\\', '?', '#']);
    let (host, path) = match (authority.rsplit_once('@'), rest.rsplit_once('@')) {
        (Some((_, host)), _) => (host, path),
        // A password with a slash or a question mark that is not escaped ends the authority before its `@`.
        (None, Some((_, after))) if !has_port(authority) => split_at_any(after, &['/', '\\', '?', '#']),
        (None, _) => (authority, path),
    };
    let (path, hidden) = split_at_any(path, &['?', '#']);
    let hidden = match hidden.chars().next() {
        Some(mark) if hidden.len() > 1 => format!("{mark}…"),
        _ => hidden.to_owned(),
    };
    format!("{scheme}{host}{path}{hidden}")
}

/// A text of another program, with the credentials removed from its URLs.
pub fn urls_without_credentials(text: &str) -> String {
    let ends = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '<' | '>' | '(' | ')');
    let words = text.split_inclusive(ends).map(|word| {
        let name = word.strip_suffix(ends).unwrap_or(word);
        let end = word.strip_prefix(name).unwrap_or_default();
        format!("{}{end}", name_without_credentials(name))
    });
    words.collect()
}

/// The name of an input, with the credentials removed if it is a URL.
pub fn name_without_credentials(word: &str) -> String {
    if word.contains("://") { without_credentials(word) } else { word.to_owned() }
}

fn split_at_any<'t>(text: &'t str, marks: &[char]) -> (&'t str, &'t str) {
    text.split_at(text.find(marks).unwrap_or(text.len()))
}

/// Returns false if the text after the colon of an authority is not a port number.
fn has_port(authority: &str) -> bool {
    let name = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
    name.split_once(':').is_none_or(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_end_no_code_and_are_no_commands() {
        assert_eq!(coded("kubectl-edit"), "`kubectl-edit`");
        assert_eq!(coded("m`x \"y\""), r#""m\u0060x \"y\"""#);
        assert!(["helm", "shop/v1", "a@b=c,d+e"].iter().all(|name| is_word(name)));
        assert!(!["", "-f", "$(rm)", "a b", "a`b", "a;b", "é"].iter().any(|name| is_word(name)));
    }

    #[test]
    fn reasons_of_the_system_begin_in_lower_case_and_our_own_stay_as_they_are() {
        assert_eq!(io_reason(&io::Error::from_raw_os_error(2)), "no such file or directory");
        assert_eq!(io_reason(&io::ErrorKind::NotFound.into()), "entity not found");
        assert_eq!(io_reason(&io::Error::other("it is larger than 1 GiB")), "it is larger than 1 GiB");
        let of_library = io::Error::other("Permission denied (os error 13) at path \"/A\"");
        assert_eq!(io_reason(&of_library), "permission denied");
    }

    #[test]
    fn hidden_characters_are_shown_and_line_breaks_go() {
        assert_eq!(one_line("  a\r\n\tb\u{1b}[0m \u{202e}c\u{0} ", 80), "a b\\u{1b}[0m \\u{202e}c\\u{0}");
    }

    #[test]
    fn long_text_is_cut_on_a_character() {
        assert_eq!(one_line("ää öö üü", 5), "ää öö…");
        assert_eq!(one_line("ää öö", 5), "ää öö");
    }

    #[test]
    fn lists_are_bounded() {
        assert_eq!(listed(["a", "b"], 2), "`a`, `b`");
        assert_eq!(listed(["a", "b", "c", "d"], 2), "`a`, `b` and 2 more");
    }

    #[test]
    fn urls_in_a_text_lose_what_logs_in() {
        let said = "fatal: unable to access 'https://me:hunter2@host/repo?ref=hunter2': no such host\nsee a@b";
        assert_eq!(
            urls_without_credentials(said),
            "fatal: unable to access 'https://host/repo?…': no such host\nsee a@b"
        );
    }

    #[test]
    fn what_logs_in_is_left_out() {
        for (url, shown) in [
            ("https://host:6443", "https://host:6443"),
            ("https://host/a/b.yaml", "https://host/a/b.yaml"),
            ("https://host/a@b", "https://host/a@b"),
            ("https://[fd00::1]:6443/a@b", "https://[fd00::1]:6443/a@b"),
            ("https://admin:hunter2@host:6443", "https://host:6443"),
            ("https://me:pass@word@host/a@b", "https://host/a@b"),
            ("https://token@host/x", "https://host/x"),
            ("https://admin:hun/ter2@host/x", "https://host/x"),
            ("https://admin:hun?ter2@host/x", "https://host/x"),
            ("https://admin:hun#ter2@host", "https://host"),
            ("https://admin:/hunter2@host", "https://host"),
            ("admin:hunter2@host:6443", "host:6443"),
            ("//admin:hunter2@host", "//host"),
            ("http:admin:hunter2@host", "host"),
            ("https://host/x?private_token=hunter2&ref=main", "https://host/x?…"),
            ("https://host?token=hunter2", "https://host?…"),
            ("https://host/x#token=hunter2", "https://host/x#…"),
            ("https://host/x?a=b#hunter2", "https://host/x?…"),
            ("https://host/x?", "https://host/x?"),
            ("https://me:pw@host/x?next=http://a:b@c", "https://host/x?…"),
        ] {
            assert_eq!(without_credentials(url), shown, "{url}");
        }
    }
}
