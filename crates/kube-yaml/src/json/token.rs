//! Strings, numbers and words.

use std::borrow::Cow;

use serde_json::{Number, Value};

use super::Scanner;
use crate::SyntaxDiagnostic;
use crate::collector::Collector;
use crate::text::Advance as _;

impl Scanner<'_> {
    /// Reads a string that begins with a quote.
    pub(super) fn string(&mut self, diagnostics: &mut Collector) -> Result<String, SyntaxDiagnostic> {
        let start = self.here();
        let mut text = String::new();
        let mut lost = false;
        self.at.advance(1);
        loop {
            let rest = self.rest();
            let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            let Some(length) = length else {
                return Err(SyntaxDiagnostic::refused(start, "the closing quote of this string is missing"));
            };
            match String::from_utf8_lossy(&rest[..length]) {
                Cow::Borrowed(part) => text.push_str(part),
                Cow::Owned(part) => {
                    lost = true;
                    text.push_str(&part);
                }
            }
            self.at.advance(length);
            match rest[length] {
                b'"' => break,
                b'\\' => text.push(self.escape()?.unwrap_or_else(|| {
                    lost = true;
                    '\u{FFFD}'
                })),
                _ => return Err(self.unexpected("a closing quote before the end of the line or a control character")),
            }
        }
        self.at.advance(1);
        if lost {
            diagnostics.add(
                SyntaxDiagnostic::lossy(
                    start,
                    "this string is not valid Unicode, and kubectl replaces the invalid parts",
                )
                .hint("save the file as UTF-8, and write surrogate escapes in pairs"),
            );
        }
        Ok(text)
    }

    /// Reads an escape; `None` for half of a surrogate pair.
    fn escape(&mut self) -> Result<Option<char>, SyntaxDiagnostic> {
        let character = match self.rest().get(1) {
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(*plain),
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.unexpected("a valid JSON escape")),
        };
        self.at.advance(2);
        Ok(Some(character))
    }

    fn unicode_escape(&mut self) -> Result<Option<char>, SyntaxDiagnostic> {
        let Some(unit) = self.hexadecimal() else {
            return Err(self.unexpected("four hexadecimal digits after `\\u`"));
        };
        self.at.advance(6);
        let whole = char::from_u32(unit.into());
        if whole.is_some() {
            return Ok(whole);
        }
        let pair = self.hexadecimal().and_then(|low| char::decode_utf16([unit, low]).next()?.ok());
        if pair.is_some() {
            self.at.advance(6);
        }
        Ok(pair)
    }

    /// The number of the `\uXXXX` at the current offset.
    fn hexadecimal(&self) -> Option<u16> {
        let digits = std::str::from_utf8(self.rest().strip_prefix(b"\\u")?.get(..4)?).ok()?;
        if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) { u16::from_str_radix(digits, 16).ok() } else { None }
    }

    /// Reads a number. One with a dot or an exponent stays a float, even if it is whole.
    pub(super) fn number(&mut self, diagnostics: &mut Collector) -> Result<Value, SyntaxDiagnostic> {
        let mark = self.here();
        let from = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        let mut whole = true;
        if self.take(b'.') {
            whole = false;
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            whole = false;
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        let text = String::from_utf8_lossy(&self.bytes[from..self.at]);
        let integer = match (whole, text.parse::<i64>()) {
            (true, Ok(value)) => Some(Number::from(value)),
            (true, Err(_)) => text.parse::<u64>().ok().map(Number::from),
            (false, _) => None,
        };
        let number = integer.or_else(|| Number::from_f64(text.parse().ok()?));
        Ok(number.map_or_else(
            || {
                diagnostics.add(SyntaxDiagnostic::refused(mark, "this number is too large"));
                Value::Null
            },
            Value::Number,
        ))
    }

    fn digits(&mut self) -> Result<(), SyntaxDiagnostic> {
        let length = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            return Err(self.unexpected("a digit"));
        }
        self.at.advance(length);
        Ok(())
    }

    pub(super) fn word(&mut self, word: &str, value: Value) -> Result<Value, SyntaxDiagnostic> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.unexpected("a value"));
        }
        self.at.advance(word.len());
        Ok(value)
    }
}
