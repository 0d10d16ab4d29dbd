//! The search for the one candidate that breaks a build, by halves.

use std::collections::BTreeMap;

use super::{LAST_BUILDS, MOST_BUILDS, Search};
use crate::pull::kustomize::proof::Difference;
use crate::pull::kustomize::tried::Tried;

impl Search<'_> {
    /// Looks for the one candidate that breaks a build among those that were in it.
    pub fn narrow(&mut self, suspects: &[usize]) {
        let units = self.units(suspects);
        let is_trusted = |index: &usize| self.trusted.get(index) == self.tried.get(*index).map(|one| &one.at);
        let new: Vec<usize> = units.iter().filter(|unit| !unit.iter().any(is_trusted)).flatten().copied().collect();
        self.suspects = if new.is_empty() { units.concat() } else { new };
        self.halve();
    }

    /// Looks for it among those that were not in a build which was right.
    pub fn look_among_held(&mut self) {
        self.suspects.retain(|index| self.held.contains(index));
        if self.suspects.is_empty() {
            self.held.clear();
        } else {
            self.halve();
        }
    }

    /// Lets half of the suspects wait. The last one is followed by its next candidate.
    fn halve(&mut self) {
        let units = self.units(&self.suspects);
        if units.len() > 1 && !self.is_ending() {
            let (tried, waiting) = units.split_at(units.len().div_ceil(2));
            self.held.extend(waiting.iter().flatten());
            self.held.retain(|index| !tried.iter().flatten().any(|tried| tried == index));
            return;
        }
        let elsewhere = self.elsewhere.take();
        let suspects = units.concat();
        if units.len() > 1 {
            self.leave_open(&suspects);
        } else {
            for index in &suspects {
                self.blame(*index, elsewhere.as_ref());
            }
        }
        self.blamed.push(suspects.iter().filter_map(|index| Some((*index, self.tried.get(*index)?.at))).collect());
        self.advance(&suspects);
        self.suspects.clear();
        self.held.clear();
    }

    /// Keeps what the candidate of a change sets elsewhere. One that nothing in the overlay comes after is the reason whatever is tried after
    /// it.
    pub fn blame(&mut self, index: usize, elsewhere: Option<&Difference>) {
        let Some(one) = self.tried.get_mut(index) else { return };
        if one.also.as_ref().is_none_or(|also| !self.tree.is_last(&also.0)) {
            one.also = one.candidate().cloned().zip(elsewhere.cloned());
        }
    }

    /// Changes by their places: those of one place, as of a common label, are tried and left out together. Beside the changes, those that
    /// have one of their places as well.
    fn units(&self, which: &[usize]) -> Vec<Vec<usize>> {
        let mut units: Vec<Vec<usize>> = Vec::new();
        for index in which {
            let place = self.tried.get(*index).and_then(Tried::candidate);
            if place.is_none() || units.iter().any(|unit| unit.contains(index)) {
                continue;
            }
            let has_place = |(other, tried): (usize, &Tried<'_>)| (tried.candidate() == place).then_some(other);
            units.push(self.tried.iter().enumerate().filter_map(has_place).collect());
        }
        units
    }

    /// Goes back to places that were given up while the build was wrong for another one, which is known by now. Returns false if there
    /// are none.
    pub fn go_back(&mut self) -> bool {
        self.blamed.pop();
        let former: BTreeMap<usize, usize> = std::mem::take(&mut self.blamed).into_iter().rev().flatten().collect();
        for (index, at) in &former {
            if let Some(one) = self.tried.get_mut(*index) {
                one.at = *at;
            }
        }
        !former.is_empty()
    }

    pub fn is_ending(&self) -> bool {
        self.builds.saturating_add(LAST_BUILDS) > MOST_BUILDS
    }
}
