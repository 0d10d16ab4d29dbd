//! The vocabulary of every stage: object keys, field paths, field sets, owners and quantities; and what this tool reads out of
//! an object. Pure.

mod apply_set;
mod names;
mod secrecy;

pub use apply_set::{GroupKind, PART_OF, part_of};
pub use names::{DNS_LABEL, MAX_LABEL, indefinite, is_dns_label};
pub use secrecy::{holds_secrets, is_custom, is_nearly_secret, is_string_data, may_be_secret};
pub use structured_merge::{
    FieldPath, FieldSet, GroupVersionKind, LAST_APPLIED, Lookup, ManagedFieldsEntry, ObjectKey, Operation, PathElement,
    Quantity, SERVER_METADATA, Scalar, managed_fields, without_system_fields,
};
