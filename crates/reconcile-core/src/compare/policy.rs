//! Whose field manager we are, what we take from others, and how we find out what differs.

use std::collections::BTreeSet;
use std::sync::Arc;

use structured_merge::{Applier, ManagedFieldsEntry, Operation};

use super::diff::Owner;
use crate::rules::{Autoscalers, IgnoreRules};

/// Who makes objects and never adds to them: commands of kubectl, and the owner that the server invents for what was there.
const MAKERS: [&str; 5] =
    ["before-first-apply", "kubectl-create", "kubectl-run", "kubectl-expose", "kubectl-autoscale"];

/// What may be taken from others when their fields differ from the manifest's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForceConflicts {
    /// What people changed by hand is taken back; what appliers and controllers own is a conflict.
    #[default]
    Manual,
    /// Everything is taken.
    All,
    /// Nothing is taken.
    None,
}

/// What is done where a field that cannot be changed differs (`--replace`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// Nothing: it is told.
    #[default]
    Never,
    /// The object is deleted and recreated.
    Immutable,
}

/// How a verdict may be come by (`--evidence`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EvidenceMode {
    /// Prove; where that fails, ask; where that is not possible, compare here.
    #[default]
    Auto,
    /// Ask for every object.
    Server,
    /// Never send a PATCH: prove, else compare here.
    ReadOnly,
}

/// Whose manager we are, and what we take.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Our field manager.
    pub manager: String,
    /// What is taken from others.
    pub force: ForceConflicts,
    /// Whether fields that others added are shown.
    pub show_unmanaged: bool,
    /// Whether objects that differ are kept as a whole, before and after: a report shows them.
    pub keeps_versions: bool,
    /// How a verdict may be come by.
    pub evidence: EvidenceMode,
    /// Whether the server is asked, before anything is written, if it would create what is missing.
    pub tries_creations: bool,
    /// Field managers that count as manual, in addition to those of kubectl.
    pub manual_managers: BTreeSet<String>,
    /// Field managers whose claims on our manifests' fields pass to us, whatever they are.
    pub adopt: BTreeSet<String>,
    /// What is done where a field that cannot be changed differs.
    pub replace: Replace,
    /// Which fields are ignored.
    pub ignore: Arc<IgnoreRules>,
    /// The autoscalers whose fields are theirs.
    pub autoscalers: Arc<Autoscalers>,
}

impl Policy {
    /// The defaults for a field manager.
    #[must_use]
    pub fn of(manager: &str) -> Self {
        Self {
            manager: manager.to_owned(),
            force: ForceConflicts::default(),
            show_unmanaged: false,
            keeps_versions: false,
            evidence: EvidenceMode::default(),
            tries_creations: true,
            manual_managers: BTreeSet::new(),
            adopt: BTreeSet::new(),
            replace: Replace::default(),
            ignore: Arc::default(),
            autoscalers: Arc::default(),
        }
    }

    /// Returns true if an owner is a manual change: an `Update` of kubectl or one of its commands, or the owner that the server
    /// invents for objects older than field management, or one that the configuration names; or our
    /// own, of an object that was put back. The subresource does not matter.
    #[must_use]
    pub fn is_manual(&self, entry: &ManagedFieldsEntry) -> bool {
        entry.operation == Operation::Update && self.is_manual_name(&entry.manager)
    }

    /// The owner that an entry names, marked if it is a manual change.
    pub(super) fn owner(&self, entry: &ManagedFieldsEntry) -> Owner {
        Owner {
            manager: entry.manager.clone(),
            operation: entry.operation,
            subresource: entry.subresource.clone(),
            time: entry.time.clone(),
            manual: self.is_manual(entry),
        }
    }

    /// The owners of entries, sorted, each once.
    pub(super) fn owners<'e>(&self, entries: impl IntoIterator<Item = &'e ManagedFieldsEntry>) -> Vec<Owner> {
        let mut owners: Vec<Owner> = entries.into_iter().map(|entry| self.owner(entry)).collect();
        owners.sort();
        owners.dedup();
        owners
    }

    /// Returns true if an owner may have added fields by hand. Who made an object owns the server's defaults in it as well, and which
    /// those are is not recorded.
    pub(super) fn adds_by_hand(&self, owner: &Owner) -> bool {
        owner.manual && owner.manager != self.manager && !MAKERS.contains(&owner.manager.as_str())
    }

    fn is_manual_name(&self, manager: &str) -> bool {
        let kubectl = manager == "kubectl" || manager.starts_with("kubectl-");
        kubectl || manager == "before-first-apply" || self.manual_managers.contains(manager) || manager == self.manager
    }

    /// Returns true if a conflict with this owner is settled by taking the field.
    #[must_use]
    pub fn takes_from(&self, entry: &ManagedFieldsEntry) -> bool {
        self.adopts(entry)
            || match self.force {
                ForceConflicts::All => true,
                ForceConflicts::Manual => self.is_manual(entry),
                ForceConflicts::None => false,
            }
    }
}

impl Applier for Policy {
    fn manager(&self) -> &str {
        &self.manager
    }

    fn takes_over(&self, entry: &ManagedFieldsEntry) -> bool {
        self.adopts(entry) || self.force != ForceConflicts::None && self.is_manual(entry)
    }

    fn adopts(&self, entry: &ManagedFieldsEntry) -> bool {
        self.adopt.contains(&entry.manager)
    }
}
