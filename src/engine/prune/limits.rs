//! The limits of pruning: deletions that somebody has to allow, and namespaces in which nothing may be deleted.

use std::collections::BTreeSet;
use std::sync::Arc;

use apply_set::DesiredMembers;
use structured_merge::ObjectKey;

use super::delete::PruneEntry;
use reconcile_core::diagnostic::{Code, Diagnostic};
use reconcile_core::pass::TurnResult;
use reconcile_core::plan::deletion::{Deletion, DeletionKind, DeletionScope, prune_allow};

/// Says why nothing belongs into a namespace; `None` if something may.
pub(crate) type Refusal = dyn Fn(&str) -> Option<Diagnostic> + Send + Sync;

/// The limits that the flags and the configuration set.
#[derive(Clone)]
pub(crate) struct Limits {
    /// The kinds of deletions that are allowed.
    pub allowed: BTreeSet<DeletionKind>,
    /// The reason why nothing belongs into a namespace, if the configuration does not expect it.
    pub refusal: Arc<Refusal>,
}

impl Limits {
    /// Marks the deletions that have to be allowed, and those that are refused. What is being deleted already goes whatever is said.
    pub(super) fn mark(&self, entries: &mut [PruneEntry], named: BTreeSet<String>, members: usize) {
        let is_new = |entry: &&mut PruneEntry| entry.decision.is_prune() && !entry.member.member.is_terminating();
        let deletions = entries.iter_mut().filter(is_new).count();
        let scope = DeletionScope { named, members, deletions };
        for entry in entries.iter_mut().filter(is_new) {
            let needs = scope.needs(entry.key());
            let allowed = needs.is_subset(&self.allowed);
            entry.deletion = (!needs.is_empty()).then_some(Deletion { needs, allowed });
            entry.refusal = entry.key().own_namespace().and_then(|name| self.refused(name)).map(|mut refusal| {
                refusal.message = format!("it is not deleted, because {}", refusal.message);
                refusal
            });
        }
    }

    /// The error for the parent of a set in a namespace that is not expected.
    pub(super) fn refused_parent(&self, parent: &ObjectKey) -> Option<Diagnostic> {
        let refusal = self.refused(parent.namespace.as_deref()?)?;
        let message = format!("{parent} cannot be the parent of the apply set: {}", refusal.message);
        Some(Diagnostic { message, ..refusal })
    }

    fn refused(&self, namespace: &str) -> Option<Diagnostic> {
        (self.refusal)(namespace).map(|refusal| Diagnostic { code: Code::Invalid, ..refusal })
    }
}

/// Holds all deletions back if some are refused or not allowed: ends the turns of those, and returns the reason for the others.
pub(super) fn hold_back(entries: &mut [PruneEntry], desired: &mut DesiredMembers) -> Option<String> {
    let is_open = |entry: &&mut PruneEntry| entry.decision.is_prune() && entry.result.is_none();
    let mut refused = None;
    let mut count = 0_usize;
    let mut missing = BTreeSet::new();
    for entry in entries.iter_mut().filter(is_open) {
        if let Some(refusal) = &entry.refusal {
            refused = refused.or_else(|| Some(format!("nothing is pruned, because {} cannot be deleted", entry.key())));
            desired.keep(&entry.member.member.key);
            entry.result = Some(TurnResult::failed(refusal.clone()));
        } else if let Some(Deletion { needs, allowed: false }) = &entry.deletion {
            count = count.saturating_add(1);
            missing.extend(needs.iter().copied());
        }
    }
    if missing.is_empty() {
        return refused;
    }
    let flag = prune_allow(&missing);
    for entry in entries.iter_mut().filter(is_open) {
        if let Some(Deletion { needs, allowed: false }) = &entry.deletion {
            let reasons: Vec<&str> = needs.iter().map(|kind| kind.reason()).collect();
            let hint = format!("allow it with `{flag}`, or with a yes to `--confirm`");
            let reason = format!("not pruned: {}", reasons.join(", and "));
            entry.result = Some(TurnResult { hint: Some(hint), ..TurnResult::skipped(reason) });
        }
    }
    refused.or_else(|| {
        Some(match count {
            1 => format!("nothing is pruned, because a deletion needs `{flag}`"),
            more => format!("nothing is pruned, because {more} deletions need `{flag}`"),
        })
    })
}
