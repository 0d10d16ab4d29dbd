//! `-o markdown`: a comment for a pull request, or the summary of a job. A table of all objects that are not in sync or have
//! remarks, and the differences of each, folded.

mod hunk;

use std::fmt::Write as _;

use reconcile_core::compare::{Action, FieldChange};
use reconcile_core::text::{one_line, visible, visible_line};

use crate::model::equal_changes::name;
use crate::model::equal_diagnostics::Place;
use crate::words::findings::{Finding, IGNORED, of_object, of_run, own_location, worst};
use crate::words::verdict::verdict;
use crate::words::{cluster, describe, label, location, summary};
use crate::{Command, Level, ObjectReport, Section, Sections, View};

/// Longest comment that GitHub takes, in characters.
const LIMIT: usize = 65_536;
/// Space that is reserved for the line that counts the omissions, in characters.
const RESERVE: usize = 200;
/// The name of a group in the count of what is left out.
const GROUP: &str = "group of objects with its differences";
/// Largest number of objects of a group that are named.
const NAMED: usize = 5;
/// Longest finding in the table that is not a change, in characters.
const CELL: usize = 100;
/// Most lines of one object.
const LINES: usize = 200;

/// The comment.
#[must_use]
pub fn render<R: Sections>(report: &R, view: &View) -> String {
    let sections = report.sections();
    let mut comment = Comment::default();
    let title =
        format!("### kubectl reconcile {}: {}\n", describe::command(report.command()), verdict(report).sentence);
    comment.push(&title);
    comment.push(&identity(report));
    for warning in report.general_warnings() {
        comment.push(&format!("\n- {}\n", code(&describe::message(warning))));
    }
    let several = sections.len() != 1 || sections.iter().any(|section| section.context.is_some());
    for section in &sections {
        if several {
            comment.push(&format!("\n#### {}\n", code(&visible(section.context.unwrap_or_default()))));
            let server = section.report.cluster.as_ref().map(|info| code(&visible(&info.server)));
            comment.push(&server.map(|server| format!("\nserver {server}\n")).unwrap_or_default());
        }
        head(&mut comment, section, view);
    }
    for section in sections.iter().filter(|_| !view.summary) {
        section_details(&mut comment, section, view);
    }
    comment.end()
}

/// The line that says which cluster was looked at, and when. Several contexts have headings of their own.
fn identity<R: Sections>(report: &R) -> String {
    let sections = report.sections();
    let cluster =
        sections.iter().filter(|section| section.context.is_none()).find_map(|section| section.report.cluster.as_ref());
    let cluster = cluster.map(|info| cluster::cluster(info, |name| code(&visible(name))));
    let parts: Vec<String> = cluster.into_iter().chain(report.time().map(|time| time.to_string())).collect();
    if parts.is_empty() { String::new() } else { format!("\n{}\n", parts.join(", ")) }
}

/// The result of a cluster, the errors of the run, and the table.
fn head(comment: &mut Comment, section: &Section<'_>, view: &View) {
    let report = section.report;
    let (result, remarks) = summary::result(report, view);
    if section.context.is_some() || result != [verdict(report).sentence] {
        for line in &result {
            comment.push(&format!("\n{}\n", sentence(line)));
        }
    }
    for remark in &remarks {
        comment.push(&format!("\n- {}\n", code(&describe::message(remark))));
    }
    // The lines above say what is left alone.
    for found in of_run(section).iter().filter(|found| found.rule != IGNORED || report.command == Command::Status) {
        let level = if found.level == Level::Error { "**error:** " } else { "" };
        comment.push(&format!("\n- {level}{}{}\n", code(&found.message), placed(found, view)));
    }
    let rows: Vec<(&ObjectReport, Vec<Finding<'_>>)> = shown(section, view).collect();
    if rows.is_empty() {
        return;
    }
    comment.push("\n| | object | state | findings | location |\n| --- | --- | --- | --- | --- |\n");
    for (object, found) in rows {
        let sign = if object.messages.error.is_some() { "!" } else { label::sign(object).0 };
        let place = object.source.as_ref().map(own_location);
        let place = place.and_then(|at| Some((location::path(at.file, view)?, at.line)));
        let line = |line: Option<u32>| line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = place.map(|(file, at)| in_cell(&format!("{file}{}", line(at)))).unwrap_or_default();
        let state = describe::state(object);
        let (name, findings) = (in_cell(&object.key.to_string()), in_brief(object, &found));
        let row = format!("| `{sign}` | {name} | {state} | {findings} | {place} |\n");
        comment.add(&row, "object");
    }
}

/// The most important finding of an object in a few words, and the number of the others.
fn in_brief(object: &ObjectReport, found: &[Finding<'_>]) -> String {
    let Some((first, others)) = found.split_first() else { return String::new() };
    let is_it =
        |change: &&FieldChange| first.is_change && !first.path.is_empty() && change.path.to_string() == first.path;
    let change = object.diff.changes.iter().find(is_it);
    let text = in_cell(&change.map_or_else(|| one_line(&first.message, CELL), describe::brief));
    match others.len() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// The differences of each object. What several objects have in common is shown once.
fn section_details(comment: &mut Comment, section: &Section<'_>, view: &View) {
    let all: Vec<(&ObjectReport, Vec<Finding<'_>>)> = shown(section, view).collect();
    let objects: Vec<&ObjectReport> = all.iter().map(|(object, _)| *object).collect();
    let equal = view.equal_changes(&objects, |_, change| !change.path.elements().is_empty());
    let diagnostics = view.equal_diagnostics(&objects);
    for (at, (object, found)) in all.iter().enumerate() {
        for group in equal.beginning_at(at) {
            let lines = changes_and_conflicts(&group.common, view.full);
            comment.add(&group_details(&group.objects, lines, section.context, view), GROUP);
        }
        match diagnostics.of_position(at) {
            Place::First(diagnostic, objects) => {
                let (sentences, hint) = diagnostic.sentences(objects, view.full);
                let hint = hint.map(|hint| format!("hint: {hint}"));
                let lines = sentences.iter().chain(&hint).map(|line| format!("! {}", describe::message(line)));
                comment.add(&group_details(objects, lines.collect(), section.context, view), GROUP);
                continue;
            }
            Place::Other => continue,
            Place::Alone => {}
        }
        let rest = equal.rest_of(at, object);
        let lines = lines(rest.as_ref().unwrap_or(object), found, view.full);
        // The groups tell everything about it.
        if rest.is_some() && lines.is_empty() {
            continue;
        }
        let context = section.context.map(|context| format!(" in {}", visible(context))).unwrap_or_default();
        let name = format!("{}{context}", describe::name(object));
        let heading = format!("<code>{}</code> {}", html(&name), describe::state(object));
        comment.add(&folded(&heading, &lines, ""), "object with its differences");
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
    let all = format!("{}{context}", visible(&name(objects)));
    cut(&mut lines, view.full);
    let most = if view.full { usize::MAX } else { NAMED };
    let mut names: Vec<String> = objects.iter().take(most).map(|object| code(&describe::name(object))).collect();
    if let Some(more @ 1..) = objects.len().checked_sub(most) {
        names.push(format!("… {more} more"));
    }
    let state = objects.first().map(|object| describe::state(object)).unwrap_or_default();
    folded(&format!("<code>{}</code> {state}", html(&all)), &lines, &format!("\n{}\n", names.join(", ")))
}

/// The objects that are not in sync or have remarks.
fn shown<'r>(section: &Section<'r>, view: &View) -> impl Iterator<Item = (&'r ObjectReport, Vec<Finding<'r>>)> {
    let (context, report) = (section.context, section.report);
    view.sorted(report).into_iter().filter_map(move |object| {
        let found: Vec<Finding<'_>> = of_object(context, object, report.command).collect();
        (worst(&found).is_some() || object.diff.action != Action::None).then_some((object, found))
    })
}

/// The lines of an object's diff: errors first, with the sign that GitHub colours orange.
fn lines(object: &ObjectReport, found: &[Finding<'_>], full: bool) -> Vec<String> {
    let beside = found.iter().filter(|one| !one.is_change);
    let mut lines: Vec<String> = beside.map(|one| format!("! {}: {}", one.rule.id, one.message)).collect();
    lines.extend(changes_and_conflicts(object, full));
    cut(&mut lines, full);
    lines
}

fn changes_and_conflicts(object: &ObjectReport, full: bool) -> Vec<String> {
    let conflicts =
        object.diff.conflicts.iter().map(|conflict| format!("! conflict: {}", describe::conflict(conflict)));
    conflicts.chain(object.diff.changes.iter().flat_map(|change| hunk::lines(change, full))).collect()
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

fn placed(found: &Finding<'_>, view: &View) -> String {
    let Some(location) = &found.location else { return String::new() };
    let mut place = visible(view.file(location.file)).into_owned();
    for number in [location.line, location.column].into_iter().flatten() {
        let _ = write!(place, ":{number}");
    }
    format!(" at {}", code(&place))
}

/// A comment that is never longer than GitHub allows.
#[derive(Default)]
struct Comment {
    text: String,
    length: usize,
    left_out: Vec<(&'static str, usize)>,
}

impl Comment {
    /// Appends a short text.
    fn push(&mut self, text: &str) {
        self.add(text, "line");
    }

    /// Appends a piece, or counts it where there is no room.
    fn add(&mut self, piece: &str, noun: &'static str) {
        let length = piece.chars().count();
        let length = self.length + length;
        if length <= LIMIT.saturating_sub(RESERVE) {
            self.text.push_str(piece);
            self.length = length;
            return;
        }
        match self.left_out.iter_mut().find(|(other, _)| *other == noun) {
            Some((_, count)) => *count += 1,
            None => self.left_out.push((noun, 1)),
        }
    }

    fn end(mut self) -> String {
        if !self.left_out.is_empty() {
            let counts = self.left_out.iter().map(|(noun, count)| match *count {
                1 => format!("1 {noun}"),
                more => format!("{more} {}", plural(noun)),
            });
            let counts: Vec<String> = counts.collect();
            let _ =
                writeln!(self.text, "\n… left out, as a comment has at most 65,536 characters: {}", counts.join(", "));
        }
        self.text
    }
}

fn plural(noun: &str) -> String {
    match noun.split_once(' ') {
        Some((first, rest)) => format!("{first}s {}", rest.replace("its", "their")),
        None => format!("{noun}s"),
    }
}

/// A sentence of the program, which may contain names from outside: nothing in it is Markdown.
fn sentence(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in visible(text).chars() {
        if c.is_ascii_punctuation() && !",;.()-:/".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A code span: nothing in it is Markdown, HTML, a mention or a link.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(std::slice::from_ref(&text)).saturating_add(1));
    let edge = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) || text.is_empty() { " " } else { "" };
    format!("{fence}{edge}{text}{edge}{fence}")
}

/// A code span in a table, where a bar would begin the next cell even in code.
fn in_cell(text: &str) -> String {
    code(&visible(text).replace('|', "\\u{7c}"))
}

/// The longest run of backticks.
fn longest_run<S: AsRef<str>>(texts: &[S]) -> usize {
    let runs = |text: &S| text.as_ref().split(|c| c != '`').map(str::len).max().unwrap_or_default();
    texts.iter().map(runs).max().unwrap_or_default()
}

/// Text between tags.
fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('@', "&#64;")
}
