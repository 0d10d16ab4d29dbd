//! The places that may set a value of a built object.

use kube_yaml::{Document, Validation, read};
use manifest_edit::{Change, Edit, Step};
use serde_json::Value;

use super::candidate::{AcceptedChange, Allowed, Candidate, How, Placed, Write, items};
use super::entries;
use super::names::{Resource, path_of_patch};
use super::new_patch::new_patches;
use super::subject::{PATCHES, Subject, inline};
use super::tree::Level;
use crate::manifest::template_of;
use crate::pull::emptied::gone_around;
use crate::pull::place::value_at;
use crate::pull::proposal::edit_of_manifest;

/// The places for a change.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Those that may be written, the nearest to the overlay first.
    pub allowed: Vec<Candidate>,
    /// The first place in the overlay that may set the value.
    pub own: Option<Candidate>,
    /// The first file outside of the overlay that sets the value.
    pub outside: Option<String>,
    /// The first file outside of the overlay that has the object without the value.
    pub without: Option<String>,
    /// The file and the template of a resource that Helm rendered.
    pub rendered: Option<(String, String)>,
    /// False if nothing in the tree is what the object is built from.
    pub is_known: bool,
}

impl Subject<'_> {
    /// All places for the change.
    pub fn places(&self, allowed: Allowed) -> Places {
        let mut places = Places { is_known: self.names.is_known(), ..Places::default() };
        let mut set = Vec::new();
        let mut added = Vec::new();
        for level in self.tree.levels.iter().filter(|level| self.names.may_pass(level)) {
            set.extend(entries::of(self.tree, level, self.wanted, &self.names));
            set.extend(self.patches(level));
            for Resource { file, document, above, value, .. } in self.documents.resources(level) {
                if !self.names.is_source(level, value) {
                    continue;
                }
                let Some((edit, is_set)) = self.in_manifest(document.number, above, value) else { continue };
                if let Some(template) = document.comment.as_deref().and_then(template_of) {
                    places.rendered.get_or_insert((file.to_owned(), template.to_string()));
                    continue;
                }
                let candidate = Candidate::new(How::Resource, file, Write::At(edit));
                if is_set { set.push(candidate) } else { added.push(candidate) }
            }
        }
        let is_own = |candidate: &Candidate| self.tree.is_own(&candidate.file);
        let (own_set, base_set): (Vec<_>, Vec<_>) = set.into_iter().partition(is_own);
        let (own_added, base_added): (Vec<_>, Vec<_>) = added.into_iter().partition(is_own);
        let file = |candidates: &[Candidate]| candidates.first().map(|candidate| candidate.file.clone());
        places.own = own_set.first().cloned();
        places.outside = file(&base_set);
        places.without = file(&base_added);
        places.allowed = own_set;
        places.allowed.extend(self.tree.levels.first().and_then(|overlay| entries::new(overlay, self.wanted)));
        places.allowed.extend(own_added);
        if allowed.new_patches {
            places.allowed.extend(new_patches(self));
        }
        if allowed.bases {
            places.allowed.extend(base_set.into_iter().chain(base_added));
        }
        places
    }

    /// The edit of a manifest or of a strategic patch, and true if the document sets the value now. `None` if it has another value, which
    /// something else overrides.
    fn in_manifest(&self, document: usize, above: Vec<Step>, value: &Value) -> Option<(Placed, bool)> {
        let AcceptedChange { key, change, live, .. } = self.wanted;
        let depth = above.len();
        let edit = edit_of_manifest(document, above, value, key, change, live.as_deref()).ok()?;
        let written = value_at(value, edit.path.get(depth..)?);
        let is_set = !matches!(edit.change, Change::Insert { .. }) && written.is_some();
        if !is_set && edit.change == Change::Remove {
            return None;
        }
        let built = value_at(self.built, &self.wanted.edit.path);
        let is_scalar = |value: &Value| !value.is_object() && !value.is_array();
        if is_set && written.is_some_and(is_scalar) && written != built {
            return None;
        }
        Some((self.placed(edit), is_set))
    }

    /// An edit of a document with the fields of the object.
    fn placed(&self, edit: Edit) -> Placed {
        let AcceptedChange { key, change, live, .. } = self.wanted;
        Placed { edit, around: gone_around(key, change, live.as_deref()) }
    }

    /// The patches of a level that set the value, the last one first, as it wins.
    fn patches(&self, level: &Level) -> Vec<Candidate> {
        let mut found = Vec::new();
        for field in PATCHES {
            for (index, patch) in items(&level.value, field).enumerate() {
                if let Some((text, at)) = inline(field, index, patch) {
                    let documents = read(text.as_bytes(), Validation::Warn).documents;
                    let places = self.in_patch(level, &documents, patch);
                    let candidate = |edit| Candidate::new(How::Patch, &level.file, Write::Within(at.clone(), edit));
                    found.extend(places.into_iter().map(candidate));
                } else if let Some((file, documents)) =
                    path_of_patch(patch).and_then(|name| self.documents.named(level, name))
                {
                    let places = self.in_patch(level, documents, patch);
                    found.extend(places.into_iter().map(|edit| Candidate::new(How::Patch, file, Write::At(edit))));
                }
            }
        }
        found.reverse();
        found
    }

    fn in_patch(&self, level: &Level, documents: &[Document], entry: &Value) -> Vec<Placed> {
        let mut found = Vec::new();
        if !self.is_target(level, entry) {
            return found;
        }
        for document in documents {
            match &document.value {
                Value::Array(operations) => {
                    let operations = operations.iter().enumerate();
                    let mut edits: Vec<(bool, Placed)> =
                        operations.filter_map(|(index, one)| self.operation(document, index, one)).collect();
                    // The last one wins, and this list will be reversed; those at the same position are tried first.
                    edits.sort_by_key(|(is_same_position, _)| *is_same_position);
                    found.extend(edits.into_iter().map(|(_, edit)| edit));
                }
                patch => {
                    let is_named = entry.get("target").is_some() || self.names.is_patch(level, patch);
                    let place = if is_named { self.in_manifest(document.number, Vec::new(), patch) } else { None };
                    found.extend(place.filter(|(_, is_set)| *is_set).map(|(edit, _)| edit));
                }
            }
        }
        found
    }

    /// The value of an operation of a JSON patch (RFC 6902) that sets a field, or something around it, and true if the positions in
    /// lists are those in the build: others may differ by what later patches do.
    fn operation(&self, document: &Document, index: usize, operation: &Value) -> Option<(bool, Placed)> {
        let wanted = self.wanted;
        let kind = operation.get("op")?.as_str()?;
        let pointer = operation.get("path")?.as_str()?;
        let value = operation.get("value").filter(|_| ["add", "replace"].contains(&kind))?;
        let tokens: Vec<String> =
            pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~")).collect();
        let (above, below) = wanted.edit.path.split_at_checked(tokens.len())?;
        let is_step = |(step, token): (&Step, &String)| match step {
            Step::Key(key) => key == token,
            Step::Index(_) => token == "-" || token.parse::<usize>().is_ok(),
        };
        let is_position = |(step, token): (&Step, &String)| match step {
            Step::Key(_) => true,
            Step::Index(index) => token.parse::<usize>().is_ok_and(|token| token == *index),
        };
        if !above.iter().zip(&tokens).all(is_step) {
            return None;
        }
        let is_same_position = above.iter().zip(&tokens).all(is_position);
        let written = value_at(value, below)?;
        if !written.is_object() && !written.is_array() && Some(written) != value_at(self.built, &wanted.edit.path) {
            return None;
        }
        let here = [vec![Step::Index(index), Step::Key("value".to_owned())], below.to_vec()].concat();
        let edit = match &wanted.edit.change {
            Change::Remove if below.is_empty() => {
                Edit { document: document.number, path: vec![Step::Index(index)], change: Change::Remove }
            }
            // The operation may have other items.
            Change::Reorder(_) if Some(written) != value_at(self.built, &wanted.edit.path) => return None,
            change => Edit { document: document.number, path: here, change: change.clone() },
        };
        let Placed { edit, around } = self.placed(edit);
        Some((is_same_position, Placed { edit, around: around.min(below.len()) }))
    }
}
