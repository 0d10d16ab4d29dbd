use std::fmt;
use std::sync::Arc;

use kube_yaml::Mark;

/// A location in a file: the whole file, a line, or a column of a line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The file as it was named, `stdin` for standard input.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
}

impl Location {
    /// The line and the column, if it has both.
    pub fn mark(&self) -> Option<Mark> {
        Some(Mark { line: self.line?, column: self.column? })
    }
}

/// Returns true for the name of a kustomization. It stands for the manifests that are built from it, whose lines are in no file.
pub fn is_kustomization(file: &str) -> bool {
    file.rsplit(['/', std::path::MAIN_SEPARATOR]).next().is_some_and(|name| KUSTOMIZATIONS.contains(&name))
}

/// The names that kustomize looks for in a directory (kustomize `api/konfig`, `RecognizedKustomizationFileNames`).
pub const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// `web.yaml:12:5`; `k/kustomization.yaml` for everything that is built from it
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if is_kustomization(&self.file) {
            return Ok(());
        }
        [self.line, self.column].into_iter().flatten().try_for_each(|number| write!(f, ":{number}"))
    }
}
