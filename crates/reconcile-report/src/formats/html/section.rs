//! The section of one report: the facts of the run, its errors, and its objects.

use super::group::{Common, Groups, Positions};
use super::markup::Markup;
use super::object::{Objects, is_quiet};
use super::styled;
use super::styled::styled;
use crate::formats::text::{is_shown, matrix, parent_text, unmanaged};
use crate::model::equal_changes::ChangeGroup;
use crate::model::equal_diagnostics::Place;
use crate::words::number::grouped;
use crate::words::{describe, excerpt, summary};
use crate::{Command, ContextReport, ObjectReport, Report, View};

/// A report, and the number that identifies its objects on the page.
pub(super) struct Section<'r> {
    pub report: &'r Report,
    pub number: usize,
}

impl Section<'_> {
    /// Number of objects that are not in sync or have remarks.
    pub fn shown(&self) -> usize {
        self.report.objects.iter().filter(|object| !is_quiet(object)).count()
    }

    /// Writes everything but the heading.
    pub fn write(&self, page: &mut Markup, objects: &Objects<'_>, is_open: bool) {
        for error in &self.report.errors {
            page.raw("<div class=\"error\">");
            styled(page, &excerpt::diagnostic(error, "", "error: "));
            page.raw("</div>\n");
        }
        warnings(page, &self.report.warnings);
        let sorted = objects.view.sorted(self.report);
        let numbered = || sorted.iter().copied().enumerate();
        let groups = self.listed(page, objects, numbered().filter(|(_, object)| !is_quiet(object)).collect(), is_open);
        if let Some(set) = &self.report.apply_set {
            styled(page, &parent_text(set, objects.view));
        }
        styled(page, &unmanaged::lines(self.report, objects.view));
        let quiet = numbered().filter(|(_, object)| is_quiet(object)).collect();
        self.rest(page, objects, (quiet, &groups), " in sync");
    }

    /// Writes the objects that are not in sync or have remarks. What several of them have in common is written once.
    fn listed<'o>(
        &self,
        page: &mut Markup,
        objects: &Objects<'_>,
        shown: Vec<(usize, &'o ObjectReport)>,
        is_open: bool,
    ) -> Groups<'o> {
        let all: Vec<&ObjectReport> = shown.iter().map(|(_, object)| *object).collect();
        let positions: Positions<'_> = shown.iter().map(|(at, object)| (&object.key, *at)).collect();
        let equal = objects.view.equal_changes(&all, |_, change| is_shown(change));
        let diagnostics = objects.view.equal_diagnostics(&all);
        let (mut groups, mut told) = (Groups::default(), Vec::new());
        page.raw("<ol class=\"objects\">\n");
        for (position, (at, object)) in shown.into_iter().enumerate() {
            for ChangeGroup { common, objects: members } in equal.beginning_at(position) {
                let group = (&Common::Changes(common), &members[..]);
                objects.group(page, group, (self.number, &positions, &mut groups), is_open);
            }
            let place = diagnostics.of_position(position);
            if let Place::First(diagnostic, members) = place {
                let group = (&Common::Diagnostic(diagnostic), members);
                objects.group(page, group, (self.number, &positions, &mut groups), is_open);
            }
            let rest = equal.rest_of(position, object);
            if !matches!(place, Place::Alone) || rest.as_ref().is_some_and(is_told) {
                told.push((at, object));
                continue;
            }
            let id = ((self.number, at), groups.of(object));
            objects.object(page, (object, rest.as_ref().unwrap_or(object)), id, is_open);
            page.raw("\n");
        }
        page.raw("</ol>\n");
        self.rest(page, objects, (told, &groups), " shown above, together with others");
        groups
    }

    /// Writes objects as lines, which are folded.
    fn rest(
        &self,
        page: &mut Markup,
        objects: &Objects<'_>,
        (rest, groups): (Vec<(usize, &ObjectReport)>, &Groups<'_>),
        what: &'static str,
    ) {
        if rest.is_empty() {
            return;
        }
        page.raw("<details class=\"rest\"><summary><span class=\"quiet-count\">").text(&grouped(rest.len()));
        page.raw("</span>").raw(what).raw("</summary><ol class=\"objects\">\n");
        for (at, object) in rest {
            objects.quiet(page, object, (self.number, at), groups.of(object));
            page.raw("\n");
        }
        page.raw("</ol></details>\n");
    }
}

/// Returns true if groups tell everything about an object.
fn is_told(rest: &ObjectReport) -> bool {
    !rest.diff.changes.iter().any(is_shown)
        && rest.diff.conflicts.is_empty()
        && rest.diff.ignored.is_empty()
        && rest.diff.beside.is_empty()
        && rest.messages.warnings.is_empty()
        && rest.run.readiness.is_none()
}

/// Warnings about a run as a whole.
pub(super) fn warnings(page: &mut Markup, warnings: &[String]) {
    for warning in warnings {
        page.element("<p class=\"warning\">warning: <span", warning, "</span></p>\n");
    }
}

/// The result of one of several contexts, in a sentence.
pub(super) fn sentence(one: &ContextReport) -> String {
    if matrix::is_stopped(&one.report) {
        return styled::sentence(&matrix::stopped(one));
    }
    result(&one.report)
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
