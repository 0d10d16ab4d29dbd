//! Lines with their signs, and pairs of lines in which words are emphasised.

use reconcile_core::text::middle_cut;
use similar::ChangeTag;

use super::sheet::{GAP, Sheet};
use crate::Role;
use crate::words::line_diff::Line;
use crate::words::number::grouped;
use crate::words::word_diff::Contrast;

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
        let shown = group.get(..left).unwrap_or(group);
        left = left.saturating_sub(shown.len());
        put_group(sheet, shown, indent, equal.unwrap_or(Role::Note));
    }
    more(sheet, all.saturating_sub(most), "line", indent);
}

fn put_group(sheet: &mut Sheet<'_>, mut lines: &[Line<'_>], indent: usize, equal: Role) {
    let mut last = ChangeTag::Equal;
    loop {
        lines = match lines {
            [] => return,
            // One line became another one: the words that differ are emphasised.
            [(ChangeTag::Delete, old), (ChangeTag::Insert, new), rest @ ..]
                if last == ChangeTag::Equal && !matches!(rest, [(ChangeTag::Insert, _), ..]) =>
            {
                pair(sheet, &Contrast::of(old, new), indent);
                rest
            }
            [(tag, content), rest @ ..] => {
                put_line(sheet, *tag, content, indent, equal);
                last = *tag;
                rest
            }
        };
    }
}

fn put_line(sheet: &mut Sheet<'_>, tag: ChangeTag, content: &str, indent: usize, equal: Role) {
    let (role, sign) = match tag {
        ChangeTag::Delete => (Role::Remove, '-'),
        ChangeTag::Insert => (Role::Add, '+'),
        ChangeTag::Equal => (equal, ' '),
    };
    let room = sheet.view.width.saturating_sub(indent).saturating_sub(GAP).max(20);
    let content = if sheet.view.full { content.to_owned() } else { middle_cut(content, room) };
    let line = format!("{}{sign} {content}", " ".repeat(indent));
    sheet.line(role, if sign == ' ' { line.trim_end() } else { &line });
}

/// `… 212 more lines: --full`
pub(super) fn more(sheet: &mut Sheet<'_>, more: usize, noun: &str, indent: usize) {
    if more > 0 {
        let plural = if more == 1 { "" } else { "s" };
        let margin = " ".repeat(indent);
        sheet.line(Role::Note, format!("{margin}… {} more {noun}{plural}: --full", grouped(more)));
    }
}
