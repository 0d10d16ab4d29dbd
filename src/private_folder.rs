//! Temporary folders that nobody else can read, and that are removed however the run ends.

use std::fs::{DirBuilder, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{Error, ErrorKind, Result, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The number of names that are tried.
const ATTEMPTS: usize = 16;

/// The folders that exist now: a second Ctrl-C ends the process at once.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A folder in that for temporary files.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    path: PathBuf,
}

impl PrivateFolder {
    /// Makes a folder with an unpredictable name.
    pub fn new() -> Result<Self> {
        let mut refused = Error::from(ErrorKind::AlreadyExists);
        for attempt in 0..ATTEMPTS {
            // The keys of the standard library's hash maps are random.
            let number = RandomState::new().hash_one(attempt);
            let path = std::env::temp_dir().join(format!("kubectl-reconcile-{number:016x}"));
            match make(&path) {
                Ok(()) => {
                    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
                    return Ok(Self { path });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a folder in it.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        make(&path)?;
        Ok(path)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).retain(|folder| *folder != self.path);
    }
}

/// Removes all of them, before the process exits at once.
pub(crate) fn remove_all() {
    for folder in FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Writes a new file that only its owner can read.
pub(crate) fn write(path: &Path, content: &str) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(content.as_bytes())
}

fn make(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
