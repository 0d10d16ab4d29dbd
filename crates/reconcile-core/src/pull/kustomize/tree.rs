//! The kustomizations that a build reads, with the files that they name.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;
use structured_merge::ObjectKey;

use super::candidate::{Candidate, How, items};
use crate::manifest::Files;
use crate::object::generated::stem;

/// The fields that name files and folders, those of an overlay's own parts before those of what it stands on.
const FIELDS: [&str; 10] = [
    "components",
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "configMapGenerator",
    "secretGenerator",
    "resources",
    "bases",
    "replacements",
    "configurations",
];
/// Other fields that name files.
const OTHERS: [&str; 5] = ["generators", "transformers", "validators", "crds", "openapi"];
/// The most texts of one kustomization that are looked at as names of files.
const MOST: usize = 10_000;

/// The kinds whose names get no prefix and no suffix (kustomize `api/internal/builtins/PrefixTransformer.go`).
const WITHOUT_AFFIXES: [&str; 3] = ["CustomResourceDefinition", "APIService", "Namespace"];

/// One kustomization.
#[derive(Clone, Debug)]
pub struct Level {
    /// Its folder, as an absolute path without `..`.
    pub folder: String,
    /// Its file.
    pub file: String,
    /// Its content.
    pub value: Value,
    /// The texts that it and the kustomizations above it put around names, once for each way to it.
    pub affixes: Vec<Affix>,
}

/// The texts that are put around the names of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affix {
    prefix: String,
    suffix: String,
}

impl Affix {
    /// The affix of a kustomization inside of this one.
    fn of_inner(&self, kustomization: &Value) -> Self {
        let text = |field: &str| kustomization.get(field).and_then(Value::as_str).unwrap_or_default();
        Self {
            prefix: format!("{}{}", self.prefix, text("namePrefix")),
            suffix: format!("{}{}", text("nameSuffix"), self.suffix),
        }
    }

    /// Returns true if a name in the build may be one with this prefix and suffix.
    fn is_of(&self, name: &str) -> bool {
        name.strip_prefix(self.prefix.as_str()).is_some_and(|rest| rest.ends_with(self.suffix.as_str()))
    }

    /// The name in the build.
    pub(super) fn around(&self, name: &str) -> String {
        let Self { prefix, suffix } = self;
        format!("{prefix}{name}{suffix}")
    }
}

impl Level {
    /// A kustomization whose affixes are not known yet.
    pub fn new(folder: String, file: String, value: Value) -> Self {
        Self { folder, file, value, affixes: Vec::new() }
    }

    /// The name that an object of the build has among the patches of the kustomization.
    pub(super) fn inner_name<'n>(&self, name: &'n str) -> &'n str {
        let inner = |affix: &Affix| name.strip_prefix(affix.prefix.as_str())?.strip_suffix(affix.suffix.as_str());
        self.affixes.iter().find_map(inner).filter(|inner| !inner.is_empty()).unwrap_or(name)
    }

    /// Returns true if an object of the build may come from the kustomization, or go through it.
    pub(super) fn may_have(&self, key: &ObjectKey) -> bool {
        let is_of = |affix: &Affix| own_names(key).any(|name| affix.is_of(name));
        WITHOUT_AFFIXES.contains(&key.gvk.kind.as_str())
            || self.affixes.len() >= MOST_WAYS
            || self.affixes.iter().any(is_of)
    }

    /// Returns true if an object of the build may have this name among the patches of the kustomization.
    pub(super) fn is_inner_name(&self, name: &str, inner: &str) -> bool {
        self.affixes.iter().any(|affix| affix.around(inner) == name)
    }
}

/// The name of an object, with and without a hash.
pub(super) fn own_names(key: &ObjectKey) -> impl Iterator<Item = &str> {
    [Some(key.name.as_str()), stem(&key.name)].into_iter().flatten()
}

/// A name in a kustomization that leads to something that is fetched.
#[derive(Clone, Debug)]
pub struct Remote {
    /// The file of the kustomization.
    pub file: String,
    /// The name, which may be a URL.
    pub name: String,
}

/// The kustomizations of a build: the overlay, and what it stands on, the nearest first.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The kustomizations; the overlay is the first.
    pub levels: Vec<Level>,
    /// All files, by their absolute paths.
    pub files: Files,
    /// Other paths below the folder of the overlay that exist.
    pub taken: BTreeSet<String>,
    /// The names of what is fetched.
    pub remotes: Vec<Remote>,
    /// True if something that they name is here and was not read.
    pub is_partial: bool,
    /// The paths that lead to others by links. Files and folders are known by those that they lead to.
    pub links: BTreeMap<String, String>,
}

/// The fields of a kustomization with others that it stands on.
pub(super) const BASES: [&str; 3] = ["resources", "bases", "components"];
/// The most ways to one kustomization that are followed.
const MOST_WAYS: usize = 32;

impl Tree {
    /// Finds what is put around the names of objects, once all kustomizations are known.
    pub fn with_affixes(mut self) -> Self {
        let places: BTreeMap<String, usize> =
            self.levels.iter().enumerate().map(|(index, level)| (level.folder.clone(), index)).collect();
        let mut ways = VecDeque::from([(0_usize, Affix::default())]);
        while let Some((index, outer)) = ways.pop_front() {
            let Some(level) = self.levels.get_mut(index) else { continue };
            let affix = outer.of_inner(&level.value);
            if level.affixes.len() >= MOST_WAYS || level.affixes.contains(&affix) {
                continue;
            }
            level.affixes.push(affix.clone());
            let path =
                |name: &str| joined(&level.folder, name).map(|path| self.links.get(&path).cloned().unwrap_or(path));
            let inner = bases(&level.value).filter_map(|name| places.get(&path(name)?));
            ways.extend(inner.map(|index| (*index, affix.clone())));
        }
        self
    }

    /// The files whose lines are values of Secrets: those of generators of Secrets.
    pub fn secret_files(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for level in &self.levels {
            for generator in items(&level.value, "secretGenerator") {
                let lists = ["files", "envs"].into_iter().flat_map(|field| items(generator, field));
                let names = lists.chain(generator.get("env")).filter_map(Value::as_str);
                let path = |name: &str| self.path(&level.folder, name.split_once('=').map_or(name, |(_, path)| path));
                found.extend(names.filter_map(path));
            }
        }
        found
    }

    /// The path that a name in a kustomization leads to.
    pub fn path(&self, folder: &str, name: &str) -> Option<String> {
        let path = joined(folder, name)?;
        Some(self.links.get(&path).cloned().unwrap_or(path))
    }

    /// Returns true for a place that nothing in the overlay comes after: what its kustomization sets by itself.
    pub(super) fn is_last(&self, candidate: &Candidate) -> bool {
        matches!(candidate.how, How::Images | How::Replicas | How::Labels | How::Annotations)
            && self.levels.first().is_some_and(|level| level.file == candidate.file)
    }

    /// Returns true for a file in the folder of the overlay or below it.
    pub fn is_own(&self, file: &str) -> bool {
        let folder = self.levels.first().map_or("", |level| level.folder.as_str());
        file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// The names in a kustomization of what it stands on: files, folders, and what is fetched.
pub fn bases(kustomization: &Value) -> impl Iterator<Item = &str> {
    BASES.into_iter().flat_map(|field| items(kustomization, field)).filter_map(Value::as_str)
}

/// The names in a kustomization that are URLs, of anything but what it stands on.
pub fn urls(kustomization: &Value) -> Vec<&str> {
    let is_url = |text: &&str| ["http://", "https://", "ssh://", "git::"].iter().any(|start| text.starts_with(start));
    let mut texts = Vec::new();
    for field in ["patchesStrategicMerge", "generators", "transformers", "validators", "crds", "configurations"] {
        texts.extend(items(kustomization, field).filter_map(Value::as_str));
    }
    for field in ["patches", "patchesJson6902", "replacements"] {
        texts.extend(items(kustomization, field).filter_map(|item| item.get("path")?.as_str()));
    }
    for generator in ["configMapGenerator", "secretGenerator"].into_iter().flat_map(|field| items(kustomization, field))
    {
        let lists = ["files", "envs"].into_iter().flat_map(|field| items(generator, field)).filter_map(Value::as_str);
        texts.extend(
            lists.map(|text| text.split_once('=').filter(|(key, _)| !key.contains('/')).map_or(text, |(_, path)| path)),
        );
    }
    texts.extend(kustomization.pointer("/openapi/path").and_then(Value::as_str));
    texts.into_iter().filter(is_url).collect()
}

/// All texts of a kustomization that may name a file or a folder.
pub fn references(kustomization: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    for field in FIELDS.into_iter().chain(OTHERS) {
        if let Some(value) = kustomization.get(field) {
            collect(value, &mut found);
        }
    }
    found
}

fn collect<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    if found.len() >= MOST {
        return;
    }
    match value {
        Value::String(text) if !text.contains(['\n', '\0']) => {
            found.push(text);
            // The files of generators: `KEY=PATH`.
            found.extend(text.split_once('=').map(|(_, path)| path));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(map) => map.values().for_each(|value| collect(value, found)),
        _ => {}
    }
}

/// A relative path below an absolute folder, without `.` and `..`. `None` for a URL, an absolute path and one above the root.
pub fn joined(folder: &str, path: &str) -> Option<String> {
    if path.is_empty() || path.starts_with('/') || path.contains("://") {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}
