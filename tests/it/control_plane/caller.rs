//! One way of calling a program in a workspace: as whom, through what, with what input.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::run::Run;
use super::secrets::leaked_secret;
use super::workspace::Workspace;

/// A command that runs for longer than this hangs.
const DEADLINE: Duration = Duration::from_mins(3);

/// Runs programs in a workspace. Each method that adds something returns the caller with it.
#[derive(Clone)]
#[must_use]
pub struct Caller<'a> {
    workspace: &'a Workspace,
    user: String,
    server: String,
    stdin: String,
    environment: Vec<(String, String)>,
}

impl<'a> Caller<'a> {
    pub(super) fn new(workspace: &'a Workspace, user: &str) -> Caller<'a> {
        let server = workspace.plane().url().to_owned();
        Caller { workspace, user: user.to_owned(), server, stdin: String::new(), environment: Vec::new() }
    }

    /// With another URL for the API server: that of a `Relay` or `Proxy` before it.
    pub fn through(mut self, url: &str) -> Caller<'a> {
        url.clone_into(&mut self.server);
        self
    }

    /// With this text on standard input, where `$NS` is the namespace.
    pub fn stdin(mut self, text: &str) -> Caller<'a> {
        self.stdin = self.workspace.fill_in(text);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Caller<'a> {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs `kubectl`; `$NS` in an argument is the namespace.
    pub fn kubectl<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        let arguments: Vec<String> =
            arguments.into_iter().map(|argument| self.workspace.fill_in(argument.as_ref())).collect();
        self.run(&self.workspace.plane().kubectl(), "kubectl", &arguments)
    }

    /// Runs our program; `$NS` in an argument is the namespace.
    ///
    /// The commands that have a report are asked for it in a file, unless the arguments ask for JSON themselves. Nothing that is
    /// printed or reported may show a registered secret, unless that is what `--include-secrets` asks for.
    #[track_caller]
    pub fn reconcile<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        let mut arguments: Vec<String> =
            arguments.into_iter().map(|argument| self.workspace.fill_in(argument.as_ref())).collect();
        let reports = arguments.first().is_some_and(|command| ["diff", "apply", "status"].contains(&command.as_str()));
        let printed = arguments.windows(2).any(|pair| ["-o", "--output"].contains(&&*pair[0]) && pair[1] == "json")
            || arguments.iter().any(|argument| ["-ojson", "-o=json", "--output=json"].contains(&argument.as_str()));
        let file = self.workspace.home().join("report.json");
        let _ = fs::remove_file(&file);
        if reports && !printed {
            arguments.push(format!("--output=json={}", file.display()));
        }
        let mut run = self.run(Path::new(env!("CARGO_BIN_EXE_kubectl-reconcile")), "kubectl reconcile", &arguments);
        let report = if printed { run.stdout.clone() } else { fs::read_to_string(&file).unwrap_or_default() };
        run.report = serde_json::from_str::<Value>(&report).ok();
        if !arguments.iter().any(|argument| argument == "--include-secrets") {
            let leak = leaked_secret(&format!("{}\n{}\n{report}", run.stdout, run.stderr));
            assert_eq!(leak, None, "a secret is shown by {run}\n--- report ---\n{report}");
        }
        run
    }

    fn run(&self, program: &Path, name: &str, arguments: &[String]) -> Run {
        let output = assert_cmd::Command::new(program)
            .args(arguments)
            .current_dir(self.workspace.folder())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.workspace.home())
            .env("KUBECONFIG", self.kubeconfig())
            .envs(self.environment.iter().cloned())
            .write_stdin(self.stdin.clone())
            .timeout(DEADLINE)
            .output();
        let output = output.unwrap_or_else(|error| panic!("failed to run `{name}`: {error}"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let run = Run {
            command: format!("{name} {}", arguments.join(" ")),
            code: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            report: None,
        };
        assert!(output.status.code().is_some(), "was ended by a signal, after {} s at most: {run}", DEADLINE.as_secs());
        run
    }

    /// Writes the kubeconfig that this caller uses.
    pub fn kubeconfig(&self) -> PathBuf {
        static WRITTEN: AtomicUsize = AtomicUsize::new(0);
        let namespace = self.workspace.namespace();
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let path = self.workspace.home().join(format!("{}-{number}.kubeconfig", self.user));
        let text = self.workspace.plane().kubeconfig(&self.user, &self.server, namespace);
        fs::write(&path, text).expect("a kubeconfig in the workspace");
        path
    }
}
