use std::sync::LazyLock;

use super::table::{KindInfo, Shape, TypeRef, TypeTable};
use crate::object::GroupVersionKind;

/// Generated from a real API server: `UPDATE_TYPES=1 cargo test --test it embedded_types`.
static TABLE: LazyLock<TypeTable> = LazyLock::new(|| {
    // The file is part of the program, and a test reads it whole.
    serde_json::from_str(include_str!("builtin.json")).unwrap_or_default()
});

/// The types of the kinds that are compiled into the API server, of the release named in `crates/test-control-plane/go/go.mod`.
#[must_use]
pub fn builtin() -> &'static TypeTable {
    &TABLE
}

/// What is known of a built-in kind.
#[must_use]
pub fn builtin_kind(gvk: &GroupVersionKind) -> Option<&'static KindInfo> {
    TABLE.kind(gvk)
}

/// The type of an object of which only its metadata is known.
#[must_use]
pub fn untyped_object() -> TypeRef<'static> {
    static UNTYPED_OBJECT: LazyLock<TypeTable> = LazyLock::new(|| {
        let mut table = builtin().clone();
        let config_map = GroupVersionKind::new("v1", "ConfigMap");
        let metadata = table.kind(&config_map).and_then(|info| match table.types.get(info.root as usize)? {
            Shape::Map(map) => map.fields.get("metadata").cloned(),
            _ => None,
        });
        let shape = super::table::MapShape {
            fields: metadata.map(|field| ("metadata".to_owned(), field)).into_iter().collect(),
            ..Default::default()
        };
        table.types.push(Shape::Map(shape));
        table
    });
    let last = u32::try_from(UNTYPED_OBJECT.types.len()).unwrap_or(u32::MAX).saturating_sub(1);
    UNTYPED_OBJECT.at(last)
}
