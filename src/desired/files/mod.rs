//! Finds and reads the inputs of `-f` and `-k`. All errors are collected.

mod kustomize;
mod voice;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::{fs, io};

pub use kustomize::MAX_INPUT;
use kustomize::read_bounded;
pub(super) use kustomize::{Limits, build, build_alone};

use super::kustomization::origins;
use crate::work_tree::WorkTree;
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::manifest::{CHART, Input, STDIN, SourceText, rendered_by_helm};
use reconcile_core::text::{io_reason, name_without_credentials};

/// Name of the configuration file, which is no manifest when a directory is read.
pub const CONFIGURATION: &str = ".kubectl-reconcile.yaml";

/// Inputs, in the order of the command line. A file is read once, even if several arguments lead to it.
#[derive(Debug, Default)]
pub struct Inputs {
    read: Vec<Input>,
    diagnostics: Vec<Diagnostic>,
    stdin_is_read: bool,
    seen: BTreeSet<PathBuf>,
    allow_empty: bool,
}

impl Inputs {
    /// Starts without inputs. `allow_empty` allows directories without manifests.
    pub fn new(allow_empty: bool) -> Self {
        Self { allow_empty, ..Self::default() }
    }

    /// Reads a path: a file with any ending, the `.json`, `.yaml` and `.yml` files of a directory in lexical order (with
    /// those of its subdirectories if `recursive`), the matches of a pattern, or standard input for `-`.
    ///
    /// A link that is named is followed. Links that were only found below a directory, or by a pattern, count if they lead to
    /// files of the same git work tree: a change that somebody proposes must not choose which other files are read.
    pub fn path(&mut self, path: &OsStr, recursive: bool) {
        let name = path.to_string_lossy();
        if path == "-" {
            if std::mem::replace(&mut self.stdin_is_read, true) {
                let message = "standard input can be read only once, `-f -` is given twice";
                self.diagnostics.push(Diagnostic::general(message));
            } else {
                self.content(STDIN, read_bounded(io::stdin().lock()).map_err(|error| io_reason(&error)));
            }
            return;
        }
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => match WorkTree::of(Path::new(path)) {
                Ok(tree) => self.directory(Path::new(path), tree, recursive),
                Err(error) => self.unreadable(Path::new(path), &error),
            },
            Ok(found) => self.file(Path::new(path), &found),
            Err(error) if error.kind() == io::ErrorKind::NotFound && name.contains(['*', '?', '[']) => {
                self.pattern(&name, recursive);
            }
            Err(error) => self.unreadable(Path::new(path), &error),
        }
    }

    /// Reads the output of `kustomize build` for a directory, which is named by the file of the kustomization. Returns its warnings.
    pub fn kustomization(&mut self, directory: &OsStr) -> Vec<String> {
        let (built, origins) = std::thread::scope(|scope| {
            let origins = scope.spawn(|| origins(directory));
            (kustomize::build(directory), origins.join().ok().flatten())
        });
        match built {
            Ok(built) => {
                self.content(&kustomize::file(directory).to_string_lossy(), Ok(built.manifests));
                if let Some(input) = self.read.last_mut() {
                    input.built_from = origins;
                }
                built.warnings
            }
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                Vec::new()
            }
        }
    }

    /// Takes the content of an input, or the reason why it could not be read. Credentials are removed from a name that is a URL.
    pub fn content(&mut self, name: &str, content: Result<Vec<u8>, String>) {
        let name = name_without_credentials(name);
        match content {
            Ok(bytes) => self.read.push(Input::new(name, bytes)),
            Err(reason) => self.diagnostics.push(not_read(&name, &reason)),
        }
    }

    /// Returns everything that was read, or all errors.
    pub fn finish(self) -> Result<Vec<Input>, Vec<Diagnostic>> {
        if self.diagnostics.is_empty() { Ok(self.read) } else { Err(self.diagnostics) }
    }

    /// Returns everything that was read, and the errors of the rest.
    pub fn into_parts(self) -> (Vec<Input>, Vec<Diagnostic>) {
        (self.read, self.diagnostics)
    }

    fn file(&mut self, path: &Path, metadata: &Metadata) {
        // Pipes and devices have no name of their own.
        let is_new = !metadata.is_file() || path.canonicalize().map_or(true, |real| self.seen.insert(real));
        if is_new {
            let name = path.to_string_lossy();
            match fs::File::open(path).and_then(read_bounded) {
                Ok(bytes) if metadata.is_file() => {
                    let text = SourceText::of_file(bytes, path.to_owned());
                    self.read.push(Input::new(name_without_credentials(&name), text));
                }
                content => self.content(&name, content.map_err(|error| io_reason(&error))),
            }
        }
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        self.diagnostics.push(unreadable(path, error));
    }

    fn pattern(&mut self, pattern: &str, recursive: bool) {
        let name = name_without_credentials(pattern);
        let paths = match glob::glob(pattern) {
            Ok(paths) => paths,
            Err(error) => {
                let message = format!("is not a valid pattern: {}", error.msg);
                return self.diagnostics.push(Diagnostic::of_file(&name, message));
            }
        };
        let mut is_empty = true;
        for path in paths {
            is_empty = false;
            match path.map_err(|error| (error.path().to_owned(), error.into())) {
                Ok(path) if is_configuration(&path) => {}
                Ok(path) => match matched(&path, pattern) {
                    Ok(Match::Directory(tree)) => self.directory(&path, tree, recursive),
                    Ok(Match::File(metadata)) => self.file(&path, &metadata),
                    Ok(Match::Outside(diagnostic)) => self.diagnostics.push(diagnostic),
                    Err(error) => self.unreadable(&path, &error),
                },
                Err((path, error)) => self.unreadable(&path, &error),
            }
        }
        if is_empty {
            self.diagnostics.push(Diagnostic::of_file(&name, "the pattern matches no file"));
        }
    }

    fn directory(&mut self, path: &Path, tree: WorkTree, recursive: bool) {
        let mut walk = Walk::new(tree, recursive);
        walk.enter(path);
        let is_empty = walk.files.is_empty() && walk.diagnostics.is_empty();
        self.diagnostics.append(&mut walk.diagnostics);
        for (path, metadata) in &walk.files {
            self.file(path, metadata);
        }
        if is_empty && !self.allow_empty {
            let below = if recursive { " or below it" } else { "" };
            let message = format!("no `.yaml`, `.yml` or `.json` file in this directory{below}");
            let diagnostic = Diagnostic::of_file(&path.to_string_lossy(), message);
            self.diagnostics.push(if recursive {
                diagnostic
            } else {
                diagnostic.with_hint("pass `-R` to search its subdirectories too")
            });
        }
    }
}

pub(super) fn is_configuration(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == CONFIGURATION)
}

/// Returns true for a file that is read when its directory is.
pub(super) fn is_manifest(path: &Path) -> bool {
    let ending = path.extension();
    !is_configuration(path) && ending.is_some_and(|ending| ending == "yaml" || ending == "yml" || ending == "json")
}

/// Returns true for the description of a chart, which makes its directory one.
fn is_chart(path: &Path) -> bool {
    if path.file_name().is_none_or(|name| name != CHART) || !path.is_file() {
        return false;
    }
    let bytes = fs::File::open(path).and_then(read_bounded).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    has("name:") && has("version:") && !has("kind:")
}

/// Returns true if a pattern has a special character in a part of a path.
pub(super) fn is_pattern(part: &OsStr) -> bool {
    part.to_string_lossy().contains(['*', '?', '['])
}

/// A path that a pattern matches.
enum Match {
    /// A directory, and the files that its links may lead to.
    Directory(WorkTree),
    File(Metadata),
    /// A link that leads out.
    Outside(Diagnostic),
}

/// Looks at a path that a pattern matches. The directory before the first special character was named.
fn matched(path: &Path, pattern: &str) -> io::Result<Match> {
    let named: PathBuf = Path::new(pattern).iter().take_while(|part| !is_pattern(part)).collect();
    let metadata = fs::metadata(path)?;
    let tree = WorkTree::of(&named)?;
    Ok(match tree.left_by(path)? {
        Some(target) => Match::Outside(leads_out(path, &target, &tree)),
        None if metadata.is_dir() => Match::Directory(tree),
        None => Match::File(metadata),
    })
}

/// The error for a link that was not named and leads to something else than a file of the work tree.
fn leads_out(link: &Path, target: &Path, tree: &WorkTree) -> Diagnostic {
    Diagnostic::of_file(&link.to_string_lossy(), tree.left_for(target))
        .with_hint("name the link itself with `-f` to read its target")
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    not_read(&name_without_credentials(&path.to_string_lossy()), &io_reason(error))
}

fn not_read(name: &str, reason: &str) -> Diagnostic {
    if name.is_empty() {
        return Diagnostic::general("the name of a file is empty");
    }
    Diagnostic::of_file(name, format!("cannot be read: {reason}"))
}

/// Walks through a directory.
struct Walk {
    tree: WorkTree,
    recursive: bool,
    /// The real paths of the directories that were entered: each is entered once, so that cycles of links end.
    entered: BTreeSet<PathBuf>,
    files: Vec<(PathBuf, Metadata)>,
    diagnostics: Vec<Diagnostic>,
}

impl Walk {
    fn new(tree: WorkTree, recursive: bool) -> Self {
        Self { tree, recursive, entered: BTreeSet::new(), files: Vec::new(), diagnostics: Vec::new() }
    }

    fn enter(&mut self, directory: &Path) {
        let entries = match self.entries(directory) {
            Ok(entries) => entries,
            Err(error) => return self.diagnostics.push(unreadable(directory, &error)),
        };
        if entries.iter().any(|path| is_chart(path)) {
            let name = name_without_credentials(&directory.to_string_lossy());
            let message = "this directory is a Helm chart, and its templates are no manifests";
            return self.diagnostics.push(Diagnostic::of_file(&name, message).with_hint(rendered_by_helm(&name)));
        }
        for path in entries {
            if let Err(error) = self.entry(&path) {
                self.diagnostics.push(unreadable(&path, &error));
            }
        }
    }

    fn entry(&mut self, path: &Path) -> io::Result<()> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() && self.recursive => metadata,
            Ok(metadata) if metadata.is_dir() => return Ok(()),
            metadata if is_manifest(path) => metadata?,
            _ => return Ok(()),
        };
        if path.is_symlink()
            && let Some(target) = self.tree.left_by(path)?
        {
            self.diagnostics.push(leads_out(path, &target, &self.tree));
        } else if metadata.is_dir() {
            self.enter(path);
        } else if metadata.is_file() {
            self.files.push((path.to_owned(), metadata));
        } else {
            return Err(io::Error::other("it is not a regular file"));
        }
        Ok(())
    }

    fn entries(&mut self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        if !self.entered.insert(directory.canonicalize()?) {
            return Ok(Vec::new());
        }
        let entries = fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path()));
        let mut entries: Vec<PathBuf> = entries.collect::<Result<_, _>>()?;
        entries.sort();
        Ok(entries)
    }
}
