//! The way in which a change is shown: one decision for all formats that are for people.

use reconcile_core::compare::FieldChange;
use reconcile_core::text::one_line;
use serde_json::Value;
use similar::ChangeTag;
use structured_merge::{FieldPath, Op};

use super::cut::alone;
use super::line_diff::{Line, differing, groups};
use super::number::grouped;
use super::structured::{self, Parts};
use super::word_diff::Contrast;
use super::{inline, stays};
use crate::words::grants::GrantChanges;

/// Longest value on a line next to another one and alone, in columns, and longest path, in characters.
const VALUE: usize = 200;
const ALONE: usize = 1_000;
const PATH: usize = 200;

/// Two values that differ, as people read them.
pub(crate) enum Meaning {
    /// Only the layout of a text in this format differs.
    Layout(&'static str),
    /// Rules that grant permissions.
    Grants(GrantChanges),
    /// The values have parts, and some of them differ.
    Parts(Parts),
    /// Texts of several lines, of which at least one has more than one.
    Lines,
    /// Anything else: values on one line.
    Values,
}

impl Meaning {
    /// Decides for two different values; `path` ends with their own name.
    pub fn of(path: &FieldPath, live: &Value, desired: &Value) -> Self {
        if let Some(grants) = GrantChanges::of(path, Some(live), Some(desired)) {
            return Self::Grants(grants);
        }
        match structured::parts(&path.to_string(), live, desired) {
            Some(Parts { what: Some(what), changes }) if changes.is_empty() => Self::Layout(what),
            Some(parts) => Self::Parts(parts),
            None if live.is_string() && desired.is_string() && (has_lines(live) || has_lines(desired)) => Self::Lines,
            None => Self::Values,
        }
    }

    /// The meaning of a change of a value to another one, and of rules that are added or removed; `None` for other changes.
    pub fn of_change(change: &FieldChange) -> Option<(Self, &Value, &Value)> {
        let live = change.live.as_deref();
        let desired = change.desired.as_deref();
        if stays(change) || live == desired {
            return None;
        }
        if let (Some(live), Some(desired)) = (live, desired) {
            return Some((Self::of(&change.path, live, desired), live, desired));
        }
        let grants = GrantChanges::of(&change.path, live, desired)?;
        Some((Self::Grants(grants), live.unwrap_or(&Value::Null), desired.unwrap_or(&Value::Null)))
    }
}

/// `only the layout of the JSON differs`
pub(crate) fn layout(what: &str) -> String {
    format!("only the layout of the {what} differs")
}

/// The name of the structure of both values, and the differences in it, as lines without context; `None` if the values are shown
/// themselves. If everything is shown, rules are.
pub(crate) fn lines(change: &FieldChange, is_full: bool) -> Option<(String, Vec<Line<'static>>)> {
    let (meaning, ..) = Meaning::of_change(change)?;
    match meaning {
        Meaning::Grants(_) if is_full => None,
        Meaning::Grants(grants) => {
            let tag = |sign: char| if sign == '+' { ChangeTag::Insert } else { ChangeTag::Delete };
            let lines = grants.lines().map(|(sign, line)| (tag(sign), line.to_owned().into()));
            Some((grants.heading().to_owned(), lines.collect()))
        }
        Meaning::Layout(what) => Some((layout(what), Vec::new())),
        Meaning::Parts(parts) => {
            let lines = parts.changes.iter().flat_map(part).collect();
            Some((parts.what.unwrap_or_default().to_owned(), lines))
        }
        Meaning::Lines | Meaning::Values => None,
    }
}

/// A difference inside of a value as lines.
fn part(change: &FieldChange) -> Vec<Line<'static>> {
    let path = one_line(&change.path.to_string(), PATH);
    let signed = |tag: ChangeTag, text: String| -> Line<'static> { (tag, format!("{path}: {text}").into()) };
    match (Meaning::of_change(change), &change.live, &change.desired) {
        _ if change.op == Op::Move => vec![(ChangeTag::Insert, format!("{path}: another order").into())],
        (Some((Meaning::Lines, live, desired)), _, _) => {
            let old = live.as_str().unwrap_or_default();
            let new = desired.as_str().unwrap_or_default();
            let inner = groups(old, new).into_iter().flatten();
            let inner = inner.map(|(tag, text)| (tag, format!("  {text}").into()));
            std::iter::once((ChangeTag::Equal, format!("{path}:").into())).chain(inner).collect()
        }
        (_, Some(live), Some(desired)) => {
            let (live, desired) = Contrast::of_values(live, desired).within(VALUE);
            vec![signed(ChangeTag::Delete, live.text()), signed(ChangeTag::Insert, desired.text())]
        }
        (_, Some(live), None) => vec![signed(ChangeTag::Delete, alone(&inline(live), ALONE))],
        (_, None, Some(desired)) => vec![signed(ChangeTag::Insert, alone(&inline(desired), ALONE))],
        (_, None, None) => Vec::new(),
    }
}

/// `line 7: …timeout 90s → …timeout 30s`, and the number of lines that differ if there are more.
pub(crate) fn first_line(old: &str, new: &str, columns: usize) -> String {
    let groups = groups(old, new);
    let is_same = |(old, new): &(&str, &str)| old == new;
    let before = old.split_inclusive('\n').zip(new.split_inclusive('\n')).take_while(is_same).count();
    let number = grouped(before.saturating_add(1));
    let first: Vec<&Line<'_>> = groups
        .iter()
        .flatten()
        .skip_while(|(tag, _)| *tag == ChangeTag::Equal)
        .take_while(|(tag, _)| *tag != ChangeTag::Equal)
        .collect();
    let find = |tag: ChangeTag| first.iter().find(|(other, _)| *other == tag).map(|(_, text)| text.trim_start());
    let shown = match (find(ChangeTag::Delete), find(ChangeTag::Insert)) {
        (Some(old), Some(new)) if old != new => {
            let (old, new) = Contrast::of(old, new).within(columns);
            format!("{} → {}", old.text(), new.text())
        }
        (Some(_), Some(_)) => "another indentation".to_owned(),
        (Some(old), None) => format!("- {}", one_line(old, columns)),
        (_, new) => format!("+ {}", one_line(new.unwrap_or_default(), columns)),
    };
    match differing(&groups) {
        0 | 1 => format!("line {number}: {shown}"),
        more => format!("line {number}: {shown}; {} lines differ", grouped(more)),
    }
}

fn has_lines(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim_end_matches('\n').contains('\n'))
}
