//! `-o github`: annotations of a GitHub workflow, which show on the lines of a pull request.
//!
//! GitHub shows ten annotations of each level for a step, and silently drops the others. So there is one annotation for each
//! object, and if there are more than ten of a level, the tenth names the rest.

use reconcile_core::text::visible;

use crate::model::{Level, Reports};
use crate::view::View;
use crate::words::conflict::conflict_hint;
use crate::words::describe;
use crate::words::findings::{Finding, FindingLocation, findings, worst};
use crate::words::sentence::location;

/// Number of annotations of a level that GitHub shows.
const SHOWN: usize = 10;
/// Most findings in one annotation.
const LINES: usize = 20;
/// Most objects that the last annotation names.
const NAMED: usize = 100;

/// An annotation.
struct Annotation<'r> {
    level: Level,
    location: Option<FindingLocation<'r>>,
    title: String,
    lines: Vec<String>,
}

/// The commands, one a line: the most important level first.
pub fn render(reports: &Reports, view: &View) -> String {
    let all = annotations(reports);
    let mut text = String::new();
    for level in [Level::Error, Level::Warning, Level::Note] {
        let of_level: Vec<&Annotation<'_>> = all.iter().filter(|one| one.level == level).collect();
        let single = if of_level.len() > SHOWN { SHOWN - 1 } else { of_level.len() };
        let (single, rest) = of_level.split_at(single);
        text.extend(single.iter().map(|one| command(one, view)));
        if !rest.is_empty() {
            text.push_str(&command(&together(level, rest), view));
        }
    }
    text
}

fn annotations(reports: &Reports) -> Vec<Annotation<'_>> {
    let mut annotations = Vec::new();
    for warning in &reports.warnings {
        let lines = vec![describe::message(warning)];
        annotations.push(Annotation {
            level: Level::Note,
            location: None,
            title: "kubectl reconcile".to_owned(),
            lines,
        });
    }
    for one in &reports.contexts {
        let found = findings(one);
        let is_same = |a: &Finding<'_>, b: &Finding<'_>| match (a.object, b.object) {
            (Some(a), Some(b)) => std::ptr::eq(a, b),
            _ => false,
        };
        annotations.extend(found.chunk_by(is_same).map(annotation));
    }
    annotations
}

/// The findings of one object, at the location of the most important one.
fn annotation<'r>(found: &[Finding<'r>]) -> Annotation<'r> {
    let level = worst(found).unwrap_or(Level::Note);
    let foremost = found.iter().find(|one| one.level == level);
    let (object, context) = foremost.map_or((None, None), |one| (one.object, one.context));
    let what = object.map_or_else(
        || "kubectl reconcile".to_owned(),
        |object| format!("{}: {}", describe::name(object), describe::state(object)),
    );
    let title = context.map_or_else(|| what.clone(), |context| format!("{what} ({})", visible(context)));
    let mut lines: Vec<String> = found.iter().take(LINES).map(|one| one.message.clone()).collect();
    if let Some(more @ 1..) = found.len().checked_sub(LINES) {
        lines.push(format!("… {more} more"));
    }
    lines.extend(object.and_then(|object| conflict_hint(object, 1)).map(|hint| format!("hint: {hint}")));
    Annotation { level, location: foremost.and_then(|one| one.location.clone()), title, lines }
}

/// One annotation for all that GitHub would not show.
fn together<'r>(level: Level, rest: &[&Annotation<'r>]) -> Annotation<'r> {
    // The title of a remark about the run says nothing.
    let line = |one: &&Annotation<'_>| match one.location {
        None => format!("{}: {}", one.title, one.lines.join(", ")),
        Some(_) => one.title.clone(),
    };
    let mut lines: Vec<String> = rest.iter().take(NAMED).map(line).collect();
    if let Some(more @ 1..) = rest.len().checked_sub(NAMED) {
        lines.push(format!("… {more} more"));
    }
    Annotation { level, location: None, title: format!("{} more", rest.len()), lines }
}

/// `::error file=deploy/web.yaml,line=12,title=Deployment shop/web%3A update::spec.replicas: 5 → 2`
fn command(Annotation { level, location, title, lines }: &Annotation<'_>, view: &View) -> String {
    let name = match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let mut properties = Vec::new();
    if let Some((file, location)) = location.as_ref().and_then(|at| Some((location::path(at.file, view)?, at)))
        && !location::is_url(&file)
    {
        properties.push(format!("file={}", property(&visible(&file))));
        properties.extend(location.line.map(|line| format!("line={line}")));
        properties.extend(location.column.map(|column| format!("col={column}")));
    }
    properties.push(format!("title={}", property(&visible(title))));
    format!("::{name} {}::{}\n", properties.join(","), data(&lines.join("\n")))
}

/// Escapes a message (actions/toolkit `packages/core/src/command.ts`, `escapeData`).
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property (`escapeProperty`).
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
