//! The lines of one object: what fits beside what, and how many lines there may be.

use reconcile_core::text::{end_within, width};

use crate::{Role, Styled, View};

/// Most lines of one object, and of one field of it, unless everything is wanted.
const OBJECT: usize = 120;
pub(super) const FIELD: usize = 24;
/// Between two things on a line.
pub(super) const GAP: usize = 2;

/// Lines that are being written.
pub(super) struct Sheet<'v> {
    pub view: &'v View,
    pub text: Styled,
    /// The column of what is shown to the right of the fields.
    pub column: usize,
}

impl<'v> Sheet<'v> {
    pub fn new(view: &'v View) -> Self {
        Self { view, text: Styled::new(), column: view.width }
    }

    /// Returns true if there is no room for more.
    pub fn is_full(&self) -> bool {
        !self.view.full && self.text.lines() >= OBJECT
    }

    /// How many lines a field may take.
    pub fn most(&self) -> usize {
        if self.view.full { usize::MAX } else { FIELD }
    }

    /// A line of one role.
    pub fn line(&mut self, role: Role, content: impl Into<String>) {
        self.text.push(role, content);
        self.text.line_end();
    }

    /// A line with a note at its right, or below where there is no room for it.
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
        let (first, last) = (taken.saturating_add(GAP), self.view.width.saturating_sub(wanted));
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

/// The end of a text that is too long: of a path it says most.
pub(super) fn ended(text: &str, columns: usize) -> String {
    format!("…{}", end_within(text, columns.saturating_sub(1)))
}
