//! The vocabulary of every stage: object keys, field paths, field sets, owners and quantities. Pure.

mod apply_set;
mod field_set;
mod fields_v1;
mod key;
mod managed_fields;
mod metadata;
mod path;
mod quantity;
mod scalar;

pub use apply_set::{GroupKind, PART_OF, part_of};
pub use field_set::FieldSet;
pub use fields_v1::FieldsV1Error;
pub use key::{GroupVersionKind, ObjectKey};
pub use managed_fields::{
    LAST_APPLIED, ManagedFieldsEntry, Operation, managed_fields, managed_fields_for, read_managed_fields,
};
pub use metadata::{SERVER_METADATA, without_system_fields};
pub use path::{FieldPath, PathElement};
pub use quantity::Quantity;
pub use scalar::Scalar;
