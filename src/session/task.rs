//! A command with its manifests and its output, and its run in one context.

use crate::cli::{ConnectionArgs, InputArgs};
use crate::report::{Command, Report};
use crate::session::configured::Settings;
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::{Manifests, Reading};
use crate::session::signals::listen;
use crate::session::site::Site;
use crate::terminal::Closed;

/// What is shown of the run in one context, beside its reports.
pub(crate) type Show<'s> = &'s dyn Fn(&Report, &Output) -> Result<(), Closed>;

/// A command, and what it begins with.
pub(crate) struct Task<'a> {
    /// The command.
    pub command: Command,
    /// How to connect.
    pub connection: &'a ConnectionArgs,
    /// What to read.
    pub input: &'a InputArgs,
    /// Where reports go.
    pub output: &'a Output,
    /// The configuration.
    pub settings: &'a Settings,
}

impl Task<'_> {
    /// Does the `work` in one context.
    pub(super) async fn once(
        &self,
        connection: &ConnectionArgs,
        work: impl AsyncFn(Site<'_>, Manifests) -> Result<Report, Failure>,
    ) -> Result<Report, Failure> {
        let reading = {
            let _progress = self.output.terminal.progress("reading", 0);
            Reading::begin(self.input, &self.output.terminal).await?
        };
        let site = Site::only(connection, self.output, listen(&self.output.terminal));
        work(site, Manifests::Reading(reading)).await
    }

    /// Shows the only report of a run, and writes it. Returns the exit code.
    pub fn ended(&self, result: Result<Report, Failure>, show: Show<'_>) -> u8 {
        match result {
            Ok(report) => {
                let report = Report { shard: self.output.shard, ..report };
                let report = self.settings.told_in(report, self.input.selector.is_none());
                drop(show(&report, self.output));
                self.output.finish(&report)
            }
            Err(failure) => self.output.failed(self.command, failure),
        }
    }
}
