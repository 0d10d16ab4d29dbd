//! An OpenAPI v3 document without what [`super::compile`] does not read: descriptions, validation rules, parameters and answers, which
//! are most of it.

use serde::de::{Deserialize, DeserializeSeed as _, Deserializer};
use serde_json::Value;

use crate::selection::{Selected, Selection};

/// A document that can be compiled. The rest of it is skipped while it is parsed, so that it never uses memory.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenApiDocument(pub Value);

impl<'de> Deserialize<'de> for OpenApiDocument {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Selected(Part::Document).deserialize(from).map(Self)
    }
}

/// The keywords of a schema that are read as they are.
const READ: [&str; 13] = [
    "$ref",
    "default",
    "format",
    "nullable",
    "required",
    "type",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-preserve-unknown-fields",
];

/// A part of a document.
#[derive(Clone, Copy)]
enum Part {
    Document,
    Components,
    Paths,
    Path,
    Patch,
    /// Schemas by name.
    Schemas,
    Schema,
    /// A value that is kept as it is.
    Whole,
}

impl Selection for Part {
    /// `additionalProperties` may be a boolean.
    const HAS_BOOLEANS: bool = true;

    fn of_key(self, key: &str) -> Option<Self> {
        match (self, key) {
            (Self::Document, "components") => Some(Self::Components),
            (Self::Document, "paths") => Some(Self::Paths),
            (Self::Components, "schemas") | (Self::Schema, "properties") => Some(Self::Schemas),
            (Self::Paths, path) if path.ends_with("/{name}") || path.ends_with("/{name}/status") => Some(Self::Path),
            (Self::Path, "patch") => Some(Self::Patch),
            (Self::Schemas, _) | (Self::Schema, "items" | "additionalProperties" | "allOf") => Some(Self::Schema),
            (Self::Schema, key) if READ.contains(&key) => Some(Self::Whole),
            (Self::Schema | Self::Patch, "x-kubernetes-group-version-kind") => Some(Self::Whole),
            _ => None,
        }
    }

    fn is_whole(self) -> bool {
        matches!(self, Self::Whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Origin, compile};
    use serde_json::json;

    #[test]
    fn what_is_left_out_means_nothing() {
        let gvk = json!({"group": "example.com", "version": "v1", "kind": "Widget"});
        let properties = json!({
            "description": {"type": "string", "description": "a field of this name", "default": {"description": "kept"}},
            "type": {"type": "integer", "nullable": true, "maximum": 3},
            "quantity": {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}], "default": {}},
            "port": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "string"}]},
            "items": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}},
                "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
            "tags": {"type": "array", "items": {"type": "string", "format": "byte"}, "x-kubernetes-patch-strategy": "merge"},
            "open": {"type": "object", "additionalProperties": true},
            "map": {"type": "object", "additionalProperties": {"type": "string", "enum": ["a"]}, "x-kubernetes-map-type": "atomic"},
            "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{"rule": "true"}]},
            "next": {"$ref": "#/components/schemas/widget"},
        });
        let patch =
            json!({"patch": {"x-kubernetes-group-version-kind": gvk, "parameters": [{}]}, "get": {"responses": {}}});
        let document = json!({
            "openapi": "3.0.0", "info": {"title": "x"},
            "paths": {
                "/widgets/{namespace}/{name}": patch, "/widgets/{namespace}/{name}/status": patch, "/widgets": patch,
            },
            "components": {"securitySchemes": {}, "schemas": {
                "widget": {"type": "object", "x-kubernetes-group-version-kind": [gvk], "properties": properties, "required": ["port"]},
            }},
        });
        let lean: OpenApiDocument = serde_json::from_str(&document.to_string()).unwrap();
        let table = |document: &Value| serde_json::to_value(compile([document], Origin::Custom).unwrap()).unwrap();
        assert_eq!(table(&lean.0), table(&document));
        let text = lean.0.to_string();
        for word in [
            "a field of this name",
            "maximum",
            "anyOf",
            "validations",
            "parameters",
            "responses",
            "openapi",
            "/widgets\"",
        ] {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
}
