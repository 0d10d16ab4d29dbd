//! `-o github`: annotations of a GitHub workflow, which show on the lines of a pull request.
//!
//! GitHub shows ten annotations of each level for a step, and silently drops the others. So there is one annotation for each
//! object, and one for all objects that the manifests no longer have. If there are more than ten of a level, the tenth names the rest.

use std::collections::HashMap;

use reconcile_core::text::visible;

use crate::model::{Level, ObjectReport, Reports};
use crate::view::View;
use crate::words::conflict::conflict_hint;
use crate::words::describe;
use crate::words::findings::{DROPPED, Finding, FindingLocation, findings};
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
        annotations.extend(by_subject(findings(one)).iter().map(|found| {
            let is_dropped = found.iter().all(|finding| finding.rule == DROPPED);
            // Not all of these have a finding.
            let count = if is_dropped { one.report.dropped.len() } else { found.len() };
            annotation(found, count)
        }));
    }
    annotations
}

/// The findings of each object together, at the place of its first one: the parts of a comparison may each have some of them. Those
/// about the run are on their own, but for the objects that the manifests no longer have.
fn by_subject(found: Vec<Finding<'_>>) -> Vec<Vec<Finding<'_>>> {
    let mut groups: Vec<Vec<Finding<'_>>> = Vec::new();
    let mut places: HashMap<Option<*const ObjectReport>, usize> = HashMap::new();
    for finding in found {
        let subject = match finding.object {
            Some(object) => Some(std::ptr::from_ref(object)),
            None if finding.rule == DROPPED => None,
            None => {
                groups.push(vec![finding]);
                continue;
            }
        };
        if let Some(group) = places.get(&subject).and_then(|place| groups.get_mut(*place)) {
            group.push(finding);
        } else {
            places.insert(subject, groups.len());
            groups.push(vec![finding]);
        }
    }
    groups
}

/// `count` findings of one object, of which `found` are known, at the location of the most important one.
fn annotation<'r>(found: &[Finding<'r>], count: usize) -> Annotation<'r> {
    let level = found.iter().map(|one| one.level).max().unwrap_or(Level::Note);
    let foremost = found.iter().find(|one| one.level == level);
    let (object, context) = foremost.map_or((None, None), |one| (one.object, one.context));
    let what = object.map_or_else(
        || "kubectl reconcile".to_owned(),
        |object| format!("{}: {}", describe::name(object), describe::state(object)),
    );
    let title = context.map_or_else(|| what.clone(), |context| format!("{what} ({})", visible(context)));
    let mut lines: Vec<String> = found.iter().take(LINES).map(|one| one.message.clone()).collect();
    if let Some(more @ 1..) = count.checked_sub(LINES) {
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
