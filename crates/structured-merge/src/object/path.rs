use std::fmt;

use serde::de::IgnoredAny;
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
            PathElement::Member(member) => value.as_array()?.iter().find(|item| Scalar::from_json(item) == *member),
            PathElement::Key(keys) => value.as_array()?.iter().find(|item| {
                keys.iter().all(|(name, key)| item.get(name).is_some_and(|found| Scalar::from_json(found) == *key))
            }),
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
}
