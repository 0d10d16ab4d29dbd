//! Resources that a process used. The bench starts itself again for each command: the peak memory of a process includes the memory
//! of the process that started it, and a fresh process has almost none.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::{Value, json};

/// Environment variable with the file for the figures, in the process that measures the command in its arguments.
const METER: &str = "BENCH_METER";

/// Resources that a run used on the client.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// From its start to its end.
    pub time: Duration,
    /// User and system time.
    pub cpu: Duration,
    /// Peak memory, in bytes.
    pub memory: u64,
}

/// Measures the command in the arguments and exits, if this process was started for that.
pub fn serve() {
    let Ok(file) = std::env::var(METER) else { return };
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().expect("a program to measure");
    let start = Instant::now();
    let status = Command::new(program).args(arguments).env_remove(METER).status().expect("a program that starts");
    let time = start.elapsed();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the usage of a child");
    let cpu = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let figures = json!({"time": u64::try_from(time.as_micros()).expect("a short run"), "cpu": cpu, "memory": usage.max_rss() * 1024});
    fs::write(file, figures.to_string()).expect("a file for the figures");
    std::process::exit(status.code().unwrap_or(-1));
}

/// Runs a command, which has to exit with 0, or with 1 if it may find a difference.
pub fn measure(command: &Command, folder: &Path, may_differ: bool) -> Used {
    let file = folder.join("figures.json");
    let errors = folder.join("stderr");
    let mut meter = Command::new(std::env::current_exe().expect("this program"));
    meter.arg(command.get_program()).args(command.get_args()).env_clear();
    meter.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    meter.env(METER, &file).current_dir(command.get_current_dir().unwrap_or(folder));
    meter.stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(&errors).expect("a file for messages"));
    let status = meter.status().expect("this program once more");
    let code = status.code().unwrap_or(-1);
    let messages = fs::read_to_string(&errors).unwrap_or_default();
    assert!(code == 0 || may_differ && code == 1, "exit code {code} of {command:?}: {messages}");
    let text = fs::read_to_string(file).expect("the figures of a run");
    let figures: Value = serde_json::from_str(&text).expect("the figures of a run");
    let figure = |name: &str| figures[name].as_u64().expect("a figure");
    Used {
        time: Duration::from_micros(figure("time")),
        cpu: Duration::from_micros(figure("cpu")),
        memory: figure("memory"),
    }
}

/// The processor time of running processes so far, with all their threads.
pub fn processor_time(pids: &[u32]) -> Duration {
    let threads = pids.iter().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/task")).ok()).flatten().flatten();
    let times = threads.filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(times.sum())
}
