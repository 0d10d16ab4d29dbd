//! Random values that fit an OpenAPI schema, read apart from the program's own reading of it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Rng;

/// The server's OpenAPI documents, by `apiVersion`.
#[derive(Default)]
pub struct Schemas(pub BTreeMap<String, Value>);

/// A schema in its document, references followed.
#[derive(Clone, Copy)]
pub struct Place<'s> {
    document: &'s Value,
    schema: &'s Value,
    /// The name of the schema, where it has one.
    name: &'s str,
}

/// What the server sets or drops, what would forbid later changes, and what makes an object that nobody can name.
const LEFT_ALONE: [&str; 15] = [
    "status",
    "immutable",
    "generateName",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
    "namespace",
    "ownerReferences",
    "globalDefault",
    "configSource",
];

impl Schemas {
    /// The schema of a kind's objects.
    pub fn kind(&self, api_version: &str, kind: &str) -> Option<Place<'_>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let document = self.0.get(api_version)?;
        let wanted = json!({"group": group, "version": version, "kind": kind});
        let schemas = document.pointer("/components/schemas")?.as_object()?;
        schemas.iter().find_map(|(name, schema)| {
            let kinds = schema.get("x-kubernetes-group-version-kind")?.as_array()?;
            let is_it = |found: &&Value| ["group", "version", "kind"].iter().all(|key| found[key] == wanted[key]);
            kinds.iter().find(is_it).map(|_| Place { document, schema, name })
        })
    }
}

impl<'s> Place<'s> {
    fn at(self, schema: &'s Value) -> Place<'s> {
        let reference = schema.get("$ref").or_else(|| schema.pointer("/allOf/0/$ref"));
        let Some(name) = reference.and_then(Value::as_str).and_then(|text| text.rsplit('/').next()) else {
            return Place { schema, name: "", ..self };
        };
        Place { schema: &self.document["components"]["schemas"][name], name, ..self }
    }

    /// The schema of a field or of an entry.
    pub fn field(self, name: &str) -> Option<Place<'s>> {
        let declared = self.schema.get("properties").and_then(|fields| fields.get(name));
        declared.or_else(|| self.schema.get("additionalProperties").filter(|rest| rest.is_object())).map(|s| self.at(s))
    }

    pub fn item(self) -> Option<Place<'s>> {
        self.schema.get("items").map(|schema| self.at(schema))
    }

    fn fields(self) -> Vec<&'s str> {
        let declared = self.schema.get("properties").and_then(Value::as_object);
        let names = declared.into_iter().flatten().map(|(name, _)| name.as_str());
        names.filter(|name| !LEFT_ALONE.contains(name)).collect()
    }

    fn is_required(self, name: &str) -> bool {
        self.schema["required"].as_array().is_some_and(|names| names.iter().any(|required| required == name))
    }

    fn is_free(self) -> bool {
        self.schema.get("x-kubernetes-preserve-unknown-fields").is_some_and(|keeps| keeps == true)
    }

    /// A value for the field `field`.
    pub fn value(self, field: &str, rng: &mut Rng, depth: usize) -> Value {
        if let Some(known) = known(self.name, rng) {
            return known;
        }
        if let Some(choices) = self.schema["enum"].as_array() {
            return rng.pick(choices).clone();
        }
        match self.schema["type"].as_str() {
            Some("integer") => json!(rng.pick(&[0, 1, 2, 5, 30, 80])),
            Some("number") => rng.pick(&[json!(0.5), json!(2), json!(1.0)]).clone(),
            Some("boolean") => json!(rng.chance(50)),
            Some("string") => text(field, self.schema["format"].as_str().unwrap_or_default(), rng),
            Some("array") => {
                let item = self.item();
                let items = (0..=rng.below(2)).filter_map(|_| Some(item?.value(field, rng, depth + 1)));
                items.collect()
            }
            Some("object") => self.object(rng, depth),
            _ => free(rng),
        }
    }

    fn object(self, rng: &mut Rng, depth: usize) -> Value {
        let mut object = Map::new();
        for name in self.fields() {
            let is_wanted = self.is_required(name) || depth < 4 && rng.chance(if depth == 0 { 40 } else { 20 });
            if let Some(place) = self.field(name).filter(|_| is_wanted) {
                object.insert(name.to_owned(), place.value(name, rng, depth + 1));
            }
        }
        if let Some(place) = self.field("").filter(|_| self.fields().is_empty()) {
            for key in &["a", "example.com/b"][..=rng.below(2)] {
                object.insert((*key).to_owned(), place.value(key, rng, depth + 1));
            }
        } else if self.is_free() && object.is_empty() {
            return json!({"a": free(rng)});
        }
        Value::Object(object)
    }

    /// Adds a field somewhere in an object, or gives one another value. False where the choice led nowhere.
    pub fn grow(self, value: &mut Value, rng: &mut Rng) -> bool {
        self.grow_with(value, rng, &|place, name, rng| Some(place.value(name, rng, 0)))
    }

    /// Adds a field without a value somewhere in an object, as templates do. False where the choice led nowhere.
    pub fn grow_null(self, value: &mut Value, rng: &mut Rng) -> bool {
        self.grow_with(value, rng, &|_, name, _| (!name.is_empty()).then_some(Value::Null))
    }

    fn grow_with(
        self,
        value: &mut Value,
        rng: &mut Rng,
        make: &dyn Fn(Place<'s>, &str, &mut Rng) -> Option<Value>,
    ) -> bool {
        match value {
            Value::Object(map) => {
                let mut names = self.fields();
                let present: Vec<String> =
                    map.keys().filter(|name| !LEFT_ALONE.contains(&name.as_str())).cloned().collect();
                if self.field("").is_some() {
                    names.extend(["a", "b", "example.com/c"]);
                }
                if !present.is_empty() && rng.chance(65) {
                    let name = rng.pick(&present).clone();
                    return match (self.field(&name), map.get_mut(&name)) {
                        (Some(place), Some(child)) if child.is_object() || child.is_array() => {
                            place.grow_with(child, rng, make)
                        }
                        _ => false,
                    };
                }
                if names.is_empty() {
                    return self.is_free() && map.insert("extra".into(), free(rng)).is_none();
                }
                let name = *rng.pick(&names);
                match self.field(name) {
                    Some(place) if !map.contains_key(name) => {
                        make(place, name, rng).map(|value| map.insert(name.to_owned(), value)).is_some()
                    }
                    _ => false,
                }
            }
            Value::Array(items) => {
                let Some(place) = self.item() else { return false };
                if items.is_empty() || rng.chance(25) {
                    return make(place, "", rng).map(|value| items.push(value)).is_some();
                }
                let at = rng.below(items.len());
                place.grow_with(&mut items[at], rng, make)
            }
            _ => false,
        }
    }
}

/// Types that mean more than their schema says.
fn known(schema: &str, rng: &mut Rng) -> Option<Value> {
    let name = schema.strip_prefix("io.k8s.apimachinery.pkg.")?;
    Some(match name {
        "api.resource.Quantity" => rng
            .pick(&[json!("1"), json!("500m"), json!("1000m"), json!("1024Mi"), json!(2), json!(0.5), json!("1e3")])
            .clone(),
        "util.intstr.IntOrString" => rng.pick(&[json!(1), json!("25%"), json!(80)]).clone(),
        "apis.meta.v1.Time" => rng.pick(&[json!("2026-01-02T03:04:05Z"), json!("2026-01-02T04:04:05+01:00")]).clone(),
        "apis.meta.v1.MicroTime" => json!("2026-01-02T03:04:05.000000Z"),
        "runtime.RawExtension" => json!({"a": [1]}),
        "apis.meta.v1.LabelSelector" => json!({"matchLabels": {"app": "web"}}),
        _ => return None,
    })
}

fn free(rng: &mut Rng) -> Value {
    rng.pick(&[json!("a"), json!(1), json!({"x": {"y": 1}}), json!([1, {"z": "a"}]), json!({}), json!([]), json!(true)])
        .clone()
}

/// Text that has a chance to pass the validation of such a field.
fn text(field: &str, format: &str, rng: &mut Rng) -> Value {
    let choices: &[&str] = match (format, field) {
        ("byte", _) => &["aGVsbG8=", "YQ=="],
        ("date-time", _) => &["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.5+01:00"],
        (_, "finalizers") => &["example.com/guard", "example.com/other"],
        (_, "mountPath" | "path" | "devicePath" | "hostPath" | "terminationMessagePath") => &["/a", "/b"],
        (_, "ip" | "externalIPs" | "loadBalancerIP" | "hostIP" | "nameservers" | "ips") => &["10.1.2.4", "10.1.2.5"],
        (_, "apiGroups" | "apiGroup" | "group") => &["nothing.example.com"],
        (_, "resources") => &["nothings"],
        (_, "verbs") => &["get", "list"],
        (_, "accessModes") => &["ReadWriteOnce", "ReadOnlyMany"],
        (_, "image") => &["shop/web:1.2", "shop/other:2"],
        (_, "expression") => &["true"],
        (_, "cidr" | "loadBalancerSourceRanges") => &["10.7.0.0/16"],
        (_, "apiVersion" | "apiVersions") => &["v1"],
        (_, "fieldPath") => &["metadata.name", "spec.nodeName"],
        (_, "resource") => &["limits.cpu", "requests.memory"],
        (_, "url") => &["https://hook.example.com/"],
        (_, "operator") => &["Exists", "In"],
        (_, "effect") => &["NoSchedule"],
        (_, "labels" | "annotations" | "matchLabels") => &["x", ""],
        _ => &["a", "b", "web", "example.com", ""],
    };
    json!(rng.pick(choices))
}
