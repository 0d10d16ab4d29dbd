//! `pull -k`: the accepted values are written where the kustomization sets them, if a build proves it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reconcile_core::manifest::SourceText;
use reconcile_core::pull::kustomize::{AcceptedChange, Allowed, Candidate, Texts, alone, build_changes, search};
use reconcile_core::text::name_without_credentials;
use reconcile_report::pull::{EditedFile, FileContent, OtherOverlay};

use crate::desired::overlay::Overlay;
use crate::run::edits::draft::Draft;
use crate::run::edits::manifest_file::{ManifestFile, takes_new_files};
use crate::run::edits::proposed::{Placed, Proposed, name_of};
use crate::work_tree::root;

/// The most overlays that are built to see what an edit of a base changes in them.
const MOST_OTHERS: usize = 100;

/// The kustomization of `-k`, and the places in it that may be written.
#[derive(Clone, Copy)]
pub(crate) struct OverlayTarget<'a> {
    pub directory: &'a OsStr,
    pub allowed: Allowed,
}

/// A kustomization whose changes have places.
pub(crate) struct OverlayPlan {
    overlay: Overlay,
    former: SourceText,
    allowed: Allowed,
    /// The positions of the changes that the files are for.
    positions: Vec<usize>,
    files: Texts,
}

/// The edited files of a kustomization.
#[derive(Default)]
pub(crate) struct OverlayDrafts {
    /// Each file with the positions of the changes that need it. New files come first: others name them.
    pub drafts: Vec<(Draft, Vec<usize>)>,
    /// The other overlays that an edited base is a part of.
    pub others: Vec<OtherOverlay>,
}

impl OverlayPlan {
    /// Finds the places of all changes that can be made. The others get their obstacle. `None` if there is no change.
    pub fn of(target: OverlayTarget<'_>, changes: &mut [Proposed]) -> Option<Self> {
        let first = changes.iter().find(|change| change.proposal.edit.is_ok())?;
        let former = first.origin.read_text().clone();
        let known = first.origin.built.as_ref().map(|built| Arc::clone(&built.files)).unwrap_or_default();
        let overlay = match Overlay::of(target.directory, &known, former.bytes().len()) {
            Ok(overlay) => overlay,
            Err(reason) => {
                refuse(changes, &format!("the kustomization cannot be copied to try edits: {reason}"));
                return None;
            }
        };
        if let Some(remote) = overlay.tree().remotes.first() {
            let file = overlay.name(&remote.file);
            let name = name_without_credentials(&remote.name);
            refuse(
                changes,
                &format!(
                    "{file} names {name}, which would have to be fetched to try an edit: copy it into the repository"
                ),
            );
            return None;
        }
        let allowed = target.allowed;
        let mut planned = Self { overlay, former, allowed, positions: Vec::new(), files: Texts::new() };
        planned.search(changes);
        Some(planned)
    }

    /// Finds the files for all changes that are still accepted.
    fn search(&mut self, changes: &mut [Proposed]) {
        let Self { overlay, former, allowed, .. } = self;
        let mut positions = Vec::new();
        let mut wanted = Vec::new();
        for (position, Proposed { proposal, live, place, .. }) in changes.iter().enumerate() {
            if let Ok(edit) = &proposal.edit {
                positions.push(position);
                let key = proposal.key.clone();
                let change = proposal.change.clone();
                let place = place.as_ref().map(|placed| placed.candidate.clone());
                wanted.push(AcceptedChange { key, change, edit: edit.clone(), live: live.clone(), place });
            }
        }
        let found = search(
            overlay.tree(),
            former.bytes(),
            &wanted,
            *allowed,
            |file| overlay.name(file),
            |texts| overlay.build(texts),
        );
        let is_none_placed = found.places.iter().all(Result::is_err);
        if is_none_placed && overlay.is_late() {
            return refuse(changes, "a build to try edits of the kustomization did not end in time");
        }
        if is_none_placed && overlay.build(&Texts::new()).as_deref() != Some(former.bytes()) {
            let name = overlay.tree().levels.first().map_or_else(String::new, |level| overlay.name(&level.file));
            let reason = format!(
                "a private copy of {name} and of the files that it names builds something else, or nothing: run again if they were saved meanwhile"
            );
            return refuse(changes, &reason);
        }
        let mut is_whole = true;
        for (position, place) in positions.into_iter().zip(found.places) {
            let Some(change) = changes.get_mut(position) else { continue };
            let has_place = place.is_ok();
            match place.and_then(|candidate| self.placed(candidate)) {
                Ok(placed) => {
                    change.place = Some(placed);
                    self.positions.push(position);
                }
                Err(reason) => {
                    change.refuse(&reason);
                    is_whole &= !has_place;
                }
            }
        }
        self.files = found.files;
        if !is_whole {
            // The build was one with files that must not be written: it is proven again without them.
            self.positions.clear();
            self.files.clear();
            self.search(changes);
        }
    }

    fn placed(&self, candidate: Candidate) -> Result<Placed, String> {
        let tree = self.overlay.tree();
        for file in candidate.files() {
            if tree.files.contains_key(file) {
                ManifestFile::open(Path::new(file))?;
                self.is_in_repository(file)?;
            } else {
                self.is_in_overlay(file)?;
                takes_new_files(Path::new(file).parent())?;
            }
        }
        let file = self.overlay.name(&candidate.file);
        let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
        let texts = alone(tree, &candidate).unwrap_or_default();
        let shown = EditedFile {
            file: file.clone(),
            written: false,
            before: text(tree.files.get(&candidate.file).map(AsRef::as_ref)),
            after: text(texts.get(&candidate.file).map(Vec::as_slice)),
            content: self.content(&candidate.file),
        };
        Ok(Placed { file, how: name_of(candidate.how), candidate, shown })
    }

    /// The content of a file. A kustomization is one part of text; in other files, each document is shown or not.
    fn content(&self, file: &str) -> FileContent {
        let tree = self.overlay.tree();
        if tree.secret_files().contains(file) {
            FileContent::Secret
        } else if tree.levels.iter().any(|level| level.file == file) {
            FileContent::Kustomization
        } else {
            FileContent::Manifests
        }
    }

    /// Refuses a file of another repository than that of the overlay, which a link or `..` leads to.
    fn is_in_repository(&self, file: &str) -> Result<(), String> {
        let own = self.overlay.tree().levels.first().and_then(|level| root(Path::new(&level.folder)));
        match own {
            Some(own) if root(Path::new(file)) != Some(own) => {
                Err(format!("{} is not part of the repository {}", self.overlay.name(file), own.display()))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a new file that a link would lead out of the overlay.
    fn is_in_overlay(&self, file: &str) -> Result<(), String> {
        let own = self.overlay.tree().levels.first().map_or("", |level| level.folder.as_str());
        let folder = Path::new(file).parent().and_then(|folder| folder.canonicalize().ok());
        let is_in = folder.is_some_and(|folder| folder.starts_with(own));
        if is_in { Ok(()) } else { Err(format!("{} would not be in the overlay", self.overlay.name(file))) }
    }

    /// The files for the changes that are accepted by now. Those that cannot be made without the ones that were left out get another place.
    /// With `keeps_places`, as each place was shown, they get their obstacle instead.
    pub fn drafts(&mut self, changes: &mut [Proposed], keeps_places: bool) -> OverlayDrafts {
        let accepted = |changes: &[Proposed]| -> Vec<usize> {
            let is_accepted = |(position, change): (usize, &Proposed)| change.proposal.edit.is_ok().then_some(position);
            changes.iter().enumerate().filter_map(is_accepted).collect()
        };
        if accepted(changes) != self.positions {
            if !keeps_places {
                for change in changes.iter_mut() {
                    change.place = None;
                }
            }
            self.positions.clear();
            self.search(changes);
        }
        let mut drafts = OverlayDrafts::default();
        for (file, text) in &self.files {
            let needs = |(position, change): (usize, &Proposed)| {
                let place = change.place.as_ref().filter(|_| change.proposal.edit.is_ok())?;
                place.candidate.files().any(|one| one == file).then_some(position)
            };
            let positions: Vec<usize> = changes.iter().enumerate().filter_map(needs).collect();
            let name = self.overlay.name(file);
            let draft = match self.overlay.tree().files.get(file) {
                Some(before) if **before == **text => continue,
                Some(before) => ManifestFile::open(Path::new(file))
                    .map(|open| Draft::of_file(&name, open, before.to_vec(), text.clone(), self.content(file))),
                None => {
                    let new = || Draft::of_new_file(&name, PathBuf::from(file), text.clone(), self.content(file));
                    self.is_in_overlay(file).map(|()| new())
                }
            };
            match draft {
                Ok(draft) => drafts.drafts.push((draft, positions)),
                Err(reason) => refuse_some(changes, &positions, &reason),
            }
        }
        drafts.drafts.sort_by_key(|(draft, _)| !draft.is_new());
        drafts.others = self.others();
        drafts
    }

    /// The effect of the edited files outside of the overlay on others.
    fn others(&self) -> Vec<OtherOverlay> {
        let outside: Vec<&str> =
            self.files.keys().map(String::as_str).filter(|file| !self.overlay.tree().is_own(file)).collect();
        if outside.is_empty() {
            return Vec::new();
        }
        let (others, is_whole) = self.overlay.others(&outside);
        let mut found = Vec::new();
        for (number, other) in others.iter().enumerate() {
            let texts: Texts = self
                .files
                .iter()
                .filter(|(file, _)| other.tree().files.contains_key(*file))
                .map(|(file, text)| (file.clone(), text.clone()))
                .collect();
            let builds = || Some((other.build(&Texts::new())?, other.build(&texts)?));
            let built = (number < MOST_OTHERS).then(builds).flatten();
            let directory = other.folder();
            found.push(match built {
                Some((before, after)) => OtherOverlay::of(directory, build_changes(&before, &after)),
                None => OtherOverlay::unknown(directory, "it could not be built before and after the edit"),
            });
        }
        if !is_whole {
            let reason = "there are more than 20,000 directories, and not all of them were searched for other overlays";
            found.push(OtherOverlay::unknown(String::new(), reason));
        }
        found
    }
}

/// Gives all changes the reason why they are not made.
fn refuse(changes: &mut [Proposed], reason: &str) {
    for change in changes {
        change.refuse(reason);
    }
}

/// Gives the changes at these positions the reason why they are not made.
pub(crate) fn refuse_some(changes: &mut [Proposed], positions: &[usize], reason: &str) {
    for position in positions {
        if let Some(change) = changes.get_mut(*position) {
            change.refuse(reason);
        }
    }
}
