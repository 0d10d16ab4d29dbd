//! The documents of a tree, and the names that an object of the build has on the way through it.

use std::collections::{BTreeMap, BTreeSet};

use kube_yaml::{Document, Positions, Validation, read};
use manifest_edit::Step;
use serde_json::Value;
use structured_merge::{GroupKind, GroupVersionKind, ObjectKey};

use super::candidate::items;
use super::tree::{Level, Tree, own_names};
use crate::manifest::yaml;
use crate::object::generated::stem;

/// The documents of the resources and patches of a tree, by file.
pub(super) struct Documents<'t> {
    tree: &'t Tree,
    files: BTreeMap<&'t str, Vec<Document>>,
}

impl<'t> Documents<'t> {
    pub fn of(tree: &'t Tree) -> Self {
        let mut documents = BTreeMap::new();
        for level in &tree.levels {
            let patches = ["patches", "patchesStrategicMerge", "patchesJson6902"].into_iter();
            let patches = patches.flat_map(|field| items(&level.value, field)).filter_map(path_of_patch);
            let resources = items(&level.value, "resources").filter_map(Value::as_str);
            for name in resources.chain(patches) {
                let file = tree.path(&level.folder, name).and_then(|path| tree.files.get_key_value(&path));
                if let Some((path, bytes)) = file {
                    documents.entry(path.as_str()).or_insert_with(|| read(bytes, Validation::Warn).documents);
                }
            }
        }
        Self { tree, files: documents }
    }

    /// The documents of a file that a level names, with its path.
    pub fn named(&self, level: &Level, name: &str) -> Option<(&'t str, &[Document])> {
        let path = self.tree.path(&level.folder, name)?;
        self.files.get_key_value(path.as_str()).map(|(path, documents)| (*path, documents.as_slice()))
    }

    /// The resources of a level. A list counts as its items, as in a build.
    pub fn resources<'d>(&'d self, level: &'d Level) -> impl Iterator<Item = Resource<'d>> {
        let names = items(&level.value, "resources").filter_map(Value::as_str);
        let files = names.filter_map(|name| self.named(level, name));
        files.flat_map(|(file, documents)| {
            documents.iter().flat_map(move |document| {
                let positions = document.positions.clone();
                let whole = Resource { file, document, above: Vec::new(), value: &document.value, positions };
                let mut found = Vec::new();
                whole.add_to(&mut found);
                found
            })
        })
    }
}

/// A resource in a file.
pub(super) struct Resource<'d> {
    pub file: &'d str,
    pub document: &'d Document,
    /// Its place in the document, if that is a list.
    pub above: Vec<Step>,
    pub value: &'d Value,
    pub positions: Positions,
}

impl Resource<'_> {
    fn add_to(self, found: &mut Vec<Self>) {
        let is_list = self.value.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
        let Some(items) = self.value.get("items").and_then(Value::as_array).filter(|_| is_list) else {
            return found.push(self);
        };
        let positions = self.positions.items(&[yaml::Step::Key("items")]);
        for ((index, value), positions) in items.iter().enumerate().zip(positions) {
            let above = [self.above.as_slice(), &[Step::Key("items".to_owned()), Step::Index(index)]].concat();
            Self { above, value, positions, ..self }.add_to(found);
        }
    }
}

/// The file of a patch; `None` if it is a text of the kustomization.
pub(super) fn path_of_patch(patch: &Value) -> Option<&str> {
    match patch {
        Value::String(text) => (!text.contains('\n')).then_some(text),
        patch => patch.get("path").and_then(Value::as_str),
    }
}

/// The lists of generators of a kustomization, with the kind that they generate.
pub(super) const GENERATORS: [(&str, &str); 2] = [("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret")];

/// The names of one object of the build: transformers add prefixes, suffixes and a hash.
pub(super) struct Names<'w> {
    key: &'w ObjectKey,
    /// The names in the documents and generators that it is built from; empty if none is known.
    sources: BTreeSet<String>,
}

impl<'w> Names<'w> {
    pub fn of(key: &'w ObjectKey, tree: &Tree, documents: &Documents<'_>) -> Self {
        let mut names = Self { key, sources: BTreeSet::new() };
        for level in &tree.levels {
            let resources = documents.resources(level).map(|resource| resource.value);
            let resources = resources.filter(|resource| names.is_kind(resource)).filter_map(name_in);
            let generators = GENERATORS.into_iter().filter(|(_, kind)| *kind == key.gvk.kind);
            let generators = generators.flat_map(|(field, _)| items(&level.value, field));
            let generators = generators.filter_map(|generator| generator.get("name")?.as_str());
            let found: Vec<&str> = resources.chain(generators).filter(|name| names.is_built(level, name)).collect();
            names.sources.extend(found.into_iter().map(ToOwned::to_owned));
        }
        names
    }

    /// Returns true if the object may go through a level: two kustomizations of one build may stand on the same base, each with a prefix of
    /// its own.
    pub fn may_pass(&self, level: &Level) -> bool {
        self.sources.is_empty() || level.may_have(self.key)
    }

    /// Returns true if a document may be what the object is built from.
    pub fn is_source(&self, level: &Level, document: &Value) -> bool {
        let is_named =
            |name| if self.sources.is_empty() { self.key.name.contains(name) } else { self.is_built(level, name) };
        self.is_kind(document) && name_in(document).is_some_and(is_named)
    }

    /// Returns true if something in a kustomization may mean the object by this name.
    pub fn has(&self, level: &Level, name: &str) -> bool {
        !name.is_empty()
            && (self.sources.contains(name)
                || self.key.name == name
                || stem(&self.key.name) == Some(name)
                || self.is_built(level, name)
                || (self.sources.is_empty() && self.key.name.contains(name)))
    }

    /// Returns true if a document of a patch may mean the object.
    pub fn is_patch(&self, level: &Level, document: &Value) -> bool {
        self.is_kind(document) && name_in(document).is_some_and(|name| self.has(level, name))
    }

    pub fn is_known(&self) -> bool {
        !self.sources.is_empty()
    }

    fn is_kind(&self, document: &Value) -> bool {
        GroupKind::from(&GroupVersionKind::of(document)) == GroupKind::from(&self.key.gvk)
    }

    fn is_built(&self, level: &Level, name: &str) -> bool {
        own_names(self.key).any(|own| level.is_inner_name(own, name))
    }
}

pub(super) fn name_in(document: &Value) -> Option<&str> {
    document.pointer("/metadata/name").and_then(Value::as_str).filter(|name| !name.is_empty())
}
