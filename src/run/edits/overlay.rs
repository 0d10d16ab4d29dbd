//! `pull -k`: the accepted values are written where the kustomization sets them, if a build proves it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use reconcile_core::pull::Obstacle;
use reconcile_core::pull::kustomize::{AcceptedChange, Candidate, How, search};

use crate::desired::overlay::Overlay;
use crate::run::edits::draft::Draft;
use crate::run::edits::manifest_file::ManifestFile;
use crate::run::edits::proposed::Proposed;

/// The place of a change that is written.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub file: String,
    pub how: &'static str,
}

/// The edited files of a kustomization.
pub(crate) struct Plan {
    pub drafts: Vec<Draft>,
    /// The places of the changes, by their positions.
    pub places: BTreeMap<usize, Placed>,
}

/// Finds the places of all changes that can be made. The others get their obstacle.
pub(crate) fn plan(directory: &OsStr, changes: &mut [Proposed]) -> Plan {
    let mut plan = Plan { drafts: Vec::new(), places: BTreeMap::new() };
    let Some(first) = changes.iter().find(|change| change.proposal.edit.is_ok()) else { return plan };
    let former = first.origin.text().clone();
    let overlay = match Overlay::of(directory) {
        Ok(overlay) => overlay,
        Err(reason) => {
            refuse(changes, &format!("the kustomization cannot be copied to try edits: {reason}"));
            return plan;
        }
    };
    if overlay.build(&BTreeMap::new()).as_deref() != Some(former.bytes()) {
        let name = overlay.tree().levels.first().map_or_else(String::new, |level| overlay.name(&level.file));
        refuse(
            changes,
            &format!("a private copy of {name} and of the files that it names builds something else, or nothing"),
        );
        return plan;
    }
    let mut positions = Vec::new();
    let mut wanted = Vec::new();
    for (position, Proposed { proposal, live, .. }) in changes.iter().enumerate() {
        if let Ok(edit) = &proposal.edit {
            positions.push(position);
            let key = proposal.key.clone();
            let change = proposal.change.clone();
            wanted.push(AcceptedChange { key, change, edit: edit.clone(), live: live.clone() });
        }
    }
    let found =
        search(overlay.tree(), former.bytes(), &wanted, |file| overlay.name(file), |texts| overlay.build(texts));
    let mut unwritable: BTreeMap<&String, String> = BTreeMap::new();
    for (file, text) in &found.files {
        let before = overlay.tree().files.get(file).map(|bytes| bytes.to_vec()).unwrap_or_default();
        match ManifestFile::open(Path::new(file)) {
            Ok(open) => plan.drafts.push(Draft::of_kustomization(&overlay.name(file), open, before, text.clone())),
            Err(reason) => drop(unwritable.insert(file, reason)),
        }
    }
    for (position, place) in positions.into_iter().zip(found.places) {
        let reason = match place {
            Ok(Candidate { file, how, .. }) => {
                let placed = Placed { file: overlay.name(&file), how: name_of(how) };
                let reason = unwritable.get(&file).cloned();
                if reason.is_none() {
                    plan.places.insert(position, placed);
                }
                reason
            }
            Err(reason) => Some(reason),
        };
        let Some(reason) = reason else { continue };
        if let Some(change) = changes.get_mut(position) {
            change.proposal.edit = Err(Obstacle::File(reason));
        }
    }
    plan
}

fn refuse(changes: &mut [Proposed], reason: &str) {
    for change in changes.iter_mut().filter(|change| change.proposal.edit.is_ok()) {
        change.proposal.edit = Err(Obstacle::File(reason.to_owned()));
    }
}

/// The word of `changes[].how`.
fn name_of(how: How) -> &'static str {
    match how {
        How::Images => "images",
        How::Replicas => "replicas",
        How::Labels => "labels",
        How::Annotations => "annotations",
        How::Literal => "literal",
        How::File => "file",
        How::Patch => "patch",
        How::Resource => "resource",
        How::NewEntry => "newEntry",
    }
}
