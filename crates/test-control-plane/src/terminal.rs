//! A pseudoterminal for a program.

use std::fs::{File, OpenOptions};
use std::io;

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
