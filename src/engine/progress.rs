//! What is told while a pass goes on: on stdout in the order of the plan, on stderr as it happens.

use std::cell::Cell;

use jiff::{Timestamp, Unit};

use crate::engine::apply_run::Listener;
use crate::report::{ObjectReport, outcomes};
use crate::session::output::Output;
use crate::terminal::Progress;

/// Tells of objects as the pass is done with them.
pub(crate) struct News<'a> {
    output: &'a Output,
    progress: Progress,
    done: Cell<usize>,
}

impl<'a> News<'a> {
    /// Begins with a pass over so many objects.
    pub fn of_pass(output: &'a Output, objects: usize) -> Self {
        Self { output, progress: output.terminal.progress("applied", objects), done: Cell::new(0) }
    }
}

impl Listener for News<'_> {
    fn done(&self, object: &ObjectReport) {
        self.done.set(self.done.get() + 1);
        self.progress.at(self.done.get());
        if let Some(text) = outcomes::news(object, &now())
            && !self.output.terminal.is_live()
        {
            self.output.news(&text);
        }
    }

    fn in_order(&self, object: &ObjectReport) {
        // A reader that went away changes nothing about the pass.
        let _ = self.output.text(&outcomes::outcome(object));
    }
}

/// The time, in seconds (RFC 3339).
pub(crate) fn now() -> String {
    let now = Timestamp::now();
    now.round(Unit::Second).unwrap_or(now).to_string()
}
