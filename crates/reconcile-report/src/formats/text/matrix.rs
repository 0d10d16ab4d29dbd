//! The text about several contexts: a section for each, and a matrix of the objects that differ in some of them.

#![expect(clippy::indexing_slicing, reason = "the columns and rows are of the very table")]

use std::collections::{HashMap, HashSet};

use reconcile_core::text::{padded, width};
use structured_merge::ObjectKey;

use super::whole as section;
use crate::model::summary::tally;
use crate::model::{Command, ContextReport, ObjectReport, Report, Reports, Verdict};
use crate::view::View;
use crate::words::label::{Label, label};
use crate::words::sentence::counted;
use crate::words::styled::{Role, Styled};
use crate::words::summary::verdict_of;
use crate::words::value::number;

/// The longest name of a context that heads a column; longer ones are numbered.
const HEAD: usize = 24;
/// Largest number of objects that are shown.
const SHOWN: usize = 100;
/// Between two columns.
const GAP: &str = "  ";

/// Everything at once, with remarks at the beginning of each section.
pub fn whole(reports: &Reports, view: &View, remarks: fn(&Report) -> Styled) -> Styled {
    let mut text = Styled::new();
    let headed = View { is_headed: true, ..view.clone() };
    for one in &reports.contexts {
        text.append(heading(one.name(), one.server.as_deref()));
        let remarks = remarks(&one.report);
        let is_said = !remarks.is_empty() && !one.report.errors.is_empty();
        text.append(remarks);
        if !is_stopped(&one.report) {
            text.append(section(&one.report, &headed));
        } else if !is_said {
            text.append(stopped(one));
        }
        text.line_end();
    }
    text.append(together(reports, view));
    text
}

/// The line above the section of one context.
pub fn heading(context: &str, server: Option<&str>) -> Styled {
    let mut text = Styled::new().with(Role::Note, "# ").with(Role::Name, context);
    if let Some(server) = server {
        text.push(Role::Note, format!(" ({server})"));
    }
    text.line_end();
    text
}

/// The matrix of all contexts that were looked at, the others, and the counts over all.
pub fn together(reports: &Reports, view: &View) -> Styled {
    let reports = &*view.all_shown(reports);
    let looked_at: Vec<&ContextReport> = reports.contexts.iter().filter(|one| !is_stopped(&one.report)).collect();
    let mut text = Styled::new();
    let rows = rows(&looked_at);
    let (alike, different): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.is_quiet(looked_at.len()));
    if !different.is_empty() && !view.summary {
        text.append(matrix(&looked_at, &different, view));
    }
    if !alike.is_empty() && looked_at.len() > 1 && !view.summary {
        let more = if different.is_empty() { "" } else { "more " };
        text.line(Role::Note, quiet_rows(reports, alike.len(), more));
    }
    for one in reports.contexts.iter().filter(|one| is_stopped(&one.report)) {
        text.push(Role::Name, one.name().to_owned());
        text.push(Role::Plain, ": ");
        text.append(stopped(one));
    }
    text.line(Role::Plain, totals(reports));
    text
}

/// `1 more object needs no change in any of these contexts`; `more` stands before the noun.
pub(crate) fn quiet_rows(reports: &Reports, count: usize, more: &str) -> String {
    let has_baseline = reports.contexts.iter().any(|one| one.report.summary.known.is_some());
    let (one, many, state) = match reports.command {
        Command::Status => ("is", "are", "ready in all of"),
        _ if has_baseline => ("has", "have", "no new difference in any of"),
        Command::Diff | Command::Apply | Command::Own => ("needs", "need", "no change in any of"),
    };
    let is_all = reports.contexts.iter().all(|one| !is_stopped(&one.report));
    let which = if is_all { "these contexts" } else { "the contexts that were looked at" };
    let objects = number::counted(count, &format!("{more}object {one}"), &format!("{more}objects {many}"));
    format!("{objects} {state} {which}")
}

/// Returns true if a run ended before it looked at any object.
pub(crate) fn is_stopped(report: &Report) -> bool {
    report.objects.is_empty() && matches!(report.verdict, Verdict::Unreachable | Verdict::Invalid)
        || report.objects.is_empty() && !report.errors.is_empty()
}

/// The error for which a context was not looked at, or its result.
pub(crate) fn why_stopped(report: &Report) -> String {
    let why = report.errors.first().map(|error| format!(": {}", error.message)).unwrap_or_default();
    format!("{}{why}", verdict_of(report).of_context)
}

/// The line that says why a context was not looked at.
pub fn stopped(one: &ContextReport) -> Styled {
    let mut text = Styled::new();
    text.line(Role::Error, why_stopped(&one.report));
    text
}

/// `3 contexts: 1 with drift, 1 in sync, 1 unreachable`
pub(crate) fn totals(reports: &Reports) -> String {
    let results = reports.contexts.iter().map(|one| (one.report.verdict, verdict_of(&one.report).of_context));
    let results: Vec<(usize, &str)> =
        tally(results).into_iter().rev().map(|((_, words), count)| (count, words)).collect();
    format!("{} contexts: {}", reports.summary.contexts, counted(&results))
}

/// One object in all contexts.
pub(crate) struct Row {
    /// Its name, without the namespace where it differs.
    pub name: String,
    /// The contexts that have it, in their order: of a thousand contexts with objects of their own, a row has one.
    cells: Vec<Cell>,
}

/// One object in one context.
pub(crate) struct Cell {
    /// The index of the context.
    context: usize,
    /// The index of the object in its report.
    pub object: usize,
    /// The action that it needs.
    pub label: Label,
    /// True if it needs nothing.
    is_quiet: bool,
}

impl Row {
    /// Returns true if it needs nothing in any of this number of contexts.
    pub fn is_quiet(&self, contexts: usize) -> bool {
        self.cells.len() == contexts && self.cells.iter().all(|cell| cell.is_quiet)
    }

    /// The object in the context with this index.
    pub fn cell(&self, context: usize) -> Option<&Cell> {
        let at = self.cells.binary_search_by_key(&context, |cell| cell.context).ok()?;
        self.cells.get(at)
    }

    fn has_context(&self, context: usize) -> bool {
        self.cells.last().is_some_and(|last| last.context == context)
    }
}

/// An object in any context: its group, kind, namespace and name.
type Identity<'r> = (&'r str, &'r str, Option<&'r str>, &'r str);

fn identity(object: &ObjectReport) -> Identity<'_> {
    let ObjectKey { gvk, namespace, name } = &object.key;
    (&gvk.group, &gvk.kind, namespace.as_deref(), name)
}

/// A manifest: its place, and the object in it without its namespace.
fn manifest(object: &ObjectReport) -> Option<(String, Identity<'_>)> {
    let (group, kind, _, name) = identity(object);
    Some((object.source.as_ref()?.to_string(), (group, kind, None, name)))
}

/// All objects in the order in which they are met. Objects of one name are one, in whatever file each context has them. So is a manifest
/// that each context puts into another namespace, unless one of them has it in several.
pub(crate) fn rows(contexts: &[&ContextReport]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut by_identity = HashMap::new();
    // The row of each manifest that has only one.
    let mut by_manifest: HashMap<_, Option<(usize, Identity<'_>)>> = HashMap::new();
    for (at, one) in contexts.iter().enumerate() {
        let objects = &one.report.objects;
        let own: HashSet<Identity<'_>> = objects.iter().map(identity).collect();
        let mut uses: HashMap<_, usize> = HashMap::new();
        objects.iter().filter_map(manifest).for_each(|manifest| *uses.entry(manifest).or_default() += 1);
        for (number, object) in objects.iter().enumerate() {
            let id = identity(object);
            let manifest = manifest(object);
            let is_free = |place: usize| rows.get(place).is_some_and(|row| !row.has_context(at));
            let elsewhere = || {
                let once = manifest.as_ref().filter(|manifest| uses.get(*manifest) == Some(&1));
                let (place, other) = by_manifest.get(once?).copied()??;
                (!own.contains(&other) && is_free(place)).then_some(place)
            };
            let known = by_identity.get(&id).copied().filter(|place| is_free(*place)).or_else(elsewhere);
            let place = known.unwrap_or(rows.len());
            if known.is_none() {
                rows.push(Row { name: object.key.to_string(), cells: Vec::new() });
            }
            by_identity.entry(id).or_insert(place);
            if let Some(manifest) = manifest {
                let only = by_manifest.entry(manifest).or_insert(Some((place, id)));
                if only.is_some_and(|(other, _)| other != place) {
                    *only = None;
                }
            }
            let Some(row) = rows.get_mut(place) else { continue };
            if row.name != object.key.to_string() {
                row.name = format!("{} {}", object.key.gvk.kind, object.key.name);
            }
            let label = label_in_row(object);
            let is_of_own = object.has_transfers() || object.stays_different();
            row.cells.push(Cell {
                context: at,
                object: number,
                label,
                is_quiet: label.role == Role::Note && !is_of_own,
            });
        }
    }
    rows
}

/// The label of an object; of `own`, also for values that differ, and for owners that would change.
fn label_in_row(object: &ObjectReport) -> Label {
    match label(object) {
        Label { word: "in sync", .. } if object.stays_different() => Label { word: "differs", role: Role::Change },
        Label { word: "in sync", .. } if object.has_transfers() => Label { word: "to adopt", role: Role::Change },
        label => label,
    }
}

fn matrix(contexts: &[&ContextReport], rows: &[&Row], view: &View) -> Styled {
    let shown = &rows[..rows.len().min(view.most(SHOWN))];
    let is_numbered = contexts.iter().any(|one| width(one.name()) > HEAD);
    let head =
        |number: usize, one: &ContextReport| if is_numbered { format!("[{number}]") } else { one.name().to_owned() };
    let heads: Vec<String> = (1..).zip(contexts).map(|(number, one)| head(number, one)).collect();
    let words = |at: usize| shown.iter().filter_map(move |row| row.cell(at).map(|cell| cell.label.word.len()));
    let widths: Vec<usize> =
        heads.iter().enumerate().map(|(at, head)| words(at).fold(width(head), usize::max)).collect();
    let names = shown.iter().map(|row| width(&row.name)).max().unwrap_or_default();
    let mut text = Styled::new();
    for columns in blocks(&widths, names, view.width) {
        // The last column is not filled up.
        let last = columns.clone().next_back();
        let to = |at: usize| if Some(at) == last { 0 } else { widths[at] };
        text.push(Role::Plain, " ".repeat(names));
        for at in columns.clone() {
            text.push(Role::Name, format!("{GAP}{}", padded(&heads[at], to(at))));
        }
        text.line_end();
        for row in shown {
            text.push(Role::Name, padded(&row.name, names));
            for at in columns.clone() {
                let cell = row.cell(at).map_or(Label { word: "-", role: Role::Note }, |cell| cell.label);
                text.push(cell.role, format!("{GAP}{}", padded(cell.word, to(at))));
            }
            text.line_end();
        }
    }
    if let Some(more) = number::more(rows.len().saturating_sub(shown.len()), "object") {
        text.line(Role::Note, more);
    }
    if is_numbered {
        for (head, one) in heads.iter().zip(contexts) {
            text.line(Role::Note, format!("{head} {}", one.name()));
        }
    }
    text
}

/// The columns that fit beside the names, as many blocks of them as there have to be.
fn blocks(widths: &[usize], names: usize, most: usize) -> Vec<std::ops::Range<usize>> {
    let mut blocks = Vec::new();
    let mut start = 0;
    let mut taken = names;
    for (at, width) in widths.iter().enumerate() {
        let wanted = width.saturating_add(GAP.len());
        if at > start && taken + wanted > most {
            blocks.push(start..at);
            (start, taken) = (at, names);
        }
        taken += wanted;
    }
    blocks.push(start..widths.len());
    blocks
}

#[cfg(test)]
mod tests {
    use structured_merge::GroupVersionKind;

    use super::*;
    use crate::model::{Command, FailOn};
    use crate::theme::plain;
    use reconcile_core::compare::{Evidence, ObjectDiff};
    use reconcile_core::diagnostic::{Code, Diagnostic};
    use reconcile_core::manifest::Source;

    fn object(namespace: &str, name: &str, line: u32, verdict: ObjectDiff) -> ObjectReport {
        let gvk = GroupVersionKind::new("v1", "ConfigMap");
        let key = ObjectKey { gvk, namespace: Some(namespace.to_owned()), name: name.to_owned() };
        let source = Some(Source { file: "web.yaml".into(), line, template: None, document: 1, items: Vec::new() });
        let mut object = ObjectReport::unwanted(&key, verdict);
        object.source = source;
        object
    }

    fn in_sync() -> ObjectDiff {
        ObjectDiff::in_sync(Evidence::Proven)
    }

    fn unknown() -> ObjectDiff {
        ObjectDiff::unknown(Diagnostic::new(Code::Forbidden, "no"))
    }

    fn context(name: &str, objects: Vec<ObjectReport>) -> ContextReport {
        let report = Report::compared(Command::Diff, objects, &FailOn::default());
        ContextReport { context: Some(name.to_owned()), server: Some(format!("https://{name}")), report }
    }

    fn down(name: &str) -> ContextReport {
        let errors = vec![Diagnostic::new(Code::ConnectionLost, "cannot connect")];
        let report = Report::stopped(Command::Diff, Verdict::Unreachable, errors);
        ContextReport { context: Some(name.to_owned()), server: None, report }
    }

    #[test]
    fn contexts_whose_differences_are_all_known_have_no_new_ones() {
        let known = |name: &str, is_known: bool| {
            let mut missing = object("shop", "it", 1, ObjectDiff::create(serde_json::json!({}), Evidence::Server));
            missing.diff.changes.iter_mut().for_each(|change| change.known = is_known);
            let ContextReport { context, server, report } = context(name, vec![missing]);
            ContextReport { context, server, report: report.with_baseline(0) }
        };
        let last = |contexts: Vec<ContextReport>| shown(contexts).lines().last().unwrap_or_default().to_owned();
        assert_eq!(last(vec![known("eu", true), known("us", true)]), "2 contexts: 2 without new differences");
        let mixed = last(vec![known("eu", true), known("us", false)]);
        assert_eq!(mixed, "2 contexts: 1 without new differences, 1 with changes");
    }

    fn shown(contexts: Vec<ContextReport>) -> String {
        plain(&together(&Reports::of(Command::Diff, contexts, Vec::new()), &View::default()))
    }

    #[test]
    fn with_a_baseline_equal_objects_may_differ_as_it_says() {
        let both = ["a", "b"].map(|name| context(name, vec![object("dev", "web", 1, in_sync())]));
        let mut contexts = Vec::from(both);
        contexts[0].report.summary.known = Some(2);
        let text = shown(contexts);
        assert!(text.contains("1 object has no new difference in any of these contexts"), "{text}");
    }

    #[test]
    fn a_manifest_is_one_row_in_whatever_namespace_it_is() {
        let contexts = vec![
            context("a", vec![object("dev", "web", 1, in_sync()), object("dev", "db", 9, in_sync())]),
            context("bb", vec![object("prod", "web", 1, unknown()), object("prod", "db", 9, in_sync())]),
            down("c"),
        ];
        let expected = "               a        bb
ConfigMap web  in sync  not compared
1 more object needs no change in any of the contexts that were looked at
c: unreachable: cannot connect
3 contexts: 1 incomplete, 1 unreachable, 1 without differences
";
        assert_eq!(shown(contexts), expected);
    }

    #[test]
    fn a_manifest_in_several_namespaces_is_as_many_rows() {
        let in_both = |name: &str, of_a: ObjectDiff| {
            context(name, vec![object("ns-a", "conf", 1, of_a), object("ns-b", "conf", 1, in_sync())])
        };
        let text = shown(vec![in_both("eu", unknown()), in_both("us", in_sync())]);
        assert!(text.contains("ConfigMap ns-a/conf  not compared  in sync\n1 more object needs no change"), "{text}");
        // Another context has it in other namespaces: nothing tells which is which.
        let elsewhere = context("us", vec![object("x", "conf", 1, in_sync()), object("y", "conf", 1, in_sync())]);
        let rows = rows(&[&in_both("eu", unknown()), &elsewhere]);
        assert_eq!(rows.len(), 4);
        assert!(rows.iter().all(|row| row.cells.len() == 1));
    }

    #[test]
    fn an_object_is_one_row_in_whatever_file_it_is() {
        let contexts = vec![
            context("eu", vec![object("shop", "web", 1, unknown()), object("shop", "db", 9, in_sync())]),
            context("us", vec![object("shop", "db", 1, in_sync()), object("shop", "web", 7, unknown())]),
        ];
        let text = shown(contexts);
        assert!(
            text.contains("ConfigMap shop/web  not compared  not compared\n1 more object needs no change"),
            "{text}"
        );
    }

    /// A table of all contexts and all objects would have a place for each pair.
    #[test]
    fn a_fleet_of_objects_of_their_own_grows_with_the_objects() {
        let of = |at: u32| {
            (0..50).map(move |line| object("dev", &format!("web-{at}-{line}"), at * 50 + line + 1, unknown()))
        };
        let contexts: Vec<ContextReport> = (0..200).map(|at| context(&at.to_string(), of(at).collect())).collect();
        let rows = rows(&contexts.iter().collect::<Vec<_>>());
        let cells: usize = rows.iter().map(|row| row.cells.capacity()).sum();
        assert_eq!(rows.len(), 10_000);
        assert!(cells <= 4 * rows.len(), "{cells}");
        assert!(rows.iter().all(|row| !row.is_quiet(200) && (0..200).filter_map(|at| row.cell(at)).count() == 1));
    }

    #[test]
    fn what_only_some_contexts_have_is_a_gap() {
        let contexts = vec![context("a", vec![object("dev", "web", 1, unknown())]), context("b", Vec::new())];
        assert!(shown(contexts).contains("ConfigMap dev/web  not compared  -\n"));
    }

    #[test]
    fn long_names_are_numbered_and_columns_continue_below() {
        let name = |at: usize| format!("arn:aws:eks:eu-central-1:123456789012:cluster/{at}");
        let contexts = (1..=12).map(|at| context(&name(at), vec![object("dev", "web", 1, unknown())])).collect();
        let text = shown(contexts);
        assert!(text.lines().all(|line| line.chars().count() <= View::WIDTH), "{text}");
        assert_eq!(text.matches("ConfigMap dev/web").count(), 3, "{text}");
        assert!(text.contains(&format!("\n[12] {}\n", name(12))), "{text}");
    }

    #[test]
    fn what_is_hidden_in_a_name_takes_the_width_that_it_is_shown_with() {
        let contexts = vec![context("a\u{1b}[2J", vec![object("dev", "web", 1, unknown())])];
        let text = shown(contexts);
        assert!(text.contains("a\\u{1b}[2J\n") && !text.contains('\u{1b}'), "{text:?}");
    }
}
