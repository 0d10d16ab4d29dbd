//! The graph of a plan: objects, and the dependencies between them.

use serde_json::Value;
use structured_merge::ObjectKey;

/// The strength of a dependency on an object that comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DependencyKind {
    /// The other only comes first.
    Order,
    /// The object cannot be written unless the other exists.
    Existence,
    /// The object would not work unless the other is as its manifest says.
    Success,
    /// The object lives in the other (a Namespace), or is of the kind that the other defines.
    Inside,
    /// The author declares the dependency (`config.kubernetes.io/depends-on`).
    Explicit,
}

/// A dependency on another object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The index of the other object in the plan.
    pub on: usize,
    /// The strength.
    pub strength: DependencyKind,
}

/// An object to plan: a manifest or a live object.
#[derive(Clone, Copy)]
pub(super) struct PlannedObject<'a> {
    pub key: &'a ObjectKey,
    pub object: &'a Value,
}
