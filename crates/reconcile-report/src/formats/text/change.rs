//! One change: `path: live → desired`, or the lines that differ.

use reconcile_core::compare::FieldChange;
use reconcile_core::manifest::Packed;
use reconcile_core::text::{middle_cut, width};
use serde_json::Value;
use similar::ChangeTag;
use structured_merge::{FieldPath, Op, PathElement, Scalar};

use super::sheet::{GAP, Sheet, emphasis, more, pair, put_lines};
use crate::words::grants::GrantChanges;
use crate::words::sentence::wrapped::wrapped;
use crate::words::styled::{Role, Styled};
use crate::words::value::certificate::{self, summarised};
use crate::words::value::line_diff::{Line, differing, groups};
use crate::words::value::meaning::{self, Meaning};
use crate::words::value::number::{counted, grouped};
use crate::words::value::word_diff::{self, Contrast, DiffedText};
use crate::words::value::{block, cut, inline, inline_in_list, is_long, stays};
use crate::words::why::{former, note};

/// Between a live and a desired value.
const ARROW: &str = " → ";

/// Appends a change; `from` is the length of its path that the line above has already. Returns the changes of the parts of its
/// value, which belong below it, if it has any.
pub(super) fn change(sheet: &mut Sheet<'_>, change: &FieldChange, from: usize, indent: usize) -> Vec<FieldChange> {
    let own = FieldPath::from(change.path.elements().get(from..).unwrap_or_default().to_vec());
    let note = note(change, sheet.view);
    let former = former(change).map(|former| format!(" ({former})")).unwrap_or_default();
    let heading = Heading { path: own.to_string(), own, note, former, indent };
    if let Some((Meaning::Grants(grants), ..)) = Meaning::of_change(change)
        && !sheet.view.full
    {
        put_grants(sheet, &heading, &grants);
        return Vec::new();
    }
    let [live, desired] = [&change.live, &change.desired]
        .map(|value| own_value(&change.path, value.as_ref().map(Packed::to_tree).unwrap_or_default()));
    match change.op {
        _ if stays(change) => single(sheet, &heading, (' ', Role::Plain), &live),
        Op::Remove => single(sheet, &heading, ('-', Role::Remove), &live),
        Op::Add => {
            let (written, defaults) = apart(desired, &change.defaulted);
            single(sheet, &heading, ('+', Role::Add), &written);
            defaults_of(sheet, &defaults, heading.inner());
        }
        _ => return changed(sheet, &heading, &live, &desired),
    }
    Vec::new()
}

/// An added value without the defaults of the server, and those defaults, field by field.
fn apart(mut value: Value, defaulted: &[FieldPath]) -> (Value, Vec<String>) {
    let mut defaults = Vec::new();
    for path in defaulted {
        let Some((PathElement::Field(name), parents)) = path.elements().split_last() else { continue };
        let parent = parents.iter().try_fold(&mut value, |value, element| match element {
            PathElement::Field(name) => value.get_mut(name),
            PathElement::Index(at) => value.get_mut(usize::try_from(*at).ok()?),
            _ => None,
        });
        if let Some(default) = parent.and_then(Value::as_object_mut).and_then(|fields| fields.remove(name)) {
            defaults.push(format!("{path}: {}", inline_in_list(&default)));
        }
    }
    (value, defaults)
}

/// Appends the defaults that the server adds to an added value.
fn defaults_of(sheet: &mut Sheet<'_>, defaults: &[String], indent: usize) {
    if !defaults.is_empty() {
        let line = format!("{}and by default {}", " ".repeat(indent), defaults.join(", "));
        let line = if sheet.view.full { line } else { middle_cut(&line, sheet.view.width) };
        sheet.line(Role::Note, line);
    }
}

/// The path and the note of a change, and their indentation.
struct Heading {
    path: String,
    own: FieldPath,
    note: String,
    /// The value that was applied last, for the end of the line.
    former: String,
    indent: usize,
}

impl Heading {
    /// The indentation of the lines below it.
    fn inner(&self) -> usize {
        self.indent + GAP
    }

    /// The path with a sign before it, which is outside of the indentation.
    fn head(&self, (sign, role): (char, Role)) -> Styled {
        let margin = " ".repeat(self.indent.saturating_sub(GAP));
        Styled::new().with(role, format!("{margin}{sign} ")).with(Role::Plain, self.path.clone())
    }
}

/// A value without the parts that its path has already: the keys of a list item, the member of a set.
fn own_value(path: &FieldPath, mut value: Value) -> Value {
    match path.elements().last() {
        Some(PathElement::Key(keys)) => {
            if let Some(fields) = value.as_object_mut() {
                for (name, key) in keys {
                    if fields.get(name).is_some_and(|value| Scalar::from_json(value) == *key) {
                        fields.remove(name);
                    }
                }
                if fields.is_empty() {
                    return Value::Null;
                }
            }
            value
        }
        Some(PathElement::Member(member)) if Scalar::from_json(&value) == *member => Value::Null,
        _ => value,
    }
}

/// Returns true if a value adds nothing to its path.
fn is_said(path: &str, value: &Value) -> bool {
    value.is_null() && path.ends_with(']')
}

/// Appends a value that is added, removed or kept.
fn single(sheet: &mut Sheet<'_>, heading: &Heading, sign: (char, Role), value: &Value) {
    let mut left = heading.head(sign);
    if let Some(sentences) = certificate::sentences(value) {
        left.push(Role::Note, " (certificate)");
        sheet.row(left, &heading.note, heading.inner());
        for sentence in sentences {
            sheet.line(sign.1, format!("{}{sentence}", " ".repeat(heading.inner())));
        }
        return;
    }
    if is_said(&heading.path, value) {
        return sheet.row(left, &heading.note, heading.inner());
    }
    let value = &summarised(value);
    let is_lines = match value {
        Value::String(text) => text.trim_end_matches('\n').contains('\n'),
        _ => is_long(value),
    };
    if !is_lines {
        left.push(Role::Plain, ": ");
        let room = sheet.view.width.saturating_sub(left.width()).max(20);
        let shown = inline(value);
        left.push(sign.1, if sheet.view.full { shown } else { cut::alone(&shown, room) });
        return sheet.row(left, &heading.note, heading.inner());
    }
    left.push(Role::Plain, ":");
    sheet.row(left, &heading.note, heading.inner());
    let text = block(value);
    let tag = match sign.0 {
        '+' => ChangeTag::Insert,
        '-' => ChangeTag::Delete,
        _ => ChangeTag::Equal,
    };
    let lines: Vec<Line<'_>> = text.lines().map(|line| (tag, line.into())).collect();
    let role = (tag == ChangeTag::Equal).then_some(Role::Plain);
    put_lines(sheet, &[lines], heading.inner(), role);
}

fn changed(sheet: &mut Sheet<'_>, heading: &Heading, live: &Value, desired: &Value) -> Vec<FieldChange> {
    let mut left = heading.head((' ', Role::Plain));
    match Meaning::of(&heading.own, live, desired) {
        Meaning::Layout(what) => {
            left.push(Role::Note, format!(" ({})", meaning::layout(what)));
            sheet.row(left, &heading.note, heading.inner());
            return Vec::new();
        }
        Meaning::Parts(parts) => {
            if let Some(what) = parts.what {
                left.push(Role::Note, format!(" ({what})"));
            }
            sheet.row(left, &heading.note, heading.inner());
            return parts.changes;
        }
        Meaning::Grants(_) | Meaning::Lines | Meaning::Values => {}
    }
    let is_lines = |value: &Value| match value {
        Value::String(text) => text.contains('\n'),
        _ => is_long(value),
    };
    if is_lines(live) || is_lines(desired) {
        in_lines(sheet, heading, live, desired);
    } else {
        on_line(sheet, heading, live, desired);
    }
    Vec::new()
}

/// Appends what rules grant now and before. Nothing of a grant is left out: one that does not fit on a line has several.
fn put_grants(sheet: &mut Sheet<'_>, heading: &Heading, grants: &GrantChanges) {
    let left = heading.head((' ', Role::Plain)).with(Role::Note, format!(" ({})", grants.heading()));
    let indent = heading.inner();
    sheet.row(left, &heading.note, indent);
    let room = sheet.view.width.saturating_sub(indent).saturating_sub(GAP).saturating_sub(GAP);
    let all: Vec<(char, Vec<String>)> = grants.lines().map(|(sign, line)| (sign, wrapped(line, room))).collect();
    let margin = " ".repeat(indent);
    let most = sheet.most();
    let mut shown = 0_usize;
    for (sign, lines) in &all {
        if shown > 0 && shown.saturating_add(lines.len()) > most {
            break;
        }
        let role = if *sign == '+' { Role::Add } else { Role::Remove };
        for (at, line) in lines.iter().enumerate().take(most) {
            let start = if at == 0 { format!("{sign} ") } else { " ".repeat(GAP + GAP) };
            sheet.line(role, format!("{margin}{start}{line}"));
            shown = shown.saturating_add(1);
        }
    }
    let lines: usize = all.iter().map(|(_, lines)| lines.len()).sum();
    more(sheet, lines.saturating_sub(shown), "line", indent);
}

/// `path: live → desired`, or one below the other if they do not fit on a line.
fn on_line(sheet: &mut Sheet<'_>, heading: &Heading, live: &Value, desired: &Value) {
    let contrast = Contrast::of_values(live, desired);
    let mut left = heading.head((' ', Role::Plain));
    let (remove, add) = emphasis(&contrast);
    let room = sheet.view.width.saturating_sub(left.width()).saturating_sub(GAP).saturating_sub(width(&heading.former));
    let note = if heading.note.is_empty() { 0 } else { width(&heading.note).saturating_add(GAP) };
    let beside = room.saturating_sub(note);
    if let Some((live, desired)) = fitting(&contrast, room, beside, sheet.view.full) {
        left.push(Role::Plain, ": ");
        live.show(&mut left, Role::Remove, remove);
        left.push(Role::Plain, ARROW);
        desired.show(&mut left, Role::Add, add);
        left.push(Role::Note, heading.former.clone());
        return sheet.row(left, &heading.note, heading.inner());
    }
    left.push(Role::Note, heading.former.clone());
    sheet.row(left, &heading.note, heading.inner());
    pair(sheet, &contrast, heading.inner());
}

/// Both sides as they fit on the line: as complete as possible, but shortened rather than placed above the note.
fn fitting(contrast: &Contrast, room: usize, beside: usize, full: bool) -> Option<(DiffedText, DiffedText)> {
    let Contrast { live, desired, .. } = contrast;
    let fits = |live: &DiffedText, desired: &DiffedText, room: usize| {
        [live.width(), width(ARROW), desired.width()].iter().sum::<usize>() <= room
    };
    if fits(live, desired, if full { room } else { beside }) {
        return Some((live.clone(), desired.clone()));
    }
    if full {
        return None;
    }
    // A list or a map keeps its brackets: above the note, or one below the other.
    let is_collection = |side: &DiffedText| side.text().starts_with(['[', '{']);
    if is_collection(live) || is_collection(desired) {
        return fits(live, desired, room).then(|| (live.clone(), desired.clone()));
    }
    let (short_live, short) = contrast.shortened();
    let choices = [(live, &short, beside), (live, desired, room), (live, &short, room), (&short_live, &short, room)];
    let found = choices
        .into_iter()
        .find(|(live, desired, room)| fits(live, desired, *room) && word_diff::are_distinct(live, desired));
    found.map(|(live, desired, _)| (live.clone(), desired.clone()))
}

/// Appends the lines that differ, with the lines around them.
fn in_lines(sheet: &mut Sheet<'_>, heading: &Heading, live: &Value, desired: &Value) {
    let old = block(live);
    let new = block(desired);
    let groups = groups(&old, &new);
    let differing = differing(&groups);
    let all = old.lines().count().max(new.lines().count());
    let mut left = heading.head((' ', Role::Plain));
    let end = match (live, desired) {
        (Value::String(live), Value::String(desired)) => match (live.ends_with('\n'), desired.ends_with('\n')) {
            (true, false) => "; the final line break is removed",
            (false, true) => "; a final line break is added",
            _ => "",
        },
        _ => "",
    };
    let all = counted(all, "line", "lines");
    left.push(Role::Note, format!(" ({} of {all}{end})", grouped(differing)));
    sheet.row(left, &heading.note, heading.inner());
    put_lines(sheet, &groups, heading.inner(), None);
}
