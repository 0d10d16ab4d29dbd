//! Objects that are the same in the reports of several clusters.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::BuildHasher as _;

use super::input::MergeInput;
use crate::model::ObjectReport;

/// Makes equal objects of several reports share their memory, when each report was read by itself: in most clusters of a fleet, most
/// objects are in sync with the same manifest.
#[derive(Debug, Default)]
pub struct SharedObjects {
    /// The first object with the hash of its key and place.
    first: HashMap<u64, ObjectReport>,
    hasher: RandomState,
}

impl SharedObjects {
    /// Replaces the objects of a report by the equal ones that were seen first. Those with changes have values and versions of their own
    /// cluster, and stay.
    pub fn share(&mut self, input: &mut MergeInput) {
        for object in input.report.objects.iter_mut().filter(|object| object.diff.changes.is_empty()) {
            let place = object.source.as_ref().map(|source| (&source.file, source.line));
            match self.first.entry(self.hasher.hash_one((&object.key, place))) {
                Entry::Occupied(first) if first.get() == object => object.clone_from(first.get()),
                Entry::Occupied(_) => {}
                Entry::Vacant(free) => _ = free.insert(object.clone()),
            }
        }
    }
}
