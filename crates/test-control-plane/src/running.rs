//! A running program in a workspace.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::pipeline::pipeline_commands;
use super::run::Run;
use super::secrets::leaked_secret;
use super::terminal;
use super::wait::wait_until;

/// Time after which a program is assumed to hang.
const DEADLINE: Duration = Duration::from_mins(3);

/// Files that a program is expected to write.
#[derive(Default)]
pub struct Expected {
    /// File for its JSON report, if it does not print it.
    pub report: Option<PathBuf>,
    /// Files that it writes.
    pub written: Vec<PathBuf>,
    /// True if a registered secret in its output or its files fails the test.
    pub keeps_secrets: bool,
    /// True for our own program: a command of a pipeline in its output fails the test.
    pub is_ours: bool,
    /// True if annotations of a GitHub workflow were asked for.
    pub annotates: bool,
}

/// A started program; dropping it kills it.
pub struct Running {
    command: String,
    child: Child,
    stdout: Option<Output>,
    stderr: Option<Output>,
    expected: Expected,
}

/// The output of a program so far, to one of its streams.
struct Output {
    text: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

/// The streams of a program that are on a terminal.
#[derive(Clone, Copy, Default)]
pub(super) struct OnTerminal {
    pub stdin: bool,
    pub stdout: bool,
    pub stderr: bool,
}

impl Running {
    /// Starts a command that is called `name` in messages.
    pub(super) fn start(name: String, command: &mut Command, stdin: String, expected: Expected) -> Running {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("failed to run `{name}`: {error}"));
        let mut input = child.stdin.take().expect("a pipe");
        // A program that does not read its input may have ended already.
        thread::spawn(move || input.write_all(stdin.as_bytes()).is_ok());
        let stdout = child.stdout.take().map(Output::read);
        let stderr = child.stderr.take().map(Output::read);
        Running { command: name, child, stdout, stderr, expected }
    }

    /// Starts a command with standard error on a terminal, and the other streams on it or on pipes.
    pub(super) fn start_on_terminal(
        name: String,
        command: &mut Command,
        stdin: &str,
        streams: OnTerminal,
        expected: Expected,
    ) -> Running {
        let (mut ours, theirs) = terminal::open().expect("a terminal");
        let end = || Stdio::from(theirs.try_clone().expect("a terminal"));
        let end_or_pipe = |is_on_terminal| if is_on_terminal { end() } else { Stdio::piped() };
        let child = command.stdin(end_or_pipe(streams.stdin)).stdout(end_or_pipe(streams.stdout)).stderr(end()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("failed to run `{name}`: {error}"));
        // The output ends when the last process closes the terminal.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match child.stdin.take() {
            None => ours.write_all(stdin.as_bytes()).expect("a terminal that is typed on"),
            Some(mut pipe) => pipe.write_all(stdin.as_bytes()).expect("a program that reads its input"),
        }
        let stdout = child.stdout.take().map(Output::read);
        Running { command: name, child, stdout, stderr: Some(Output::read(ours)), expected }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Text on standard error so far.
    pub fn stderr(&self) -> String {
        self.stderr.as_ref().map_or_else(String::new, Output::so_far)
    }

    /// Waits until the program has written this to standard error.
    #[track_caller]
    pub fn wait_for_stderr(&self, text: &str) {
        wait_until(&format!("`{}` writes `{text}`", self.command), || self.stderr().contains(text));
    }

    /// Sends SIGINT, as Ctrl-C does.
    pub fn interrupt(&self) {
        self.signal("INT");
    }

    /// Sends SIGTERM, as pipelines do to end a job.
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends SIGHUP, as closing the terminal does.
    pub fn hang_up(&self) {
        self.signal("HUP");
    }

    /// Sends SIGKILL.
    pub fn kill(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("sh").args(["-c", "kill -$1 $0", &self.pid().to_string(), name]).status();
        assert!(sent.is_ok_and(|status| status.success()), "`{}` has ended already", self.command);
    }

    /// Waits for the end, and returns the result.
    #[track_caller]
    pub fn finish(mut self) -> Run {
        let status = self.wait();
        let stdout = self.stdout.take().map_or_else(String::new, Output::whole);
        let stderr = self.stderr.take().map_or_else(String::new, Output::whole);
        let file = |path: &PathBuf| fs::read_to_string(path).unwrap_or_default();
        let report = self.expected.report.as_ref().map_or_else(|| stdout.clone(), file);
        let code = status.and_then(|status| status.code().or(status.signal().map(|signal| -signal)));
        let run = Run {
            command: self.command.clone(),
            code: code.unwrap_or_default(),
            stdout,
            stderr,
            report: serde_json::from_str::<Value>(&report).ok(),
        };
        assert!(status.is_some(), "hangs, and was killed after {} s: {run}", DEADLINE.as_secs());
        if self.expected.is_ours {
            let mut commands = pipeline_commands(&format!("{}\n{}", run.stdout, run.stderr));
            commands.retain(|command| !(self.expected.annotates && is_annotation(command)));
            assert_eq!(commands, [""; 0], "a pipeline would run what is printed by {run}");
        }
        if self.expected.keeps_secrets {
            let shown = leaked_secret(&format!("{}\n{}", run.stdout, run.stderr));
            assert_eq!(shown, None, "a secret is shown by {run}");
            for path in &self.expected.written {
                assert_eq!(leaked_secret(&file(path)), None, "a secret is in {}, written by {run}", path.display());
            }
        }
        run
    }

    /// Waits for the end, and returns the result with the most memory that it used, in MiB.
    #[track_caller]
    pub fn finish_measured(self) -> (Run, u64) {
        let pid = self.pid();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let sampler = scope.spawn(|| {
                let mut most = 0;
                while !is_over.load(Ordering::Relaxed) {
                    most = most.max(peak_memory(pid).unwrap_or_default());
                    thread::sleep(Duration::from_millis(2));
                }
                most
            });
            let run = self.finish();
            is_over.store(true, Ordering::Relaxed);
            (run, sampler.join().expect("the sampler") >> 10)
        })
    }

    /// Waits for the end, and kills the program at the deadline.
    fn wait(&mut self) -> Option<ExitStatus> {
        let started = Instant::now();
        while started.elapsed() < DEADLINE {
            if let Some(status) = self.child.try_wait().expect("the state of a child") {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        None
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The most memory that a process has used so far, in KiB; `None` if it has ended, or if the system does not say it.
pub fn peak_memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok())
}

/// Returns true for an annotation of `-o github`.
fn is_annotation(command: &str) -> bool {
    ["::error ", "::warning ", "::notice "].iter().any(|start| command.starts_with(start))
}

impl Output {
    /// Reads a stream in a thread, to its end.
    fn read(mut pipe: impl Read + Send + 'static) -> Output {
        let text = Arc::<Mutex<Vec<u8>>>::default();
        let written = Arc::clone(&text);
        let reader = thread::spawn(move || {
            let mut part = vec![0; 64 << 10];
            loop {
                match pipe.read(&mut part) {
                    Ok(length @ 1..) => {
                        written.lock().unwrap_or_else(PoisonError::into_inner).extend(&part[..length]);
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => return,
                }
            }
        });
        Output { text, reader }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// The text to the end.
    fn whole(self) -> String {
        let _ = self.reader.join();
        String::from_utf8_lossy(&self.text.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}
