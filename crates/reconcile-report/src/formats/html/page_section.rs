use std::collections::BTreeMap;

use structured_merge::ObjectKey;

use crate::ObjectReport;

/// The objects of a section of the page, by which links and filters find them.
pub(super) struct PageSection<'r> {
    /// The number of the section.
    pub number: usize,
    positions: BTreeMap<&'r ObjectKey, usize>,
    groups: BTreeMap<&'r ObjectKey, Vec<usize>>,
    count: usize,
}

impl<'r> PageSection<'r> {
    /// The section with these objects, in their order.
    pub fn new(number: usize, objects: &[&'r ObjectReport]) -> Self {
        let positions = objects.iter().enumerate().map(|(at, object)| (&object.key, at)).collect();
        Self { number, positions, groups: BTreeMap::new(), count: 0 }
    }

    /// Adds a group of objects, and returns its number.
    pub fn add_group(&mut self, objects: &[&'r ObjectReport]) -> usize {
        let number = self.count;
        self.count = number.saturating_add(1);
        for object in objects {
            self.groups.entry(&object.key).or_default().push(number);
        }
        number
    }

    /// The position of an object.
    pub fn position_of(&self, object: &ObjectReport) -> usize {
        self.positions.get(&object.key).copied().unwrap_or_default()
    }

    /// The numbers of the groups that an object is in.
    pub fn groups_of(&self, object: &ObjectReport) -> &[usize] {
        self.groups.get(&object.key).map(Vec::as_slice).unwrap_or_default()
    }
}
