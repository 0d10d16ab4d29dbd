//! A private copy of a kustomization and of all that it names, in which edits are tried.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube_yaml::Validation;
use reconcile_core::diagnostic::KUSTOMIZATIONS;
use reconcile_core::pull::kustomize::{Level, Tree, joined, references};

use super::files::build_within;
use super::git::Checkout;

/// The most files that are copied.
const MOST_FILES: usize = 10_000;
/// The most bytes that are copied: 256 MiB.
const MOST_BYTES: u64 = 256 << 20;
/// Time limit of all builds of one run.
const TIME_LIMIT: Duration = Duration::from_mins(5);

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
}

impl Overlay {
    /// Copies a kustomization and the files that it names. The error is the reason why it cannot be copied.
    pub fn of(directory: &OsStr) -> Result<Self, String> {
        let text = |path: PathBuf| path.into_os_string().into_string().map_err(|_| "its path is no text".to_owned());
        let unreadable = |error: io::Error| format!("it cannot be read: {}", super::files::reason(&error));
        let folder = text(Path::new(directory).canonicalize().map_err(unreadable)?)?;
        let here = text(Path::new(".").canonicalize().map_err(unreadable)?)?;
        let tree = read(folder).map_err(unreadable)?;
        let above = common(tree.files.keys().chain(tree.levels.iter().map(|level| &level.file)));
        let files = tree.files.iter().map(|(path, bytes)| (relative(path, &above), bytes.as_ref())).collect();
        let copy = Checkout::of_files(&files).map_err(unreadable)?;
        Ok(Self { tree, copy, above, here, started: Instant::now() })
    }

    /// The kustomizations and their files.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// A file as messages name it: below the working directory by its path from there.
    pub fn name(&self, file: &str) -> String {
        let below = file.strip_prefix(&self.here).and_then(|rest| rest.strip_prefix('/'));
        below.unwrap_or(file).to_owned()
    }

    /// Builds the copy with other texts of some files; `None` if that fails or takes too long.
    pub fn build(&self, texts: &BTreeMap<String, Vec<u8>>) -> Option<Vec<u8>> {
        let limit = TIME_LIMIT.saturating_sub(self.started.elapsed());
        if limit.is_zero() {
            return None;
        }
        let replace = |path: &str, bytes: &[u8]| self.copy.replace(relative(path, &self.above), bytes).ok();
        let written: Option<()> = texts.iter().try_for_each(|(path, bytes)| replace(path, bytes));
        let folder = self.tree.levels.first().map(|level| level.folder.as_str())?;
        let place = self.copy.root().join(relative(folder, &self.above));
        let built = written.and_then(|()| build_within(place.as_os_str(), limit).ok());
        // The next build begins with the files as they are.
        for path in texts.keys() {
            replace(path, self.tree.files.get(path)?)?;
        }
        built.map(|built| built.manifests)
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

/// Reads the kustomizations from a folder on, the nearest first, with the files that they name.
fn read(folder: String) -> io::Result<Tree> {
    let mut tree = Tree::default();
    let mut bytes = 0_u64;
    let mut seen = BTreeSet::from([folder.clone()]);
    let mut folders = VecDeque::from([folder]);
    while let Some(folder) = folders.pop_front() {
        let Some(file) = kustomization(&folder) else { continue };
        add(&mut tree, &file, &mut bytes)?;
        let content = tree.files.get(&file).cloned().unwrap_or_default();
        let Some(document) = kube_yaml::read(&content, Validation::Warn).documents.into_iter().next() else { continue };
        for reference in references(&document.value) {
            let Some(path) = joined(&folder, reference) else { continue };
            match fs::metadata(&path) {
                Ok(found) if found.is_dir() => {
                    let is_new = seen.len() < MOST_FILES && seen.insert(path.clone());
                    folders.extend(is_new.then_some(path));
                }
                Ok(found) if found.is_file() => add(&mut tree, &path, &mut bytes)?,
                _ => {}
            }
        }
        tree.levels.push(Level { folder, file, value: document.value });
    }
    Ok(tree)
}

fn kustomization(folder: &str) -> Option<String> {
    KUSTOMIZATIONS.iter().map(|name| format!("{folder}/{name}")).find(|file| Path::new(file).is_file())
}

fn add(tree: &mut Tree, path: &str, bytes: &mut u64) -> io::Result<()> {
    if tree.files.contains_key(path) {
        return Ok(());
    }
    *bytes = bytes.saturating_add(fs::metadata(path)?.len());
    if *bytes > MOST_BYTES || tree.files.len() >= MOST_FILES {
        return Err(io::Error::other("it names more than 10,000 files, or more than 256 MiB"));
    }
    tree.files.insert(path.to_owned(), Arc::from(fs::read(path)?));
    Ok(())
}
