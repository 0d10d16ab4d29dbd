//! Finds the configuration of a run: named on the command line, next to the manifests, above them in their repository, or in the
//! working directory.
//!
//! A file that was only found, and not named, may belong to anybody: in `/tmp`, or
//! above a folder that somebody else owns. Like git (`safe.directory`), the search takes only files of people who decide about
//! the run anyway.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::manifest::is_stdin;
use reconcile_core::text::io_reason;
use reconcile_report::Failure;

use crate::desired::files::CONFIGURATION;
use crate::work_tree::WorkTree;

/// The way in which a configuration was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigOrigin {
    /// By `--config`.
    Named,
    /// In the folder of the manifests.
    NextToManifests,
    /// Above the manifests, in the same repository.
    AboveManifests,
    /// In the working directory, or above it in the same repository.
    WorkingDirectory,
}

/// A configuration that was found, and those that were passed over.
#[derive(Debug, Default)]
pub(super) struct ConfigSearch {
    pub found: Option<(PathBuf, ConfigOrigin)>,
    pub warnings: Vec<String>,
}

/// Looks for the configuration of these inputs. Two configurations are an error, as neither applies to all inputs.
pub(super) fn search(inputs: &[&OsStr]) -> Result<ConfigSearch, Failure> {
    let mut search = ConfigSearch::default();
    let mut found: Vec<(PathBuf, ConfigOrigin)> = Vec::new();
    let mut seen = BTreeSet::new();
    for input in inputs {
        let Some(folder) = folder(input) else { continue };
        if let Some((path, origin)) = search.nearest(&folder, &Owners::of(Some(Path::new(input))))
            && seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone()))
        {
            found.push((path, origin));
        }
    }
    match found.as_slice() {
        [] => {
            let found = search.nearest(Path::new(""), &Owners::of(None));
            search.found = found.map(|(path, _)| (path, ConfigOrigin::WorkingDirectory));
        }
        [one] => search.found = Some(one.clone()),
        [(first, _), (second, _), ..] => {
            let first = first.display();
            let second = second.display();
            let message = format!("there are two configuration files for these manifests: {first} and {second}");
            return Err(Failure::refused(message, "choose one with `--config`"));
        }
    }
    Ok(search)
}

/// The path of a configuration for inputs that have none: next to the first of them that is in a folder, or else in the working directory.
pub(crate) fn new_configuration_path(inputs: &[&OsStr]) -> PathBuf {
    let folder = inputs.iter().find_map(|input| folder(input));
    folder.unwrap_or_default().join(CONFIGURATION)
}

impl ConfigSearch {
    /// The file in a folder, or else the nearest one above it, up to the root of its repository and never beyond.
    fn nearest(&mut self, folder: &Path, owners: &Owners) -> Option<(PathBuf, ConfigOrigin)> {
        let real = if folder.as_os_str().is_empty() { Path::new(".") } else { folder }.canonicalize().ok()?;
        let tree = WorkTree::of(&real).ok()?;
        let next = folder.join(CONFIGURATION);
        if self.counts(&next, &tree, owners) {
            return Some((next, ConfigOrigin::NextToManifests));
        }
        let WorkTree::Repository(root) = &tree else { return None };
        let above = real.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
        let mut above = above.map(|folder| folder.join(CONFIGURATION));
        above.find(|path| self.counts(path, &tree, owners)).map(|path| (relative(&path), ConfigOrigin::AboveManifests))
    }

    fn counts(&mut self, path: &Path, tree: &WorkTree, owners: &Owners) -> bool {
        let Ok(link) = std::fs::symlink_metadata(path) else { return false };
        let shown = path.display();
        let reason = match unusable(path, &link) {
            Some(reason) => Some(reason.to_owned()),
            None => owners.distrust(path, tree).map(|reason| format!("{reason}: `--config {shown}` uses it")),
        };
        if let Some(reason) = &reason {
            let warning = format!("the configuration {shown} is not used, because {reason}");
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        reason.is_none()
    }
}

/// The reason why nobody could use what has the name of a configuration; `None` for a file.
fn unusable(path: &Path, link: &Metadata) -> Option<&'static str> {
    match std::fs::metadata(path) {
        Ok(target) if target.is_file() => None,
        Ok(target) if target.is_dir() => Some("it is a folder"),
        Ok(_) => Some("it is not a regular file"),
        Err(error) if link.is_symlink() && error.kind() == ErrorKind::NotFound => {
            Some("it is a link to a file that does not exist")
        }
        Err(_) => Some("it cannot be read"),
    }
}

/// A path relative to the working directory, where that is in or below its folder.
fn relative(path: &Path) -> PathBuf {
    let Ok(current) = std::env::current_dir().and_then(|current| current.canonicalize()) else {
        return path.to_owned();
    };
    if let Ok(below) = path.strip_prefix(&current) {
        return below.to_owned();
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
    match current.strip_prefix(folder) {
        Ok(down) => down.iter().map(|_| OsStr::new("..")).collect::<PathBuf>().join(name),
        Err(_) => path.to_owned(),
    }
}

/// Returns true for standard input and URLs, which have no folder.
pub(super) fn is_stream(input: &OsStr) -> bool {
    let text = input.to_string_lossy();
    is_stdin(input) || text.contains("://")
}

/// The folder of an input; standard input and URLs have none.
fn folder(input: &OsStr) -> Option<PathBuf> {
    if is_stream(input) {
        return None;
    }
    let path = Path::new(input);
    if path.is_dir() {
        return Some(path.to_owned());
    }
    let is_pattern = |path: &Path| path.to_string_lossy().contains(['*', '?', '[']);
    path.ancestors().skip(1).find(|folder| !is_pattern(folder)).map(Path::to_owned)
}

/// The error for a file that cannot be read.
pub(super) fn unreadable(name: &str, error: &std::io::Error) -> Failure {
    Failure::invalid(Diagnostic::of_file(name, format!("cannot be read: {}", io_reason(error))))
}

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
