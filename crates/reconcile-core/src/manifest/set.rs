//! The set of desired objects: all manifests of the input, without duplicates and, unless they are wanted, without hooks, which Helm and
//! Argo CD create at moments of a release, and not as a part of it.

#![expect(clippy::indexing_slicing, reason = "the indices are of the very list, which keeps its length")]

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kube_yaml::{Mark, Validation};
use structured_merge::{ObjectKey, builtin_kind};

use super::chunk::{Chunk, Hooks, Input, ReadChunk};
use super::manifest::Manifest;
use super::release::{Record, Releases};
use crate::diagnostic::Diagnostic;
use crate::object::Selector;

/// All objects that the user wants, in the order in which they were read.
#[derive(Clone, Debug, Default)]
pub struct DesiredSet {
    /// The objects.
    pub manifests: Vec<Manifest>,
    /// The hooks that are left out.
    pub hooks: Vec<Manifest>,
    /// Number of hooks that are left out and could not be compared, such as those without a name.
    pub unreadable_hooks: usize,
    /// Warnings about the input.
    pub warnings: Vec<Diagnostic>,
    /// Warnings about records that the cluster keeps, which belong into the report.
    pub remarks: Vec<String>,
    /// The releases of Helm that they come from, if they come from releases.
    pub releases: Option<Releases>,
    /// The reasons why other records of the cluster could not be read: releases, and kinds that the user may not list.
    pub unreadable: Vec<Diagnostic>,
}

impl DesiredSet {
    /// Makes every field of every object compared: annotations that name fields to ignore do not count.
    pub fn without_ignored_fields(mut self) -> Self {
        self.manifests.iter_mut().for_each(Manifest::compare_all_fields);
        self
    }

    /// The same, taken from a record that the cluster keeps. What stands at one of the `unreadable` lines cannot be compared, for the reason
    /// that comes with it.
    pub fn of_record(mut self, record: Record, unreadable: &BTreeMap<u32, String>) -> Self {
        let record = Arc::new(record);
        for manifest in self.manifests.iter_mut().chain(&mut self.hooks) {
            Arc::make_mut(&mut manifest.origin).record = Some(record.clone());
            if let Some(reason) = unreadable.get(&manifest.origin.source.line) {
                manifest.refuse(reason);
            }
        }
        self
    }

    /// Adds the manifests of another set, which may define the same objects.
    pub fn join(&mut self, other: Self) {
        self.manifests.extend(other.manifests);
        self.hooks.extend(other.hooks);
        self.unreadable_hooks = self.unreadable_hooks.saturating_add(other.unreadable_hooks);
        self.warnings.extend(other.warnings);
        self.remarks.extend(other.remarks);
    }

    /// Number of hooks that are left out.
    pub fn hooks_left_out(&self) -> usize {
        self.hooks.len().saturating_add(self.unreadable_hooks)
    }
}

/// Options for reading manifests.
#[derive(Debug)]
pub struct ReadOptions {
    /// The strictness of the reader.
    pub validation: Validation,
    /// Selects the wanted objects by their labels.
    pub selector: Selector,
    /// The treatment of hooks.
    pub hooks: Hooks,
    /// True if an input without objects is no error.
    pub allow_empty: bool,
}

/// Reads all inputs. Returns either every object or all errors of all inputs.
pub fn read(inputs: &[Input], options: &ReadOptions) -> Result<DesiredSet, Vec<Diagnostic>> {
    gather(Chunk::read_in_order(inputs, options.validation), options)
}

/// Reads the manifest of one object alone, in JSON. The error is the first mistake.
pub fn read_alone(text: Vec<u8>) -> Result<Manifest, Diagnostic> {
    let input = [Input::new("", text)];
    let mut manifests = Vec::new();
    let mut mistakes = Vec::new();
    for chunk in Chunk::read_in_order(&input, Validation::Strict) {
        manifests.extend(chunk.manifests);
        mistakes.extend(chunk.syntax.into_iter().chain(chunk.diagnostics));
        mistakes.extend(chunk.unreadable_hooks.into_iter().flatten());
    }
    mistakes.extend(manifests.iter().flat_map(|manifest| manifest.remarks.refused.clone()));
    match (mistakes.into_iter().next(), manifests.pop()) {
        (Some(mistake), _) => Err(mistake),
        (None, Some(manifest)) if manifests.is_empty() => Ok(manifest),
        (None, _) => Err(Diagnostic::general("it is not the manifest of one object")),
    }
}

/// Joins the results of the chunks of all inputs, in their order, to the result of [`read`].
pub fn gather(chunks: Vec<ReadChunk>, options: &ReadOptions) -> Result<DesiredSet, Vec<Diagnostic>> {
    let mut gathering = Gathering { options, set: DesiredSet::default(), diagnostics: Vec::new() };
    gathering.set.manifests.reserve_exact(chunks.iter().map(|chunk| chunk.manifests.len()).sum());
    // Errors in the objects of an input are reported after errors in its text.
    let mut in_objects = Vec::new();
    let mut count = 0;
    for mut chunk in chunks {
        if chunk.is_first {
            gathering.diagnostics.append(&mut in_objects);
            count = 0;
        }
        for manifest in &mut chunk.manifests {
            let document = &mut Arc::make_mut(&mut manifest.origin).source.document;
            *document = document.saturating_add(count);
        }
        count = count.saturating_add(chunk.count);
        gathering.add(chunk.manifests);
        gathering.diagnostics.append(&mut chunk.syntax);
        gathering.set.warnings.append(&mut chunk.warnings);
        in_objects.append(&mut chunk.diagnostics);
        match options.hooks {
            Hooks::Include => in_objects.extend(chunk.unreadable_hooks.into_iter().flatten()),
            Hooks::Skip => {
                let count = &mut gathering.set.unreadable_hooks;
                *count = count.saturating_add(chunk.unreadable_hooks.len());
            }
        }
    }
    gathering.diagnostics.append(&mut in_objects);
    gathering.finish()
}

struct Gathering<'a> {
    options: &'a ReadOptions,
    set: DesiredSet,
    diagnostics: Vec<Diagnostic>,
}

impl Gathering<'_> {
    /// Adds manifests, and sets hooks apart.
    fn add(&mut self, manifests: Vec<Manifest>) {
        if self.options.hooks == Hooks::Include {
            return self.set.manifests.extend(manifests);
        }
        for manifest in manifests {
            let set = &mut self.set;
            let list = if manifest.is_hook { &mut set.hooks } else { &mut set.manifests };
            list.push(manifest);
        }
    }

    fn finish(mut self) -> Result<DesiredSet, Vec<Diagnostic>> {
        self.copies();
        self.set.hooks.retain(|manifest| manifest.object.with(|object| self.options.selector.matches(object)));
        if self.diagnostics.is_empty() && !self.options.allow_empty {
            self.emptiness();
        }
        if !self.diagnostics.is_empty() {
            return Err(self.diagnostics);
        }
        self.set.manifests.retain(|manifest| manifest.object.with(|object| self.options.selector.matches(object)));
        Ok(self.set)
    }

    /// Finds objects that are defined several times. Identical copies count once.
    fn copies(&mut self) {
        let manifests = &mut self.set.manifests;
        let mut seen = HashMap::with_capacity(manifests.len());
        let mut copies = BTreeMap::new();
        for (index, manifest) in manifests.iter().enumerate() {
            let key = (&manifest.gvk.group, &manifest.gvk.kind, &manifest.namespace, &manifest.name);
            let first = *seen.entry(key).or_insert(index);
            if first != index {
                let other = &manifests[first];
                match repeated(manifest, &named(manifest), other, manifest.object == other.object) {
                    Ok(warning) => drop(copies.insert(index, (first, warning))),
                    Err(diagnostic) => self.diagnostics.push(diagnostic),
                }
            }
        }
        leave_out_copies(manifests, &copies, |manifest, warning| {
            manifest.remarks.warnings.push(warning);
            Arc::make_mut(&mut manifest.origin).is_repeated = true;
        });
    }

    fn emptiness(&mut self) {
        let is_selected = |manifest: &Manifest| manifest.object.with(|object| self.options.selector.matches(object));
        let hooks = self.set.hooks_left_out();
        let message = match self.set.manifests.as_slice() {
            [] if hooks > 0 => "the input has no objects but hooks, which are left out",
            [] => "no objects found in the input",
            manifests if manifests.iter().any(is_selected) => return,
            _ if hooks > 0 => "the selector matches no objects but hooks, which are left out",
            _ => "no object matches the selector",
        };
        let hint = match hooks {
            0 => "pass `--allow-empty` if that is intended",
            _ => "pass `--hooks include` to use them like other objects, or `--allow-empty` if that is intended",
        };
        self.diagnostics.push(Diagnostic::general(message).with_hint(hint));
    }
}

/// The object of a manifest as messages name it before the server is asked: without a namespace if its kind is known to have none.
fn named(manifest: &Manifest) -> ObjectKey {
    let is_of_cluster = builtin_kind(&manifest.gvk).is_some_and(|kind| !kind.namespaced);
    let namespace = manifest.namespace.clone().filter(|_| !is_of_cluster);
    ObjectKey { gvk: manifest.gvk.clone(), namespace, name: manifest.name.clone() }
}

/// The warning about an object that is defined twice, or the error if the two definitions differ. `key` is its identity as far as it is
/// known, and `is_same` says if they are equal.
pub fn repeated(copy: &Manifest, key: &ObjectKey, first: &Manifest, is_same: bool) -> Result<String, Diagnostic> {
    let mark = copy.origin.positions.nearest(&[]);
    if is_same {
        let file = &copy.origin.source.file;
        let first = &first.origin.source;
        return Ok(format!(
            "{file}:{}:{}: {key} is defined twice, first at {first}: the copies are identical, and one of them is used",
            mark.line, mark.column
        ));
    }
    let also = (first.origin.source.file == copy.origin.source.file)
        .then_some(Mark { line: first.origin.source.line, column: mark.column });
    let message = format!("{key} is defined twice, first at {}", first.origin.source);
    Err(copy.origin.diagnostic_at(mark, also, message).with_hint("remove one of the two"))
}

/// Removes copies, by their indices. The warning of each copy goes to the first definition, whose index comes with it.
pub fn leave_out_copies<T>(
    items: &mut Vec<T>,
    copies: &BTreeMap<usize, (usize, String)>,
    warn: impl Fn(&mut T, String),
) {
    for (first, warning) in copies.values() {
        if let Some(first) = items.get_mut(*first) {
            warn(first, warning.clone());
        }
    }
    let mut indices = 0..;
    items.retain(|_| indices.next().is_some_and(|index| !copies.contains_key(&index)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::chunk::Hooks;

    #[test]
    fn an_object_of_the_cluster_that_is_given_twice_is_named_without_a_namespace() {
        let options = ReadOptions {
            validation: Validation::Strict,
            selector: Selector::default(),
            hooks: Hooks::Include,
            allow_empty: false,
        };
        let twice = |api_version: &str, kind: &str| {
            let object = |label: &str| {
                format!(
                    "{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: x, namespace: bar, labels: {{a: {label}}}}}}}\n"
                )
            };
            let text = format!("{}---\n{}", object("b"), object("c"));
            let mistakes = read(&[Input::new("a.yaml", text.into_bytes())], &options).unwrap_err();
            mistakes.into_iter().map(|mistake| mistake.message).collect::<Vec<_>>()
        };
        let role = twice("rbac.authorization.k8s.io/v1", "ClusterRole");
        assert_eq!(role, ["ClusterRole x is defined twice, first at a.yaml:1"]);
        assert_eq!(twice("v1", "ConfigMap"), ["ConfigMap bar/x is defined twice, first at a.yaml:1"]);
    }
}
