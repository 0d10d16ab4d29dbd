//! The paths in texts of others, as far as objects have their fields.

use serde_json::Value;
use structured_merge::{FieldPath, PathElement};

use crate::object::{is_embedded_secret, is_secret_part, is_string_data};

/// Reads the leading part of a path, such as `spec.list[0].data[key]`, up to the first field that none of the objects has. What is inside
/// of a secret part is not named.
pub(super) fn known_path(objects: &[&Value], text: &str) -> FieldPath {
    let mut path = FieldPath::root();
    let mut values = objects.to_vec();
    let mut rest = text.strip_prefix('.').unwrap_or(text);
    loop {
        let is_root = path.elements().is_empty();
        let (part, is_closed) = match (rest.strip_prefix('['), rest.strip_prefix('.')) {
            (Some(part), _) => (part, true),
            (None, Some(part)) => (part, false),
            (None, None) if is_root => (rest, false),
            (None, None) => return path,
        };
        let index = part
            .split_once(']')
            .filter(|_| is_closed)
            .and_then(|(index, rest)| Some((index.parse::<usize>().ok()?, rest)));
        if let Some((index, after)) = index
            && let items = values.iter().filter_map(|value| value.as_array()?.get(index)).collect::<Vec<_>>()
            && !items.is_empty()
            && let Ok(index) = i64::try_from(index)
        {
            path = path.child(PathElement::Index(index));
            (values, rest) = (items, after);
            continue;
        }
        let Some((key, after)) = key(&values, part, is_closed) else { return path };
        let maps = || values.iter().filter_map(|value| value.as_object());
        let is_secret = is_string_data(&key) || maps().any(|map| is_embedded_secret(map) && is_secret_part(map, &key));
        path = path.field(&key);
        if is_secret {
            return path;
        }
        values = maps().filter_map(|map| map.get(&key)).collect();
        rest = after;
    }
}

/// The longest key that one of the values has and a text begins with, and the text after it.
fn key<'t>(values: &[&Value], text: &'t str, is_closed: bool) -> Option<(String, &'t str)> {
    let keys = values.iter().filter_map(|value| value.as_object()).flat_map(serde_json::Map::keys);
    let after = |key: &str| {
        let rest = text.strip_prefix(key)?;
        if is_closed {
            rest.strip_prefix(']')
        } else {
            Some(rest).filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        }
    };
    let key = keys.filter(|key| after(key).is_some()).max_by_key(|key| key.len())?;
    Some((key.clone(), after(key)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_named_as_far_as_an_object_has_them() {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"hunter2": "b"}});
        let manifest = json!({"kind": "Parcel", "spec": {"list": [{"a.b": 1}, secret], "size": 1}});
        let live = json!({"spec": {"stringData": {"hunter2": "b"}, "labels": {"a/b": "c"}}});
        for (text, path) in [
            ("spec.size", "spec.size"),
            (".spec.size", "spec.size"),
            ("spec.size.hunter2", "spec.size"),
            ("spec.list[0].a.b", r#"spec.list[0]["a.b"]"#),
            ("spec.list[1].metadata.name", "spec.list[1].metadata.name"),
            ("spec.list[1].data.hunter2", "spec.list[1].data"),
            ("spec.list[7].data", "spec.list"),
            ("spec.stringData[hunter2]", "spec.stringData"),
            ("spec.labels[a/b]", r#"spec.labels["a/b"]"#),
            ("spec.labels[hunter2]", "spec.labels"),
            ("spec.sizehunter2", "spec"),
            ("hunter2", ""),
            ("", ""),
        ] {
            assert_eq!(known_path(&[&manifest, &live], text).to_string(), path, "{text}");
        }
    }
}
