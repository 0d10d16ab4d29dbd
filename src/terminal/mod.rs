//! The only access to stdout and stderr: colours, progress, the pager, and untrusted text made visible.

mod bug;
mod heartbeat;
mod pager;
pub(crate) mod signals;

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::{BufRead as _, ErrorKind, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reconcile_core::text::{io_reason, visible_line};
use reconcile_report::excerpt::CONTINUED;
use reconcile_report::formats::unified;
use reconcile_report::{Role, STANDARD, Styled, Theme, View, paint};
use tokio::sync::oneshot::{Receiver, channel};

use heartbeat::{Heartbeat, Live};

pub use bug::report_panics;
pub(crate) use heartbeat::in_words;
pub use pager::Pager;

/// The choice of coloured text (`--color`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal unless `NO_COLOR` is set or `TERM` is `dumb`, and elsewhere if `CLICOLOR_FORCE` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Both streams, with their colours decided once.
#[derive(Clone, Debug)]
pub struct Terminal {
    inner: Arc<Streams>,
    /// The context that messages are about, if several contexts run at the same time.
    label: Option<Arc<str>>,
}

#[derive(Debug)]
struct Streams {
    stdout_colored: bool,
    stderr_colored: bool,
    quiet: bool,
    theme: &'static Theme,
    /// The live line, on a terminal that a person watches and unless quiet.
    live: Option<Live>,
}

/// Shows the progress of some work until it is dropped.
#[derive(Debug)]
pub struct Progress {
    live: Option<Live>,
    heartbeat: Option<Heartbeat>,
}

impl Progress {
    /// Shows the number of finished steps.
    pub fn at(&self, step: usize) {
        if let Some(live) = &self.live {
            live.at(step);
        }
    }

    /// Shows what the run waits for.
    pub fn slow(&self, what: Option<String>) {
        if let Some(live) = &self.live {
            live.says(what.as_deref().unwrap_or_default());
        }
        if let Some(heartbeat) = &self.heartbeat {
            heartbeat.says(what);
        }
    }

    /// Writes a line to stderr every ten seconds where no live line is shown.
    pub fn with_heartbeat(mut self, terminal: &Terminal) -> Self {
        if self.live.is_none() && !terminal.is_quiet() {
            let terminal = terminal.clone();
            let tell = move |line: &str| terminal.note(Role::Note, line);
            self.heartbeat = Some(Heartbeat::new(heartbeat::INTERVAL, tell));
        }
        self
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(live) = &self.live {
            live.end();
        }
    }
}

/// Stdout cannot be written any more. If its reader closed it, the run ends quietly; any other reason is reported on stderr.
#[derive(Debug)]
pub struct Closed;

/// True once output to stdout is lost, because a disk is full, for example.
static LOST: AtomicBool = AtomicBool::new(false);

/// Returns true if output to stdout is lost for another reason than a reader who closed it.
pub fn has_lost_output() -> bool {
    LOST.load(Ordering::Relaxed)
}

impl Terminal {
    /// Decides on colours.
    pub fn new(choice: ColorChoice, quiet: bool) -> Self {
        Self::themed(choice, &STANDARD, quiet)
    }

    /// Decides on colours, and takes those of a theme.
    pub fn themed(choice: ColorChoice, theme: &'static Theme, quiet: bool) -> Self {
        let wanted = |is_terminal: bool| match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
                let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                !refused && (is_terminal && !is_dumb() || set("CLICOLOR_FORCE"))
            }
        };
        let stdout_colored = wanted(std::io::stdout().is_terminal());
        let stderr_colored = wanted(std::io::stderr().is_terminal());
        let is_watched = std::io::stderr().is_terminal() && !is_pipeline() && !is_dumb();
        let live = (is_watched && !quiet).then(Live::new);
        Self { inner: Arc::new(Streams { stdout_colored, stderr_colored, quiet, theme, live }), label: None }
    }

    /// A terminal on which each line on stderr begins with a name. It shows no progress, as there is only one live line.
    pub fn labelled(&self, name: &str) -> Self {
        Self { inner: Arc::clone(&self.inner), label: Some(name.into()) }
    }

    /// Returns true if `--quiet` is given.
    pub fn is_quiet(&self) -> bool {
        self.inner.quiet
    }

    /// Returns true if stdout is a terminal and text is wanted.
    pub fn is_watched(&self) -> bool {
        std::io::stdout().is_terminal() && !self.inner.quiet
    }

    /// Columns of a line of stdout: those of the terminal, or else those of `COLUMNS`.
    pub fn width(&self) -> usize {
        let size = terminal_size::terminal_size_of(std::io::stdout());
        size.map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0).unwrap_or_else(default_width)
    }

    /// Returns true if somebody looks at lines of a width: on a terminal, or where `COLUMNS` sets it. In a log, lines have no width.
    pub fn wraps(&self) -> bool {
        std::io::stdout().is_terminal() || std::io::stderr().is_terminal() || columns_set().is_some()
    }

    /// Columns of a line of stderr, if it is a terminal.
    pub fn error_columns(&self) -> Option<usize> {
        let size = terminal_size::terminal_size_of(std::io::stderr());
        size.map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
    }

    /// Prints text for people to stdout, unless quiet.
    pub fn text(&self, text: &Styled) -> Result<(), Closed> {
        if self.inner.quiet { Ok(()) } else { self.data(&self.painted(text)) }
    }

    /// Text as stdout shows it.
    pub(crate) fn painted(&self, text: &Styled) -> String {
        paint(text, self.inner.stdout_colored.then_some(self.inner.theme))
    }

    /// Prints a patch to stdout: as it is, or in colours.
    pub fn patch(&self, text: &str) -> Result<(), Closed> {
        if self.inner.stdout_colored { self.data(&unified::colored(text, self.inner.theme)) } else { self.data(text) }
    }

    /// Prints a document to stdout as it is.
    pub fn data(&self, text: &str) -> Result<(), Closed> {
        let written = self.aside(|| {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
        });
        written.map_err(|error| {
            if error.kind() != ErrorKind::BrokenPipe && !LOST.swap(true, Ordering::Relaxed) {
                let reason = io_reason(&error);
                self.note(Role::Error, &format!("error: standard output cannot be written: {reason}"));
            }
            Closed
        })
    }

    /// Prints a document to stdout: unchanged for a program, and with hidden characters made visible on a terminal.
    pub fn document(&self, text: &str) -> Result<(), Closed> {
        if !std::io::stdout().is_terminal() {
            return self.data(text);
        }
        let mut lines = String::with_capacity(text.len());
        for line in text.lines() {
            lines.push_str(&visible_line(line));
            lines.push('\n');
        }
        self.data(&lines)
    }

    /// Prints a note to stderr. Errors of stderr itself are ignored.
    pub fn note(&self, role: Role, line: &str) {
        let mut text = Styled::new();
        for (index, part) in line.split('\n').enumerate() {
            // What follows a first line is a text of others.
            if index > 0 {
                text.line_end();
                text.push(role, CONTINUED);
            }
            text.push(role, part);
        }
        text.line_end();
        self.message(&text);
    }

    /// Prints warnings to stderr.
    pub fn warn(&self, warnings: impl IntoIterator<Item = impl Display>) {
        for warning in warnings {
            self.note(Role::Note, &format!("warning: {warning}"));
        }
    }

    /// Returns true if a live line shows the progress, so that no line is needed for each step.
    pub fn is_live(&self) -> bool {
        self.live().is_some()
    }

    /// Starts to show the progress of some work, in steps.
    #[must_use = "it is shown until it is dropped"]
    pub fn progress(&self, what: &str, steps: usize) -> Progress {
        if let Some(live) = self.live() {
            live.begin(what, steps);
        }
        Progress { live: self.live().cloned(), heartbeat: None }
    }

    fn live(&self) -> Option<&Live> {
        self.inner.live.as_ref().filter(|_| self.label.is_none())
    }

    fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        match &self.inner.live {
            Some(live) => live.aside(write),
            None => write(),
        }
    }

    /// Prints text to stderr.
    pub fn message(&self, text: &Styled) {
        let theme = self.inner.stderr_colored.then_some(self.inner.theme);
        let text = match &self.label {
            Some(label) => paint(&labelled(text, label), theme),
            None => paint(text, theme),
        };
        self.aside(|| drop(std::io::stderr().lock().write_all(text.as_bytes())));
    }
}

/// Text whose lines begin with a name.
fn labelled(text: &Styled, label: &str) -> Styled {
    let mut lines = Styled::new();
    let mut is_start = true;
    for (role, span) in text.spans() {
        if std::mem::replace(&mut is_start, false) {
            lines.push(Role::Note, format!("[{label}] "));
        }
        if span == "\n" {
            lines.line_end();
            is_start = true;
        } else {
            lines.push(*role, span.clone());
        }
    }
    lines
}

/// Columns of a line that is not written to a terminal: those of `COLUMNS`, or else the default.
pub fn default_width() -> usize {
    columns_set().unwrap_or(View::WIDTH)
}

fn columns_set() -> Option<usize> {
    std::env::var("COLUMNS").ok().and_then(|columns| columns_of(&columns))
}

/// The columns that `COLUMNS` sets, at most as many as a terminal can have: lines are filled up with blanks as far as that.
fn columns_of(text: &str) -> Option<usize> {
    let columns: usize = text.trim().parse().ok()?;
    (columns > 0).then_some(columns.min(u16::MAX.into()))
}

/// Returns true in a pipeline: `CI` is set, and neither empty nor `false`.
fn is_pipeline() -> bool {
    says_pipeline(std::env::var_os("CI"))
}

/// Returns true if the terminal can only print lines: `TERM` is `dumb` or, as in git, not set. Windows does not set it.
fn is_dumb() -> bool {
    std::env::var_os("TERM").map_or(!cfg!(windows), |term| says_dumb(&term))
}

fn says_pipeline(ci: Option<OsString>) -> bool {
    ci.is_some_and(|ci| !ci.is_empty() && ci != "false")
}

fn says_dumb(term: &OsStr) -> bool {
    term.is_empty() || term == "dumb"
}

/// Returns true if a person can be asked: stderr and stdin are terminals.
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Reads one line of the terminal. At the end of input, there is none. A read cannot be cancelled: it goes on
/// after its caller has stopped waiting.
pub fn read_line() -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line).is_ok_and(|read| read > 0) {
            // If this fails, the run is over.
            let _ = sender.send(line);
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use reconcile_report::plain;

    use super::*;

    #[test]
    fn columns_are_a_number_as_wide_as_a_terminal_can_be() {
        for (text, columns) in [
            (" 100\n", Some(100)),
            ("100000", Some(65_535)),
            ("4294967295", Some(65_535)),
            ("0", None),
            ("-1", None),
            ("wide", None),
        ] {
            assert_eq!(columns_of(text), columns, "{text}");
        }
    }

    #[test]
    fn each_line_says_whose_it_is() {
        let mut text = Styled::new().with(Role::Error, "error: a").with(Role::Plain, "b");
        text.line_end();
        text.push(Role::Hint, "hint: c");
        text.line_end();
        assert_eq!(plain(&labelled(&text, "prod")), "[prod] error: ab\n[prod] hint: c\n");
        assert_eq!(plain(&labelled(&text, "a\u{1b}[2J")).matches('\u{1b}').count(), 0);
    }

    #[test]
    fn a_variable_that_is_empty_or_false_is_no_pipeline() {
        for (ci, expected) in
            [(None, false), (Some(""), false), (Some("false"), false), (Some("true"), true), (Some("1"), true)]
        {
            assert_eq!(says_pipeline(ci.map(OsString::from)), expected, "{ci:?}");
        }
    }

    #[test]
    fn a_terminal_without_a_name_is_dumb() {
        for (term, expected) in [("", true), ("dumb", true), ("xterm-256color", false)] {
            assert_eq!(says_dumb(OsStr::new(term)), expected, "{term}");
        }
    }
}
