//! Changes that go together: the two halves of a switch, as `valueFrom` in place of `value`. Neither is written into a manifest without the
//! other one.

use std::collections::BTreeMap;

use reconcile_core::compare::FieldChange;
use reconcile_core::pull::{Obstacle, Proposal};
use structured_merge::{FieldPath, ObjectKey};

use crate::run::edits::proposed::Proposed;

/// The halves of switches, each with the others.
#[derive(Default)]
pub(crate) struct Switches(BTreeMap<(ObjectKey, FieldPath), Vec<FieldPath>>);

impl Switches {
    /// The switches among these changes.
    pub fn of(changes: &[Proposed]) -> Self {
        let mut switches = Self::default();
        for Proposed { proposal: Proposal { key, change, needs, .. }, .. } in changes {
            for needed in needs {
                let mut add = |one: &FieldPath, other: &FieldPath| {
                    let others = switches.0.entry((key.clone(), one.clone())).or_default();
                    if !others.contains(other) {
                        others.push(other.clone());
                    }
                };
                add(&change.path, needed);
                add(needed, &change.path);
            }
        }
        switches
    }

    /// The changes of an object that go together with one of its changes.
    pub fn others(&self, key: &ObjectKey, change: &FieldChange) -> &[FieldPath] {
        if self.0.is_empty() {
            return &[];
        }
        self.0.get(&(key.clone(), change.path.clone())).map_or(&[], Vec::as_slice)
    }

    /// The halves, each with one that it goes together with.
    pub fn pairs(&self) -> impl Iterator<Item = (&ObjectKey, &FieldPath, &FieldPath)> {
        self.0.iter().flat_map(|((key, path), others)| others.iter().map(move |other| (key, path, other)))
    }
}

/// Gives changes that are not made with all that they go with their obstacle. Returns false if there are none.
pub(crate) fn refuse_halves(changes: &mut [Proposed]) -> bool {
    let mut is_any = false;
    while let Some((position, obstacle)) = half(changes) {
        is_any = true;
        if let Some(one) = changes.get_mut(position) {
            one.proposal.edit = Err(obstacle);
        }
    }
    is_any
}

/// The first change that goes with one that is not made, and its obstacle. A removal that only goes with a change is left out with it.
fn half(changes: &[Proposed]) -> Option<(usize, Obstacle)> {
    changes.iter().enumerate().find_map(|(position, one)| {
        let Proposal { key, change, needs, edit } = &one.proposal;
        if edit.is_err() {
            return None;
        }
        let (path, left_out) = needs.iter().find_map(|path| {
            let is_it = |other: &&Proposed| other.proposal.key == *key && other.proposal.change.path == *path;
            let mut others = changes.iter().filter(is_it).peekable();
            let left_out =
                others.peek().and_then(|other| other.proposal.edit.as_ref().err()).filter(|one| one.is_choice());
            others.all(|other| other.proposal.edit.is_err()).then_some((path, left_out))
        })?;
        let is_removal = change.live.is_none();
        let left_out = left_out.filter(|_| is_removal).cloned();
        let obstacle = left_out.unwrap_or_else(|| Obstacle::Half(path.clone(), None));
        Some((position, obstacle))
    })
}
