//! The manifests of `-f` and `-k` as they are in a revision of their git repository.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};
use reconcile_core::diagnostic::{Diagnostic, KUSTOMIZATIONS};
use reconcile_core::manifest::{Input, is_stdin};
use reconcile_core::text::io_reason;

use super::files::{Inputs, build, is_configuration, is_manifest, is_pattern};
use super::git::{Checkout, OTHERWISE, Repository, Revision, Tree};

/// The manifests of a revision.
#[derive(Debug)]
pub struct Since {
    /// The revision.
    pub revision: Revision,
    /// Its manifests.
    pub inputs: Vec<Input>,
    /// Warnings of kustomize.
    pub warnings: Vec<String>,
}

/// The paths of an input, as they are typed.
#[derive(Clone, Copy, Debug)]
pub struct Paths<'a> {
    /// Those of `-f`.
    pub filename: &'a [OsString],
    /// The one of `-k`.
    pub kustomize: Option<&'a OsStr>,
    /// True if subdirectories are read as well.
    pub recursive: bool,
}

impl Since {
    /// Reads the manifests. What a revision does not have is new since.
    pub fn read(paths: Paths<'_>, name: &str) -> Result<Self, Vec<Diagnostic>> {
        let mut inputs = Inputs::new(true);
        let mut warnings = Vec::new();
        let revision = read(paths, name, &mut inputs, &mut warnings).map_err(|diagnostic| vec![diagnostic])?;
        Ok(Self { revision, inputs: inputs.finish()?, warnings })
    }
}

/// Reads all paths into `inputs`.
fn read(paths: Paths<'_>, name: &str, inputs: &mut Inputs, warnings: &mut Vec<String>) -> Result<Revision, Diagnostic> {
    let mut reader: Option<Reader> = None;
    for path in paths.filename.iter().map(OsString::as_os_str).chain(paths.kustomize) {
        let named = Named::of(path)?;
        let (repository, below) = Repository::of(&named.existing)?;
        let reader = match &mut reader {
            Some(known) if known.repository.is_same(&repository) => known,
            Some(_) => {
                let message = "`--since` needs all manifests in one git repository, and they are in several";
                return Err(Diagnostic::general(message).with_hint(OTHERWISE));
            }
            none => none.insert(Reader::of(repository, name)?),
        };
        let below = text(&below)?;
        match &named.pattern {
            _ if paths.kustomize.is_some() => reader.build(inputs, &below, warnings),
            Some(pattern) => reader.matching(inputs, &below, pattern, paths.recursive),
            None => reader.path(inputs, &below, paths.recursive),
        }?;
    }
    reader.map(|reader| reader.revision).ok_or_else(|| Diagnostic::general("`--since` needs `-f` or `-k`"))
}

/// A path that was typed: the part that exists, and the pattern below it.
struct Named {
    existing: PathBuf,
    pattern: Option<String>,
}

impl Named {
    fn of(path: &OsStr) -> Result<Self, Diagnostic> {
        let name = path.to_string_lossy();
        let is_url = name.contains("://");
        if is_stdin(path) || is_url {
            let what = if is_url { "a URL" } else { "standard input" };
            let message = format!("`--since` reads files of a git repository, and {what} is none");
            return Err(Diagnostic::general(message).with_hint(OTHERWISE));
        }
        let whole = Path::new(path);
        if whole.exists() || !name.contains(['*', '?', '[']) {
            return Ok(Self { existing: whole.to_owned(), pattern: None });
        }
        let parts = || whole.iter();
        let fixed: PathBuf = parts().take_while(|part| !is_pattern(part)).collect();
        let rest: PathBuf = parts().skip_while(|part| !is_pattern(part)).collect();
        let existing = if fixed.as_os_str().is_empty() { PathBuf::from(".") } else { fixed };
        Ok(Self { existing, pattern: Some(text(&rest)?) })
    }
}

/// A path with `/` between its parts.
fn text(path: &Path) -> Result<String, Diagnostic> {
    let parts: Option<Vec<&str>> = path.iter().map(OsStr::to_str).collect();
    let message = || format!("`--since` cannot read {}: its name is not valid UTF-8", path.display());
    parts.map(|parts| parts.join("/")).ok_or_else(|| Diagnostic::general(message()).with_hint(OTHERWISE))
}

/// Reads files of one revision.
struct Reader {
    repository: Repository,
    revision: Revision,
    tree: Tree,
}

impl Reader {
    fn of(repository: Repository, name: &str) -> Result<Self, Diagnostic> {
        let revision = repository.revision(name)?;
        let tree = repository.tree(&revision)?;
        Ok(Self { repository, revision, tree })
    }

    /// Reads a file, or the files of a directory.
    fn path(&mut self, inputs: &mut Inputs, path: &str, recursive: bool) -> Result<(), Diagnostic> {
        let Some(target) = self.target(path)? else { return Ok(()) };
        if self.tree.has(&target) {
            self.file(inputs, path);
            return Ok(());
        }
        let has_files = |submodule: &&str| self.repository.has_files_in(submodule);
        let below = || self.tree.submodules_below(&target).filter(|_| recursive).find(has_files);
        if let Some(submodule) = self.tree.submodule_of(&target).or_else(below) {
            let name = format!("{}:{submodule}", self.revision.name);
            let message = "is a submodule, and `--since` reads the files of one repository";
            return Err(Diagnostic::of_file(&name, message).with_hint(OTHERWISE));
        }
        self.directory(inputs, &target, recursive);
        Ok(())
    }

    /// Reads what a pattern below a directory matches: files, and the files of directories.
    fn matching(&mut self, inputs: &mut Inputs, below: &str, pattern: &str, recursive: bool) -> Result<(), Diagnostic> {
        let pattern = Pattern::new(pattern)
            .map_err(|error| Diagnostic::of_file(pattern, format!("is not a valid pattern: {}", error.msg)))?;
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::default() };
        let start = if below.is_empty() { 0 } else { below.len().saturating_add(1) };
        let mut found = std::collections::BTreeSet::new();
        for (path, _) in self.tree.below(below) {
            let rest = path.get(start..).unwrap_or_default();
            let ends = rest.match_indices('/').map(|(end, _)| end).chain([rest.len()]);
            for end in ends {
                let part = rest.get(..end).unwrap_or_default();
                if pattern.matches_with(part, options) {
                    found.insert(path.get(..start.saturating_add(end)).unwrap_or_default().to_owned());
                }
            }
        }
        found.retain(|path| !is_configuration(Path::new(path)));
        found.iter().try_for_each(|path| self.path(inputs, path, recursive))
    }

    fn directory(&mut self, inputs: &mut Inputs, folder: &str, recursive: bool) {
        let start = if folder.is_empty() { 0 } else { folder.len().saturating_add(1) };
        let is_direct = |path: &str| !path.get(start..).unwrap_or_default().contains('/');
        let is_wanted = |path: &&str| (recursive || is_direct(path)) && is_manifest(Path::new(path));
        let files: Vec<String> =
            self.tree.below(folder).map(|(path, _)| path).filter(is_wanted).map(ToOwned::to_owned).collect();
        for file in &files {
            self.file(inputs, file);
        }
    }

    fn file(&mut self, inputs: &mut Inputs, path: &str) {
        let content = self.tree.read(path);
        let name = format!("{}:{path}", self.revision.name);
        match content {
            Ok(Some(content)) => inputs.content(&name, Ok(content)),
            Ok(None) => {}
            Err(error) => inputs.content(&name, Err(io_reason(&error))),
        }
    }

    /// Builds a kustomization in a private copy of the revision.
    fn build(&mut self, inputs: &mut Inputs, folder: &str, warnings: &mut Vec<String>) -> Result<(), Diagnostic> {
        let name = format!("{}:{folder}", self.revision.name);
        let Some(target) = self.target(folder)? else { return Ok(()) };
        let path = |file: &str| if target.is_empty() { file.to_owned() } else { format!("{target}/{file}") };
        if !KUSTOMIZATIONS.iter().any(|file| self.tree.has(&path(file))) {
            return Ok(());
        }
        let checkout = Checkout::of(&mut self.tree)
            .map_err(|error| Diagnostic::of_file(&name, format!("cannot be copied: {}", io_reason(&error))))?;
        let root = checkout.root().to_string_lossy().into_owned();
        let shown = |text: &str| text.replace(&root, &self.revision.name);
        let built = build(checkout.root().join(&target).as_os_str())
            .map_err(|diagnostic| Diagnostic::of_file(&name, shown(&diagnostic.message)))?;
        warnings.extend(built.warnings.iter().map(|warning| shown(warning)));
        inputs.content(&name, Ok(built.manifests));
        Ok(())
    }

    fn target(&mut self, path: &str) -> Result<Option<String>, Diagnostic> {
        let name = format!("{}:{path}", self.revision.name);
        self.tree
            .target(path)
            .map_err(|error| Diagnostic::of_file(&name, format!("cannot be read: {}", io_reason(&error))))
    }
}
