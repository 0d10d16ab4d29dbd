//! The values that an applier owns, as the API server records it.

use serde_json::Value;

/// A scalar in a live object that a field manager owns, directly or with the list or map around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    /// Where it is in the live object, for a JSON patch (RFC 6901).
    pub pointer: String,
    /// Where it is, as reports write it.
    pub path: String,
    /// It tells items of its list apart: another value makes another item.
    pub is_key: bool,
}

impl Leaf {
    /// Returns true if `path` is that of an item, list or map around the leaf; where it tells items apart, of the item that it makes too.
    pub fn is_in(&self, path: &str) -> bool {
        let is_around = self.path.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']));
        let list = self.path.rsplit_once('[').map_or("", |(list, _)| list);
        let is_beside = path.strip_prefix(list).is_some_and(|rest| rest.starts_with('[') && rest.ends_with(']'));
        is_around || self.is_key && is_beside
    }

    /// Returns true if it is the number of a port, which tells ports apart.
    pub fn is_port(&self) -> bool {
        self.is_key && ["port", "containerPort"].contains(&self.path.rsplit('.').next().unwrap_or_default())
    }
}

/// All leaves of `live` that its entry of `manager`'s applies owns and that have a value in `manifest`: an empty map there owns
/// nothing of what others put into it.
pub fn leaves(live: &Value, manifest: &Value, manager: &str) -> Vec<Leaf> {
    let entries = live["metadata"]["managedFields"].as_array().map_or(&[][..], Vec::as_slice);
    let ours = |entry: &&Value| {
        entry["manager"] == manager
            && entry["operation"] == "Apply"
            && entry["subresource"].as_str().is_none_or(str::is_empty)
    };
    let mut found = Vec::new();
    if let Some(entry) = entries.iter().find(ours) {
        collect_owned(&entry["fieldsV1"], live, manifest, &Place::default(), &mut found);
    }
    found
}

/// A place in a live object.
#[derive(Clone, Default)]
struct Place {
    pointer: String,
    path: String,
    /// The names of the keys of the item at this place.
    keys: Vec<String>,
}

impl Place {
    fn field(&self, name: &str) -> (Place, bool) {
        let path = match (is_plain(name), self.path.is_empty()) {
            (true, true) => name.to_owned(),
            (true, false) => format!("{}.{name}", self.path),
            (false, _) => format!("{}[{}]", self.path, Value::from(name)),
        };
        let pointer = format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"));
        (Place { pointer, path, keys: Vec::new() }, self.keys.iter().any(|key| key == name))
    }

    fn item(&self, at: usize, element: &str) -> Place {
        let pointer = format!("{}/{at}", self.pointer);
        let path = format!("{}[{element}]", self.path);
        Place { pointer, path, keys: Vec::new() }
    }

    fn leaf(&self, is_key: bool) -> Leaf {
        Leaf { pointer: self.pointer.clone(), path: self.path.clone(), is_key }
    }
}

/// Descends along `fieldsV1`; an empty set there owns what the manifest has below.
fn collect_owned(fields: &Value, live: &Value, manifest: &Value, at: &Place, found: &mut Vec<Leaf>) {
    for (element, below) in fields.as_object().into_iter().flatten() {
        let Some((value, place, is_key)) = step(element, live, at) else { continue };
        let wanted = wanted(element, manifest);
        if below.as_object().is_some_and(|below| !below.is_empty()) {
            collect_owned(below, value, wanted, &place, found);
        } else {
            collect_all(value, wanted, &place, is_key, found);
        }
    }
}

/// The value that one path element of `fieldsV1` leads to; nothing for `.`, and where the live object has none.
fn step<'v>(element: &str, live: &'v Value, at: &Place) -> Option<(&'v Value, Place, bool)> {
    let (kind, rest) = element.split_once(':')?;
    if kind == "f" {
        let (place, is_key) = at.field(rest);
        return Some((live.get(rest)?, place, is_key));
    }
    let wanted: Value = serde_json::from_str(rest).ok()?;
    let items = live.as_array()?;
    if kind == "v" {
        let index = items.iter().position(|item| *item == wanted)?;
        return Some((&items[index], at.item(index, &format!("={wanted}")), false));
    }
    let keys = wanted.as_object()?;
    let index = items.iter().position(|item| keys.iter().all(|(name, value)| item.get(name) == Some(value)))?;
    let mut shown: Vec<String> = keys.iter().map(|(name, value)| format!("{name}={}", bare(value))).collect();
    shown.sort();
    let place = Place { keys: keys.keys().cloned().collect(), ..at.item(index, &shown.join(",")) };
    Some((&items[index], place, false))
}

/// The same in the manifest, where keys may be left to their defaults; null where it has none.
fn wanted<'m>(element: &str, manifest: &'m Value) -> &'m Value {
    let Some((kind, rest)) = element.split_once(':') else { return &Value::Null };
    if kind == "f" {
        return &manifest[rest];
    }
    let Ok(wanted) = serde_json::from_str::<Value>(rest) else { return &Value::Null };
    let has = |item: &&Value| match wanted.as_object() {
        Some(keys) if kind == "k" => keys.iter().all(|(name, value)| item.get(name).is_none_or(|other| other == value)),
        _ => **item == wanted,
    };
    manifest.as_array().and_then(|items| items.iter().find(has)).unwrap_or(&Value::Null)
}

fn collect_all(value: &Value, wanted: &Value, at: &Place, is_key: bool, found: &mut Vec<Leaf>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let (place, is_key) = at.field(name);
                collect_all(value, &wanted[name], &place, is_key, found);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| {
                collect_all(value, &wanted[index], &at.item(index, &index.to_string()), false, found);
            });
        }
        _ if wanted.is_null() => {}
        _ => found.push(at.leaf(is_key)),
    }
}

fn is_plain(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit() || c == '-')
}

fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

#[test]
fn leaves_are_found_below_every_kind_of_path_element() {
    let live = serde_json::json!({
        "metadata": {"labels": {"a.b/c": "x"}, "finalizers": ["f"], "managedFields": [
            {"manager": "other", "operation": "Update", "fieldsV1": {"f:spec": {"f:theirs": {}}}},
            {"manager": "us", "operation": "Apply", "fieldsV1": {
                "f:metadata": {"f:labels": {"f:a.b/c": {}}, "f:finalizers": {"v:\"f\"": {}}},
                "f:spec": {
                    "f:ports": {"k:{\"protocol\":\"TCP\",\"port\":80}": {".": {}, "f:port": {}, "f:name": {}}},
                    "f:args": {}, "f:gone": {}, "f:strategy": {},
                },
            }},
        ]},
        "spec": {"theirs": 1, "ports": [{"port": 79, "protocol": "TCP"}, {"port": 80, "protocol": "TCP", "name": "http"}], "args": ["a"], "strategy": {"type": "x"}},
    });
    let manifest = serde_json::json!({
        "metadata": {"labels": {"a.b/c": "x"}, "finalizers": ["f"]},
        "spec": {"ports": [{"port": 80, "name": "http"}], "args": ["a"], "strategy": {}, "gone": null},
    });
    let mut found = leaves(&live, &manifest, "us");
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let shown: Vec<_> = found.iter().map(|leaf| (leaf.path.as_str(), leaf.pointer.as_str(), leaf.is_key)).collect();
    assert_eq!(
        shown,
        [
            (r#"metadata.finalizers[="f"]"#, "/metadata/finalizers/0", false),
            (r#"metadata.labels["a.b/c"]"#, "/metadata/labels/a.b~1c", false),
            ("spec.args[0]", "/spec/args/0", false),
            ("spec.ports[port=80,protocol=TCP].name", "/spec/ports/1/name", false),
            ("spec.ports[port=80,protocol=TCP].port", "/spec/ports/1/port", true),
        ]
    );
}
