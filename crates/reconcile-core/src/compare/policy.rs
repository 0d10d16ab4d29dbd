//! The policy of a run: our field manager, the fields that we take from other managers, and the evidence of a comparison.

use std::collections::BTreeSet;
use std::sync::Arc;

use structured_merge::{Applier, BEFORE_FIRST_APPLY, ManagedFieldsEntry, Operation, Ownership};

use super::classify::only::Chosen;
use super::decision::membership::UnnamedSet;
use crate::owners::Owner;
use crate::rules::{Autoscalers, Glob, IgnoreRules};

/// Managers that create objects and never add fields later: commands of kubectl, and the owner that the server invents for objects
/// without a record of owners.
const MAKERS: [&str; 5] = [BEFORE_FIRST_APPLY, "kubectl-create", "kubectl-run", "kubectl-expose", "kubectl-autoscale"];

/// The fields to take from other managers when they differ from the manifest (`--force-conflicts`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForceConflicts {
    /// Takes manual changes back; fields of appliers and controllers are conflicts.
    #[default]
    Manual,
    /// Takes all fields.
    All,
    /// Takes no fields.
    None,
}

/// The action if an immutable field differs (`--replace`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// Reports the difference.
    #[default]
    Never,
    /// Deletes and recreates the object.
    Immutable,
}

/// The way in which the fields of a manifest are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteAs {
    /// By server-side apply.
    #[default]
    Apply,
    /// By updates of what differs, as Helm 3 does.
    Update,
    /// As our manager has written the object before: by server-side apply if it has applied it, otherwise by an update.
    Before,
}

/// The managers whose additions an apply takes out (`--remove-added`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RemoveAdded {
    /// None: what others added stays.
    #[default]
    Never,
    /// Those that make manual changes.
    Manual,
    /// As `Manual`, for `resolve`: if the server refuses the removal, the object is compared without it.
    Offered,
    /// Those with these names.
    Of(Vec<Glob>),
}

/// The evidence that a comparison may use (`--evidence`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EvidenceMode {
    /// Tries a proof first, then a dry run and, if the server cannot be asked, a local comparison.
    #[default]
    Auto,
    /// Sends a dry run for every object.
    Server,
    /// Never sends a PATCH: tries a proof, then a local comparison.
    ReadOnly,
}

/// The treatment of fields that rules of the configuration and annotations of manifests ignore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ignored {
    /// They are left alone.
    #[default]
    Leave,
    /// They are compared like all others, because an apply keeps nothing of the object.
    Compare,
}

/// Our field manager, and the rules by which objects are compared and written.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Our field manager.
    pub manager: String,
    /// The fields to take from other managers.
    pub force: ForceConflicts,
    /// The way in which fields are written.
    pub writes: WriteAs,
    /// True if reports show the fields that other managers added.
    pub show_unmanaged: bool,
    /// True if a report shows whole objects before and after an apply, so that they are kept.
    pub keeps_versions: bool,
    /// The evidence that a comparison may use.
    pub evidence: EvidenceMode,
    /// True if a dry run tries the creation of each missing object before anything is written.
    pub tries_creations: bool,
    /// Field managers that count as manual, in addition to those of kubectl.
    pub manual_managers: BTreeSet<String>,
    /// Field managers whose claims on the manifests' fields are transferred to us, manual or not (`--adopt`).
    pub adopt: BTreeSet<String>,
    /// The action if an immutable field differs.
    pub replace: Replace,
    /// The treatment of live objects in an apply set that neither their manifests nor the run name.
    pub unnamed_set: UnnamedSet,
    /// The managers whose additions are taken out.
    pub remove_added: RemoveAdded,
    /// The differences that are resolved; `None` for all of them.
    pub only: Option<Arc<Chosen>>,
    /// The rules for ignored fields.
    pub ignore: Arc<IgnoreRules>,
    /// The treatment of the fields that these rules and annotations name.
    pub ignored: Ignored,
    /// The autoscalers, whose fields are ignored.
    pub autoscalers: Arc<Autoscalers>,
}

impl Policy {
    /// The defaults for a field manager.
    pub fn of(manager: &str) -> Self {
        Self {
            manager: manager.to_owned(),
            force: ForceConflicts::default(),
            writes: WriteAs::default(),
            show_unmanaged: false,
            keeps_versions: false,
            evidence: EvidenceMode::default(),
            tries_creations: true,
            manual_managers: BTreeSet::new(),
            adopt: BTreeSet::new(),
            replace: Replace::default(),
            unnamed_set: UnnamedSet::default(),
            remove_added: RemoveAdded::default(),
            only: None,
            ignore: Arc::default(),
            ignored: Ignored::default(),
            autoscalers: Arc::default(),
        }
    }

    /// Returns true if an object with these owners is written by an update of what differs.
    pub fn updates(&self, owners: &Ownership) -> bool {
        match self.writes {
            WriteAs::Apply => false,
            WriteAs::Update => true,
            WriteAs::Before => owners.ours.is_none(),
        }
    }

    /// Returns true if an entry is a manual change: an `Update` by kubectl or one of its commands, by the owner that the server
    /// invents for objects older than field management, by a manager that the configuration names, or by our own manager (of an
    /// object that was restored). The subresource does not matter.
    pub fn is_manual(&self, entry: &ManagedFieldsEntry) -> bool {
        entry.operation == Operation::Update && self.is_manual_name(&entry.manager)
    }

    /// The owner of an entry, marked if it is a manual change.
    pub(super) fn owner(&self, entry: &ManagedFieldsEntry) -> Owner {
        Owner { manual: self.is_manual(entry), ..entry.into() }
    }

    /// The owners of entries, sorted and without duplicates.
    pub(crate) fn owners<'e>(&self, entries: impl IntoIterator<Item = &'e ManagedFieldsEntry>) -> Vec<Owner> {
        let mut owners: Vec<Owner> = entries.into_iter().map(|entry| self.owner(entry)).collect();
        owners.sort();
        owners.dedup();
        owners
    }

    /// Returns true if an owner changes fields by hand: a manual change, and not the creation of the object, whose manager also owns the
    /// defaults that the server set then.
    pub fn is_by_hand(&self, owner: &Owner) -> bool {
        let manual = owner.operation == Operation::Update && self.is_manual_name(&owner.manager);
        self.adds_manually(&Owner { manual, ..owner.clone() })
    }

    /// Returns true if an entry is that of the client that created an object from its manifest, or that applies whole manifests as
    /// updates (Helm 3): it also owns the defaults of the server, and no record tells them apart.
    pub(super) fn is_maker(entry: &ManagedFieldsEntry) -> bool {
        Self::is_creator(entry) || entry.operation == Operation::Update && entry.manager == "helm"
    }

    /// Returns true if an entry says nothing but what an object had when it was created, or when it was applied first: its manager
    /// never writes again.
    pub(super) fn is_creator(entry: &ManagedFieldsEntry) -> bool {
        entry.operation == Operation::Update && MAKERS.contains(&entry.manager.as_str())
    }

    /// Returns true if the server invented an entry.
    pub(super) fn is_invented(entry: &ManagedFieldsEntry) -> bool {
        entry.operation == Operation::Update && entry.manager == BEFORE_FIRST_APPLY
    }

    /// Returns true if an owner may have added fields manually. The creator of an object also owns the defaults that the server set in
    /// it, and no record tells them apart.
    pub(super) fn adds_manually(&self, owner: &Owner) -> bool {
        owner.manual && owner.manager != self.manager && !MAKERS.contains(&owner.manager.as_str())
    }

    /// Returns true if an apply takes out what this owner added, and nobody else owns.
    pub(super) fn removes_additions_of(&self, entry: &ManagedFieldsEntry) -> bool {
        entry.subresource != "status"
            && match &self.remove_added {
                RemoveAdded::Never => false,
                RemoveAdded::Manual | RemoveAdded::Offered => {
                    self.is_manual(entry) && self.adds_manually(&self.owner(entry))
                }
                RemoveAdded::Of(globs) => globs.iter().any(|glob| glob.matches(&entry.manager)),
            }
    }

    fn is_manual_name(&self, manager: &str) -> bool {
        let kubectl = manager == "kubectl" || manager.starts_with("kubectl-");
        kubectl || manager == BEFORE_FIRST_APPLY || self.manual_managers.contains(manager) || manager == self.manager
    }

    /// Returns true if a conflict with this owner is resolved by taking the field.
    pub fn takes_from(&self, entry: &ManagedFieldsEntry) -> bool {
        let is_own_update = self.writes != WriteAs::Apply && entry.manager == self.manager;
        self.adopts(entry)
            || is_own_update
            || match self.force {
                ForceConflicts::All => true,
                ForceConflicts::Manual => self.is_manual(entry),
                ForceConflicts::None => false,
            }
    }
}

/// The field manager of this program, unless another name is given.
pub const FIELD_MANAGER: &str = "kubectl-reconcile";

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

    // Our own apply sends the spelling of the live object, and takes nothing with it.
    fn sends_as_written(&self) -> bool {
        self.force == ForceConflicts::None && self.manager != FIELD_MANAGER
    }
}
