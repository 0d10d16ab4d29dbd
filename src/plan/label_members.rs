//! Makes the manifests members of an apply set.

use apply_set::{ApplySet, PART_OF};
use serde_json::{Map, Value};

use crate::desired::Manifest;
use crate::desired::yaml::Step;
use crate::diagnostic::Diagnostic;

/// Makes members of all manifests: they get the set's label. One that carries such a label already is a problem: which set
/// an object belongs to is not for the manifest to say. The parent is no member of its own set. Manifests without a
/// namespace belong to `default_namespace`.
pub fn enlist(manifests: &mut [Manifest], set: &ApplySet, default_namespace: &str) -> Result<(), Vec<Diagnostic>> {
    let mut problems = Vec::new();
    for manifest in manifests {
        if is_parent(manifest, set, default_namespace) {
            continue;
        }
        let Some(Value::Object(metadata)) = manifest.value.get_mut("metadata") else { continue };
        let labels = metadata.entry("labels").or_insert(Value::Null);
        if !labels.is_object() {
            *labels = Value::Object(Map::new());
        }
        let Value::Object(labels) = labels else { continue };
        if labels.contains_key(PART_OF) {
            let at = [Step::Key("metadata"), Step::Key("labels"), Step::Key(PART_OF)];
            let problem = manifest.problem_of_key(&at, format!("{manifest} already has the label `{PART_OF}`"));
            problems.push(problem.with_hint("leave it out of the manifest: `--applyset` sets it"));
            continue;
        }
        labels.insert(PART_OF.to_owned(), set.id.as_str().into());
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn is_parent(manifest: &Manifest, set: &ApplySet, default_namespace: &str) -> bool {
    let parent = &set.parent;
    let namespace = manifest.namespace.as_deref().unwrap_or(default_namespace);
    manifest.name == parent.name
        && (&manifest.gvk.group, &manifest.gvk.kind) == (&parent.gvk.group, &parent.gvk.kind)
        && parent.namespace.as_deref().is_none_or(|parents| parents == namespace)
}
