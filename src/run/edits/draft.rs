//! The new text of a file, which is shown before it is written.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use reconcile_core::text::io_reason;
use reconcile_report::pull::{EditedFile, FileContent};

use crate::output::atomic_file::AtomicFile;
use crate::output::direct_file::Readers;
use crate::run::edits::manifest_file::ManifestFile;

/// A file with its new text, which is not written yet.
pub(crate) struct Draft {
    name: String,
    destination: Destination,
    before: Vec<u8>,
    after: Vec<u8>,
    content: FileContent,
}

enum Destination {
    /// A file that has to be as it was read.
    Existing(ManifestFile),
    /// A file that must not exist.
    New(PathBuf),
}

impl Draft {
    /// The new text of a file.
    pub fn of_file(name: &str, file: ManifestFile, before: Vec<u8>, after: Vec<u8>, content: FileContent) -> Self {
        Self { name: name.to_owned(), destination: Destination::Existing(file), before, after, content }
    }

    /// The text of a file that does not exist.
    pub fn of_new_file(name: &str, path: PathBuf, after: Vec<u8>, content: FileContent) -> Self {
        Self { name: name.to_owned(), destination: Destination::New(path), before: Vec::new(), after, content }
    }

    /// Removes a file that this draft has created, if nobody has changed it since.
    pub fn take_back(&self) {
        if let Destination::New(path) = &self.destination
            && fs::read(path).is_ok_and(|text| text == self.after)
        {
            let _ = fs::remove_file(path);
        }
    }

    /// The file as messages name it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if the file does not exist.
    pub fn is_new(&self) -> bool {
        matches!(self.destination, Destination::New(_))
    }

    /// The file with both of its texts.
    pub fn shown(&self, written: bool) -> EditedFile {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let before = text(&self.before);
        let after = text(&self.after);
        EditedFile { file: self.name.clone(), written, before, after, content: self.content }
    }

    /// Writes the file as a whole. The error is the reason why it cannot be written.
    pub fn write(&self) -> Result<(), String> {
        let path = match &self.destination {
            Destination::Existing(file) => return file.replace(&self.before, &self.after),
            Destination::New(path) => path,
        };
        let unwritable = |error: std::io::Error| format!("the file cannot be written: {}", io_reason(&error));
        let exists = || Err("somebody else has created the file in the meantime: run again".to_owned());
        if fs::symlink_metadata(path).is_ok() {
            return exists();
        }
        match AtomicFile::open(path, Readers::Usual).and_then(|file| file.create(&self.after)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => exists(),
            created => created.map_err(unwritable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.yaml");
        let of_new = |path, text: Vec<u8>| Draft::of_new_file("c.yaml", path, text, FileContent::Configuration);
        let draft = of_new(path.clone(), b"a: 1\n".to_vec());
        draft.write().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"a: 1\n");
        let again = of_new(path.clone(), b"a: 2\n".to_vec());
        assert!(again.write().unwrap_err().contains("in the meantime"));
        #[cfg(unix)]
        {
            let link = folder.path().join("link.yaml");
            std::os::unix::fs::symlink("nowhere.yaml", &link).unwrap();
            assert!(of_new(link, b"a: 2\n".to_vec()).write().is_err());
        }
        assert_eq!(fs::read(&path).unwrap(), b"a: 1\n");
        let names = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 2, "no draft stays behind");
    }
}
