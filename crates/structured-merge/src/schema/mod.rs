//! The API's types as a compact table: which lists are keyed, which maps are atomic, which scalars are quantities.
//!
//! ```text
//! OpenAPI v3 ─compile─▶ TypeTable ─▶ TypeRef (one step at a time, down a value)
//!                          ▲             ├─▶ field_set: the fields that a manifest claims
//!                     builtin.json       └─▶ equality: when two spellings mean the same
//! ```
//! Pure: documents come in as JSON, and nothing is fetched here.

mod builtin;
mod corrections;
mod definition;
mod empty_values;
mod equality;
mod field_set;
mod go_types;
mod openapi;
mod openapi_document;
mod table;
mod type_ref;

pub(crate) use builtin::new_object;
pub use builtin::{builtin, builtin_kind, untyped_object};
pub(crate) use corrections::empty_of;
pub use corrections::{EmptyKey, NullEntry, RefusedNull, fill_in_empty_keys, null_entries, take_out_refused_nulls};
pub use definition::{compile_definition, defined_kind, written_schema};
pub(crate) use empty_values::{may_be_defaulted, with_empty_values_filled};
pub use equality::{
    conforms, equivalent_offline, is_default, is_nothing, is_nothing_here, is_omitted_when_empty, semantically_equal,
    serializes_as,
};
pub(crate) use equality::{is_empty_struct, same_scalar};
pub(crate) use field_set::without_unowned;
pub use field_set::{brought_up_to_date, field_set, fields_of, is_current, with_named_parents};
pub use openapi::{CompileError, Origin, compile};
pub use openapi_document::OpenApiDocument;
pub use table::{Field, KindInfo, ListKind, MapShape, ScalarKind, Shape, TypeTable};
pub use type_ref::{TypeRef, item_element, items_by_element};
pub(crate) use type_ref::{all_different, element_at, places};
