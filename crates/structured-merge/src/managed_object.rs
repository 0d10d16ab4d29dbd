use serde_json::Value;

use crate::ownership::Ownership;

/// An object and the owners of its fields, as it is or as an apply would leave it.
#[derive(Clone, Debug, PartialEq)]
pub struct ManagedObject {
    /// The object.
    pub object: Value,
    /// The owners of its fields.
    pub owners: Ownership,
}

impl ManagedObject {
    /// A live object with the owners that its `metadata.managedFields` names; `manager` is the applier's.
    #[must_use]
    pub fn new(object: Value, manager: &str) -> Self {
        let owners = Ownership::of(&object, manager);
        Self { object, owners }
    }
}
