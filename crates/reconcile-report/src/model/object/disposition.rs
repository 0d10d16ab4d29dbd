use reconcile_core::compare::{Action, Replacement};

/// The part of a pass that an object takes. The order is that of the counts in a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Disposition {
    /// It creates the object.
    Create,
    /// It updates the object.
    Update,
    /// It replaces the object.
    Replace,
    /// It deletes the object.
    Delete,
    /// It keeps the object, which is no longer in the manifests.
    Kept,
    /// There is nothing to do.
    InSync,
    /// It neither creates nor deletes the object, which `--only` leaves.
    Left,
    /// Nothing: the object could not be compared.
    NotCompared,
    /// Nothing: other managers own fields of the manifest.
    Conflict,
    /// Nothing: the object has to be replaced, which the flags do not allow.
    NeedsReplace,
    /// Nothing: the object has to be replaced, and is protected against that.
    Protected,
}

impl Disposition {
    /// Returns true if somebody has to act before a pass can do its part.
    pub fn is_blocked(self) -> bool {
        matches!(self, Self::NotCompared | Self::Conflict | Self::NeedsReplace | Self::Protected)
    }

    /// The part of an object that needs this action, as far as nothing else decides about it.
    pub fn of(action: Action, replacement: Option<Replacement>) -> Self {
        match action {
            Action::Create => Self::Create,
            Action::Update => Self::Update,
            Action::Replace => match replacement {
                Some(Replacement::NeedsFlag) => Self::NeedsReplace,
                Some(Replacement::Protected) => Self::Protected,
                Some(Replacement::Allowed) | None => Self::Replace,
            },
            Action::Delete => Self::Delete,
            Action::Unknown => Self::NotCompared,
            Action::None => Self::InSync,
        }
    }
}
