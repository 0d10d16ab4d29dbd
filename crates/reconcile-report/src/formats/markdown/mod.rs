//! `-o markdown`: a comment for a pull request, or the summary of a job. A table of all objects that are not in sync or have
//! remarks, and the differences of each, folded. What several objects have in common is shown once.

mod comment;
mod details;

use std::borrow::Cow;
use std::fmt::Write as _;

use reconcile_core::compare::{Action, FieldChange};
use reconcile_core::text::{one_line, visible};

use crate::groups::{self, Entry, Shows};
use crate::model::{Command, ContextReport, Level, ObjectReport, Reports};
use crate::view::View;
use crate::words::findings::{EFFECT, Finding, IGNORED, WARNING, of_object, of_run, own_location};
use crate::words::parts::{EVERYTHING_ELSE, Part, has_parts, is_divided, split};
use crate::words::sentence::location::{self, places};
use crate::words::summary::{self, verdict_of, verdict_of_all};
use crate::words::value::number::counted_objects;
use crate::words::{describe, label};
use comment::{Comment, code, in_cell, sentence};
use details::details;

/// Longest finding that is not a change, in characters.
const CELL: usize = 100;
/// Most locations of a group that are named.
const PLACES: usize = 3;

/// The comment.
pub fn render(reports: &Reports, view: &View) -> String {
    let contexts = &reports.contexts;
    let result = verdict_of_all(reports).sentence;
    let mut comment = Comment::default();
    let title = format!("### kubectl reconcile {}: {result}\n", describe::command(reports.command));
    comment.push(&title);
    comment.push(&identity(reports));
    for warning in &reports.warnings {
        comment.push(&format!("\n- {}\n", code(&describe::message(warning))));
    }
    let several = reports.only().is_none();
    let parts: Vec<Vec<PartOfReport<'_>>> = contexts.iter().map(|one| parts_of(one, view)).collect();
    let entries: Vec<Vec<(Option<Part>, Vec<Entry<'_>>)>> = contexts
        .iter()
        .zip(&parts)
        .map(|(one, parts)| parts.iter().map(|(part, objects)| (*part, entries(one, objects, view))).collect())
        .collect();
    let heads: Vec<Vec<String>> = contexts.iter().map(|one| head(one, several, view)).collect();
    // The tables of the first contexts leave room for the results of all.
    for lines in &heads {
        comment.keep_room(lines);
    }
    for ((one, entries), lines) in contexts.iter().zip(&entries).zip(&heads) {
        comment.push_kept(lines);
        tables(&mut comment, one, entries, view);
    }
    for (one, parts) in contexts.iter().zip(&entries).filter(|_| !view.summary) {
        for (part, entries) in parts.iter().filter(|(_, entries)| !entries.is_empty()) {
            heading(&mut comment, *part, parts);
            details(&mut comment, one, entries, view);
        }
    }
    comment.end()
}

/// The line that says which cluster was looked at, and when. Several contexts have headings of their own.
fn identity(reports: &Reports) -> String {
    let cluster = reports.only().and_then(|report| report.cluster.as_ref());
    let cluster = cluster.map(|info| summary::cluster(info, |name| code(&visible(name))));
    let parts: Vec<String> = cluster.into_iter().chain(reports.time.map(|time| time.to_string())).collect();
    if parts.is_empty() { String::new() } else { format!("\n{}\n", parts.join(", ")) }
}

/// The name of a context if there are several, its result, and the errors of its run.
fn head(one: &ContextReport, several: bool, view: &View) -> Vec<String> {
    let report = &one.report;
    let mut lines = Vec::new();
    if several {
        lines.push(format!("\n#### {}\n", code(&visible(one.name()))));
        lines.extend(report.cluster.as_ref().map(|info| format!("\nserver {}\n", code(&visible(&info.server)))));
    }
    let (result, remarks) = summary::result(report, view);
    if one.context.is_some() || result != [verdict_of(report).sentence] {
        lines.extend(result.iter().map(|line| format!("\n{}\n", sentence(line))));
    }
    lines.extend(remarks.iter().map(|remark| format!("\n- {}\n", code(&describe::message(remark)))));
    // The lines above say what is left alone.
    for found in of_run(one).iter().filter(|found| found.rule != IGNORED || report.command == Command::Status) {
        let level = if found.level == Level::Error { "**error:** " } else { "" };
        lines.push(format!("\n- {level}{}{}\n", code(&found.message), placed(found, view)));
    }
    lines
}

/// The line above one of these parts; none if it is the only one, without a name.
fn heading(comment: &mut Comment, part: Option<Part>, parts: &[(Option<Part>, Vec<Entry<'_>>)]) {
    if part.is_some() || parts.len() > 1 {
        comment.push(&format!("\n**{}**\n", part.map_or(EVERYTHING_ELSE, Part::heading)));
    }
}

/// The tables of a context.
fn tables(comment: &mut Comment, one: &ContextReport, parts: &[(Option<Part>, Vec<Entry<'_>>)], view: &View) {
    for (part, entries) in parts.iter().filter(|(_, entries)| !entries.is_empty()) {
        // What a change leaves alone is folded.
        let is_folded = *part == Some(Part::Drifted) && comment.begin_fold(Part::Drifted.heading());
        if *part != Some(Part::Drifted) {
            heading(comment, *part, parts);
        }
        table(comment, one, entries, view);
        if is_folded {
            comment.end_fold();
        }
    }
}

/// The objects that are not in sync or have remarks, in groups of those that have something in common.
fn entries<'r>(one: &ContextReport, objects: &'r [Cow<'r, ObjectReport>], view: &View) -> Vec<Entry<'r>> {
    let objects: Vec<&ObjectReport> = objects.iter().map(AsRef::as_ref).collect();
    groups::entries(&objects, view.sort, &InMarkdown { command: one.report.command })
}

/// The objects of a part of a report.
type PartOfReport<'r> = (Option<Part>, Vec<Cow<'r, ObjectReport>>);

/// The parts of a report; one without a name if nothing divides it.
fn parts_of<'r>(one: &'r ContextReport, view: &View) -> Vec<PartOfReport<'r>> {
    let is_shown = |object: &&ObjectReport| {
        object.diff.action != Action::None || of_object(None, object, one.report.command).next().is_some()
    };
    let objects: Vec<&ObjectReport> = view.sorted(&one.report).into_iter().filter(is_shown).collect();
    let parts = if has_parts(&one.report) { split(&objects) } else { Vec::new() };
    if is_divided(parts.iter().map(|(part, _)| *part)) {
        let owned = |objects: Vec<ObjectReport>| objects.into_iter().map(Cow::Owned).collect();
        return parts.into_iter().map(|(part, objects)| (part, owned(objects))).collect();
    }
    vec![(None, objects.into_iter().map(Cow::Borrowed).collect())]
}

/// The parts of objects that a comment shows.
struct InMarkdown {
    command: Command,
}

impl Shows for InMarkdown {
    fn change(&self, change: &FieldChange) -> bool {
        !change.path.elements().is_empty()
    }

    fn more(&self, object: &ObjectReport) -> bool {
        let is_other = |found: Finding<'_>| !found.is_change && found.rule != WARNING;
        object.diff.changes.iter().any(|change| !self.change(change))
            || of_object(None, object, self.command).any(is_other)
    }
}

fn placed(found: &Finding<'_>, view: &View) -> String {
    let Some(location) = &found.location else { return String::new() };
    let mut place = visible(view.file(location.file)).into_owned();
    for number in [location.line, location.column].into_iter().flatten() {
        let _ = write!(place, ":{number}");
    }
    format!(" at {}", code(&place))
}

/// Writes the table.
fn table(comment: &mut Comment, one: &ContextReport, entries: &[Entry<'_>], view: &View) {
    comment.push("\n| | object | state | findings | location |\n| --- | --- | --- | --- | --- |\n");
    let command = one.report.command;
    for entry in entries {
        match entry {
            Entry::Changes(group) => {
                let found = in_brief(&group.common, command);
                comment.add(
                    &row(&group.common, &group_name(&group.objects), &found, &locations(&group.objects, view)),
                    GROUP,
                );
            }
            Entry::Messages(messages, objects) => {
                let (sentences, _) = messages.sentences(objects, false);
                let found = sentences.first().map(|first| in_cell(&one_line(first, CELL))).unwrap_or_default();
                let Some(first) = objects.first() else { continue };
                comment.add(&row(first, &group_name(objects), &found, &locations(objects, view)), GROUP);
            }
            Entry::Object(object, rest) => {
                let found = in_brief(rest.as_deref().unwrap_or(object), command);
                comment.add(&row(object, &object.key.to_string(), &found, &locations(&[object], view)), "object");
            }
            Entry::Grouped(_) => {}
        }
    }
}

/// The name of a row in the count of what is left out.
const GROUP: &str = "group of objects";

fn row(object: &ObjectReport, name: &str, findings: &str, place: &str) -> String {
    let sign = if object.messages.error.is_some() { "!" } else { label::sign(object).0 };
    let place = if place.is_empty() { String::new() } else { in_cell(place) };
    format!("| `{sign}` | {} | {} | {findings} | {place} |\n", in_cell(name), describe::state(object))
}

fn group_name(objects: &[&ObjectReport]) -> String {
    counted_objects(objects.iter().map(|object| &object.key))
}

fn locations(objects: &[&ObjectReport], view: &View) -> String {
    places(objects, PLACES, |source| {
        let at = own_location(source);
        Some((location::path(at.file, view)?, at.line))
    })
}

/// The most important finding of an object in a few words, and the number of the others.
fn in_brief(object: &ObjectReport, command: Command) -> String {
    let found: Vec<_> = of_object(None, object, command).filter(|found| found.rule != EFFECT).collect();
    let conflicts = object.other_conflicts();
    let count = found.len().saturating_add(conflicts.len());
    let first = found.first().map(|first| {
        let is_it =
            |change: &&FieldChange| first.is_change && !first.path.is_empty() && change.path.to_string() == first.path;
        let change = object.diff.changes.iter().find(is_it);
        change.map_or_else(|| one_line(&first.message, CELL), describe::brief)
    });
    let first = first.or_else(|| conflicts.first().map(|conflict| one_line(&describe::conflict(conflict), CELL)));
    match (first, count) {
        (None, _) => String::new(),
        (Some(first), 0 | 1) => in_cell(&first),
        (Some(first), count) => format!("{} and {} more", in_cell(&first), count.saturating_sub(1)),
    }
}

#[cfg(test)]
mod tests {
    use reconcile_core::compare::{Evidence, ObjectDiff};
    use reconcile_core::diagnostic::{Code, Diagnostic};
    use structured_merge::{GroupVersionKind, ObjectKey};

    use super::*;
    use crate::model::{FailOn, Report, Verdict};

    #[test]
    fn each_context_has_its_result_however_long_the_tables_before_it_are() {
        let object = |number: usize| {
            let gvk = GroupVersionKind::new("v1", "ConfigMap");
            let name = format!("{}{number}", "long-".repeat(20));
            let key = ObjectKey { gvk, namespace: None, name };
            ObjectReport::unwanted(&key, ObjectDiff::create(serde_json::json!({}), Evidence::Server))
        };
        let context = |name: &str, report| ContextReport { context: Some(name.to_owned()), server: None, report };
        let full =
            |name| context(name, Report::compared(Command::Diff, (0..400).map(object).collect(), &FailOn::default()));
        let errors = vec![Diagnostic::new(Code::ConnectionLost, "cannot connect")];
        let down = context("c", Report::stopped(Command::Diff, Verdict::Unreachable, errors));
        let reports = Reports::of(Command::Diff, vec![full("a"), full("b"), down], Vec::new());
        let comment = render(&reports, &View::default());
        assert!(comment.contains("left out") && comment.chars().count() <= 65_536, "{comment}");
        for line in ["#### `a`", "#### `b`", "#### `c`", "cannot connect"] {
            assert!(comment.contains(line), "{line}: {comment}");
        }
    }
}
