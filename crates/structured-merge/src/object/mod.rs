//! Parts of an object: its key, field paths and field sets, `managedFields`, scalars and quantities.

mod field_set;
mod key;
mod managed_fields;
mod path;
mod quantity;
mod scalar;

pub use field_set::{FieldSet, Lookup};
pub use key::{
    GroupKind, GroupVersionKind, MAX_LABEL, MAX_SUBDOMAIN, ObjectKey, ObjectMeta, SERVER_METADATA, SharedTypes,
    TypeNames, is_dns_label, is_dns_subdomain, without_system_fields,
};
pub use managed_fields::{
    FieldsV1Error, LAST_APPLIED, ManagedFieldsEntry, Operation, managed_fields, managed_fields_for,
    read_managed_fields, with_elements,
};
pub(crate) use path::PathStack;
pub use path::{FieldPath, NotAPath, PathElement};
pub use quantity::Quantity;
pub use scalar::Scalar;
