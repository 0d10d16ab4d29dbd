//! The types of built-in kinds that the program carries are those of the API server that the tests run against.

use std::path::Path;

use serde_json::{Value, json};
use structured_merge::{
    GroupVersionKind, OpenApiDocument, Origin, Shape, TypeRef, TypeTable, compile, compile_definition,
};

use crate::control_plane::{ControlPlane, Workspace, is_before, wait_until};

const EMBEDDED: &str = "crates/structured-merge/src/schema/builtin.json";

/// `UPDATE_TYPES=1 cargo test --test it embedded_types` rewrites the table.
#[test]
fn embedded_types_are_those_of_the_api_server() {
    if is_before(37, "the embedded types are those of the newest version") {
        return;
    }
    let plane = ControlPlane::shared();
    let get = |path: &str| plane.api().find(path).unwrap_or_else(|| panic!("{path} is served"));
    let index = get("/openapi/v3");
    let group_versions = index["paths"].as_object().expect("an index of documents");
    let documents: Vec<Value> = group_versions
        .iter()
        .filter(|(path, _)| is_built_in(path))
        .map(|(_, entry)| get(entry["serverRelativeURL"].as_str().expect("a URL")))
        .filter(|document| document.pointer("/components/schemas").is_some())
        .collect();
    let table = text_of(&compile(&documents, Origin::BuiltIn).expect("a table of types"));
    let parts = documents.iter().map(|document| serde_json::from_value(document.clone()).expect("a document"));
    let parts: Vec<Value> = parts.map(|OpenApiDocument(document)| document).collect();
    let read = text_of(&compile(&parts, Origin::BuiltIn).expect("a table of types"));
    assert!(read == table, "what is read of the documents is enough");

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(EMBEDDED);
    if std::env::var_os("UPDATE_TYPES").is_some() {
        std::fs::write(&path, &table).expect("the table is written");
    }
    let embedded = std::fs::read_to_string(&path).expect("the table");
    assert!(table == embedded, "{EMBEDDED} is out of date: run `UPDATE_TYPES=1 cargo test --test it embedded_types`");
}

/// A table as JSON text, one type per line: the form in which the built-in types are stored.
fn text_of(table: &TypeTable) -> String {
    let table = serde_json::to_value(table).expect("JSON");
    let lines = |part: &str| {
        let items = table[part].as_array().expect("a list");
        items.iter().map(Value::to_string).collect::<Vec<_>>().join(",\n")
    };
    format!("{{\"types\":[\n{}\n],\"kinds\":[\n{}\n]}}\n", lines("types"), lines("kinds"))
}

/// Custom resources of other tests may be there at the same time: their groups are made-up domains.
fn is_built_in(path: &str) -> bool {
    let group = path.strip_prefix("apis/").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    path == "api/v1" || path.starts_with("apis/") && (!group.contains('.') || group.ends_with(".k8s.io"))
}

/// All that a schema of a CustomResourceDefinition can say of types.
const ALTIMETER: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: altimeters.$NS.example.com}
spec:
  group: $NS.example.com
  scope: Cluster
  names: {kind: Altimeter, plural: altimeters, singular: altimeter, listKind: AltimeterList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object, properties: {name: {type: string, maxLength: 20}}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
          spec:
            type: object
            properties:
              whole: {type: integer, format: int32, default: 3, minimum: 1}
              part: {type: number}
              is: {type: boolean, default: false}
              text: {type: string, nullable: true}
              nothing: {type: string, nullable: true, default: a}
              listed: {type: string, enum: [a, b]}
              bytes: {type: string, format: byte}
              time: {type: string, format: date-time}
              either: {x-kubernetes-int-or-string: true}
              both: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true, default: 1}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: integer}}}
              any: {x-kubernetes-preserve-unknown-fields: true}
              bare: {type: object}
              map: {type: object, additionalProperties: {type: string}}
              maps: {type: object, additionalProperties: {type: object, properties: {a: {type: integer, default: 1}}}}
              free: {type: object, additionalProperties: true}
              atomic: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
              struct: {type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string}}}
              list: {type: array, items: {type: string}}
              set: {type: array, x-kubernetes-list-type: set, items: {type: integer}}
              keyed:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [port, protocol]
                default: []
                items:
                  type: object
                  required: [port]
                  properties:
                    port: {type: integer}
                    protocol: {type: string, default: TCP}
                    more: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              embedded: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
              typed:
                type: object
                x-kubernetes-embedded-resource: true
                properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {type: object}, spec: {type: object, properties: {a: {type: string}}}}
              templates: {type: array, items: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}
";

#[test]
fn a_definition_says_the_same_of_types_as_the_document_that_the_server_publishes_of_it() {
    let ws = Workspace::new();
    ws.write("crd.yaml", ALTIMETER);
    ws.kubectl(["create", "-f", "crd.yaml"]).exits_with(0);
    let plane = ControlPlane::shared();
    let group = format!("{}.example.com", ws.namespace());
    let gvk = GroupVersionKind::new(&format!("{group}/v1"), "Altimeter");
    let path = format!("apis/{group}/v1");
    let published = || {
        let index = plane.api().find("/openapi/v3")?;
        let document = plane.api().find(index["paths"][&path]["serverRelativeURL"].as_str()?)?;
        compile([&document], Origin::Custom).ok().filter(|table| table.object(&gvk).is_some())
    };
    wait_until("the document is published", || published().is_some());
    let published = published().expect("the document");
    let definition =
        plane.api().find(&format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/altimeters.{group}"));
    let defined = compile_definition(&definition.expect("a definition"), &gvk).expect("a type");
    let kind = |table: &structured_merge::TypeTable| {
        let kind = table.kind(&gvk).expect("the kind").clone();
        (kind.namespaced, kind.status)
    };
    assert_eq!(kind(&defined), kind(&published));
    let defined = defined.object(&gvk).expect("a type");
    let published = published.object(&gvk).expect("a type");
    assert_eq!(described(defined), described(published));
}

/// A type with all that it is made of.
fn described(of: TypeRef<'_>) -> Value {
    match of.shape() {
        Shape::Map(map) => {
            let fields = map.fields.iter().map(|(name, field)| {
                let said = json!([field.default, field.refuses_null, field.replaces_null]);
                (name.clone(), json!([said, described(of.field(name))]))
            });
            let fields: Value = fields.collect::<serde_json::Map<_, _>>().into();
            let rest = map.rest.map(|_| described(of.field("an entry that is not declared")));
            json!({"fields": fields, "rest": rest, "flags": [map.rest_refuses_null, map.atomic, map.stored_as_sent]})
        }
        Shape::List(kind, _) => json!([format!("{kind:?}"), described(of.item())]),
        shape => json!(format!("{shape:?}")),
    }
}
