use serde_json::Value;
use structured_merge::{ManagedObject, TypeRef};

use super::policy::Policy;
use super::wanted::Wanted;
use crate::live::Target;

/// A live object with what is computed once for each time that it is read.
#[derive(Clone, Debug)]
pub struct LiveObject {
    /// The object and its owners.
    pub current: ManagedObject,
    /// What an apply sends over it.
    pub wanted: Wanted,
}

impl LiveObject {
    /// Reads the owners of an object, and what rules ignore in it.
    #[must_use]
    pub fn new(target: &Target, object: Value, schema: TypeRef<'_>, policy: &Policy) -> Self {
        let current = ManagedObject::new(object, &policy.manager);
        let wanted = Wanted::over(target, &current, schema, policy);
        Self { current, wanted }
    }
}
