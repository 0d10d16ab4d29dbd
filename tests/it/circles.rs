//! The files of a crate import from each other in one direction only: no file needs another one that needs it, directly or over
//! others, also where a `mod.rs` hands on what they name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module or an item of a crate, such as `["live", "page", "Page"]`.
pub type Name = Vec<String>;

/// The source of one crate.
#[derive(Default)]
struct Source {
    /// The file of each module.
    files: BTreeMap<Name, PathBuf>,
    /// What each module names of the same crate.
    named: BTreeMap<Name, BTreeSet<Name>>,
    /// What modules hand on (`pub use`), with the place that it comes from.
    handed_on: BTreeMap<Name, Name>,
}

impl Source {
    fn read(folder: &Path) -> Source {
        let mut source = Source::default();
        source.find(folder, &[]);
        for (module, file) in source.files.clone() {
            source.read_file(&module, &code(&fs::read_to_string(file).unwrap()));
        }
        source
    }

    fn find(&mut self, folder: &Path, module: &[String]) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let inner = [module, std::slice::from_ref(&name)].concat();
            match name.as_str() {
                "main" | "tests" => {}
                "lib" | "mod" => drop(self.files.insert(module.to_vec(), path)),
                _ if path.is_dir() => self.find(&path, &inner),
                _ if path.extension().is_some_and(|extension| extension == "rs") => {
                    drop(self.files.insert(inner, path));
                }
                _ => {}
            }
        }
    }

    fn read_file(&mut self, module: &Name, text: &str) {
        let mut named = BTreeSet::new();
        for statement in text.split(';') {
            let handed_on = handed_on(statement);
            for path in paths(&statement[..handed_on.unwrap_or(statement.len())]) {
                named.extend(self.in_full(module, &path));
            }
            for path in handed_on.map(|at| paths(&statement[at..])).unwrap_or_default() {
                let Some(from) = self.in_full(module, &path) else { continue };
                let name = from.last().cloned().unwrap_or_default();
                self.handed_on.insert([module.as_slice(), &[name]].concat(), from);
            }
        }
        self.named.insert(module.clone(), named);
    }

    /// A path from the root of the crate on; none for a path into another crate.
    fn in_full(&self, module: &[String], path: &[String]) -> Option<Name> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let (_, parent) = module.split_last()?;
                match rest.first() {
                    Some(next) if next == "super" => self.in_full(parent, rest),
                    _ => Some([parent, rest].concat()),
                }
            }
            _ => {
                let child = [module, &path[..1]].concat();
                self.files.contains_key(&child).then(|| [&child, rest].concat())
            }
        }
    }

    /// The module that defines a name.
    fn home(&self, name: &Name) -> Name {
        let ends = (0..=name.len()).rev().find(|end| self.files.contains_key(&name[..*end]));
        let (module, item) = name.split_at(ends.unwrap_or(0));
        let origin = item.first().and_then(|item| self.handed_on.get(&[module, std::slice::from_ref(item)].concat()));
        origin.map_or_else(|| module.to_vec(), |origin| self.home(&[origin, &item[1..]].concat()))
    }

    /// The pairs of top-level folders that need each other.
    fn folder_circles(&self) -> BTreeSet<(&str, &str)> {
        let folder = |module: &Name| -> Option<&str> {
            let is_inside = |file: &&Name| file.len() > 1 && file.first() == module.first();
            self.files.keys().find(is_inside).map(|file| file[0].as_str())
        };
        let needs: BTreeSet<(&str, &str)> = self
            .named
            .iter()
            .flat_map(|(module, named)| named.iter().map(move |name| (module, self.home(name))))
            .filter_map(|(module, home)| Some((folder(module)?, folder(&home)?)))
            .collect();
        needs.iter().filter(|(a, b)| a < b && needs.contains(&(*b, *a))).copied().collect()
    }

    /// The groups of files that need each other.
    fn circles(&self) -> BTreeSet<Vec<&PathBuf>> {
        let needs: BTreeMap<&Name, BTreeSet<Name>> = self
            .named
            .iter()
            .map(|(module, named)| (module, named.iter().map(|name| self.home(name)).collect()))
            .collect();
        let reached: BTreeMap<&Name, BTreeSet<&Name>> =
            needs.keys().map(|module| (*module, reached(module, &needs))).collect();
        let circle = |module: &Name| -> Vec<&PathBuf> {
            let others = reached[module].iter().filter(|other| **other != module && reached[*other].contains(module));
            others.chain([&module]).map(|module| &self.files[*module]).collect::<BTreeSet<_>>().into_iter().collect()
        };
        needs.keys().map(|module| circle(module)).filter(|circle| circle.len() > 1).collect()
    }
}

/// The modules that one needs, directly or over others.
fn reached<'m>(from: &Name, needs: &'m BTreeMap<&Name, BTreeSet<Name>>) -> BTreeSet<&'m Name> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Name> = needs[from].iter().collect();
    while let Some(module) = open.pop() {
        if reached.insert(module) {
            open.extend(&needs[module]);
        }
    }
    reached
}

/// The text of a file without its comments, and without the tests at its end.
pub fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    lines.join("\n")
}

/// Where `pub use` begins in the text up to a semicolon.
fn handed_on(statement: &str) -> Option<usize> {
    let at = statement.rfind("use ").filter(|at| !statement[*at..].contains(['(', '=']))?;
    let line = statement[..at].rfind('\n').map_or(0, |end| end + 1);
    statement[line..at].trim_start().starts_with("pub").then_some(at + 4)
}

/// All paths in a text; `a::{b, c::d}` is two.
pub fn paths(text: &str) -> Vec<Name> {
    let mut found = Vec::new();
    // What is before the braces that are open.
    let mut prefixes: Vec<Name> = vec![Vec::new()];
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (path, behind) = rest.split_at(end.max(next.len_utf8()));
        rest = behind;
        let prefix = prefixes.last().cloned().unwrap_or_default();
        match next {
            '{' => prefixes.push(Vec::new()),
            '}' => drop(prefixes.pop()),
            _ if is_part(next) => {
                let steps = path.split("::").filter(|step| !step.is_empty() && *step != "self").map(str::to_owned);
                let path: Name = prefix.iter().cloned().chain(steps).collect();
                if let Some(inner) = rest.strip_prefix('{').filter(|_| text[..text.len() - rest.len()].ends_with("::"))
                {
                    rest = inner;
                    prefixes.push(path);
                } else if path.len() > 1 {
                    found.push(path);
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn no_file_needs_another_one_that_needs_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let sources: Vec<Source> = crates.chain([root.to_owned()]).map(|of| Source::read(&of.join("src"))).collect();
    assert!(sources.len() > 1 && sources.iter().all(|source| !source.files.is_empty()));
    let circles: Vec<_> = sources.iter().flat_map(Source::circles).collect();
    assert!(circles.is_empty(), "these files import from each other: {circles:#?}");
}

#[test]
fn no_folder_needs_another_one_that_needs_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["crates/reconcile-report/src", "crates/reconcile-core/src", "src"] {
        let source = Source::read(&root.join(folder));
        let circles = source.folder_circles();
        assert!(circles.is_empty(), "these folders of {folder} import from each other: {circles:?}");
    }
}
