//! Kinds with random schemas, and built-in ones.

use serde_json::{Map, Value, json};
use structured_merge::{
    GroupVersionKind, KindInfo, ListKind, Origin, ScalarKind, Shape, TypeRef, TypeTable, builtin, compile,
};
use test_control_plane::Rng;

/// Kinds that together have many sorts of built-in types.
const BUILT_IN: [(&str, &str); 16] = [
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Pod"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("batch/v1", "CronJob"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("networking.k8s.io/v1", "Ingress"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("policy/v1", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
    ("discovery.k8s.io/v1", "EndpointSlice"),
];
const DEEPEST: usize = 4;
const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// A kind, and the types that both sides read.
pub struct Kind {
    pub api_version: String,
    pub name: String,
    pub is_built_in: bool,
    /// The schema from which its objects are generated.
    pub schema: Value,
    /// The schemas to which `$ref` refers.
    named: Map<String, Value>,
    /// The types of a kind that is not built in.
    types: Option<TypeTable>,
}

impl Kind {
    pub fn any(rng: &mut Rng) -> Self {
        if rng.chance(30) { Self::built_in(rng.pick(&BUILT_IN)) } else { Self::custom(rng) }
    }

    fn built_in((api_version, name): &(&str, &str)) -> Self {
        let schema = builtin().object(&GroupVersionKind::new(api_version, name)).expect("a built-in kind");
        let schema = openapi(schema, 9);
        let api_version = (*api_version).to_owned();
        let name = (*name).to_owned();
        Self { api_version, name, is_built_in: true, schema, named: Map::new(), types: None }
    }

    fn custom(rng: &mut Rng) -> Self {
        let gvk = json!({"group": "example.com", "version": "v1", "kind": "Gauge"});
        let mut spec = random(rng, DEEPEST);
        mark(&mut spec, false, false);
        let mut schema = json!({"type": "object", "x-kubernetes-group-version-kind": [gvk], "properties": {
            "apiVersion": {"type": "string"}, "kind": {"type": "string"},
            "metadata": {"allOf": [{"$ref": format!("#/components/schemas/{METADATA}")}]},
            "spec": spec,
        }});
        if rng.chance(20) {
            schema["x-kubernetes-preserve-unknown-fields"] = true.into();
        }
        let mut named = Map::new();
        named.insert(METADATA.to_owned(), metadata());
        named.insert("com.example.v1.Gauge".to_owned(), schema.clone());
        let document = json!({
            "paths": {"/apis/example.com/v1/namespaces/{namespace}/gauges/{name}": {"patch": {"x-kubernetes-group-version-kind": gvk}}},
            "components": {"schemas": named},
        });
        let types = compile([&document], Origin::Custom).ok();
        let api_version = "example.com/v1".to_owned();
        let name = "Gauge".to_owned();
        Self { api_version, name, is_built_in: false, schema, named, types }
    }

    /// The types for the reference, which has those of the built-in kinds itself.
    pub fn schemas(&self) -> Value {
        Value::Object(self.named.clone())
    }

    fn gvk(&self) -> GroupVersionKind {
        GroupVersionKind::new(&self.api_version, &self.name)
    }

    fn types(&self) -> &TypeTable {
        self.types.as_ref().unwrap_or(builtin())
    }

    pub fn of(&self) -> TypeRef<'_> {
        self.types().object(&self.gvk()).expect("the type of the kind")
    }

    pub fn info(&self) -> &KindInfo {
        self.types().kind(&self.gvk()).expect("the kind")
    }

    /// A schema, or the one that it refers to.
    pub fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        let reference = schema.get("$ref").or_else(|| schema.pointer("/allOf/0/$ref")).and_then(Value::as_str);
        let named = reference.and_then(|path| self.named.get(path.trim_start_matches("#/components/schemas/")));
        named.unwrap_or(schema)
    }
}

fn metadata() -> Value {
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let owner = json!({"type": "object", "x-kubernetes-map-type": "atomic",
        "properties": {"uid": {"type": "string"}, "name": {"type": "string"}, "controller": {"type": "boolean"}}});
    json!({"type": "object", "properties": {
        "name": {"type": "string"}, "namespace": {"type": "string"}, "generateName": {"type": "string"},
        "labels": texts, "annotations": texts,
        "finalizers": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge"},
        "ownerReferences": {"type": "array", "items": owner, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uid"],
            "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "uid"},
        "managedFields": {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "atomic"},
    }})
}

/// A random schema: every sort of struct, map, list and scalar that the API has.
fn random(rng: &mut Rng, depth: usize) -> Value {
    match rng.below(if depth == 0 { 5 } else { 16 }) {
        0 => json!({"type": "integer"}),
        1 => json!({"type": "boolean"}),
        2 => json!({"x-kubernetes-int-or-string": true}),
        3 | 4 => json!({"type": if rng.chance(20) { "number" } else { "string" }}),
        5..=7 => structure(rng, depth),
        8 => {
            let entry = random(rng, depth - 1);
            relation(rng, json!({"type": "object", "additionalProperties": entry}))
        }
        9 => {
            let anything = [
                json!({"type": "object"}),
                json!({"x-kubernetes-preserve-unknown-fields": true}),
                json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
                json!({"type": "object", "additionalProperties": true}),
                json!({}),
            ];
            let anything = rng.pick(&anything).clone();
            if anything["type"] == "object" { relation(rng, anything) } else { anything }
        }
        10 => {
            let mut open = structure(rng, depth);
            open["x-kubernetes-preserve-unknown-fields"] = true.into();
            open
        }
        11 | 12 => json!({"type": "array", "items": random(rng, depth - 1)}),
        13 => {
            let item = rng.pick(&["string", "integer", "boolean", "number"]);
            json!({"type": "array", "items": {"type": item}, "x-kubernetes-list-type": "set"})
        }
        _ => list(rng, depth),
    }
}

fn structure(rng: &mut Rng, depth: usize) -> Value {
    let names = ["a", "b", "c", "d", "e"];
    let count = 1 + rng.below(names.len());
    let fields = names.iter().take(count).map(|name| ((*name).to_owned(), random(rng, depth.saturating_sub(1))));
    let fields = Value::Object(fields.collect());
    relation(rng, json!({"type": "object", "properties": fields}))
}

fn relation(rng: &mut Rng, mut schema: Value) -> Value {
    if rng.chance(25) {
        schema["x-kubernetes-map-type"] = (*rng.pick(&["atomic", "granular"])).into();
    }
    schema
}

/// A list whose items are matched by one key or two, which may have defaults or be left out.
fn list(rng: &mut Rng, depth: usize) -> Value {
    let mut item = structure(rng, depth);
    item["properties"]["name"] = json!({"type": "string"});
    let mut keys = vec!["name"];
    if rng.chance(50) {
        item["properties"]["port"] = json!({"type": "integer"});
        keys.push("port");
        if rng.chance(40) {
            item["properties"]["port"]["default"] = json!(80);
        }
    }
    if rng.chance(20) {
        // Only keys have defaults.
        if let Some(port) = item["properties"].get_mut("port") {
            *port = json!({"type": "integer"});
        }
        let merge = json!({"type": "array", "items": item, "x-kubernetes-patch-strategy": "merge,retainKeys", "x-kubernetes-patch-merge-key": "name"});
        return merge;
    }
    json!({"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys})
}

/// Removes defaults inside values that are replaced as a whole, except those of keys, as a server would have filled
/// them in. Marks where unknown fields are allowed: everywhere below a schema that preserves them.
fn mark(schema: &mut Value, is_atomic: bool, is_open: bool) {
    let is_list = schema["type"] == "array" && schema["x-kubernetes-patch-strategy"].is_null();
    let is_atomic = is_atomic
        || schema["x-kubernetes-map-type"] == "atomic"
        || is_list && schema["x-kubernetes-list-type"].is_null();
    let is_open = is_open || schema["x-kubernetes-preserve-unknown-fields"] == true;
    let Some(map) = schema.as_object_mut() else { return };
    map.insert("x-open".to_owned(), is_open.into());
    if is_atomic {
        map.remove("default");
    }
    let fields = map.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
    fields.for_each(|(_, field)| mark(field, is_atomic, is_open));
    for name in ["items", "additionalProperties"] {
        if let Some(below) = map.get_mut(name) {
            mark(below, is_atomic, is_open);
        }
    }
}

/// The OpenAPI schema of a type, as deep as objects are generated.
fn openapi(schema: TypeRef<'_>, depth: usize) -> Value {
    match schema.shape() {
        _ if depth == 0 => json!(null),
        Shape::Scalar(kind) => json!({"scalar": kind, "type": match kind {
            ScalarKind::Number => "integer",
            ScalarKind::Boolean => "boolean",
            _ => "string",
        }}),
        Shape::Map(map) => {
            let fields = map
                .fields
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "status" | "managedFields" | "stringData"));
            let fields = fields.map(|(name, _)| (name.clone(), openapi(schema.field(name), depth - 1)));
            let fields: Map<_, _> = fields.filter(|(_, field)| !field.is_null()).collect();
            let mut map_schema = json!({"type": "object", "properties": fields});
            if map.rest.is_some() {
                map_schema["additionalProperties"] = openapi(schema.field("\0"), depth - 1);
            }
            map_schema
        }
        Shape::List(kind, _) => {
            let mut list = json!({"type": "array", "items": openapi(schema.item(), depth - 1)});
            match kind {
                ListKind::Atomic => {}
                ListKind::Set => list["x-kubernetes-list-type"] = "set".into(),
                ListKind::Keyed(keys) => list["x-kubernetes-list-map-keys"] = keys.clone().into(),
            }
            if list["items"].is_null() { json!(null) } else { list }
        }
        Shape::Opaque | Shape::Untyped => json!({"type": "object"}),
    }
}
