//! The differences of each object, folded. What several objects have in common comes once.

use reconcile_core::compare::{FieldChange, masked, secret_number, without_server_fields};
use reconcile_core::text::{one_line, visible, visible_line, yaml};
use serde_json::Value;
use similar::ChangeTag;

use super::comment::{Comment, code, html, longest_run};
use crate::formats::text::definition_summary;
use crate::groups::Entry;
use crate::model::{Command, ContextReport, ObjectReport};
use crate::view::View;
use crate::words::conflict::conflict_hint;
use crate::words::findings::{self, of_object};
use crate::words::value::certificate::{self, summarised};
use crate::words::value::line_diff::{Line, groups};
use crate::words::value::meaning;
use crate::words::value::number::counted_objects;
use crate::words::value::{inline, stays};
use crate::words::{describe, users};

/// The name of a group in the count of what is left out.
const GROUP: &str = "group of objects with its differences";
/// Largest number of objects of a group that are named.
const NAMED: usize = 5;
/// Most lines of one object.
const LINES: usize = 200;
/// Longest value that is one line, in characters.
const SHORT: usize = 200;

/// Writes the differences of a section.
pub(super) fn details(comment: &mut Comment, one: &ContextReport, entries: &[Entry<'_>], view: &View) {
    for entry in entries {
        match entry {
            Entry::Changes(group) => {
                let mut lines = changes_and_conflicts(&group.common, view);
                let hint = conflict_hint(&group.common, group.objects.len());
                lines.extend(hint.iter().map(|hint| format!("! hint: {hint}")));
                comment.add(&group_details(&group.objects, lines, one.context.as_deref(), view), GROUP);
            }
            Entry::Messages(messages, objects) => {
                let (sentences, hint) = messages.sentences(objects, view.full);
                let hint = hint.map(|hint| format!("hint: {hint}"));
                let lines = sentences.iter().chain(&hint).map(|line| format!("! {}", describe::message(line)));
                comment.add(&group_details(objects, lines.collect(), one.context.as_deref(), view), GROUP);
            }
            Entry::Object(object, rest) => {
                let lines = lines(rest.as_deref().unwrap_or(object), one.report.command, view);
                let name = findings::name(object, one.context.as_deref());
                let heading = format!("<code>{}</code> {}", html(&name), describe::state(object));
                comment.add(&folded(&heading, &lines, ""), "object with its differences");
            }
            Entry::Grouped(_) => {}
        }
    }
}

/// Lines of a diff below a heading that opens them.
fn folded(heading: &str, lines: &[String], end: &str) -> String {
    let fence = "`".repeat(longest_run(lines).max(2).saturating_add(1));
    let lines = lines.join("\n");
    format!("\n<details><summary>{heading}</summary>\n\n{fence}diff\n{lines}\n{fence}\n{end}\n</details>\n")
}

/// Lines that several objects have in common, with their names.
fn group_details(objects: &[&ObjectReport], mut lines: Vec<String>, context: Option<&str>, view: &View) -> String {
    let context = context.map(|context| format!(" in {}", visible(context))).unwrap_or_default();
    let count = counted_objects(objects.iter().map(|object| &object.key));
    let all = format!("{}{context}", visible(&count));
    cut(&mut lines, view.full);
    let most = view.most(NAMED);
    let mut names: Vec<String> = objects.iter().take(most).map(|object| code(&describe::name(object))).collect();
    if let Some(more @ 1..) = objects.len().checked_sub(most) {
        names.push(format!("… {more} more"));
    }
    let state = objects.first().map(|object| describe::state(object)).unwrap_or_default();
    folded(&format!("<code>{}</code> {state}", html(&all)), &lines, &format!("\n{}\n", names.join(", ")))
}

/// The lines of an object's diff: errors first, with the sign that GitHub colours orange.
fn lines(object: &ObjectReport, command: Command, view: &View) -> Vec<String> {
    let beside = of_object(None, object, command).filter(|one| !one.is_change);
    let mut lines: Vec<String> = beside.map(|one| format!("! {}: {}", one.rule.id, one.message)).collect();
    lines.extend(changes_and_conflicts(object, view));
    cut(&mut lines, view.full);
    lines.extend(conflict_hint(object, 1).map(|hint| visible_line(&format!("! hint: {hint}")).into_owned()));
    lines
}

/// The changes, after the conflicts that no change names. The schemas of a definition are summarised, as in the text.
fn changes_and_conflicts(object: &ObjectReport, view: &View) -> Vec<String> {
    let conflicts = object.other_conflicts();
    let conflicts = conflicts.iter().map(|conflict| format!("! conflict: {}", describe::conflict(conflict)));
    let (definition, changes) = if view.full || !object.key.gvk.is_crd() {
        (Vec::new(), object.diff.changes.iter().collect())
    } else {
        definition_summary(object, view)
    };
    let changes = changes.into_iter().flat_map(|change| signed_change(change, view.full));
    conflicts.chain(definition).chain(changes).collect()
}

/// Makes everything in the lines visible, and leaves out those that are too many.
fn cut(lines: &mut Vec<String>, full: bool) {
    for line in lines.iter_mut() {
        *line = visible_line(line).into_owned();
    }
    if let Some(more @ 1..) = lines.len().checked_sub(LINES).filter(|_| !full) {
        lines.truncate(LINES);
        lines.push(format!("# … {more} more lines"));
    }
}

/// The lines of a change, each with everything visible: removed lines, added lines, and lines around them.
fn signed_change(change: &FieldChange, is_full: bool) -> Vec<String> {
    let live = change.live.as_deref();
    let desired = change.desired.as_deref();
    if change.path.elements().is_empty() {
        let signed = |sign: char, value: &Value| signed_lines(sign, &yaml(&masked(&summarised(value))));
        return match (live, desired) {
            (None, Some(desired)) => {
                let removed = users::removed(change, ToOwned::to_owned);
                let removed = removed.map(|removed| format!("# {}", one_line(&removed, SHORT)));
                removed.into_iter().chain(signed('+', desired)).collect()
            }
            (Some(live), None) => signed('-', &without_server_fields(live)),
            _ => vec![format!("# {}", describe::change(change))],
        };
    }
    let why = describe::why_on_line(change);
    let mut lines = vec![format!("@@ {} @@ {why}", one_line(&change.path.to_string(), SHORT)).trim_end().to_owned()];
    if change.is_following() {
        return lines;
    }
    if stays(change) {
        lines.extend(live.map(|live| alone(' ', live)).into_iter().flatten());
        return lines;
    }
    if let Some((what, inner)) = meaning::lines(change, is_full) {
        if !what.is_empty() {
            lines.push(format!("# {what}"));
        }
        lines.extend(inner.iter().map(signed));
        return lines;
    }
    match (live, desired) {
        (Some(live), None) => lines.extend(alone('-', live)),
        (None, Some(desired)) => lines.extend(alone('+', desired)),
        _ => {
            // Both in one notation: a short list is compared with the lines of a long one.
            let is_long = [live, desired].into_iter().flatten().any(is_long);
            let text = |value: &Value| if is_long { in_lines(value) } else { text(value) };
            let live = live.map(text).unwrap_or_default();
            let desired = desired.map(text).unwrap_or_default();
            for (at, group) in groups(&live, &desired).iter().enumerate() {
                if at > 0 {
                    lines.push("@@ … @@".to_owned());
                }
                lines.extend(group.iter().map(signed));
            }
        }
    }
    lines
}

/// The lines of a value without another one next to it, in which certificates are summarised.
fn alone(sign: char, value: &Value) -> Vec<String> {
    let sentences = certificate::sentences(value);
    signed_lines(sign, &sentences.map_or_else(|| text(&summarised(value)), |sentences| sentences.join("\n")))
}

fn signed((tag, content): &Line<'_>) -> String {
    let sign = match tag {
        ChangeTag::Delete => '-',
        ChangeTag::Insert => '+',
        ChangeTag::Equal => ' ',
    };
    format!("{sign}{}", visible(content))
}

fn signed_lines(sign: char, text: &str) -> Vec<String> {
    text.lines().map(|line| format!("{sign}{}", visible(line))).collect()
}

/// A value as lines: a string as it is, a long collection as YAML, everything else on one line.
fn text(value: &Value) -> String {
    if is_long(value) { in_lines(value) } else { inline(value) }
}

/// Returns true if a value has lines of its own.
fn is_long(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\n'),
        Value::Object(_) | Value::Array(_) => inline(value).chars().count() > SHORT,
        _ => false,
    }
}

fn in_lines(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(_) | Value::Array(_) if secret_number(value).is_none() => yaml(&masked(value)),
        other => inline(other),
    }
}
