//! From a [`Manifest`] to the object that is sent, and to the one that was applied last. Every change to the content of a manifest happens here.

use std::sync::Arc;

use apply_set::PART_OF;
use kube_yaml::Step;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use structured_merge::{
    EmptyKey, FieldPath, GroupVersionKind, NullEntry, ObjectMeta as _, PathElement, RefusedNull, TypeRef, builtin,
    fill_in_empty_keys, is_nothing, null_entries, take_out_refused_nulls, written_at,
};

use super::manifest::{Manifest, Origin, Remarks};
use super::packed::Packed;
use super::release::{ReleaseMark, ReleaseName};
use super::source::Source;
use crate::rare::Rare;
use crate::rules::FieldPattern;

/// The beginning of the warning that names the fields of a manifest that are not sent.
pub const LEFT_OUT: &str = "left out, as the server and kubectl write it themselves";

/// The object of a manifest as it was applied last: the third side of a comparison, beside the manifest and the live object. It is
/// never sent.
#[derive(Clone, Debug, PartialEq)]
pub enum BaseObject {
    /// The base has the same manifest.
    Same,
    /// The base has another version of the manifest: this one, as it would be sent.
    Differs(Box<Value>),
    /// The base does not have the object.
    Absent,
}

/// The part of a base that an object has, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BaseState {
    /// The same manifest.
    Same,
    /// Another version of the manifest.
    Differs,
    /// Nothing: the object is new in the manifests.
    Absent,
}

impl BaseObject {
    /// The part of the base that the object has.
    pub fn state(&self) -> BaseState {
        match self {
            Self::Same => BaseState::Same,
            Self::Differs(_) => BaseState::Differs,
            Self::Absent => BaseState::Absent,
        }
    }
}

/// One desired object as it is sent.
#[derive(Clone, Debug)]
pub struct DesiredObject {
    /// The location in the input.
    pub origin: Arc<Origin>,
    pub(crate) object: Packed,
    remarks: Rare<Remarks>,
}

impl DesiredObject {
    /// The object of a manifest, with the namespace that it lives in, and without the fields that a write does not change or must not
    /// change. `status_is_apart` says whether `status` is a subresource, which a write of the object does not change.
    pub fn of(manifest: Manifest, namespace: Option<&str>, status_is_apart: bool) -> Self {
        let Manifest { gvk, namespace: written, object, is_plain, origin, remarks, .. } = manifest;
        let mut left_out = remarks.left_out.clone();
        let mut desired = Self { origin, object, remarks };
        // Nearly every object is sent as it was read.
        if !is_plain || written.as_deref() != namespace {
            desired.settle_namespace(namespace);
            left_out.extend(desired.settle_fields(&gvk, status_is_apart));
            desired.object.pack();
        }
        if !left_out.is_empty() {
            let names = left_out.join(", ");
            desired.warn(format!("{LEFT_OUT}: {names}"));
        }
        desired
    }

    /// Fills in the keys of its lists, and leaves out the fields that a write does not change or must not change. Returns their names.
    fn settle_fields(&mut self, gvk: &GroupVersionKind, status_is_apart: bool) -> Vec<String> {
        if let Some(schema) = builtin().object(gvk) {
            self.fill_in_empty_keys(schema);
            self.warn_of_null_entries(schema);
        }
        let mut left_out = Vec::new();
        if status_is_apart {
            left_out.extend(self.leave_out("status"));
        }
        // The control plane overwrites the rules of a role with an `aggregationRule`, and applying them is in conflict with it.
        // Manifests write `rules: []` there, as the field is required.
        let is_cluster_role = gvk.group == "rbac.authorization.k8s.io" && gvk.kind == "ClusterRole";
        if is_cluster_role && self.object().get("aggregationRule").is_some_and(|rule| !rule.is_null()) {
            left_out.extend(self.leave_out("rules"));
        }
        left_out
    }

    /// Takes an object that is sent exactly as it is.
    pub fn exactly(object: Value, origin: Arc<Origin>) -> Self {
        Self { origin, object: Packed::tree(object), remarks: Rare::default() }
    }

    /// The object, of which a tree is kept from now on.
    pub fn object(&self) -> &Value {
        self.object.get()
    }

    /// Looks at the object, of which no tree is kept.
    pub fn with_object<T>(&self, look: impl FnOnce(&Value) -> T) -> T {
        self.object.with(look)
    }

    /// Returns false only if no map in the object has this key, which needs no escapes in JSON.
    pub fn may_have(&self, key: &str) -> bool {
        self.object.may_have(key)
    }

    /// A copy that has a tree of the object, for as long as it is looked at.
    pub fn unpacked(&self) -> Self {
        let Self { origin, object, remarks } = self;
        Self { origin: Arc::clone(origin), object: Packed::tree(object.to_tree()), remarks: remarks.clone() }
    }

    /// A copy with another name.
    pub fn under_name(&self, name: &str) -> Self {
        let mut object = self.object.to_tree();
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            metadata.insert("name".to_owned(), name.into());
        }
        Self { object: Packed::tree(object), ..self.unpacked() }
    }

    /// A copy with another content.
    pub fn with_content(&self, object: Value) -> Self {
        Self { origin: Arc::clone(&self.origin), object: Packed::tree(object), remarks: self.remarks.clone() }
    }

    /// A tree of the object.
    pub fn to_tree(&self) -> Value {
        self.object.to_tree()
    }

    /// Warnings for its author.
    pub fn warnings(&self) -> &[String] {
        &self.remarks.warnings
    }

    /// Returns true if the API refuses its name, a label or an annotation: it can be neither compared nor written.
    pub fn is_refused(&self) -> bool {
        !self.remarks.refused.is_empty()
    }

    /// The fields that the annotation of its manifest names, to be ignored once the object exists.
    pub fn ignored(&self) -> &[FieldPattern] {
        &self.remarks.ignored
    }

    /// The line of a field in its file, or of the nearest field that the file has.
    pub fn line_of(&self, path: &FieldPath) -> u32 {
        let object = self.object();
        self.origin.positions.nearest(&steps_in(&written_at(path, object), object)).line
    }

    /// Adds a warning for its author.
    pub fn warn(&mut self, warning: String) {
        self.remarks.warnings.push(warning);
    }

    /// Makes it a member of an apply set.
    pub fn join_apply_set(&mut self, id: &str) {
        let Some(Value::Object(metadata)) = self.object.get_mut().get_mut("metadata") else { return };
        let labels = metadata.entry("labels").or_insert(Value::Null);
        if !labels.is_object() {
            *labels = Value::Object(Map::new());
        }
        labels[PART_OF] = id.into();
        self.object.pack();
    }

    /// Gives it the label and the annotations by which Helm knows the objects of a release (Helm `pkg/action/validate.go`,
    /// `setMetadataVisitor`). Over a live object, those count that it has.
    pub fn join_release(&mut self, release: &ReleaseName) {
        let Some(Value::Object(metadata)) = self.object.get_mut().get_mut("metadata") else { return };
        for mark in release.marks() {
            let map = metadata.entry(mark.map).or_insert(Value::Null);
            if !map.is_object() {
                *map = Value::Object(Map::new());
            }
            if map.get(mark.key).is_none() {
                self.remarks.release_marks.push(mark.clone());
            }
            map[mark.key] = mark.value.into();
        }
        self.object.pack();
    }

    /// The object without the marks of its release that a live object lacks; `None` if it lacks none of them.
    pub fn without_marks(&self, live: &Value) -> Option<Value> {
        if self.remarks.release_marks.is_empty() {
            return None;
        }
        let mut object = self.object.to_tree();
        self.leave_out_marks(live, &mut object).then_some(object)
    }

    /// Leaves out the marks of its release that a live object lacks. Returns true if it lacks some.
    pub fn leave_out_marks(&self, live: &Value, object: &mut Value) -> bool {
        let lacks = |mark: &&ReleaseMark| live.metadata(mark.map).and_then(|map| map.get(mark.key)).is_none();
        let lacking: Vec<&ReleaseMark> = self.remarks.release_marks.iter().filter(lacks).collect();
        let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return false };
        for mark in &lacking {
            let Some(Value::Object(map)) = metadata.get_mut(mark.map) else { continue };
            map.remove(mark.key);
            if map.is_empty() {
                metadata.remove(mark.map);
            }
        }
        !lacking.is_empty()
    }

    /// Leaves out the nulls that the type of a custom resource does not allow, each with a warning that names its line, so that
    /// an apply has the effect of `kubectl apply`.
    pub fn leave_out_refused_nulls(&mut self, schema: TypeRef<'_>) {
        let nulls = take_out_refused_nulls(self.object.get_mut(), schema);
        self.object.pack();
        for RefusedNull { path, empty } in nulls {
            let instead = empty.map_or_else(|| "a value".to_owned(), |empty| format!("`{empty}`"));
            self.warn_at(&path, &format!("has no value and is left out: write {instead} or delete the line"));
        }
    }

    /// Reads keys of list items that are empty as the default that the server stores, each with a warning.
    fn fill_in_empty_keys(&mut self, schema: TypeRef<'_>) {
        for EmptyKey { path, default } in fill_in_empty_keys(self.object.get_mut(), schema) {
            self.warn_at(&path, &format!("is empty and read as `{default}`: write `{default}` or delete it"));
        }
    }

    /// Warns of entries of maps without a value.
    fn warn_of_null_entries(&mut self, schema: TypeRef<'_>) {
        for NullEntry { path, stored } in null_entries(self.object(), schema) {
            let said = format!("has no value, and the server reads it as `{stored}`: write a value or delete the line");
            self.warn_at(&path, &said);
        }
    }

    /// Adds a warning about a field, with its line.
    fn warn_at(&mut self, path: &FieldPath, said: &str) {
        let Source { file, .. } = &self.origin.source;
        let line = self.origin.positions.nearest(&steps(path)).line;
        self.warn(self.origin.source.explained(format!("{file}:{line}: `{path}` {said}")));
    }

    fn settle_namespace(&mut self, namespace: Option<&str>) {
        let Some(Value::Object(metadata)) = self.object.get_mut().get_mut("metadata") else { return };
        match namespace {
            Some(namespace) => drop(metadata.insert("namespace".into(), namespace.into())),
            None => {
                if let Some(written) = metadata.remove("namespace") {
                    let written = written.as_str().unwrap_or_default().to_owned();
                    self.warn(format!("`metadata.namespace: {written}` is left out, as the kind is cluster-scoped"));
                }
            }
        }
    }

    /// Removes a top-level field. Returns its name unless it was empty.
    fn leave_out(&mut self, field: &str) -> Option<String> {
        let Value::Object(object) = self.object.get_mut() else { return None };
        object.remove(field).filter(|value| !is_nothing(value)).map(|_| format!("`{field}`"))
    }
}

/// The steps to a field, with items of lists found in the object by their keys; as far as they exist.
fn steps_in<'p>(path: &'p FieldPath, object: &Value) -> Vec<Step<'p>> {
    let mut steps = Vec::new();
    let mut at = Some(object);
    for element in path.elements() {
        let step = match element {
            PathElement::Field(name) => Step::Key(name),
            PathElement::Index(index) => Step::Index(usize::try_from(*index).unwrap_or(usize::MAX)),
            PathElement::Key(_) | PathElement::Member(_) => {
                let item = FieldPath::from(vec![element.clone()]);
                let list = at.and_then(Value::as_array);
                let found = list.zip(at.and_then(|list| item.value_in(list)));
                let index = found.and_then(|(list, found)| list.iter().position(|one| std::ptr::eq(one, found)));
                let Some(index) = index else { break };
                Step::Index(index)
            }
        };
        at = at.and_then(|value| match &step {
            Step::Key(name) => value.get(name),
            Step::Index(index) => value.get(index),
        });
        steps.push(step);
    }
    steps
}

fn steps(path: &FieldPath) -> Vec<Step<'_>> {
    let steps = path.elements().iter().map_while(|element| match element {
        PathElement::Field(name) => Some(Step::Key(name)),
        PathElement::Index(index) => usize::try_from(*index).ok().map(Step::Index),
        PathElement::Key(_) | PathElement::Member(_) => None,
    });
    steps.collect()
}
