//! `pull`: the objects that were compared, the edits that are proposed for them, and the files that are written.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use manifest_edit::{Edit, edit};
use reconcile_core::compare::{FieldChange, ObjectVerdict};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::manifest::Origin;
use reconcile_core::pull::{Obstacle, Proposal, Proposer, Selection, adds_items};
use reconcile_report::pull::{EditedFile, Pulled, PulledChange, PulledObject};
use serde_json::Value;
use structured_merge::ObjectKey;

use crate::engine::event::{Event, EventSink};
use crate::session::manifest_file::ManifestFile;

/// Collects the objects that differ, in the order in which they are compared.
#[derive(Default)]
pub(crate) struct Collected {
    objects: RefCell<Objects>,
}

#[derive(Default)]
struct Objects {
    seen: Vec<Seen>,
    places: HashMap<ObjectKey, usize>,
}

/// An object that was compared.
struct Seen {
    key: ObjectKey,
    origin: Origin,
    changes: Vec<FieldChange>,
    /// The live object, if an item of one of its lists is new.
    live: Option<Value>,
    /// An error, or the message that it does not exist.
    error: Option<Diagnostic>,
    is_missing: bool,
}

impl EventSink for Collected {
    fn receive(&self, event: Event<'_>) {
        let Event::Compared(target, decision) = event else { return };
        let (mut changes, mut error, mut is_missing) = (Vec::new(), None, false);
        match &decision.verdict {
            ObjectVerdict::InSync(fields) | ObjectVerdict::Update(fields) | ObjectVerdict::Replace { fields, .. } => {
                changes.clone_from(&fields.changes);
            }
            ObjectVerdict::Create { .. } => is_missing = true,
            ObjectVerdict::Unknown(diagnostic) => error = Some(diagnostic.clone()),
            ObjectVerdict::Delete { .. } | ObjectVerdict::Kept { .. } => {}
        }
        let objects = &mut *self.objects.borrow_mut();
        let live = decision.live().filter(|_| adds_items(&changes)).cloned();
        let (key, origin) = (target.key.clone(), target.desired.origin.clone());
        let seen = Seen { key, origin, changes, live, error, is_missing };
        let place = *objects.places.entry(target.key.clone()).or_insert(objects.seen.len());
        match objects.seen.get_mut(place) {
            Some(former) => *former = seen,
            None => objects.seen.push(seen),
        }
    }
}

/// The chosen changes, with their edits.
pub(crate) struct Pulling {
    changes: Vec<(Origin, Proposal)>,
    secrets: usize,
    errors: Vec<Diagnostic>,
    is_incomplete: bool,
    /// Messages about objects that do not exist.
    pub remarks: Vec<String>,
}

impl Pulling {
    /// Proposes edits for the changes that a selection chooses.
    pub fn of(collected: Collected, selection: &Selection) -> Self {
        let (changes, errors, remarks) = Default::default();
        let mut pulling = Self { changes, secrets: 0, errors, is_incomplete: false, remarks };
        let mut proposer = Proposer::new(selection);
        for Seen { key, origin, changes, live, error, is_missing } in collected.objects.into_inner().seen {
            if is_missing {
                let source = &origin.source;
                pulling.remarks.push(format!("{key} does not exist in the cluster: its manifest stays  {source}"));
            }
            if let Some(error) = error {
                pulling.is_incomplete = true;
                let message = format!("{key} cannot be compared: {}", error.message);
                let located = Diagnostic::of_source(&origin.source, message);
                pulling.errors.push(Diagnostic { hint: error.hint, ..located });
            }
            for proposal in proposer.proposals(&key, &origin, &changes, live.as_ref()) {
                if proposal.edit == Err(Obstacle::Secret) && !selection.names_some() {
                    pulling.secrets += 1;
                } else {
                    pulling.changes.push((origin.clone(), proposal));
                }
            }
        }
        // Questions and edits go through the files one after the other.
        pulling.changes.sort_by(|(a, _), (b, _)| a.source.file.cmp(&b.source.file));
        pulling
    }

    /// The proposals with their files.
    pub fn proposals(&mut self) -> impl Iterator<Item = (&str, &mut Proposal)> {
        self.changes.iter_mut().map(|(origin, proposal)| (&*origin.source.file, proposal))
    }

    /// Edits the files, and writes them unless it is a dry run.
    pub fn write(mut self, dry_run: bool) -> Pulled {
        let mut files = Vec::new();
        for changes in self.changes.chunk_by_mut(|(a, _), (b, _)| a.source.file == b.source.file) {
            files.extend(edited(changes, dry_run));
        }
        let Self { changes, secrets, errors, is_incomplete, .. } = self;
        Pulled { files, objects: objects(changes), secrets, errors, is_incomplete }
    }
}

/// Edits one file. Changes that cannot be made get their obstacle.
fn edited(changes: &mut [(Origin, Proposal)], dry_run: bool) -> Option<EditedFile> {
    let (origin, _) = changes.first()?;
    let (name, text) = (Arc::clone(&origin.source.file), origin.text().clone());
    let (indices, edits): (Vec<usize>, Vec<Edit>) = (0..)
        .zip(changes.iter())
        .filter_map(|(index, (_, proposal))| Some((index, proposal.edit.clone().ok()?)))
        .unzip();
    let file = ManifestFile::open(text.file()?);
    let result = edit(text.bytes(), &edits);
    let mut refuse = |index: usize, obstacle: Obstacle| {
        if let Some((_, proposal)) = indices.get(index).and_then(|index| changes.get_mut(*index)) {
            proposal.edit = Err(obstacle);
        }
    };
    for refused in &result.refused {
        refuse(refused.edit, Obstacle::Text(refused.refusal));
    }
    if result.text == text.bytes() {
        return None;
    }
    let written = match file {
        Ok(_) if dry_run => Ok(()),
        Ok(file) => file.replace(text.bytes(), &result.text),
        Err(reason) => Err(reason),
    };
    if let Err(reason) = written {
        (0..edits.len()).for_each(|index| refuse(index, Obstacle::File(reason.clone())));
        return None;
    }
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (before, after) = (shown(text.bytes()), shown(&result.text));
    Some(EditedFile { file: name.to_string(), written: !dry_run, before, after })
}

/// The changes by object.
fn objects(changes: Vec<(Origin, Proposal)>) -> Vec<PulledObject> {
    let mut objects: Vec<PulledObject> = Vec::new();
    for (origin, Proposal { key, change, edit }) in changes {
        let reason = edit.err().map(|obstacle| obstacle.to_string());
        let change = PulledChange { change, accepted: reason.is_none(), reason };
        match objects.last_mut().filter(|object| object.key == key) {
            Some(object) => object.changes.push(change),
            None => objects.push(PulledObject { key, source: origin.source, changes: vec![change] }),
        }
    }
    objects
}
