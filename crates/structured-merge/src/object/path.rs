//! Paths of fields, and their text in both directions, also in JSON.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Scalar;

/// One step of a [`FieldPath`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathElement {
    /// A field of a struct or an entry of a map.
    Field(String),
    /// The item of an associative list with these keys, sorted by name.
    Key(Vec<(String, Scalar)>),
    /// The member of a set.
    Member(Scalar),
    /// A position, in atomic lists only. The API server reads and keeps negative ones, too.
    Index(i64),
}

impl PathElement {
    /// The element for a list item with these keys; sorts them by name.
    pub fn key(pairs: impl IntoIterator<Item = (String, Scalar)>) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort();
        Self::Key(pairs)
    }

    /// The element for a position in a list.
    pub fn index(position: usize) -> Self {
        Self::Index(i64::try_from(position).unwrap_or(i64::MAX))
    }

    /// Returns true if an item of a list has these keys, or is this member of a set.
    fn is_of(&self, item: &Value) -> bool {
        let is_same = |value: &Value, scalar: &Scalar| Scalar::from_json(value) == *scalar;
        match self {
            Self::Member(member) => is_same(item, member),
            Self::Key(keys) => keys.iter().all(|(name, key)| item.get(name).is_some_and(|value| is_same(value, key))),
            Self::Field(_) | Self::Index(_) => false,
        }
    }
}

/// Path of a value in an object: `spec.template.spec.containers[name=web].image`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath(Vec<PathElement>);

impl FieldPath {
    /// The whole object.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path of plain fields.
    pub fn of(fields: &[&str]) -> Self {
        Self(fields.iter().map(|field| PathElement::Field((*field).to_owned())).collect())
    }

    /// This path with one more element.
    pub fn child(&self, element: PathElement) -> Self {
        let mut elements = Vec::with_capacity(self.0.len().saturating_add(1));
        elements.extend_from_slice(&self.0);
        elements.push(element);
        Self(elements)
    }

    /// This path with one more field.
    pub fn field(&self, name: &str) -> Self {
        self.child(PathElement::Field(name.to_owned()))
    }

    /// Appends an element. Lets a walk keep one path instead of a copy for each level.
    pub(super) fn push(&mut self, element: PathElement) {
        self.0.push(element);
    }

    /// Removes the last element.
    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    /// The elements, from the object down.
    pub fn elements(&self) -> &[PathElement] {
        &self.0
    }

    /// Returns true if `self` is `other` or above it.
    pub fn is_prefix_of(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Returns true if one of the two paths is the other or above it.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.is_prefix_of(other) || other.is_prefix_of(self)
    }

    /// The value at this path in an object, if there is one. List items are found by their keys; a key that an item
    /// leaves out matches nothing.
    pub fn value_in<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(object, |value, element| match element {
            PathElement::Field(name) => value.get(name),
            PathElement::Index(index) => value.get(usize::try_from(*index).ok()?),
            PathElement::Member(_) | PathElement::Key(_) => value.as_array()?.iter().find(|item| element.is_of(item)),
        })
    }

    /// The value at the path in an object, to change it.
    pub fn value_in_mut<'v>(&self, object: &'v mut Value) -> Option<&'v mut Value> {
        self.0.iter().try_fold(object, |value, element| match element {
            PathElement::Field(name) => value.get_mut(name),
            PathElement::Index(index) => value.get_mut(usize::try_from(*index).ok()?),
            PathElement::Member(_) | PathElement::Key(_) => {
                value.as_array_mut()?.iter_mut().find(|item| element.is_of(item))
            }
        })
    }
}

impl From<Vec<PathElement>> for FieldPath {
    fn from(elements: Vec<PathElement>) -> Self {
        Self(elements)
    }
}

fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The value of a key inside brackets: a word is bare, unless it would be another value then, such as `80` or `true`; all else is JSON.
fn key_text(value: &Scalar) -> String {
    let is_word =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:".contains(c));
    let is_value = |text: &str| serde_json::from_str::<IgnoredAny>(text).is_ok();
    match value {
        Scalar::Text(text) if is_word(text) && !is_value(text) => text.clone(),
        other => other.to_json().to_string(),
    }
}

/// Names of letters, digits, `_` and `-` are joined by dots; other names are written as `["strange.key"]`, list items
/// as `[name=web]`, set members as `[="v"]`, positions as `[0]`.
impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, element) in self.0.iter().enumerate() {
            match element {
                PathElement::Field(name) if is_plain(name) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    f.write_str(name)?;
                }
                PathElement::Field(name) => write!(f, "[{}]", quoted(name))?,
                PathElement::Member(member) => write!(f, "[={}]", member.to_json())?,
                PathElement::Index(index) => write!(f, "[{index}]")?,
                PathElement::Key(keys) => {
                    let keys: Vec<_> = keys.iter().map(|(name, value)| format!("{name}={}", key_text(value))).collect();
                    write!(f, "[{}]", keys.join(","))?;
                }
            }
        }
        Ok(())
    }
}

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
    let mut pairs = Vec::new();
    let mut rest = inside;
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

/// Current path of a walk: cheap to extend on the way down, and converted to a [`FieldPath`] only on request.
#[derive(Clone, Copy)]
pub(crate) struct PathStack<'a> {
    above: Option<&'a PathStack<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Field(&'a str),
    Item(&'a PathElement),
    Index(usize),
}

impl<'a> PathStack<'a> {
    pub fn root() -> Self {
        Self { above: None, step: Step::Root }
    }

    pub fn field(&'a self, name: &'a str) -> Self {
        Self { above: Some(self), step: Step::Field(name) }
    }

    pub fn item(&'a self, element: &'a PathElement) -> Self {
        Self { above: Some(self), step: Step::Item(element) }
    }

    pub fn index(&'a self, index: usize) -> Self {
        Self { above: Some(self), step: Step::Index(index) }
    }

    pub fn path(&self) -> FieldPath {
        let mut elements = Vec::new();
        let mut trail = Some(self);
        while let Some(at) = trail {
            match at.step {
                Step::Root => {}
                Step::Field(name) => elements.push(PathElement::Field(name.to_owned())),
                Step::Item(element) => elements.push(element.clone()),
                Step::Index(index) => elements.push(PathElement::index(index)),
            }
            trail = at.above;
        }
        elements.reverse();
        FieldPath::from(elements)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_print_as_the_contract_says() {
        let spec = FieldPath::of(&["spec", "template"]);
        let port = PathElement::key([
            ("protocol".into(), Scalar::Text("TCP".into())),
            ("containerPort".into(), Scalar::Int(80)),
        ]);
        assert_eq!(spec.field("ports").child(port).to_string(), "spec.template.ports[containerPort=80,protocol=TCP]");
        let annotation = FieldPath::of(&["metadata", "annotations", "example.com/owner"]);
        assert_eq!(annotation.to_string(), r#"metadata.annotations["example.com/owner"]"#);
        let finalizer = FieldPath::of(&["metadata", "finalizers"]).child(PathElement::Member(Scalar::Text("v".into())));
        assert_eq!(finalizer.to_string(), r#"metadata.finalizers[="v"]"#);
        assert_eq!(FieldPath::of(&["data", "0start"]).to_string(), r#"data["0start"]"#);
        assert_eq!(FieldPath::of(&["args"]).child(PathElement::Index(0)).to_string(), "args[0]");
    }

    #[test]
    fn a_path_finds_list_items_by_key_and_not_by_position() {
        let object = json!({"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]});
        let b = PathElement::key([("name".into(), Scalar::Text("B".into()))]);
        assert_eq!(FieldPath::of(&["env"]).child(b).field("value").value_in(&object), Some(&json!("2")));
    }

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
