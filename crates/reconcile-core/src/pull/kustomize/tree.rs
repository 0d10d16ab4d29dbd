//! The kustomizations that a build reads, with the files that they name.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

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

/// One kustomization.
#[derive(Clone, Debug)]
pub struct Level {
    /// Its folder, as an absolute path without `..`.
    pub folder: String,
    /// Its file.
    pub file: String,
    /// Its content.
    pub value: Value,
}

/// The kustomizations of a build: the overlay, and what it stands on, the nearest first.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The kustomizations; the overlay is the first.
    pub levels: Vec<Level>,
    /// All files, by their absolute paths.
    pub files: BTreeMap<String, Arc<[u8]>>,
}

impl Tree {
    /// Returns true for a file in the folder of the overlay or below it.
    pub fn is_own(&self, file: &str) -> bool {
        let folder = self.levels.first().map_or("", |level| level.folder.as_str());
        file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }
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
