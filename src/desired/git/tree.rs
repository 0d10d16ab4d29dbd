//! The files of a revision.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::objects::Objects;

/// Most links on the way to a file.
const LINKS: usize = 40;

/// The files of a revision, by their paths from the root of the repository, with `/` between the parts.
#[derive(Debug)]
pub struct Tree {
    entries: BTreeMap<String, Entry>,
    /// The folders that are submodules, whose files are in other repositories.
    submodules: BTreeSet<String>,
    objects: Objects,
}

/// A file or a link.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The id of its content.
    id: String,
    /// True if it is a symbolic link, whose content is its target.
    pub is_link: bool,
    /// The size of its content in bytes.
    pub size: u64,
}

impl Tree {
    /// Reads a list of `git ls-tree -r -z --long`. Files whose names are no text are left out.
    pub(super) fn of(list: &[u8], objects: Objects) -> Self {
        let mut entries = BTreeMap::new();
        let mut submodules = BTreeSet::new();
        let lines = list.split(|byte| *byte == 0).filter_map(|line| std::str::from_utf8(line).ok());
        for (facts, path) in lines.filter_map(|line| line.split_once('\t')) {
            let mut facts = facts.split_ascii_whitespace();
            let mode = facts.next();
            let kind = facts.next();
            let id = facts.next();
            let size = facts.next();
            let size = size.and_then(|size| size.parse().ok()).unwrap_or_default();
            match (kind, id) {
                (Some("blob"), Some(id)) => {
                    let entry = Entry { id: id.to_owned(), is_link: mode == Some("120000"), size };
                    entries.insert(path.to_owned(), entry);
                }
                (Some("commit"), _) => drop(submodules.insert(path.to_owned())),
                _ => {}
            }
        }
        Self { entries, submodules, objects }
    }

    /// The submodule that a folder is or is in.
    pub fn submodule_of(&self, folder: &str) -> Option<&str> {
        self.submodules.iter().map(String::as_str).find(|submodule| is_below(folder, submodule))
    }

    /// The submodules below a folder.
    pub fn submodules_below<'t>(&'t self, folder: &'t str) -> impl Iterator<Item = &'t str> {
        self.submodules.iter().map(String::as_str).filter(move |submodule| is_below(submodule, folder))
    }

    /// All files and links, in the order of their paths.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// The files and links below a folder.
    pub fn below<'t>(&'t self, folder: &'t str) -> impl Iterator<Item = (&'t str, &'t Entry)> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let entries = self.entries.range(start.clone()..);
        entries.map(|(path, entry)| (path.as_str(), entry)).take_while(move |(path, _)| path.starts_with(&start))
    }

    /// Returns true if it has a file or a link at this path.
    pub fn has(&self, path: &str) -> bool {
        self.entries.contains_key(path)
    }

    /// The content of a file or a link.
    pub fn content(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let entry = self.entries.get(path).ok_or(io::ErrorKind::NotFound)?;
        self.objects.content(&entry.id)
    }

    /// The content of the file that a path leads to over links; `None` if it leads nowhere. Links that lead out of the repository are
    /// errors.
    pub fn read(&mut self, path: &str) -> io::Result<Option<Vec<u8>>> {
        match self.target(path)? {
            Some(target) if self.has(&target) => self.content(&target).map(Some),
            _ => Ok(None),
        }
    }

    /// The path of a file or a folder without links; `None` if a link leads nowhere.
    pub fn target(&mut self, path: &str) -> io::Result<Option<String>> {
        let mut parts: Vec<String> = path.split('/').rev().map(ToOwned::to_owned).collect();
        let (mut at, mut links): (Vec<String>, usize) = (Vec::new(), 0);
        while let Some(part) = parts.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." if at.pop().is_some() => continue,
                ".." => return Err(io::Error::other("a link leads out of the repository")),
                _ => at.push(part),
            }
            let here = at.join("/");
            if !self.entries.get(&here).is_some_and(|entry| entry.is_link) {
                continue;
            }
            links = links.saturating_add(1);
            if links > LINKS {
                return Ok(None);
            }
            let target = String::from_utf8(self.content(&here)?).map_err(|_| io::ErrorKind::InvalidData)?;
            if target.starts_with('/') {
                return Err(io::Error::other("a link leads out of the repository"));
            }
            at.pop();
            parts.extend(target.split('/').rev().map(ToOwned::to_owned));
        }
        Ok(Some(at.join("/")))
    }
}

/// Returns true if a path is a folder or is below it.
fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
