//! `.kubectl-reconcile.yaml`: what a team settles once for all its runs.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::cli::InputArgs;
use crate::desired::SourceText;
use crate::desired::files::CONFIGURATION;
use crate::desired::yaml::{self, Positions, Step, Validation};
use crate::diagnostic::Diagnostic;
use crate::report::Failure;
use crate::report::styled::Role;
use crate::terminal::Terminal;

/// Largest configuration that is read, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// All settings that there are.
const SETTINGS: [&str; 1] = ["manualManagers"];

/// What a configuration file settles.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Configuration {
    /// Field managers whose changes count as manual, beside those of kubectl.
    pub manual_managers: BTreeSet<String>,
}

impl Configuration {
    /// Reads the file that is named, or else the one beside the manifests, or else the one in the working directory. Having
    /// none is fine. One in the working directory is told where an input is not a file: nobody expects it to count for a URL.
    pub fn load(named: Option<&Path>, input: &InputArgs, terminal: &Terminal) -> Result<Self, Failure> {
        let found = match named {
            Some(path) => Found::Named(path.to_owned()),
            None => found(input)?,
        };
        let path = match found {
            Found::Nothing => return Ok(Self::default()),
            Found::Named(path) | Found::Beside(path) => path,
            Found::InWorkingDirectory(path) => {
                if input.filename.iter().chain(&input.kustomize).any(|input| is_elsewhere(input)) {
                    let path = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
                    terminal.note(Role::Note, &format!("using the configuration {}", path.display()));
                }
                path
            }
        };
        Self::read(&path)
    }

    fn read(path: &Path) -> Result<Self, Failure> {
        let name: Arc<str> = path.to_string_lossy().into();
        let refused = |reason: String| Failure::invalid(Diagnostic::of_file(&name, reason));
        let metadata = std::fs::metadata(path).map_err(|error| refused(format!("cannot be read: {}", error.kind())))?;
        if metadata.len() > MAX_SIZE {
            return Err(refused(format!("is larger than a configuration may be: {MAX_SIZE} bytes")));
        }
        let bytes = std::fs::read(path).map_err(|error| refused(format!("cannot be read: {}", error.kind())))?;
        Ok(Self::parse(&name, bytes)?)
    }

    fn parse(name: &Arc<str>, bytes: Vec<u8>) -> Result<Self, Vec<Diagnostic>> {
        let text = SourceText::from(bytes);
        let stream = yaml::read(text.bytes(), Validation::Strict);
        if !stream.diagnostics.is_empty() {
            let syntax = stream.diagnostics.iter();
            return Err(syntax.map(|found| Diagnostic::of_syntax(name, found).shown_in(&text, found.also)).collect());
        }
        let mut file = File { name, text: &text, problems: Vec::new() };
        let mut configuration = Self::default();
        let mut documents = stream.documents.iter();
        if let Some(document) = documents.next() {
            match &document.value {
                Value::Object(settings) => configuration.manual_managers = file.settings(settings, &document.positions),
                _ => file.problem(
                    &document.positions,
                    &[],
                    "expected a mapping of settings",
                    "write `manualManagers: [k9s]`",
                ),
            }
        }
        if let Some(second) = documents.next() {
            file.problem(&second.positions, &[], "a configuration is one document", "take the `---` out");
        }
        if file.problems.is_empty() { Ok(configuration) } else { Err(file.problems) }
    }
}

/// A configuration file while it is read.
struct File<'a> {
    name: &'a Arc<str>,
    text: &'a SourceText,
    problems: Vec<Diagnostic>,
}

impl File<'_> {
    fn settings(&mut self, settings: &Map<String, Value>, positions: &Positions) -> BTreeSet<String> {
        for name in settings.keys().filter(|name| !SETTINGS.contains(&name.as_str())) {
            let hint = format!("the settings are: `{}`", SETTINGS.join("`, `"));
            self.problem(positions, &[Step::Key(name)], &format!("there is no setting `{name}`"), &hint);
        }
        let mut manual_managers = BTreeSet::new();
        match settings.get("manualManagers") {
            None | Some(Value::Null) => {}
            Some(Value::Array(names)) => {
                for (index, name) in names.iter().enumerate() {
                    if let Some(name) = name.as_str().filter(|name| !name.is_empty()) {
                        manual_managers.insert(name.to_owned());
                    } else {
                        let at = [Step::Key("manualManagers"), Step::Index(index)];
                        let hint = "write it as in `managedFields`, such as `k9s`";
                        self.problem(positions, &at, "expected the name of a field manager", hint);
                    }
                }
            }
            Some(_) => {
                let message = "`manualManagers` is a list of field managers";
                self.problem(positions, &[Step::Key("manualManagers")], message, "write `manualManagers: [k9s]`");
            }
        }
        manual_managers
    }

    fn problem(&mut self, positions: &Positions, at: &[Step<'_>], message: &str, hint: &str) {
        let problem = Diagnostic::at(self.name, positions.nearest(at), message);
        self.problems.push(problem.shown_in(self.text, None).with_hint(hint));
    }
}

/// Where a configuration was found.
enum Found {
    Nothing,
    Named(PathBuf),
    Beside(PathBuf),
    InWorkingDirectory(PathBuf),
}

/// The file beside the manifests, or else the one in the working directory. Two of them beside the manifests are told, as
/// neither can speak for all.
fn found(input: &InputArgs) -> Result<Found, Failure> {
    let folders = input.filename.iter().chain(&input.kustomize).filter_map(|path| folder(path));
    let mut beside: Vec<PathBuf> = Vec::new();
    let mut seen = BTreeSet::new();
    for path in folders.map(|folder| folder.join(CONFIGURATION)).filter(|path| path.is_file()) {
        if seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            beside.push(path);
        }
    }
    match beside.as_slice() {
        [] => {
            let path = PathBuf::from(CONFIGURATION);
            Ok(if path.is_file() { Found::InWorkingDirectory(path) } else { Found::Nothing })
        }
        [one] => Ok(Found::Beside(one.clone())),
        [first, second, ..] => {
            let message = format!(
                "there are two configuration files next to the manifests: {} and {}",
                first.display(),
                second.display()
            );
            Err(Failure::invalid(Diagnostic::general(message).with_hint("choose one with `--config`")))
        }
    }
}

/// Returns true for standard input and URLs, which are in no folder.
fn is_elsewhere(input: &OsStr) -> bool {
    let text = input.to_string_lossy();
    text == "-" || text.contains("://")
}

/// Where a configuration would stand beside an input; standard input and URLs have no such place.
fn folder(input: &OsStr) -> Option<PathBuf> {
    if is_elsewhere(input) {
        return None;
    }
    let path = Path::new(input);
    if path.is_dir() {
        return Some(path.to_owned());
    }
    let is_pattern = |path: &Path| path.to_string_lossy().contains(['*', '?', '[']);
    path.ancestors().skip(1).find(|folder| !is_pattern(folder)).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<String>, Vec<String>> {
        let parsed = Configuration::parse(&"c.yaml".into(), text.into());
        let manual_managers = parsed.map(|configuration| configuration.manual_managers.into_iter().collect());
        manual_managers.map_err(|problems| problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn settings_are_read() {
        assert_eq!(parse("manualManagers: [k9s, lens]"), Ok(vec!["k9s".to_owned(), "lens".to_owned()]));
        assert_eq!(parse("# nothing yet\n"), Ok(vec![]));
        assert_eq!(parse("manualManagers:\n"), Ok(vec![]));
    }

    #[test]
    fn every_mistake_is_told_at_its_place() {
        let refused = |text: &str| parse(text).unwrap_err();
        assert_eq!(
            refused("manualManager: [k9s]\nmanualManagers: k9s\n"),
            [
                "c.yaml:1:1: there is no setting `manualManager`",
                "c.yaml:2:1: `manualManagers` is a list of field managers"
            ]
        );
        assert_eq!(refused("manualManagers: [k9s, 1]"), ["c.yaml:1:23: expected the name of a field manager"]);
        assert_eq!(refused("[k9s]"), ["c.yaml:1:1: expected a mapping of settings"]);
        assert_eq!(
            refused("manualManagers: []\n---\nmanualManagers: []\n"),
            ["c.yaml:3:1: a configuration is one document"]
        );
        assert_eq!(refused("manualManagers: [\n").len(), 1);
    }
}
