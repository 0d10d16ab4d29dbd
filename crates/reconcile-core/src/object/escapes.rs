//! Texts without their escapes, as programs write them around a value that they quote: Go, JSON, YAML, Python, URLs and HTML.

/// Maximum depth of escapes inside of each other that are replaced.
const DEEPEST: usize = 8;

/// The characters that HTML writes by name.
const ENTITIES: [(&str, char); 6] =
    [("&amp;", '&'), ("&apos;", '\''), ("&gt;", '>'), ("&lt;", '<'), ("&nbsp;", ' '), ("&quot;", '"')];

/// A text without escapes, also without those inside of others. Characters that some programs write in two escapes (those that need more
/// than 16 bits) are left out, and so is what is no text.
pub(super) fn unescaped(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..DEEPEST {
        let next = without_one_level(&text);
        if next == text {
            break;
        }
        text = next;
    }
    text.retain(|character| character < '\u{10000}' && character != char::REPLACEMENT_CHARACTER);
    text
}

fn without_one_level(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.find(['\\', '%', '&']).and_then(|at| rest.split_at_checked(at)) {
        bytes.extend_from_slice(before.as_bytes());
        let length = replaced(from, &mut bytes).unwrap_or_else(|| {
            bytes.extend(from.bytes().next());
            1
        });
        rest = from.get(length..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes what the escape at the beginning of a text stands for. Returns the length of the escape, in bytes; `None` if it is none.
fn replaced(text: &str, bytes: &mut Vec<u8>) -> Option<usize> {
    let number = |from: usize, digits: usize| {
        let digits = text.get(from..from.checked_add(digits)?)?;
        let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| is_number)
    };
    match text.as_bytes() {
        [b'%', ..] => {
            bytes.push(u8::try_from(number(1, 2)?).ok()?);
            Some(3)
        }
        [b'\\', letter @ (b'x' | b'u' | b'U'), ..] => {
            let digits = match letter {
                b'x' => 2,
                b'u' => 4,
                _ => 8,
            };
            let character = number(2, digits)?;
            push(bytes, char::from_u32(character));
            digits.checked_add(2)
        }
        [b'\\', letter @ (b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v'), ..] => {
            bytes.push(match letter {
                b'a' => 7,
                b'b' => 8,
                _ => b' ',
            });
            Some(2)
        }
        [b'\\', b'0'..=b'3', b'0'..=b'7', b'0'..=b'7', ..] => {
            bytes.push(u8::from_str_radix(text.get(1..4)?, 8).ok()?);
            Some(4)
        }
        // A quote, a slash, or another backslash, which may begin an escape.
        [b'\\', ..] => Some(1),
        [b'&', b'#', b'x' | b'X', ..] => reference(text, text.get(3..)?, 16, bytes),
        [b'&', b'#', ..] => reference(text, text.get(2..)?, 10, bytes),
        _ => {
            let (name, character) = ENTITIES.iter().find(|(name, _)| text.starts_with(name))?;
            push(bytes, Some(*character));
            Some(name.len())
        }
    }
}

/// Writes the character of a numeric reference of HTML, of which these are the digits and what follows.
fn reference(text: &str, digits: &str, radix: u32, bytes: &mut Vec<u8>) -> Option<usize> {
    let (digits, rest) = digits.split_once(';').filter(|(digits, _)| digits.len() <= 8)?;
    push(bytes, char::from_u32(u32::from_str_radix(digits, radix).ok()?));
    text.len().checked_sub(rest.len())
}

fn push(bytes: &mut Vec<u8>, character: Option<char>) {
    if let Some(character) = character {
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_escape_is_as_it_was() {
        for (escaped, text) in [
            ("my\\u0026pass\\u003cword\\u003e", "my&pass<word>"),
            ("a\\x7fb\\u00a0c\\U0000200bd", "a\u{7f}b\u{a0}c\u{200b}d"),
            ("say \\\"it\\\" a\\/b \\\\\\\\ c", "say \"it\" a/b  c"),
            ("two\\nlines\\tand", "two lines and"),
            ("100%25 p%C3%B6l %zz %", "100% pöl %zz %"),
            ("a&amp;b&#39;c&#x3C;d&copy;e&#;", "a&b'c<d&copy;e&#;"),
            ("\\\\u0026 %2526 &amp;lt;", "& & <"),
            ("p\\303\\266l \\0 \\18", "p\u{f6}l 0 18"),
            ("\\ud83d\\ude00x😀y", "xy"),
            ("\\u00", "\\u00"),
            ("\\", ""),
        ] {
            assert_eq!(unescaped(escaped), text, "{escaped}");
            assert_eq!(unescaped(&unescaped(escaped)), unescaped(escaped), "{escaped}");
        }
    }
}
