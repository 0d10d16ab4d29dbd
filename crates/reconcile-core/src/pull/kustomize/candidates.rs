//! The places that may set a value of a built object.

use kube_yaml::{Document, Validation, read};
use manifest_edit::{Change, Edit, Step};
use serde_json::Value;
use structured_merge::ObjectKey;

use super::candidate::{AcceptedChange, Candidate, How, Write, items};
use super::entries;
use super::tree::{Level, Tree, joined};
use crate::pull::place::value_at;
use crate::pull::proposal::edit_of_manifest;

/// All places for a change, those nearest to the overlay first.
pub(super) fn candidates(tree: &Tree, wanted: &AcceptedChange) -> Vec<Candidate> {
    let mut own = Vec::new();
    let mut added = Vec::new();
    for level in &tree.levels {
        own.extend(entries::of(tree, level, wanted));
        own.extend(patches(tree, level, wanted));
        for (file, bytes) in resources(tree, level) {
            for document in read(bytes, Validation::Warn).documents {
                if !is_source(&document.value, &wanted.key) {
                    continue;
                }
                let place = in_manifest(&document, wanted);
                let Some((edit, is_set)) = place else { continue };
                let candidate = Candidate::new(How::Resource, &file, Write::At(edit));
                if is_set { own.push(candidate) } else { added.push(candidate) }
            }
        }
    }
    let new = tree.levels.first().and_then(|overlay| entries::new(overlay, wanted));
    own.extend(new);
    own.extend(added);
    // A new entry takes the place of those outside.
    let outside = own.extract_if(.., |candidate| !tree.is_own(&candidate.file)).collect::<Vec<_>>();
    own.extend(outside);
    own
}

/// The texts of a field that are files next to a kustomization.
fn files<'t>(tree: &'t Tree, level: &Level, names: impl Iterator<Item = String>) -> Vec<(String, &'t [u8])> {
    let found = |name: String| {
        let path = joined(&level.folder, &name)?;
        let bytes = tree.files.get(&path)?;
        Some((path, bytes.as_ref()))
    };
    names.filter_map(found).collect()
}

fn resources<'t>(tree: &'t Tree, level: &Level) -> Vec<(String, &'t [u8])> {
    let names = items(&level.value, "resources").filter_map(Value::as_str).map(ToOwned::to_owned);
    files(tree, level, names)
}

/// Returns true if a document may be what an object is built from: transformers add a prefix, a suffix and a hash to its name.
fn is_source(document: &Value, key: &ObjectKey) -> bool {
    let name = document.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    document.get("kind").and_then(Value::as_str) == Some(key.gvk.kind.as_str())
        && !name.is_empty()
        && key.name.contains(name)
}

/// The edit of a manifest or of a strategic patch, and true if the document sets the value now.
fn in_manifest(document: &Document, wanted: &AcceptedChange) -> Option<(Edit, bool)> {
    let edit =
        edit_of_manifest(document.number, &document.value, &wanted.key, &wanted.change, wanted.live.as_ref()).ok()?;
    let is_set = !matches!(edit.change, Change::Insert { .. }) && value_at(&document.value, &edit.path).is_some();
    if !is_set && edit.change == Change::Remove {
        return None;
    }
    Some((edit, is_set))
}

/// The patches that set the value, the last one first, as it wins.
fn patches(tree: &Tree, level: &Level, wanted: &AcceptedChange) -> Vec<Candidate> {
    let mut found = Vec::new();
    for field in ["patches", "patchesJson6902", "patchesStrategicMerge"] {
        for (index, patch) in items(&level.value, field).enumerate() {
            let at = vec![Step::Key(field.to_owned()), Step::Index(index)];
            let inline = match patch {
                Value::String(text) if text.contains('\n') => Some((text.as_str(), at)),
                patch => patch
                    .get("patch")
                    .and_then(Value::as_str)
                    .map(|text| (text, [at, vec![Step::Key("patch".to_owned())]].concat())),
            };
            if let Some((text, at)) = inline {
                let places = in_patch(text.as_bytes(), patch, wanted);
                let candidate = |edit| Candidate::new(How::Patch, &level.file, Write::Within(at.clone(), edit));
                found.extend(places.into_iter().map(candidate));
                continue;
            }
            let name = patch.as_str().or_else(|| patch.get("path")?.as_str()).map(ToOwned::to_owned);
            for (file, bytes) in files(tree, level, name.into_iter()) {
                let places = in_patch(bytes, patch, wanted);
                found.extend(places.into_iter().map(|edit| Candidate::new(How::Patch, &file, Write::At(edit))));
            }
        }
    }
    found.reverse();
    found
}

fn in_patch(bytes: &[u8], entry: &Value, wanted: &AcceptedChange) -> Vec<Edit> {
    let target = entry.get("target").unwrap_or(&Value::Null);
    let is_target = target.get("kind").and_then(Value::as_str).is_none_or(|kind| kind == wanted.key.gvk.kind);
    let mut found = Vec::new();
    for document in read(bytes, Validation::Warn).documents {
        match &document.value {
            Value::Array(operations) if is_target => {
                found.extend(
                    operations.iter().enumerate().filter_map(|(index, one)| operation(&document, index, one, wanted)),
                );
            }
            patch => {
                let is_named = !target.is_null() || is_source(patch, &wanted.key);
                let place = if is_named && is_target { in_manifest(&document, wanted) } else { None };
                found.extend(place.filter(|(_, is_set)| *is_set).map(|(edit, _)| edit));
            }
        }
    }
    found
}

/// The value of an operation of a JSON patch (RFC 6902) that sets a field, or something around it. Positions in lists may differ from
/// those in the build.
fn operation(document: &Document, index: usize, operation: &Value, wanted: &AcceptedChange) -> Option<Edit> {
    let pointer = operation.get("path")?.as_str()?;
    let value = operation.get("value")?;
    let tokens: Vec<String> =
        pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect();
    let (above, below) = wanted.edit.path.split_at_checked(tokens.len())?;
    let is_step = |(step, token): (&Step, &String)| match step {
        Step::Key(key) => key == token,
        Step::Index(_) => token == "-" || token.parse::<usize>().is_ok(),
    };
    let is_here = above.iter().zip(&tokens).all(is_step) && (below.is_empty() || value_at(value, below).is_some());
    let here = [vec![Step::Index(index), Step::Key("value".to_owned())], below.to_vec()].concat();
    let change = match &wanted.edit.change {
        Change::Set(new) => Change::Set(new.clone()),
        Change::Remove if below.is_empty() => {
            return is_here.then(|| Edit {
                document: document.number,
                path: vec![Step::Index(index)],
                change: Change::Remove,
            });
        }
        other => other.clone(),
    };
    is_here.then_some(Edit { document: document.number, path: here, change })
}
