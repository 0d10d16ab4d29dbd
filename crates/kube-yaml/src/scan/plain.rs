//! Unquoted text.

use std::borrow::Cow;

use super::characters::is_blank_or_break;
use super::{Cause, Failure, Scanner, Spot, Style, TokenKind};

/// The bytes at which unquoted text may end.
const MAY_END: [bool; 256] = {
    let mut table = [false; 256];
    let signs = b" \t\n\r:,?[]{}";
    let mut at = 0;
    while at < signs.len() {
        table[signs[at] as usize] = true;
        at += 1;
    }
    table
};

impl Scanner<'_> {
    pub(super) fn plain(&mut self, spot: Spot) -> Result<(), Failure> {
        self.note_key(spot)?;
        self.key_allowed = false;
        self.scratch.clear();
        // The part of the text that is not in the scratch yet, and the line breaks behind it.
        let (mut from, mut end, mut breaks) = (self.at, self.at, 0);
        loop {
            if self.byte(0) == Some(b'#') || self.at_indicator() {
                break;
            }
            let length = self.words()?;
            if length > 0 {
                if breaks > 0 {
                    self.scratch.push_str(&self.text[from..end]);
                    fold(&mut self.scratch, breaks);
                    (from, breaks) = (self.at, 0);
                }
                self.at += length;
                end = self.at;
            }
            if !self.byte(0).is_some_and(is_blank_or_break) {
                break;
            }
            breaks += self.blanks_behind_words(breaks)?;
            if breaks > 0 && self.in_block() && self.indentation() <= self.indent {
                break;
            }
        }
        // A key may follow on the line where the text ended.
        self.key_allowed = breaks > 0;
        self.check_old_breaks(spot.at, end)?;
        let text = if self.scratch.is_empty() {
            Cow::Borrowed(&self.text[from..end])
        } else {
            self.scratch.push_str(&self.text[from..end]);
            Cow::Owned(self.scratch.as_str().to_owned())
        };
        self.push(spot, TokenKind::Scalar(text, Style::Plain, spot));
        Ok(())
    }

    /// The length of the text up to the next blank.
    fn words(&self) -> Result<usize, Failure> {
        let (rest, in_block) = (&self.bytes[self.at..], self.in_block());
        let mut length = 0;
        loop {
            length += rest[length..].iter().position(|byte| MAY_END[usize::from(*byte)]).unwrap_or(rest.len() - length);
            let next = rest.get(length + 1).copied();
            match rest.get(length) {
                Some(b':') => match next {
                    Some(b',' | b'[' | b']' | b'{' | b'}') if !in_block => {
                        return Err(Failure::new(self.at + length, Cause::ColonInFlow));
                    }
                    Some(byte) if !is_blank_or_break(byte) => {}
                    _ => return Ok(length),
                },
                Some(b'?') if !in_block => return Err(Failure::new(self.at + length, Cause::SignInFlow('?'))),
                Some(b',' | b'?' | b'[' | b']' | b'{' | b'}') if in_block => {}
                _ => return Ok(length),
            }
            length += 1;
        }
    }

    /// Passes blanks and line breaks, and counts the breaks.
    fn blanks_behind_words(&mut self, breaks_before: usize) -> Result<usize, Failure> {
        let mut breaks = 0;
        loop {
            match self.byte(0) {
                Some(b'\t') if breaks_before + breaks > 0 && self.indentation() <= self.indent => {
                    return Err(Failure::new(self.at, Cause::Tab));
                }
                Some(b' ' | b'\t') => self.at += 1,
                _ if self.skip_break() => breaks += 1,
                _ => return Ok(breaks),
            }
        }
    }

    /// How many blanks stand before the place on its line, where nothing else does.
    pub(super) fn indentation(&self) -> i32 {
        i32::try_from(self.at - self.line_start).unwrap_or(i32::MAX)
    }
}

/// What line breaks inside of a text mean: a space, or all but the first of them.
pub(super) fn fold(text: &mut String, breaks: usize) {
    if breaks == 1 {
        text.push(' ');
    } else {
        text.extend(std::iter::repeat_n('\n', breaks - 1));
    }
}
