//! A change that may be written into its manifest.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use manifest_edit::{Refusal, Step, edit};
use reconcile_core::compare::{Class, FieldChange, holds_redacted};
use reconcile_core::manifest::{Origin, SourceText};
use reconcile_core::pull::kustomize::{Candidate, How};
use reconcile_core::pull::{Accepted, Obstacle, Proposal, is_meant, is_obeyed, made_together};
use reconcile_report::pull::{EditedFile, FileContent, question};
use reconcile_report::{Styled, View};
use serde_json::Value;
use structured_merge::{FieldPath, ObjectKey};

use crate::run::edits::manifest_file::ManifestFile;

/// The most edits of a file that are tried alone, after they could not be made together with the others.
const TRIED_ALONE: usize = 16;

/// A change that may be written into its manifest.
#[derive(Clone)]
pub(crate) struct Proposed {
    pub origin: Arc<Origin>,
    pub proposal: Proposal,
    /// The live object, if an item of one of its lists is new or a value of it is gone.
    pub live: Option<Arc<Value>>,
    /// The place in the kustomization that built the manifest.
    pub place: Option<Placed>,
}

/// The place in a kustomization that sets the value of a change.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    /// The file as messages name it.
    pub file: String,
    /// The word of `changes[].how`.
    pub how: &'static str,
    pub candidate: Candidate,
    /// The file with this change alone.
    pub shown: EditedFile,
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

    /// The change as it was accepted; `None` if there is no edit for it.
    fn accepted(&self) -> Option<Accepted<'_>> {
        let Proposal { key, change, edit, .. } = &self.proposal;
        let items = self.origin.source.items.iter();
        let above = items.flat_map(|item| [Step::Key("items".into()), Step::Index(*item)]).collect();
        Some(Accepted { object: (key, above), change, edit: edit.as_ref().ok()?, live: self.live.as_deref() })
    }

    /// Makes the edit without the others. Returns false if it cannot be made, and keeps the reason.
    pub fn try_alone(&mut self) -> bool {
        if self.place.is_some() {
            return true;
        }
        if let Some(refusal) = self.refusal_alone() {
            self.proposal.edit = Err(Obstacle::Text(refusal));
        }
        self.proposal.edit.is_ok()
    }

    fn refusal_alone(&self) -> Option<Refusal> {
        Trial::of(std::slice::from_ref(self))?.refused.first().map(|(_, refusal)| *refusal)
    }

    /// Gives a change that could be made the reason why it is not.
    pub fn refuse(&mut self, reason: &str) {
        if self.proposal.edit.is_ok() {
            self.proposal.edit = Err(Obstacle::File(reason.to_owned()));
        }
    }

    /// The question about it, with the lines of the file that change.
    pub fn question(&self, view: &View) -> Styled {
        let Proposal { key, change, .. } = &self.proposal;
        if let Some(place) = &self.place {
            return question(key, change, &place.shown, view);
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let before = self.origin.text.bytes();
        let after = Trial::of(std::slice::from_ref(self)).map_or_else(|| before.to_vec(), |trial| trial.after);
        let file = EditedFile {
            file: self.file().to_string(),
            written: false,
            before: text(before),
            after: text(&after),
            content: FileContent::Manifests,
        };
        question(key, change, &file, view)
    }

    /// Leaves it out for this reason.
    pub fn leave_out(&mut self, reason: Obstacle) {
        self.proposal.edit = Err(reason);
    }
}

/// The text of one file with all changes that can be made together.
pub(crate) struct Trial {
    /// The text before.
    pub text: SourceText,
    /// The text with the changes.
    pub after: Vec<u8>,
    /// The positions of the changes that cannot be made, with the reasons.
    pub refused: Vec<(usize, Refusal)>,
}

impl Trial {
    /// Makes the changes of one file; `None` if there are none.
    pub fn of(changes: &[Proposed]) -> Option<Self> {
        let text = changes.first()?.origin.text.clone();
        let accepted = (0..).zip(changes).filter_map(|(at, one)| Some((at, one.accepted()?)));
        let (positions, accepted): (Vec<usize>, Vec<Accepted<'_>>) = accepted.unzip();
        let result = edit(text.bytes(), &made_together(text.bytes(), &accepted));
        let refused = result.refused.iter().filter_map(|one| Some((*positions.get(one.edit)?, one.refusal)));
        let refused: Vec<(usize, Refusal)> = refused.collect();
        let left: BTreeSet<usize> = refused.iter().map(|(position, _)| *position).collect();
        let is_made = |position: &&usize| !left.contains(position);
        let made = positions.iter().filter(is_made).filter_map(|position| changes.get(*position)?.accepted());
        if !is_meant(text.bytes(), &result.text, &made.collect::<Vec<_>>()) {
            let all = positions.into_iter().map(|position| (position, Refusal::Meaning)).collect();
            return Some(Self { after: text.bytes().to_vec(), refused: all, text });
        }
        Some(Self { after: result.text, refused, text })
    }
}

/// The reasons why changes cannot be written into their manifests, found for all of them at once.
#[derive(Default)]
pub(crate) struct Refusals(BTreeMap<(ObjectKey, FieldPath, Class), Option<String>>);

impl Refusals {
    /// The reason for a change; `None` if it can be written.
    pub fn of(&self, key: &ObjectKey, change: &FieldChange) -> Option<String> {
        if change.values().any(holds_redacted) {
            return Some(Obstacle::Secret.to_string());
        }
        if is_obeyed(change) {
            return Some("it controls what later runs do: pull it with `pull --field` and its exact name".to_owned());
        }
        let unknown = || Some("a manifest cannot take it".to_owned());
        self.0.get(&(key.clone(), change.path.clone(), change.class)).cloned().unwrap_or_else(unknown)
    }

    /// Adds the reasons for the changes of one file.
    pub fn add_file(&mut self, changes: &[Proposed]) {
        let Some(trial) = Trial::of(changes) else { return };
        let of_file = trial.text.file().and_then(|file| ManifestFile::open(file).err());
        let mut refused: HashMap<usize, Refusal> = HashMap::new();
        for (number, (index, refusal)) in trial.refused.into_iter().enumerate() {
            // Others may have been in the way.
            let alone = changes.get(index).filter(|_| number < TRIED_ALONE);
            refused.extend(alone.map_or(Some(refusal), Proposed::refusal_alone).map(|why| (index, why)));
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

    /// Refuses each half of a switch whose other one cannot be written. `pairs` are the halves, each with one that it goes together with.
    pub fn add_halves<'c>(&mut self, pairs: impl Iterator<Item = (&'c ObjectKey, &'c FieldPath, &'c FieldPath)>) {
        let cannot = |key: &ObjectKey, path: &FieldPath| {
            let mut of_path = self.0.iter().filter(|((own, other, _), _)| own == key && other == path);
            of_path.find_map(|(_, refusal)| refusal.clone())
        };
        let refused = pairs.filter_map(|(key, path, other)| {
            let reason = cannot(key, other)?;
            Some((key, path, format!("it goes together with {other}, which cannot be pulled: {reason}")))
        });
        let refused: Vec<(&ObjectKey, &FieldPath, String)> = refused.collect();
        for (key, path, reason) in refused {
            let halves = self.0.iter_mut().filter(|((own, other, _), _)| own == key && other == path);
            for (_, refusal) in halves {
                refusal.get_or_insert_with(|| reason.clone());
            }
        }
    }

    fn add(&mut self, Proposal { key, change, .. }: &Proposal, refusal: Option<String>) {
        self.0.insert((key.clone(), change.path.clone(), change.class), refusal);
    }
}

/// The word of `changes[].how`.
pub(crate) fn name_of(how: How) -> &'static str {
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
        How::NewPatch => "newPatch",
    }
}
