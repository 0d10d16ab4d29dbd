//! The section of one report: the facts of the run, its errors, and its objects.

use super::markup::{Markup, styled};
use super::object::{Objects, PageSection, is_quiet};
use crate::formats::text::{dropped_lines, is_shown, matrix, parent_text, unmanaged_lines};
use crate::groups::{self, Entry, Shows};
use crate::model::{Command, ContextReport, ObjectReport, Report};
use crate::view::View;
use crate::words::parts::{EVERYTHING_ELSE, Part, has_parts, is_divided};
use crate::words::sentence::excerpt;
use crate::words::value::number::grouped;
use crate::words::{describe, summary};
use reconcile_core::compare::FieldChange;

/// Number of objects of a report that are not in sync or have remarks.
pub(super) fn shown(report: &Report) -> usize {
    report.objects.iter().filter(|object| !is_quiet(object)).count()
}

/// Writes the section of a context, which has a heading if it is that of one of several. The number identifies its objects on the page.
pub(super) fn write(page: &mut Markup, one: &ContextReport, number: usize, objects: &Objects<'_>) {
    let Some(context) = &one.context else { return content(page, &one.report, number, objects) };
    page.raw("<section class=\"context\" aria-labelledby=\"c").number(number).raw("\"><h2 id=\"c");
    page.number(number).raw("\">").text(context);
    if let Some(server) = &one.server {
        page.element(" <small", server, "</small>");
    }
    page.raw("</h2><p>").text(&sentence(one)).raw("</p>");
    content(page, &one.report, number, objects);
    page.raw("</section>");
}

/// Writes everything but the heading.
fn content(page: &mut Markup, report: &Report, number: usize, objects: &Objects<'_>) {
    for error in &report.errors {
        page.raw("<div class=\"error\">");
        styled(page, &excerpt::diagnostic(error, "", "error: ", None));
        page.raw("</div>\n");
    }
    warnings(page, &report.warnings);
    let sorted = objects.view.sorted(report);
    let mut section = PageSection::new(number, &sorted);
    let (quiet, shown): (Vec<&ObjectReport>, _) = sorted.iter().copied().partition(|object| is_quiet(object));
    if has_parts(report) && is_divided(shown.iter().map(|object| Part::of_object(object))) {
        in_parts(page, objects, &shown, &mut section);
    } else {
        listed(page, objects, &shown, &mut section);
    }
    styled(page, &dropped_lines(report, objects.view));
    styled(page, &parent_text(report, objects.view));
    styled(page, &unmanaged_lines(report, objects.view));
    rest(page, objects, &quiet, " in sync", &section);
}

/// The parts of objects that the page shows.
struct OnPage;

impl Shows for OnPage {
    fn change(&self, change: &FieldChange) -> bool {
        is_shown(change)
    }

    fn more(&self, object: &ObjectReport) -> bool {
        !object.diff.effects.is_empty()
            || !object.diff.ignored.is_empty()
            || !object.diff.left.is_empty()
            || !object.diff.added_items.is_empty()
            || object.run.readiness.is_some()
    }
}

/// Writes the objects in the parts of a comparison with a base, each in its foremost one. What a change leaves alone is folded.
fn in_parts<'o>(page: &mut Markup, objects: &Objects<'_>, shown: &[&'o ObjectReport], section: &mut PageSection<'o>) {
    for part in Part::ALL.map(Some).into_iter().chain([None]) {
        let of_part: Vec<&ObjectReport> =
            shown.iter().copied().filter(|object| Part::of_object(object) == part).collect();
        match part {
            _ if of_part.is_empty() => {}
            None => {
                page.raw("<h2 class=\"part\">").raw(EVERYTHING_ELSE).raw("</h2>\n");
                listed(page, objects, &of_part, section);
            }
            Some(part @ Part::Drifted) => {
                page.raw("<details class=\"part\"><summary>").raw(part.heading()).raw("</summary>");
                listed(page, objects, &of_part, section);
                page.raw("</details>\n");
            }
            Some(part) => {
                page.raw("<h2 class=\"part\">").raw(part.heading()).raw("</h2>\n");
                listed(page, objects, &of_part, section);
            }
        }
    }
}

/// Writes the objects that are not in sync or have remarks. What several of them have in common is written once.
fn listed<'o>(page: &mut Markup, objects: &Objects<'_>, shown: &[&'o ObjectReport], section: &mut PageSection<'o>) {
    let mut grouped = Vec::new();
    page.raw("<ol class=\"objects\">\n");
    for entry in groups::entries(shown, objects.view.sort, &OnPage) {
        match entry {
            Entry::Changes(group) => objects.change_group(page, &group, section),
            Entry::Messages(messages, members) => objects.message_group(page, &messages, &members, section),
            Entry::Object(object, rest) => objects.object(page, object, rest.as_deref().unwrap_or(object), section),
            Entry::Grouped(object) => grouped.push(object),
        }
    }
    page.raw("</ol>\n");
    rest(page, objects, &grouped, " shown above, together with others", section);
}

/// Writes objects as lines, which are folded.
fn rest(
    page: &mut Markup,
    objects: &Objects<'_>,
    all: &[&ObjectReport],
    what: &'static str,
    section: &PageSection<'_>,
) {
    if all.is_empty() {
        return;
    }
    page.raw("<details class=\"rest\"><summary><span class=\"quiet-count\">").text(&grouped(all.len()));
    page.raw("</span>").raw(what).raw("</summary><ol class=\"objects\">\n");
    for object in all {
        objects.quiet(page, object, section);
    }
    page.raw("</ol></details>\n");
}

/// Warnings about a run as a whole.
pub(super) fn warnings(page: &mut Markup, warnings: &[String]) {
    for warning in warnings {
        page.element("<p class=\"warning\">warning: <span", warning, "</span></p>\n");
    }
}

/// The result of one of several contexts, in a sentence.
fn sentence(one: &ContextReport) -> String {
    if matrix::is_stopped(&one.report) { matrix::why_stopped(&one.report) } else { result(&one.report) }
}

/// The result of a run, as in the last lines of the text.
pub(super) fn result(report: &Report) -> String {
    let left_alone = describe::left_alone(report).filter(|_| report.command == Command::Status);
    let (sentences, remarks) = summary::result(report, &View::default());
    sentences.into_iter().chain(remarks).chain(left_alone).collect::<Vec<_>>().join(" · ")
}

/// The cluster of the run, and its result.
pub(super) fn facts(page: &mut Markup, report: &Report) {
    page.raw("<dl class=\"facts\">");
    let mut fact = |name: &'static str, value: &str| {
        page.raw("<div><dt>").raw(name).raw("</dt><dd>").text(value).raw("</dd></div>");
    };
    if let Some(cluster) = &report.cluster {
        if let Some(context) = &cluster.context {
            fact("Context", context);
        }
        fact("Server", &cluster.server);
        if let Some(version) = &cluster.version {
            fact("Version", version);
        }
    }
    if let Some(time) = report.time {
        fact("Time", &time.to_string());
    }
    if let Some(set) = &report.apply_set {
        fact("Apply set", &set.parent.key().to_string());
    }
    fact("Objects", &grouped(report.summary.objects));
    fact("Exit code", &report.exit_code.to_string());
    page.raw("</dl>");
}
