//! The reports of commands that are no comparison: their errors, the document or the text, and the exit code.

use reconcile_report::access::AccessReport;
use reconcile_report::pull::PullReport;
use reconcile_report::version::VersionReport;

use crate::session::failure::Failure;
use crate::session::output::{Output, print_diagnostics};
use crate::terminal::{Closed, Terminal};
use reconcile_core::diagnostic::Diagnostic;

/// The report of a command.
pub(crate) trait CommandReport {
    /// Its errors, for standard error.
    fn errors(&self) -> &[Diagnostic];

    /// The exit code that follows from it.
    fn exit_code(&self) -> u8;
}

impl Output {
    /// Prints a report and its errors, and returns the exit code. `stopped` makes the report of a run that failed, if its format has one. A
    /// reader that went away ends the run quietly.
    pub fn print_report<R: CommandReport>(
        &self,
        report: Result<R, Failure>,
        stopped: Option<impl FnOnce(Failure) -> R>,
        print: impl FnOnce(&R, &Terminal) -> Result<(), Closed>,
    ) -> Result<u8, Failure> {
        let report = match (report, stopped) {
            (Ok(report), _) => report,
            (Err(failure), Some(stopped)) => stopped(failure),
            (Err(failure), None) => return Err(failure),
        };
        print_diagnostics(&self.terminal, report.errors());
        let _ = print(&report, &self.terminal);
        Ok(report.exit_code())
    }
}

impl CommandReport for AccessReport {
    fn errors(&self) -> &[Diagnostic] {
        self.errors()
    }

    fn exit_code(&self) -> u8 {
        self.exit_code
    }
}

impl CommandReport for PullReport {
    fn errors(&self) -> &[Diagnostic] {
        self.errors()
    }

    fn exit_code(&self) -> u8 {
        self.exit_code
    }
}

impl CommandReport for VersionReport {
    fn errors(&self) -> &[Diagnostic] {
        self.errors()
    }

    fn exit_code(&self) -> u8 {
        self.exit_code
    }
}
