use serde_json::Value;
use structured_merge::FieldPath;

use crate::compare::diff::{Action, Class, Conflict, Evidence, FieldChange, FieldDiff, Reason};
use crate::diagnostic::Diagnostic;
use crate::manifest::Packed;

/// The action that one object needs, with secret values redacted.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectVerdict {
    /// All values match; the record of owners may have to change.
    InSync(FieldDiff),
    /// The object does not exist.
    Create {
        /// The desired object.
        desired: Packed,
        /// The evidence that the server accepts it.
        evidence: Evidence,
    },
    /// Fields differ.
    Update(FieldDiff),
    /// An immutable field differs: the object has to be deleted and recreated.
    Replace {
        /// The differences.
        fields: FieldDiff,
        /// The reason, with the immutable fields.
        reason: Reason,
    },
    /// No manifest describes the object: it has to be deleted.
    Delete {
        /// The live object.
        live: Value,
        /// The reason.
        reason: String,
    },
    /// No manifest describes the object, and it stays.
    Kept {
        /// The reason.
        reason: String,
    },
    /// The object could not be compared.
    Unknown(Diagnostic),
}

impl From<FieldDiff> for ObjectVerdict {
    fn from(fields: FieldDiff) -> Self {
        if fields.has_drift() { Self::Update(fields) } else { Self::InSync(fields) }
    }
}

impl ObjectVerdict {
    /// The action that reports name.
    pub fn action(&self) -> Action {
        match self {
            Self::InSync(_) | Self::Kept { .. } => Action::None,
            Self::Create { .. } => Action::Create,
            Self::Update(_) => Action::Update,
            Self::Replace { .. } => Action::Replace,
            Self::Delete { .. } => Action::Delete,
            Self::Unknown(_) => Action::Unknown,
        }
    }

    /// The evidence for the verdict; `None` if nothing was compared.
    pub fn evidence(&self) -> Option<Evidence> {
        match self {
            Self::Create { evidence, .. } => Some(*evidence),
            _ => self.fields().map(|fields| fields.evidence),
        }
    }

    /// The fields, if they were compared.
    pub fn fields(&self) -> Option<&FieldDiff> {
        match self {
            Self::InSync(fields) | Self::Update(fields) | Self::Replace { fields, .. } => Some(fields),
            Self::Create { .. } | Self::Delete { .. } | Self::Kept { .. } | Self::Unknown(_) => None,
        }
    }

    /// The differences of the fields that were compared.
    pub fn changes(&self) -> &[FieldChange] {
        self.fields().map_or(&[], |fields| &fields.changes)
    }

    /// The fields of other managers that block the apply.
    pub fn conflicts(&self) -> &[Conflict] {
        self.fields().map_or(&[], |fields| &fields.conflicts)
    }

    /// Returns true if values are equal and only the record of owners would change.
    pub fn is_ownership_only(&self) -> bool {
        matches!(self, Self::InSync(fields) if fields.changes_owners())
    }

    /// Returns true if the object does not exist, and the pass does not create it.
    pub fn leaves_missing(&self) -> bool {
        self.fields().is_some_and(|fields| fields.left.iter().any(|left| left.class == Class::Missing))
    }

    /// The verdict on an object that does not exist, and that the pass does not create.
    pub fn leaving_missing(evidence: Evidence) -> Self {
        FieldDiff::leaving(evidence, &FieldChange::missing(Value::Null)).into()
    }

    /// Returns true if there is nothing to write.
    pub fn is_done(&self) -> bool {
        self.action() == Action::None && !self.is_ownership_only()
    }

    /// Returns true if two comparisons found the same difference; who made it and when does not matter.
    pub fn same_difference(&self, other: &Self) -> bool {
        self.action() == other.action() && self.drift() == other.drift()
    }

    fn drift(&self) -> Vec<(FieldPath, Option<&Value>, Option<&Value>)> {
        match self {
            Self::Create { desired, .. } => vec![(FieldPath::root(), None, Some(desired.get()))],
            Self::Delete { live, .. } => vec![(FieldPath::root(), Some(live), None)],
            _ => {
                let changes = self.changes().iter().filter(|change| change.is_drift());
                changes.map(|change| (change.path.clone(), change.live.as_ref(), change.desired.as_ref())).collect()
            }
        }
    }
}
