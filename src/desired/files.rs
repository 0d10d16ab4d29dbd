//! Finds and reads the inputs of `-f` and `-k`. All errors are collected.

mod bounded;
mod kustomize;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

pub use bounded::MAX_INPUT;
use bounded::{read_bounded, reason};

use reconcile_core::manifest::Input;

use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::text::name_without_credentials;

/// Name of standard input in messages and reports.
pub const STDIN: &str = "stdin";

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
    #[must_use]
    pub fn new(allow_empty: bool) -> Self {
        Self { allow_empty, ..Self::default() }
    }

    /// Reads a path: a file with any ending, the `.json`, `.yaml` and `.yml` files of a directory in lexical order (with
    /// those of its subdirectories if `recursive`), the matches of a pattern, or standard input for `-`.
    pub fn path(&mut self, path: &OsStr, recursive: bool) {
        let name = path.to_string_lossy();
        if path == "-" {
            if std::mem::replace(&mut self.stdin_is_read, true) {
                let message = "standard input can be read only once, `-f -` is given twice";
                self.diagnostics.push(Diagnostic::general(message));
            } else {
                self.content(STDIN, read_bounded(std::io::stdin().lock()).map_err(|error| reason(&error)));
            }
            return;
        }
        match std::fs::metadata(path) {
            Ok(found) => self.found(Path::new(path), &found, recursive),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && name.contains(['*', '?', '[']) => {
                self.pattern(&name, recursive);
            }
            Err(error) => self.unreadable(Path::new(path), &error),
        }
    }

    /// Reads the output of `kustomize build` for a directory. Returns its warnings.
    pub fn kustomization(&mut self, directory: &OsStr) -> Vec<String> {
        match kustomize::build(directory) {
            Ok(built) => {
                self.content(&directory.to_string_lossy(), Ok(built.manifests));
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
            Ok(bytes) => self.read.push(Input { name: name.into(), text: bytes.into() }),
            Err(reason) => self.diagnostics.push(Diagnostic::of_file(&name, format!("cannot be read: {reason}"))),
        }
    }

    /// Returns everything that was read, or all errors.
    pub fn finish(self) -> Result<Vec<Input>, Vec<Diagnostic>> {
        if self.diagnostics.is_empty() { Ok(self.read) } else { Err(self.diagnostics) }
    }

    fn found(&mut self, path: &Path, metadata: &std::fs::Metadata, recursive: bool) {
        if metadata.is_dir() { self.directory(path, recursive) } else { self.file(path, metadata) }
    }

    fn file(&mut self, path: &Path, metadata: &std::fs::Metadata) {
        // Pipes and devices have no name of their own.
        let is_new = !metadata.is_file() || path.canonicalize().map_or(true, |real| self.seen.insert(real));
        if is_new {
            let content = std::fs::File::open(path).and_then(read_bounded).map_err(|error| reason(&error));
            self.content(&path.to_string_lossy(), content);
        }
    }

    fn unreadable(&mut self, path: &Path, error: &std::io::Error) {
        self.content(&path.to_string_lossy(), Err(reason(error)));
    }

    fn pattern(&mut self, pattern: &str, recursive: bool) {
        let paths = match glob::glob(pattern) {
            Ok(paths) => paths,
            Err(error) => {
                let message = format!("is not a valid pattern: {}", error.msg);
                return self.diagnostics.push(Diagnostic::of_file(&name_without_credentials(pattern), message));
            }
        };
        let mut is_empty = true;
        for path in paths {
            is_empty = false;
            match path.map_err(|error| (error.path().to_owned(), error.into())) {
                Ok(path) if is_configuration(&path) => {}
                Ok(path) => match std::fs::metadata(&path) {
                    Ok(metadata) => self.found(&path, &metadata, recursive),
                    Err(error) => self.unreadable(&path, &error),
                },
                Err((path, error)) => self.unreadable(&path, &error),
            }
        }
        if is_empty {
            let name = name_without_credentials(pattern);
            self.diagnostics.push(Diagnostic::of_file(&name, "the pattern matches no file"));
        }
    }

    fn directory(&mut self, path: &Path, recursive: bool) {
        let mut walk = Walk { recursive, ..Walk::default() };
        walk.enter(path);
        let is_empty = walk.files.is_empty() && walk.unreadable.is_empty();
        for (path, error) in &walk.unreadable {
            self.unreadable(path, error);
        }
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

fn is_configuration(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == CONFIGURATION)
}

/// Walks through a directory.
#[derive(Default)]
struct Walk {
    recursive: bool,
    /// The real paths of the directories that were entered: each is entered once, so that cycles of links end.
    entered: BTreeSet<PathBuf>,
    files: Vec<(PathBuf, std::fs::Metadata)>,
    unreadable: Vec<(PathBuf, std::io::Error)>,
}

impl Walk {
    fn enter(&mut self, directory: &Path) {
        let entries = match self.entries(directory) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable.push((directory.to_owned(), error)),
        };
        for path in entries {
            let is_manifest = !is_configuration(&path)
                && path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml" || ending == "json");
            match std::fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() && self.recursive => self.enter(&path),
                Ok(metadata) if metadata.is_dir() => {}
                Ok(metadata) if is_manifest && metadata.is_file() => self.files.push((path, metadata)),
                Ok(_) if is_manifest => {
                    self.unreadable.push((path, std::io::Error::other("it is not a regular file")));
                }
                Err(error) if is_manifest => self.unreadable.push((path, error)),
                _ => {}
            }
        }
    }

    fn entries(&mut self, directory: &Path) -> std::io::Result<Vec<PathBuf>> {
        if !self.entered.insert(directory.canonicalize()?) {
            return Ok(Vec::new());
        }
        let entries = std::fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path()));
        let mut entries: Vec<PathBuf> = entries.collect::<Result<_, _>>()?;
        entries.sort();
        Ok(entries)
    }
}
