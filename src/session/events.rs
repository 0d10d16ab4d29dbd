//! Passes the events of a run on to the screen, the lines of `-o jsonl`, and the report.

use crate::engine::event::{Event, EventSink};
use crate::engine::reconciliation::Reconciliation;
use crate::report::{Command, FailOn, Report};
use crate::session::journal::Journal;
use crate::session::output::Output;
use crate::session::report_builder::ReportBuilder;
use crate::session::screen::Screen;

/// Passes the events of a run to the screen, to the lines of `-o jsonl`, and to the builder of the report.
pub(crate) struct Events<'a> {
    screen: Screen<'a>,
    journal: Journal,
    builder: ReportBuilder,
}

impl<'a> Events<'a> {
    /// Receivers before the first event. `follows` says whether changes of readiness are shown as they happen.
    pub fn new(output: &'a Output, follows: bool) -> Self {
        Self { screen: Screen::new(output, follows), journal: output.journal(), builder: ReportBuilder::default() }
    }

    /// The report of a pass as it is now.
    pub fn report(&self, command: Command, gate: &FailOn, pass: &Reconciliation<'_>) -> Report {
        self.builder.report(command, gate, pass)
    }

    /// The report of a pass at its end, which takes the objects along.
    pub fn last_report(&self, command: Command, gate: &FailOn, pass: &Reconciliation<'_>) -> Report {
        self.builder.last_report(command, gate, pass)
    }
}

impl EventSink for Events<'_> {
    fn receive(&self, event: Event<'_>) {
        self.screen.receive(event);
        self.builder.receive(event);
        self.journal.receive(event);
    }
}
