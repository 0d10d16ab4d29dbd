//! The section of one report: the facts of the run, its errors, and its objects.

use super::markup::Markup;
use super::object::{Objects, is_quiet};
use super::styled;
use super::styled::styled;
use crate::formats::text::{matrix, parent_text, unmanaged};
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
        let numbered = || sorted.iter().enumerate();
        page.raw("<ol class=\"objects\">\n");
        for (at, object) in numbered().filter(|(_, object)| !is_quiet(object)) {
            objects.object(page, object, (self.number, at), is_open);
            page.raw("\n");
        }
        page.raw("</ol>\n");
        if let Some(set) = &self.report.apply_set {
            styled(page, &parent_text(set, objects.view));
        }
        styled(page, &unmanaged::lines(self.report, objects.view));
        let quiet: Vec<(usize, &&ObjectReport)> = numbered().filter(|(_, object)| is_quiet(object)).collect();
        if quiet.is_empty() {
            return;
        }
        page.raw("<details class=\"rest\"><summary><span class=\"quiet-count\">").text(&grouped(quiet.len()));
        page.raw("</span> in sync</summary><ol class=\"objects\">\n");
        for (at, object) in quiet {
            objects.quiet(page, object, (self.number, at));
            page.raw("\n");
        }
        page.raw("</ol></details>\n");
    }
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
