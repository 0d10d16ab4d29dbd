//! Passes the events of a run on to the screen, the lines of `-o jsonl`, and the report.

use reconcile_report::KnownDifferences;

use crate::cli::CompareArgs;
use crate::engine::event::{Event, EventSink};
use crate::output::Output;
use crate::output::journal::Journal;
use crate::output::report_builder::ReportBuilder;
use crate::output::screen::Screen;
use reconcile_core::object::Shard;

/// Passes the events of a run to the screen, to the lines of `-o jsonl`, and to the builder of the report.
pub(crate) struct Events<'a> {
    screen: Screen<'a>,
    journal: Journal,
    shard: Option<Shard>,
    /// Makes the report.
    pub builder: ReportBuilder,
}

impl<'a> Events<'a> {
    /// Receivers before the first event. `follows` says whether changes of readiness are shown as they happen.
    pub fn new(output: &'a Output, follows: bool) -> Self {
        let screen = Screen::new(output, follows);
        let journal = output.journal();
        Self { screen, journal, shard: output.shard, builder: ReportBuilder::default() }
    }

    /// Reports the effects of an apply, and what these flags choose.
    pub fn with_flags(self, args: &CompareArgs) -> Self {
        Self { builder: self.builder.with_flags(args), ..self }
    }

    /// Sets the differences that a baseline has, which are marked.
    pub fn beside(self, known: Option<KnownDifferences>) -> Self {
        let shard = self.shard;
        Self { builder: self.builder.beside(known, shard), ..self }
    }
}

impl EventSink for Events<'_> {
    fn receive(&self, event: Event<'_>) {
        let object = self.builder.fold(event);
        let object = object.as_ref().map(|(place, object)| (*place, &**object));
        self.screen.receive(event, object);
        self.journal.receive(event, object.map(|(_, object)| object));
    }
}
