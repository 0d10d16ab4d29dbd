//! Temporary folders that nobody else can read, and that are removed however the run ends.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{Result, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::{Builder, TempDir};

/// The random characters in the name of a folder.
const RANDOM: usize = 16;

/// The folders that exist now: a second Ctrl-C ends the process at once.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A folder in that for temporary files.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    folder: TempDir,
}

impl PrivateFolder {
    /// Makes a folder with an unpredictable name, which is its owner's alone from its first moment.
    pub fn new() -> Result<Self> {
        let mut builder = Builder::new();
        builder.prefix("kubectl-reconcile-").rand_bytes(RANDOM);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let folder = builder.tempdir()?;
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(folder.path().to_owned());
        Ok(Self { folder })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a folder in it.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.folder.path().join(name);
        make_folders(&path)?;
        Ok(path)
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let path = self.folder.path();
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).retain(|folder| folder != path);
    }
}

/// Removes all of them, before the process exits at once.
pub(crate) fn remove_all() {
    for folder in FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Writes a new file that only its owner can read.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(content)
}

/// Makes a folder, and those above it that are missing, which only their owner can read.
pub(crate) fn make_folders(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
