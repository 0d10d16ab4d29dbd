//! CustomResourceDefinition → [`TypeTable`]: builds the document that the server publishes for it, and compiles that.

use serde_json::{Map, Value, json};

use super::openapi::{OBJECT_META, Origin, compile};
use super::table::TypeTable;
use crate::object::GroupVersionKind;

/// Compiles the type of a kind from its CustomResourceDefinition. `None` if this has no schema for the version, or one
/// that the server does not publish because it is not structural.
pub fn compile_definition(definition: &Value, gvk: &GroupVersionKind) -> Option<TypeTable> {
    if is_not_structural(definition) {
        return None;
    }
    let version = version_of(definition, &gvk.version)?;
    let mut schema = version.pointer("/schema/openAPIV3Schema")?.clone();
    publish(&mut schema);
    let kind = json!({"group": gvk.group, "version": gvk.version, "kind": gvk.kind});
    let root = schema.as_object_mut()?;
    add_object_fields(root);
    root.insert("x-kubernetes-group-version-kind".to_owned(), json!([kind]));
    let is_namespaced = definition.pointer("/spec/scope").is_some_and(|scope| scope == "Namespaced");
    let path = if is_namespaced { "/{namespace}/{name}" } else { "/{name}" };
    let operations = json!({"patch": {"x-kubernetes-group-version-kind": kind}});
    let mut paths = Map::from_iter([(path.to_owned(), operations.clone())]);
    if version.pointer("/subresources/status").is_some() {
        paths.insert(format!("{path}/status"), operations);
    }
    let schemas = Value::Object(Map::from_iter([(gvk.kind.clone(), schema)]));
    compile([&json!({"components": {"schemas": schemas}, "paths": paths})], Origin::Custom).ok()
}

/// The schema of a version, as a CustomResourceDefinition has it.
pub fn written_schema<'d>(definition: &'d Value, version: &str) -> Option<&'d Value> {
    version_of(definition, version)?.pointer("/schema/openAPIV3Schema")
}

fn version_of<'d>(definition: &'d Value, version: &str) -> Option<&'d Value> {
    let versions = definition.pointer("/spec/versions")?.as_array()?;
    versions.iter().find(|one| one.get("name").is_some_and(|name| name == version))
}

/// The group and the kind that a CustomResourceDefinition names. It does not define a built-in kind, even if it names
/// one.
pub fn defined_kind(crd: &Value) -> Option<(&str, &str)> {
    let spec = crd.get("spec")?;
    Some((spec.get("group")?.as_str()?, spec.get("names")?.get("kind")?.as_str()?))
}

/// Returns true for definitions from before `apiextensions.k8s.io/v1`.
fn is_not_structural(definition: &Value) -> bool {
    let conditions = definition.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    let is = |condition: &Value, key: &str, value: &str| condition.get(key).is_some_and(|found| found == value);
    definition.pointer("/spec/preserveUnknownFields") == Some(&Value::Bool(true))
        || conditions.into_iter().any(|one| is(one, "type", "NonStructuralSchema") && is(one, "status", "True"))
}

/// Gives embedded objects the fields of every object, as the server does in the documents that it publishes
/// (apiextensions-apiserver `pkg/controller/openapi/builder/builder.go`, `addEmbeddedProperties`).
fn publish(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(publish);
            if fields.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true)) {
                add_object_fields(fields);
            }
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(publish),
        _ => {}
    }
}

fn add_object_fields(schema: &mut Map<String, Value>) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = properties.as_object_mut() else { return };
    for name in ["apiVersion", "kind"] {
        properties.insert(name.to_owned(), json!({"type": "string"}));
    }
    properties.insert("metadata".to_owned(), json!({"$ref": format!("#/components/schemas/{OBJECT_META}")}));
}
