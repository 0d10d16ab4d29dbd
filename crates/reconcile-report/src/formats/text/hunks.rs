//! Lines with their signs, in which the words that differ are emphasised.

use similar::ChangeTag;

use super::sheet::{GAP, Sheet};
use crate::words::styled::Role;
use crate::words::value::line_diff::Line;
use crate::words::value::line_pairs;
use crate::words::value::number::grouped;
use crate::words::value::word_diff::{Contrast, DiffedText};

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
    if more > 0 {
        let plural = if more == 1 { "" } else { "s" };
        let margin = " ".repeat(indent);
        sheet.line(Role::Note, format!("{margin}… {} more {noun}{plural}: --full", grouped(more)));
    }
}
