//! Current position of the scanner, and the next bytes.

use std::slice::SliceIndex;

use super::token::{Characters, OLD_BREAKS, index, is_blank_or_break};
use super::{Cause, Failure, Scanner, Spot};
use crate::text::Advance as _;

impl<'t> Scanner<'t> {
    /// Advances to the end of the line.
    pub(super) fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at.advance(rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len()));
    }

    /// Skips a line break; returns false if there is none.
    pub(super) fn skip_break(&mut self) -> bool {
        match self.byte(0) {
            Some(b'\n') => self.at.advance(1),
            Some(b'\r') => self.at.advance(if self.byte(1) == Some(b'\n') { 2 } else { 1 }),
            _ => return false,
        }
        self.line.advance(1);
        self.line_start = self.at;
        self.counted = (self.at, 0);
        true
    }

    /// The byte `behind` bytes after the current offset.
    pub(super) fn byte(&self, behind: usize) -> Option<u8> {
        self.bytes.get(self.at.saturating_add(behind)).copied()
    }

    /// A part of the text.
    pub(super) fn slice(&self, range: impl SliceIndex<str, Output = str>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    pub(super) fn is_blank_or_end(&self, behind: usize) -> bool {
        self.byte(behind).is_none_or(is_blank_or_break)
    }

    /// Returns true if a line begins here with an indicator of a document.
    pub(super) fn is_indicator(&self, dashes: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(dashes) && self.is_blank_or_end(dashes.len())
    }

    /// Returns true if a document begins or ends at the current offset, which must be the start of a line.
    pub(super) fn at_indicator(&self) -> bool {
        self.at == self.line_start && (self.is_indicator(b"---") || self.is_indicator(b"..."))
    }

    /// Number of bytes before the current offset on its line.
    pub(super) fn passed(&self) -> usize {
        self.at.saturating_sub(self.line_start)
    }

    pub(super) fn column(&mut self) -> u32 {
        if self.characters == Characters::Ascii {
            return index(self.passed());
        }
        let (from, mut column) = self.counted;
        let passed = self.bytes[from..self.at].iter().filter(|byte| !matches!(byte, 0x80..=0xBF)).count();
        column.advance(index(passed));
        self.counted = (self.at, column);
        column
    }

    pub(super) fn spot(&mut self) -> Spot {
        Spot { at: self.at, line: self.line, column: self.column() }
    }

    /// The failure at the current offset: a line break of YAML 1.1 if there is one, otherwise the given failure.
    pub(super) fn at_old_break(&self, otherwise: Failure) -> Failure {
        match self.slice(self.at..).chars().next().filter(|character| OLD_BREAKS.contains(character)) {
            Some(character) => Failure::new(self.at, Cause::OldBreak(character)),
            None => otherwise,
        }
    }

    /// Refuses a part of the text that has line breaks of YAML 1.1.
    pub(super) fn check_old_breaks(&self, from: usize, to: usize) -> Result<(), Failure> {
        if self.characters != Characters::OldBreaks {
            return Ok(());
        }
        match self.slice(from..to).char_indices().find(|(_, character)| OLD_BREAKS.contains(character)) {
            Some((at, character)) => Err(Failure::new(from.saturating_add(at), Cause::OldBreak(character))),
            None => Ok(()),
        }
    }
}
