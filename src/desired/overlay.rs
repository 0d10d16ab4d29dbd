//! A private copy of a kustomization and of all that it names, in which edits are tried.
//!
//! Builds of the copy fetch nothing and get no flags, so that no plugin is run.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reconcile_core::manifest::Files;
use reconcile_core::pull::kustomize::Tree;
use reconcile_core::text::io_reason;

use super::files::{Limits, build_alone};
use super::git::Checkout;
use super::kustomization::{kustomization, named, read};
use crate::work_tree::root;

/// Time limit of all builds of one run.
const TIME_LIMIT: Duration = Duration::from_mins(5);
/// Time limit of one build, which fetches nothing.
const ONE_BUILD: Duration = Duration::from_secs(30);
/// An edit makes a build at most this much larger; a smaller build may have [`SMALL_BUILD`].
const MOST_GROWTH: u64 = 8;
/// The size that the build of any overlay may have, in bytes: 64 MiB.
const SMALL_BUILD: u64 = 64 << 20;
/// The most directories in which other overlays are looked for.
const MOST_FOLDERS: usize = 20_000;

/// A kustomization with its private copy.
#[derive(Debug)]
pub struct Overlay {
    tree: Tree,
    copy: Checkout,
    /// The folder that all files are in, as an absolute path.
    above: String,
    /// The working directory.
    here: String,
    started: Instant,
    /// The most bytes of a build.
    most: u64,
    /// True if a build took too long.
    is_late: Cell<bool>,
}

impl Overlay {
    /// Copies a kustomization and the files that it names, those that are known as they were read, with the size of its build. The error
    /// is the reason why it cannot be copied.
    pub fn of(directory: &OsStr, known: &Files, size: usize) -> Result<Self, String> {
        let most = u64::try_from(size).unwrap_or(u64::MAX).saturating_mul(MOST_GROWTH).max(SMALL_BUILD);
        Self::within(directory, known, Instant::now(), most)
    }

    /// Copies a kustomization whose builds share the limits of a run that started at a time.
    fn within(directory: &OsStr, known: &Files, started: Instant, most: u64) -> Result<Self, String> {
        let text = |path: PathBuf| path.into_os_string().into_string().map_err(|_| "its path is no text".to_owned());
        let unreadable = |error: io::Error| format!("it cannot be read: {}", io_reason(&error));
        let folder = text(Path::new(directory).canonicalize().map_err(unreadable)?)?;
        let here = text(Path::new(".").canonicalize().map_err(unreadable)?)?;
        let tree = read(folder, known).map_err(unreadable)?;
        let above =
            common(tree.files.keys().chain(tree.levels.iter().map(|level| &level.file)).chain(tree.links.keys()));
        let files = tree.files.iter().map(|(path, bytes)| (relative(path, &above), bytes.as_ref())).collect();
        let copy = Checkout::of_files(&files).map_err(unreadable)?;
        for (named, path) in &tree.links {
            copy.link_within(relative(named, &above), relative(path, &above)).map_err(unreadable)?;
        }
        Ok(Self { tree, copy, above, here, started, most, is_late: Cell::new(false) })
    }

    /// The kustomizations and their files.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// A file as messages name it.
    pub fn name(&self, file: &str) -> String {
        named(file, &self.here)
    }

    /// Returns true if a build was stopped, as it took too long.
    pub fn is_late(&self) -> bool {
        self.is_late.get()
    }

    /// Builds the copy with other texts of some files; `None` if that fails or takes too long.
    pub fn build(&self, texts: &BTreeMap<String, Vec<u8>>) -> Option<Vec<u8>> {
        let limit = TIME_LIMIT.saturating_sub(self.started.elapsed()).min(ONE_BUILD);
        if limit.is_zero() || self.is_late() {
            self.is_late.set(true);
            return None;
        }
        let place = |path: &str| relative(path, &self.above).to_owned();
        let replace = |path: &str, bytes: &[u8]| self.copy.replace(&place(path), bytes).ok();
        let written: Option<()> = texts.iter().try_for_each(|(path, bytes)| replace(path, bytes));
        let folder = self.tree.levels.first().map(|level| level.folder.as_str())?;
        let root = self.copy.root().join(relative(folder, &self.above));
        let start = Instant::now();
        let built = written.and_then(|()| build_alone(root.as_os_str(), Limits { time: limit, bytes: self.most }).ok());
        self.is_late.set(built.is_none() && start.elapsed() >= limit);
        // The next build begins with the files as they are.
        for path in texts.keys() {
            match self.tree.files.get(path) {
                Some(former) => replace(path, former)?,
                None => self.copy.remove(&place(path)).ok()?,
            }
        }
        built.map(|built| built.manifests)
    }

    /// The other overlays below the root of the repository that reach one of these files, in the order of their paths: kustomizations that
    /// stand on another one, or that name the file without being a base of this overlay. The second value is false if some of the directories were not looked at.
    pub fn others(&self, files: &[&str]) -> (Vec<Self>, bool) {
        let own = self.tree.levels.first().map_or("", |level| level.folder.as_str());
        let root = root(Path::new(own)).map_or_else(|| PathBuf::from(&self.above), Path::to_owned);
        let mut found = Vec::new();
        let mut folders = VecDeque::from([root]);
        let mut left = MOST_FOLDERS;
        while let Some(folder) = folders.pop_front() {
            let Some(fewer) = left.checked_sub(1) else { return (found, false) };
            left = fewer;
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let mut below: Vec<PathBuf> = entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.file_name() != ".git")
                .map(|entry| entry.path())
                .collect();
            below.sort();
            folders.extend(below);
            if folder == Path::new(own) || folder.to_str().is_none_or(|folder| kustomization(folder).is_none()) {
                continue;
            }
            let Ok(other) = Self::within(folder.as_os_str(), &Files::new(), self.started, self.most) else { continue };
            let is_base = self.tree.levels.iter().any(|level| Path::new(&level.folder) == folder);
            let is_overlay = (other.tree.levels.len() > 1 || !is_base) && !other.is_component();
            if is_overlay && files.iter().any(|file| other.tree.files.contains_key(*file)) {
                found.push(other);
            }
        }
        found.sort_by_key(Self::folder);
        (found, true)
    }

    /// The folder as messages name it.
    pub fn folder(&self) -> String {
        self.tree.levels.first().map_or_else(String::new, |level| self.name(&level.folder))
    }

    fn is_component(&self) -> bool {
        let kind = self.tree.levels.first().and_then(|level| level.value.get("kind"));
        kind.and_then(serde_json::Value::as_str) == Some("Component")
    }
}

/// The path of a file below a folder that it is in.
fn relative<'p>(path: &'p str, above: &str) -> &'p str {
    path.strip_prefix(above).unwrap_or(path).trim_start_matches('/')
}

/// The folder that all paths are in.
fn common<'p>(paths: impl Iterator<Item = &'p String>) -> String {
    let parent = |path: &'p String| path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut paths = paths.map(parent);
    let mut above = paths.next().unwrap_or_default();
    for folder in paths {
        while !(folder == above || folder.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))) {
            above = above.rsplit_once('/').map_or("", |(folder, _)| folder);
        }
    }
    above.to_owned()
}
