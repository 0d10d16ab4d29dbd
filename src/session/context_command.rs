use reconcile_report::{Command, Report};

use crate::live::early::EarlySubject;
use crate::session::failure::Failure;
use crate::session::output::Output;
use crate::session::run::Run;
use crate::terminal::Closed;
use reconcile_core::manifest::DesiredSet;

/// A command that reports on the objects of the manifests, in one context or in several at the same time.
pub(crate) trait ContextCommand {
    /// The command, as reports name it.
    const NAME: Command;

    /// The reads with which the work begins. They may be sent while discovery is under way.
    fn early_reads(&self) -> Vec<EarlySubject> {
        Vec::new()
    }

    /// Does the work in one context.
    async fn pass(&self, run: &Run<'_>, desired: DesiredSet) -> Result<Report, Failure>;

    /// Shows the report of one context. A reader that went away ends the run quietly, with the verdict that was found.
    fn show(&self, report: &Report, output: &Output) -> Result<(), Closed>;
}
