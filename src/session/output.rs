//! Where reports go.

use std::path::Path;
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

use crate::cli::{OutputArgs, OutputTarget};
use crate::diagnostic::Diagnostic;
use crate::report::format::{Format, Render};
use crate::report::styled::{Role, Styled};
use crate::report::{Command, EXIT_INVALID, Report, Reports, View, excerpt};
use crate::session::failure::Failure;
use crate::session::report_file::{Readers, ReportFile};
use crate::terminal::{self, Closed, Pager, Terminal, plain};
use crate::text::io_reason;

/// Whether text goes through a pager.
#[derive(Default)]
enum Paging {
    /// It goes to the terminal.
    #[default]
    No,
    /// It will, once there is any.
    Wanted,
    /// It does.
    Begun(Pager),
}

/// The requested reports, and the terminal.
pub(crate) struct Output {
    /// The only door to stdout and stderr.
    pub terminal: Terminal,
    /// How the text is shown.
    pub view: View,
    targets: Vec<OutputTarget>,
    /// Whether text goes to stdout, as it does unless another format does.
    has_text: bool,
    /// The files of the targets, in their order, until they are written.
    files: Mutex<Vec<ReportFile>>,
    quiet: bool,
    /// The pager, if text is to be shown page by page.
    pager: Mutex<Paging>,
    /// Text that is shown later: that of one of several contexts.
    held_back: Option<Mutex<Styled>>,
}

impl Output {
    /// Reads the flags and opens the files, so that nothing is compared or written if a report cannot be. Two formats on stdout
    /// are a usage error. Problems are printed here, and returned as an exit code.
    pub fn new(args: &OutputArgs) -> Result<Self, u8> {
        let terminal = Terminal::themed(args.console.color, args.console.theme, args.quiet);
        let view = view(args, &terminal);
        let targets = args.output.clone();
        let on_stdout: Vec<&Format> =
            targets.iter().filter(|target| target.file.is_none()).map(|target| target.format).collect();
        if on_stdout.len() > 1 {
            let problem = Diagnostic::general("two reports cannot share standard output")
                .with_hint("send one of them to a file, as in `-o json=report.json`");
            tell(&terminal, &[problem]);
            return Err(EXIT_INVALID);
        }
        let has_text = on_stdout.iter().all(|format| format.is_text());
        let open =
            |file: &String| ReportFile::open(Path::new(file), Readers::Usual).map_err(|error| unwritable(file, &error));
        let files: Result<Vec<ReportFile>, Diagnostic> =
            targets.iter().filter_map(|target| target.file.as_ref()).map(open).collect();
        match files {
            Ok(files) => Ok(Self {
                terminal,
                view,
                targets,
                has_text,
                files: Mutex::new(files),
                quiet: args.quiet,
                pager: Mutex::default(),
                held_back: None,
            }),
            Err(problem) => {
                tell(&terminal, &[problem]);
                Err(EXIT_INVALID)
            }
        }
    }

    /// The same, with the text in a pager if a person reads it on a terminal: for commands that neither write nor ask.
    #[must_use]
    pub fn paged(self, args: &OutputArgs) -> Self {
        let is_wanted = self.shows_text() && self.terminal.is_watched() && !args.no_pager && !args.summary;
        let pager = Mutex::new(if is_wanted { Paging::Wanted } else { Paging::No });
        Self { pager, ..self }
    }

    /// The output of one of several contexts: its notes begin with its name, and its text is kept until it is taken.
    pub fn of_context(&self, name: &str) -> Self {
        Self {
            terminal: self.terminal.labelled(name),
            view: self.view.clone(),
            targets: Vec::new(),
            has_text: self.has_text,
            files: Mutex::default(),
            quiet: self.quiet,
            pager: Mutex::default(),
            held_back: Some(Mutex::default()),
        }
    }

    /// The text of one of several contexts that was not taken yet.
    pub fn take_text(&self) -> Styled {
        let text = self.held_back.as_ref().map(|text| text.lock().unwrap_or_else(PoisonError::into_inner));
        text.map(|mut text| std::mem::take(&mut *text)).unwrap_or_default()
    }

    /// Prints text, if stdout is for text.
    pub fn text(&self, text: &Styled) -> Result<(), Closed> {
        match &self.held_back {
            _ if !self.has_text => Ok(()),
            None => self.show(text),
            Some(held_back) => {
                held_back.lock().unwrap_or_else(PoisonError::into_inner).append(text.clone());
                Ok(())
            }
        }
    }

    fn show(&self, text: &Styled) -> Result<(), Closed> {
        let mut paging = self.pager.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*paging, Paging::Wanted) && !text.is_empty() {
            *paging = Pager::start().map_or(Paging::No, Paging::Begun);
        }
        match &mut *paging {
            Paging::Begun(pager) => pager.write(&self.terminal.painted(text)),
            Paging::No | Paging::Wanted => self.terminal.text(text),
        }
    }

    /// Returns true if text is shown on stdout.
    pub fn shows_text(&self) -> bool {
        self.has_text && !self.terminal.is_quiet()
    }

    /// Writes the reports that go to files, and data that goes to stdout. Returns the exit code.
    pub fn finish(&self, report: &Report) -> Result<u8, Closed> {
        self.write(report.exit_code, report, |format| &format.render)
    }

    /// The same for the reports of several contexts.
    pub fn finish_all(&self, reports: &Reports) -> Result<u8, Closed> {
        self.write(reports.exit_code, reports, |format| &format.render_all)
    }

    fn write<R>(&self, exit_code: u8, report: &R, render: fn(&Format) -> &Render<R>) -> Result<u8, Closed> {
        let mut code = exit_code;
        let mut files = std::mem::take(&mut *self.files.lock().unwrap_or_else(PoisonError::into_inner)).into_iter();
        for target in &self.targets {
            match (&target.file, render(target.format)) {
                // The command has printed it.
                (None, Render::Text(_)) => {}
                (None, Render::Data(data)) => self.terminal.data(&data(report, &self.view))?,
                (Some(file), render) => {
                    let written =
                        files.next().map_or(Ok(()), |to| to.write(content(report, render, &self.view).as_bytes()));
                    if let Err(error) = written {
                        tell(&self.terminal, &[unwritable(file, &error)]);
                        code = code.max(EXIT_INVALID);
                    }
                }
            }
        }
        Ok(code)
    }

    /// Prints progress on stderr, unless quiet.
    pub fn news(&self, text: &Styled) {
        if !self.quiet {
            self.terminal.message(text);
        }
    }

    /// Prints the errors and warnings of the run as a whole.
    pub fn warn(&self, report: &Report) {
        tell(&self.terminal, &report.errors);
        for warning in &report.warnings {
            self.terminal.note(Role::Note, &format!("warning: {warning}"));
        }
    }

    /// Prints details (`-v`).
    pub fn details(&self, verbosity: u8, lines: &[String]) {
        if verbosity > 0 {
            for line in lines {
                self.terminal.note(Role::Note, line);
            }
        }
    }

    /// Reports a run that ended before it compared anything. Returns the exit code.
    pub fn failed(&self, command: Command, failure: Failure) -> u8 {
        tell(&self.terminal, &failure.problems);
        let report = Report::stopped(command, failure.verdict, failure.problems);
        self.finish(&report).unwrap_or(report.exit_code)
    }
}

/// The problem of a file that cannot be written.
pub(crate) fn unwritable(file: &str, error: &std::io::Error) -> Diagnostic {
    Diagnostic::of_file(file, format!("cannot be written: {}", io_reason(error)))
}

/// Prints problems on stderr.
pub(crate) fn tell(terminal: &Terminal, problems: &[Diagnostic]) {
    terminal.message(&excerpt::problems(problems.iter(), "", |problem| format!("{}: ", problem.severity)));
}

/// Returns the content of a file.
fn content<R>(report: &R, render: &Render<R>, view: &View) -> String {
    let view = View { width: terminal::width_elsewhere(), now: None, ..view.clone() };
    match render {
        Render::Data(data) => data(report, &view),
        Render::Text(text) => plain(&text(report, &view)),
    }
}

/// How text is shown on standard output.
fn view(args: &OutputArgs, terminal: &Terminal) -> View {
    View {
        width: terminal.width(),
        full: args.full,
        summary: args.summary,
        sort: args.sort.into(),
        verbosity: args.console.verbosity,
        now: args.relative_time.then(Timestamp::now).filter(|_| terminal.is_watched()),
        folder: std::env::current_dir().ok().map(Arc::from),
    }
}
