//! What the parser cannot follow, and where a document ends.

use granit_parser::{Marker, ScanError};

use super::text::Cursor;
use super::{Mark, Problem};

/// A place in a document as a place in the input.
pub(super) fn place(marker: Marker, start: Mark) -> Mark {
    let (line, column) = (number(marker.line()), number(marker.col()) + 1);
    if line <= 1 {
        Mark { line: start.line, column: start.column + column - 1 }
    } else {
        Mark { line: start.line + line - 1, column }
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX / 2)
}

/// Where kubectl stops to read a document: behind the three dots of a line that begins with `...`, else at the end.
pub(super) fn end_of_document(text: &str) -> usize {
    let dots = text.match_indices("...").find(|(at, dots)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + dots.len()..].chars().next();
        before.is_none_or(|character| matches!(character, '\n' | '\r'))
            && after.is_none_or(|character| matches!(character, ' ' | '\t' | '\n' | '\r'))
    });
    dots.map_or(text.len(), |(at, dots)| at + dots.len())
}

/// The problem that kubectl does not read what follows the end marker `...`.
pub(super) fn text_after_end(text: &str, rest: &str, start: Mark) -> Option<Problem> {
    let mut offset = 0;
    for line in rest.split_inclusive(['\n', '\r']) {
        let content = line.trim_start();
        if !content.is_empty() && !content.starts_with('#') {
            let dots = Cursor::new(text.as_bytes(), start).mark(text.trim_end().len());
            let mark = Cursor::new(rest.as_bytes(), dots).mark(offset + line.len() - content.len());
            let dots = Mark { column: dots.column.saturating_sub(3), ..dots };
            return Some(
                Problem::lossy(mark, "the document ends at `...`, and kubectl silently drops what follows")
                    .also(Some(dots))
                    .hint("separate documents with a line `---`"),
            );
        }
        offset += line.len();
    }
    None
}

/// The first escape of a double quoted scalar that go-yaml does not know; the parser knows YAML 1.2's and JSON's.
pub(super) fn unknown_escape(raw: &str) -> Option<&str> {
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at..];
        let character = escape.chars().nth(1)?;
        let digits = match character {
            '0' | 'a' | 'b' | 't' | '\t' | 'n' | 'v' | 'f' | 'r' | 'e' | ' ' | '"' | '\'' | '\\' | 'N' | '_' | 'L'
            | 'P' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => 0,
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return Some(&escape[..1 + character.len_utf8()]),
        };
        let end = 1 + character.len_utf8() + digits;
        if digits > 0 && u32::from_str_radix(escape.get(2..end)?, 16).ok().and_then(char::from_u32).is_none() {
            return Some(&escape[..2]);
        }
        rest = &escape[end..];
    }
    None
}

/// A parser's error in plain words.
pub(super) fn explain(error: &ScanError, _text: &str, start: Mark) -> Problem {
    Problem::refused(place(*error.marker(), start), error.info())
}
