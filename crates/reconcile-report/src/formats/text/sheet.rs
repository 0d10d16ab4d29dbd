//! The lines of one object: aligns notes, and limits the number of lines.

use reconcile_core::manifest::Source;
use reconcile_core::text::{end_within, width};
use similar::ChangeTag;

use crate::model::ObjectReport;
use crate::view::View;
use crate::words::sentence::location::places;
use crate::words::sentence::wrapped::{hint_lines, note_lines, place_within};
use crate::words::styled::{Role, Styled};
use crate::words::value::line_diff::Line;
use crate::words::value::word_diff::{Contrast, DiffedText};
use crate::words::value::{line_pairs, number};

/// Most lines of one object, and of one field of it, without `--full`.
const OBJECT: usize = 120;
pub(super) const FIELD: usize = 24;
/// Most locations of a group of objects that are named.
const PLACES: usize = 3;
/// The indentation of the lines about an object or a group.
pub(crate) const MARGIN: &str = "    ";
/// The gap between two texts on a line, in columns.
pub(super) const GAP: usize = 2;
/// Most columns between the end of a line and the note beside it: an owner that is further away belongs to no line.
const NEAR: usize = 20;

/// Lines that are being written.
pub(super) struct Sheet<'v> {
    pub view: &'v View,
    pub text: Styled,
    /// The notes beside lines that are not in a column yet.
    beside: Vec<Beside>,
}

/// A note beside its line.
struct Beside {
    /// Its span.
    span: usize,
    note: String,
    /// The width of the line.
    taken: usize,
    /// The last column in which there is room for it.
    last: usize,
}

impl<'v> Sheet<'v> {
    pub fn new(view: &'v View) -> Self {
        Self { view, text: Styled::new(), beside: Vec::new() }
    }

    /// Returns true if no more lines are allowed.
    pub fn is_full(&self) -> bool {
        !self.view.full && self.text.lines() >= OBJECT
    }

    /// Largest number of lines of a field.
    pub fn most(&self) -> usize {
        self.view.most(FIELD)
    }

    /// Appends a line of one role.
    pub fn line(&mut self, role: Role, content: impl Into<String>) {
        self.text.line(role, content);
    }

    /// Appends hints, each in as many lines as it needs.
    pub fn hints(&mut self, hints: impl IntoIterator<Item: AsRef<str>>, indent: usize) {
        for hint in hints {
            for line in hint_lines(hint.as_ref(), indent, self.view.hint_columns()) {
                self.line(Role::Hint, line);
            }
        }
    }

    /// Appends a line with a note at its right, or below it if there is no room. [`Sheet::align`] puts the notes into a column.
    pub fn row(&mut self, left: Styled, note: &str, indent: usize) {
        let taken = left.width();
        self.text.append(left);
        if note.is_empty() {
            return self.text.line_end();
        }
        let last = self.view.width.saturating_sub(width(note));
        if taken.saturating_add(GAP) <= last {
            let span = self.text.spans().len();
            self.text.push(Role::Note, format!("{}{note}", " ".repeat(GAP)));
            self.beside.push(Beside { span, note: note.to_owned(), taken, last });
            return self.text.line_end();
        }
        self.text.line_end();
        let room = self.view.width.saturating_sub(indent).max(GAP);
        let lines = if self.view.full { vec![note.to_owned()] } else { note_lines(note, room) };
        for line in lines {
            self.line(Role::Note, format!("{}{line}", " ".repeat(indent)));
        }
    }

    /// Puts the notes of the last lines into columns: lines in a row share one as long as it is near to all of them.
    pub fn align(&mut self) {
        let notes = std::mem::take(&mut self.beside);
        let mut rest = notes.as_slice();
        while !rest.is_empty() {
            let mut first = 0;
            let mut last = usize::MAX;
            let mut count = 0;
            for note in rest {
                let nearest = first.max(note.taken.saturating_add(GAP));
                let furthest = last.min(note.taken.saturating_add(NEAR)).min(note.last);
                if nearest > furthest && count > 0 {
                    break;
                }
                (first, last, count) = (nearest, furthest, count + 1);
            }
            let (run, others) = rest.split_at(count);
            for Beside { span, note, taken, .. } in run {
                self.text.replace(*span, format!("{}{note}", " ".repeat(first.saturating_sub(*taken))));
            }
            rest = others;
        }
    }

    /// Appends a line with a location at its right edge, or below it if there is no room.
    pub fn row_to_edge(&mut self, left: Styled, place: &str, indent: usize) {
        let taken = left.width();
        let wanted = width(place);
        self.text.append(left);
        let at = self.view.width.saturating_sub(wanted);
        if wanted == 0 {
            return self.text.line_end();
        }
        if taken.saturating_add(GAP) <= at {
            self.text.push(Role::Note, format!("{}{place}", " ".repeat(at.saturating_sub(taken))));
        } else {
            self.text.line_end();
            let room = self.view.width.saturating_sub(indent).max(GAP);
            let place = if self.view.full { place.to_owned() } else { place_within(place, room) };
            self.text.push(Role::Note, format!("{}{place}", " ".repeat(indent)));
        }
        self.text.line_end();
    }

    /// Appends a line with the locations of objects at its right edge or below it: as many as fit there.
    pub fn row_with_places(&mut self, left: Styled, objects: &[&ObjectReport], indent: usize) {
        let place = |source: &Source| Some(self.view.file_and_line(source));
        let within =
            |room: usize| (1..=PLACES).rev().map(|most| places(objects, most, place)).find(|it| width(it) <= room);
        let beside = self.view.width.saturating_sub(left.width()).saturating_sub(GAP);
        let found = within(beside).or_else(|| within(self.view.width.saturating_sub(indent)));
        self.row_to_edge(left, &found.unwrap_or_else(|| places(objects, 1, place)), indent);
    }
}

/// The end of a text that is too long: the end is the most specific part of a path.
pub(super) fn ended(text: &str, columns: usize) -> String {
    format!("…{}", end_within(text, columns.saturating_sub(1)))
}

/// Two lines, one below the other.
pub(super) fn pair(sheet: &mut Sheet<'_>, contrast: &Contrast, indent: usize) {
    let (remove, add) = emphasis(contrast);
    let room = sheet.view.width.saturating_sub(indent).saturating_sub(GAP);
    let (live, desired) = if sheet.view.full { contrast.whole() } else { contrast.within(room) };
    for (sign, side, role, emphasis) in [('-', live, Role::Remove, remove), ('+', desired, Role::Add, add)] {
        sheet.text.push(role, format!("{}{sign} ", " ".repeat(indent)));
        side.show(&mut sheet.text, role, emphasis);
        sheet.text.line_end();
    }
}

/// The roles of the differing text on both sides: for whole lines, or word by word.
pub(super) fn emphasis(contrast: &Contrast) -> (Role, Role) {
    if contrast.is_whole() { (Role::Remove, Role::Add) } else { (Role::RemoveWord, Role::AddWord) }
}

/// Appends lines with their signs, as many as a field may have.
pub(super) fn put_lines(sheet: &mut Sheet<'_>, groups: &[Vec<Line<'_>>], indent: usize, equal: Option<Role>) {
    let all: usize = groups.iter().map(Vec::len).sum();
    let mut left = if all > sheet.most() { sheet.most() } else { all };
    let most = left;
    for (index, group) in groups.iter().enumerate() {
        if index > 0 && left > 0 {
            sheet.line(Role::Note, format!("{}…", " ".repeat(indent)));
        }
        put_group(sheet, group, left, indent, equal.unwrap_or(Role::Note));
        left = left.saturating_sub(group.len());
    }
    more(sheet, all.saturating_sub(most), "line", indent);
}

/// Appends the first `most` lines of a group.
fn put_group(sheet: &mut Sheet<'_>, lines: &[Line<'_>], mut most: usize, indent: usize, equal: Role) {
    let room = sheet.view.width.saturating_sub(indent).saturating_sub(GAP).max(20);
    let columns = (!sheet.view.full).then_some(room);
    for run in lines.chunk_by(|(a, _), (b, _)| (*a == ChangeTag::Equal) == (*b == ChangeTag::Equal)) {
        let shown = match run {
            [(ChangeTag::Equal, _), ..] => {
                run.iter().take(most).map(|(tag, line)| (*tag, line_pairs::alone(line, columns))).collect()
            }
            _ => line_pairs::shown(&first(run, most), columns),
        };
        for (tag, line) in shown.iter().take(most) {
            put_line(sheet, *tag, line, indent, equal);
        }
        most = most.saturating_sub(run.len());
    }
}

/// The first removed and the first added lines, as many of each as there is room for.
fn first<'t>(run: &[Line<'t>], most: usize) -> Vec<Line<'t>> {
    let tagged = |wanted: ChangeTag| run.iter().filter(move |(tag, _)| *tag == wanted).take(most);
    tagged(ChangeTag::Delete).chain(tagged(ChangeTag::Insert)).cloned().collect()
}

fn put_line(sheet: &mut Sheet<'_>, tag: ChangeTag, line: &DiffedText, indent: usize, equal: Role) {
    let margin = " ".repeat(indent);
    let (sign, role, emphasis) = match tag {
        ChangeTag::Delete => ('-', Role::Remove, Role::RemoveWord),
        ChangeTag::Insert => ('+', Role::Add, Role::AddWord),
        ChangeTag::Equal => return sheet.line(equal, format!("{margin}  {}", line.text()).trim_end()),
    };
    sheet.text.push(role, format!("{margin}{sign} "));
    line.show(&mut sheet.text, role, emphasis);
    sheet.text.line_end();
}

/// `… 212 more lines: --full`
pub(super) fn more(sheet: &mut Sheet<'_>, more: usize, noun: &str, indent: usize) {
    if let Some(more) = number::more(more, noun) {
        sheet.line(Role::Note, format!("{}{more}", " ".repeat(indent)));
    }
}
