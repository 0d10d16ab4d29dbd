//! OpenAPI v3 → [`TypeTable`], by the rules of kube-openapi's `schemaconv/openapi.go`.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::builtin::object_metadata;
use super::empty_values::constant_default;
use super::go_types::known_default;
use super::table::{Field, KindInfo, ListKind, MapShape, ScalarKind, Shape, TypeId, TypeTable};
use crate::object::GroupVersionKind;

/// Largest number of levels of a type: the JSON of an object has at most 128.
const DEEPEST: usize = 200;
/// The mark of a schema that keeps the fields that it does not have.
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
/// The schema of an object's metadata.
pub(super) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Origin of the types of a document. Built-in types are decoded into Go structs, which normalises base64 and times;
/// custom resources keep their text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Compiled into the API server.
    BuiltIn,
    /// A custom resource or an aggregated API.
    Custom,
}

/// Error for an OpenAPI document without `components.schemas`.
#[derive(Debug, thiserror::Error)]
#[error("the OpenAPI document has no schemas")]
pub struct CompileError;

/// Compiles OpenAPI v3 documents, one for each group-version, into one table. Schemas of the same name must mean the
/// same in all of them, as they do within one server's built-in types.
pub fn compile<'d>(documents: impl IntoIterator<Item = &'d Value>, origin: Origin) -> Result<TypeTable, CompileError> {
    let named = HashMap::new();
    let scalars = HashMap::new();
    let table = TypeTable::default();
    let mut compiler = Compiler { origin, table, named, scalars, depth: 0, is_defined: false, preserves: false };
    for document in documents {
        let schemas = document.pointer("/components/schemas").and_then(Value::as_object).ok_or(CompileError)?;
        let paths = paths_of(document);
        for (name, schema) in schemas {
            let kinds = schema.get("x-kubernetes-group-version-kind").and_then(Value::as_array);
            for gvk in kinds.into_iter().flatten().filter_map(gvk_of) {
                if let Some(found) = paths.get(&gvk) {
                    compiler.is_defined = origin == Origin::Custom && is_defined(schema);
                    let root = compiler.named(name, schemas, None);
                    compiler.is_defined = false;
                    compiler.table.kinds.push(KindInfo {
                        gvk,
                        root,
                        namespaced: found.namespaced,
                        status: found.status,
                    });
                }
            }
        }
    }
    Ok(compiler.table)
}

#[derive(Default)]
struct KindPaths {
    namespaced: bool,
    status: bool,
}

/// Kinds that can be patched, with the properties that their paths show.
fn paths_of(document: &Value) -> BTreeMap<GroupVersionKind, KindPaths> {
    let mut kinds: BTreeMap<GroupVersionKind, KindPaths> = BTreeMap::new();
    let paths = document.get("paths").and_then(Value::as_object).into_iter().flatten();
    for (path, operations) in paths {
        let Some(gvk) = operations.pointer("/patch/x-kubernetes-group-version-kind").and_then(gvk_of) else { continue };
        if path.ends_with("/{name}") {
            kinds.entry(gvk).or_default().namespaced |= path.contains("/{namespace}/");
        } else if path.ends_with("/{name}/status") {
            kinds.entry(gvk).or_default().status = true;
        }
    }
    kinds
}

fn gvk_of(value: &Value) -> Option<GroupVersionKind> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    Some(GroupVersionKind::in_group(text("group")?, text("version")?, text("kind")?))
}

/// Returns true if a kind's schema comes from a CustomResourceDefinition: the only schema that it refers to is that of
/// the metadata.
fn is_defined(schema: &Value) -> bool {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flatten().all(|(name, property)| name == "metadata" || reference(property).is_none())
}

struct Compiler {
    origin: Origin,
    table: TypeTable,
    /// The types of schemas by name. A reference may override if a map is atomic.
    named: HashMap<(String, Option<bool>), TypeId>,
    scalars: HashMap<ScalarKind, TypeId>,
    /// Levels that are being compiled.
    depth: usize,
    /// True if the schema being compiled is in a CustomResourceDefinition, whose fields must not be null unless it
    /// allows it. In Go types a null means the same as no value.
    is_defined: bool,
    /// True below a schema that preserves unknown fields, up to the next reference (`visitSpec` in `schemaconv/openapi.go`).
    preserves: bool,
}

impl Compiler {
    fn push(&mut self, shape: Shape) -> TypeId {
        let Shape::Scalar(kind) = shape else { return self.table.push(shape) };
        *self.scalars.entry(kind).or_insert_with(|| self.table.push(shape))
    }

    /// Compiles a schema by name. It is added to the table before its fields are compiled, as types can be recursive.
    fn named(&mut self, name: &str, schemas: &Map<String, Value>, is_atomic: Option<bool>) -> TypeId {
        if let Some(id) = self.named.get(&(name.to_owned(), is_atomic)) {
            return *id;
        }
        if let Some(kind) = special(name) {
            return self.push(kind);
        }
        if name == OBJECT_META && !schemas.contains_key(name) {
            let id = self.table.copy(object_metadata());
            self.named.insert((name.to_owned(), is_atomic), id);
            return id;
        }
        let id = self.push(Shape::Untyped);
        self.named.insert((name.to_owned(), is_atomic), id);
        if let Some(schema) = schemas.get(name) {
            let preserves = std::mem::take(&mut self.preserves);
            let shape = self.shape(schema, Some(name), schemas, is_atomic);
            self.preserves = preserves;
            if let Some(slot) = self.table.types.get_mut(id as usize) {
                *slot = shape;
            }
        }
        id
    }

    /// Compiles a schema where it is used. Levels deeper than those of any API type are untyped, as each of them uses
    /// the stack.
    fn inline(&mut self, schema: &Value, schemas: &Map<String, Value>) -> TypeId {
        if self.depth == DEEPEST {
            return self.push(Shape::Untyped);
        }
        let depth = self.depth;
        self.depth = depth.saturating_add(1);
        let id = self.typed(schema, schemas);
        self.depth = depth;
        id
    }

    fn typed(&mut self, schema: &Value, schemas: &Map<String, Value>) -> TypeId {
        let is_atomic = is_atomic_map(schema);
        if let Some(name) = reference(schema) {
            let is_defined = std::mem::take(&mut self.is_defined);
            let id = self.named(name, schemas, is_atomic);
            self.is_defined = is_defined;
            return id;
        }
        let preserves = self.preserves;
        let shape = self.shape(schema, None, schemas, is_atomic);
        self.preserves = preserves;
        self.push(shape)
    }

    fn shape(
        &mut self,
        schema: &Value,
        name: Option<&str>,
        schemas: &Map<String, Value>,
        is_atomic: Option<bool>,
    ) -> Shape {
        let flag = |key: &str| schema.get(key).and_then(Value::as_bool).unwrap_or(false);
        self.preserves |= flag(PRESERVE);
        if flag("x-kubernetes-int-or-string") {
            return Shape::Scalar(ScalarKind::IntOrString);
        }
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => self.map(schema, name, schemas, is_atomic),
            Some("array") => self.list(schema, schemas),
            Some("integer" | "number") => Shape::Scalar(ScalarKind::Number),
            Some("boolean") => Shape::Scalar(ScalarKind::Boolean),
            Some("string") => Shape::Scalar(match (self.origin, format) {
                (Origin::BuiltIn, "byte") => ScalarKind::Bytes,
                (Origin::Custom, "byte") | (_, "") => ScalarKind::Text,
                _ => ScalarKind::Any,
            }),
            _ if schema.get("properties").is_some() => self.map(schema, name, schemas, is_atomic),
            _ => Shape::Untyped,
        }
    }

    fn map(
        &mut self,
        schema: &Value,
        name: Option<&str>,
        schemas: &Map<String, Value>,
        is_atomic: Option<bool>,
    ) -> Shape {
        let mut fields = BTreeMap::new();
        let required = strings(schema.get("required"));
        for (field, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let default = name.and_then(|name| known_default(name, field)).or_else(|| property.get("default").cloned());
            let default_of_empty = name.and_then(|name| constant_default(name, field));
            let refuses_null = self.is_defined && refuses_null(property);
            let replaces_null = self.is_defined && !refuses_null && !is_nullable(property);
            let required = self.is_defined && default.is_none() && required.contains(field);
            let id = self.inline(property, schemas);
            fields
                .insert(field.clone(), Field { id, default, default_of_empty, refuses_null, replaces_null, required });
        }
        let is_free = schema.get(PRESERVE).is_some_and(|preserves| *preserves == true);
        let atomic = is_atomic.or(is_atomic_map(schema)).unwrap_or(false);
        // An object without fields takes any.
        let is_open = if fields.is_empty() { is_free || atomic } else { self.preserves };
        let rest = match schema.get("additionalProperties") {
            Some(entry @ Value::Object(_)) => Some(self.inline(entry, schemas)),
            Some(Value::Bool(false)) => None,
            Some(Value::Bool(true)) => Some(self.push(Shape::Untyped)),
            _ => is_open.then(|| self.push(Shape::Untyped)),
        };
        let rest_refuses_null = self.is_defined
            && schema.get("additionalProperties").is_some_and(|entry| entry.is_object() && refuses_null(entry));
        if fields.is_empty() && rest.is_none() && !atomic {
            return Shape::Untyped;
        }
        Shape::Map(MapShape { fields, rest, rest_refuses_null, atomic, stored_as_sent: self.is_defined })
    }

    fn list(&mut self, schema: &Value, schemas: &Map<String, Value>) -> Shape {
        let items = schema.get("items").cloned().unwrap_or_default();
        let item = self.inline(&items, schemas);
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let merges = text("x-kubernetes-patch-strategy").is_some_and(|s| s.split(',').any(|part| part == "merge"));
        let kind = match text("x-kubernetes-list-type") {
            Some("set") => ListKind::Set,
            Some("map") => ListKind::Keyed(strings(schema.get("x-kubernetes-list-map-keys"))),
            None if merges => {
                text("x-kubernetes-patch-merge-key").map_or(ListKind::Set, |key| ListKind::Keyed(vec![key.to_owned()]))
            }
            _ => ListKind::Atomic,
        };
        Shape::List(kind, item)
    }
}

/// Returns true if a field of a custom resource must not be null, and no default replaces a null
/// (apiextensions-apiserver `defaulting/prunenulls.go`, `isNonNullableNonDefaultableNull`).
fn refuses_null(schema: &Value) -> bool {
    !is_nullable(schema) && schema.get("default").is_none_or(Value::is_null)
}

/// Returns true for a map that is replaced as a whole; `None` if the schema does not say it.
fn is_atomic_map(schema: &Value) -> Option<bool> {
    Some(schema.get("x-kubernetes-map-type")?.as_str()? == "atomic")
}

fn is_nullable(schema: &Value) -> bool {
    schema.get("nullable").and_then(Value::as_bool).unwrap_or(false)
}

fn strings(value: Option<&Value>) -> Vec<String> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

/// The name of the schema that a schema refers to, directly or as the one member of `allOf`.
fn reference(schema: &Value) -> Option<&str> {
    let direct = schema.get("$ref").or_else(|| match schema.get("allOf")?.as_array()?.as_slice() {
        [only] => only.get("$ref"),
        _ => None,
    });
    direct?.as_str()?.strip_prefix("#/components/schemas/")
}

/// Types with a meaning that their schema does not state.
fn special(name: &str) -> Option<Shape> {
    let name = name.strip_prefix("io.k8s.apimachinery.pkg.")?;
    match name {
        "api.resource.Quantity" => Some(Shape::Scalar(ScalarKind::Quantity)),
        "apis.meta.v1.Time" => Some(Shape::Scalar(ScalarKind::Time)),
        "apis.meta.v1.MicroTime" => Some(Shape::Scalar(ScalarKind::MicroTime)),
        "util.intstr.IntOrString" => Some(Shape::Scalar(ScalarKind::IntOrString)),
        "runtime.RawExtension" => Some(Shape::Opaque),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_chain_of_references_is_followed_as_far_as_objects_reach() {
        let gvk = json!({"group": "example.com", "version": "v1", "kind": "Widget"});
        let mut schemas = Map::new();
        let next = |number: usize| json!({"$ref": format!("#/components/schemas/s{number}")});
        for number in 0..100_000 {
            let properties = json!({"next": next(number + 1), "list": {"type": "array", "items": next(number + 1)}});
            schemas.insert(format!("s{number}"), json!({"type": "object", "properties": properties}));
        }
        schemas["s0"]["x-kubernetes-group-version-kind"] = json!([gvk]);
        let document = json!({
            "paths": {"/widgets/{name}": {"patch": {"x-kubernetes-group-version-kind": gvk}}},
            "components": {"schemas": schemas},
        });
        let table = compile([&document], Origin::Custom).unwrap();
        assert_eq!(table.kinds.len(), 1);
        assert!(matches!(&table.types[table.kinds[0].root as usize], Shape::Map(map) if map.fields.len() == 2));
        assert!(table.types.len() < 2000, "{}", table.types.len());
    }

    #[test]
    fn what_preserves_unknown_fields_does_so_at_every_depth_up_to_a_reference() {
        let gvk = GroupVersionKind::new("example.com/v1", "Widget");
        let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let list = json!({"type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": closed});
        let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"inner": closed, "other": {"$ref": "#/components/schemas/other"}}});
        let whole = json!({"type": "object", "x-kubernetes-map-type": "atomic"});
        let kind = json!({"group": "example.com", "version": "v1", "kind": "Widget"});
        let widget = json!({"type": "object", "x-kubernetes-group-version-kind": [kind],
            "properties": {"open": open, "list": list, "closed": closed, "whole": whole}});
        let document = json!({
            "paths": {"/widgets/{name}": {"patch": {"x-kubernetes-group-version-kind": kind}}},
            "components": {"schemas": {"Widget": widget, "other": closed}},
        });
        let table = compile([&document], Origin::Custom).unwrap();
        let widget = table.object(&gvk).unwrap();
        let takes_more = |schema: crate::TypeRef<'_>| matches!(schema.shape(), Shape::Map(map) if map.rest.is_some());
        let (open, list) = (widget.field("open"), widget.field("list"));
        assert!([open, open.field("inner"), list.item(), widget.field("whole")].into_iter().all(takes_more));
        assert!(![widget, widget.field("closed"), open.field("other")].into_iter().any(takes_more));
    }
}
