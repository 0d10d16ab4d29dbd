//! The output of a run: reports in files and on stdout, text, and notes on stderr.

pub(crate) mod atomic_file;
pub(crate) mod direct_file;
pub(crate) mod events;
pub(crate) mod external_diff;
pub(crate) mod journal;
pub(crate) mod report_builder;
mod reports;
mod screen;

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{Timestamp, Unit};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::manifest::DesiredSet;
use reconcile_core::object::Shard;
use reconcile_core::text::io_reason;
use reconcile_report::formats::Format;
use reconcile_report::formats::text;
use reconcile_report::{ClusterInfo, Failure, Report, Role, StartTime, Styled, View, excerpt, hooks_left_out};
use structured_merge::ObjectKey;

use crate::cli::{ConsoleArgs, OutputArgs, OutputTarget, ShardArgs, TextArgs};
use crate::output::atomic_file::AtomicFile;
use crate::output::direct_file::{Readers, is_stream};
use crate::output::external_diff::ExternalDiff;
use crate::output::journal::{Journal, Lines};
use crate::terminal::{Closed, Pager, Terminal};
use crate::work_tree;

/// The requested reports, and the terminal.
pub(crate) struct Output {
    /// The only door to stdout and stderr.
    pub terminal: Terminal,
    /// The width, the order and the details of the text.
    pub view: View,
    targets: Vec<OutputTarget>,
    /// The lines about events, if they were asked for.
    lines: Option<Arc<Lines>>,
    /// The program that shows differences instead of the patch, if the environment names one.
    external_diff: Option<ExternalDiff>,
    /// The context, where there are several.
    context: Option<String>,
    /// False if another format than text goes to stdout.
    has_text: bool,
    /// The files of the targets, in their order, until they are written.
    files: Mutex<Vec<AtomicFile>>,
    quiet: bool,
    /// The pager, if text is to be shown page by page.
    paging: Paging,
    /// The time at which the run began.
    started: StartTime,
    /// The shard that the run is about.
    pub shard: Option<Shard>,
    /// True if the run has to know which cluster it is about, whatever its URL.
    pub identifies_cluster: bool,
    /// The text of one of several contexts, which is shown later.
    held_back: Option<Mutex<Styled>>,
}

impl Output {
    /// An output without reports: text and notes on the terminal.
    pub fn of_console(terminal: &Terminal, args: &ConsoleArgs) -> Self {
        let width = terminal.width();
        let wraps_hints = terminal.wraps();
        let view = View { width, wraps_hints, verbosity: args.verbosity, ..View::default() };
        Self::on(terminal.clone(), view)
    }

    /// An output without reports, whose text is shown in a pager if a person reads it on a terminal.
    pub fn of_text(terminal: &Terminal, args: &TextArgs, has_text: bool) -> Self {
        let now = args.relative_time.then(Timestamp::now).filter(|_| terminal.is_watched());
        let view = View {
            width: terminal.width(),
            wraps_hints: terminal.wraps(),
            full: args.full,
            verbosity: args.console.verbosity,
            now,
            ..View::default()
        };
        let is_paged = has_text && terminal.is_watched() && !args.no_pager;
        let paging = if is_paged { Paging::wanted() } else { Paging::default() };
        Self { has_text, paging, ..Self::on(terminal.clone(), view) }
    }

    fn on(terminal: Terminal, view: View) -> Self {
        Self {
            terminal,
            view,
            targets: Vec::new(),
            lines: None,
            external_diff: None,
            context: None,
            has_text: true,
            files: Mutex::default(),
            quiet: false,
            paging: Paging::default(),
            started: StartTime::of(Timestamp::now()),
            shard: None,
            identifies_cluster: false,
            held_back: None,
        }
    }

    /// Reads the flags and opens the files, so that nothing is compared or written if a report cannot be. Two formats on stdout
    /// are a usage error.
    pub fn new(args: &OutputArgs) -> Result<Self, Failure> {
        let started = started(std::env::var_os("SOURCE_DATE_EPOCH").as_deref())?;
        let terminal = Terminal::themed(args.console.color, args.console.theme, args.quiet);
        let view = view(args, &terminal);
        let targets = args.output.clone();
        let on_stdout: Vec<&Format> =
            targets.iter().filter(|target| target.file.is_none()).map(|target| target.format).collect();
        if on_stdout.len() > 1 {
            let hint = "send one of them to a file, as in `-o json=report.json`";
            return Err(Failure::refused("two reports cannot share standard output", hint));
        }
        let has_text = on_stdout.iter().all(|format| format.is_text());
        let patches = on_stdout.iter().any(|format| format.shows_versions);
        let external_diff = if patches { ExternalDiff::from_environment().map_err(Failure::invalid)? } else { None };
        let files = opened(&targets).map_err(Failure::invalid)?;
        let (streamed, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|(format, ..)| format.is_lines());
        let streamed: Vec<_> = streamed.into_iter().map(|(_, name, file)| (name, file)).collect();
        let lines_on_stdout = on_stdout.iter().any(|format| format.is_lines());
        let has_lines = lines_on_stdout || !streamed.is_empty();
        let lines = has_lines.then(|| Arc::new(Lines::new(&terminal, lines_on_stdout, streamed)));
        let files = Mutex::new(files.into_iter().map(|(.., file)| file).collect());
        let quiet = args.quiet;
        Ok(Self { targets, lines, external_diff, has_text, files, quiet, started, ..Self::on(terminal, view) })
    }

    /// Shows the text in a pager if a person reads it on a terminal: for commands that neither write nor ask.
    pub fn paged(self, args: &OutputArgs) -> Self {
        let is_wanted = self.shows_text() && self.terminal.is_watched() && !args.no_pager && !args.summary;
        Self { paging: if is_wanted { Paging::wanted() } else { Paging::default() }, ..self }
    }

    /// Sets the shard of the run, which its reports name.
    pub fn of_shard(self, ShardArgs { shard }: ShardArgs) -> Self {
        Self { shard, ..self }
    }

    /// Sets whether the reports have the uid of the cluster.
    pub fn identifying_cluster(self, is_wanted: bool) -> Self {
        Self { identifies_cluster: is_wanted, ..self }
    }

    /// Returns true if the document of the report is written, which has the uid of the cluster.
    pub fn writes_document(&self) -> bool {
        self.targets.iter().any(|target| target.format.has_document)
    }

    /// Sets whether the differences that the baseline has are shown, too.
    pub fn showing_known(mut self, show_known: bool) -> Self {
        self.view.show_known = show_known;
        self
    }

    /// Sets whether objects of which only the ownership of fields would change are shown.
    pub fn showing_ownership(mut self, shows_ownership: bool) -> Self {
        self.view.shows_ownership = shows_ownership;
        self
    }

    /// The output of one of several contexts: its notes begin with its name, and its text is kept until it is taken.
    pub fn of_context(&self, name: &str) -> Self {
        Self {
            lines: self.lines.clone(),
            context: Some(name.to_owned()),
            has_text: self.has_text,
            quiet: self.quiet,
            shard: self.shard,
            started: self.started,
            held_back: Some(Mutex::default()),
            ..Self::on(self.terminal.labelled(name), View { is_headed: true, ..self.view.clone() })
        }
    }

    /// Receives the events of the run.
    pub fn journal(&self) -> Journal {
        Journal { lines: self.lines.clone(), context: self.context.clone(), view: self.view.clone() }
    }

    /// Returns true if a format shows objects as a whole.
    pub fn shows_versions(&self) -> bool {
        self.targets.iter().any(|target| target.format.shows_versions)
    }

    /// Takes the text of one of several contexts.
    pub fn take_text(&self) -> Styled {
        let text = self.held_back.as_ref().map(|text| text.lock().unwrap_or_else(PoisonError::into_inner));
        text.map(|mut text| std::mem::take(&mut *text)).unwrap_or_default()
    }

    /// Prints text, if stdout is for text.
    pub fn text(&self, text: &Styled) -> Result<(), Closed> {
        match &self.held_back {
            _ if !self.has_text => Ok(()),
            None => self.paging.show(text, &self.terminal),
            Some(held_back) => {
                held_back.lock().unwrap_or_else(PoisonError::into_inner).append(text.clone());
                Ok(())
            }
        }
    }

    /// Returns true if text is shown on stdout.
    pub fn shows_text(&self) -> bool {
        self.has_text && !self.terminal.is_quiet()
    }

    /// Prints progress on stderr, unless quiet.
    pub fn progress(&self, text: &Styled) {
        if !self.quiet {
            self.terminal.message(text);
        }
    }

    /// Says on stderr how many hooks are left out, and what the records warn of that the manifests come from.
    pub fn remark_on(&self, desired: &DesiredSet) {
        if let Some(left_out) = hooks_left_out(desired.hooks_left_out()) {
            self.terminal.note(Role::Note, &left_out);
        }
        self.terminal.warn(&desired.remarks);
    }

    /// Prints the errors and warnings of the run as a whole.
    pub fn warn(&self, report: &Report) {
        print_diagnostics(&self.terminal, &report.errors);
        self.terminal.warn(&report.warnings);
    }

    /// Names the cluster that a run is going to change, on stderr, unless something names it already.
    pub fn name_cluster(&self, info: &ClusterInfo) {
        if !self.view.is_headed {
            self.progress(&text::cluster_line(info));
        }
    }

    /// A report of this run, with its shard and the time at which it began.
    pub fn identified(&self, report: Report) -> Report {
        Report { shard: self.shard, time: Some(self.started), ..report }
    }

    /// Prints details (`-v`).
    pub fn details(&self, lines: &[String]) {
        if self.view.verbosity > 0 {
            for line in lines {
                self.terminal.note(Role::Note, line);
            }
        }
    }
}

/// Opens the files of the targets, each of which holds one report.
fn opened(targets: &[OutputTarget]) -> Result<Vec<(&'static Format, String, AtomicFile)>, Diagnostic> {
    let mut files: Vec<(&Format, String, AtomicFile)> = Vec::new();
    for (format, name) in targets.iter().filter_map(|target| Some((target.format, target.file.as_ref()?))) {
        let path = Path::new(name);
        if !is_stream(path) && files.iter().any(|(_, other, _)| other == name) {
            let diagnostic = Diagnostic::of_file(name, "two reports cannot share a file");
            return Err(diagnostic.with_hint("give each of them a file of its own"));
        }
        let file = AtomicFile::open(path, Readers::Usual).map_err(|error| unwritable(name, &error))?;
        files.push((format, name.clone(), file));
    }
    Ok(files)
}

/// The time, in seconds (RFC 3339).
pub(crate) fn now() -> String {
    let now = Timestamp::now();
    now.round(Unit::Second).unwrap_or(now).to_string()
}

/// An error for a file that cannot be written.
pub(crate) fn unwritable(file: &str, error: &std::io::Error) -> Diagnostic {
    Diagnostic::of_file(file, format!("cannot be written: {}", io_reason(error)))
}

/// Prints diagnostics on stderr.
pub(crate) fn print_diagnostics(terminal: &Terminal, diagnostics: &[Diagnostic]) {
    let before = |diagnostic: &Diagnostic| format!("{}: ", diagnostic.severity);
    terminal.message(&excerpt::diagnostics(diagnostics.iter(), "", terminal.error_columns(), before));
}

/// Prints on stderr why something could not be done with one object.
pub(crate) fn print_error_of(key: &ObjectKey, error: &Diagnostic, terminal: &Terminal) {
    terminal.note(Role::Error, &format!("error: {key}: {}", error.message));
    if let Some(hint) = &error.hint {
        terminal.note(Role::Hint, &format!("  hint: {hint}"));
    }
}

/// The time at which a run begins: the present one, or that of `SOURCE_DATE_EPOCH` in seconds since 1970.
fn started(epoch: Option<&OsStr>) -> Result<StartTime, Failure> {
    let Some(epoch) = epoch.filter(|epoch| !epoch.is_empty()) else { return Ok(StartTime::of(Timestamp::now())) };
    epoch.to_str().and_then(StartTime::of_epoch).ok_or_else(|| {
        let message = "`SOURCE_DATE_EPOCH` is not a time in seconds since 1970";
        Failure::refused(message, "unset it, or set it to a number such as the output of `date +%s`")
    })
}

/// The view of the text on standard output.
fn view(args: &OutputArgs, terminal: &Terminal) -> View {
    let folder = std::env::current_dir().ok();
    let repository = folder.as_deref().and_then(work_tree::root).map(Arc::from);
    View {
        width: terminal.width(),
        wraps_hints: terminal.wraps(),
        full: args.full,
        summary: args.summary,
        is_headed: false,
        show_known: false,
        shows_ownership: false,
        sort: args.sort.into(),
        verbosity: args.console.verbosity,
        now: args.relative_time.then(Timestamp::now).filter(|_| terminal.is_watched()),
        folder: folder.map(Arc::from),
        repository,
    }
}

/// The way of text to standard output. The pager starts with the first text.
#[derive(Default)]
pub(crate) struct Paging(Mutex<PagerState>);

#[derive(Default)]
enum PagerState {
    /// To the terminal.
    #[default]
    Direct,
    /// To a pager, once there is any.
    Wanted,
    /// To this one.
    Begun(Pager),
}

impl Paging {
    /// With a pager, if this person has one.
    pub fn wanted() -> Self {
        Self(Mutex::new(PagerState::Wanted))
    }

    /// Shows text.
    pub fn show(&self, text: &Styled, terminal: &Terminal) -> Result<(), Closed> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, PagerState::Wanted) && !text.is_empty() {
            *state = Pager::start().map_or(PagerState::Direct, PagerState::Begun);
        }
        match &mut *state {
            PagerState::Begun(pager) => pager.write(&terminal.painted(text)),
            PagerState::Direct | PagerState::Wanted => terminal.text(text),
        }
    }
}
