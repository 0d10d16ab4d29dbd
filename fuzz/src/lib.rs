//! Properties that hold for any bytes: nothing panics, everything ends, and a value that is read and written is read again. Each property is a
//! function of bytes; the fuzz targets and `cargo test` call the same ones.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use apply_set::{ApplySet, ParentState, Tooling, part_of};
use kube_yaml::{Document, Step, Validation};
use kubectl_reconcile::live::types::Types;
use reconcile_core::compare::{CompareContext, Patterns, Policy, Redactor, offline};
use reconcile_core::live::Discovery;
use reconcile_core::live::resolve::{Namespaces, resolve};
use reconcile_core::live::snapshot::Snapshot;
use reconcile_core::manifest::Input;
use reconcile_core::manifest::{Hooks, ReadOptions, read};
use reconcile_core::object::Selector;
use reconcile_core::rules::{FieldPattern, Glob, annotated, jq_path, json_pointer};
use reconcile_report::formats::{FORMATS, Render};
use reconcile_report::{Command, FailOn, ObjectReport, Report, View, plain};
use serde_json::{Value, json};
use structured_merge::{
    FieldSet, GroupKind, GroupVersionKind, ManagedObject, ObjectKey, Origin, Proof, Quantity, TypeTable, changes,
    compile, compile_definition, field_set, managed_fields, predict, prove, with_live_spelling,
};

mod audit;
mod edits;
mod readers;
mod secrets;

pub use audit::audit_log;
pub use edits::edits;
pub use readers::{cel, completion, configuration, definitions, report_merge};
pub use secrets::secrets;

/// A property.
pub type Property = fn(&[u8]);

/// All properties, by the names of their fuzz targets.
pub const ALL: [(&str, Property); 17] = [
    ("yaml", yaml),
    ("fields_v1", fields_v1),
    ("quantity", quantity),
    ("openapi", openapi),
    ("merge", merge),
    ("patterns", patterns),
    ("apply_set", apply_set),
    ("snapshot", snapshot),
    ("report", report),
    ("report_merge", report_merge),
    ("configuration", configuration),
    ("definitions", definitions),
    ("cel", cel),
    ("completion", completion),
    ("secrets", secrets),
    ("edits", edits),
    ("audit_log", audit_log),
];

/// Every value that is read has a position, and strict reading returns no more than lenient.
pub fn yaml(input: &[u8]) {
    let warn = kube_yaml::read(input, Validation::Warn);
    for document in &warn.documents {
        check_positions(document, &document.value, &mut Vec::new());
    }
    let strict = kube_yaml::read(input, Validation::Strict);
    assert!(strict.documents.len() <= warn.documents.len());
    assert_eq!(strict.diagnostics, warn.diagnostics);
}

fn check_positions<'a>(document: &Document, value: &'a Value, path: &mut Vec<Step<'a>>) {
    assert!(document.positions.value_at(path).is_some(), "no place for {path:?}");
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                path.push(Step::Key(key));
                check_positions(document, value, path);
                path.pop();
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                path.push(Step::Index(index));
                check_positions(document, value, path);
                path.pop();
            }
        }
        _ => {}
    }
}

/// A field set is the same after it is written and read again, and the laws of sets hold for it.
pub fn fields_v1(input: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(input) else { return };
    let _ = managed_fields(&json!({"metadata": {"managedFields": value}}));
    let Ok(set) = FieldSet::from_fields_v1(&value) else { return };
    assert_eq!(FieldSet::from_fields_v1(&set.to_fields_v1()).as_ref(), Ok(&set), "{value}");
    assert_eq!(set.clone().union(&set), set);
    assert_eq!(set.intersection(&set), set);
    assert!(set.difference(&set).is_empty());
    assert!(set.paths().iter().all(|path| set.contains(path)));
    let mut again = FieldSet::new();
    for path in set.paths() {
        again.insert(&path);
    }
    assert_eq!(again, set);
}

/// Quantities of the same text are equal, and a sign reverses their order.
pub fn quantity(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for line in text.lines() {
        let Some(one) = Quantity::parse(line) else { continue };
        assert_eq!(Some(one), Quantity::parse(line));
        if let (Some(negative), false) = (Quantity::parse(&format!("-{line}")), line.starts_with(['-', '+'])) {
            let zero = Quantity::parse("0").unwrap_or(one);
            assert_eq!(one.cmp(&zero), zero.cmp(&negative), "{line}");
        }
    }
}

/// Types from any OpenAPI document, and from any of its schemas as that of a CustomResourceDefinition, can be used on any object.
pub fn openapi(input: &[u8]) {
    let Some((document, object)) = pair(input) else { return };
    if let Ok(types) = compile([&document], Origin::Custom) {
        check_types(&types, &object);
    }
    let schemas = document.pointer("/components/schemas").and_then(Value::as_object).into_iter().flatten();
    for (_, schema) in schemas {
        let version = json!({"name": "v1", "schema": {"openAPIV3Schema": schema}, "subresources": document});
        let definition = json!({"spec": {"versions": [version], "scope": "Namespaced"}, "status": object});
        if let Some(types) = compile_definition(&definition, &GroupVersionKind::new("example.com/v1", "Gauge")) {
            check_types(&types, &object);
        }
    }
}

fn check_types(types: &TypeTable, object: &Value) {
    for kind in types.kinds() {
        let Some(of) = types.object(&kind.gvk) else { continue };
        check_merge(object, object, of, kind);
    }
    let written = serde_json::to_vec(&types).unwrap_or_default();
    let read: Result<TypeTable, _> = serde_json::from_slice(&written);
    assert!(read.is_ok(), "what is kept on disk can be read again");
}

/// An apply that is proven to change nothing changes nothing, for objects of a kind with lists and maps of all sorts.
pub fn merge(input: &[u8]) {
    static GAUGES: LazyLock<TypeTable> = LazyLock::new(|| compile([&gauges()], Origin::Custom).unwrap_or_default());
    let Some((manifest, live)) = pair(input) else { return };
    let gvk = GroupVersionKind::new("example.com/v1", "Gauge");
    if let (Some(of), Some(kind)) = (GAUGES.object(&gvk), GAUGES.kind(&gvk)) {
        check_merge(&manifest, &live, of, kind);
    }
}

fn check_merge(manifest: &Value, live: &Value, of: structured_merge::TypeRef<'_>, kind: &structured_merge::KindInfo) {
    let claims = field_set(manifest, of, Some(kind));
    assert!(claims.paths().len() < 1_000_000);
    let _ = with_live_spelling(manifest, live, of);
    if !(manifest.is_object() && live.is_object()) {
        return;
    }
    let managed = ManagedObject::new(live.clone(), "us");
    let proof = prove(manifest, &managed, of, kind, "us");
    let after = predict(manifest, &managed, of, Some(kind), "us");
    if proof == Proof::Proven {
        let changed = changes(live, &after.object, of, kind.status);
        assert!(changed.is_empty(), "{manifest} on {live}: {changed:?}");
    }
}

fn gauges() -> Value {
    let id = json!({"group": "example.com", "version": "v1", "kind": "Gauge"});
    let text = json!({"type": "string"});
    let item = json!({"type": "object", "properties": {"name": text, "size": {"type": "integer"}}});
    let properties = json!({
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": item},
        "atomic": {"type": "array", "x-kubernetes-list-type": "atomic", "items": item},
        "labels": {"type": "object", "additionalProperties": text},
        "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": text},
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "port": {"x-kubernetes-int-or-string": true},
    });
    json!({
        "paths": {"/gauges/{name}": {"patch": {"x-kubernetes-group-version-kind": id}}},
        "components": {"schemas": {"Gauge": {"type": "object", "x-kubernetes-group-version-kind": [id], "properties": {
            "metadata": {"type": "object", "properties": {"name": text, "labels": {"type": "object", "additionalProperties": text}}},
            "spec": {"type": "object", "properties": properties},
        }}}},
    })
}

/// Ignore rules of all spellings are read or rejected, and a rule that is read can be written and read again.
pub fn patterns(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let _ = (annotated(text), json_pointer(text), jq_path(text));
    if let Ok(pattern) = FieldPattern::parse(text) {
        let again = FieldPattern::parse(&pattern.to_string());
        assert!(again.is_ok_and(|again| again.to_string() == pattern.to_string()), "{text}");
    }
    if let Some((glob, name)) = text.split_once('\n') {
        let _ = Glob::new(glob).matches(name);
        assert!(Glob::new("*").matches(name));
    }
}

/// Reading a parent with any annotations ends, and it lists no member without a reason.
pub fn apply_set(input: &[u8]) {
    let Ok(live) = serde_json::from_slice::<Value>(input) else { return };
    let gvk = GroupVersionKind::new("v1", "Secret");
    let set = ApplySet::of(ObjectKey { gvk, namespace: Some("shop".to_owned()), name: "set".to_owned() });
    let mut named = live.clone();
    if let Some(labels) = named.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.insert("applyset.kubernetes.io/id".to_owned(), set.id.as_str().into());
    }
    for live in [live, named] {
        let _ = part_of(&live);
        let tooling = Tooling::new("kubectl-reconcile/v1");
        let _ = ParentState::of(&set, &live, &tooling, &BTreeSet::new());
        if let Some(kinds) = live.pointer("/metadata/annotations/applyset.kubernetes.io~1contains-group-kinds") {
            kinds.as_str().unwrap_or_default().split(',').for_each(|kind| drop(GroupKind::parse(kind)));
        }
    }
}

/// Any snapshot is read or rejected.
pub fn snapshot(input: &[u8]) {
    let Ok(snapshot) = Snapshot::read(&[of_bytes("live.yaml", input)]) else { return };
    for object in snapshot.objects() {
        assert!(object.is_object());
    }
}

/// A report of any objects is valid in its format, and text for people has no control characters for a terminal.
pub fn report(input: &[u8]) {
    let middle = input.windows(5).position(|bytes| bytes == b"\n###\n").unwrap_or(input.len());
    let (manifests, live) = input.split_at(middle);
    let options = ReadOptions {
        validation: Validation::Ignore,
        selector: Selector::default(),
        hooks: Hooks::Include,
        allow_empty: true,
    };
    let Ok(desired) = read(&[of_bytes("it.yaml", manifests)], &options) else { return };
    let Ok(snapshot) = Snapshot::read(&[of_bytes("live.yaml", live.get(5..).unwrap_or_default())]) else { return };
    let mut catalog = Discovery::builtin();
    snapshot.definitions().for_each(|definition| catalog.learn_defined(definition));
    snapshot.objects().for_each(|object| catalog.learn(object));
    let namespaces = Namespaces { required: None, default: "shop".to_owned() };
    let Ok(targets) = resolve(desired.manifests, &catalog, &namespaces) else { return };
    let (policy, redactor) = (Policy { show_unmanaged: true, ..Policy::of("kubectl-reconcile") }, Redactor::default());
    let types = Types::defined(targets.iter().map(|target| &target.key.gvk), snapshot.definitions());
    let objects = targets.iter().map(|target| {
        let context = CompareContext::new(target, types.of(&target.key.gvk), &policy);
        ObjectReport::new(target, &offline(context, snapshot.state(&target.key), None, &Patterns::default(), &redactor))
    });
    let report = Report::compared(Command::Diff, objects.collect(), &FailOn::default()).into();
    for format in FORMATS {
        match &format.render {
            Render::Text(render) => {
                let text = plain(&render(&report, &View::default()));
                let is_obeyed = |c: char| {
                    (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                };
                assert!(!text.contains(is_obeyed), "{}: {text:?}", format.name);
            }
            Render::Data(render) | Render::Patch(render) | Render::Lines(render) => {
                let text = render(&report, &View::default());
                if matches!(format.name, "json" | "sarif" | "gitlab") {
                    assert!(serde_json::from_str::<Value>(&text).is_ok(), "{}: {text}", format.name);
                }
                if format.name == "jsonl" {
                    assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{text}");
                }
            }
        }
    }
}

fn of_bytes(name: &str, bytes: &[u8]) -> Input {
    Input::new(name, bytes.to_vec())
}

/// Two JSON documents, one in each line.
fn pair(input: &[u8]) -> Option<(Value, Value)> {
    let middle = input.iter().position(|byte| *byte == b'\n')?;
    let (first, second) = input.split_at(middle);
    Some((serde_json::from_slice(first).ok()?, serde_json::from_slice(second).ok()?))
}
