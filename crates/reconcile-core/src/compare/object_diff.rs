//! The result of the comparison of one object. It becomes a part of the report, which shows its error and its reason among its messages, and
//! adds what only reports know: the side of the object, and what a baseline has.

use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use structured_merge::FieldPath;

use super::diff::{
    Action, Class, Conflict, Evidence, FieldChange, IgnoredFields, LeftDifference, Reason, Replacement, Side,
    UnmanagedCount,
};
use super::effect::Effect;
use super::secrecy::versions::Versions;
use crate::diagnostic::{Code, Diagnostic};
use crate::manifest::{BaseState, Packed};
use crate::owners::Transfer;
use crate::plan::deletion::Deletion;
use crate::rare::{MayBeEmpty, Rare, is_zero};

/// The result of the comparison of one object.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectDiff {
    /// The action that `apply` has to take.
    pub action: Action,
    /// The evidence for the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The manifest that the base has of the object; absent without a base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<BaseState>,
    /// The side that changed; absent without drift.
    // Reports find it, as they know the base of a missing object and what a baseline has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// The permission to replace it; absent unless that is the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement: Option<Replacement>,
    /// The kinds that have to be allowed before it is deleted; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion: Option<Box<Deletion>>,
    /// The differences.
    // Sorted by path. Of an object that is missing or has to be deleted, the one of the object as a whole.
    pub changes: Vec<FieldChange>,
    /// The fields that `own` gives to a manager; absent for other commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfers: Option<Box<[Transfer]>>,
    /// Fields of the manifest that other managers own.
    // While there are any, the object is not written.
    pub conflicts: Vec<Conflict>,
    /// Items that manual changes added to lists of the manifest.
    // An apply leaves them alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_items: Vec<FieldPath>,
    /// The number of these items that the baseline has (`--baseline`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub known_added_items: usize,
    /// Differences that rules ignore, by rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<IgnoredFields>,
    /// The effects of an apply beyond these fields, such as Pods that restart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// Differences that the run leaves (`--only`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftDifference>,
    /// The findings that are not fields of the JSON.
    #[serde(skip)]
    pub notes: Rare<DiffNotes>,
}

/// The findings about one object that its differences do not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiffNotes {
    /// The error for which it could not be compared.
    pub error: Option<Box<Diagnostic>>,
    /// The reason why it has to be replaced or deleted, or is kept.
    pub reason: Option<Box<Reason>>,
    /// Number of fields that other managers added.
    pub unmanaged: UnmanagedCount,
    /// The live object and the object that an apply would leave: for a definition, and for a format that shows whole objects.
    pub versions: Option<Arc<Versions>>,
}

impl MayBeEmpty for DiffNotes {
    fn empty() -> &'static Self {
        static EMPTY: LazyLock<DiffNotes> = LazyLock::new(DiffNotes::default);
        &EMPTY
    }
}

impl ObjectDiff {
    /// Takes back that anything of an object is left alone, which is deleted and created again as the manifest has it. Returns a warning about
    /// what others added, if they did.
    pub(super) fn leave_nothing_alone(&mut self) -> Option<String> {
        let added = self.notes.unmanaged.fields;
        if added > 0 {
            self.notes.unmanaged = UnmanagedCount::default();
        }
        self.changes.retain(|change| !change.is_addition());
        self.added_items.clear();
        self.ignored.clear();
        let lost = match added {
            0 => return None,
            1 => "a field that was".to_owned(),
            added => format!("{added} fields that were"),
        };
        Some(format!("replacing it removes {lost} added in the cluster"))
    }

    /// An action without differences.
    pub fn new(action: Action, evidence: Option<Evidence>) -> Self {
        Self {
            action,
            evidence,
            base: None,
            side: None,
            replacement: None,
            deletion: None,
            changes: Vec::new(),
            transfers: None,
            conflicts: Vec::new(),
            added_items: Vec::new(),
            known_added_items: 0,
            ignored: Vec::new(),
            effects: Vec::new(),
            left: Vec::new(),
            notes: Rare::default(),
        }
    }

    /// An object whose values all match.
    pub fn in_sync(evidence: Evidence) -> Self {
        Self::new(Action::None, Some(evidence))
    }

    /// An object that does not exist.
    pub fn create(desired: impl Into<Packed>, evidence: Evidence) -> Self {
        Self { changes: vec![FieldChange::missing(desired)], ..Self::new(Action::Create, Some(evidence)) }
    }

    /// An object that no manifest describes, and that has to be deleted for this reason. `side` is where something changed.
    pub fn delete(live: impl Into<Packed>, side: Side, reason: String) -> Self {
        let deletion = FieldChange::pruned(live).on(side);
        Self { changes: vec![deletion], ..Self::new(Action::Delete, None) }.because(reason, None)
    }

    /// An object that no manifest describes, and that stays for this reason.
    pub fn kept(reason: String) -> Self {
        Self::new(Action::None, None).because(reason, None)
    }

    /// An object that could not be compared.
    pub fn unknown(error: Diagnostic) -> Self {
        let notes = DiffNotes { error: Some(Box::new(error)), ..DiffNotes::default() };
        Self { notes: notes.into(), ..Self::new(Action::Unknown, None) }
    }

    /// An object that is left as it is, although it is missing or has to be deleted.
    pub fn leaving(evidence: Option<Evidence>, change: &FieldChange) -> Self {
        Self { left: LeftDifference::of(change).into_iter().collect(), ..Self::new(Action::None, evidence) }
    }

    /// An object that does not exist, and that the pass does not create.
    #[must_use]
    pub fn leaving_missing(&self) -> Self {
        Self::leaving(self.evidence, &FieldChange::missing(Value::Null))
    }

    /// Sets the action to that of an object that exists: an update if a value differs.
    #[must_use]
    pub fn by_drift(self) -> Self {
        Self { action: if self.has_drift() { Action::Update } else { Action::None }, ..self }
    }

    /// Gives the reason for the action, with advice.
    #[must_use]
    pub fn because(mut self, text: String, hint: Option<String>) -> Self {
        self.notes.reason = Some(Box::new(Reason { text, hint }));
        self
    }

    /// The error for which it could not be compared.
    pub fn error(&self) -> Diagnostic {
        let unnamed = || Diagnostic::new(Code::Unknown, "it could not be compared");
        self.notes.error.as_deref().cloned().unwrap_or_else(unnamed)
    }

    /// The differences that are drift.
    pub fn drift(&self) -> impl Iterator<Item = &FieldChange> {
        self.changes.iter().filter(|change| change.is_drift())
    }

    /// Returns true if a value differs, which is drift.
    pub fn has_drift(&self) -> bool {
        self.drift().next().is_some()
    }

    /// Finds the side that changed, of all changes.
    pub fn find_side(&mut self) {
        self.side = Side::of_all(self.changes.iter().filter_map(|change| change.side));
    }

    /// Returns true if values are equal and only the record of owners would change.
    pub fn is_ownership_only(&self) -> bool {
        let is_of_owners = |change: &FieldChange| matches!(change.class, Class::Adopted | Class::Released);
        self.action == Action::None && self.changes.iter().any(is_of_owners)
    }

    /// Returns true if the object does not exist, and the pass does not create it.
    pub fn leaves_missing(&self) -> bool {
        self.left.iter().any(|left| left.class == Class::Missing)
    }

    /// Returns true if there is nothing to write.
    pub fn is_done(&self) -> bool {
        self.action == Action::None && !self.is_ownership_only()
    }

    /// Returns true if it has changes to write.
    pub fn is_change(&self) -> bool {
        !self.is_done() && self.action != Action::Unknown && self.conflicts.is_empty()
    }

    /// Returns true if it has changes that the flags allow to write.
    pub fn is_to_write(&self) -> bool {
        self.is_change() && (self.action != Action::Replace || self.replacement == Some(Replacement::Allowed))
    }

    /// Returns true if two comparisons found the same difference; who made it and when does not matter.
    pub fn same_difference(&self, other: &Self) -> bool {
        self.action == other.action
            && self.drift().map(FieldChange::content).eq(other.drift().map(FieldChange::content))
    }
}
