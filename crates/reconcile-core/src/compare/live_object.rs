use serde_json::Value;
use structured_merge::{ManagedObject, TypeRef};

use super::policy::Policy;
use super::wanted::Wanted;
use crate::live::Target;

/// A live object, and the values that are computed once each time it is read.
#[derive(Clone, Debug)]
pub struct LiveObject {
    /// The object and its owners.
    pub current: ManagedObject,
    /// The object that an apply sends over it.
    pub wanted: Wanted,
}

impl LiveObject {
    /// Reads the owners of an object, and applies the ignore rules to it.
    pub fn new(target: &Target, object: Value, schema: TypeRef<'_>, policy: &Policy) -> Self {
        let current = ManagedObject::new(object, &policy.manager);
        let wanted = Wanted::over(target, &current, schema, policy);
        Self { current, wanted }
    }
}
