//! Follows the paths in a server's messages through the manifest. The manifest tells where a key ends: keys may hold dots,
//! slashes and brackets, and the server does not escape them.

use serde_json::Value;
use structured_merge::{FieldPath, ListKind, PathElement, TypeRef, item_element};

use crate::manifest::yaml::Step;

/// A place in a manifest.
#[derive(Clone)]
pub(super) struct Place<'a> {
    /// The way there.
    pub steps: Vec<Step<'a>>,
    /// The same, by the keys of lists.
    pub path: FieldPath,
    /// The value and its type on each step, from the whole object to the place itself.
    pub trail: Vec<(&'a Value, TypeRef<'a>)>,
    /// What the path names further and the manifest does not have.
    pub missing: String,
    /// The field or item that the path names next, where the manifest does not have it and the merged object does.
    pub kept: Option<FieldPath>,
    /// Which of several items with one key a path means: the server does not tell.
    pub choice: usize,
}

impl<'a> Place<'a> {
    /// The whole object.
    pub fn root(manifest: &'a Value, of: TypeRef<'a>) -> Self {
        Self {
            steps: Vec::new(),
            path: FieldPath::root(),
            trail: vec![(manifest, of)],
            missing: String::new(),
            kept: None,
            choice: 0,
        }
    }

    /// The value, and its type.
    pub fn here(&self) -> (&'a Value, TypeRef<'a>) {
        // The trail begins with the object itself and only grows.
        *self.trail.last().unwrap_or(&(&Value::Null, TypeRef::untyped()))
    }

    /// The path with what the manifest does not have.
    pub fn full_path(&self) -> String {
        match self.missing.as_str() {
            "" => self.path.to_string(),
            missing if self.path.elements().is_empty() || missing.starts_with('[') => format!("{}{missing}", self.path),
            missing => format!("{}.{missing}", self.path),
        }
    }

    /// One step into a mapping.
    pub fn enter_key(&mut self, key: &str) -> bool {
        let (value, of) = self.here();
        let Some((key, below)) = value.as_object().and_then(|map| map.get_key_value(key)) else { return false };
        self.steps.push(Step::Key(key));
        self.path = self.path.field(key);
        self.trail.push((below, of.field(key)));
        true
    }

    /// One step into a list.
    pub fn enter_index(&mut self, index: usize) -> bool {
        let (value, of) = self.here();
        let Some(item) = value.get(index).filter(|_| value.is_array()) else { return false };
        self.steps.push(Step::Index(index));
        self.path = self.path.child(item_element(item, of).unwrap_or_else(|| PathElement::index(index)));
        self.trail.push((item, of.item()));
        true
    }
}

/// Follows a path of managed fields (`.spec.ports[port=80,protocol="TCP"].name`) as far as the manifest has it; answers
/// with what is left of the text.
pub(super) fn follow_managed<'a, 't>(mut place: Place<'a>, mut text: &'t str) -> (Place<'a>, &'t str) {
    loop {
        let (value, _) = place.here();
        let next = match value {
            Value::Object(_) => text.strip_prefix('.').and_then(|rest| {
                let (key, rest) = longest_key(value, |key| rest.strip_prefix(key).filter(ends_managed))?;
                place.enter_key(&key).then_some(rest)
            }),
            Value::Array(_) => text.strip_prefix('[').and_then(|rest| {
                let (index, rest) = item_by_key(&place, rest)?;
                place.enter_index(index).then_some(rest)
            }),
            _ => None,
        };
        match next {
            Some(rest) => text = rest,
            None => return (place, text),
        }
    }
}

fn ends_managed(rest: &&str) -> bool {
    rest.is_empty() || rest.starts_with(['.', '[']) || rest.starts_with(": ")
}

/// The longest key of a map with which a text begins, and what follows it; `after` says what follows a key.
fn longest_key<'t>(map: &Value, after: impl Fn(&str) -> Option<&'t str>) -> Option<(String, &'t str)> {
    let keys = map.as_object()?.keys().filter_map(|key| Some((key, after(key)?)));
    keys.max_by_key(|(key, _)| key.len()).map(|(key, rest)| (key.clone(), rest))
}

/// The item that `name="web"]…`, `="member"]…` or `3]…` means, and what follows.
fn item_by_key<'t>(place: &Place<'_>, text: &'t str) -> Option<(usize, &'t str)> {
    let (Value::Array(items), of) = place.here() else { return None };
    if let Some((number, rest)) = text.split_once(']')
        && let Ok(index) = number.parse()
    {
        return Some((index, rest));
    }
    let (keys, rest) = keys(text)?;
    let at = |item: &&Value| {
        keys.iter().all(|(name, wanted)| {
            let value = if name.is_empty() { Some(*item) } else { item.get(name) };
            value.or_else(|| of.item().default_of(name)).is_some_and(|value| value == wanted)
        })
    };
    let mut found = items.iter().enumerate().filter(|(_, item)| at(item)).map(|(index, _)| index);
    let first = found.next()?;
    Some((found.take(place.choice).last().unwrap_or(first), rest))
}

/// Reads `name="web",port=80]…`; the name of a set's member is empty.
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

/// Follows a path of the validation (`spec.ports[1].port`, `data[a.b]`). Its positions are those of `merged`, where the
/// manifest's items may stand elsewhere.
pub(super) fn follow_validation<'a>(mut place: Place<'a>, merged: &Value, path: &str) -> Place<'a> {
    let (mut seen, mut text) = (Some(merged), path);
    while !text.is_empty() {
        let (value, of) = place.here();
        let (inner, bracketed) = (text.strip_prefix('.').unwrap_or(text), text.strip_prefix('['));
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
                if !own_index(value, item, index, of).is_some_and(|at| place.enter_index(at)) {
                    break;
                }
                (seen, text) = (item, rest);
                continue;
            }
            _ => None,
        };
        let Some((key, rest)) = next else { break };
        place.enter_key(&key);
        seen = seen.and_then(|map| map.get(&key));
        text = rest;
    }
    text.trim_start_matches('.').clone_into(&mut place.missing);
    place.kept = kept(&place, seen);
    place
}

/// What is missing in the manifest, if `seen` has it, which is the merged object at the same place.
fn kept(place: &Place<'_>, seen: Option<&Value>) -> Option<FieldPath> {
    let text = place.missing.as_str();
    let element = match seen? {
        Value::Object(map) => {
            let name = text.split(['.', '[']).next()?;
            map.contains_key(name).then(|| PathElement::Field(name.to_owned()))
        }
        Value::Array(items) => {
            let index: usize = text.strip_prefix('[')?.split_once(']')?.0.parse().ok()?;
            item_element(items.get(index)?, place.here().1)
        }
        _ => None,
    };
    element.map(|element| place.path.child(element))
}

/// Where the manifest has the item that the server has seen at a position.
fn own_index(list: &Value, item: Option<&Value>, index: usize, of: TypeRef<'_>) -> Option<usize> {
    if *of.list_kind() == ListKind::Atomic {
        return Some(index);
    }
    let element = item_element(item?, of);
    if element.is_none() {
        // The item lacks its key: it can only be the manifest's own, and has the position that it has there.
        return Some(index);
    }
    list.as_array()?.iter().position(|own| item_element(own, of) == element)
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

    fn of() -> TypeRef<'static> {
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
            let (place, left) = follow_managed(Place::root(&manifest, of()), text);
            assert_eq!((place.path.to_string().as_str(), left), (path, rest), "{text}");
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
        let follow = |path: &str| follow_validation(Place::root(&manifest, of()), &merged, path);
        let place = follow("spec.template.spec.containers[2].ports[1].containerPort");
        assert_eq!(place.here().0, &json!(80));
        assert_eq!(place.steps[4], Step::Index(0));
        assert_eq!(follow("spec.template.spec.containers[1].args[1]").here().0, &json!(5));
        let injected = follow("spec.template.spec.containers[0].image");
        assert_eq!(
            (injected.path.to_string().as_str(), injected.missing.as_str()),
            ("spec.template.spec.containers", "[0].image")
        );
        assert_eq!(injected.kept.unwrap().to_string(), "spec.template.spec.containers[name=injected]");
        assert_eq!(follow("spec.selector").kept, None);
        assert_eq!(follow("spec.selector").full_path(), "spec.selector");
        let data = json!({"data": {"a.b": "x", "c]d": "y"}});
        let root = Place::root(&data, TypeRef::untyped());
        assert_eq!(follow_validation(root.clone(), &data, "data[a.b]").here().0, &json!("x"));
        assert_eq!(follow_validation(root, &data, "data[c]d]").here().0, &json!("y"));
    }
}
