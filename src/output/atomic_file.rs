//! Files that hold the result of a run: opened before anything is done, and written whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile, TempPath};

use super::direct_file::{Readers, direct, is_stream, without_waiting};

/// The random characters in the name of a draft.
const RANDOM: usize = 16;
/// Most characters of the name of the file in that of its draft.
const NAME: usize = 50;

/// The most bytes of an extended attribute, and of the names of all of them (Linux, `XATTR_SIZE_MAX`).
#[cfg(any(target_os = "linux", target_os = "macos"))]
const LONGEST_ATTRIBUTE: usize = 1 << 16;

/// The variable in which GitHub names the file that a step adds its summary to.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// A file that can be written. A former file stays until all of the new one is there, and a link is replaced, not followed:
/// somebody else may have put it there. Standard streams, devices and pipes are written to directly, if no other user owns
/// them. The summary of a GitHub step is appended to, as other commands of the step write there, too.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    file: File,
    destination: Destination,
    /// The first error of what was written before the end.
    failed: Option<Error>,
}

#[derive(Debug)]
enum Destination {
    /// A device or a pipe.
    Direct,
    /// A file that is added to, with the length that it had.
    Shared { before: u64 },
    /// A draft next to the file, until it takes its name.
    Draft { draft: TempPath, path: PathBuf },
}

impl AtomicFile {
    /// Opens the file that a path names; the error is the reason why it cannot be written.
    pub fn open(path: &Path, readers: Readers) -> Result<Self> {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => return Err(Error::from(ErrorKind::IsADirectory)),
            // `/dev/stdout` may be a regular file that others write to as well.
            Ok(metadata) if is_stream(path) || !metadata.is_file() => {
                return Ok(Self { file: direct(path, readers)?, destination: Destination::Direct, failed: None });
            }
            _ if is_shared(path) => {
                let file = without_waiting().append(true).create(true).open(path)?;
                let before = file.metadata()?.len();
                return Ok(Self { file, destination: Destination::Shared { before }, failed: None });
            }
            _ => {}
        }
        let former = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file);
        if former.is_some() {
            without_waiting().write(true).open(path)?;
        }
        // What replaces a file may be for its readers only.
        let is_private = former.is_some() || readers == Readers::Owner;
        let (file, draft) = draft(path, is_private)?.into_parts();
        let opened = Self { file, destination: Destination::Draft { draft, path: path.to_owned() }, failed: None };
        if let Some(former) = former.filter(|_| readers == Readers::Usual) {
            opened.file.set_permissions(former.permissions())?;
        }
        Ok(opened)
    }

    /// Writes a part of the content before the rest is known. [`AtomicFile::write`] returns its error.
    pub fn append(&mut self, content: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.file.write_all(content).err();
        }
    }

    /// Gives a draft the extended attributes of the former file, among them access control lists, as far as the system allows it.
    pub fn keep_attributes(&self) {
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        if let Destination::Draft { path, .. } = &self.destination {
            use rustix::fs::{XattrFlags, fsetxattr, getxattr, listxattr};
            let mut names = vec![0; LONGEST_ATTRIBUTE];
            let mut value = vec![0; LONGEST_ATTRIBUTE];
            let Ok(length) = listxattr(path, names.as_mut_slice()) else { return };
            let names = names.get(..length).unwrap_or_default();
            for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
                if let Ok(length) = getxattr(path, name, value.as_mut_slice()) {
                    let _ = fsetxattr(&self.file, name, value.get(..length).unwrap_or_default(), XattrFlags::empty());
                }
            }
        }
    }

    /// Gives a draft to the owner and the group of the former file, as far as the system allows it.
    pub fn keep_owner(&self) {
        #[cfg(unix)]
        if let Destination::Draft { path, .. } = &self.destination
            && let (Ok(former), Ok(draft)) = (std::fs::symlink_metadata(path), self.file.metadata())
        {
            use std::os::unix::fs::{MetadataExt as _, fchown};
            let differs = |one: u32, other: u32| (one != other).then_some(one);
            let owner = differs(former.uid(), draft.uid());
            let group = differs(former.gid(), draft.gid());
            if owner.is_some() || group.is_some() {
                // Only root gives files away; others choose among their own groups.
                let _ = fchown(&self.file, owner, group).or_else(|_| fchown(&self.file, None, group));
            }
        }
    }

    /// Waits until the system has what was written: some report a full disk only then. [`AtomicFile::write`] returns the error.
    pub fn sync(&mut self) {
        if self.failed.is_none() {
            self.failed = self.file.sync_all().err();
        }
    }

    /// Writes a new file as a whole, and gives it its name unless another file has it by then.
    pub fn create(mut self, content: &[u8]) -> Result<()> {
        self.append(content);
        self.sync();
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let Destination::Draft { draft, path } = self.destination else {
            return Err(Error::from(ErrorKind::AlreadyExists));
        };
        match std::fs::hard_link(&draft, &path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => copy_of(&draft, &path),
            named => named,
        }
    }

    /// Writes the rest of the content, and gives the file its name.
    pub fn write(mut self, content: &[u8]) -> Result<()> {
        self.append(content);
        if let Some(error) = self.failed.take() {
            if let Destination::Shared { before } = self.destination {
                // A part of a report is no report.
                let _ = self.file.set_len(before);
            }
            return Err(error);
        }
        self.file.flush()?;
        match self.destination {
            Destination::Direct | Destination::Shared { .. } => Ok(()),
            // `tempfile` would call the kernel itself, past the C library, in which tests put faults.
            Destination::Draft { draft, path } => {
                std::fs::rename(&draft, path)?;
                draft.keep().map(drop).map_err(Error::from)
            }
        }
    }
}

/// Writes a new file where the file system has no hard links.
fn copy_of(draft: &Path, path: &Path) -> Result<()> {
    let content = std::fs::read(draft)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(&content).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written
}

fn is_shared(path: &Path) -> bool {
    std::env::var_os(STEP_SUMMARY).is_some_and(|summary| !summary.is_empty() && path == Path::new(&summary))
}

/// A new file in the folder of `path`, which is removed unless it takes that name. A private one is its owner's alone from its first moment:
/// a file that is closed to others later can be opened before.
fn draft(path: &Path, is_private: bool) -> Result<NamedTempFile> {
    let name = path.file_name().ok_or_else(|| Error::from(ErrorKind::IsADirectory))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let prefix: String = format!(".{}", name.to_string_lossy()).chars().take(NAME).chain(['.']).collect();
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".tmp").rand_bytes(RANDOM);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(if is_private { 0o600 } else { 0o666 }));
    }
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_former_file_stays_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        std::fs::write(&path, "former").unwrap();
        let dropped = AtomicFile::open(&path, Readers::Usual).unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        drop(dropped);
        assert_eq!(
            (names(folder.path()), std::fs::read_to_string(&path).unwrap()),
            (vec!["report.json".to_owned()], "former".to_owned())
        );
        AtomicFile::open(&path, Readers::Usual).unwrap().write(b"new").unwrap();
        assert_eq!(
            (names(folder.path()), std::fs::read_to_string(&path).unwrap()),
            (vec!["report.json".to_owned()], "new".to_owned())
        );
    }

    #[test]
    fn what_cannot_be_written_is_known_at_once() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            folder.path().to_owned(),
            folder.path().join("none/report.json"),
            PathBuf::from("/proc/none"),
            PathBuf::from(".."),
        ] {
            assert!(AtomicFile::open(&path, Readers::Usual).is_err(), "{}", path.display());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_draft_is_private_from_its_first_moment() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{}.yaml", "x".repeat(200)));
        let mode = |draft: &NamedTempFile| draft.as_file().metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&draft(&path, true).unwrap()), 0o600);
        assert_eq!(mode(&draft(&path, false).unwrap()) & 0o600, 0o600);
        // Nothing is said about a new report, which everybody may read as the system allows it.
        std::fs::write(&path, "former").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        AtomicFile::open(&path, Readers::Usual).unwrap().write(b"new").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(folder.path()).len(), 1);
    }

    /// A file that appears between the first look and the end is not replaced.
    #[test]
    fn a_new_file_takes_no_name_that_another_one_has() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.yaml");
        let file = AtomicFile::open(&path, Readers::Usual).unwrap();
        std::fs::write(&path, "theirs").unwrap();
        assert_eq!(file.create(b"ours").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(copy_of(&path, &path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(
            (names(folder.path()), std::fs::read(&path).unwrap()),
            (vec!["new.yaml".to_owned()], b"theirs".to_vec())
        );
        std::fs::remove_file(&path).unwrap();
        AtomicFile::open(&path, Readers::Usual).unwrap().create(b"ours").unwrap();
        assert_eq!(
            (names(folder.path()), std::fs::read(&path).unwrap()),
            (vec!["new.yaml".to_owned()], b"ours".to_vec())
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_modes_are_kept_or_closed() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        let link = folder.path().join("report.json");
        std::fs::write(&victim, "untouched").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        AtomicFile::open(&link, Readers::Usual).unwrap().write(b"new").unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "untouched");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_file());

        let mode = || std::fs::metadata(&link).unwrap().permissions().mode() & 0o777;
        std::fs::set_permissions(&link, std::fs::Permissions::from_mode(0o640)).unwrap();
        AtomicFile::open(&link, Readers::Usual).unwrap().write(b"new").unwrap();
        assert_eq!(mode(), 0o640);
        AtomicFile::open(&link, Readers::Owner).unwrap().write(b"new").unwrap();
        assert_eq!(mode(), 0o600);
    }
}
