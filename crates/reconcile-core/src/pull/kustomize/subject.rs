//! A change of a built object, with what is known of the object in the tree.

use kube_yaml::Document;
use manifest_edit::{Edit, Step};
use serde_json::Value;

use super::candidate::AcceptedChange;
use super::names::{Documents, Names};
use super::tree::{Level, Tree};

/// The fields of a kustomization with patches.
pub(super) const PATCHES: [&str; 3] = ["patches", "patchesJson6902", "patchesStrategicMerge"];

/// A built object with one of its changes.
pub(super) struct Subject<'a> {
    pub tree: &'a Tree,
    pub documents: &'a Documents<'a>,
    pub wanted: &'a AcceptedChange,
    /// The object as it was built.
    pub built: &'a Value,
    pub names: Names<'a>,
    /// All accepted edits of the object.
    pub accepted: Vec<&'a Edit>,
    /// True if the build has another object of the kind with this name, in another namespace.
    pub has_twins: bool,
}

impl<'a> Subject<'a> {
    /// One of the changes, with the former build that they are edits of.
    pub fn of(
        tree: &'a Tree,
        documents: &'a Documents<'a>,
        wanted: &'a AcceptedChange,
        all: &'a [AcceptedChange],
        former: &'a [Document],
    ) -> Self {
        let number = wanted.edit.document;
        let built = former.iter().find(|document| document.number == number).map_or(&Value::Null, |one| &one.value);
        let accepted = all.iter().map(|one| &one.edit).filter(|edit| edit.document == number).collect();
        let is_alike = |other: &&Document| {
            let same = |pointer| other.value.pointer(pointer) == built.pointer(pointer);
            ["/apiVersion", "/kind", "/metadata/name"].into_iter().all(same)
        };
        let has_twins = former.iter().filter(is_alike).nth(1).is_some();
        Self { tree, documents, wanted, built, names: Names::of(&wanted.key, tree, documents), accepted, has_twins }
    }

    /// Returns true if a patch names the namespace of another object with this name.
    pub fn is_of_twin(&self, patch: &Value) -> bool {
        let namespace = |value: &'_ Value| value.pointer("/metadata/namespace").cloned();
        self.has_twins && namespace(patch).is_some_and(|named| Some(named) != namespace(self.built))
    }

    /// Returns true if an entry with a patch has no target, or one that may be the object.
    pub fn is_target(&self, level: &Level, entry: &Value) -> bool {
        let Some(target) = entry.get("target") else { return true };
        let text = |field: &str| target.get(field).and_then(Value::as_str);
        let is_pattern = |name: &str| name.contains(['.', '*', '|', '[', '(', '+', '?', '^', '$', '\\']);
        text("kind").is_none_or(|kind| is_pattern(kind) || kind == self.wanted.key.gvk.kind)
            && text("name").is_none_or(|name| is_pattern(name) || self.names.has(level, name))
    }
}

/// A patch that is a text of a kustomization, and its place in that.
pub(super) fn inline<'v>(field: &str, index: usize, patch: &'v Value) -> Option<(&'v str, Vec<Step>)> {
    let at = vec![Step::Key(field.to_owned()), Step::Index(index)];
    match patch {
        Value::String(text) if text.contains('\n') => Some((text, at)),
        patch => {
            let text = patch.get("patch").and_then(Value::as_str)?;
            Some((text, [at, vec![Step::Key("patch".to_owned())]].concat()))
        }
    }
}
