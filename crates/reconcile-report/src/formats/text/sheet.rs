//! The lines of one object: aligns notes, and limits the number of lines.

use reconcile_core::text::{end_within, width};

use crate::{Role, Styled, View};

/// Most lines of one object, and of one field of it, without `--full`.
const OBJECT: usize = 120;
pub(super) const FIELD: usize = 24;
/// The gap between two texts on a line, in columns.
pub(super) const GAP: usize = 2;

/// Lines that are being written.
pub(super) struct Sheet<'v> {
    pub view: &'v View,
    pub text: Styled,
    /// The column of the notes to the right of the fields.
    pub column: usize,
}

impl<'v> Sheet<'v> {
    pub fn new(view: &'v View) -> Self {
        Self { view, text: Styled::new(), column: view.width }
    }

    /// Returns true if no more lines are allowed.
    pub fn is_full(&self) -> bool {
        !self.view.full && self.text.lines() >= OBJECT
    }

    /// Largest number of lines of a field.
    pub fn most(&self) -> usize {
        if self.view.full { usize::MAX } else { FIELD }
    }

    /// Appends a line of one role.
    pub fn line(&mut self, role: Role, content: impl Into<String>) {
        self.text.push(role, content);
        self.text.line_end();
    }

    /// Appends a line with a note at its right, or below it if there is no room.
    pub fn row(&mut self, left: Styled, note: &str, indent: usize) {
        let column = self.column;
        self.row_at(left, note, column, indent);
    }

    /// The same, with the note at the right edge.
    pub fn row_to_edge(&mut self, left: Styled, note: &str, indent: usize) {
        let column = self.view.width.saturating_sub(width(note));
        self.row_at(left, note, column, indent);
    }

    fn row_at(&mut self, left: Styled, note: &str, column: usize, indent: usize) {
        let (taken, wanted) = (left.width(), width(note));
        self.text.append(left);
        if wanted == 0 {
            self.text.line_end();
            return;
        }
        let (first, last) = (taken + GAP, self.view.width.saturating_sub(wanted));
        let at = if (first..=last).contains(&column) { column } else { last.max(first) };
        if at <= last {
            self.text.push(Role::Note, format!("{}{note}", " ".repeat(at.saturating_sub(taken))));
        } else {
            self.text.line_end();
            let room = self.view.width.saturating_sub(indent).max(GAP);
            let note = if self.view.full || wanted <= room { note.to_owned() } else { ended(note, room) };
            self.text.push(Role::Note, format!("{}{note}", " ".repeat(indent)));
        }
        self.text.line_end();
    }
}

/// The end of a text that is too long: the end is the most specific part of a path.
pub(super) fn ended(text: &str, columns: usize) -> String {
    format!("…{}", end_within(text, columns.saturating_sub(1)))
}

/// A text in as many lines as it needs, broken at blanks. A word is never cut, so that a line with one word may be longer.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    broken(text.split_inclusive(' '), columns)
}

/// A list in as many lines as it needs, broken after commas.
pub(super) fn wrapped_list(text: &str, columns: usize) -> Vec<String> {
    broken(text.split_inclusive(", "), columns)
}

fn broken<'t>(parts: impl Iterator<Item = &'t str>, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut().filter(|line| [line, part.trim_end()].map(width).iter().sum::<usize>() <= columns) {
            Some(line) => line.push_str(part),
            None => lines.push(part.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}
