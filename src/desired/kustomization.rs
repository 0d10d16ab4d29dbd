//! The kustomizations that a build reads, with the files that they name.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bounded::read_at_most;
use kube_yaml::Validation;
use reconcile_core::diagnostic::KUSTOMIZATIONS;
use reconcile_core::manifest::{BuiltFrom, Files};
use reconcile_core::pull::kustomize::{Level, Names, Remote, Tree, bases, built_from, joined, references, urls};
use reconcile_core::pull::may_hold_secrets;

/// The most files that are read.
const MOST_FILES: usize = 10_000;
/// The most bytes that are read: 256 MiB.
const MOST_BYTES: u64 = 256 << 20;
/// The files that the objects of a build come from, as far as the tree can be read.
pub(super) fn origins(directory: &OsStr) -> Option<BuiltFrom> {
    let here = if Path::new(directory).is_absolute() { String::new() } else { real(".")? };
    let tree = read(real(directory.to_str()?)?, &Files::new()).ok()?;
    Some(built_from(&tree, |file| named(file, &here)))
}

/// The names that a message about a build may repeat, if the kustomization, or a file that it names, may have values of Secrets. What is
/// not read, as it is fetched or too large, may.
pub(super) fn names_beside_secrets(directory: &OsStr) -> Option<Names> {
    let name = directory.to_string_lossy();
    match directory.to_str().and_then(real).and_then(|folder| read(folder, &Files::new()).ok()) {
        Some(tree) => may_have_secrets(&tree).then(|| Names::of(&name, &tree)),
        None => Some(Names::of_directory(&name)),
    }
}

fn may_have_secrets(tree: &Tree) -> bool {
    let mentions = tree.files.values().any(|bytes| may_hold_secrets(&String::from_utf8_lossy(bytes)));
    mentions || tree.is_partial || !tree.remotes.is_empty()
}

/// A file as messages name it: by its path from the working directory, with at most three `..`.
pub(super) fn named(file: &str, here: &str) -> String {
    if file == here {
        return ".".to_owned();
    }
    let mut above = here;
    for up in ["", "../", "../../", "../../../"] {
        if let Some(below) = file.strip_prefix(above).and_then(|rest| rest.strip_prefix('/'))
            && !above.is_empty()
        {
            return format!("{up}{below}");
        }
        above = above.rsplit_once('/').map_or("", |(folder, _)| folder);
    }
    file.to_owned()
}

/// Reads the kustomizations from a folder on, the nearest first, with the files that they name. Files that are known are taken as they are.
pub(super) fn read(folder: String, known: &Files) -> io::Result<Tree> {
    let mut tree = Tree::default();
    let mut bytes = 0_u64;
    let mut seen = BTreeSet::from([folder.clone()]);
    tree.taken = below(&folder);
    let mut folders = VecDeque::from([folder]);
    while let Some(folder) = folders.pop_front() {
        let Some(file) = kustomization(&folder) else { continue };
        add(&mut tree, &file, &mut bytes, known)?;
        let content = tree.files.get(&file).cloned().unwrap_or_default();
        let Some(document) = kube_yaml::read(&content, Validation::Warn).documents.into_iter().next() else {
            tree.is_partial = true;
            continue;
        };
        let exists = |name: &str| joined(&folder, name).is_some_and(|path| Path::new(&path).exists());
        let fetched = bases(&document.value).filter(|name| !exists(name)).chain(urls(&document.value));
        tree.remotes.extend(fetched.map(|name| Remote { file: file.clone(), name: name.to_owned() }));
        for reference in references(&document.value) {
            let Some(named) = joined(&folder, reference) else { continue };
            let Some(path) = real(&named) else {
                tree.is_partial |= Path::new(&named).symlink_metadata().is_ok();
                continue;
            };
            if path != named {
                tree.links.insert(named, path.clone());
            }
            match fs::metadata(&path) {
                Ok(found) if found.is_dir() && seen.len() >= MOST_FILES => tree.is_partial |= !seen.contains(&path),
                Ok(found) if found.is_dir() => {
                    let is_new = seen.insert(path.clone());
                    folders.extend(is_new.then_some(path));
                }
                Ok(found) if found.is_file() => add(&mut tree, &path, &mut bytes, known)?,
                _ => tree.is_partial = true,
            }
        }
        tree.levels.push(Level::new(folder, file, document.value));
    }
    Ok(tree.with_affixes())
}

/// The paths below a folder, as far as names of new files may be among them.
fn below(folder: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = VecDeque::from([PathBuf::from(folder)]);
    while let Some(folder) = folders.pop_front() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if found.len() >= MOST_FILES {
                return found;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push_back(entry.path());
            }
            found.extend(entry.path().into_os_string().into_string());
        }
    }
    found
}

/// The path without links; `None` if it does not exist, or is no text.
fn real(path: &str) -> Option<String> {
    Path::new(path).canonicalize().ok()?.into_os_string().into_string().ok()
}

pub(super) fn kustomization(folder: &str) -> Option<String> {
    KUSTOMIZATIONS.iter().map(|name| format!("{folder}/{name}")).find(|file| Path::new(file).is_file())
}

fn add(tree: &mut Tree, path: &str, bytes: &mut u64, known: &Files) -> io::Result<()> {
    if tree.files.contains_key(path) {
        return Ok(());
    }
    let too_large = || io::Error::other("it names more than 10,000 files, or more than 256 MiB");
    if tree.files.len() >= MOST_FILES {
        return Err(too_large());
    }
    if let Some(content) = known.get(path) {
        tree.files.insert(path.to_owned(), Arc::clone(content));
        return Ok(());
    }
    let left = MOST_BYTES.saturating_sub(*bytes);
    let content = read_at_most(fs::File::open(path)?, left)?.ok_or_else(too_large)?;
    *bytes = bytes.saturating_add(u64::try_from(content.len()).unwrap_or(u64::MAX));
    tree.files.insert(path.to_owned(), Arc::from(content));
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;

    use super::*;

    const PLAIN: &str = "configMapGenerator:\n- name: c\n  literals: [colour=green]\n";

    fn may_have(directory: &OsStr) -> bool {
        names_beside_secrets(directory).is_some()
    }

    /// A folder with a kustomization.
    fn kustomization_with(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("kustomization.yaml"), text).unwrap();
        folder
    }

    #[test]
    fn what_was_read_and_mentions_no_secret_has_none() {
        assert!(!may_have(kustomization_with(PLAIN).path().as_os_str()));
        let generator = "secretGenerator:\n- name: s\n  literals: [hunter2]\n";
        assert!(may_have(kustomization_with(generator).path().as_os_str()));
    }

    #[test]
    fn what_was_not_read_may_have_secrets() {
        for resource in ["file:///rem//base?ref=main", "https://example.com/base", "../missing"] {
            let folder = kustomization_with(&format!("resources: ['{resource}']\n{PLAIN}"));
            assert!(may_have(folder.path().as_os_str()), "{resource}");
        }
        for (name, value) in [("files", "https://example.com/a"), ("files", "a=https://example.com/a")] {
            let folder = kustomization_with(&format!("configMapGenerator:\n- name: c\n  {name}: ['{value}']\n"));
            assert!(may_have(folder.path().as_os_str()), "{name}: {value}");
        }
        assert!(may_have(OsStr::new("https://example.com/base")), "nothing is here");
    }

    #[test]
    fn what_is_too_large_to_be_read_may_have_secrets() {
        let folder = kustomization_with("resources: [large.yaml]\n");
        fs::File::create(folder.path().join("large.yaml")).unwrap().set_len(MOST_BYTES + 1).unwrap();
        assert!(may_have(folder.path().as_os_str()));
    }

    #[test]
    fn what_has_a_name_that_is_no_text_may_have_secrets() {
        let folder = kustomization_with("resources: [base]\n");
        let base = folder.path().join(OsStr::from_bytes(b"\xff"));
        fs::create_dir(&base).unwrap();
        fs::write(base.join("kustomization.yaml"), PLAIN).unwrap();
        symlink(&base, folder.path().join("base")).unwrap();
        assert!(may_have(folder.path().as_os_str()));
        assert!(may_have(base.as_os_str()));
    }
}
