//! The input as text: encodings, the characters that YAML allows, and positions.

use std::borrow::Cow;

use super::collector::Collector;
use super::{Mark, SyntaxDiagnostic};

/// Converts increasing offsets in a text to positions; all calls together read each byte once.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    mark: Mark,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], start: Mark) -> Self {
        Self { bytes, at: 0, mark: start }
    }

    /// The position of the byte at an offset, which must not be before that of the last call.
    pub(super) fn mark(&mut self, offset: usize) -> Mark {
        let end = offset.min(self.bytes.len());
        let passed = self.bytes.get(self.at..end).unwrap_or_default();
        for byte in passed {
            match byte {
                b'\n' => self.mark = self.mark.next_line(),
                // Continuation bytes of a character.
                0x80..=0xBF => {}
                _ => self.mark.column.advance(1),
            }
        }
        self.at = self.at.max(end);
        self.mark
    }
}

/// The text of an input in UTF-16, which is recognised by its byte order mark.
pub(super) fn decode_utf16(input: &[u8]) -> Option<Result<String, SyntaxDiagnostic>> {
    let unit: fn([u8; 2]) -> u16 = match input {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let (pairs, rest) = input[2..].as_chunks();
    let mut text = String::with_capacity(input.len() / 2);
    for character in char::decode_utf16(pairs.iter().copied().map(unit)) {
        match character {
            Ok(character) => text.push(character),
            Err(_) => return Some(Err(not_utf16(&text))),
        }
    }
    Some(if rest.is_empty() { Ok(text) } else { Err(not_utf16(&text)) })
}

/// A document as text, if it has only characters that YAML allows. kubectl reads bytes that are not UTF-8 as U+FFFD.
pub(super) fn decode<'a>(document: &'a [u8], start: Mark, diagnostics: &mut Collector) -> Option<Cow<'a, str>> {
    let text = match std::str::from_utf8(document) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) => {
            let mark = Cursor::new(document, start).mark(error.valid_up_to());
            diagnostics.add(
                SyntaxDiagnostic::lossy(mark, "a byte here is not valid UTF-8, and kubectl replaces it")
                    .hint("save the file as UTF-8; put binary data into `binaryData` or `data` as base64"),
            );
            String::from_utf8_lossy(document)
        }
    };
    // Nearly all documents are printable ASCII, which is checked quickly.
    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r');
    if text.as_bytes().iter().fold(true, |all, byte| all & plain(byte)) {
        return Some(text);
    }
    let Some((at, character)) = text.char_indices().find(|(_, character)| !is_printable(*character)) else {
        return Some(text);
    };
    let mark = Cursor::new(text.as_bytes(), start).mark(at);
    diagnostics.add(
        SyntaxDiagnostic::refused(mark, format!("the control character U+{:04X} is not allowed", u32::from(character)))
            .hint("remove it, or write it as an escape in double quotes"),
    );
    None
}

fn not_utf16(before: &str) -> SyntaxDiagnostic {
    let mark = Cursor::new(before.as_bytes(), Mark::START).mark(before.len());
    SyntaxDiagnostic::refused(mark, "the text here is not valid UTF-16").hint("save the file as UTF-8")
}

/// YAML's printable characters, as go-yaml's reader has them.
fn is_printable(character: char) -> bool {
    matches!(character,
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// The bytes as text with U+FFFD for each byte that is not UTF-8, as Go's JSON package writes them. (The decoder of the
/// input writes one U+FFFD for each truncated sequence, as [`String::from_utf8_lossy`] does.)
pub(super) fn replace_invalid(mut bytes: &[u8]) -> Cow<'_, str> {
    let mut text = String::new();
    loop {
        match std::str::from_utf8(bytes) {
            Ok(rest) if text.is_empty() => return Cow::Borrowed(rest),
            Ok(rest) => return Cow::Owned(text + rest),
            Err(error) => {
                let (valid, rest) = bytes.split_at(error.valid_up_to());
                text.push_str(&String::from_utf8_lossy(valid));
                text.push('\u{FFFD}');
                bytes = &rest[1..];
            }
        }
    }
}

/// Returns true if go-yaml reads a text as a timestamp: a date, or a date and a time, in which all parts but the year
/// may have one digit.
pub(super) fn is_timestamp(text: &str) -> bool {
    let Some((year, rest)) = text.split_once('-') else { return false };
    let Some((month, rest)) = rest.split_once('-') else { return false };
    let day_length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (day, time) = rest.split_at(day_length);
    let (Some(year), Some(month), Some(day)) = (digits(year, 4..=4), digits(month, 1..=2), digits(day, 1..=2)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    if day == 0 || day > days {
        return false;
    }
    let mut time = time.chars();
    match time.next() {
        None => true,
        Some('T' | 't') => zoned(time.as_str()),
        Some(' ') => clock(time.as_str()),
        Some(_) => false,
    }
}

fn digits(text: &str, length: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let sound = length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if sound { text.parse().ok() } else { None }
}

/// Returns true for a time with a zone: `Z` or `±hh:mm`.
fn zoned(text: &str) -> bool {
    if let Some(time) = text.strip_suffix('Z') {
        return clock(time);
    }
    let Some((time, zone)) = text.rsplit_once(['+', '-']) else { return false };
    let zone = zone.split_once(':').map(|(hours, minutes)| (digits(hours, 2..=2), digits(minutes, 2..=2)));
    matches!(zone, Some((Some(0..=24), Some(0..=60)))) && clock(time)
}

/// Returns true for `h:m:s` with a fraction of a second after a dot or a comma.
fn clock(text: &str) -> bool {
    let (time, fraction) = match text.split_once(['.', ',']) {
        Some((time, fraction)) => (time, Some(fraction)),
        None => (text, None),
    };
    let mut parts = time.split(':').map(|part| digits(part, 1..=2));
    let hour = parts.next().flatten();
    let minute = parts.next().flatten();
    let second = parts.next().flatten();
    let whole = matches!((hour, minute, second), (Some(0..=23), Some(0..=59), Some(0..=59)));
    let fraction = fraction.is_none_or(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    whole && fraction && parts.next().is_none()
}

/// An offset in a text, or a count. Both are bounded by the length of the input; if a bound is wrong, they saturate
/// instead of wrapping around.
pub(super) trait Advance {
    /// Adds a number.
    fn advance(&mut self, by: Self);
}

impl Advance for usize {
    #[inline]
    fn advance(&mut self, by: Self) {
        *self = self.saturating_add(by);
    }
}

impl Advance for u32 {
    #[inline]
    fn advance(&mut self, by: Self) {
        *self = self.saturating_add(by);
    }
}
