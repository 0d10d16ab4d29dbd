//! Parts of an object: its key, field paths and field sets, `managedFields`, scalars and quantities.

mod field_set;
mod fields_v1;
mod key;
mod lookup;
mod managed_fields;
mod object_meta;
mod path;
mod path_stack;
mod quantity;
mod scalar;

pub use field_set::FieldSet;
pub use fields_v1::FieldsV1Error;
pub use key::{GroupKind, GroupVersionKind, ObjectKey};
pub use lookup::Lookup;
pub use managed_fields::{
    LAST_APPLIED, ManagedFieldsEntry, Operation, managed_fields, managed_fields_for, read_managed_fields,
};
pub use object_meta::{ObjectMeta, SERVER_METADATA, without_system_fields};
pub use path::{FieldPath, NotAPath, PathElement};
pub(crate) use path_stack::PathStack;
pub use quantity::Quantity;
pub use scalar::Scalar;
