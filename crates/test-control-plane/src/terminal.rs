//! A terminal for a program that wants one.

use std::fs::{File, OpenOptions};
use std::io;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Both ends of a terminal: ours, and the one that a program has as its standard input and standard error.
pub fn open() -> io::Result<(File, File)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs = OpenOptions::new().read(true).write(true).open(name.to_string_lossy().as_ref())?;
    Ok((File::from(ours), theirs))
}
