//! The report of a run: that of each context, of which one is the usual case, and the counts over all of them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::identity::{Command, StartTime, ToolInfo};
use super::report::Report;
use super::summary::{Summary, tally};
use super::verdict::{EXIT_CODES, EXIT_SUCCESS, Verdict};

/// The report of a run in several contexts.
// What is derived is the document of several contexts. That of the only one is its report: see `Serialize` below.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct Reports {
    /// Always `kubectl-reconcile/v1`.
    #[schemars(extend("const" = "kubectl-reconcile/v1"))]
    pub api_version: &'static str,
    /// Always `Reports`.
    #[schemars(extend("const" = "Reports"))]
    pub kind: &'static str,
    /// The program that made the document.
    pub tool: ToolInfo,
    /// The time at which the run began, or the earliest of several runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<StartTime>,
    /// The command.
    pub command: Command,
    /// The worst result of all contexts.
    pub verdict: Verdict,
    /// The exit code of the process: that of the worst result.
    #[schemars(extend("enum" = EXIT_CODES))]
    pub exit_code: u8,
    /// Counts over all contexts.
    pub summary: ContextsSummary,
    /// Warnings about the run as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The report of each context, in the order in which they were named.
    pub contexts: Vec<ContextReport>,
}

/// The report of one of several contexts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ContextReport {
    /// The context of the kubeconfig.
    // `None` if the run is about one cluster only.
    #[schemars(with = "String")]
    pub context: Option<String>,
    /// The URL of its server, as far as the kubeconfig has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The report on this context alone.
    #[serde(flatten)]
    pub report: Report,
}

/// Counts over all contexts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextsSummary {
    /// Number of contexts.
    pub contexts: usize,
    /// Number of contexts by result.
    pub verdicts: BTreeMap<Verdict, usize>,
    /// The objects of all contexts.
    #[serde(flatten)]
    pub objects: Summary,
}

/// The worst result of several reports, and its exit code.
pub(crate) fn worst<'r>(reports: impl IntoIterator<Item = &'r Report>) -> (Verdict, u8) {
    let results = reports.into_iter().map(|report| (report.verdict, report.exit_code));
    results.max().unwrap_or((Verdict::InSync, EXIT_SUCCESS))
}

impl Serialize for Reports {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.only() {
            Some(report) => report.serialize(serializer),
            None => Self::serialize(self, serializer),
        }
    }
}

impl From<Report> for Reports {
    /// The report of a run that is about one cluster only.
    fn from(report: Report) -> Self {
        let command = report.command;
        Self::of(command, vec![ContextReport { context: None, server: None, report }], Vec::new())
    }
}

impl ContextReport {
    /// The name of the context; empty if the run is about one cluster only.
    pub fn name(&self) -> &str {
        self.context.as_deref().unwrap_or_default()
    }
}

impl Reports {
    /// Puts the reports of all contexts together.
    pub fn of(command: Command, contexts: Vec<ContextReport>, warnings: Vec<String>) -> Self {
        let (verdict, exit_code) = worst(contexts.iter().map(|one| &one.report));
        let verdicts = tally(contexts.iter().map(|one| one.report.verdict));
        let mut summary = ContextsSummary { contexts: contexts.len(), verdicts, objects: Summary::default() };
        for ContextReport { report, .. } in &contexts {
            summary.objects.add(&report.summary);
        }
        Self {
            api_version: "kubectl-reconcile/v1",
            kind: "Reports",
            tool: ToolInfo::own(),
            time: contexts.iter().filter_map(|one| one.report.time).min(),
            command,
            verdict,
            exit_code,
            summary,
            warnings,
            contexts,
        }
    }

    /// The only report, if the run is about one cluster only.
    pub fn only(&self) -> Option<&Report> {
        match self.contexts.as_slice() {
            [ContextReport { context: None, report, .. }] => Some(report),
            _ => None,
        }
    }

    /// Leaves out the differences that the baseline has as well. The counts are still those of all objects.
    pub(crate) fn without_known(mut self) -> Self {
        self.contexts =
            self.contexts.into_iter().map(|one| ContextReport { report: one.report.without_known(), ..one }).collect();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::{EXIT_DRIFT, EXIT_INCOMPLETE, EXIT_SUCCESS};

    fn one(context: &str, verdict: Verdict, exit_zero: bool) -> ContextReport {
        let mut report = Report::stopped(Command::Diff, verdict, Vec::new());
        report.exit_code = verdict.exit_code(exit_zero);
        ContextReport { context: Some(context.to_owned()), server: None, report }
    }

    fn worst(verdicts: &[Verdict], exit_zero: bool) -> (Verdict, u8) {
        let contexts = verdicts.iter().map(|verdict| one("c", *verdict, exit_zero)).collect();
        let reports = Reports::of(Command::Diff, contexts, Vec::new());
        (reports.verdict, reports.exit_code)
    }

    #[test]
    fn the_worst_result_decides() {
        use Verdict::{Applied, Drift, InSync, Incomplete, Interrupted, Invalid, NotReady, Unreachable};
        assert_eq!(worst(&[InSync, Drift, InSync], false), (Drift, EXIT_DRIFT));
        assert_eq!(worst(&[InSync, Drift], true), (Drift, EXIT_SUCCESS));
        assert_eq!(worst(&[Unreachable, Incomplete, Drift], false), (Incomplete, EXIT_INCOMPLETE));
        let by_rank = [InSync, Applied, Drift, NotReady, Unreachable, Incomplete, Invalid, Interrupted];
        for pair in by_rank.windows(2) {
            assert_eq!(worst(pair, false).0, pair[1]);
            assert_eq!(worst(&[pair[1], pair[0]], false).0, pair[1]);
        }
    }

    #[test]
    fn the_document_has_the_report_of_each_context_beside_its_name() {
        let contexts = vec![
            one("a", Verdict::Drift, false),
            one("b", Verdict::Drift, false),
            one("c", Verdict::Unreachable, false),
        ];
        let reports = Reports::of(Command::Diff, contexts, Vec::new());
        let document = serde_json::to_value(&reports).unwrap();
        assert_eq!((&document["kind"], &document["verdict"]), (&"Reports".into(), &"unreachable".into()));
        assert_eq!(document["summary"]["verdicts"], serde_json::json!({"drift": 2, "unreachable": 1}));
        assert_eq!(document["summary"]["contexts"], 3);
        let first = &document["contexts"][0];
        assert_eq!((&first["context"], &first["kind"]), (&"a".into(), &"Report".into()));
    }
}
