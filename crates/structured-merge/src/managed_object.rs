use serde_json::Value;

use crate::ownership::Ownership;

/// An object with the owners of its fields: a live one, or the prediction of an apply.
#[derive(Clone, Debug, PartialEq)]
pub struct ManagedObject {
    /// The object.
    pub object: Value,
    /// The owners of its fields.
    pub owners: Ownership,
}

impl ManagedObject {
    /// Reads the owners of a live object from its `metadata.managedFields`; `manager` is that of the applier.
    pub fn new(object: Value, manager: &str) -> Self {
        let owners = Ownership::of(&object, manager);
        Self { object, owners }
    }
}
