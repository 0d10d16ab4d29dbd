//! The lines of one object: aligns notes, and limits the number of lines.

use reconcile_core::manifest::Source;
use reconcile_core::text::{end_within, width};

use crate::model::ObjectReport;
use crate::view::View;
use crate::words::location::places;
use crate::words::styled::{Role, Styled};

/// Most lines of one object, and of one field of it, without `--full`.
const OBJECT: usize = 120;
pub(super) const FIELD: usize = 24;
/// Most locations of a group of objects that are named.
const PLACES: usize = 3;
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

    /// Appends a hint in as many lines as it needs.
    pub fn hint(&mut self, hint: &str, indent: usize) {
        const START: &str = "hint: ";
        let room = self.view.width.saturating_sub(indent).saturating_sub(START.len());
        for (at, line) in wrapped(hint, room).iter().enumerate() {
            let start = if at == 0 { START.to_owned() } else { " ".repeat(START.len()) };
            self.line(Role::Hint, format!("{}{start}{line}", " ".repeat(indent)));
        }
    }

    /// Appends a line with a note at its right, or below it if there is no room.
    pub fn row(&mut self, left: Styled, note: &str, indent: usize) {
        let column = self.column;
        self.row_at(left, note, column, indent);
    }

    /// Appends a row with its note at the right edge.
    pub fn row_to_edge(&mut self, left: Styled, note: &str, indent: usize) {
        let column = self.view.width.saturating_sub(width(note));
        self.row_at(left, note, column, indent);
    }

    /// Appends a line with the locations of objects at its right edge or below it: as many as fit there.
    pub fn row_with_places(&mut self, left: Styled, objects: &[&ObjectReport], indent: usize) {
        let place = |source: &Source| Some(self.view.file_and_line(source));
        let within =
            |room: usize| (1..=PLACES).rev().map(|most| places(objects, most, place)).find(|it| width(it) <= room);
        let beside = self.view.width.saturating_sub(left.width()).saturating_sub(GAP);
        let found = within(beside).or_else(|| within(self.view.width.saturating_sub(indent)));
        self.row_to_edge(left, &found.unwrap_or_default(), indent);
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

/// A text in as many lines as it needs, broken at blanks, but not next to a warning sign. A word is never cut, so that a line with one
/// word may be longer.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let ends = text.match_indices(' ').map(|(at, _)| at.saturating_add(1));
    let is_at_sign = |end: usize| {
        let (before, after) = text.split_at_checked(end).unwrap_or_default();
        before.ends_with("⚠ ") || after.starts_with('⚠')
    };
    let ends = ends.filter(|end| !is_at_sign(*end));
    let words = ends.chain([text.len()]).scan(0, |start, end| {
        let word = text.get(*start..end);
        *start = end;
        word
    });
    broken(words, columns)
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
