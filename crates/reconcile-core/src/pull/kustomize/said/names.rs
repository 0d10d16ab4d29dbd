//! The names of a build that a message may repeat.

use std::collections::BTreeSet;

use kube_yaml::Validation;
use serde_json::Value;

use crate::pull::kustomize::candidate::items;
use crate::pull::kustomize::tree::{Level, Tree, bases, joined};
use crate::text::name_without_credentials;

/// The most bytes of a name.
const MOST_BYTES: usize = 1000;
/// The most digits of the number of a line.
const MOST_DIGITS: usize = 9;
/// The largest file whose objects are looked for, in bytes.
const LARGE: usize = 4 << 20;
/// The most names, and the most texts around them, that are joined.
const MOST_NAMES: usize = 10_000;
const MOST_AFFIXES: usize = 32;
/// The depth up to which references to objects are looked for.
const MOST_DEPTH: usize = 16;
/// The fields of a reference to objects, and the paths in them.
const REFERENCE: [&str; 11] = [
    "apiVersion",
    "fieldPath",
    "fieldPaths",
    "fieldpath",
    "from",
    "group",
    "kind",
    "name",
    "namespace",
    "path",
    "version",
];
/// The fields of a kustomization with references to objects. Patches that are written in them are texts, which are read as files are.
const REFERRING: [&str; 5] = ["patches", "patchesJson6902", "patchesStrategicMerge", "replacements", "vars"];
/// The fields whose texts are values.
const DATA: [&str; 2] = ["data", "stringData"];
/// The words of kustomize in the place of a part that is missing (kyaml `resid`).
const MISSING: [&str; 5] = ["[noGrp]", "[noVer]", "[noKind]", "[noName]", "[noNs]"];
/// The transformers and generators of kustomize itself (api `internal/plugins/builtinhelpers`).
const BUILTIN: [&str; 18] = [
    "AnnotationsTransformer",
    "ConfigMapGenerator",
    "HashTransformer",
    "HelmChartInflationGenerator",
    "IAMPolicyGenerator",
    "ImageTagTransformer",
    "LabelTransformer",
    "NamespaceTransformer",
    "PatchJson6902Transformer",
    "PatchStrategicMergeTransformer",
    "PatchTransformer",
    "PrefixSuffixTransformer",
    "PrefixTransformer",
    "ReplacementTransformer",
    "ReplicaCountTransformer",
    "SecretGenerator",
    "SuffixTransformer",
    "ValueAddTransformer",
];

/// The names of a build: its files, and the objects and fields that they name. None of them is a value of a Secret.
#[derive(Clone, Debug)]
pub struct Names {
    files: BTreeSet<String>,
    words: BTreeSet<String>,
    /// The lines of the longest file.
    lines: usize,
}

impl Names {
    /// The names of a build of which only the directory is known.
    pub fn of_directory(directory: &str) -> Self {
        let files = BTreeSet::from([name_without_credentials(directory)]);
        let words = MISSING.into_iter().chain(BUILTIN).map(ToOwned::to_owned).collect();
        Self { files, words, lines: 0 }
    }

    /// The names of a build whose files were read.
    pub fn of(directory: &str, tree: &Tree) -> Self {
        let mut names = Self::of_directory(directory);
        names.files.extend(tree.taken.iter().chain(tree.files.keys()).chain(tree.links.keys()).cloned());
        for level in &tree.levels {
            names.level(level);
        }
        let secret = tree.secret_files();
        for (path, bytes) in &tree.files {
            let lines = bytes.split(|byte| *byte == b'\n').count();
            names.lines = names.lines.max(lines);
            // The file of a generator is all value.
            if !secret.contains(path) && bytes.len() <= LARGE {
                names.documents(bytes);
            }
        }
        let own: Vec<String> = names.words.iter().take(MOST_NAMES).cloned().collect();
        let affixes = tree.levels.iter().flat_map(|level| &level.affixes).filter(|affix| !affix.around("").is_empty());
        for affix in affixes.take(MOST_AFFIXES) {
            names.words.extend(own.iter().map(|name| affix.around(name)));
        }
        names.words.retain(|word| is_short(word));
        names.files.retain(|file| is_short(file));
        names
    }

    /// Takes the names of a kustomization. Of a generator of Secrets, no text but its name is one.
    fn level(&mut self, level: &Level) {
        let Level { folder, file, value, .. } = level;
        self.files.extend([folder.clone(), file.clone()]);
        let patches = ["patches", "patchesJson6902", "replacements"].into_iter().flat_map(|field| items(value, field));
        let lists = ["patchesStrategicMerge", "configurations", "crds", "generators", "transformers", "validators"];
        let lists = lists.into_iter().flat_map(|field| items(value, field)).filter_map(Value::as_str);
        let paths = patches.filter_map(|item| item.get("path")?.as_str());
        let openapi = value.pointer("/openapi/path").and_then(Value::as_str);
        for name in bases(value).chain(lists).chain(paths).chain(openapi).filter(|name| !name.contains('\n')) {
            self.files.insert(name_without_credentials(name));
            let mut path = joined(folder, name);
            // A message may name the first folder on the way that is missing.
            while let Some(missing) = path.filter(|path| !folder.starts_with(path.as_str())) {
                path = missing.rsplit_once('/').map(|(above, _)| above.to_owned());
                self.files.insert(missing);
            }
        }
        self.words.extend(value.as_object().into_iter().flat_map(serde_json::Map::keys).cloned());
        self.words.extend(value.get("namespace").and_then(Value::as_str).map(ToOwned::to_owned));
        for field in REFERRING {
            for item in items(value, field) {
                self.reference(item, 0);
                let texts = [Some(item), item.get("patch")].into_iter().flatten().filter_map(Value::as_str);
                texts.filter(|text| text.contains(['\n', '{'])).for_each(|text| self.documents(text.as_bytes()));
            }
        }
        let generators = ["configMapGenerator", "secretGenerator"].into_iter().flat_map(|field| items(value, field));
        self.words.extend(["ConfigMap", "Secret"].map(ToOwned::to_owned));
        generators.for_each(|generator| self.parts(generator, &["name", "namespace"]));
    }

    /// Takes the names of the objects and the operations in a file.
    fn documents(&mut self, bytes: &[u8]) {
        for document in kube_yaml::read(bytes, Validation::Warn).documents {
            let listed = document.value.get("items").and_then(Value::as_array).into_iter().flatten();
            for object in std::iter::once(&document.value).chain(listed) {
                self.parts(object, &["apiVersion", "kind"]);
                object.get("metadata").into_iter().for_each(|metadata| self.parts(metadata, &["name", "namespace"]));
            }
            for operation in document.value.as_array().into_iter().flatten() {
                self.parts(operation, &["from", "path"]);
            }
            // A file of replacements has no kind, and is one of them or a list.
            let is_object = document.value.get("kind").is_some();
            let list = document.value.as_array().into_iter().flatten();
            for replacement in list.chain(Some(&document.value)).filter(|_| !is_object) {
                for field in ["source", "targets"] {
                    replacement.get(field).into_iter().for_each(|value| self.reference(value, 0));
                }
            }
        }
    }

    /// Takes the parts of all references in a value.
    fn reference(&mut self, value: &Value, depth: usize) {
        self.parts(value, &REFERENCE);
        let below: Vec<&Value> = match value {
            Value::Array(items) => items.iter().collect(),
            Value::Object(map) => {
                map.iter().filter(|(field, _)| !DATA.contains(&field.as_str())).map(|(_, value)| value).collect()
            }
            _ => Vec::new(),
        };
        for value in below.into_iter().filter(|_| depth < MOST_DEPTH) {
            self.reference(value, depth.saturating_add(1));
        }
    }

    fn parts(&mut self, value: &Value, fields: &[&str]) {
        for part in fields.iter().filter_map(|field| value.get(field)) {
            let texts =
                part.as_str().into_iter().chain(part.as_array().into_iter().flatten().filter_map(Value::as_str));
            for text in texts {
                self.words.insert(text.to_owned());
                // The group and the version.
                self.words.extend(text.split_once('/').map(|(group, _)| group.to_owned()));
                self.words.extend(text.split_once('/').map(|(_, version)| version.to_owned()));
            }
        }
    }

    /// Returns true for the absolute path of a file or a folder.
    pub(super) fn is_path(&self, text: &str) -> bool {
        text.starts_with('/') && self.files.contains(text)
    }

    /// The length of the number of a line that a text begins with.
    pub(super) fn line(&self, text: &str) -> Option<usize> {
        let length = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
        let number = text.get(..length).filter(|_| length <= MOST_DIGITS)?.parse::<usize>().ok()?;
        (number <= self.lines).then_some(length)
    }

    /// The length of the name of a file or a folder that a text begins with.
    pub(super) fn file(&self, text: &str) -> Option<usize> {
        ends(text, |c| c.is_whitespace() || "'\"`:)],".contains(c))
            .find(|name| self.files.contains(*name))
            .map(str::len)
    }

    /// The length of a word that a text begins with.
    pub(super) fn word(&self, text: &str) -> Option<usize> {
        ends(text, |c| c.is_whitespace() || "'\"`:)],.;".contains(c))
            .find(|name| self.words.contains(*name))
            .map(str::len)
    }

    /// The length of the name of an object that a text begins with.
    pub(super) fn object(&self, text: &str) -> Option<usize> {
        ends(text, |c| c.is_whitespace() || "'\"`:;),".contains(c)).find(|name| self.is_object(name)).map(str::len)
    }

    /// Returns true for `Kind.version.group/name.namespace` with known parts.
    fn is_object(&self, name: &str) -> bool {
        let is_known = |(word, other): (&str, &str)| self.words.contains(word) && self.words.contains(other);
        let parts = name.split_once('/').and_then(|(kind, name)| Some((kind.split_once('.')?, name)));
        let Some(((kind, group), name)) = parts else { return false };
        self.words.contains(kind)
            && group.split_once('.').is_some_and(is_known)
            && name.match_indices('.').any(|(at, _)| {
                name.split_at_checked(at)
                    .is_some_and(|(name, rest)| is_known((name, rest.strip_prefix('.').unwrap_or(rest))))
            })
    }
}

/// The beginnings of a text that end where a name may end, the longest first.
fn ends(text: &str, is_end: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    let text = text.lines().next().unwrap_or_default();
    let start = text.get(..text.floor_char_boundary(MOST_BYTES)).unwrap_or_default();
    let inner: Vec<usize> = start.char_indices().filter(|(_, c)| is_end(*c)).map(|(at, _)| at).collect();
    let whole = (start.len() == text.len()).then_some(text);
    whole.into_iter().chain(inner.into_iter().rev().filter_map(|at| start.get(..at))).filter(|name| !name.is_empty())
}

fn is_short(name: &str) -> bool {
    name.len() <= MOST_BYTES && !name.contains(char::is_control)
}
