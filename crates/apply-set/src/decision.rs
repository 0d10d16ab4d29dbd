use crate::member::Member;
use crate::reason::Reason;

/// What happens to a member that no manifest names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PruneDecision {
    /// It is deleted.
    Prune(Prunable),
    /// It stays a member.
    Keep(Reason),
    /// It stays although it has the label; the parent does not list it.
    Spare(Reason),
    /// It is not a member although it has the label; whatever it lives in may be deleted with it.
    NotAMember(Reason),
}

impl PruneDecision {
    /// Returns true if it is deleted.
    #[must_use]
    pub fn is_prune(&self) -> bool {
        matches!(self, Self::Prune(_))
    }

    /// Why it is not pruned.
    #[must_use]
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Self::Prune(_) => None,
            Self::Keep(reason) | Self::Spare(reason) | Self::NotAMember(reason) => Some(reason),
        }
    }
}

/// The proof that a member was judged and is to be deleted: the preconditions of the DELETE request. Only a decision makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prunable {
    uid: String,
    resource_version: String,
}

impl Prunable {
    pub(crate) fn of(member: &Member) -> Self {
        Self { uid: member.uid().to_owned(), resource_version: member.resource_version().to_owned() }
    }

    /// The uid of the object that was judged.
    #[must_use]
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// The version of it that was judged.
    #[must_use]
    pub fn resource_version(&self) -> &str {
        &self.resource_version
    }
}
