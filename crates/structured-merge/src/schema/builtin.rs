use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

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

impl TypeRef<'_> {
    /// Returns true if it is a type of the built-in kinds.
    pub fn is_builtin(self) -> bool {
        self.table().is_some_and(|table| std::ptr::eq(table, builtin()))
    }
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
        let id = table.copy(object_metadata());
        let metadata = Field {
            id,
            default: None,
            default_of_empty: None,
            refuses_null: false,
            replaces_null: false,
            required: false,
        };
        let fields = [("metadata".to_owned(), metadata)].into();
        let object = table.push(Shape::Map(MapShape { fields, ..MapShape::default() }));
        (table, object)
    });
    let (table, object) = &*UNTYPED_OBJECT;
    table.at(*object)
}

/// New objects by apiVersion and kind, generated from the Go types:
/// `UPDATE_TYPES=1 cargo test -p structured-merge --test it new_objects`.
static NEW_OBJECTS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    // The file is compiled in, and a test reads all of it.
    serde_json::from_str(include_str!("new_objects.json")).unwrap_or_default()
});

/// The fields, except its metadata, that an object has before one is set: for a built-in kind, those that its Go type
/// never leaves out.
pub fn new_object(gvk: &GroupVersionKind) -> Value {
    let found = NEW_OBJECTS.get(&format!("{}/{}", gvk.api_version(), gvk.kind));
    found.cloned().unwrap_or_else(|| Value::Object(Map::new()))
}
