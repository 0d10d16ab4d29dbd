use structured_merge::{ObjectKey, Operation};

use crate::owners::{Owner, second};

/// An object as an audit log names it.
#[derive(Clone, Copy, Debug)]
pub struct AuditedObject<'a> {
    /// Its identity.
    pub key: &'a ObjectKey,
    /// The plural name of its resource, or those that it may have.
    pub plurals: &'a [String],
}

/// A question to an audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditQuestion {
    /// The users who wrote under the name of a manager.
    Written(ManagerEntry),
    /// The users who may have removed a field; the manager is our own, whose applies remove nothing that the manifest has.
    FieldRemoved(String),
    /// The users who deleted the object.
    ObjectDeleted,
}

/// An entry of `managedFields`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagerEntry {
    pub(super) manager: String,
    pub(super) operation: Operation,
    pub(super) subresource: String,
    /// The second of its last write; none for `scale`.
    pub(super) time: Option<i64>,
}

impl AuditQuestion {
    /// The question about the entry of an owner. Also returns the second of its last write, if it is recorded.
    pub fn written(owner: &Owner) -> (Self, Option<i64>) {
        let time = owner.time.as_deref().and_then(second);
        let Owner { manager, operation, subresource, .. } = owner;
        let entry =
            ManagerEntry { manager: manager.clone(), operation: *operation, subresource: subresource.clone(), time };
        (Self::Written(entry), time)
    }
}
