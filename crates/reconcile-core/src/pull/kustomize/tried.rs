//! One change while places for it are tried.

use manifest_edit::{Change, Refusal, Step};
use serde_json::Value;

use super::candidate::{AcceptedChange, Candidate};
use super::candidates::Places;
use super::proof::Difference;

/// One change while places are tried.
pub(super) struct Tried<'w> {
    pub wanted: &'w AcceptedChange,
    /// The object in builds.
    pub object: Option<String>,
    pub places: Places,
    /// The candidate that is tried.
    pub at: usize,
    /// The last candidate that changed something else as well, and the first of its other changes.
    pub also: Option<(Candidate, Difference)>,
    /// The first candidate that the text of its file leaves no room for, and what is in the way.
    pub refused: Option<(Candidate, Refusal)>,
    /// True if the search ended before it was known what is wrong with its candidate.
    pub is_open: bool,
}

impl Tried<'_> {
    pub fn candidate(&self) -> Option<&Candidate> {
        self.places.allowed.get(self.at)
    }

    /// Returns true if a difference is where the value should be.
    pub fn is_at(&self, difference: &Difference) -> bool {
        let path = &self.wanted.edit.path;
        self.object.as_ref() == Some(&difference.object)
            && (path.starts_with(&difference.path)
                || difference.path.starts_with(path)
                || is_in_list(path, &difference.path))
    }

    /// Returns true if a difference is its value, as it was accepted.
    pub fn is_wanted(&self, difference: &Difference) -> bool {
        let is_value = match (&self.wanted.edit.change, &difference.found) {
            (Change::Set(new), Some(found)) => new == found,
            (Change::Remove, None) => true,
            _ => false,
        };
        is_value && self.object.as_ref() == Some(&difference.object) && self.wanted.edit.path == difference.path
    }

    /// Returns true if a difference elsewhere has the wanted value.
    pub fn has_caused(&self, difference: &Difference) -> bool {
        match (&self.wanted.edit.change, &difference.found) {
            (Change::Set(Value::String(new)), Some(Value::String(found))) => found.contains(new.as_str()),
            (Change::Set(new), Some(found)) => new == found,
            (Change::Remove, None) => true,
            _ => false,
        }
    }
}

/// Returns true if both are in one list: an item that comes or goes moves the others.
fn is_in_list(path: &[Step], other: &[Step]) -> bool {
    matches!(path.split_last(), Some((Step::Index(_), list)) if other.starts_with(list))
}
