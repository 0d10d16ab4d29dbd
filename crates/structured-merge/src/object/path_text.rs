//! Paths as text: reads what [`FieldPath`] writes, also in JSON.

use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{FieldPath, PathElement, Scalar};

/// Largest number of elements in a path; objects in the API server are not nested more deeply either.
const DEEPEST: usize = 1000;

/// Error for text that is not a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not the path of a field")]
pub struct NotAPath;

impl FromStr for FieldPath {
    type Err = NotAPath;

    /// Reads what `Display` writes, and nothing else: the path that is returned is written in the same way.
    fn from_str(text: &str) -> Result<Self, NotAPath> {
        let mut elements = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if elements.len() == DEEPEST {
                return Err(NotAPath);
            }
            let (element, after) = if let Some(inside) = rest.strip_prefix('[') {
                bracket(inside).ok_or(NotAPath)?
            } else {
                let name = if elements.is_empty() { rest } else { rest.strip_prefix('.').ok_or(NotAPath)? };
                let (name, after) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
                (PathElement::Field(name.to_owned()), after)
            };
            elements.push(element);
            rest = after;
        }
        let path = Self::from(elements);
        // Any other text for the same path is rejected.
        if path.to_string() == text { Ok(path) } else { Err(NotAPath) }
    }
}

impl Serialize for FieldPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FieldPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for FieldPath {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FieldPath".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string"})
    }
}

/// The element between `[` and `]`, and the text behind it.
fn bracket(inside: &str) -> Option<(PathElement, &str)> {
    if inside.starts_with('"') {
        let (Value::String(name), rest) = json(inside)? else { return None };
        return Some((PathElement::Field(name), rest.strip_prefix(']')?));
    }
    if let Some(member) = inside.strip_prefix('=') {
        let (member, rest) = json(member)?;
        return Some((PathElement::Member(Scalar::from_json(&member)), rest.strip_prefix(']')?));
    }
    let (first, _) = inside.split_once(['=', ']'])?;
    if let Ok(index) = first.parse::<i64>() {
        let rest = inside.get(first.len()..)?.strip_prefix(']')?;
        return Some((PathElement::Index(index), rest));
    }
    let (mut pairs, mut rest) = (Vec::new(), inside);
    loop {
        let (name, value) = rest.split_once('=')?;
        let (value, after) = key_value(value)?;
        pairs.push((name.to_owned(), value));
        if let Some(after) = after.strip_prefix(']') {
            return Some((PathElement::key(pairs), after));
        }
        rest = after.strip_prefix(',')?;
    }
}

/// The value of a key: JSON, or a bare word.
fn key_value(text: &str) -> Option<(Scalar, &str)> {
    let bare = text.split([',', ']']).next()?;
    let is_json = text.starts_with(['"', '{', '[']) || serde_json::from_str::<Value>(bare).is_ok();
    if is_json {
        let (value, rest) = json(text)?;
        return Some((Scalar::from_json(&value), rest));
    }
    Some((Scalar::Text(bare.to_owned()), text.get(bare.len()..)?))
}

/// The JSON value at the beginning of a text, and the rest of the text.
fn json(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, text.get(values.byte_offset()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_are_read_as_they_are_written() {
        let scalar = |value: Value| Scalar::from_json(&value);
        let scalars = [
            json!("v"),
            json!("a]b,c=\"d"),
            json!(""),
            json!("80"),
            json!("-1.5e3"),
            json!("true"),
            json!("null"),
            json!("080"),
            json!(80),
            json!(-1.5),
            json!(true),
            json!(null),
        ];
        let mut elements = vec![
            PathElement::Index(0),
            PathElement::Index(-3),
            PathElement::Field("0start".into()),
            PathElement::Field("a.b/c[d]=\"e\"".into()),
            PathElement::Field(String::new()),
            PathElement::Field("ä\n\u{202e}".into()),
            PathElement::Member(scalar(json!({"a": [1, "]"]}))),
        ];
        for value in scalars {
            elements.push(PathElement::Member(scalar(value.clone())));
            elements
                .push(PathElement::key([("name".into(), scalar(value.clone())), ("port".into(), scalar(json!(1)))]));
            elements.push(PathElement::key([("$patch".into(), scalar(value))]));
        }
        for element in elements {
            let alone = FieldPath::from(vec![element.clone()]);
            let inside = FieldPath::of(&["spec", "a-b"]).child(element.clone()).field("image").child(element);
            for path in [alone, inside] {
                let text = path.to_string();
                let read: FieldPath = text.parse().unwrap_or_else(|_| panic!("{text}"));
                assert_eq!(read, path, "{text}");
            }
        }
        assert_eq!("".parse(), Ok(FieldPath::root()));
        assert_eq!("spec.replicas".parse(), Ok(FieldPath::of(&["spec", "replicas"])));
        assert_eq!(
            "[containerPort=80]".parse(),
            Ok(FieldPath::from(vec![PathElement::key([("containerPort".into(), Scalar::Int(80))])]))
        );
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in [
            ".",
            ".a",
            "a.",
            "a..b",
            "a b",
            "0a",
            "a[",
            "a]",
            "a[]",
            "a[x",
            "a[0",
            "a[00]",
            "a[+1]",
            "a[\"b\"",
            "a[\"b\"]c",
            "a[\"b\"].c.",
            "a[=v]",
            "a[=\"v\"",
            "a[b=]",
            "a[b=c",
            "a[b=c,]",
            "a[b=c,a=d]",
            "a[b=\"c\"]",
            "a[ b=c]x",
            "a[\"plain\"]",
            "ä",
        ] {
            assert!(text.parse::<FieldPath>().is_err(), "{text}");
        }
        assert!("a.".repeat(2000).parse::<FieldPath>().is_err());
        let _ = "[".repeat(100_000).parse::<FieldPath>();
        let _ = format!("[={}", "[".repeat(100_000)).parse::<FieldPath>();
    }
}
