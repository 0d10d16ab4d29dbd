//! A process that cannot outlive the test run.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Time after which a start has failed; it takes 2 s on an idle machine.
const START_DEADLINE: Duration = Duration::from_mins(2);

/// Runs a command and ends it, by its own process id, when the supervisor's standard input closes.
///
/// The test process holds the other end of that pipe, so the kernel closes it even if the test process is killed.
/// Values in statics are never dropped, and after SIGKILL no code runs. The supervisor has its own process group, so
/// that Ctrl-C on a terminal only reaches the test process.
///
/// `$1` is the folder of the component, which is removed after the component was ended in this way (a component that
/// ends by itself leaves its log); `$2` is the log. The parent folder is removed as well if it is empty.
const SUPERVISOR: &str = r#"
folder=$1 log=$2
shift 2
exec 3<&0 </dev/null 2>/dev/null
"$@" 3<&- >"$log" 2>&1 &
component=$!
echo "$component"
exec >&-
{ read -r _ <&3; : >"$folder/.ended"; kill -KILL "$component"; } &
watch=$!
exec 3<&-
wait "$component"
status=$?
if [ -e "$folder/.ended" ]; then
  rm -rf "$folder"
  rmdir "${folder%/*}"
else
  kill "$watch"
fi
exit "$status"
"#;

/// A supervised process; dropping it ends the process and removes its folder.
#[derive(Debug)]
pub struct Component {
    name: String,
    folder: PathBuf,
    command: Vec<OsString>,
    supervisor: Child,
    lifeline: Option<ChildStdin>,
    pid: u32,
    keep_folder: bool,
}

impl Component {
    /// Starts `program` with `folder` for its log and data, and creates the folder if necessary.
    pub fn start<S: AsRef<OsStr>>(
        name: &str,
        folder: PathBuf,
        program: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Component, String> {
        let mut command = vec![program.as_os_str().to_owned()];
        command.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        let (supervisor, lifeline, pid) = supervised(name, &folder, &command)?;
        Ok(Component { name: name.to_owned(), folder, command, supervisor, lifeline, pid, keep_folder: false })
    }

    /// Ends the component with a signal, such as `TERM`, and starts it again with the same arguments and data.
    pub fn restart(&mut self, signal: &str) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("failed to restart {}: {error}", self.name);
        Command::new("sh").args(["-c", "kill -$1 $0", &self.pid.to_string(), signal]).status().map_err(failed)?;
        self.supervisor.wait().map_err(failed)?;
        (self.supervisor, self.lifeline, self.pid) = supervised(&self.name, &self.folder, &self.command)?;
        Ok(())
    }

    /// The process id of the component itself, not of its supervisor.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Exit status of the component if it has ended by itself.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.supervisor.try_wait().ok().flatten()
    }

    /// Keeps the folder of a component that has ended by itself.
    pub fn keep_folder(&mut self) {
        self.keep_folder = true;
    }

    pub fn log(&self) -> String {
        fs::read(self.folder.join("log")).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// The last lines of the log with a heading, for the message of a failed start.
    pub fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        format!("--- the end of the log of {} ---\n{}\n", self.name, lines[lines.len().saturating_sub(25)..].join("\n"))
    }
}

/// Starts a command with its own supervisor.
fn supervised(name: &str, folder: &Path, command: &[OsString]) -> Result<(Child, Option<ChildStdin>, u32), String> {
    let failed = |error: std::io::Error| format!("failed to start {name}: {error}");
    fs::create_dir_all(folder).map_err(failed)?;
    let mut supervisor = Command::new("sh")
        .args(["-c", SUPERVISOR, "supervisor"])
        .arg(folder)
        .arg(folder.join("log"))
        .args(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let lifeline = supervisor.stdin.take();
    let mut first_line = String::new();
    if let Some(stdout) = supervisor.stdout.take() {
        BufReader::new(stdout).read_line(&mut first_line).map_err(failed)?;
    }
    let pid = first_line.trim().parse().map_err(|_| format!("failed to start {name}: no process id"))?;
    Ok((supervisor, lifeline, pid))
}

impl Drop for Component {
    fn drop(&mut self) {
        let ended_by_itself = self.ended().is_some();
        drop(self.lifeline.take());
        // Wait, because data must not be removed, nor the port be reused, while the process is running.
        let _ = self.supervisor.wait();
        if ended_by_itself && !self.keep_folder {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Waits until `condition` holds. Fails with the last lines of the logs if a component ends before, or the deadline
/// passes.
pub fn wait_until(what: &str, components: &mut [&mut Component], condition: impl Fn() -> bool) -> Result<(), String> {
    let started = Instant::now();
    let logs = |components: &[&mut Component]| components.iter().map(|c| c.log_tail()).collect::<String>();
    while !condition() {
        if components.iter_mut().any(|component| component.ended().is_some()) {
            return Err(format!("a component ended before {what}\n{}", logs(components)));
        }
        if started.elapsed() > START_DEADLINE {
            return Err(format!(
                "gave up waiting until {what}, after {} s\n{}",
                START_DEADLINE.as_secs(),
                logs(components)
            ));
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
