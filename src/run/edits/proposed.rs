//! A change that may be written into its manifest.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use manifest_edit::{Edit, Refusal, edit};
use reconcile_core::compare::{Class, FieldChange, holds_redacted};
use reconcile_core::manifest::Origin;
use reconcile_core::pull::{Obstacle, Proposal, is_obeyed};
use reconcile_report::pull::{EditedFile, FileContent, question};
use reconcile_report::{Styled, View};
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey};

use crate::run::edits::manifest_file::ManifestFile;
use crate::run::edits::placed::Placed;

/// The most edits of a file that are tried alone, after they could not be made together with the others.
const TRIED_ALONE: usize = 16;

/// A change that may be written into its manifest.
#[derive(Clone)]
pub(crate) struct Proposed {
    pub origin: Origin,
    pub proposal: Proposal,
    /// The live object, if an item of one of its lists is new.
    pub live: Option<Value>,
    /// The place in the kustomization that built the manifest.
    pub place: Option<Placed>,
}

impl Proposed {
    /// The file of the manifest as messages name it.
    pub fn file(&self) -> &Arc<str> {
        &self.origin.source.file
    }

    /// The file that is edited, as messages name it.
    pub fn edited_file(&self) -> &str {
        self.place.as_ref().map_or(self.file(), |place| &place.file)
    }

    /// Makes the edit without the others. Returns false if it cannot be made, and keeps the reason.
    pub fn try_alone(&mut self) -> bool {
        if self.place.is_some() {
            return true;
        }
        let refusal = self.proposal.edit.as_ref().ok().and_then(|edit| self.refusal_alone(edit));
        if let Some(refusal) = refusal {
            self.proposal.edit = Err(Obstacle::Text(refusal));
        }
        self.proposal.edit.is_ok()
    }

    fn refusal_alone(&self, one: &Edit) -> Option<Refusal> {
        let edited = edit(self.origin.text().bytes(), std::slice::from_ref(one));
        edited.refused.first().map(|refused| refused.refusal)
    }

    /// The question about it, with the lines of the file that change.
    pub fn question(&self, view: &View) -> Styled {
        let change = || self.proposal.change.clone().into();
        if let Some(place) = &self.place {
            return question(&self.proposal.key, &change(), &place.shown, view);
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let before = self.origin.text().bytes();
        let after = match &self.proposal.edit {
            Ok(one) => edit(before, std::slice::from_ref(one)).text,
            Err(_) => before.to_vec(),
        };
        let file = EditedFile {
            file: self.file().to_string(),
            written: false,
            before: text(before),
            after: text(&after),
            content: FileContent::Manifests,
        };
        question(&self.proposal.key, &change(), &file, view)
    }

    /// Leaves it out.
    pub fn decline(&mut self) {
        self.proposal.edit = Err(Obstacle::Declined);
    }
}

/// The reasons why changes cannot be written into their manifests, found for all of them at once.
#[derive(Default)]
pub(crate) struct Refusals(BTreeMap<(ObjectKey, FieldPath, Class), Option<String>>);

impl Refusals {
    /// The reason for a change; `None` if it can be written.
    pub fn of(&self, key: &ObjectKey, change: &FieldChange) -> Option<String> {
        if [&change.live, &change.desired].into_iter().flatten().any(holds_redacted) {
            return Some(Obstacle::Secret.to_string());
        }
        if is_obeyed(change) {
            return Some("later runs obey it, so that only `pull --field` with its exact name takes it".to_owned());
        }
        let unknown = || Some("a manifest cannot take it".to_owned());
        self.0.get(&(key.clone(), change.path.clone(), change.class)).cloned().unwrap_or_else(unknown)
    }

    /// Adds the reasons for the changes of one file.
    pub fn add_file(&mut self, changes: &[Proposed]) {
        let Some(text) = changes.first().map(|first| first.origin.text()) else { return };
        let of_file = text.file().and_then(|file| ManifestFile::open(file).err());
        let edits: Vec<(usize, Edit)> = (0..)
            .zip(changes)
            .filter_map(|(index, proposed)| Some((index, proposed.proposal.edit.clone().ok()?)))
            .collect();
        let result = edit(text.bytes(), &edits.iter().map(|(_, edit)| edit.clone()).collect::<Vec<_>>());
        let mut refused: HashMap<usize, Refusal> = HashMap::new();
        for (number, one) in result.refused.iter().enumerate() {
            let Some((index, edit)) = edits.get(one.edit) else { continue };
            // Others may have been in the way.
            let alone = changes.get(*index).filter(|_| number < TRIED_ALONE);
            refused.extend(alone.map_or(Some(one.refusal), |one| one.refusal_alone(edit)).map(|why| (*index, why)));
        }
        for (index, Proposed { proposal, .. }) in changes.iter().enumerate() {
            let refusal = match &proposal.edit {
                Err(obstacle) => Some(obstacle.to_string()),
                Ok(_) => refused.get(&index).map(ToString::to_string).or_else(|| of_file.clone()),
            };
            self.add(proposal, refusal);
        }
    }

    /// Adds the reasons for changes whose places were searched for before.
    pub fn add_placed(&mut self, changes: &[Proposed]) {
        for Proposed { proposal, .. } in changes {
            self.add(proposal, proposal.edit.as_ref().err().map(ToString::to_string));
        }
    }

    fn add(&mut self, Proposal { key, change, .. }: &Proposal, refusal: Option<String>) {
        self.0.insert((key.clone(), change.path.clone(), change.class), refusal);
    }
}
