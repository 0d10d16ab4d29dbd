//! The frame of commands that report on the objects of the manifests: the contexts, the text, the reports, the exit code.

use reconcile_report::Report;

use crate::session::context_command::ContextCommand;
use crate::session::contexts::{Choice, chosen};
use crate::session::failure::Failure;
use crate::session::run::Invocation;
use crate::session::several::in_several;

impl Invocation<'_> {
    /// Runs a command in each context that `--context` names, shows what it finds, and writes the reports. Returns the exit code.
    pub async fn in_contexts(&self, command: &impl ContextCommand) -> Result<u8, Failure> {
        match chosen(self.connection)? {
            Choice::Several(contexts) => Box::pin(in_several(command, self, &contexts)).await,
            Choice::One(connection) => {
                let (run, desired) = self.begin_in(&connection, command.early_reads()).await?;
                let hooks = desired.hooks_left_out();
                let report = Box::pin(command.pass(&run, desired)).await?;
                Ok(self.reported(command, run.concluded(report, hooks)))
            }
        }
    }

    /// Shows the only report of a command, and writes it. Returns the exit code.
    pub fn reported(&self, command: &impl ContextCommand, report: Report) -> u8 {
        let report = self.output.identified(report);
        let report = self.settings.described_in(report, self.input.selector.is_none());
        drop(command.show(&report, self.output));
        self.output.finish(&report)
    }
}
