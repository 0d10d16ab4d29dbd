//! Writes the reports of a run, and what they say on standard error.

use std::sync::PoisonError;

use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::pass::Outcome;
use reconcile_core::text::one_line;
use reconcile_report::formats::text::outcomes;
use reconcile_report::formats::{Render, unified};
use reconcile_report::{
    Command, ConfigurationInfo, ContextReport, EXIT_INVALID, EXIT_SUCCESS, Failure, ObjectReport, Report, Reports,
    Role, Verdict, View, left_alone, plain,
};

use crate::cli::OutputTarget;
use crate::output::{Output, print_diagnostics, unwritable};
use crate::terminal::{self, Closed, Terminal};

/// Longest remark on stderr, in characters.
const REMARK: usize = 1_000;
/// The number of objects whose errors are printed where no output has them.
const ERRORS: usize = 20;

impl Output {
    /// Writes the reports that go to files, also where stdout is closed, and data that goes to stdout. Returns the exit code.
    pub fn finish(&self, reports: &Reports) -> u8 {
        let mut code = reports.exit_code;
        let mut files = std::mem::take(&mut *self.files.lock().unwrap_or_else(PoisonError::into_inner)).into_iter();
        let mut lines = self.lines.as_ref();
        let mut unwritten = Vec::new();
        let shown = self.view.all_shown(reports);
        for target in &self.targets {
            let reports = if target.format.has_known { reports } else { &*shown };
            match (&target.file, &target.format.render) {
                // The command has printed the text.
                (None, Render::Text(_)) => {}
                // Reports to files are written even if standard output is closed.
                (None, Render::Data(data)) => drop(self.terminal.data(&data(reports, &self.view))),
                (None, Render::Patch(patch)) => code = code.max(self.print(reports, *patch)),
                // The same lines go wherever they were asked for.
                (_, Render::Lines(last)) => {
                    if let Some(lines) = lines.take() {
                        unwritten.extend(lines.end(&last(reports, &self.view)));
                    }
                }
                (Some(file), render) => {
                    let content = content(reports, render, &self.view);
                    let written = files.next().map_or(Ok(()), |to| to.write(content.as_bytes()));
                    unwritten.extend(written.err().map(|error| (file.clone(), error)));
                }
            }
        }
        self.remark(reports);
        for (file, error) in unwritten {
            print_diagnostics(&self.terminal, &[unwritable(&file, &error)]);
            code = code.max(EXIT_INVALID);
        }
        code
    }

    /// Prints a patch on stdout, or has a program show the difference. Returns the exit code.
    fn print(&self, reports: &Reports, patch: fn(&Reports, &View) -> String) -> u8 {
        let Some(program) = self.external_diff.as_ref().filter(|_| reports.command == Command::Diff) else {
            drop(self.terminal.patch(&patch(reports, &self.view)));
            return EXIT_SUCCESS;
        };
        for remark in unified::remarks(reports, &self.view) {
            self.terminal.note(Role::Note, &remark);
        }
        program.show(&unified::files(reports)).unwrap_or_else(|diagnostic| {
            print_diagnostics(&self.terminal, &[diagnostic]);
            EXIT_INVALID
        })
    }

    /// Names on stderr the rules in force, the hooks that are left out and the errors of objects, if no output of the run does, or if names
    /// alone are on stdout.
    fn remark(&self, reports: &Reports) {
        let is_text_on_stdout = |target: &OutputTarget| target.file.is_none() && target.format.is_text();
        let says_it = |target: &OutputTarget| target.format.has_remarks && !is_text_on_stdout(target);
        let is_names_alone = |target: &OutputTarget| target.file.is_none() && !target.format.has_remarks;
        let is_said = self.shows_text() || self.targets.iter().any(says_it);
        if is_said && !self.targets.iter().any(is_names_alone) {
            return;
        }
        for ContextReport { context, report, .. } in &reports.contexts {
            // The progress of an apply has said them.
            if self.quiet || report.command != Command::Apply {
                self.print_errors(context.as_deref(), report);
            }
            let has_rules = report.configuration.as_ref().is_some_and(ConfigurationInfo::has_rules);
            let hides = has_rules || report.summary.hooks > 0 || report.has_known();
            if let Some(remark) = left_alone(report).filter(|_| hides) {
                let context = context.as_ref().map(|context| format!("{context}: ")).unwrap_or_default();
                self.terminal.note(Role::Note, &one_line(&format!("{context}{remark}"), REMARK));
            }
        }
    }

    /// Prints on stderr why objects could not be compared or written, of the first ones.
    fn print_errors(&self, context: Option<&str>, report: &Report) {
        let context = context.map(|context| format!("{context}: ")).unwrap_or_default();
        let reason = |object: &ObjectReport| match &object.messages.error {
            // That the run was interrupted is known.
            Some(error) if error.code == Code::Interrupted => None,
            Some(error) => Some(error.message.clone()),
            None if object.run.outcome == Some(Outcome::Skipped) && report.verdict == Verdict::Interrupted => None,
            None if object.is_undone() => outcomes::reason(object),
            None => None,
        };
        let failed = report.objects.iter().filter_map(|object| Some((&object.key, reason(object)?)));
        let failed: Vec<String> = failed.map(|(key, reason)| format!("error: {context}{key}: {reason}")).collect();
        for line in failed.iter().take(ERRORS) {
            self.terminal.note(Role::Error, &one_line(line, REMARK));
        }
        if let Some(more) = failed.len().checked_sub(ERRORS).filter(|more| *more > 0) {
            self.terminal.note(Role::Error, &format!("error: {context}… {more} more"));
        }
    }

    /// Reports a run that ended before it compared anything. Returns the exit code.
    pub fn failed(&self, command: Command, failure: Failure) -> u8 {
        print_diagnostics(&self.terminal, &failure.diagnostics);
        let report = Report::stopped(command, failure.verdict, failure.diagnostics);
        self.finish(&self.identified(report).into())
    }

    /// Prints the errors of a report, and then the report. A reader that went away ends the run quietly.
    pub fn print_report(&self, errors: &[Diagnostic], print: impl FnOnce(&Terminal) -> Result<(), Closed>) {
        print_diagnostics(&self.terminal, errors);
        let _ = print(&self.terminal);
    }
}

/// Returns the content of a file.
fn content(reports: &Reports, render: &Render, view: &View) -> String {
    let view = View { width: terminal::default_width(), now: None, ..view.clone() };
    match render {
        Render::Data(data) | Render::Patch(data) | Render::Lines(data) => data(reports, &view),
        Render::Text(text) => plain(&text(reports, &view)),
    }
}
