//! The owners whose configuration files are used. A file that was only found, and not named, may belong to anybody: in `/tmp`, or
//! above a folder that somebody else owns. Like git (`safe.directory`), the search takes only files of people who decide about
//! the run anyway.

use std::fs::Metadata;
use std::path::Path;

use crate::work_tree::WorkTree;

/// The users whose files are used.
#[derive(Debug, Default)]
pub(super) struct Owners {
    #[cfg(unix)]
    users: Vec<u32>,
}

impl Owners {
    /// The current user, root, and the owner of an input: the owner of the manifests decides what is applied.
    #[cfg(unix)]
    pub fn of(input: Option<&Path>) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let mut users = vec![0, rustix::process::geteuid().as_raw()];
        users.extend(input.and_then(|input| std::fs::metadata(input).ok()).map(|metadata| metadata.uid()));
        Self { users }
    }

    /// On other systems, files have no owners that could be compared.
    #[cfg(not(unix))]
    pub fn of(_input: Option<&Path>) -> Self {
        Self::default()
    }

    /// Returns the reason not to use a file that was found in a work tree; `None` if it can be used.
    pub fn distrust(&self, file: &Path, tree: &WorkTree) -> Option<&'static str> {
        let (Ok(link), Ok(target)) = (std::fs::symlink_metadata(file), std::fs::metadata(file)) else {
            return Some("it cannot be read");
        };
        if !self.include(&link) || !self.include(&target) {
            return Some("it belongs to another user");
        }
        if link.is_symlink() && !matches!(tree.left_by(file), Ok(None)) {
            return Some("it is a link to a file outside the repository");
        }
        None
    }

    #[cfg(unix)]
    fn include(&self, metadata: &Metadata) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        self.users.contains(&metadata.uid())
    }

    #[cfg(not(unix))]
    fn include(&self, _metadata: &Metadata) -> bool {
        true
    }
}
