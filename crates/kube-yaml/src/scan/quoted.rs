//! Quoted scalars.

use std::borrow::Cow;

use super::plain::fold;
use super::token::{Characters, OLD_BREAKS, is_blank_or_break};
use super::{Cause, Failure, Quoted, Scanner, Spot, Style, TokenKind};
use crate::text::Advance as _;

/// End of a part of a quoted text.
enum Part {
    /// The closing quote.
    Closed,
    /// Blanks or a line break follow.
    Blanks,
    /// An escaped line break.
    Joined,
}

impl Scanner<'_> {
    pub(super) fn quoted(&mut self, spot: Spot, style: Style) -> Result<(), Failure> {
        self.note_key(spot)?;
        self.at.advance(1);
        self.scratch.clear();
        // The part of the text that is not in the buffer yet.
        let mut from = self.at;
        let mut is_copied = false;
        loop {
            if self.at >= self.bytes.len() || self.at_indicator() {
                return Err(Failure::new(spot.at, Cause::UnclosedQuote));
            }
            let start = from;
            let part = if style == Style::SingleQuoted {
                self.single_quoted_part(&mut from)
            } else {
                self.double_quoted_part(&mut from, spot)?
            };
            is_copied |= from > start;
            let end = self.at;
            let breaks = self.blanks_in_quotes(&part);
            match part {
                Part::Closed => break,
                Part::Joined => self.scratch.extend(std::iter::repeat_n('\n', breaks)),
                Part::Blanks if breaks == 0 => continue,
                Part::Blanks => {
                    self.scratch.push_str(self.slice(from..end));
                    fold(&mut self.scratch, breaks);
                }
            }
            (from, is_copied) = (self.at, true);
        }
        let text = if is_copied {
            self.scratch.push_str(self.slice(from..self.at));
            Cow::Owned(self.scratch.as_str().to_owned())
        } else {
            Cow::Borrowed(self.slice(from..self.at))
        };
        self.at.advance(1);
        self.check_quoted_breaks(spot.at)?;
        self.last_quoted = [Some(Quoted { at: spot.at, end: self.at, style }), self.last_quoted[0]];
        self.push(spot, TokenKind::Scalar(text, style, spot, self.at));
        Ok(())
    }

    /// Reads up to a blank or the closing quote. `from` is the offset of the text that is not copied yet.
    fn single_quoted_part(&mut self, from: &mut usize) -> Part {
        loop {
            match self.byte(0) {
                Some(b'\'') if self.byte(1) == Some(b'\'') => {
                    self.scratch.push_str(self.slice(*from..=self.at));
                    self.at.advance(2);
                    *from = self.at;
                }
                Some(b'\'') => return Part::Closed,
                Some(byte) if !is_blank_or_break(byte) => self.at.advance(1),
                _ => return Part::Blanks,
            }
        }
    }

    fn double_quoted_part(&mut self, from: &mut usize, spot: Spot) -> Result<Part, Failure> {
        loop {
            match self.byte(0) {
                Some(b'"') => return Ok(Part::Closed),
                Some(b'\\') => {
                    self.scratch.push_str(self.slice(*from..self.at));
                    self.at.advance(1);
                    let is_joined = self.skip_break();
                    if !is_joined {
                        self.escape(spot)?;
                    }
                    *from = self.at;
                    if is_joined {
                        return Ok(Part::Joined);
                    }
                }
                Some(byte) if !is_blank_or_break(byte) => self.at.advance(1),
                _ => return Ok(Part::Blanks),
            }
        }
    }

    /// Reads the escape behind a backslash.
    fn escape(&mut self, spot: Spot) -> Result<(), Failure> {
        let unknown = self.at_old_break(Failure::new(spot.at, Cause::Escape));
        let Some(sign) = self.byte(0) else { return Err(unknown) };
        self.at.advance(1);
        let digits = match sign {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            _ => {
                self.scratch.push(escaped(sign).ok_or(unknown)?);
                return Ok(());
            }
        };
        let number = self.bytes[self.at..].get(..digits).filter(|text| text.iter().all(u8::is_ascii_hexdigit));
        let number = number.ok_or(Failure::new(spot.at, Cause::EscapeDigits))?;
        let number = number
            .iter()
            .fold(0_u32, |number, digit| number << 4 | char::from(*digit).to_digit(16).unwrap_or_default());
        self.scratch.push(char::from_u32(number).ok_or(unknown)?);
        self.at.advance(digits);
        Ok(())
    }

    /// Skips blanks and line breaks behind a part, and counts the breaks.
    fn blanks_in_quotes(&mut self, part: &Part) -> usize {
        let mut breaks = 0_usize;
        if matches!(part, Part::Closed) {
            return breaks;
        }
        loop {
            match self.byte(0) {
                Some(b' ' | b'\t') => self.at.advance(1),
                _ if self.skip_break() => breaks.advance(1),
                _ => return breaks,
            }
        }
    }

    /// Checks line breaks of YAML 1.1: between two letters they are kept as they are, but they end the line for a key.
    fn check_quoted_breaks(&mut self, start: usize) -> Result<(), Failure> {
        if self.characters != Characters::OldBreaks {
            return Ok(());
        }
        let raw = self.slice(start..self.at);
        for (at, character) in raw.char_indices().filter(|(_, character)| OLD_BREAKS.contains(character)) {
            if character == '\u{85}' || !stands_alone(raw, at) {
                return Err(Failure::new(start.saturating_add(at), Cause::OldBreak(character)));
            }
            if let Some(key) = self.levels.last_mut().and_then(|level| level.key.as_mut()) {
                key.spot.line = 0;
            }
        }
        Ok(())
    }
}

/// The character of an escape of one letter.
fn escaped(sign: u8) -> Option<char> {
    Some(match sign {
        b'0' => '\0',
        b'a' => '\u{7}',
        b'b' => '\u{8}',
        b't' | b'\t' => '\t',
        b'n' => '\n',
        b'v' => '\u{B}',
        b'f' => '\u{C}',
        b'r' => '\r',
        b'e' => '\u{1B}',
        b' ' | b'"' | b'\'' | b'\\' => char::from(sign),
        b'N' => '\u{85}',
        b'_' => '\u{A0}',
        b'L' => '\u{2028}',
        b'P' => '\u{2029}',
        _ => return None,
    })
}

/// Returns true if there is no blank next to the line separator at an offset, so that folding keeps it.
fn stands_alone(raw: &str, at: usize) -> bool {
    let blank = |character: Option<char>| {
        character
            .is_none_or(|character| matches!(character, ' ' | '\t' | '\n' | '\r') || OLD_BREAKS.contains(&character))
    };
    let (before, rest) = raw.split_at_checked(at).unwrap_or_default();
    !blank(before.chars().next_back()) && !blank(rest.chars().nth(1))
}
