//! The API's types as a compact table.

pub use structured_merge::{
    CompileError, Field, KindInfo, ListKind, MapShape, Origin, RefusedNull, ScalarKind, Shape, TypeId, TypeRef,
    TypeTable, builtin, builtin_kind, compile, compile_definition, conforms, equivalent_offline, field_set, fields_of,
    is_current, is_default, is_nothing, is_nothing_here, is_omitted_when_empty, item_element, items_by_element,
    semantically_equal, serializes_as, take_out_refused_nulls, untyped_object, with_named_parents,
};
