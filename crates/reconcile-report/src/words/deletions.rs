//! Deletions that somebody has to allow: the mark of each, and what is asked before them.

use std::collections::{BTreeMap, BTreeSet};

use reconcile_core::compare::Action;
use reconcile_core::plan::deletion::{Deletion, DeletionKind, prune_allow};

use super::styled::{Role, Styled};
use super::value::number::{first_of, some};
use crate::model::{ObjectReport, Report};

/// The most objects of one kind of deletion that a question names.
const NAMED: usize = 10;

/// The conditions of a deletion; `None` if nothing has to be allowed for it, or if it is refused whatever is allowed.
fn deletion(object: &ObjectReport) -> Option<&Deletion> {
    let is_possible = object.diff.action == Action::Delete && object.messages.error.is_none();
    object.diff.deletion.as_deref().filter(|deletion| is_possible && !deletion.needs.is_empty())
}

/// Returns true for a deletion that nobody has allowed.
pub(crate) fn needs_consent(object: &ObjectReport) -> bool {
    deletion(object).is_some_and(|deletion| !deletion.allowed)
}

/// The mark of a deletion and the role of its text: `needs --prune-allow=namespaces: everything in the Namespace is deleted with it`.
pub(crate) fn mark(object: &ObjectReport) -> Option<(String, Role)> {
    let Deletion { needs, allowed } = deletion(object)?;
    let reasons = reasons(needs);
    Some(if *allowed {
        (format!("allowed, although {reasons}"), Role::Note)
    } else {
        (format!("needs {}: {reasons}", prune_allow(needs)), Role::Error)
    })
}

fn reasons(needs: &BTreeSet<DeletionKind>) -> String {
    needs.iter().map(|kind| kind.reason()).collect::<Vec<_>>().join(", and ")
}

/// The deletions that are not allowed, counted: `3 deletions need --prune-allow=namespaces,most`; `None` if all are.
pub(crate) fn clause(report: &Report) -> Option<String> {
    let needing = report.objects.iter().filter_map(deletion).filter(|deletion| !deletion.allowed);
    let needing: Vec<&Deletion> = needing.collect();
    let kinds = needing.iter().flat_map(|deletion| &deletion.needs).copied().collect();
    let deletions = some(needing.len(), "deletion needs", "deletions need")?;
    Some(format!("{deletions} {}", prune_allow(&kinds)))
}

/// The deletions that a yes to the question of `--confirm` allows, with their objects; empty if there are none.
pub(crate) fn asked(report: &Report) -> Styled {
    let mut text = Styled::new();
    let mut of_kind: BTreeMap<DeletionKind, Vec<&ObjectReport>> = BTreeMap::new();
    for object in &report.objects {
        for kind in deletion(object).filter(|deletion| !deletion.allowed).iter().flat_map(|deletion| &deletion.needs) {
            of_kind.entry(*kind).or_default().push(object);
        }
    }
    if !of_kind.is_empty() {
        text.line(Role::Error, "a yes also allows these deletions:");
    }
    for (kind, objects) in of_kind {
        let names = first_of(objects.iter().map(|object| object.key.to_string()), NAMED);
        text.push(Role::Error, format!("  {}", kind.word()));
        text.line(Role::Plain, format!(" ({}): {}", kind.reason(), names.join(", ")));
    }
    text
}
