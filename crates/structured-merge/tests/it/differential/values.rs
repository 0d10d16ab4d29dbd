//! Random objects of a kind, and random changes of them.

use serde_json::{Map, Value, json};
use test_control_plane::Rng;

use super::kinds::Kind;

/// Generates values from schemas.
pub struct Values<'a> {
    pub kind: &'a Kind,
    pub rng: &'a mut Rng,
}

impl Values<'_> {
    /// An applied configuration.
    pub fn object(&mut self) -> Value {
        let kind = self.kind;
        let object = self.value(&kind.schema, 12);
        self.named(object)
    }

    /// An object with a few changes.
    pub fn changed(&mut self, object: &Value) -> Value {
        let kind = self.kind;
        let changed = self.change(object, &kind.schema);
        self.named(changed)
    }

    /// A part of an object.
    pub fn part(&mut self, object: &Value) -> Value {
        let part = self.some(object);
        self.named(part)
    }

    /// Adds the fields that all objects have. Removes values of built-in kinds that their Go types leave out.
    fn named(&mut self, mut object: Value) -> Value {
        if !object.is_object() {
            object = json!({});
        }
        if !object["metadata"].is_object() {
            object["metadata"] = json!({});
        }
        if let Some(metadata) = object["metadata"].as_object_mut() {
            const KEPT: [&str; 5] = ["labels", "annotations", "finalizers", "ownerReferences", "generateName"];
            metadata.retain(|name, _| KEPT.contains(&name.as_str()));
        }
        drop_empty(if self.kind.is_built_in { &mut object } else { &mut object["metadata"] });
        object["apiVersion"] = self.kind.api_version.as_str().into();
        object["kind"] = self.kind.name.as_str().into();
        if !object["metadata"].is_object() {
            object["metadata"] = json!({});
        }
        object["metadata"]["name"] = "it".into();
        object
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        let kind = self.kind;
        let schema = kind.resolved(schema);
        if !kind.is_built_in && self.rng.chance(2) {
            return Value::Null;
        }
        match schema["type"].as_str() {
            Some("object") => self.map(schema, depth),
            Some("array") => {
                let count = if kind.is_built_in { 1 + self.rng.below(3) } else { self.rng.below(4) };
                let items = (0..count).map(|_| self.item(schema, depth)).collect();
                Value::Array(without_repeated(items, schema))
            }
            Some(scalar) => self.scalar(scalar, schema["scalar"].as_str().unwrap_or_default()),
            None if schema["x-kubernetes-int-or-string"] == true => self.scalar("", "intOrString"),
            None => self.anything(2),
        }
    }

    fn map(&mut self, schema: &Value, depth: usize) -> Value {
        let mut map = Map::new();
        let percent = if depth > 9 { 80 } else { 35 };
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            if depth > 0 && self.rng.chance(percent) {
                map.insert(name.clone(), self.value(field, depth - 1));
            }
        }
        for _ in 0..self.rng.below(3) {
            if let Some((name, value)) = self.entry(schema, depth) {
                map.insert(name, value);
            }
        }
        Value::Object(map)
    }

    /// An entry of a map that its schema does not declare.
    fn entry(&mut self, schema: &Value, depth: usize) -> Option<(String, Value)> {
        let name = (*self.rng.pick(&["x", "y", "example.com/z", "f:.\"]=é"])).to_owned();
        let has_fields = schema["properties"].as_object().is_some_and(|fields| !fields.is_empty());
        let value = match &schema["additionalProperties"] {
            entry @ Value::Object(_) => self.value(entry, depth.saturating_sub(1)),
            Value::Null if has_fields && schema["x-open"] != true => return None,
            _ => self.anything(2),
        };
        Some((name, value))
    }

    fn item(&mut self, schema: &Value, depth: usize) -> Value {
        let kind = self.kind;
        let item_schema = kind.resolved(&schema["items"]);
        let mut item = self.value(item_schema, depth.saturating_sub(1));
        if schema["x-kubernetes-list-type"] == "set" {
            while item.is_null() {
                item = self.value(item_schema, 1);
            }
        }
        for (position, key) in keys(schema).enumerate() {
            if !item.is_object() {
                item = json!({});
            }
            let may_lack = !item_schema["properties"][key]["default"].is_null() || position > 0;
            if may_lack && !kind.is_built_in && self.rng.chance(30) {
                item.as_object_mut().expect("a map").remove(key);
            } else {
                item[key] = match item_schema["properties"][key]["type"].as_str() {
                    Some("integer") => (*self.rng.pick(&[80, 81, 1])).into(),
                    _ => (*self.rng.pick(&["a", "b", "c", "é\""])).into(),
                };
            }
        }
        item
    }

    fn scalar(&mut self, name: &str, kind: &str) -> Value {
        let built_in = self.kind.is_built_in;
        let choices: &[Value] = match (name, kind) {
            (_, "quantity") => &[json!("1"), json!("2"), json!("500m")],
            (_, "time") => &[json!("2026-01-01T00:00:00Z"), json!("2026-01-01T00:00:01Z")],
            (_, "bytes") => &[json!("YQ=="), json!("Yg==")],
            (_, "intOrString") => &[json!(8), json!("8"), json!("50%")],
            ("integer", _) if built_in => &[json!(7), json!(8)],
            ("integer", _) => &[json!(0), json!(1), json!(80)],
            ("number", _) => &[json!(0), json!(1), json!(1.0), json!(1.5), json!(-2)],
            ("boolean", _) if built_in => &[json!(true)],
            ("boolean", _) => &[json!(true), json!(false)],
            _ if built_in => &[json!("a"), json!("b")],
            _ => &[json!("a"), json!("b"), json!(""), json!("1")],
        };
        self.rng.pick(choices).clone()
    }

    /// A value of no known type.
    fn anything(&mut self, depth: usize) -> Value {
        match self.rng.below(if depth == 0 { 4 } else { 7 }) {
            0 => self.scalar("boolean", ""),
            1 => self.scalar("number", ""),
            2 | 3 => self.scalar("string", ""),
            4 => (0..self.rng.below(3)).map(|_| self.anything(depth - 1)).collect(),
            _ => {
                let names = (0..self.rng.below(3)).map(|_| (*self.rng.pick(&["a", "x", "y"])).to_owned());
                let names: Vec<String> = names.collect();
                Value::Object(names.into_iter().map(|name| (name, self.anything(depth - 1))).collect())
            }
        }
    }

    fn change(&mut self, value: &Value, schema: &Value) -> Value {
        let kind = self.kind;
        let schema = kind.resolved(schema);
        if self.rng.chance(4) {
            return self.value(schema, 3);
        }
        match value {
            Value::Object(map) => {
                let mut changed = Map::new();
                for (name, child) in map {
                    match self.rng.below(12) {
                        0 => {}
                        1..=4 => drop(changed.insert(name.clone(), self.change(child, field(schema, name)))),
                        _ => drop(changed.insert(name.clone(), child.clone())),
                    }
                }
                for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                    if !changed.contains_key(name) && self.rng.chance(4) {
                        changed.insert(name.clone(), self.value(field, 3));
                    }
                }
                if self.rng.chance(10) {
                    changed.extend(self.entry(schema, 3));
                }
                Value::Object(changed)
            }
            Value::Array(items) => self.changed_items(items, schema),
            _ if self.rng.chance(40) => self.value(schema, 3),
            _ => value.clone(),
        }
    }

    fn changed_items(&mut self, items: &[Value], schema: &Value) -> Value {
        let mut changed = Vec::new();
        for item in items {
            match self.rng.below(10) {
                0 => {}
                1..=3 if keys(schema).next().is_none() => changed.push(self.item(schema, 3)),
                1..=3 => {
                    let mut now = self.change(item, &schema["items"]);
                    if let Some(map) = now.as_object_mut() {
                        for key in keys(schema) {
                            match item.get(key) {
                                Some(value) => drop(map.insert(key.to_owned(), value.clone())),
                                None => drop(map.remove(key)),
                            }
                        }
                    }
                    changed.push(if now.is_object() { now } else { item.clone() });
                }
                _ => changed.push(item.clone()),
            }
        }
        if self.rng.chance(20) && schema["type"] == "array" {
            let at = self.rng.below(changed.len() + 1);
            changed.insert(at, self.item(schema, 3));
        }
        if self.rng.chance(15) && changed.len() > 1 {
            let one = self.rng.below(changed.len());
            let other = self.rng.below(changed.len());
            changed.swap(one, other);
        }
        Value::Array(without_repeated(changed, schema))
    }

    fn some(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let kept = map.iter().filter(|(name, _)| {
                    let is_key = matches!(name.as_str(), "name" | "port" | "uid" | "spec" | "metadata");
                    is_key || self.rng.chance(75)
                });
                let kept: Vec<_> = kept.collect();
                let kept = kept.into_iter().map(|(name, child)| (name.clone(), self.some(child)));
                Value::Object(kept.collect())
            }
            Value::Array(items) => items.iter().filter(|_| self.rng.chance(80)).cloned().collect(),
            _ => value.clone(),
        }
    }
}

fn keys(schema: &Value) -> impl Iterator<Item = &str> {
    let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let own = schema["x-kubernetes-list-map-keys"].is_null().then(|| schema["x-kubernetes-patch-merge-key"].as_str());
    keys.chain(own.flatten())
}

fn field<'s>(schema: &'s Value, name: &str) -> &'s Value {
    let declared = schema["properties"].get(name);
    declared.or_else(|| schema.get("additionalProperties")).unwrap_or(&Value::Null)
}

/// A list that an apply accepts: each key and each member of a set once.
fn without_repeated(items: Vec<Value>, schema: &Value) -> Vec<Value> {
    let is_set = schema["x-kubernetes-list-type"] == "set";
    let names: Vec<&str> = keys(schema).collect();
    if !is_set && names.is_empty() {
        return items;
    }
    let mut seen: Vec<Value> = Vec::new();
    let is_first = |item: &Value| {
        let default = |name: &str| schema["items"]["properties"][name]["default"].clone();
        let key = |name: &&str| item.get(*name).cloned().unwrap_or_else(|| default(name));
        let own = if is_set { item.clone() } else { names.iter().map(key).collect() };
        // 1 and 1.0 are the same number.
        let own: Value = own.as_f64().map_or(own, Value::from);
        let is_new = !seen.contains(&own);
        seen.push(own);
        is_new
    };
    items.into_iter().filter(is_first).collect()
}

/// Removes the values that a Go type leaves out.
pub fn drop_empty(value: &mut Value) {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(is_set) => !is_set,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Null => true,
    };
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(drop_empty);
            map.retain(|_, child| !is_empty(child));
        }
        Value::Array(items) => {
            items.iter_mut().for_each(drop_empty);
            items.retain(|item| !is_empty(item));
        }
        _ => {}
    }
}
