//! The git work tree of a folder, which links among the manifests must not lead out of.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The entry of a folder with which a work tree begins: the repository, or in a submodule a file that names it.
const GIT: &str = ".git";

/// The root of the git work tree that a folder or a file is in, without following links: the nearest folder above it with `.git`.
pub(crate) fn root(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.join(GIT).exists())
}

/// The files that belong together with a folder: those of its git work tree, or those below it if it is in none.
///
/// A checkout inside another one, such as a submodule, is a work tree of its own. The repository in `.git` belongs to none.
#[derive(Clone, Debug)]
pub(crate) enum WorkTree {
    /// The root of a git work tree.
    Repository(PathBuf),
    /// A folder outside of any.
    Folder(PathBuf),
}

impl WorkTree {
    /// The files that belong together with a folder. A link to the folder itself is followed, as somebody chose it.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder }.canonicalize()?;
        Ok(root(&folder).map(|root| Self::Repository(root.to_owned())).unwrap_or(Self::Folder(folder)))
    }

    /// Returns true if a path without links is one of its files.
    pub fn has(&self, path: &Path) -> bool {
        match self {
            Self::Repository(own) => root(path) == Some(own) && !path.iter().any(|part| part == GIT),
            Self::Folder(folder) => path.starts_with(folder),
        }
    }

    /// The place that a path leads to, and the repository that a link on the way leads out of; `None` if no link does. A link in a
    /// repository is a part of it: a change that somebody proposes must not choose which other files are written. A link outside of any
    /// repository belongs to the user.
    pub fn left_on_the_way(named: &Path) -> io::Result<Option<(PathBuf, Self)>> {
        let target = named.canonicalize()?;
        let mut at = Path::new(".").canonicalize()?;
        for part in named.components() {
            let next = at.join(part);
            if next.is_symlink()
                && let Some(own) = root(&at)
            {
                let tree = Self::Repository(own.to_owned());
                if !tree.has(&target) {
                    return Ok(Some((target, tree)));
                }
            }
            at = next.canonicalize()?;
        }
        Ok(None)
    }

    /// The message about a link that leads to a path outside.
    pub fn left_for(&self, target: &Path) -> String {
        format!("the link leads to {}, which is not part of {self}", target.display())
    }

    /// The path without links, if it is none of the files.
    pub fn left_by(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        path.canonicalize().map(|target| (!self.has(&target)).then_some(target))
    }
}

/// `the repository /home/me/shop`
impl fmt::Display for WorkTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repository(root) => write!(f, "the repository {}", root.display()),
            Self::Folder(folder) => write!(f, "the directory {}", folder.display()),
        }
    }
}
