use serde_json::Value;
use structured_merge::FieldPath;

use super::diff::{Action, Conflict, Evidence, FieldChange, FieldDiff, Reason};
use crate::diagnostic::Diagnostic;

/// What has to be done to one object, with secret values redacted.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectVerdict {
    /// Its values are as wanted; the record of owners may have to change.
    InSync(FieldDiff),
    /// It does not exist.
    Create {
        /// The object as it is wanted.
        desired: Value,
        /// Whether the server was asked.
        evidence: Evidence,
    },
    /// Fields differ.
    Update(FieldDiff),
    /// A field that cannot be changed differs: only deleting and creating it again would do.
    Replace {
        /// What differs.
        fields: FieldDiff,
        /// Which field cannot be changed.
        reason: Reason,
    },
    /// No manifest wants it: it is to be deleted.
    Delete {
        /// The live object.
        live: Value,
        /// Why.
        reason: String,
    },
    /// No manifest wants it, and it stays.
    Kept {
        /// Why.
        reason: String,
    },
    /// It could not be compared.
    Unknown(Diagnostic),
}

impl From<FieldDiff> for ObjectVerdict {
    fn from(fields: FieldDiff) -> Self {
        if fields.has_drift() { Self::Update(fields) } else { Self::InSync(fields) }
    }
}

impl ObjectVerdict {
    /// What has to be done.
    #[must_use]
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

    /// What it rests on; none where nothing was compared.
    #[must_use]
    pub fn evidence(&self) -> Option<Evidence> {
        match self {
            Self::Create { evidence, .. } => Some(*evidence),
            _ => self.fields().map(|fields| fields.evidence),
        }
    }

    /// The fields, where they were compared.
    #[must_use]
    pub fn fields(&self) -> Option<&FieldDiff> {
        match self {
            Self::InSync(fields) | Self::Update(fields) | Self::Replace { fields, .. } => Some(fields),
            Self::Create { .. } | Self::Delete { .. } | Self::Kept { .. } | Self::Unknown(_) => None,
        }
    }

    /// The differences of the fields that were compared.
    #[must_use]
    pub fn changes(&self) -> &[FieldChange] {
        self.fields().map_or(&[], |fields| &fields.changes)
    }

    /// Fields of others that stand in the way.
    #[must_use]
    pub fn conflicts(&self) -> &[Conflict] {
        self.fields().map_or(&[], |fields| &fields.conflicts)
    }

    /// Returns true if values are equal and only the record of owners would change.
    #[must_use]
    pub fn is_ownership_only(&self) -> bool {
        matches!(self, Self::InSync(fields) if fields.changes_owners())
    }

    /// Returns true if nothing is left to write.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.action() == Action::None && !self.is_ownership_only()
    }

    /// Returns true if two comparisons found the same difference; who made it and when does not matter.
    #[must_use]
    pub fn same_difference(&self, other: &Self) -> bool {
        self.action() == other.action() && self.drift() == other.drift()
    }

    fn drift(&self) -> Vec<(FieldPath, Option<&Value>, Option<&Value>)> {
        match self {
            Self::Create { desired, .. } => vec![(FieldPath::root(), None, Some(desired))],
            Self::Delete { live, .. } => vec![(FieldPath::root(), Some(live), None)],
            _ => {
                let changes = self.changes().iter().filter(|change| change.class.is_drift());
                changes.map(|change| (change.path.clone(), change.live.as_ref(), change.desired.as_ref())).collect()
            }
        }
    }
}
