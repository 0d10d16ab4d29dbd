//! Runs a command on its manifests, in one context or in several.

use crate::cli::{ConnectionArgs, InputArgs};
use crate::report::{Command, Report};
use crate::session::configured::Settings;
use crate::session::contexts::{Choice, chosen};
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::reading::{Manifests, Reading};
use crate::session::several::Show;
use crate::session::signals::listen;
use crate::session::site::Site;

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
    /// Does the `work` in each context that is meant, shows it, and writes the reports. Returns the exit code. A reader that went
    /// away ends the run quietly, with the verdict that was found.
    pub async fn run(&self, work: impl AsyncFn(Site<'_>, Manifests) -> Result<Report, Failure>, show: Show<'_>) -> u8 {
        match chosen(self.connection) {
            Ok(Choice::Several(contexts)) => Box::pin(self.in_several(&contexts, work, show)).await,
            Ok(Choice::One(connection)) => self.ended(Box::pin(self.once(&connection, work)).await, show),
            Err(failure) => self.output.failed(self.command, failure),
        }
    }

    async fn once(
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
