//! What plans are made of: objects, and what one of them needs of another.

use serde_json::Value;
use structured_merge::ObjectKey;

/// How much one object needs another that comes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DependencyKind {
    /// It only comes later.
    Order,
    /// It cannot be written unless the other exists.
    Existence,
    /// It would not work unless the other is as the manifest says.
    Success,
    /// It lives in the other (a Namespace), or is of the kind that the other defines.
    Inside,
    /// The same, and its author says so (`config.kubernetes.io/depends-on`).
    Explicit,
}

/// One object needs another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The other one's place in the plan.
    pub on: usize,
    /// How much.
    pub strength: DependencyKind,
}

/// One object as planning sees it: a manifest or a live object.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub key: &'a ObjectKey,
    pub object: &'a Value,
}
