//! Manifests that are edited in place: only regular files that have not changed since they were read, and each at once as a whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::output::atomic_file::AtomicFile;
use crate::output::direct_file::Readers;
use crate::work_tree::WorkTree;
use reconcile_core::text::io_reason;

/// A file that may be edited.
#[derive(Debug)]
pub(crate) struct ManifestFile {
    /// The file itself, without links.
    path: PathBuf,
}

impl ManifestFile {
    /// Looks at the file of a manifest; the error is the reason why it must not be edited. A link on the way to it has to lead to a
    /// file of the same work tree: a change that somebody proposes must not choose which other files are written.
    pub fn open(named: &Path) -> Result<Self, String> {
        stays_in_its_tree(named)?;
        let path = named.canonicalize().map_err(|error| unwritable(&error))?;
        let tree = WorkTree::of(named.parent().unwrap_or(Path::new("."))).map_err(|error| unwritable(&error))?;
        if fs::symlink_metadata(named).map_err(|error| unwritable(&error))?.is_symlink() && !tree.has(&path) {
            return Err(tree.left_for(&path));
        }
        if !fs::metadata(&path).map_err(|error| unwritable(&error))?.is_file() {
            return Err("it is not a regular file".to_owned());
        }
        Ok(Self { path })
    }

    /// Replaces the text that was read. The former file stays until all of the new one is there, and it keeps its mode and, as far as
    /// the system allows it, its owner.
    pub fn replace(&self, read: &[u8], new: &[u8]) -> Result<(), String> {
        self.check_is(read)?;
        let mut file = AtomicFile::open(&self.path, Readers::Usual).map_err(|error| unwritable(&error))?;
        file.keep_owner();
        file.keep_attributes();
        file.append(new);
        file.sync();
        // Somebody may have saved the file while the new text was written.
        self.check_is(read)?;
        file.write(b"").map_err(|error| unwritable(&error))
    }

    /// Refuses a file with another text than the one that was read, and what has taken its place.
    fn check_is(&self, read: &[u8]) -> Result<(), String> {
        let is_file = fs::symlink_metadata(&self.path).map_err(|error| unwritable(&error))?.is_file();
        if is_file && fs::read(&self.path).map_err(|error| unwritable(&error))? == read {
            return Ok(());
        }
        Err("the file has changed since it was read: run again".to_owned())
    }
}

/// Refuses a path that a link leads out of the work tree of that link.
pub(crate) fn stays_in_its_tree(named: &Path) -> Result<(), String> {
    match WorkTree::left_on_the_way(named) {
        Ok(None) => Ok(()),
        Ok(Some((target, tree))) => Err(tree.left_for(&target)),
        Err(error) => Err(unwritable(&error)),
    }
}

/// Refuses a folder in which no file can be created, before anything depends on it.
pub(crate) fn takes_new_files(folder: Option<&Path>) -> Result<(), String> {
    #[cfg(unix)]
    if let Some(folder) = folder {
        use rustix::fs::{Access, access};
        access(folder, Access::WRITE_OK).map_err(|error| unwritable(&error.into()))?;
    }
    let _ = folder;
    Ok(())
}

fn unwritable(error: &io::Error) -> String {
    format!("the file cannot be written: {}", io_reason(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_with_its_mode_if_it_is_as_it_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("web.yaml");
        fs::write(&path, "a: 1\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let file = ManifestFile::open(&path).unwrap();
        file.replace(b"a: 1\n", b"a: 2\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"a: 2\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        let refused = file.replace(b"a: 1\n", b"a: 3\n").unwrap_err();
        assert!(refused.contains("has changed since it was read"), "{refused}");
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"a: 2\n".to_vec(), vec!["web.yaml".to_owned()]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_keeps_its_extended_attributes() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("web.yaml");
        fs::write(&path, "a: 1\n").unwrap();
        // Some file systems have none.
        if setxattr(&path, "user.origin", b"shop", XattrFlags::empty()).is_ok() {
            ManifestFile::open(&path).unwrap().replace(b"a: 1\n", b"a: 2\n").unwrap();
            let mut value = [0; 16];
            assert_eq!(getxattr(&path, "user.origin", &mut value[..]), Ok(4));
            assert_eq!((&value[..4], fs::read(&path).unwrap()), (&b"shop"[..], b"a: 2\n".to_vec()));
        }
    }

    #[test]
    fn links_are_followed_inside_of_their_work_tree_only() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let victim = outside.path().join("victim.yaml");
        let link = folder.path().join("link.yaml");
        fs::write(&victim, "a: 1\n").unwrap();
        symlink(&victim, &link).unwrap();
        let refused = ManifestFile::open(&link).unwrap_err();
        assert!(refused.contains("is not part of"), "{refused}");
        let own = folder.path().join("own.yaml");
        fs::write(&own, "a: 1\n").unwrap();
        let inner = folder.path().join("inner.yaml");
        symlink("own.yaml", &inner).unwrap();
        ManifestFile::open(&inner).unwrap().replace(b"a: 1\n", b"a: 2\n").unwrap();
        assert!(fs::symlink_metadata(&inner).unwrap().is_symlink());
        assert_eq!(fs::read(&own).unwrap(), b"a: 2\n");
        // Outside of a repository, the folders that lead to a file are the user's choice.
        symlink(folder.path(), outside.path().join("folder")).unwrap();
        ManifestFile::open(&outside.path().join("folder/own.yaml")).unwrap();
        assert!(ManifestFile::open(Path::new("/dev/null")).is_err());
        assert!(ManifestFile::open(&folder.path().join("none.yaml")).is_err());
    }

    #[test]
    fn a_linked_folder_of_a_repository_leads_to_its_own_files_only() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let repository = folder.path().join("shop");
        for made in [repository.join(".git"), repository.join("base"), outside.path().join(".git")] {
            fs::create_dir_all(made).unwrap();
        }
        for file in [repository.join("base/web.yaml"), outside.path().join("web.yaml")] {
            fs::write(file, "a: 1\n").unwrap();
        }
        // A link to the repository itself is the user's; those in it are a part of it.
        symlink(&repository, folder.path().join("checkout")).unwrap();
        symlink("base", repository.join("inner")).unwrap();
        symlink(outside.path(), repository.join("outer")).unwrap();
        symlink(repository.join("base"), outside.path().join("back")).unwrap();
        for start in [&repository, &folder.path().join("checkout"), &repository.join("base/..")] {
            ManifestFile::open(&start.join("inner/web.yaml")).unwrap();
            for path in ["outer/web.yaml", "inner/../outer/web.yaml", "base/../outer/./web.yaml"] {
                let refused = ManifestFile::open(&start.join(path)).unwrap_err();
                assert!(refused.contains("is not part of the repository"), "{path}: {refused}");
            }
            assert!(stays_in_its_tree(&start.join("outer")).is_err());
            // A detour leads out of the other repository.
            assert!(ManifestFile::open(&start.join("outer/back/web.yaml")).is_err());
        }
        // From the other side, the user has named the files.
        ManifestFile::open(&outside.path().join("web.yaml")).unwrap();
    }
}
