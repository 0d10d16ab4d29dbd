//! A pseudoterminal for a program.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::process::Command;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Opens a terminal and returns both ends: ours, and the one for standard input and standard error of a program.
pub fn open() -> io::Result<(File, File)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs = OpenOptions::new().read(true).write(true).open(name.to_string_lossy().as_ref())?;
    Ok((File::from(ours), theirs))
}

/// A command for a program that SIGHUP ends, as a program that a person starts on a terminal. A program inherits the signals that
/// are ignored, so that the tests would fail under `nohup`.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    if !ignores_hang_up() {
        return Command::new(program);
    }
    let mut command = Command::new("/usr/bin/env");
    command.arg("--default-signal=HUP").arg(program);
    command
}

/// Returns true if this process ignores SIGHUP: signal 1 is the lowest bit of the mask that Linux shows.
fn ignores_hang_up() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).expect("a mask of signals") & 1 == 1)
}
