//! Our program as a process: what it is asked, when it is stopped, and what it used.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::answers;
use super::truth::Force;
use super::world::World;
use crate::control_plane::{Request, Rng, Run, peak_memory};

/// What the program is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Command {
    Diff,
    Apply,
    Status,
    /// `pull --dry-run`, which writes no manifest.
    Pull,
    Blame,
    /// `diff --from last-applied`.
    LastApplied,
    /// `resolve` with random answers, of copies of the manifests.
    Resolve,
}

impl Command {
    /// Returns true for the commands that compare and act with flags of their own.
    fn is_pass(self) -> bool {
        matches!(self, Command::Diff | Command::Apply)
    }

    /// Returns true for the commands that write a report.
    pub fn reports(self) -> bool {
        self.is_pass() || self == Command::Status
    }
}

/// One call of the program.
#[derive(Clone)]
pub struct Call {
    pub command: Command,
    pub folder: &'static str,
    pub force: Force,
    more: Vec<&'static str>,
    /// The lines that are typed.
    answers: String,
}

/// How a call ended, and what it used.
pub struct Ended {
    pub run: Run,
    pub was_stopped: bool,
    pub took: Duration,
    /// The most memory that it held, in KiB, and the most files that were open at once.
    pub memory: u64,
    pub handles: u64,
    /// What everybody asked the server for meanwhile.
    pub requests: Vec<Request>,
}

impl Call {
    /// A call with the flags that people use.
    pub fn random(command: Command, folder: &'static str, rng: &mut Rng) -> Call {
        let force = match rng.below(5) {
            0 => Force::All,
            1 => Force::None,
            _ => Force::Manual,
        };
        let force = if command.is_pass() { force } else { Force::Manual };
        let mut more = Vec::new();
        let mut answers = String::new();
        if command == Command::Resolve {
            answers = answers::random(rng, &["a", "p", "i", "s"]);
        }
        if !command.is_pass() && command != Command::Status {
            return Call { command, folder, force, more, answers };
        }
        if command.is_pass() {
            if rng.chance(25) {
                more.push("--evidence=server");
            }
            if rng.chance(20) {
                more.push("--replace=immutable");
            }
        }
        more.push(*rng.pick(&["--output=text", "--output=unified", "--output=markdown", "--quiet"]));
        if command == Command::Apply && rng.chance(10) {
            more.extend(["--wait", "--timeout=2s"]);
        }
        Call { command, folder, force, more, answers }
    }

    /// The `diff` that tells what this call has left.
    pub fn diff(&self) -> Call {
        let more = self.more.iter().copied().filter(|flag| !["--wait", "--timeout=2s"].contains(flag)).collect();
        Call { command: Command::Diff, more, ..self.clone() }
    }

    /// Under which name its figures are kept: those of the same command in the same folder are comparable.
    pub fn name(&self) -> String {
        format!("{} {}", self.verb(), self.folder)
    }

    fn verb(&self) -> &'static str {
        match self.command {
            Command::Diff => "diff",
            Command::Apply => "apply",
            Command::Status => "status",
            Command::Pull => "pull",
            Command::Blame => "blame",
            Command::LastApplied => "last-applied",
            Command::Resolve => "resolve",
        }
    }

    /// This call with more flags.
    pub fn with(mut self, flags: &[&'static str]) -> Call {
        self.more.extend(flags);
        self
    }

    fn arguments(&self) -> Vec<&'static str> {
        let mut arguments = match self.command {
            Command::LastApplied => vec!["diff", "--from", "last-applied", "-A"],
            Command::Resolve => vec!["resolve", "-f", answers::moving_copy(self.folder)],
            _ => vec![self.verb(), "-f", self.folder],
        };
        match self.command {
            Command::Pull => arguments.push("--dry-run"),
            Command::Blame => arguments.extend(["-o", "json"]),
            _ => {}
        }
        arguments.extend(match self.force {
            Force::Manual => None,
            Force::All => Some("--force-conflicts"),
            Force::None => Some("--force-conflicts=none"),
        });
        if self.folder == "set" && self.command.is_pass() {
            arguments.extend(["--prune", "--applyset=set"]);
        }
        arguments.extend(&self.more);
        arguments
    }

    /// Runs it to its end.
    pub fn run(&self, world: &World) -> Ended {
        self.run_until(world, None, &mut Rng::new(1))
    }

    /// Runs it, and stops it in some way when that much time has passed.
    pub fn run_until(&self, world: &World, moment: Option<Duration>, rng: &mut Rng) -> Ended {
        let kubeconfig = world.kubeconfig.display().to_string();
        let started = Instant::now();
        let ((run, memory, handles), requests) = world.ws.all_requests_during(|| {
            let mut caller = world.ws.env("KUBECONFIG", &kubeconfig);
            if self.command == Command::Resolve {
                caller = caller.stdin(&self.answers).on_terminal();
            }
            let mut running = caller.start_reconcile(self.arguments());
            let pid = running.pid();
            let is_over = AtomicBool::new(false);
            thread::scope(|scope| {
                let watcher = scope.spawn(|| watch(pid, &is_over));
                if let Some(moment) = moment {
                    thread::sleep(moment);
                    match rng.below(3) {
                        0 => running.interrupt(),
                        1 => running.terminate(),
                        _ => running.kill(),
                    }
                }
                let run = running.finish();
                is_over.store(true, Ordering::Relaxed);
                let (memory, handles) = watcher.join().expect("the watcher");
                (run, memory, handles)
            })
        });
        Ended { run, was_stopped: moment.is_some(), took: started.elapsed(), memory, handles, requests }
    }
}

/// The most memory (in KiB) and the most open files of a process, as far as the system tells.
fn watch(pid: u32, is_over: &AtomicBool) -> (u64, u64) {
    let mut memory = 0;
    let mut handles = 0;
    while !is_over.load(Ordering::Relaxed) {
        memory = memory.max(peak_memory(pid).unwrap_or_default());
        handles = handles.max(fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |open| open.count() as u64));
        thread::sleep(Duration::from_millis(4));
    }
    (memory, handles)
}
