//! `pull`: the objects that were compared, the edits that are proposed for them, and the files that are written.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use reconcile_core::compare::{Action, Class, FieldChange, Secrecy};
use reconcile_core::diagnostic::Diagnostic;
use reconcile_core::manifest::Origin;
use reconcile_core::pull::{Obstacle, Proposal, Proposer, Selection, Unmatched, needs_live};
use reconcile_report::pull::{
    EditedFile, FileContent, MissingObject, OtherOverlay, Pulled, PulledChange, PulledObject,
};
use reconcile_report::{ClassInfo, is_of_server};
use serde_json::Value;
use structured_merge::ObjectKey;

use crate::engine::event::{Event, EventSink};
use crate::engine::reconciliation::Reconciliation;
use crate::run::edits::draft::Draft;
use crate::run::edits::manifest_file::ManifestFile;
use crate::run::edits::on_server::try_on_server;
use crate::run::edits::overlay::{OverlayDrafts, OverlayPlan, OverlayTarget, refuse_some};
use crate::run::edits::proposed::{Proposed, Refusals, Trial};
use crate::run::edits::switches::{Switches, refuse_halves};

/// Collects the objects that differ, in the order in which they are compared.
#[derive(Default)]
pub(crate) struct Collected {
    objects: RefCell<Objects>,
    /// The patterns that match nothing, if there are patterns.
    unmatched: Option<RefCell<Unmatched>>,
}

impl Collected {
    /// Nothing yet, of what a selection may choose.
    pub fn chosen_by(selection: &Selection) -> Self {
        Self { unmatched: Some(Unmatched::of(selection).into()), ..Self::default() }
    }

    /// A warning for each pattern that matches nothing.
    pub fn warnings(&self) -> Vec<String> {
        let name_of = |class| ClassInfo::pulled().find(|row| row.class == class).map_or("", |row| row.id);
        self.unmatched.as_ref().map(|unmatched| unmatched.borrow().warnings(name_of)).unwrap_or_default()
    }

    /// The warnings of the server about the objects that a selection chooses. `of_changes` are those that it gave to changes and their dry
    /// runs.
    pub fn server_warnings(&self, selection: &Selection, of_changes: &BTreeSet<String>) -> Vec<(ObjectKey, String)> {
        let objects = self.objects.borrow();
        let chosen = objects.seen.iter().filter(|seen| selection.chooses_object(&seen.key));
        let of_object = |seen: &Seen| {
            let warnings = seen.warnings.iter().filter(|text| is_of_server(text, of_changes));
            warnings.map(|text| (seen.key.clone(), text.clone())).collect::<Vec<_>>()
        };
        chosen.flat_map(of_object).collect()
    }
}

#[derive(Default)]
struct Objects {
    seen: Vec<Seen>,
    places: HashMap<ObjectKey, usize>,
}

/// An object that was compared.
struct Seen {
    key: ObjectKey,
    origin: Arc<Origin>,
    changes: Vec<FieldChange>,
    /// The live object, if an item of one of its lists is new or a value of it is gone.
    live: Option<Arc<Value>>,
    /// An error, or the message that it does not exist.
    error: Option<Diagnostic>,
    /// The warnings of its comparison.
    warnings: Vec<String>,
    is_missing: bool,
}

impl EventSink for Collected {
    fn receive(&self, event: Event<'_>) {
        let Event::Compared(target, decision) = event else { return };
        let diff = &decision.diff;
        let is_missing = diff.action == Action::Create;
        // A change that follows from another one is pulled by itself, with the owner who made it.
        let alone = |change: &FieldChange| FieldChange { follows: Vec::new(), ..change.clone() };
        let changes = if is_missing { Vec::new() } else { diff.changes.iter().map(alone).collect() };
        let error = diff.notes.error.as_deref().cloned();
        if let Some(unmatched) = &self.unmatched {
            let mut unmatched = unmatched.borrow_mut();
            match error {
                Some(_) => unmatched.not_compared(&target.key),
                None => unmatched.compared(&target.key, target.desired.object(), &changes),
            }
        }
        let objects = &mut *self.objects.borrow_mut();
        let live = decision.live().filter(|_| needs_live(&changes)).cloned().map(Arc::new);
        let key = target.key.clone();
        let origin = target.desired.origin.clone();
        let warnings = decision.warnings.clone();
        let seen = Seen { key, origin, changes, live, error, warnings, is_missing };
        let place = *objects.places.entry(target.key.clone()).or_insert(objects.seen.len());
        match objects.seen.get_mut(place) {
            Some(former) => *former = seen,
            None => objects.seen.push(seen),
        }
    }
}

/// The chosen changes, with their edits.
pub(crate) struct Pulling {
    changes: Vec<Proposed>,
    secrets: usize,
    /// The objects that could not be compared.
    pub errors: Vec<Diagnostic>,
    is_incomplete: bool,
    /// Warnings about the run.
    pub warnings: Vec<String>,
    /// The objects that do not exist.
    pub missing: Vec<MissingObject>,
    /// The kustomization that built the manifests, if there are changes for it.
    planned: Option<OverlayPlan>,
    is_built: bool,
    /// The effect of edited bases on other overlays, once the files are edited.
    pub others: Vec<OtherOverlay>,
    /// The flag that chooses what the cluster no longer has as well.
    flag_for_absent: String,
}

/// A file to write, with the positions of the changes that need it.
type PositionedDraft = (Draft, Vec<usize>);

impl Pulling {
    /// Proposes edits for the changes that a selection chooses.
    pub fn of(collected: &Collected, selection: &Selection, kustomize: Option<OverlayTarget<'_>>) -> Self {
        let warnings = collected.warnings();
        let mut pulling = Self {
            changes: Vec::new(),
            secrets: 0,
            errors: Vec::new(),
            is_incomplete: false,
            warnings,
            missing: Vec::new(),
            planned: None,
            is_built: kustomize.is_some(),
            others: Vec::new(),
            flag_for_absent: selection.flag_with(Class::Absent),
        };
        let mut proposer = match kustomize {
            Some(_) => Proposer::of_build(selection),
            None => Proposer::new(selection),
        };
        let chosen = collected.objects.take().seen.into_iter().filter(|seen| selection.chooses_object(&seen.key));
        for Seen { key, origin, changes, live, error, is_missing, .. } in chosen {
            if let Some(error) = error {
                pulling.is_incomplete = true;
                let message = format!("{key} cannot be compared: {}", error.message);
                let located = Diagnostic::of_source(&origin.source, message);
                pulling.errors.push(Diagnostic { hint: error.hint, ..located });
            }
            for proposal in proposer.proposals(&key, &origin, &changes, live.as_deref()) {
                if proposal.edit == Err(Obstacle::Secret) && !selection.names_some() {
                    pulling.secrets += 1;
                } else {
                    let origin = origin.clone();
                    let live = live.clone();
                    pulling.changes.push(Proposed { origin, proposal, live, place: None });
                }
            }
            if is_missing {
                pulling.missing.push(MissingObject { key, source: origin.source.clone() });
            }
        }
        // Questions and edits go through the files one after the other.
        pulling.changes.sort_by(|a, b| a.file().cmp(b.file()));
        pulling.planned = kustomize.and_then(|target| OverlayPlan::of(target, &mut pulling.changes));
        pulling
    }

    /// The changes that can be made, as far as is known.
    pub fn proposed(&mut self) -> impl Iterator<Item = &mut Proposed> {
        let mut proposed: Vec<&mut Proposed> =
            self.changes.iter_mut().filter(|proposed| proposed.proposal.edit.is_ok()).collect();
        proposed.sort_by(|a, b| a.edited_file().cmp(b.edited_file()));
        proposed.into_iter()
    }

    /// The reasons why changes cannot be written into their manifests, as far as each of them can be made alone.
    pub fn refusals(&self) -> Refusals {
        let mut refusals = Refusals::default();
        if self.is_built {
            refusals.add_placed(&self.changes);
        } else {
            for changes in self.changes.chunk_by(|a, b| a.file() == b.file()) {
                refusals.add_file(changes);
            }
        }
        refusals.add_halves(self.switches().pairs());
        refusals
    }

    /// The changes that go together.
    pub fn switches(&self) -> Switches {
        Switches::of(&self.changes)
    }

    /// The changes as they are proposed now.
    pub fn proposals(&self) -> Vec<Proposed> {
        self.changes.clone()
    }

    /// Proposes former changes again, some of which were left out or refused since.
    pub fn propose_again(&mut self, proposals: &[Proposed]) {
        self.changes = proposals.to_vec();
        self.others = Vec::new();
    }

    /// Leaves out all changes but these.
    pub fn keep(&mut self, is_kept: impl Fn(&ObjectKey, &FieldChange) -> bool) {
        let is_kept = |Proposed { proposal, .. }: &Proposed| is_kept(&proposal.key, &proposal.change);
        if self.planned.is_some() {
            // Their positions stay.
            self.changes.iter_mut().filter(|one| !is_kept(one)).for_each(|one| one.leave_out(Obstacle::Declined));
        } else {
            self.changes.retain(is_kept);
        }
    }

    /// Edits the files without writing them. Each has the objects whose changes are in it.
    pub fn drafts(&mut self) -> Vec<(Draft, Vec<ObjectKey>)> {
        let (drafts, others) = self.positioned(false);
        self.others = others;
        let key = |position: &usize| Some(self.changes.get(*position)?.proposal.key.clone());
        let with_keys = |(draft, positions): PositionedDraft| (draft, positions.iter().filter_map(key).collect());
        drafts.into_iter().map(with_keys).collect()
    }

    /// Edits the files, until no change is made without those that it goes with.
    fn positioned(&mut self, keeps_places: bool) -> (Vec<PositionedDraft>, Vec<OtherOverlay>) {
        loop {
            refuse_halves(&mut self.changes);
            let edited = self.edited(keeps_places);
            if !refuse_halves(&mut self.changes) {
                return edited;
            }
        }
    }

    /// Leaves out what makes the server refuse a manifest that it accepts now.
    pub async fn try_on_server(&mut self, pass: &Reconciliation<'_>) {
        refuse_halves(&mut self.changes);
        try_on_server(&mut self.changes, &self.flag_for_absent, pass).await;
    }

    fn edited(&mut self, keeps_places: bool) -> (Vec<PositionedDraft>, Vec<OtherOverlay>) {
        if let Some(planned) = &mut self.planned {
            let OverlayDrafts { drafts, others } = planned.drafts(&mut self.changes, keeps_places);
            return (drafts, others);
        }
        let mut drafts = Vec::new();
        let mut first = 0_usize;
        for changes in self.changes.chunk_by_mut(|a, b| a.file() == b.file()) {
            let positions = (first..first.saturating_add(changes.len())).collect();
            first = first.saturating_add(changes.len());
            drafts.extend(drafted(changes).map(|draft| (draft, positions)));
        }
        (drafts, Vec::new())
    }

    /// The changes that cannot be made, each with its object and the reason.
    pub fn obstacles(&self) -> impl Iterator<Item = (&ObjectKey, &FieldChange, &Obstacle)> {
        self.changes.iter().filter_map(|Proposed { proposal, .. }| {
            let obstacle = proposal.edit.as_ref().err().filter(|obstacle| !obstacle.is_choice())?;
            Some((&proposal.key, &proposal.change, obstacle))
        })
    }

    /// Edits the files, and writes them unless it is a dry run.
    pub fn write(mut self, dry_run: bool) -> Pulled {
        let (drafts, overlays) = self.positioned(true);
        let mut files = Vec::new();
        let mut created: Vec<PositionedDraft> = Vec::new();
        let mut failed: Vec<usize> = Vec::new();
        for (draft, positions) in drafts {
            let is_without = positions.iter().any(|position| failed.contains(position));
            let written = if dry_run {
                Ok(())
            } else if is_without {
                Err("another file that it needs cannot be written".to_owned())
            } else {
                draft.write()
            };
            match written {
                Ok(()) => {
                    files.push(draft.shown(!dry_run));
                    if draft.is_new() {
                        created.push((draft, positions));
                    }
                }
                Err(reason) => {
                    refuse_some(&mut self.changes, &positions, &reason);
                    if draft.is_new() {
                        failed.extend(positions);
                        continue;
                    }
                    // A new patch that no kustomization names is nothing.
                    for (new, _) in
                        created.extract_if(.., |(_, needed)| needed.iter().any(|one| positions.contains(one)))
                    {
                        new.take_back();
                        files.retain(|file: &EditedFile| file.file != new.name());
                    }
                }
            }
        }
        let Self { changes, secrets, errors, is_incomplete, warnings, missing, .. } = self;
        Pulled { files, objects: objects(changes), missing, secrets, errors, is_incomplete, warnings, overlays }
    }
}

/// The new text of one file; `None` if nothing of it changes. Changes that cannot be made get their obstacle.
fn drafted(changes: &mut [Proposed]) -> Option<Draft> {
    let Trial { text, after, refused } = Trial::of(changes)?;
    let name = Arc::clone(changes.first()?.file());
    let file = ManifestFile::open(text.file()?);
    for (position, refusal) in refused {
        if let Some(proposed) = changes.get_mut(position) {
            proposed.proposal.edit = Err(Obstacle::Text(refusal));
        }
    }
    if after == text.bytes() {
        return None;
    }
    match file {
        Ok(file) => Some(Draft::of_file(&name, file, text.bytes().to_vec(), after, FileContent::Manifests)),
        Err(reason) => {
            for change in changes {
                change.refuse(&reason);
            }
            None
        }
    }
}

/// The changes by object.
fn objects(changes: Vec<Proposed>) -> Vec<PulledObject> {
    let mut objects: Vec<PulledObject> = Vec::new();
    for Proposed { origin, proposal: Proposal { key, mut change, edit, .. }, live, place } in changes {
        let secrecy = Secrecy::of(&key.gvk, None, live.as_deref()).of_encrypted(origin.is_encrypted);
        change.path = secrecy.shown_path(&change.path);
        let edit = edit.map_err(|obstacle| match obstacle {
            Obstacle::Half(path, flag) => Obstacle::Half(secrecy.shown_path(&path), flag),
            Obstacle::Replaced(path, flag) => Obstacle::Replaced(secrecy.shown_path(&path), flag),
            other => other,
        });
        let is_declined = edit.as_ref().is_err_and(Obstacle::is_choice);
        let reason = edit.err().map(|obstacle| obstacle.to_string());
        let (file, how) = place.filter(|_| reason.is_none()).map(|placed| (placed.file, placed.how)).unzip();
        let accepted = reason.is_none();
        let change = PulledChange { change, accepted, reason, is_declined, file, how };
        match objects.last_mut().filter(|object| object.key == key) {
            Some(object) => object.changes.push(change),
            None => objects.push(PulledObject { key, source: origin.source.clone(), changes: vec![change] }),
        }
    }
    objects
}
