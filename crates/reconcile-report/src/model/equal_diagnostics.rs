//! Equal diagnostics of several objects, which are printed once.

use std::collections::BTreeMap;

use super::object::ObjectReport;
use crate::words::shared_diagnostic::SharedDiagnostic;

/// The fewest objects whose equal diagnostics are printed together.
const FEWEST: usize = 3;

/// The equal diagnostics of a list of objects.
#[derive(Debug, Default)]
pub(crate) struct EqualDiagnostics<'r> {
    groups: Vec<(SharedDiagnostic, Vec<&'r ObjectReport>)>,
    /// The number of the group of an object, and whether it is its first one, by the position of the object.
    places: BTreeMap<usize, (usize, bool)>,
}

/// The place of an object among the equal diagnostics.
#[derive(Debug)]
pub(crate) enum Place<'p, 'r> {
    /// The object is the first one with a diagnostic that others have as well.
    First(&'p SharedDiagnostic, &'p [&'r ObjectReport]),
    /// An object before it has the same diagnostic.
    Other,
    /// The object has no diagnostic that others have.
    Alone,
}

impl<'r> EqualDiagnostics<'r> {
    /// Finds the diagnostics that three or more objects have, of those that have no warnings as well.
    pub fn of(objects: &[&'r ObjectReport]) -> Self {
        let mut by_diagnostic: BTreeMap<SharedDiagnostic, Vec<usize>> = BTreeMap::new();
        for (at, object) in objects.iter().enumerate().filter(|(_, object)| object.messages.warnings.is_empty()) {
            if let Some(diagnostic) = SharedDiagnostic::of(object) {
                by_diagnostic.entry(diagnostic).or_default().push(at);
            }
        }
        let mut found = Self::default();
        for (diagnostic, members) in by_diagnostic.into_iter().filter(|(_, members)| members.len() >= FEWEST) {
            let number = found.groups.len();
            found.places.extend(members.iter().enumerate().map(|(nth, at)| (*at, (number, nth == 0))));
            found.groups.push((diagnostic, members.iter().filter_map(|at| objects.get(*at).copied()).collect()));
        }
        found
    }

    /// The place of the object at this position.
    pub fn of_position(&self, at: usize) -> Place<'_, 'r> {
        match self.places.get(&at) {
            None => Place::Alone,
            Some((_, false)) => Place::Other,
            Some((number, true)) => match self.groups.get(*number) {
                Some((diagnostic, objects)) => Place::First(diagnostic, objects),
                None => Place::Alone,
            },
        }
    }
}
