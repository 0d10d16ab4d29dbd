//! A program under way in a workspace.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::run::Run;
use super::secrets::leaked_secret;

/// A program that runs for longer than this hangs.
const DEADLINE: Duration = Duration::from_mins(3);

/// Where the report of a run is to be found.
pub enum Report {
    None,
    Printed,
    File(PathBuf),
}

/// A started program; dropping it kills it.
#[must_use]
pub struct Running {
    command: String,
    child: Child,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    report: Report,
    /// Whether registered secrets in the output fail the test.
    keeps_secrets: bool,
}

impl Running {
    /// Starts a command whose line is `name` in messages.
    pub(super) fn start(
        name: String,
        command: &mut Command,
        stdin: String,
        report: Report,
        keeps_secrets: bool,
    ) -> Running {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("failed to run `{name}`: {error}"));
        let mut input = child.stdin.take().expect("a pipe");
        // Who does not read what it is given may be gone already.
        thread::spawn(move || input.write_all(stdin.as_bytes()).is_ok());
        let stdout = child.stdout.take().map(|pipe| thread::spawn(|| read(pipe)));
        let stderr = child.stderr.take().map(|pipe| thread::spawn(|| read(pipe)));
        Running { command: name, child, stdout, stderr, report, keeps_secrets }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What Ctrl-C does.
    pub fn interrupt(&self) {
        let sent = Command::new("sh").args(["-c", "kill -INT $0", &self.pid().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "`{}` has ended already", self.command);
    }

    /// Waits for the end.
    #[track_caller]
    pub fn finish(mut self) -> Run {
        let status = self.wait();
        let text = |reader: Option<JoinHandle<Vec<u8>>>| {
            let bytes = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (stdout, stderr) = (text(self.stdout.take()), text(self.stderr.take()));
        let report = match &self.report {
            Report::None => String::new(),
            Report::Printed => stdout.clone(),
            Report::File(path) => fs::read_to_string(path).unwrap_or_default(),
        };
        let code = status.and_then(|status| status.code().or(status.signal().map(|signal| -signal)));
        let run = Run {
            command: self.command.clone(),
            code: code.unwrap_or_default(),
            stdout,
            stderr,
            report: serde_json::from_str::<Value>(&report).ok(),
        };
        assert!(status.is_some(), "hangs, and was killed after {} s: {run}", DEADLINE.as_secs());
        if self.keeps_secrets {
            let leak = leaked_secret(&format!("{}\n{}\n{report}", run.stdout, run.stderr));
            assert_eq!(leak, None, "a secret is shown by {run}\n--- report ---\n{report}");
        }
        run
    }

    /// Waits for the end, or kills what has not ended by the deadline.
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

fn read(mut pipe: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pipe.read_to_end(&mut bytes);
    bytes
}
