use std::sync::LazyLock;

use super::table::{Field, KindInfo, MapShape, Shape, TypeId, TypeTable};
use super::type_ref::TypeRef;
use crate::object::GroupVersionKind;

/// Generated from a real API server: `UPDATE_TYPES=1 cargo test --test it embedded_types`.
static TABLE: LazyLock<TypeTable> = LazyLock::new(|| {
    // The file is compiled in, and a test reads all of it.
    serde_json::from_str(include_str!("builtin.json")).unwrap_or_default()
});

/// The types of the kinds that are compiled into the API server, of the release named in `crates/test-control-plane/go/go.mod`.
pub fn builtin() -> &'static TypeTable {
    &TABLE
}

/// Properties of a built-in kind.
pub fn builtin_kind(gvk: &GroupVersionKind) -> Option<&'static KindInfo> {
    TABLE.kind(gvk)
}

/// The type of an object's metadata.
pub(super) fn object_metadata() -> TypeRef<'static> {
    let config_map = TABLE.object(&GroupVersionKind::new("v1", "ConfigMap"));
    config_map.map_or_else(TypeRef::untyped, |object| object.field("metadata"))
}

/// The type of an object whose metadata is its only known field.
pub fn untyped_object() -> TypeRef<'static> {
    static UNTYPED_OBJECT: LazyLock<(TypeTable, TypeId)> = LazyLock::new(|| {
        let mut table = TypeTable::default();
        let metadata = Field::of(table.copy(object_metadata()));
        let fields = [("metadata".to_owned(), metadata)].into();
        let object = table.push(Shape::Map(MapShape { fields, ..MapShape::default() }));
        (table, object)
    });
    let (table, object) = &*UNTYPED_OBJECT;
    table.at(*object)
}
