//! Where reports go.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::cli::{Format, OutputArgs, OutputTarget};
use crate::desired::InputProblem;
use crate::report::styled::{Role, Styled};
use crate::report::{EXIT_INVALID, FailOn, Report, excerpt, json, text};
use crate::session::failure::Failure;
use crate::session::report_file::{Readers, ReportFile};
use crate::terminal::{Closed, Terminal, plain};
use crate::text::io_reason;

/// The formats that were asked for, and the terminal.
pub(crate) struct Output {
    /// The only door to stdout and stderr.
    pub terminal: Terminal,
    targets: Vec<OutputTarget>,
    /// The files among them, in their order, until they are written.
    files: Mutex<Vec<ReportFile>>,
    quiet: bool,
}

impl Output {
    /// Reads the flags, and opens the files: nothing is compared or written where a report could not be. Two formats on stdout
    /// are a usage error as well, told here, with its exit code; a report to a file leaves the text on stdout.
    pub fn new(args: &OutputArgs) -> Result<Self, u8> {
        let terminal = Terminal::new(args.console.color, args.quiet);
        let mut targets = args.output.clone();
        match targets.iter().filter(|target| target.file.is_none()).count() {
            0 => targets.push(OutputTarget { format: Format::Text, file: None }),
            1 => {}
            _ => {
                let problem = InputProblem::general("two reports can't share stdout")
                    .with_hint("send one of them to a file, as in `-o json=report.json`");
                tell(&terminal, &[problem]);
                return Err(EXIT_INVALID);
            }
        }
        let open =
            |file: &String| ReportFile::open(Path::new(file), Readers::Usual).map_err(|error| unwritable(file, &error));
        let files: Result<Vec<ReportFile>, InputProblem> =
            targets.iter().filter_map(|target| target.file.as_ref()).map(open).collect();
        match files {
            Ok(files) => Ok(Self { terminal, targets, files: Mutex::new(files), quiet: args.quiet }),
            Err(problem) => {
                tell(&terminal, &[problem]);
                Err(EXIT_INVALID)
            }
        }
    }

    /// Text for people, if stdout is for them.
    pub fn text(&self, text: &Styled) -> Result<(), Closed> {
        if self.has_text() { self.terminal.text(text) } else { Ok(()) }
    }

    /// Whether people see the text on stdout.
    pub fn shows_text(&self) -> bool {
        self.has_text() && !self.terminal.is_quiet()
    }

    fn has_text(&self) -> bool {
        self.targets.iter().any(|target| target.format == Format::Text && target.file.is_none())
    }

    /// Writes what belongs into files and, of machine formats, to stdout; answers with the exit code.
    pub fn finish(&self, report: &Report) -> Result<u8, Closed> {
        let mut code = report.exit_code;
        let mut files = std::mem::take(&mut *self.files.lock().unwrap_or_else(PoisonError::into_inner)).into_iter();
        for target in &self.targets {
            match (&target.file, target.format) {
                (None, Format::Text) => {}
                (None, Format::Json) => self.terminal.data(&json::render(report))?,
                (Some(file), format) => {
                    let written = files.next().map_or(Ok(()), |to| to.write(render(report, format).as_bytes()));
                    if let Err(error) = written {
                        tell(&self.terminal, &[unwritable(file, &error)]);
                        code = code.max(EXIT_INVALID);
                    }
                }
            }
        }
        Ok(code)
    }

    /// Tells on stderr what happens meanwhile, unless quiet.
    pub fn news(&self, text: &Styled) {
        if !self.quiet {
            self.terminal.message(text);
        }
    }

    /// Tells what concerns the run as a whole.
    pub fn warn(&self, report: &Report) {
        tell(&self.terminal, &report.errors);
        for warning in &report.warnings {
            self.terminal.note(Role::Note, &format!("warning: {warning}"));
        }
    }

    /// Lines for those who want to know more (`-v`).
    pub fn details(&self, verbosity: u8, lines: &[String]) {
        if verbosity > 0 {
            for line in lines {
                self.terminal.note(Role::Note, line);
            }
        }
    }

    /// Reports a run that ended before it compared anything.
    pub fn failed(&self, command: &'static str, failure: Failure) -> u8 {
        tell(&self.terminal, &failure.problems);
        let report = Report::stopped(command, failure.verdict, failure.problems, FailOn::default());
        self.finish(&report).unwrap_or(report.exit_code)
    }
}

/// Why a file cannot be written.
pub(crate) fn unwritable(file: &str, error: &std::io::Error) -> InputProblem {
    InputProblem::of_file(file, format!("cannot be written: {}", io_reason(error)))
}

/// Tells problems on stderr.
pub(crate) fn tell(terminal: &Terminal, problems: &[InputProblem]) {
    for problem in problems {
        terminal.message(&excerpt::problem(problem, "", &format!("{}: ", problem.severity)));
    }
}

fn render(report: &Report, format: Format) -> String {
    match format {
        Format::Json => json::render(report),
        Format::Text => plain(&text::whole(report)),
    }
}
