//! Calls of a program in a workspace, with a user, a URL and an input.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::helm::helm;
use super::run::Run;
use super::running::{Expected, OnTerminal, Running};
use super::target;
use super::terminal;
use super::workspace::Workspace;

/// Commands of the program that have a report.
const REPORTING: [&str; 4] = ["diff", "apply", "status", "own"];

/// Runs programs in a workspace. Each method that adds something returns the caller with it.
#[derive(Clone)]
pub struct Caller<'a> {
    workspace: &'a Workspace,
    user: String,
    server: String,
    stdin: String,
    environment: Vec<(String, String)>,
    terminal: OnTerminal,
}

impl<'a> Caller<'a> {
    pub(super) fn new(workspace: &'a Workspace, user: &str) -> Caller<'a> {
        let server = workspace.plane().url().to_owned();
        Caller {
            workspace,
            user: user.to_owned(),
            server,
            stdin: String::new(),
            environment: Vec::new(),
            terminal: OnTerminal::default(),
        }
    }

    /// Sets the URL of the API server: that of a `Relay` or `Proxy` in front of it.
    pub fn through(mut self, url: &str) -> Caller<'a> {
        url.clone_into(&mut self.server);
        self
    }

    /// Sets the text of standard input, in which `$NS` is the namespace.
    pub fn stdin(mut self, text: &str) -> Caller<'a> {
        self.stdin = self.workspace.fill_in(text);
        self
    }

    /// Runs the program with standard input and standard error on a terminal.
    pub fn on_terminal(mut self) -> Caller<'a> {
        self.terminal.stdin = true;
        self.terminal.stderr = true;
        self
    }

    /// Runs the program with standard output on the terminal as well: all text on it counts as standard error.
    pub fn printing_on_terminal(mut self) -> Caller<'a> {
        self.terminal.stdout = true;
        self.on_terminal()
    }

    /// Runs with standard output and standard error on a terminal, and standard input from elsewhere.
    pub fn printing_on_terminal_alone(mut self) -> Caller<'a> {
        self.terminal = OnTerminal { stdin: false, stdout: true, stderr: true };
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Caller<'a> {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs `kubectl`; `$NS` in an argument is the namespace.
    #[track_caller]
    pub fn kubectl<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        self.start_kubectl(arguments).finish()
    }

    /// Starts `kubectl` without waiting for its end.
    pub fn start_kubectl<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Running {
        let program = self.workspace.plane().kubectl();
        self.start("kubectl", &program, &self.fill_in(arguments), Expected::default())
    }

    /// Runs Helm of this major version, 3 or 4; `$NS` in an argument is the namespace.
    #[track_caller]
    pub fn helm<S: AsRef<str>>(&self, major: u32, arguments: impl IntoIterator<Item = S>) -> Run {
        self.start("helm", &helm(major), &self.fill_in(arguments), Expected::default()).finish()
    }

    /// Runs our program; `$NS` in an argument is the namespace.
    ///
    /// Commands with a report write it to a file, unless the arguments print it. No output or file may contain a
    /// registered secret, unless `--include-secrets` asks for it, or a command that the runner of a pipeline would run, unless
    /// `-o github` asks for its annotations.
    #[track_caller]
    pub fn reconcile<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        self.start_reconcile(arguments).finish()
    }

    /// Starts our program without waiting for its end.
    pub fn start_reconcile<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Running {
        let mut arguments = self.fill_in(arguments);
        let keeps_secrets = !arguments.iter().any(|argument| argument == "--include-secrets");
        let mut report = None;
        if REPORTING.contains(&arguments.first().map_or("", String::as_str))
            && !outputs(&arguments).any(|output| output == "json")
        {
            let path = self.workspace.home().join(format!("report-{}.json", next_number()));
            arguments.push(format!("--output=json={}", path.display()));
            report = Some(path);
        }
        let files = outputs(&arguments).filter_map(|output| output.split_once('='));
        let written = files.map(|(_, path)| self.workspace.folder().join(path)).collect();
        let program = target::program("kubectl-reconcile");
        let annotates = outputs(&arguments).any(|output| output.starts_with("github"));
        let expected = Expected { report, written, keeps_secrets, is_ours: true, annotates };
        self.start("kubectl reconcile", &program, &arguments, expected)
    }

    fn start(&self, name: &str, program: &Path, arguments: &[String], expected: Expected) -> Running {
        let mut command = terminal::command(program);
        command
            .args(arguments)
            .current_dir(self.workspace.folder())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.workspace.home())
            .env("KUBECONFIG", self.kubeconfig())
            // The name of the terminal, which a person's shell always has.
            .envs(self.terminal.stderr.then_some(("TERM", "xterm-256color")))
            .envs(self.environment.iter().cloned());
        let line = format!("{name} {}", arguments.join(" "));
        if self.terminal.stderr {
            return Running::start_on_terminal(line, &mut command, &self.stdin, self.terminal, expected);
        }
        Running::start(line, &mut command, self.stdin.clone(), expected)
    }

    /// Writes the kubeconfig that this caller uses.
    pub fn kubeconfig(&self) -> PathBuf {
        let path = self.workspace.home().join(format!("{}-{}.kubeconfig", self.user, next_number()));
        let text = self.workspace.plane().kubeconfig(&self.user, &self.server, self.workspace.namespace());
        fs::write(&path, text).expect("a kubeconfig in the workspace");
        path
    }

    fn fill_in<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Vec<String> {
        arguments.into_iter().map(|argument| self.workspace.fill_in(argument.as_ref())).collect()
    }
}

/// The values of `-o` and `--output`, in all spellings.
fn outputs(arguments: &[String]) -> impl Iterator<Item = &str> {
    let next = arguments.iter().skip(1).map(String::as_str).chain([""]);
    arguments.iter().zip(next).filter_map(|(argument, next)| match argument.strip_prefix("--output") {
        Some("") => Some(next),
        Some(value) => value.strip_prefix('='),
        None if argument == "-o" => Some(next),
        None => argument.strip_prefix("-o").map(|value| value.strip_prefix('=').unwrap_or(value)),
    })
}

/// A number for names of files that no other run uses.
fn next_number() -> usize {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

#[test]
fn outputs_are_seen_in_every_spelling() {
    let seen = |arguments: &str| {
        let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
        outputs(&arguments).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(seen("diff -f a.yaml"), "");
    assert_eq!(
        seen("diff -o json --output html=a.html -ojunit=b.xml --output=text -o=name -o"),
        "json html=a.html junit=b.xml text name "
    );
}
