//! Block scalars: text behind `|` and `>`.

use std::borrow::Cow;

use super::{Cause, Failure, Scanner, Spot, Style, TokenKind};
use crate::text::Advance as _;

/// Treatment of the line breaks at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    /// One stays.
    Clip,
    /// None stays (`-`).
    Strip,
    /// All stay (`+`).
    Keep,
}

impl Scanner<'_> {
    pub(super) fn block_scalar(&mut self, spot: Spot, style: Style) -> Result<(), Failure> {
        self.forget_key()?;
        self.key_allowed = true;
        self.at.advance(1);
        let (chomping, stated) = self.block_header(spot)?;
        let mut indentation = stated.map(|stated| self.indent.max(0).saturating_add(stated));
        self.scratch.clear();
        let mut breaks = self.blank_lines(&mut indentation)?;
        // True if there was a line before; true if it began with a blank.
        let mut has_line = false;
        let mut was_blank = false;
        let mut end = self.at;
        let content = if end < self.bytes.len() { self.spot() } else { spot };
        while Some(self.indentation()) == indentation && self.at < self.bytes.len() {
            let is_blank = matches!(self.byte(0), Some(b' ' | b'\t'));
            if style == Style::Folded && has_line && !was_blank && !is_blank {
                if breaks == 0 {
                    self.scratch.push(' ');
                }
            } else if has_line {
                self.scratch.push('\n');
            }
            self.scratch.extend(std::iter::repeat_n('\n', breaks));
            let start = self.at;
            self.skip_line();
            end = self.at;
            self.scratch.push_str(self.slice(start..end));
            self.skip_break();
            (has_line, was_blank) = (true, is_blank);
            breaks = self.blank_lines(&mut indentation)?;
        }
        if has_line && chomping != Chomping::Strip {
            self.scratch.push('\n');
        }
        self.check_old_breaks(spot.at, end)?;
        if chomping == Chomping::Keep {
            self.scratch.extend(std::iter::repeat_n('\n', breaks));
            end = end.max(self.end_of_line_above());
        }
        let text = Cow::Owned(self.scratch.as_str().to_owned());
        self.push(spot, TokenKind::Scalar(text, style, content, end));
        Ok(())
    }

    /// The end of the line above this one, without its line break.
    fn end_of_line_above(&self) -> usize {
        let line = self.slice(..self.line_start);
        let line = line.strip_suffix('\n').unwrap_or(line);
        line.strip_suffix('\r').unwrap_or(line).len()
    }

    /// Reads the indicators behind `|` or `>` and the rest of the line. Returns the chomping, and the indentation if it
    /// is stated.
    fn block_header(&mut self, spot: Spot) -> Result<(Chomping, Option<i32>), Failure> {
        let wrong = Failure::new(spot.at, Cause::BlockHeader);
        let mut chomping = None;
        let mut stated = None;
        for _ in 0..2 {
            match self.byte(0) {
                Some(sign @ (b'+' | b'-')) if chomping.is_none() => {
                    chomping = Some(if sign == b'+' { Chomping::Keep } else { Chomping::Strip });
                }
                Some(b'0') if stated.is_none() => return Err(wrong),
                Some(digit @ b'1'..=b'9') if stated.is_none() => stated = Some(i32::from(digit.saturating_sub(b'0'))),
                _ => break,
            }
            self.at.advance(1);
        }
        while matches!(self.byte(0), Some(b' ' | b'\t')) {
            self.at.advance(1);
        }
        if self.byte(0) == Some(b'#') {
            self.skip_line();
        }
        if !self.skip_break() && self.at < self.bytes.len() {
            return Err(self.at_old_break(wrong));
        }
        Ok((chomping.unwrap_or(Chomping::Clip), stated))
    }

    /// Skips blank lines and the indentation of the next line, and counts the lines. If the header did not state the
    /// indentation, the first line that is not blank determines it.
    fn blank_lines(&mut self, indentation: &mut Option<i32>) -> Result<usize, Failure> {
        let mut breaks = 0;
        let mut deepest = 0;
        loop {
            let is_within = |column| indentation.is_none_or(|indentation| column < indentation);
            while self.byte(0) == Some(b' ') && is_within(self.indentation()) {
                self.at.advance(1);
            }
            deepest = deepest.max(self.indentation());
            if self.byte(0) == Some(b'\t') && is_within(self.indentation()) {
                return Err(Failure::new(self.at, Cause::Tab));
            }
            if !self.skip_break() {
                break;
            }
            breaks.advance(1);
        }
        indentation.get_or_insert(deepest.max(self.indent.saturating_add(1)).max(1));
        Ok(breaks)
    }
}
