use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;
use structured_merge::{GroupKind, GroupVersionKind, ObjectKey, ObjectMeta as _};

/// A live object with the label of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Identity of the object.
    pub key: ObjectKey,
    /// The object.
    pub object: Value,
    /// Reason why the parent does not list it; `None` if it does.
    pub unlisted: Option<Unlisted>,
}

/// Reason why a parent does not list a member that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// The set has no parent.
    NoParent,
    /// Another manager than the tool changed the list, so that it is not trusted.
    ChangedBy(String),
    /// The list has no such kind or namespace.
    NotNamed,
}

impl fmt::Display for Unlisted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoParent => f.write_str("no parent of the apply set lists it"),
            Self::ChangedBy(author) => write!(f, "{author} changed what the apply set's parent lists"),
            Self::NotNamed => f.write_str("the apply set's parent does not list it"),
        }
    }
}

impl Member {
    /// Creates a member from an object as it was listed.
    pub fn new(gvk: GroupVersionKind, object: Value) -> Self {
        let name = object.name().unwrap_or_default().to_owned();
        let namespace = object.metadata("namespace").and_then(Value::as_str).map(ToOwned::to_owned);
        Self { key: ObjectKey { gvk, namespace, name }, object, unlisted: None }
    }

    /// The uid of the object.
    pub fn uid(&self) -> &str {
        self.object.uid().unwrap_or_default()
    }

    /// The resource version that was read.
    pub fn resource_version(&self) -> &str {
        self.object.resource_version().unwrap_or_default()
    }

    /// Returns true if the object is being deleted.
    pub fn is_terminating(&self) -> bool {
        self.object.is_terminating()
    }
}

/// Kinds and namespaces of the members of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Kinds of the members.
    pub kinds: BTreeSet<GroupKind>,
    /// Namespaces of the members, including the parent's own.
    pub namespaces: BTreeSet<String>,
}

impl Inventory {
    /// Adds the kind and the namespace of a member.
    pub fn add(&mut self, member: &ObjectKey) {
        self.kinds.insert(GroupKind::from(&member.gvk));
        self.namespaces.extend(member.namespace.clone());
    }

    /// The kinds and namespaces of both.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            kinds: self.kinds.union(&other.kinds).cloned().collect(),
            namespaces: self.namespaces.union(&other.namespaces).cloned().collect(),
        }
    }

    /// Returns true if the other one has all of its kinds and namespaces.
    pub fn is_within(&self, other: &Self) -> bool {
        self.kinds.is_subset(&other.kinds) && self.namespaces.is_subset(&other.namespaces)
    }

    /// Returns true if it has this kind, and this namespace if there is one.
    pub fn covers(&self, kind: &GroupKind, namespace: Option<&str>) -> bool {
        self.kinds.contains(kind) && namespace.is_none_or(|name| self.namespaces.contains(name))
    }
}
