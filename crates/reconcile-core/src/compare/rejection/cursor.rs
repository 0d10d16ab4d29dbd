//! Follows the paths in a server's messages through the manifest. The keys of the manifest show where a key ends in the path: keys
//! may hold dots, slashes and brackets, and the server does not escape them.

use serde_json::Value;
use structured_merge::{FieldPath, ListKind, PathElement, TypeRef, item_element};

use crate::compare::secrecy::paths::is_secret_element;
use crate::manifest::yaml::Step;

/// A value in a manifest, and the path to it.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    /// The steps from the whole object.
    pub steps: Vec<Step<'a>>,
    /// The path as far as it was found, with the keys of list items.
    pub path: FieldPath,
    /// The value and its type at each step, from the whole object to the value itself.
    pub trail: Vec<(&'a Value, TypeRef<'a>)>,
    /// The rest of the path, which the manifest does not have.
    pub missing: String,
    /// The field or item that the path names next, if the merged object has it and the manifest does not.
    pub live_only: Option<FieldPath>,
    /// The number of the item to take if several items have one key: the path does not show which one is meant.
    pub choice: usize,
}

impl<'a> Cursor<'a> {
    /// The whole object.
    pub fn root(manifest: &'a Value, schema: TypeRef<'a>) -> Self {
        Self {
            steps: Vec::new(),
            path: FieldPath::root(),
            trail: vec![(manifest, schema)],
            missing: String::new(),
            live_only: None,
            choice: 0,
        }
    }

    /// The value and its type.
    pub fn here(&self) -> (&'a Value, TypeRef<'a>) {
        // The trail begins with the object itself and only grows.
        *self.trail.last().unwrap_or(&(&Value::Null, TypeRef::untyped()))
    }

    /// Returns true if the type of what the value is in requires it.
    pub fn is_required(&self) -> bool {
        let (Some(Step::Key(name)), [.., (_, above), _]) = (self.steps.last(), self.trail.as_slice()) else {
            return false;
        };
        above.required().any(|required| required == *name)
    }

    /// The whole path, including the rest that the manifest does not have.
    pub fn full_path(&self) -> String {
        match self.missing.as_str() {
            "" => self.path.to_string(),
            missing if self.path.elements().is_empty() || missing.starts_with('[') => format!("{}{missing}", self.path),
            missing => format!("{}.{missing}", self.path),
        }
    }

    /// Enters a field of a mapping; returns false if there is no such field.
    pub fn enter_key(&mut self, key: &str) -> bool {
        let (value, schema) = self.here();
        let Some((key, below)) = value.as_object().and_then(|map| map.get_key_value(key)) else { return false };
        self.steps.push(Step::Key(key));
        self.path = self.path.field(key);
        self.trail.push((below, schema.field(key)));
        true
    }

    /// Enters an item of a list; returns false if there is no such item.
    pub fn enter_index(&mut self, index: usize) -> bool {
        let (value, schema) = self.here();
        let Some(item) = value.get(index).filter(|_| value.is_array()) else { return false };
        self.steps.push(Step::Index(index));
        // A position tells less than a key that may not be shown.
        let element = item_element(item, schema).filter(|element| !is_secret_element(element));
        self.path = self.path.child(element.unwrap_or_else(|| PathElement::index(index)));
        self.trail.push((item, schema.item()));
        true
    }
}

/// Follows a path of managed fields (`.spec.ports[port=80,protocol="TCP"].name`) as far as the manifest has it. Returns the rest of
/// the text as well.
pub(super) fn follow_managed<'a, 't>(mut cursor: Cursor<'a>, mut text: &'t str) -> (Cursor<'a>, &'t str) {
    loop {
        let (value, _) = cursor.here();
        let next = match value {
            Value::Object(_) => text.strip_prefix('.').and_then(|rest| {
                let (key, rest) = longest_key(value, |key| rest.strip_prefix(key).filter(ends_managed))?;
                cursor.enter_key(&key).then_some(rest)
            }),
            Value::Array(_) => text.strip_prefix('[').and_then(|rest| {
                let (index, rest) = item_by_key(&cursor, rest)?;
                cursor.enter_index(index).then_some(rest)
            }),
            _ => None,
        };
        match next {
            Some(rest) => text = rest,
            None => return (cursor, text),
        }
    }
}

fn ends_managed(rest: &&str) -> bool {
    rest.is_empty() || rest.starts_with(['.', '[']) || rest.starts_with(": ")
}

/// The longest key of a map with which a text begins, and the rest of the text; `after` returns the rest after a key.
fn longest_key<'t>(map: &Value, after: impl Fn(&str) -> Option<&'t str>) -> Option<(String, &'t str)> {
    let keys = map.as_object()?.keys().filter_map(|key| Some((key, after(key)?)));
    keys.max_by_key(|(key, _)| key.len()).map(|(key, rest)| (key.clone(), rest))
}

/// The index of the item that `name="web"]…`, `="member"]…` or `3]…` means, and the rest of the text.
fn item_by_key<'t>(cursor: &Cursor<'_>, text: &'t str) -> Option<(usize, &'t str)> {
    let (Value::Array(items), schema) = cursor.here() else { return None };
    if let Some((number, rest)) = text.split_once(']')
        && let Ok(index) = number.parse()
    {
        return Some((index, rest));
    }
    let (keys, rest) = keys(text)?;
    let mut found = with_keys(items, &keys, schema);
    let first = found.next()?;
    Some((found.take(cursor.choice).last().unwrap_or(first), rest))
}

/// The indices of the items of a list that have these keys, and no others. Keys that an item leaves out have their defaults; the server
/// does not name those that have none.
pub(super) fn with_keys<'i>(
    items: &'i [Value],
    keys: &'i [(String, Value)],
    schema: TypeRef<'i>,
) -> impl Iterator<Item = usize> {
    let has = move |item: &Value, (name, wanted): &(String, Value)| {
        let value = if name.is_empty() { Some(item) } else { item.get(name) };
        value.or_else(|| schema.item().default_of(name)) == Some(wanted)
    };
    let has_more = move |item: &Value| match schema.list_kind() {
        ListKind::Keyed(names) => {
            names.iter().any(|name| item.get(name).is_some() && keys.iter().all(|(named, _)| named != name))
        }
        ListKind::Atomic | ListKind::Set => false,
    };
    let is_it = move |(_, item): &(usize, &Value)| keys.iter().all(|key| has(item, key)) && !has_more(item);
    items.iter().enumerate().filter(is_it).map(|(index, _)| index)
}

/// Reads `name="web",port=80]…`, and returns the rest of the text. The name is empty for a member of a set.
pub(super) fn keys(mut text: &str) -> Option<(Vec<(String, Value)>, &str)> {
    let mut keys = Vec::new();
    loop {
        let (name, rest) = text.split_once('=')?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let rest = rest.get(values.byte_offset()..)?;
        keys.push((name.to_owned(), value));
        match rest.strip_prefix(',') {
            Some(more) => text = more,
            None => return Some((keys, rest.strip_prefix(']')?)),
        }
    }
}

/// Follows a path of the validation (`spec.ports[1].port`, `data[a.b]`). Its indices are those of `merged`, in which the items of the
/// manifest may have other indices.
pub(super) fn follow_validation<'a>(mut cursor: Cursor<'a>, merged: &Value, path: &str) -> Cursor<'a> {
    let mut seen = Some(merged);
    let mut text = path;
    while !text.is_empty() {
        let (value, schema) = cursor.here();
        let inner = text.strip_prefix('.').unwrap_or(text);
        let bracketed = text.strip_prefix('[');
        let next = match (value, bracketed) {
            (Value::Object(_), Some(inner)) => {
                longest_key(value, |key| inner.strip_prefix(key).and_then(|rest| rest.strip_prefix(']')))
            }
            (Value::Object(_), None) => {
                let ends = |rest: &&str| rest.is_empty() || rest.starts_with(['.', '[']);
                longest_key(value, |key| inner.strip_prefix(key).filter(ends))
            }
            (Value::Array(_), Some(inner)) => {
                let Some((number, rest)) = inner.split_once(']') else { break };
                let Ok(index) = number.parse::<usize>() else { break };
                let item = seen.and_then(|list| list.get(index));
                if !index_in_manifest(value, item, index, schema).is_some_and(|at| cursor.enter_index(at)) {
                    break;
                }
                seen = item;
                text = rest;
                continue;
            }
            _ => None,
        };
        let Some((key, rest)) = next else { break };
        cursor.enter_key(&key);
        seen = seen.and_then(|map| map.get(&key));
        text = rest;
    }
    text.trim_start_matches('.').clone_into(&mut cursor.missing);
    cursor.live_only = live_only(&cursor, seen);
    cursor
}

/// The path of the field or item that the manifest lacks, if the merged object (`seen`, at the same path) has it.
fn live_only(cursor: &Cursor<'_>, seen: Option<&Value>) -> Option<FieldPath> {
    let text = cursor.missing.as_str();
    let element = match seen? {
        Value::Object(map) => {
            let name = text.split(['.', '[']).next()?;
            map.contains_key(name).then(|| PathElement::Field(name.to_owned()))
        }
        Value::Array(items) => {
            let index: usize = text.strip_prefix('[')?.split_once(']')?.0.parse().ok()?;
            item_element(items.get(index)?, cursor.here().1)
        }
        _ => None,
    };
    element.map(|element| cursor.path.child(element))
}

/// The index in the manifest of the item that the server saw at `index`.
fn index_in_manifest(list: &Value, item: Option<&Value>, index: usize, schema: TypeRef<'_>) -> Option<usize> {
    if *schema.list_kind() == ListKind::Atomic {
        return Some(index);
    }
    let element = item_element(item?, schema);
    if element.is_none() {
        // An item without its key can only come from the manifest, and has the same index there.
        return Some(index);
    }
    list.as_array()?.iter().position(|own| item_element(own, schema) == element)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use structured_merge::GroupVersionKind;
    use structured_merge::builtin;

    fn deployment() -> Value {
        json!({"metadata": {"labels": {"a": 1, "a.b/c": true}}, "spec": {"template": {"spec": {"containers": [
            {"name": "a b", "ports": [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP"}]},
            {"name": "we\"b]", "args": ["x", 5]},
        ]}}}})
    }

    fn schema() -> TypeRef<'static> {
        builtin().object(&GroupVersionKind::new("apps/v1", "Deployment")).unwrap()
    }

    #[test]
    fn managed_paths_lead_into_the_manifest() {
        let manifest = deployment();
        for (text, path, rest) in [
            (".metadata.labels.a.b/c: expected", r#"metadata.labels["a.b/c"]"#, ": expected"),
            (".metadata.labels.a: expected", "metadata.labels.a", ": expected"),
            (
                r#".spec.template.spec.containers[name="we\"b]"].args[1]: no"#,
                r#"spec.template.spec.containers[name="we\"b]"].args[1]"#,
                ": no",
            ),
            (
                r#".spec.template.spec.containers[name="a b"].ports[containerPort=80,protocol="TCP"].x: no"#,
                r#"spec.template.spec.containers[name="a b"].ports[containerPort=80,protocol=TCP]"#,
                ".x: no",
            ),
            (": no", "", ": no"),
        ] {
            let (cursor, left) = follow_managed(Cursor::root(&manifest, schema()), text);
            assert_eq!((cursor.path.to_string().as_str(), left), (path, rest), "{text}");
        }
    }

    #[test]
    fn validation_paths_count_in_the_merged_object() {
        let manifest = deployment();
        let merged = json!({"spec": {"template": {"spec": {"containers": [
            {"name": "injected"},
            {"name": "we\"b]", "args": ["x", 5]},
            {"name": "a b", "ports": [{"containerPort": 81, "protocol": "UDP"}, {"containerPort": 80}]},
        ]}}}});
        let follow = |path: &str| follow_validation(Cursor::root(&manifest, schema()), &merged, path);
        let cursor = follow("spec.template.spec.containers[2].ports[1].containerPort");
        assert_eq!(cursor.here().0, &json!(80));
        assert_eq!(cursor.steps[4], Step::Index(0));
        assert_eq!(follow("spec.template.spec.containers[1].args[1]").here().0, &json!(5));
        let injected = follow("spec.template.spec.containers[0].image");
        assert_eq!(
            (injected.path.to_string().as_str(), injected.missing.as_str()),
            ("spec.template.spec.containers", "[0].image")
        );
        assert_eq!(injected.live_only.unwrap().to_string(), "spec.template.spec.containers[name=injected]");
        assert_eq!(follow("spec.selector").live_only, None);
        assert_eq!(follow("spec.selector").full_path(), "spec.selector");
        let data = json!({"data": {"a.b": "x", "c]d": "y"}});
        let root = Cursor::root(&data, TypeRef::untyped());
        assert_eq!(follow_validation(root.clone(), &data, "data[a.b]").here().0, &json!("x"));
        assert_eq!(follow_validation(root, &data, "data[c]d]").here().0, &json!("y"));
    }
}
