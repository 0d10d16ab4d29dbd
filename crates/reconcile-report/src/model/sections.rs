//! One report, or those of several contexts, as the formats see them: a list of sections.

use crate::{Command, ContextReport, Report, Reports, StartTime, Verdict};

/// The report of one cluster, with its context where there are several.
#[derive(Clone, Copy, Debug)]
pub struct Section<'r> {
    /// The context; `None` if the run is about one cluster only.
    pub context: Option<&'r str>,
    /// The report of the cluster.
    pub report: &'r Report,
}

/// The report of a run in one context or in several: a format that is written for this trait renders both.
pub trait Sections {
    /// The command.
    fn command(&self) -> Command;
    /// The result.
    fn verdict(&self) -> Verdict;
    /// The exit code of the process.
    fn exit_code(&self) -> u8;
    /// The time at which the run began, if it is known.
    fn time(&self) -> Option<StartTime>;
    /// Warnings that concern no single context.
    fn general_warnings(&self) -> &[String];
    /// The clusters, in the order in which they were named.
    fn sections(&self) -> Vec<Section<'_>>;
    /// Their reports, as mutable references.
    fn reports_mut(&mut self) -> Vec<&mut Report>;
    /// Returns true if a report has differences that its baseline has as well.
    fn has_known(&self) -> bool {
        self.sections().iter().any(|section| section.report.summary.known.is_some_and(|known| known > 0))
    }
    /// The same without the differences that are known.
    fn without_known(&self) -> Self
    where
        Self: Sized;
}

impl Sections for Report {
    fn command(&self) -> Command {
        self.command
    }

    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn exit_code(&self) -> u8 {
        self.exit_code
    }

    fn time(&self) -> Option<StartTime> {
        self.time
    }

    fn general_warnings(&self) -> &[String] {
        &[]
    }

    fn sections(&self) -> Vec<Section<'_>> {
        vec![Section { context: None, report: self }]
    }

    fn reports_mut(&mut self) -> Vec<&mut Report> {
        vec![self]
    }

    fn without_known(&self) -> Self {
        self.clone().without_known()
    }
}

impl Sections for Reports {
    fn command(&self) -> Command {
        self.command
    }

    fn verdict(&self) -> Verdict {
        self.verdict
    }

    fn exit_code(&self) -> u8 {
        self.exit_code
    }

    fn time(&self) -> Option<StartTime> {
        self.time
    }

    fn general_warnings(&self) -> &[String] {
        &self.warnings
    }

    fn sections(&self) -> Vec<Section<'_>> {
        self.contexts
            .iter()
            .map(|ContextReport { context, report, .. }| Section { context: Some(context), report })
            .collect()
    }

    fn reports_mut(&mut self) -> Vec<&mut Report> {
        self.contexts.iter_mut().map(|one| &mut one.report).collect()
    }

    fn without_known(&self) -> Self {
        let of_context =
            |one: &ContextReport| ContextReport { report: one.report.clone().without_known(), ..one.clone() };
        Self { contexts: self.contexts.iter().map(of_context).collect(), ..self.clone() }
    }
}
