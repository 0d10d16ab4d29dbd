//! The API's types as a compact table.

pub use structured_merge::{
    KindInfo, ListKind, Origin, RefusedNull, ScalarKind, Shape, TypeRef, TypeTable, builtin, builtin_kind, compile,
    compile_definition, field_set, fields_of, is_current, is_nothing, item_element, take_out_refused_nulls,
    untyped_object,
};
