//! Random changes of a manifest: fields come, change and go, and values are written in other ways.

use reconcile_core::live::Target;
use serde_json::{Value, json};
use structured_merge::{ScalarKind, TypeRef};

use crate::generated::{Ground, Rng};

/// Changes a manifest at random; says how.
pub fn change(ground: &Ground, target: &Target, manifest: &mut Value, rng: &mut Rng) -> &'static str {
    let of = ground.of(target);
    match rng.below(15) {
        0 | 1 => {
            let Some(schema) = ground.schema(target) else { return "nothing" };
            (0..6).find(|_| schema.grow(manifest, rng));
            "grown"
        }
        2 => drop_field(manifest, rng),
        3 => replace(manifest, rng, "changed", changed),
        4 => replace(manifest, rng, "zeroed", |_, value| {
            Some(match value {
                Value::String(_) => json!(""),
                Value::Number(_) => json!(0),
                Value::Bool(_) => json!(false),
                _ => return None,
            })
        }),
        5 => replace(manifest, rng, "null", |_, _| Some(Value::Null)),
        6 => replace(manifest, rng, "emptied", |_, value| match value {
            Value::Object(_) => Some(json!({})),
            Value::Array(_) => Some(json!([])),
            _ => None,
        }),
        7 | 8 => respelled(manifest, of, rng),
        9 => replace(manifest, rng, "reordered", |rng, value| {
            let mut items = value.as_array().filter(|items| items.len() > 1)?.clone();
            let a = rng.below(items.len());
            let b = rng.below(items.len());
            items.swap(a, b);
            Some(Value::Array(items))
        }),
        10 => replace(manifest, rng, "repeated", |rng, value| {
            let mut items = value.as_array().filter(|items| !items.is_empty())?.clone();
            items.push(rng.pick(&items).clone());
            Some(Value::Array(items))
        }),
        11 => {
            manifest["status"] = rng.pick(&[json!({}), json!({"phase": "Ready"})]).clone();
            "status"
        }
        12 | 13 => {
            let Some(schema) = ground.schema(target) else { return "nothing" };
            (0..6).find(|_| schema.grow_null(manifest, rng));
            "given a null"
        }
        _ => {
            let choices = [
                json!({"labels": {"app": "web"}}),
                json!({"labels": {"example.com/new": ""}}),
                json!({"labels": {}}),
                json!({"annotations": {}}),
                json!({"annotations": {"example.com/note": null}}),
                json!({"finalizers": ["example.com/b", "example.com/a"]}),
                json!({"finalizers": []}),
                json!({"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "1"}]}),
            ];
            let more = rng.pick(&choices);
            let metadata = manifest["metadata"].as_object_mut().expect("metadata");
            metadata.extend(more.as_object().expect("an object").clone());
            "metadata"
        }
    }
}

/// The places of all values below the object's own identity, as JSON pointers.
pub fn places(object: &Value) -> Vec<String> {
    fn collect(at: &str, value: &Value, into: &mut Vec<String>) {
        let mut visit = |name: &str, child: &Value| {
            let path = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            collect(&path, child, into);
            into.push(path);
        };
        match value {
            Value::Object(map) => map.iter().for_each(|(name, child)| visit(name, child)),
            Value::Array(items) => items.iter().enumerate().for_each(|(at, child)| visit(&at.to_string(), child)),
            _ => {}
        }
    }
    const IDENTITY: [&str; 5] = ["/apiVersion", "/kind", "/metadata", "/metadata/name", "/metadata/namespace"];
    let mut paths = Vec::new();
    collect("", object, &mut paths);
    paths.retain(|path| !IDENTITY.contains(&path.as_str()));
    paths
}

fn drop_field(manifest: &mut Value, rng: &mut Rng) -> &'static str {
    let places = places(manifest);
    if places.is_empty() {
        return "nothing";
    }
    remove(manifest, rng.pick::<String>(&places));
    "dropped"
}

pub fn remove(object: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return };
    match object.pointer_mut(parent) {
        Some(Value::Object(map)) => drop(map.remove(&name.replace("~1", "/").replace("~0", "~"))),
        Some(Value::Array(items)) => drop(name.parse().map(|at: usize| items.remove(at))),
        _ => {}
    }
}

/// Replaces a value at a random place for which `with` knows another.
pub fn replace(
    object: &mut Value,
    rng: &mut Rng,
    done: &'static str,
    with: impl Fn(&mut Rng, &Value) -> Option<Value>,
) -> &'static str {
    let places = places(object);
    for _ in 0..6.min(places.len()) {
        let Some(value) = object.pointer_mut(rng.pick::<String>(&places)) else { continue };
        if let Some(other) = with(rng, value) {
            *value = other;
            return done;
        }
    }
    "nothing"
}

pub fn changed(rng: &mut Rng, value: &Value) -> Option<Value> {
    Some(match value {
        Value::String(text) => {
            json!(rng.pick(&[format!("{text}x"), "other".to_owned(), "1".to_owned(), "2Gi".to_owned()]))
        }
        Value::Number(number) => json!(number.as_i64().unwrap_or(1) + 1),
        Value::Bool(flag) => json!(!flag),
        _ => return None,
    })
}

/// Writes a scalar in another way that means the same, or nearly so.
fn respelled(manifest: &mut Value, of: TypeRef<'_>, rng: &mut Rng) -> &'static str {
    let mut found = Vec::new();
    collect("", manifest, of, &mut found);
    if found.is_empty() {
        return "nothing";
    }
    let (place, kind) = rng.pick(&found).clone();
    let Some(value) = manifest.pointer_mut(&place) else { return "nothing" };
    if let Some(other) = other_spelling(value, kind, rng) {
        *value = other;
    }
    "respelled"
}

fn collect(at: &str, value: &Value, of: TypeRef<'_>, into: &mut Vec<(String, ScalarKind)>) {
    match value {
        Value::Object(map) => {
            for (name, child) in map {
                let path = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                collect(&path, child, of.field(name), into);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, child)| collect(&format!("{at}/{i}"), child, of.item(), into));
        }
        _ if matches!(of.scalar(), ScalarKind::Quantity | ScalarKind::Time | ScalarKind::Bytes)
            || value.is_number() =>
        {
            into.push((at.to_owned(), of.scalar()));
        }
        _ => {}
    }
}

fn other_spelling(value: &Value, kind: ScalarKind, rng: &mut Rng) -> Option<Value> {
    let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    Some(match kind {
        ScalarKind::Quantity => {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let (digits, suffix) = text.split_at(end);
            let number: u64 = digits.parse().ok()?;
            json!(match (suffix, rng.below(5)) {
                ("", 0) => format!("{number}000m"),
                ("", 1) => format!("{number}e0"),
                ("", 2) => format!("{number}.0001"),
                ("m", 0) => format!("{number}000u"),
                ("m", 1) => format!("{}.{:03}", number / 1000, number % 1000),
                ("Mi", 0) => format!("{}Ki", number * 1024),
                ("Gi", 0) => format!("{}Mi", number * 1024),
                (_, 3) => format!("+{text}"),
                (_, 4) => format!(" {text}"),
                _ => format!("{number}.0{suffix}"),
            })
        }
        ScalarKind::Time => {
            json!(rng.pick(&["2026-01-02T04:04:05+01:00", "2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05.9Z"]))
        }
        ScalarKind::Bytes => json!(format!("{}\n", text.get(..2)?.to_owned() + "\r\n" + text.get(2..)?)),
        _ => rng.pick(&[json!(value.as_f64()?), json!(text), value.clone()]).clone(),
    })
}
