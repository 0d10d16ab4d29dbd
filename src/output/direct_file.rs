//! Files that a result is written to directly: standard streams, devices and pipes.

use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{Error, Result};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Folders in which the system shows the open files of this process by their numbers.
const OPEN_FILES: [&str; 2] = ["/dev/fd", "/proc/self/fd"];
/// The time that a program has to open a pipe for reading, and the interval at which this is tried.
const PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);

/// The users who may read what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Everybody who may read new files, or could read the former one.
    Usual,
    /// The owner of the file alone.
    Owner,
}

/// Returns true if a path names a file that is open already: standard output, or what a shell opened for `>(…)`.
pub(super) fn is_stream(path: &Path) -> bool {
    let is_number = |name: &OsStr| name.to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    let folder = path.parent();
    let name = path.file_name();
    path == Path::new("/dev/stdout")
        || path == Path::new("/dev/stderr")
        || folder.is_some_and(|folder| OPEN_FILES.iter().any(|open| folder == Path::new(open)))
            && name.is_some_and(is_number)
}

/// Opens a standard stream, or a device or a pipe that no other user owns. Waits a moment for the reader of a pipe, and blocks the thread
/// for that time: files are opened before anything else of a run begins, so that no other task waits with it, and Ctrl-C ends the program.
pub(super) fn direct(path: &Path, readers: Readers) -> Result<File> {
    let is_stream = is_stream(path);
    if readers == Readers::Owner && !is_stream {
        return Err(Error::other("secret values are written only to regular files and to standard output"));
    }
    let start = Instant::now();
    let file = loop {
        match without_waiting().append(true).open(path) {
            Err(error) if has_no_reader(&error) && start.elapsed() < PATIENCE => sleep(POLL),
            Err(error) if has_no_reader(&error) => return Err(Error::other("no program reads from this pipe")),
            opened => break opened?,
        }
    };
    // A link may belong to somebody else than the pipe that it leads to.
    let owned = [file.metadata()?, std::fs::symlink_metadata(path)?];
    if !is_stream && !owned.iter().all(is_ours) {
        return Err(Error::other("it is a pipe or a device of another user"));
    }
    wait_again(&file)?;
    Ok(file)
}

/// Options to open a file at once: a pipe without a reader is an error, and nothing is waited for.
#[cfg(unix)]
pub(super) fn without_waiting() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    options
}

/// Lets writes wait for the reader of a pipe.
#[cfg(unix)]
fn wait_again(file: &File) -> Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    Ok(rustix::fs::fcntl_setfl(file, flags - rustix::fs::OFlags::NONBLOCK)?)
}

#[cfg(unix)]
fn has_no_reader(error: &Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error())
}

/// Returns true for what belongs to the current user or to root.
#[cfg(unix)]
fn is_ours(metadata: &Metadata) -> bool {
    let owner = std::os::unix::fs::MetadataExt::uid(metadata);
    owner == 0 || owner == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
pub(super) fn without_waiting() -> OpenOptions {
    OpenOptions::new()
}

#[cfg(not(unix))]
fn wait_again(_file: &File) -> Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn has_no_reader(_error: &Error) -> bool {
    false
}

/// On other systems, pipes are in no folder.
#[cfg(not(unix))]
fn is_ours(_metadata: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::PathBuf;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_device_is_written_to() {
        direct(Path::new("/dev/null"), Readers::Usual).unwrap().write_all(b"new").unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_standard_stream_is_known_by_its_path() {
        for path in ["/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/63", "/proc/self/fd/3"] {
            assert!(is_stream(Path::new(path)), "{path}");
        }
        for path in ["/dev/fd", "/dev/fd/../../tmp/pipe", "/dev/fd/x", "/proc/1/fd/3", "/dev/null", "1", ""] {
            assert!(!is_stream(Path::new(path)), "{path}");
        }
    }

    #[cfg(unix)]
    fn pipe(folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    #[cfg(unix)]
    #[test]
    fn values_of_secrets_go_into_no_pipe_and_no_device() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = pipe(folder.path(), "pipe");
        let _reader = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [pipe.as_path(), &link, Path::new("/dev/null")] {
            let error = direct(path, Readers::Owner).unwrap_err();
            assert!(error.to_string().contains("only to regular files"), "{error}");
        }
        direct(&pipe, Readers::Usual).unwrap().write_all(b"new").unwrap();
        direct(Path::new("/dev/stdout"), Readers::Owner).unwrap().write_all(b"").unwrap();
    }

    /// Only root can give files away.
    #[cfg(unix)]
    #[test]
    fn a_pipe_of_another_user_is_not_written_to() {
        use std::os::unix::fs::{chown, lchown, symlink};
        let folder = tempfile::tempdir().unwrap();
        let own = pipe(folder.path(), "own");
        let other = pipe(folder.path(), "other");
        if chown(&other, Some(4242), None).is_err() {
            return;
        }
        let link = folder.path().join("link");
        let strange = folder.path().join("strange");
        symlink(&other, &link).unwrap();
        symlink(&own, &strange).unwrap();
        lchown(&strange, Some(4242), None).unwrap();
        let _readers = [&own, &other].map(|pipe| OpenOptions::new().read(true).write(true).open(pipe).unwrap());
        for path in [&other, &link, &strange] {
            let error = direct(path, Readers::Usual).unwrap_err();
            assert!(error.to_string().contains("of another user"), "{error}");
        }
        direct(&own, Readers::Usual).unwrap().write_all(b"new").unwrap();
    }
}
