//! Plain scalars: unquoted text.

use std::borrow::Cow;

use super::token::is_blank_or_break;
use super::{Cause, Failure, Scanner, Spot, Style, TokenKind};
use crate::text::Advance as _;

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
        self.scratch.clear();
        // The part of the text that is not in the buffer yet, and the number of line breaks behind it.
        let mut from = self.at;
        let mut end = self.at;
        let mut breaks = 0;
        loop {
            if self.byte(0) == Some(b'#') || self.at_indicator() {
                break;
            }
            let words_end = self.words_end()?;
            if words_end > self.at {
                if breaks > 0 {
                    self.scratch.push_str(self.slice(from..end));
                    fold(&mut self.scratch, breaks);
                    (from, breaks) = (self.at, 0);
                }
                self.at = words_end;
                end = words_end;
            }
            if !self.byte(0).is_some_and(is_blank_or_break) {
                break;
            }
            breaks = self.blanks_behind_words(breaks)?;
            if breaks > 0 && self.in_block() && self.indentation() <= self.indent {
                break;
            }
        }
        // A key is allowed if the text ended on an earlier line.
        self.key_allowed = breaks > 0;
        self.check_old_breaks(spot.at, end)?;
        let text = if self.scratch.is_empty() {
            Cow::Borrowed(self.slice(from..end))
        } else {
            self.scratch.push_str(self.slice(from..end));
            Cow::Owned(self.scratch.as_str().to_owned())
        };
        self.push(spot, TokenKind::Scalar(text, Style::Plain, spot, end));
        Ok(())
    }

    /// End of the text up to the next blank.
    fn words_end(&self) -> Result<usize, Failure> {
        let mut rest = &self.bytes[self.at..];
        let in_block = self.in_block();
        loop {
            let length = rest.iter().position(|byte| MAY_END[usize::from(*byte)]).unwrap_or(rest.len());
            rest = &rest[length..];
            let at = self.bytes.len().saturating_sub(rest.len());
            rest = match rest {
                [b':', b',' | b'[' | b']' | b'{' | b'}', ..] if !in_block => {
                    return Err(Failure::new(at, Cause::ColonInFlow));
                }
                [b'?', ..] if !in_block => return Err(Failure::new(at, Cause::SignInFlow('?'))),
                [b':', behind @ ..] if behind.first().is_some_and(|next| !is_blank_or_break(*next)) => behind,
                [b',' | b'?' | b'[' | b']' | b'{' | b'}', behind @ ..] if in_block => behind,
                _ => return Ok(at),
            };
        }
    }

    /// Skips blanks and line breaks, and adds the breaks to `breaks`.
    fn blanks_behind_words(&mut self, mut breaks: usize) -> Result<usize, Failure> {
        loop {
            match self.byte(0) {
                Some(b'\t') if breaks > 0 && self.indentation() <= self.indent => {
                    return Err(Failure::new(self.at, Cause::Tab));
                }
                Some(b' ' | b'\t') => self.at.advance(1),
                _ if self.skip_break() => breaks.advance(1),
                _ => return Ok(breaks),
            }
        }
    }

    /// Number of blanks before the current offset on its line, if there is nothing else.
    pub(super) fn indentation(&self) -> i32 {
        i32::try_from(self.passed()).unwrap_or(i32::MAX)
    }
}

/// Folds line breaks inside a text: one is a space; of several, all but the first are kept.
pub(super) fn fold(text: &mut String, breaks: usize) {
    if breaks == 1 {
        text.push(' ');
    } else {
        text.extend(std::iter::repeat_n('\n', breaks.saturating_sub(1)));
    }
}
