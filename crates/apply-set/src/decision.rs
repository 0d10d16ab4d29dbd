use crate::member::Member;
use crate::reason::Reason;

/// Decision about a member that no manifest names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PruneDecision {
    /// The object is deleted.
    Prune(Prunable),
    /// The object stays a member.
    Keep(Reason),
    /// The object stays although it has the label; the parent does not list it.
    Spare(Reason),
    /// The object is not a member although it has the label. Its namespace or definition may be deleted, and the object
    /// with it.
    NotAMember(Reason),
}

impl PruneDecision {
    /// Returns true if the object is deleted.
    pub fn is_prune(&self) -> bool {
        matches!(self, Self::Prune(_))
    }

    /// Reason why the object is not pruned.
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Self::Prune(_) => None,
            Self::Keep(reason) | Self::Spare(reason) | Self::NotAMember(reason) => Some(reason),
        }
    }
}

/// Proof of the decision to delete a member: the preconditions of the DELETE request. Only
/// [`DesiredMembers`](crate::DesiredMembers) creates one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prunable {
    uid: String,
    resource_version: String,
}

impl Prunable {
    pub(crate) fn of(member: &Member) -> Self {
        Self { uid: member.uid().to_owned(), resource_version: member.resource_version().to_owned() }
    }

    /// The uid of the object that was decided about.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// The resource version of the object that was decided about.
    pub fn resource_version(&self) -> &str {
        &self.resource_version
    }
}
