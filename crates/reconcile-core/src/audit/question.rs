use structured_merge::{ObjectKey, Operation};

use super::times::second;
use crate::compare::Owner;

/// An object as an audit log names it.
#[derive(Clone, Copy, Debug)]
pub struct AuditedObject<'a> {
    /// Its identity.
    pub key: &'a ObjectKey,
    /// The plural name of its resource.
    pub plural: &'a str,
}

/// A question to an audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The users who wrote under the name of a manager.
    Written(Entry),
    /// The users who may have removed a field; the manager is our own, whose applies remove nothing that the manifest has.
    FieldRemoved(String),
    /// The users who deleted the object.
    ObjectDeleted,
}

/// An entry of `managedFields`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub(super) manager: String,
    pub(super) operation: Operation,
    pub(super) subresource: String,
    /// The second of its last write; none for `scale`.
    pub(super) time: Option<i64>,
}

impl Question {
    /// The question about the entry of an owner. Also returns the second of its last write, if it is recorded.
    #[must_use]
    pub fn written(owner: &Owner) -> (Self, Option<i64>) {
        let time = owner.time.as_deref().and_then(second);
        let Owner { manager, operation, subresource, .. } = owner;
        let entry = Entry { manager: manager.clone(), operation: *operation, subresource: subresource.clone(), time };
        (Self::Written(entry), time)
    }
}

/// The plural name that resources of a kind have by convention, as the API machinery guesses it (apimachinery
/// `pkg/api/meta`, `UnsafeGuessKindToResource`). All kinds of Kubernetes follow it.
#[must_use]
pub fn plural_of(kind: &str) -> String {
    let kind = kind.to_lowercase();
    match kind.strip_suffix('y') {
        _ if kind.ends_with("endpoints") => kind,
        Some(start) => format!("{start}ies"),
        None if kind.ends_with('s') => format!("{kind}es"),
        None => format!("{kind}s"),
    }
}
